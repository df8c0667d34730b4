/* A preloaded library that tells which calls of libc the daemon's programs make, and makes one of
 * them fail or hang:
 *
 *     SLUICE_CALLS=DIR    DIR/root has the folder that names of files are shortened by
 *
 * Each call is a site: "sluiced fsync #/out/.a@.tmp", the program, the function, and the file:
 * numbers are # and @, which change from run to run; sockets are "socket", memory files "memory".
 * While there is a file DIR/trace sites are appended to it, a line a call. While there is a file
 * DIR/rule,
 *
 *     sluiced fsync /out/.a@.tmp
 *     2 once 5
 *
 * the second call at this site fails with errno 5; "always": that one and all later ones, of every
 * such process; "hang": they wait until DIR/rule is gone. DIR/count, of 8 zeros, is where processes
 * count together. A call that fails before it began has done nothing. */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAME_MAX_ 300

static char root[PATH_MAX], rule_path[PATH_MAX], trace_path[PATH_MAX];
static atomic_uint *count;
static int tracing; /* as it was when the process began */

/* The library's own calls, past those below. */
static int raw_open(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static size_t raw_read(const char *path, char *data, size_t size)
{
    int fd = raw_open(path, O_RDONLY);
    long got = fd < 0 ? 0 : syscall(SYS_read, fd, data, size - 1);
    if (fd >= 0)
        syscall(SYS_close, fd);
    data[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *dir = getenv("SLUICE_CALLS");
    char path[PATH_MAX];
    if (!dir)
        return;
    snprintf(rule_path, sizeof rule_path, "%s/rule", dir);
    snprintf(trace_path, sizeof trace_path, "%s/trace", dir);
    snprintf(path, sizeof path, "%s/root", dir);
    raw_read(path, root, sizeof root);
    tracing = syscall(SYS_faccessat, AT_FDCWD, trace_path, F_OK) == 0;
    snprintf(path, sizeof path, "%s/count", dir);
    int fd = raw_open(path, O_RDWR);
    void *memory = fd < 0 ? MAP_FAILED
                          : (void *)syscall(SYS_mmap, NULL, sizeof *count, PROT_READ | PROT_WRITE,
                                            MAP_SHARED, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (memory != MAP_FAILED)
        count = memory;
}

/* ---- what a call is about ---- */

static size_t hexadecimal(const char *text)
{
    return strspn(text, "0123456789abcdef");
}

/* Numbers and random tags, which are others in each run, become # and @. */
static void shorten(const char *path, char name[NAME_MAX_])
{
    size_t length = 0;
    if (root[0] && strncmp(path, root, strlen(root)) == 0)
        path += strlen(root);
    if (strncmp(path, "socket:", 7) == 0 || strncmp(path, "/memfd:", 7) == 0)
        path = path[0] == 's' ? "socket" : "memory";
    while (*path && length < NAME_MAX_ - 1) {
        size_t tag = hexadecimal(path), digits = strspn(path, "0123456789");
        char c = tag >= 12 ? '@' : digits > 0 ? '#' : *path;
        path += tag >= 12 ? tag : digits > 0 ? digits : 1;
        name[length++] = isspace((unsigned char)c) ? '_' : c;
    }
    name[length] = '\0';
}

static void find_name(int fd, const char *path, char name[NAME_MAX_])
{
    char link[40], whole[2 * PATH_MAX] = "";
    long length = 0;
    if ((!path || path[0] != '/') && fd != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        length = syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_MAX - 1);
        length = length > 0 ? length : 0;
        whole[length] = '\0';
    }
    snprintf(whole + length, sizeof whole - (size_t)length, "%s%s", length > 0 && path ? "/" : "",
             path ? path : "");
    shorten(whole, name);
}

/* ---- what becomes of it ---- */

static void note(const char *function, const char *name)
{
    char line[2 * NAME_MAX_];
    int length =
        snprintf(line, sizeof line, "%s %s %s\n", program_invocation_short_name, function, name);
    int fd = raw_open(trace_path, O_WRONLY | O_APPEND);
    if (fd >= 0) {
        syscall(SYS_write, fd, line, length);
        syscall(SYS_close, fd);
    }
}

struct rule {
    char program[40], function[40], name[NAME_MAX_], how[16];
    unsigned nth;
    int error;
};

static int read_rule(struct rule *rule)
{
    char text[600];
    return raw_read(rule_path, text, sizeof text) > 0 &&
           sscanf(text, "%39s %39s %299s %u %15s %d", rule->program, rule->function, rule->name,
                  &rule->nth, rule->how, &rule->error) == 6;
}

/* True when the call is to fail, with errno. */
static int goes_wrong(const char *function, int fd, const char *path)
{
    char name[NAME_MAX_];
    struct rule rule;
    int before = errno, wrong = 0;
    if (!count)
        return 0;
    if (tracing) {
        find_name(fd, path, name);
        note(function, name);
    } else if (read_rule(&rule) && strcmp(rule.function, function) == 0 &&
               strcmp(rule.program, program_invocation_short_name) == 0) {
        find_name(fd, path, name);
        unsigned n = strcmp(name, rule.name) == 0 ? atomic_fetch_add(count, 1) + 1 : 0;
        wrong = n == rule.nth || (n > rule.nth && strcmp(rule.how, "once") != 0);
        if (wrong && strcmp(rule.how, "hang") == 0) {
            wrong = 0;
            while (syscall(SYS_faccessat, AT_FDCWD, rule_path, F_OK) == 0)
                usleep(20000);
        }
        if (wrong)
            before = rule.error;
    }
    errno = before;
    return wrong;
}

/* ---- the calls ---- */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define CALL(type, bad, name, fd, path, parameters, arguments)                                     \
    type name parameters                                                                           \
    {                                                                                              \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
            real = REAL(name);                                                                     \
        return goes_wrong(#name, fd, path) ? bad : real arguments;                                 \
    }

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = va_arg(list, mode_t);                                                        \
        va_end(list);                                                                              \
        return goes_wrong("open", AT_FDCWD, path)                                                  \
                   ? -1                                                                            \
                   : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                        \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = va_arg(list, mode_t);                                                        \
        va_end(list);                                                                              \
        return goes_wrong("open", at, path) ? -1                                                   \
                                            : (int)syscall(SYS_openat, at, path, flags, mode);     \
    }
OPENAT(openat)
OPENAT(openat64)

/* With the name that programs of 64-bit offsets call, under the plain one. */
#define CALL64(type, bad, name, name64, fd, path, parameters, arguments)                           \
    CALL(type, bad, name, fd, path, parameters, arguments)                                         \
    type name64 parameters                                                                         \
    {                                                                                              \
        return name arguments;                                                                     \
    }

CALL(ssize_t, -1, read, fd, NULL, (int fd, void *data, size_t size), (fd, data, size))
CALL(ssize_t, -1, write, fd, NULL, (int fd, const void *data, size_t size), (fd, data, size))
CALL(ssize_t, -1, readv, fd, NULL, (int fd, const struct iovec *parts, int n), (fd, parts, n))
CALL(ssize_t, -1, writev, fd, NULL, (int fd, const struct iovec *parts, int n), (fd, parts, n))
CALL64(ssize_t, -1, pread, pread64, fd, NULL, (int fd, void *data, size_t size, off_t at),
       (fd, data, size, at))
CALL64(ssize_t, -1, pwrite, pwrite64, fd, NULL, (int fd, const void *data, size_t size, off_t at),
       (fd, data, size, at))
CALL(int, -1, fsync, fd, NULL, (int fd), (fd))
CALL(int, -1, fdatasync, fd, NULL, (int fd), (fd))
CALL(int, -1, syncfs, fd, NULL, (int fd), (fd))
CALL64(int, -1, ftruncate, ftruncate64, fd, NULL, (int fd, off_t size), (fd, size))
CALL(int, -1, stat, AT_FDCWD, path, (const char *path, struct stat *status), (path, status))
CALL(int, -1, lstat, AT_FDCWD, path, (const char *path, struct stat *status), (path, status))
CALL(int, -1, fstat, fd, NULL, (int fd, struct stat *status), (fd, status))
CALL(int, -1, fstatat, fd, path, (int fd, const char *path, struct stat *status, int flags),
     (fd, path, status, flags))
CALL(int, -1, stat64, AT_FDCWD, path, (const char *path, struct stat64 *status), (path, status))
CALL(int, -1, lstat64, AT_FDCWD, path, (const char *path, struct stat64 *status), (path, status))
CALL(int, -1, fstat64, fd, NULL, (int fd, struct stat64 *status), (fd, status))
CALL(int, -1, fstatat64, fd, path, (int fd, const char *path, struct stat64 *status, int flags),
     (fd, path, status, flags))
CALL(int, -1, statfs, AT_FDCWD, path, (const char *path, struct statfs *status), (path, status))
CALL(int, -1, statfs64, AT_FDCWD, path, (const char *path, struct statfs64 *status), (path, status))
CALL(int, -1, fstatfs, fd, NULL, (int fd, struct statfs *status), (fd, status))
CALL(int, -1, fstatfs64, fd, NULL, (int fd, struct statfs64 *status), (fd, status))
CALL(int, -1, fstatvfs, fd, NULL, (int fd, struct statvfs *status), (fd, status))
CALL(int, -1, fstatvfs64, fd, NULL, (int fd, struct statvfs64 *status), (fd, status))
CALL(int, -1, access, AT_FDCWD, path, (const char *path, int mode), (path, mode))
CALL(int, -1, faccessat, fd, path, (int fd, const char *path, int mode, int flags),
     (fd, path, mode, flags))
CALL(ssize_t, -1, readlinkat, fd, path, (int fd, const char *path, char *link, size_t size),
     (fd, path, link, size))
CALL(int, -1, mkdir, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
CALL(int, -1, mkdirat, fd, path, (int fd, const char *path, mode_t mode), (fd, path, mode))
CALL(int, -1, unlink, AT_FDCWD, path, (const char *path), (path))
CALL(int, -1, unlinkat, fd, path, (int fd, const char *path, int flags), (fd, path, flags))
CALL(int, -1, symlinkat, fd, path, (const char *target, int fd, const char *path),
     (target, fd, path))
CALL(int, -1, linkat, to_fd, to, (int fd, const char *path, int to_fd, const char *to, int flags),
     (fd, path, to_fd, to, flags))
CALL(int, -1, renameat, to_fd, to, (int fd, const char *path, int to_fd, const char *to),
     (fd, path, to_fd, to))
CALL(int, -1, renameat2, to_fd, to,
     (int fd, const char *path, int to_fd, const char *to, unsigned flags),
     (fd, path, to_fd, to, flags))
CALL(int, -1, flock, fd, NULL, (int fd, int what), (fd, what))
CALL(DIR *, NULL, fdopendir, fd, NULL, (int fd), (fd))
CALL(char *, NULL, realpath, AT_FDCWD, path, (const char *path, char *real_path), (path, real_path))
CALL(int, -1, inotify_add_watch, AT_FDCWD, path, (int fd, const char *path, uint32_t mask),
     (fd, path, mask))
CALL(int, -1, inotify_init1, AT_FDCWD, "inotify", (int flags), (flags))
CALL(int, -1, socket, AT_FDCWD, "socket", (int domain, int type, int protocol),
     (domain, type, protocol))
CALL(int, -1, socketpair, AT_FDCWD, "socket", (int domain, int type, int protocol, int fds[2]),
     (domain, type, protocol, fds))
CALL(int, -1, bind, AT_FDCWD, "socket", (int fd, const struct sockaddr *address, socklen_t size),
     (fd, address, size))
CALL(int, -1, listen, AT_FDCWD, "socket", (int fd, int n), (fd, n))
CALL(int, -1, accept4, AT_FDCWD, "socket",
     (int fd, struct sockaddr *address, socklen_t *size, int flags), (fd, address, size, flags))
CALL(int, -1, getsockopt, AT_FDCWD, "socket",
     (int fd, int level, int name, void *value, socklen_t *size), (fd, level, name, value, size))
CALL(ssize_t, -1, sendmsg, AT_FDCWD, "socket", (int fd, const struct msghdr *message, int flags),
     (fd, message, flags))
CALL(ssize_t, -1, recvmsg, AT_FDCWD, "socket", (int fd, struct msghdr *message, int flags),
     (fd, message, flags))
CALL(ssize_t, -1, send, AT_FDCWD, "socket", (int fd, const void *data, size_t size, int flags),
     (fd, data, size, flags))
CALL(ssize_t, -1, recv, AT_FDCWD, "socket", (int fd, void *data, size_t size, int flags),
     (fd, data, size, flags))
CALL(int, -1, memfd_create, AT_FDCWD, "memory", (const char *name, unsigned flags), (name, flags))
CALL(int, -1, eventfd, AT_FDCWD, "eventfd", (unsigned value, int flags), (value, flags))
CALL(int, -1, pipe2, AT_FDCWD, "pipe", (int fds[2], int flags), (fds, flags))
CALL(int, -1, dup, fd, NULL, (int fd), (fd))

/* The descriptor goes in any case, as with the kernel's. */
int close(int fd)
{
    if (!goes_wrong("close", fd, NULL))
        return (int)syscall(SYS_close, fd);
    int error = errno;
    syscall(SYS_close, fd);
    errno = error;
    return -1;
}

/* The end of a folder and an error differ by errno alone. */
struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real)(DIR *);
    if (!real)
        real = REAL(readdir);
    return goes_wrong("readdir", dirfd(directory), NULL) ? NULL : real(directory);
}
struct dirent64 *readdir64(DIR *directory) __attribute__((alias("readdir")));

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && goes_wrong("mmap", fd, NULL))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));
