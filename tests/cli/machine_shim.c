/* A preloaded library that shows sluice doctor another machine: paths below /dev and
 * /proc/sys/fs/inotify lead below $SHIM_ROOT, and $SHIM_MOUNTS says which file system a path is on:
 * "PATH=WORD …", where a word is readonly, noexec, full or nfs. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

static const char *moved(const char *path, char buffer[4096])
{
    static const char *const folders[] = {"/dev/mali", "/dev/dri", "/dev/dma_heap",
                                          "/proc/sys/fs/inotify"};
    const char *root = getenv("SHIM_ROOT");
    if (root && strcmp(path, "/dev") == 0) {
        snprintf(buffer, 4096, "%s/dev", root);
        return buffer;
    }
    for (size_t i = 0; root && i < sizeof folders / sizeof *folders; i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) {
            snprintf(buffer, 4096, "%s%s", root, path);
            return buffer;
        }
    }
    return path;
}

static int is_on(const char *path, const char *word)
{
    char entry[4200];
    const char *mounts = getenv("SHIM_MOUNTS");
    snprintf(entry, sizeof entry, "%s=%s", path, word);
    return mounts && strstr(mounts, entry) != NULL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    char buffer[4096];
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    return REAL(open)(moved(path, buffer), flags, mode);
}

int stat(const char *path, struct stat *status)
{
    char buffer[4096];
    return REAL(stat)(moved(path, buffer), status);
}

int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    char buffer[4096];
    return REAL(scandir)(moved(path, buffer), names, filter, compare);
}

int statfs(const char *path, struct statfs *status)
{
    int result = REAL(statfs)(path, status);
    if (is_on(path, "nfs"))
        status->f_type = 0x6969;
    return result;
}

int statvfs(const char *path, struct statvfs *status)
{
    int result = REAL(statvfs)(path, status);
    if (is_on(path, "readonly"))
        status->f_flag |= ST_RDONLY;
    if (is_on(path, "noexec"))
        status->f_flag |= ST_NOEXEC;
    if (is_on(path, "full"))
        status->f_bavail = 1;
    return result;
}
