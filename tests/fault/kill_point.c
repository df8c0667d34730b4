/* A preloaded library that ends the process by SIGKILL right after the n-th successful call of one
 * libc function on a name that matches a pattern of fnmatch(3):
 *
 *     SLUICE_KILL_AFTER=renameat:.note         after the first rename to ".note"
 *     SLUICE_KILL_AFTER=fsync:2:/tmp/x/out     after the second fsync of that path
 *
 * The name is the one that is given or removed; of a synced descriptor its path. These are the kill
 * points of docs/spool.md: each is a place between two steps on disk. fsync stands for fdatasync,
 * too. */
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char function[32], pattern[PATH_MAX];
static unsigned wanted = 1;
static atomic_uint count;

__attribute__((constructor)) static void read_settings(void)
{
    const char *setting = getenv("SLUICE_KILL_AFTER");
    if (!setting)
        return;
    if (sscanf(setting, "%31[^:]:%u:%4095[^\n]", function, &wanted, pattern) == 3)
        return;
    wanted = 1;
    if (sscanf(setting, "%31[^:]:%4095[^\n]", function, pattern) != 2)
        abort();
}

static void after(const char *name, const char *path, bool good)
{
    if (!good || strcmp(name, function) != 0 || fnmatch(pattern, path, 0) != 0)
        return;
    if (atomic_fetch_add(&count, 1) + 1 == wanted)
        kill(getpid(), SIGKILL);
}

static void after_sync(const char *name, int fd, bool good)
{
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = '\0';
    after(name, path, good);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    int result = REAL(renameat)(from_fd, from, to_fd, to);
    after("renameat", to, result == 0);
    return result;
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    int result = REAL(renameat2)(from_fd, from, to_fd, to, flags);
    after("renameat2", to, result == 0);
    return result;
}

int unlinkat(int fd, const char *path, int flags)
{
    int result = REAL(unlinkat)(fd, path, flags);
    after("unlinkat", path, result == 0);
    return result;
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    int result = REAL(mkdirat)(fd, path, mode);
    after("mkdirat", path, result == 0);
    return result;
}

int openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;
    va_end(args);
    int result = REAL(openat)(fd, path, flags, mode);
    if (flags & O_CREAT)
        after("openat", path, result >= 0);
    return result;
}

int fsync(int fd)
{
    int result = REAL(fsync)(fd);
    after_sync("fsync", fd, result == 0);
    return result;
}

int fdatasync(int fd)
{
    int result = REAL(fdatasync)(fd);
    after_sync("fsync", fd, result == 0);
    return result;
}

int syncfs(int fd)
{
    int result = REAL(syncfs)(fd);
    after_sync("syncfs", fd, result == 0);
    return result;
}
