#include "worker/sandbox.h"

#include <asm/sockios.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "device/device.h"

/* ---- Landlock ---- */

/* By its system calls (landlock(7), and the kernel's Documentation/userspace-api/landlock.rst):
 * once enforced, this thread, the threads that it starts, and their children can use only the paths
 * that were allowed before. Threads that exist already are not limited. */

/* Constants of the kernel's include/uapi/linux/landlock.h: the headers of the build may be older
 * than the kernel that runs. These system calls have the same numbers on all architectures except
 * alpha. */
#define SYSTEM_CALL_CREATE   444
#define SYSTEM_CALL_ADD_RULE 445
#define SYSTEM_CALL_RESTRICT 446
#define CREATE_VERSION       1
#define RULE_PATH_BENEATH    1

#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_READ_FILE   (UINT64_C(1) << 2)
#define FS_READ_DIR    (UINT64_C(1) << 3)
#define FS_REMOVE_DIR  (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR    (UINT64_C(1) << 7)
#define FS_MAKE_REG    (UINT64_C(1) << 8)
#define FS_MAKE_SYM    (UINT64_C(1) << 12)
#define FS_FIRST       ((UINT64_C(1) << 13) - 1) /* all of version 1 */
#define FS_REFER       (UINT64_C(1) << 13)       /* version 2: rename between directories */
#define FS_TRUNCATE    (UINT64_C(1) << 14)       /* version 3 */
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)       /* version 5 */
#define NET_TCP        UINT64_C(3)               /* version 4: bind and connect */
#define SCOPE_ALL      UINT64_C(3)               /* version 6: abstract sockets and signals */

#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* What is allowed with a path and, if it is a directory, with everything below it. */
enum landlock_access {
    LANDLOCK_READ,    /* reading files, listing directories */
    LANDLOCK_RUN,     /* the same, and executing */
    LANDLOCK_DEVICE,  /* device nodes: reading, writing, ioctl */
    LANDLOCK_CONTENT, /* reading, writing, making, renaming, removing; no device nodes, no executing
                       */
};

struct landlock {
    int version;
    int rules;
    int pinned[32]; /* descriptors that keep nodes alive for their rules */
    unsigned n_pinned;
};

struct ruleset_attributes {
    uint64_t fs;
    uint64_t net;    /* from version 4 on */
    uint64_t scoped; /* from version 6 on */
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
};

static const uint64_t rights[] = {
    [LANDLOCK_READ] = FS_READ_FILE | FS_READ_DIR,
    [LANDLOCK_RUN] = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
    [LANDLOCK_DEVICE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_IOCTL_DEV,
    [LANDLOCK_CONTENT] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_REMOVE_DIR |
                         FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SYM | FS_REFER |
                         FS_TRUNCATE,
};

static uint64_t known(int version)
{
    return FS_FIRST | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
           (version >= 5 ? FS_IOCTL_DEV : 0);
}

/* Begins an empty set of rules: everything that this version handles is refused. */
static int landlock_begin(struct landlock *landlock, int version, struct fault *fault)
{
    struct ruleset_attributes attributes = {known(version), NET_TCP, SCOPE_ALL};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    *landlock = (struct landlock){.version = version};
    landlock->rules = (int)syscall(SYSTEM_CALL_CREATE, &attributes, size, 0);
    return landlock->rules >= 0 ? 0 : fault_set_errno(fault, FAULT_INTERNAL, "landlock");
}

/* Allows access to a path. A path that does not exist is left out. */
static void landlock_allow(struct landlock *landlock, const char *path, enum landlock_access access)
{
    struct stat status;
    struct statfs within;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        file_close(&fd);
        return;
    }
    struct path_rule rule = {rights[access] & known(landlock->version), fd};
    if (!S_ISDIR(status.st_mode))
        rule.allowed &= FS_OF_FILES;
    if (syscall(SYSTEM_CALL_ADD_RULE, landlock->rules, RULE_PATH_BENEATH, &rule, 0) != 0)
        log_warning("landlock: %s cannot be allowed: %s", path, strerror(errno));
    /* procfs recreates nodes that nobody has used for a while, and a rule about the old node would
     * be lost. An open descriptor keeps the node. */
    bool made_anew = fstatfs(fd, &within) == 0 && within.f_type == 0x9fa0; /* PROC_SUPER_MAGIC */
    if (made_anew && landlock->n_pinned < sizeof landlock->pinned / sizeof *landlock->pinned)
        landlock->pinned[landlock->n_pinned++] = fd;
    else
        close(fd);
}

/* Enforces the rules; `landlock` is finished in any case. No_new_privs must be set. */
static int landlock_enforce(struct landlock *landlock, struct fault *fault)
{
    int result = 0;
    if (syscall(SYSTEM_CALL_RESTRICT, landlock->rules, 0) != 0)
        result = fault_set_errno(fault, FAULT_INTERNAL, "landlock");
    close(landlock->rules);
    landlock->rules = -1;
    if (result != 0)
        while (landlock->n_pinned > 0)
            close(landlock->pinned[--landlock->n_pinned]);
    return result;
}

/* ---- the paths that drivers need ---- */

/* Patterns as in glob(7). Installed software is readable, because a driver loads parts of it when
 * it first compiles, and contains no secrets. Not in the list: most of /etc, /run and /proc, and
 * all of /home, /root, /srv, /tmp and /var (except the cache).
 *
 * Tried: PoCL 3.1, NVIDIA 580. From documentation only: Mesa, Arm's drivers (/dev/mali0,
 * /dev/dma_heap), AMD's and Intel's. */
static const char *const readable[] = {
    /* software and its settings */
    "/lib", "/lib[0-9x]*", "/usr/lib*", "/usr/share", "/usr/local/lib*", "/usr/local/share",
    "/usr/local/nvidia", "/usr/local/cuda*", "/opt/rocm*", "/opt/intel", "/vendor/lib*",
    "/system/lib*", "/nix/store", "/gnu/store", "/run/opengl-driver", "/etc/OpenCL", "/etc/ld.so.*",
    "/etc/nvidia", "/etc/drirc",
    /* the machine: hwloc in PoCL, PCI identities */
    "/sys", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version",
    "/proc/devices", "/proc/modules", "/proc/filesystems", "/proc/driver", "/proc/sys/vm",
    "/proc/sys/kernel",
    /* random numbers */
    "/dev/urandom", "/dev/random", NULL};

static const char *const devices[] = {
    "/dev/null",     "/dev/zero",       "/dev/nvidia*", "/dev/dri",     "/dev/kfd", "/dev/mali*",
    "/dev/dma_heap", "/dev/dma_buf_te", "/dev/ion",     "/dev/udmabuf", NULL};

static const char *const programs[] = {
    /* PoCL links each kernel with ld, or with a compiler driver that runs ld */
    "/usr/bin/ld", "/usr/bin/ld.*", "/usr/bin/*-ld", "/usr/bin/*-ld.*", "/usr/bin/clang*",
    "/usr/lib/llvm-*/bin/clang*", "/usr/lib/llvm-*/bin/*lld",
    /* both need the dynamic loader */
    "/lib/ld-*.so*", "/lib/*/ld-*.so*", "/lib64/ld-*.so*", NULL};

/* Sets variables of the environment so that drivers keep their caches below ours, unless they are
 * set already; TMPDIR in any case. To be called before any driver is loaded. */
static void place_caches(void)
{
    static const struct {
        const char *variable, *below;
        int replace;
    } places[] = {{"CUDA_CACHE_PATH", "/nvidia", 0},
                  {"MESA_SHADER_CACHE_DIR", "/mesa", 0},
                  {"TMPDIR", "", 1}};
    const char *root = device_cache_directory();
    char path[4096];
    for (size_t i = 0; root && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", root, places[i].below);
        setenv(places[i].variable, path, places[i].replace);
    }
}

static void allow_matching(struct landlock *landlock, const char *const *patterns,
                           enum landlock_access access)
{
    for (; *patterns; patterns++) {
        glob_t found = {0};
        if (glob(*patterns, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; i++)
                landlock_allow(landlock, found.gl_pathv[i], access);
        globfree(&found);
    }
}

/* Allows directories and libraries that the environment names for drivers. */
static void allow_listed(struct landlock *landlock, const char *variable)
{
    char path[4096];
    const char *list = getenv(variable);
    for (size_t length; list && *list; list += length + (list[length] == ':')) {
        length = strcspn(list, ":");
        if (length > 0 && length < sizeof path && list[0] == '/') {
            memcpy(path, list, length);
            path[length] = '\0';
            landlock_allow(landlock, path, LANDLOCK_READ);
        }
    }
}

/* Allows the library that an .icd file names, by its path or by its name for the loader. Links in
 * that library's directory lead to other libraries of the driver. */
static void allow_icd(struct landlock *landlock, const char *file)
{
    char line[4096];
    FILE *stream = fopen(file, "re");
    if (!stream)
        return;
    char *path = fgets(line, sizeof line, stream);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (path && path[0] == '/' && slash > path) {
        *slash = '\0';
        landlock_allow(landlock, path, LANDLOCK_READ);
    }
    fclose(stream);
}

/* Adds rules for the paths that drivers need, whichever are installed: libraries, device nodes,
 * the linker for PoCL, and our cache directory. */
static void allow_paths(struct landlock *landlock)
{
    static const char *const variables[] = {"LD_LIBRARY_PATH",   "OCL_ICD_VENDORS",
                                            "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
                                            "OPENCL_LAYERS",     "OPENCL_LAYER_PATH"};
    allow_matching(landlock, readable, LANDLOCK_READ);
    allow_matching(landlock, devices, LANDLOCK_DEVICE);
    allow_matching(landlock, programs, LANDLOCK_RUN);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        allow_listed(landlock, variables[i]);
    glob_t found = {0};
    if (glob("/etc/OpenCL/vendors/*.icd", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            allow_icd(landlock, found.gl_pathv[i]);
    globfree(&found);
    if (device_cache_directory())
        landlock_allow(landlock, device_cache_directory(), LANDLOCK_CONTENT);
    if (device_cache_read_only())
        landlock_allow(landlock, device_cache_read_only(), LANDLOCK_READ);
}

/* ---- system calls, by seccomp ---- */

/* A list of allowed system calls. Others fail: with ENOSYS where a library knows another way
 * (clone3, calls of newer kernels), otherwise with EPERM. No process is killed for a call, since
 * drivers try calls that they can do without.
 *
 * The list is a part of systemd's @system-service, under which services with GPUs commonly run
 * (ours among them), without what Landlock does not cover: sockets, and changes of mode, owner,
 * times and attributes by path. */

#define CLONE_NAMESPACES                                                                           \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET | CLONE_PARENT)
#define IOCTL_TIOCLINUX 0x541c /* puts text into a console's input, as TIOCSTI does */

/* Calls by name; an architecture may lack some. */
static const char *const for_all[] = {
    /* memory */
    "brk", "mmap", "mmap2", "munmap", "mprotect", "mremap", "madvise", "mincore", "msync", "mlock",
    "mlock2", "munlock", "membarrier", "get_mempolicy", "set_mempolicy", "mbind", "memfd_create",
    "pkey_alloc", "pkey_free", "pkey_mprotect", "cacheflush", "riscv_flush_icache",
    /* descriptors that are open */
    "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev",
    "pwritev2", "lseek", "_llseek", "close", "close_range", "dup", "dup2", "dup3", "fcntl",
    /* … fstat(3) of newer C libraries is newfstatat with an empty path */
    "fcntl64", "fstat", "fstat64", "newfstatat", "fstatat64", "statx", "fstatfs", "fstatfs64",
    "ftruncate", "ftruncate64", "fallocate", "fsync", "fdatasync", "sync_file_range", "flock",
    "fadvise64", "fadvise64_64", "arm_fadvise64_64", "copy_file_range", "pipe", "pipe2", "eventfd",
    "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime", "poll", "ppoll",
    "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64", "epoll_create",
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "sendmsg", "recvmsg",
    /* threads */
    "futex", "futex_time64", "futex_waitv", "exit", "exit_group", "set_robust_list",
    "get_robust_list", "set_tid_address", "rseq", "gettid", "arch_prctl", "set_tls",
    "set_thread_area", "get_thread_area", "prctl", "getcpu", "sched_yield", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
    "sched_rr_get_interval", "sched_getattr", "getpriority",
    /* signals */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_sigtimedwait_time64", "sigaction", "sigprocmask", "sigreturn",
    "sigaltstack", "pause", "restart_syscall",
    /* time */
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "clock_nanosleep",
    "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "times", "getitimer",
    "setitimer", "timer_create", "timer_settime", "timer_settime64", "timer_gettime",
    "timer_gettime64", "timer_delete", "timer_getoverrun", "getrusage",
    /* who and where we are */
    "getpid", "getppid", "getuid", "getuid32", "geteuid", "geteuid32", "getgid", "getgid32",
    "getegid", "getegid32", "getgroups", "getgroups32", "getresuid", "getresuid32", "getresgid",
    "getresgid32", "getpgrp", "getpgid", "getsid", "uname", "sysinfo", "getrlimit", "ugetrlimit",
    "getrandom", "capget"};

/* Paths, which Landlock limits, and the linker that PoCL starts. */
static const char *const for_drivers[] = {
    "open",       "openat",   "openat2",    "creat",   "access",   "faccessat", "faccessat2",
    "stat",       "stat64",   "lstat",      "lstat64", "statfs",   "statfs64",  "readlink",
    "readlinkat", "getdents", "getdents64", "getcwd",  "umask",    "mkdir",     "mkdirat",
    "rmdir",      "unlink",   "unlinkat",   "rename",  "renameat", "renameat2", "link",
    "linkat",     "symlink",  "symlinkat",  "fork",    "vfork",    "execve",    "execveat",
    "wait4",      "waitid",   "waitpid"};

static const char *const refused[] = {
    /* the network, and whatever else a socket leads to */
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmmsg",
    /* other processes */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "kcmp", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "setpriority", "ioprio_set", "sched_setattr", "migrate_pages", "move_pages", "setpgid",
    "setsid",
    /* another view of the machine */
    "unshare", "setns", "mount", "umount2", "umount", "pivot_root", "chroot", "chdir", "fchdir",
    "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "personality",
    /* large pieces of the kernel that nobody here needs */
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "add_key", "request_key", "keyctl", "fanotify_init", "inotify_init",
    "inotify_init1", "shmget", "semget", "msgget", "mq_open", "lookup_dcookie", "vmsplice",
    /* the machine itself */
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "sethostname", "setdomainname", "settimeofday", "clock_settime",
    "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex", "acct", "quotactl", "syslog",
    "iopl", "ioperm", "vhangup", "sync", "syncfs",
    /* what Landlock does not see, or not in its first versions */
    "chmod", "fchmod", "fchmodat", "chown", "chown32", "lchown", "lchown32", "fchown", "fchown32",
    "fchownat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
    "utime", "utimes", "utimensat", "utimensat_time64", "futimesat", "truncate", "truncate64",
    "mknod", "mknodat", "name_to_handle_at", "open_by_handle_at",
    /* privileges */
    "setuid", "setuid32", "setgid", "setgid32", "setreuid", "setreuid32", "setregid", "setregid32",
    "setresuid", "setresuid32", "setresgid", "setresgid32", "setfsuid", "setfsgid", "setgroups",
    "setgroups32", "capset", "setrlimit"};

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned n,
               const struct scmp_arg_cmp *conditions)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR)
        return 0;
    int error = seccomp_rule_add_array(filter, action, number, n, conditions);
    return error == -EDOM ? 0 : error; /* this architecture has no such call */
}

static int add_list(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t n)
{
    int error = 0;
    for (size_t i = 0; i < n && error == 0; i++)
        error = add(filter, action, names[i], 0, NULL);
    return error;
}
#define LENGTH(list) (sizeof(list) / sizeof *(list))

/* Allows new threads and, with a driver, new processes, but none in a namespace of its own and none
 * that is not our child. clone3 passes its flags in memory, which a filter cannot read: it fails
 * with ENOSYS, and glibc then uses clone. */
static int add_clone(scmp_filter_ctx filter, bool driver)
{
    static const uint64_t namespaces[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                          CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                          CLONE_NEWNET, CLONE_PARENT};
    struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
    struct scmp_arg_cmp process = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0);
    struct scmp_arg_cmp plain = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NAMESPACES, 0);
    int error = add(filter, SCMP_ACT_ALLOW, "clone", 1, driver ? &plain : &thread);
    if (error == 0 && !driver)
        error = add(filter, SCMP_ACT_ERRNO(EPERM), "clone", 1, &process);
    for (size_t i = 0; i < LENGTH(namespaces) && error == 0 && driver; i++) {
        struct scmp_arg_cmp with = SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]);
        error = add(filter, SCMP_ACT_ERRNO(EPERM), "clone", 1, &with);
    }
    return error;
}

/* Allows signals to ourselves (abort, pthread_kill), reading our own limits, and a thread to say
 * where and how it runs itself. By its number a thread may be anybody's, so only 0 is allowed. */
static int add_ours(scmp_filter_ctx filter)
{
    static const char *const signals[] = {"kill", "tgkill"};
    static const char *const running[] = {"sched_setaffinity", "sched_setparam",
                                          "sched_setscheduler"};
    struct scmp_arg_cmp caller = SCMP_A0(SCMP_CMP_EQ, 0), named = SCMP_A0(SCMP_CMP_NE, 0);
    struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
    struct scmp_arg_cmp other = SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid());
    struct scmp_arg_cmp read_own[] = {SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)};
    int error = 0;
    for (size_t i = 0; i < LENGTH(signals) && error == 0; i++) {
        error = add(filter, SCMP_ACT_ALLOW, signals[i], 1, &self);
        if (error == 0)
            error = add(filter, SCMP_ACT_ERRNO(EPERM), signals[i], 1, &other);
    }
    for (size_t i = 0; i < LENGTH(running) && error == 0; i++) {
        error = add(filter, SCMP_ACT_ALLOW, running[i], 1, &caller);
        if (error == 0)
            error = add(filter, SCMP_ACT_ERRNO(EPERM), running[i], 1, &named);
    }
    return error ? error : add(filter, SCMP_ACT_ALLOW, "prlimit64", 2, read_own);
}

static int fill(scmp_filter_ctx filter, bool driver)
{
    uint32_t paths = driver ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);
    int error = add_list(filter, SCMP_ACT_ALLOW, for_all, LENGTH(for_all));
    if (error == 0)
        error = add_list(filter, paths, for_drivers, LENGTH(for_drivers));
    if (error == 0)
        error = add_list(filter, SCMP_ACT_ERRNO(EPERM), refused, LENGTH(refused));
    if (error == 0)
        error = add(filter, SCMP_ACT_ALLOW, "ioctl", 0, NULL);
    if (error == 0)
        error = add_clone(filter, driver);
    return error ? error : add_ours(filter);
}

/* Allows ioctl, which drivers need, except calls that type into a terminal (which stderr may be)
 * and, as for fcntl, those by which the kernel sends signals of our choice to others. A lease on an
 * output would keep whoever opens it waiting. The kernel uses 32 bits of the request number, so 32
 * bits are compared. Without a driver no memory may be made executable. */
static int fill_odd(scmp_filter_ctx filter, bool driver)
{
    static const uint32_t ioctls[] = {TIOCSTI, IOCTL_TIOCLINUX, FIOASYNC, FIOSETOWN, SIOCSPGRP};
    static const char *const protect[] = {"mmap", "mmap2", "mprotect", "pkey_mprotect"};
    static const uint32_t fcntls[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE};
    struct scmp_arg_cmp async[] = {SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETFL),
                                   SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, O_ASYNC)};
    struct scmp_arg_cmp executable = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
    int error = 0;
    for (size_t i = 0; i < LENGTH(protect) && error == 0 && !driver; i++)
        error = add(filter, SCMP_ACT_ERRNO(EPERM), protect[i], 1, &executable);
    for (size_t i = 0; i < LENGTH(ioctls) && error == 0; i++) {
        struct scmp_arg_cmp is = SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, ioctls[i]);
        error = add(filter, SCMP_ACT_ERRNO(EPERM), "ioctl", 1, &is);
    }
    for (int call = 0; call < 2 && error == 0; call++) {
        const char *name = call ? "fcntl64" : "fcntl";
        for (size_t i = 0; i < LENGTH(fcntls) && error == 0; i++) {
            struct scmp_arg_cmp is = SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, fcntls[i]);
            error = add(filter, SCMP_ACT_ERRNO(EPERM), name, 1, &is);
        }
        if (error == 0)
            error = add(filter, SCMP_ACT_ERRNO(EPERM), name, 2, async);
    }
    return error;
}

/* Begins a filter. Attributes that an old kernel or library lacks are left out. */
static scmp_filter_ctx begin(uint32_t otherwise, bool log_refused)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    if (!filter)
        return NULL;
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, log_refused);
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* as a binary tree */
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);    /* for threads that exist, too */
    return filter;
}

static int load(scmp_filter_ctx filter, int error)
{
    if (error == 0)
        error = seccomp_load(filter);
    seccomp_release(filter);
    return error;
}

/* From now on all threads of the process, and programs they start, may make only listed calls. With
 * `driver` the list contains what OpenCL drivers need (opening by path, starting a linker); without
 * it no call that takes a path or makes a process. `log_refused` has the kernel log refused calls.
 *
 * Two filters, because one filter cannot both allow and refuse a call by its arguments. The list is
 * loaded last, because it refuses loading another filter. */
static int limit_calls(bool driver, bool log_refused, struct fault *fault)
{
    scmp_filter_ctx odd = begin(SCMP_ACT_ALLOW, log_refused);
    scmp_filter_ctx list = begin(SCMP_ACT_ERRNO(ENOSYS), log_refused);
    int error = odd && list ? 0 : -ENOMEM;
    if (error == 0)
        error = load(odd, fill_odd(odd, driver));
    else if (odd)
        seccomp_release(odd);
    if (error == 0)
        error = load(list, fill(list, driver));
    else if (list)
        seccomp_release(list);
    return error == 0 ? 0 : fault_set(fault, FAULT_INTERNAL, "seccomp: %s", strerror(-error));
}

/* ---- the whole ---- */

#define FILE_SIZE_FLOOR (UINT64_C(1) << 30) /* drivers write caches of this size */

/* Landlock would not limit threads that exist already, so there must be none. */
static bool is_alone(void)
{
    unsigned threads = 0;
    DIR *stream = opendir("/proc/self/task");
    struct dirent *entry;
    while (stream && (entry = readdir(stream)) != NULL)
        threads += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return threads == 1;
}

static bool limit_paths(bool driver, char *why, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct landlock landlock;
    /* the kernel's version of Landlock; negative: it has none, or it is switched off */
    int version = (int)syscall(SYSTEM_CALL_CREATE, NULL, 0, CREATE_VERSION);
    /* Version 1 forbids renaming from one directory to another, which PoCL needs to store a
     * compiled kernel. */
    if (version < (driver ? 2 : 1)) {
        snprintf(why, size, version > 0 ? "landlock %d is too old" : "this kernel has no landlock",
                 version);
        return false;
    }
    if (!is_alone()) {
        snprintf(why, size, "threads are there before landlock");
        return false;
    }
    if (landlock_begin(&landlock, version, &fault) == 0) {
        if (driver)
            allow_paths(&landlock);
        if (landlock_enforce(&landlock, &fault) == 0) {
            snprintf(why, size, "landlock %d", version);
            return true;
        }
    }
    snprintf(why, size, "no %.30s", fault.text);
    return false;
}

static void limit_one(int which, uint64_t value)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0 || limit.rlim_max <= value)
        return;
    limit.rlim_cur = limit.rlim_max = value;
    setrlimit(which, &limit);
}

void sandbox_put_on(struct sandbox *sandbox, const struct sandbox_needs *needs)
{
    char paths[60], calls[40] = "seccomp";
    struct fault fault = FAULT_INIT;
    device_cache_directory(); /* found, and made, before paths are limited */
    if (needs->driver)
        place_caches();
    /* RLIMIT_NPROC is left out because it counts all processes of the user, RLIMIT_AS because GPU
     * drivers reserve far more addresses than they use. A file that grows too large makes write(2)
     * fail, since SIGXFSZ is ignored (main.c). */
    limit_one(RLIMIT_CORE, 0);
    limit_one(RLIMIT_FSIZE, 2 * needs->memory + FILE_SIZE_FLOOR);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    bool has_paths = limit_paths(needs->driver, paths, sizeof paths);
    bool has_calls = limit_calls(needs->driver, needs->log_refused, &fault) == 0;
    if (!has_calls)
        snprintf(calls, sizeof calls, "no %.30s", fault.text);
    sandbox->whole = has_paths && has_calls;
    snprintf(sandbox->level, sizeof sandbox->level, "%s: %s, %s, limits",
             sandbox->whole           ? "whole"
             : has_paths || has_calls ? "partly"
                                      : "limits alone",
             paths, calls);
}
