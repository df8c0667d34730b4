#include "daemon/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int disk_link_and_unlink(int from_fd, const char *from, int to_fd, const char *to)
{
    if (linkat(from_fd, from, to_fd, to, 0) != 0)
        return -1;
    return unlinkat(from_fd, from, 0);
}

int disk_rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP)
        return disk_link_and_unlink(from_fd, from, to_fd, to);
    return -1;
}

int disk_sync_directory(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL ? 0 : -1;
}

static int write_synced(int fd, const void *data, size_t size, struct fault *fault)
{
    int result = file_write(fd, data, size, fault);
    if (result == 0 && fsync(fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync");
    if (close(fd) != 0 && result == 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    return result;
}

int disk_write_file(int directory_fd, const char *name, const char *temporary, const void *data,
                    size_t size, struct fault *fault)
{
    /* One that a crash left behind: nobody else writes under this name. */
    if (unlinkat(directory_fd, temporary, 0) != 0 && errno != ENOENT)
        return fault_set_errno(fault, FAULT_CREATE, temporary);
    int fd =
        openat(directory_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, temporary);
    int result = write_synced(fd, data, size, fault);
    if (result == 0 && renameat(directory_fd, temporary, directory_fd, name) != 0)
        result = fault_set_errno(fault, FAULT_CREATE, name);
    if (result != 0) {
        unlinkat(directory_fd, temporary, 0);
        return result;
    }
    if (disk_sync_directory(directory_fd) != 0)
        return fault_set_errno(fault, FAULT_IO, "fsync of a directory");
    return 0;
}

int disk_open_directory(int parent_fd, const char *name, mode_t mode)
{
    if (mode != 0 && mkdirat(parent_fd, name, mode) != 0 && errno != EEXIST)
        return -1;
    return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int disk_list(int directory_fd, int (*visit)(void *context, const char *name, unsigned char kind),
              void *context)
{
    /* A description of its own: positions of duplicates would be shared. */
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return -1;
    }
    int result = 0;
    while (result == 0) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry) {
            result = errno ? -1 : 0;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = visit(context, entry->d_name, entry->d_type);
    }
    int error = errno;
    closedir(directory);
    errno = error;
    return result;
}
