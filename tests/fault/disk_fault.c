/* A preloaded library for the daemon: a disk that fails or hangs.
 *
 *     SLUICE_FAULT_DISK=FILE    while FILE is there, the calls that its line names go wrong:
 *                               "sync /tmp/x/out once"
 *
 * The line has a kind of call, a pattern of fnmatch(3) for the path, and what happens: "once": EIO,
 * and FILE is removed; "once:3": so the third such call; "hang": the call waits until FILE is gone;
 * "slow:50": it takes so many milliseconds longer; a number: this errno, each time. Kinds: sync
 * (fsync, fdatasync, syncfs), range (sync_file_range), pread, write (pwrite), open, stat (fstatat),
 * statfs, list (readdir), unlink, mkdir, rename and link (the old name).
 *
 *     SLUICE_FAULT_NO_LINKS=1   file systems know neither hard links nor renames without replacing
 *
 *     SLUICE_FAULT_LOOP=FILE    such calls that sluiced's first thread makes, which must not wait,
 *                               are lines of FILE: "open /proc/self/stat"
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
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

static void note_if_on_loop(const char *kind, const char *path)
{
    const char *file = getenv("SLUICE_FAULT_LOOP");
    char line[PATH_MAX + 40];
    if (!file || gettid() != getpid() || strcmp(program_invocation_short_name, "sluiced") != 0)
        return;
    int fd = REAL(open)(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int length = snprintf(line, sizeof line, "%s %s\n", kind, path);
    if (fd >= 0 && write(fd, line, (size_t)length) == length)
        close(fd);
}

/* True when the call fails, with errno. */
static bool goes_wrong(const char *kind, const char *path)
{
    const char *file = getenv("SLUICE_FAULT_DISK");
    struct rule rule;
    int before = errno;
    note_if_on_loop(kind, path);
    while (file && read_rule(file, &rule) && strcmp(rule.kind, kind) == 0 &&
           fnmatch(rule.pattern, path, 0) == 0) {
        if (strcmp(rule.what, "hang") == 0) {
            usleep(20000);
            continue;
        }
        unsigned slow = 0;
        if (sscanf(rule.what, "slow:%u", &slow) == 1) {
            usleep(slow * 1000);
            break;
        }
        static atomic_uint count;
        bool once = strncmp(rule.what, "once", 4) == 0;
        unsigned nth = 1;
        sscanf(rule.what, "once:%u", &nth);
        if (once && atomic_fetch_add(&count, 1) + 1 < nth)
            break;
        if (once && REAL(unlink)(file) != 0)
            break;
        errno = once ? EIO : atoi(rule.what);
        return true;
    }
    errno = before;
    return false;
}

/* Of a name within the directory `fd`; NULL: of the descriptor itself. */
static bool goes_wrong_at(const char *kind, int fd, const char *name)
{
    char link[40], path[2 * PATH_MAX];
    int before = errno;
    if (!getenv("SLUICE_FAULT_DISK") && !getenv("SLUICE_FAULT_LOOP"))
        return false;
    if (name && (name[0] == '/' || fd == AT_FDCWD))
        return goes_wrong(kind, name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = before;
    if (length < 0)
        return false;
    snprintf(path + length, sizeof path - (size_t)length, "%s%s", name ? "/" : "",
             name ? name : "");
    return goes_wrong(kind, path);
}

static bool descriptor_goes_wrong(const char *kind, int fd)
{
    return goes_wrong_at(kind, fd, NULL);
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

int sync_file_range(int fd, off_t at, off_t length, unsigned flags)
{
    return descriptor_goes_wrong("range", fd) ? -1 : REAL(sync_file_range)(fd, at, length, flags);
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
    return goes_wrong_at("open", fd, path) ? -1 : REAL(openat)(fd, path, flags, mode);
}

int fstatat(int fd, const char *path, struct stat *status, int flags)
{
    return goes_wrong_at("stat", fd, path) ? -1 : REAL(fstatat)(fd, path, status, flags);
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
    return goes_wrong_at("unlink", fd, path) ? -1 : REAL(unlinkat)(fd, path, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return goes_wrong_at("rename", from_fd, from) ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (flags == RENAME_NOREPLACE && getenv("SLUICE_FAULT_NO_LINKS")) {
        errno = EINVAL;
        return -1;
    }
    return goes_wrong_at("rename", from_fd, from)
               ? -1
               : REAL(renameat2)(from_fd, from, to_fd, to, flags);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (getenv("SLUICE_FAULT_NO_LINKS")) {
        errno = EPERM;
        return -1;
    }
    return goes_wrong_at("link", from_fd, from) ? -1
                                                : REAL(linkat)(from_fd, from, to_fd, to, flags);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    return goes_wrong_at("mkdir", fd, path) ? -1 : REAL(mkdirat)(fd, path, mode);
}
