#include "base/sealed.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int sealed_create(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int sealed_finish(int fd)
{
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

bool sealed_is(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_WRITE) && (seals & F_SEAL_SHRINK);
}

/* A private mapping, because kernels before 6.7 refuse a shared mapping of a file with
 * F_SEAL_WRITE. Nothing is written, so no page is copied. */
bool sealed_map(int fd, uint64_t limit, struct bytes *bytes)
{
    struct statfs system;
    struct stat status;
    if (!sealed_is(fd) || fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC)
        return false;
    if (fstat(fd, &status) != 0 || status.st_size <= 0 || (uint64_t)status.st_size > limit)
        return false;
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    *bytes = (struct bytes){at, (size_t)status.st_size};
    return true;
}

void sealed_unmap(struct bytes *bytes)
{
    if (bytes->data)
        munmap(bytes->data, bytes->size);
    *bytes = (struct bytes){0};
}
