/* A preloaded library for the daemon's two programs:
 *
 *     SLUICE_FAULT_NO_KILL=1       SIGKILL kills nobody: a process that is stuck in the kernel
 *     SLUICE_FAULT_POISON=WORD     the worker dies of SIGSEGV when it has begun with a file that
 *                                  holds WORD in its first 4096 bytes: it breaks a decoder
 *     SLUICE_FAULT_LATE_PEEK=1     whoever looks into an empty socket comes back late, so that he
 *                                  reads what has arrived meanwhile
 *     SLUICE_FAULT_READDIR=FILE    while FILE is there no folder can be read: with "hang" in it
 *                                  nobody comes back, else EIO
 *     SLUICE_FAULT_HANG=FILE       while FILE is there no call of sluiced at a file below the path
 *                                  that it holds comes back: a network disk that is gone
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int kill(pid_t pid, int number)
{
    static int (*real)(pid_t, int);
    if (!real)
        real = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
    if (number == SIGKILL && getenv("SLUICE_FAULT_NO_KILL"))
        return 0;
    return real(pid, number);
}

/* This thread has read such a file, and dies after the next message: that it has begun. */
static __thread int poisoned;

static void look(const void *data, ssize_t size)
{
    const char *word = getenv("SLUICE_FAULT_POISON");
    if (size > 4096)
        size = 4096;
    if (word && size > 0 && strcmp(program_invocation_short_name, "sluice-worker") == 0 &&
        memmem(data, (size_t)size, word, strlen(word)))
        poisoned = 1;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (!real)
        real = (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    ssize_t sent = real(fd, message, flags);
    if (poisoned)
        raise(SIGSEGV);
    return sent;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, struct msghdr *, int);
    if (!real)
        real = (ssize_t(*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    ssize_t got = real(fd, message, flags);
    int error = errno;
    if (got < 0 && (flags & MSG_PEEK) && getenv("SLUICE_FAULT_LATE_PEEK"))
        usleep(30000);
    errno = error;
    return got;
}

ssize_t read(int fd, void *data, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, data, size);
    look(data, got);
    return got;
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    ssize_t got = real(fd, data, size, at);
    look(data, got);
    return got;
}

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real)(DIR *);
    const char *path = getenv("SLUICE_FAULT_READDIR");
    char word[8] = "hang";
    int before = errno; /* which tells the end of a folder from an error */
    if (!real)
        real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    while (strcmp(word, "hang") == 0) {
        FILE *file = path ? fopen(path, "re") : NULL;
        errno = before;
        if (!file)
            return real(directory);
        if (fscanf(file, "%7s", word) != 1)
            word[0] = '\0';
        fclose(file);
        usleep(100000);
    }
    errno = EIO;
    return NULL;
}

/* As programs that are compiled for large files call them. */
ssize_t pread64(int fd, void *data, size_t size, off_t at) __attribute__((alias("pread")));
struct dirent64 *readdir64(DIR *directory) __attribute__((alias("readdir")));

/* ---- a disk that does not answer ---- */

/* By system calls alone, since all others are below. False: there is none, or it is over. */
static int read_prefix(char prefix[PATH_MAX])
{
    const char *file = getenv("SLUICE_FAULT_HANG");
    if (!file || strcmp(program_invocation_short_name, "sluiced") != 0)
        return 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = syscall(SYS_read, fd, prefix, PATH_MAX - 1);
    syscall(SYS_close, fd);
    prefix[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static void wait_at(int fd, const char *path)
{
    char prefix[PATH_MAX], link[64], whole[2 * PATH_MAX] = "";
    int before = errno;
    while (read_prefix(prefix)) {
        size_t length = 0;
        if ((!path || path[0] != '/') && fd != AT_FDCWD) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t got = syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_MAX - 1);
            length = got > 0 ? (size_t)got : 0;
        }
        snprintf(whole + length, sizeof whole - length, "%s%s", length > 0 ? "/" : "",
                 path ? path : "");
        if (strncmp(whole, prefix, strlen(prefix)) != 0)
            break;
        usleep(50000);
    }
    errno = before;
}

#define AT(fd, path) wait_at(fd, path)
#define CALL(type, name, parameters, arguments, where)                                             \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (!real)                                                                                 \
            real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                    \
        where;                                                                                     \
        return real arguments;                                                                     \
    }

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = va_arg(list, mode_t);                                                        \
        va_end(list);                                                                              \
        wait_at(AT_FDCWD, path);                                                                   \
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                              \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int fd, const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = va_arg(list, mode_t);                                                        \
        va_end(list);                                                                              \
        wait_at(fd, path);                                                                         \
        return (int)syscall(SYS_openat, fd, path, flags, mode);                                    \
    }
OPENAT(openat)
OPENAT(openat64)

CALL(int, stat, (const char *path, struct stat *status), (path, status), AT(AT_FDCWD, path))
CALL(int, stat64, (const char *path, struct stat64 *status), (path, status), AT(AT_FDCWD, path))
CALL(int, fstat, (int fd, struct stat *status), (fd, status), AT(fd, NULL))
CALL(int, fstat64, (int fd, struct stat64 *status), (fd, status), AT(fd, NULL))
CALL(int, fstatat, (int fd, const char *path, struct stat *status, int flags),
     (fd, path, status, flags), AT(fd, path))
CALL(int, fstatat64, (int fd, const char *path, struct stat64 *status, int flags),
     (fd, path, status, flags), AT(fd, path))
CALL(int, statfs, (const char *path, struct statfs *status), (path, status), AT(AT_FDCWD, path))
CALL(int, statfs64, (const char *path, struct statfs64 *status), (path, status), AT(AT_FDCWD, path))
CALL(int, fstatvfs, (int fd, struct statvfs *status), (fd, status), AT(fd, NULL))
CALL(int, fstatvfs64, (int fd, struct statvfs64 *status), (fd, status), AT(fd, NULL))
CALL(int, access, (const char *path, int mode), (path, mode), AT(AT_FDCWD, path))
CALL(int, faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags),
     AT(fd, path))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), AT(AT_FDCWD, path))
CALL(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), AT(fd, path))
CALL(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), AT(fd, path))
CALL(int, linkat, (int fd, const char *path, int to_fd, const char *to, int flags),
     (fd, path, to_fd, to, flags), AT(to_fd, to))
CALL(int, renameat, (int fd, const char *path, int to_fd, const char *to), (fd, path, to_fd, to),
     AT(to_fd, to))
CALL(int, renameat2, (int fd, const char *path, int to_fd, const char *to, unsigned flags),
     (fd, path, to_fd, to, flags), AT(to_fd, to))
CALL(int, fsync, (int fd), (fd), AT(fd, NULL))
CALL(int, fdatasync, (int fd), (fd), AT(fd, NULL))
CALL(int, syncfs, (int fd), (fd), AT(fd, NULL))
CALL(int, flock, (int fd, int what), (fd, what), AT(fd, NULL))
CALL(int, close, (int fd), (fd), AT(fd, NULL))
CALL(DIR *, fdopendir, (int fd), (fd), AT(fd, NULL))
CALL(char *, realpath, (const char *path, char *real_path), (path, real_path), AT(AT_FDCWD, path))
CALL(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask),
     AT(AT_FDCWD, path))
