/* A preloaded library for the daemon: a disk that fails or hangs.
 *
 *     SLUICE_FAULT_DISK=FILE    while FILE is there, the calls that go wrong are those that its
 * line names: "sync /tmp/x/out once"
 *
 * The line has a kind of call, a pattern of fnmatch(3) for the path, and what happens: "once": EIO,
 * and FILE is removed; "hang": the call waits until FILE is gone; a number: this errno, each time.
 * Kinds: sync (fsync, fdatasync, syncfs), pread, write (pwrite),
 * open, statfs, list (readdir), unlink, mkdir. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

struct rule {
    char kind[16], pattern[PATH_MAX], what[16];
};

static bool read_rule(const char *file, struct rule *rule)
{
    char line[PATH_MAX + 40];
    int fd = REAL(open)(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    return sscanf(line, "%15s %4095s %15s", rule->kind, rule->pattern, rule->what) == 3;
}

/* True when the call fails, with errno. */
static bool goes_wrong(const char *kind, const char *path)
{
    const char *file = getenv("SLUICE_FAULT_DISK");
    struct rule rule;
    int before = errno;
    while (file && read_rule(file, &rule) && strcmp(rule.kind, kind) == 0 &&
           fnmatch(rule.pattern, path, 0) == 0) {
        if (strcmp(rule.what, "hang") == 0) {
            usleep(20000);
            continue;
        }
        bool once = strcmp(rule.what, "once") == 0;
        if (once && REAL(unlink)(file) != 0)
            break;
        errno = once ? EIO : atoi(rule.what);
        return true;
    }
    errno = before;
    return false;
}

static bool descriptor_goes_wrong(const char *kind, int fd)
{
    char link[40], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = getenv("SLUICE_FAULT_DISK") ? readlink(link, path, sizeof path - 1) : -1;
    errno = before;
    if (length < 0)
        return false;
    path[length] = '\0';
    return goes_wrong(kind, path);
}

int fsync(int fd)
{
    return descriptor_goes_wrong("sync", fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return descriptor_goes_wrong("sync", fd) ? -1 : REAL(fdatasync)(fd);
}

int syncfs(int fd)
{
    return descriptor_goes_wrong("sync", fd) ? -1 : REAL(syncfs)(fd);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    return descriptor_goes_wrong("pread", fd) ? -1 : REAL(pread)(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return descriptor_goes_wrong("write", fd) ? -1 : REAL(pwrite)(fd, data, size, at);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return goes_wrong("open", path) ? -1 : REAL(open)(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return goes_wrong("open", path) ? -1 : REAL(openat)(fd, path, flags, mode);
}

int statfs(const char *path, struct statfs *status)
{
    return goes_wrong("statfs", path) ? -1 : REAL(statfs)(path, status);
}

int fstatvfs(int fd, struct statvfs *status)
{
    return descriptor_goes_wrong("statfs", fd) ? -1 : REAL(fstatvfs)(fd, status);
}

struct dirent *readdir(DIR *directory)
{
    return descriptor_goes_wrong("list", dirfd(directory)) ? NULL : REAL(readdir)(directory);
}

int unlinkat(int fd, const char *path, int flags)
{
    return goes_wrong("unlink", path) ? -1 : REAL(unlinkat)(fd, path, flags);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    return goes_wrong("mkdir", path) ? -1 : REAL(mkdirat)(fd, path, mode);
}
