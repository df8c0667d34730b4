/* A preloaded library that makes the n-th call of one libc function fail:
 *
 *     SLUICE_FAULT_LIBC=write:3:28      the third write(2) gives ENOSPC
 *     SLUICE_FAULT_LIBC=malloc:7+:12    the seventh and every later allocation gives ENOMEM
 *
 * malloc stands for malloc, calloc, realloc and aligned_alloc together; write for every write of
 * more than nothing to a descriptor above 2, so that complaints still come out; open for open and
 * openat, but not of directories, since that only asks whether a path is one; rename for rename,
 * renameat and renameat2. SLUICE_FAULT_COUNT=FILE has the number of calls of each written there at
 * exit. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum function {
    F_MALLOC,
    F_WRITE,
    F_FSYNC,
    F_RENAME,
    F_OPEN,
    F_PREAD,
    FUNCTIONS
};
static const char *const names[FUNCTIONS] = {"malloc", "write", "fsync", "rename", "open", "pread"};
static atomic_uint counts[FUNCTIONS];
static int failing = -1, failure;
static unsigned first;
static bool persistent, ready;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void write_counts(void)
{
    ready = false;
    FILE *file = fopen(getenv("SLUICE_FAULT_COUNT"), "w");
    for (int i = 0; file && i < FUNCTIONS; i++)
        fprintf(file, "%s %u\n", names[i], atomic_load(&counts[i]));
    if (file)
        fclose(file);
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *setting = getenv("SLUICE_FAULT_LIBC");
    char name[32], plus[2] = "";
    if (setting && (sscanf(setting, "%31[^:]:%u:%d", name, &first, &failure) == 3 ||
                    sscanf(setting, "%31[^:]:%u%1[+]:%d", name, &first, plus, &failure) == 4))
        for (int i = 0; i < FUNCTIONS; i++)
            if (strcmp(name, names[i]) == 0)
                failing = i;
    if (setting && failing < 0)
        abort();
    persistent = plus[0] == '+';
    if (getenv("SLUICE_FAULT_COUNT"))
        atexit(write_counts);
    ready = true; /* what the loader and libc allocate before main is not ours to fail */
}

static bool due(enum function function)
{
    if (!ready)
        return false;
    unsigned n = atomic_fetch_add(&counts[function], 1) + 1;
    if ((int)function != failing || n < first || (n > first && !persistent))
        return false;
    errno = failure;
    return true;
}

void *malloc(size_t size)
{
    return due(F_MALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return due(F_MALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return due(F_MALLOC) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return due(F_MALLOC) ? NULL : __libc_memalign(alignment, size);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
    return fd > 2 && due(F_WRITE) ? -1 : REAL(write)(fd, data, size);
}

int fsync(int fd)
{
    return due(F_FSYNC) ? -1 : REAL(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    return due(F_RENAME) ? -1 : REAL(rename)(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return due(F_RENAME) ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    return due(F_RENAME) ? -1 : REAL(renameat2)(from_fd, from, to_fd, to, flags);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return !(flags & O_DIRECTORY) && due(F_OPEN) ? -1 : REAL(open)(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return !(flags & O_DIRECTORY) && due(F_OPEN) ? -1 : REAL(openat)(fd, path, flags, mode);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return due(F_PREAD) ? -1 : REAL(pread)(fd, data, size, offset);
}
