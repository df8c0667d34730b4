#include "base/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct identity identity_of(const struct stat *status)
{
    return (struct identity){status->st_dev, status->st_ino, status->st_size,
                             status->st_mtim.tv_sec * INT64_C(1000000000) +
                                 status->st_mtim.tv_nsec};
}

bool identity_equal(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime == b->mtime;
}

#define WRITERS_PAUSE_MAX 512000 /* microseconds; all pauses together take twice that */

int disk_rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return -1;
    if (linkat(from_fd, from, to_fd, to, 0) == 0)
        return unlinkat(from_fd, from, 0);
    if (errno != EPERM && errno != ENOSYS && errno != ENOTSUP && errno != EMLINK)
        return -1;
    int fd = openat(to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    int result = renameat(from_fd, from, to_fd, to), error = errno;
    if (result != 0)
        unlinkat(to_fd, to, 0);
    errno = error;
    return result;
}

bool disk_refuses_name(int error)
{
    return error == ENAMETOOLONG || error == EILSEQ || error == EINVAL || error == ENOTDIR;
}

/* The kernel grants a lease for reading only while nobody has the file open for writing; a mapping
 * counts as an open file. */
static bool has_writers(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

int disk_end_writing(int *fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    int reader = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader < 0)
        return -1;
    int closed = close(*fd);
    *fd = reader;
    if (closed != 0)
        return -1;
    /* whoever opened the file at that moment would have us sent a signal, which ends a process
     * unless it is one that is ignored */
    fcntl(reader, F_SETSIG, SIGURG);
    for (useconds_t pause = 1000; has_writers(reader); pause *= 2) {
        if (pause > WRITERS_PAUSE_MAX) {
            errno = ETXTBSY;
            return -1;
        }
        usleep(pause);
    }
    return 0;
}

int disk_sync_directory(int fd)
{
    if (fsync(fd) != 0)
        return errno == EINVAL ? 0 : -1;
    /* XFS lets this sync pass after it has shut down; nothing can be opened then. */
    int self = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return self < 0 ? -1 : close(self);
}

static int sync_one(int fd)
{
    struct stat status;
    int result = fstat(fd, &status);
    if (result == 0)
        result = S_ISDIR(status.st_mode) ? disk_sync_directory(fd) : fsync(fd);
    return result == 0 ? 0 : errno;
}

#define TOGETHER_MIN 4 /* for fewer, a sync of the file system is not worth others' data */

/* Whether syncfs writes files and journal to the disk. On FUSE, for one, it may do nothing. */
static bool syncs_whole(int fd)
{
    static const unsigned kinds[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                     F2FS_SUPER_MAGIC};
    struct statfs status;
    if (fstatfs(fd, &status) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned)status.f_type == kinds[i])
            return true;
    return false;
}

/* After a sync of the file system: whether this file was written. The kernel remembers for each
 * open file what could not be, whoever synced then. */
static int was_written(int fd)
{
    if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE) == 0)
        return 0;
    return errno == ENOSYS || errno == EINVAL || errno == ESPIPE ? sync_one(fd) : errno;
}

/* All items from `first` on that are of its device. Kernels before 5.17 do not tell by syncfs that
 * the journal is dead; the sync of a single file does. */
static void sync_together(struct disk_sync *items, size_t count, size_t first)
{
    int fd = items[first].fd, whole = syncfs(fd) == 0 ? sync_one(fd) : errno;
    for (size_t i = first; i < count; i++)
        if (items[i].device == items[first].device && items[i].error < 0)
            items[i].error = whole != 0 || i == first ? whole : was_written(items[i].fd);
}

void disk_sync_all(struct disk_sync *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        items[i].error = -1;
        items[i].device = fstat(items[i].fd, &status) == 0 ? status.st_dev : 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        if (items[i].error >= 0)
            continue;
        for (size_t other = i; other < count; other++)
            same += items[other].device == items[i].device;
        if (same >= TOGETHER_MIN && syncs_whole(items[i].fd))
            sync_together(items, count, i);
        else
            items[i].error = sync_one(items[i].fd);
    }
}

int disk_place(struct disk_place *place, int root_fd, const char *path, mode_t mode)
{
    *place = (struct disk_place){.fd = root_fd, .name = path};
    for (const char *slash; (slash = strchr(place->name, '/')) != NULL; place->name = slash + 1) {
        char component[256];
        size_t length = (size_t)(slash - place->name);
        int fd = -1;
        if (length == 0 || length >= sizeof component)
            errno = ENAMETOOLONG;
        else {
            memcpy(component, place->name, length);
            component[length] = '\0';
            fd = disk_open_directory(place->fd, component, mode);
        }
        disk_place_leave(place);
        *place = (struct disk_place){.fd = fd, .owned = true, .name = place->name};
        if (fd < 0)
            return -1;
    }
    return 0;
}

void disk_place_leave(const struct disk_place *place)
{
    int error = errno;
    if (place->owned && place->fd >= 0)
        close(place->fd);
    errno = error;
}

int disk_stat(int root_fd, const char *path, struct stat *status)
{
    struct disk_place place;
    if (disk_place(&place, root_fd, path, 0) != 0)
        return -1;
    int result = fstatat(place.fd, place.name, status, AT_SYMLINK_NOFOLLOW);
    disk_place_leave(&place);
    return result;
}

int disk_open(int root_fd, const char *path, int flags)
{
    struct disk_place place;
    if (disk_place(&place, root_fd, path, 0) != 0)
        return -1;
    int fd = openat(place.fd, place.name, flags);
    disk_place_leave(&place);
    return fd;
}

int disk_unlink(int root_fd, const char *path)
{
    struct disk_place place;
    if (disk_place(&place, root_fd, path, 0) != 0)
        return -1;
    int result = unlinkat(place.fd, place.name, 0);
    disk_place_leave(&place);
    return result;
}

bool disk_may_have(int directory_fd, const char *name)
{
    return faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
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
    /* Opened anew, because a duplicate descriptor would share the reading position. */
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
