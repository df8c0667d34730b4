/* The few steps on disk that must be exact: renames that replace nothing, small files that are
 * whole or absent, directories that remember. All of them may wait for the disk: never on the loop.
 */
#ifndef SLUICE_DAEMON_DISK_H
#define SLUICE_DAEMON_DISK_H

#include "base/fault.h"
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

/* Writes `name` anew, through the temporary name `temporary` in the same directory: synced, renamed
 * (replacing), directory synced. */
int disk_write_file(int directory_fd, const char *name, const char *temporary, const void *data,
                    size_t size, struct fault *fault);

/* Opens the directory `name` within another, never through a link; makes it with `mode` if it is
 * missing and `mode` is not 0. −1 and errno. */
int disk_open_directory(int parent_fd, const char *name, mode_t mode);

/* Calls `visit` with the name of each entry but . and .., until it returns non-zero. Returns that,
 * 0 at the end, −1 and errno when the directory cannot be read. The entry's kind is a DT_ constant
 * of readdir(3). */
int disk_list(int directory_fd, int (*visit)(void *context, const char *name, unsigned char kind),
              void *context);

#endif
