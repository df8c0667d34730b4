/* A library that sluice-worker is made to load (LD_PRELOAD): on SIGRTMIN+3 it has every thread of
 * the process try what a sandbox is to refuse, and writes a line for each to SLUICE_PROBE, which it
 * opens at the start:
 *
 *     THREAD KIND WHAT ERRNO        "1234 driver open-etc 13"; errno 0: it was allowed
 *
 * On SIGRTMIN+5 it starts processes that mean to outlive it, and writes "PID escaped HOW 0" for
 * each.
 *
 * Where the caches are wiped, "wipe" tells how opening a file elsewhere went just then. A start
 * with a file SLUICE_PROBE_CRASH removes it and dies.
 *
 * KIND is "main", "engine" or "driver", by whose function the thread runs; threads are known by a
 * pthread_create of our own. Raw system calls alone, as it all happens in a signal handler. */
#include <asm/sockios.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 256

static struct {
    pid_t tid;
    const char *kind;
} threads[THREADS_MAX];
static int n_threads, report = -1;
static char intruder[1000], victim[1000]; /* files to be made and removed elsewhere */
static __thread int own;                  /* index in `threads` */

static void say(const char *what, long result)
{
    char line[160];
    int error = result < 0 ? errno : 0;
    int length = snprintf(line, sizeof line, "%d %s %s %d\n", (int)threads[own].tid,
                          threads[own].kind, what, error);
    ssize_t written = write(report, line, (size_t)length);
    (void)written;
}

static long try_open(const char *path, int flags)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    if (fd >= 0)
        close((int)fd);
    return fd;
}

/* In a child where there may be one: what succeeds would end this process. */
static long try_exec(const char *path)
{
    int status;
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child < 0)
        return child;
    if (child == 0) {
        char *const arguments[] = {(char *)path, (char *)"-c", (char *)"exit 7", NULL};
        syscall(SYS_execve, path, arguments, NULL);
        syscall(SYS_exit_group, 100 + (errno < 100 ? errno : 99));
    }
    if (waitpid((pid_t)child, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    if (WEXITSTATUS(status) < 100)
        return 0;
    errno = WEXITSTATUS(status) - 100;
    return -1;
}

static long try_namespace(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        syscall(SYS_exit_group, 0);
    if (child > 0)
        waitpid((pid_t)child, NULL, 0);
    return child;
}

/* What has the kernel send signals to others in our name. */
static void try_signals(void)
{
    long parent = getppid();
    int on = 1, owner = (int)parent;
    say("own", syscall(SYS_fcntl, report, F_SETOWN, parent));
    say("signal", syscall(SYS_fcntl, report, F_SETSIG, SIGTERM));
    say("async", syscall(SYS_fcntl, report, F_SETFL, O_ASYNC | O_APPEND));
    say("notify", syscall(SYS_fcntl, report, F_NOTIFY, 1));
    say("ioctl-async", syscall(SYS_ioctl, report, FIOASYNC, &on));
    say("ioctl-own", syscall(SYS_ioctl, report, FIOSETOWN, &owner));
}

/* How the front runs. Where it is allowed it stays as it is. */
static void try_running(void)
{
    struct sched_param param = {0};
    unsigned char cpus[128];
    long parent = getppid(), got = syscall(SYS_sched_getaffinity, parent, sizeof cpus, cpus);
    say("affinity", got < 0 ? got : syscall(SYS_sched_setaffinity, parent, got, cpus));
    say("param", syscall(SYS_sched_setparam, parent, &param));
    say("scheduler", syscall(SYS_sched_setscheduler, parent, SCHED_OTHER, &param));
    say("lease", syscall(SYS_fcntl, report, F_SETLEASE, F_UNLCK));
}

/* What a thread may say of itself. */
static void try_own_running(void)
{
    struct sched_param param = {0};
    say("own-scheduler", syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &param));
}

/* Stays, with all descriptors, and does nothing. */
static void stay(const char *how)
{
    char line[160];
    syscall(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
    int length = snprintf(line, sizeof line, "%d escaped %s 0\n", (int)syscall(SYS_getpid), how);
    ssize_t written = write(report, line, (size_t)length);
    (void)written;
    for (;;)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static void escape(int number)
{
    (void)number;
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
        stay("child");
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        syscall(SYS_setsid); /* refused in a sandbox */
        if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
            stay("twice");
        syscall(SYS_exit_group, 0);
    }
    long sibling = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (sibling == 0)
        stay("sibling");
    say("clone-parent", sibling);
}

static void try_all(void)
{
    char typed = 'x', byte = 0;
    say("open-etc", try_open("/etc/passwd", O_RDONLY));
    say("open-front", try_open("/proc/1/cmdline", O_RDONLY));
    say("list-root", try_open("/", O_RDONLY | O_DIRECTORY));
    say("write-input", try_open(intruder, O_WRONLY | O_CREAT));
    say("write-usr", try_open("/usr/lib/sluice-intruder", O_WRONLY | O_CREAT));
    say("mode", syscall(SYS_fchmodat, AT_FDCWD, victim, 0777));
    say("remove", syscall(SYS_unlinkat, AT_FDCWD, victim, 0));
    say("inet", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
    say("unix", syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
    say("exec", try_exec("/bin/sh"));
    say("ptrace", syscall(SYS_ptrace, PTRACE_PEEKDATA, getppid(), 0, 0));
    say("kill-front", syscall(SYS_kill, getppid(), 0));
    say("unshare", syscall(SYS_unshare, CLONE_NEWUTS));
    say("namespace", try_namespace());
    say("mount", syscall(SYS_mount, "none", "/mnt", "tmpfs", 0x20 /* remount */, NULL));
    say("bpf", syscall(SYS_bpf, 0, NULL, 0));
    say("typing", ioctl(report, TIOCSTI, &typed));
    try_signals();
    try_running();
    try_own_running();
    say("read-open", (long)pread(report, &byte, 0, 0)); /* what must go on to work */
}

static void on_each(int number)
{
    (void)number;
    int error = errno;
    try_all();
    errno = error;
}

static void on_request(int number)
{
    (void)number;
    int error = errno;
    for (int i = 0; i < n_threads; i++)
        syscall(SYS_tgkill, getpid(), threads[i].tid, SIGRTMIN + 4);
    errno = error;
}

static int add(const char *kind)
{
    int index = __atomic_fetch_add(&n_threads, 1, __ATOMIC_SEQ_CST);
    if (index < THREADS_MAX) {
        threads[index].kind = kind;
        threads[index].tid = (pid_t)syscall(SYS_gettid);
    }
    return index;
}

struct started {
    void *(*function)(void *);
    void *argument;
};

static void *start(void *context)
{
    struct started started = *(struct started *)context;
    Dl_info info = {0};
    free(context);
    const char *name = dladdr((void *)started.function, &info) ? info.dli_fname : "";
    own = add(strstr(name, "sluice-worker") ? "engine" : "driver");
    return started.function(started.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct started *started = malloc(sizeof *started);
    if (!next)
        next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    if (report < 0 || !started) {
        free(started);
        return next(thread, attributes, function, argument);
    }
    *started = (struct started){function, argument};
    return next(thread, attributes, start, started);
}

/* The worker is a copy of its keeper, with a thread of its own. */
static void in_copy(void)
{
    threads[own].tid = (pid_t)syscall(SYS_gettid);
}

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("SLUICE_PROBE"), *make = getenv("SLUICE_PROBE_MAKE"),
               *remove = getenv("SLUICE_PROBE_REMOVE");
    if (!path || !make || !remove || strcmp(program_invocation_short_name, "sluice-worker") != 0)
        return;
    if (getenv("SLUICE_PROBE_CRASH") && unlink(getenv("SLUICE_PROBE_CRASH")) == 0)
        raise(SIGKILL);
    report = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(intruder, sizeof intruder, "%s", make);
    snprintf(victim, sizeof victim, "%s", remove);
    own = add("main");
    pthread_atfork(NULL, NULL, in_copy);
}

/* PoCL's cache is moved aside before it is removed. */
int rename(const char *from, const char *to)
{
    int error = errno;
    if (report >= 0 && strstr(to, "pocl-wiped"))
        say("wipe", try_open("/etc/passwd", O_RDONLY));
    errno = error;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* The worker resets all signals when it starts, so ours are set when it has done so: at its first
 * prctl. */
int prctl(int option, ...)
{
    static int done;
    __builtin_va_list list;
    unsigned long a[4];
    __builtin_va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = __builtin_va_arg(list, unsigned long);
    __builtin_va_end(list);
    if (report >= 0 && !done) {
        done = 1;
        struct sigaction action = {.sa_handler = on_request, .sa_flags = SA_RESTART};
        sigaction(SIGRTMIN + 3, &action, NULL);
        action.sa_handler = escape;
        sigaction(SIGRTMIN + 5, &action, NULL);
        action.sa_handler = on_each;
        sigaction(SIGRTMIN + 4, &action, NULL);
    }
    return (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}
