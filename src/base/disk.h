/* Operations on disk that have to be exact: renaming without replacing, small files that are
 * complete or absent, syncing directories. All may wait for the disk, so the daemon never calls
 * them on its loop. */
#ifndef SLUICE_BASE_DISK_H
#define SLUICE_BASE_DISK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Identifies a file and its content: device, inode, size and modification time. The change time is
 * left out, since our own renames change it. */
struct identity {
    dev_t device;
    ino_t inode;
    int64_t size;
    int64_t mtime; /* nanoseconds since 1970, as the file system has it */
};

struct identity identity_of(const struct stat *status);
bool identity_equal(const struct identity *a, const struct identity *b);

/* Renames a file to `to` unless that name is taken: then −1 and EEXIST. Uses
 * renameat2(RENAME_NOREPLACE); on file systems without it link and unlink, and without hard links
 * an empty file, which is made and then replaced. Returns 0, or −1 and errno. */
int disk_rename_new(int from_fd, const char *from, int to_fd, const char *to);

/* Whether an errno says that a file system cannot have such a name, or has a file where a folder
 * has to be: no later try does better. */
bool disk_refuses_name(int error);

/* Syncs a directory, so that names added and removed in it are durable. File systems that cannot
 * (EINVAL) are accepted. Returns 0, or −1 and errno. */
int disk_sync_directory(int fd);

/* Reopens a file for reading alone, and makes sure that nobody can change it any more: no process
 * has it open for writing, or maps it so. Whoever still has gets a second, which is enough for a
 * child between fork and exec. Returns 0, or −1 and errno: ETXTBSY: somebody still can. Where the
 * file system knows no leases (NFS before version 4, 9p), or has the file belong to another user,
 * nobody is found. */
int disk_end_writing(int *fd);

/* A file or directory that is to be synced. */
struct disk_sync {
    int fd;    /* a file's was opened before another program could be told of a failure */
    int error; /* set by disk_sync_all: 0, or errno: what was written may be lost */
    dev_t device;
};

/* Syncs them all. Several on one file system share one sync of it, where that can be relied on. */
void disk_sync_all(struct disk_sync *items, size_t count);

/* The directory of a path's last component, opened without following links, and that component. */
struct disk_place {
    int fd; /* −1: none */
    bool owned;
    const char *name; /* points into the path */
};

/* Opens the place of a path below a directory. Missing folders on the way are made with `mode`,
 * unless that is 0. Returns 0, or −1 and errno. disk_place_leave, which leaves errno as it was,
 * must follow 0. */
int disk_place(struct disk_place *place, int root_fd, const char *path, mode_t mode);
void disk_place_leave(const struct disk_place *place);

/* The same as fstatat without following a link, openat and unlinkat, for a path below a directory.
 */
int disk_stat(int root_fd, const char *path, struct stat *status);
int disk_open(int root_fd, const char *path, int flags);
int disk_unlink(int root_fd, const char *path);

/* False when there is surely no such name in the directory. */
bool disk_may_have(int directory_fd, const char *name);

/* Opens the directory `name` in another one, without following a link. If it is missing it is made
 * with `mode`, unless that is 0. Returns a descriptor, or −1 and errno. */
int disk_open_directory(int parent_fd, const char *name, mode_t mode);

/* Calls `visit` with the name of each entry except . and .., until it returns non-zero. Returns
 * that value, 0 at the end, or −1 and errno when the directory cannot be read. `kind` is a DT_
 * constant of readdir(3). */
int disk_list(int directory_fd, int (*visit)(void *context, const char *name, unsigned char kind),
              void *context);

#endif
