/* The few steps on disk that must be exact: renames that replace nothing, small files that are
 * whole or absent, directories that remember. All of them may wait for the disk, so the daemon
 * never calls them on its loop. */
#ifndef SLUICE_BASE_DISK_H
#define SLUICE_BASE_DISK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Gives a file the name `to`, unless there is one of that name already: then −1 and EEXIST. Uses
 * renameat2(RENAME_NOREPLACE), or link and unlink on file systems that lack it. 0 or −1, errno. */
int disk_rename_new(int from_fd, const char *from, int to_fd, const char *to);

/* The second way of disk_rename_new by itself. */
int disk_link_and_unlink(int from_fd, const char *from, int to_fd, const char *to);

/* Syncs a directory, so that names given and taken in it last. File systems that cannot sync a
 * directory (EINVAL) do without. 0 or −1, errno. */
int disk_sync_directory(int fd);

/* Where a path below a directory leads: the directory of its last component, reached through no
 * link, and that component. */
struct disk_place {
    int fd; /* −1: nowhere */
    bool owned;
    const char *name; /* within the path that was given */
};

/* Folders on the way are made with `mode` if they are missing and `mode` is not 0. 0, or −1 and
 * errno; disk_place_leave after 0. */
int disk_place(struct disk_place *place, int root_fd, const char *path, mode_t mode);
void disk_place_leave(const struct disk_place *place);

/* Removes the file at a path below a directory. 0 or −1, errno. */
int disk_unlink(int root_fd, const char *path);

/* Opens the directory `name` within another, never through a link; makes it with `mode` if it is
 * missing and `mode` is not 0. −1 and errno. */
int disk_open_directory(int parent_fd, const char *name, mode_t mode);

/* Calls `visit` with the name of each entry but . and .., until it returns non-zero. Returns that,
 * 0 at the end, −1 and errno when the directory cannot be read. The entry's kind is a DT_ constant
 * of readdir(3). */
int disk_list(int directory_fd, int (*visit)(void *context, const char *name, unsigned char kind),
              void *context);

#endif
