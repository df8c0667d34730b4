/* Reading files whole, within a limit; writing files so that nobody sees an incomplete one. */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include "base/fault.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* A block of memory with an owner. */
struct bytes {
    uint8_t *data;
    size_t size;
};

void bytes_finish(struct bytes *bytes);

/* Reads `fd` from its beginning (a pipe: from where it is) to its end into memory that the caller
 * owns. The file is not mapped: if somebody truncated it this process would die of SIGBUS.
 * FAULT_LIMIT for more than `limit` bytes, if possible before memory is allocated. */
int file_read(int fd, uint64_t limit, struct bytes *bytes, struct fault *fault);

/* Opens an input for reading, with further flags of open(2). FAULT_NO_INPUT, FAULT_PERMISSION. */
int file_open_input(const char *path, int flags, int *fd, struct fault *fault);

/* Closes a descriptor, unless it is negative, and sets it to −1. errno stays as it was. */
void file_close(int *fd);

/* Reads the beginning of a small file, as those of /proc and /sys are, and puts a NUL behind it.
 * Returns its length without that; 0 for a file that is empty or cannot be read. */
size_t file_read_text(const char *path, char *text, size_t size);

/* Writes all bytes, or returns a fault. */
int file_write(int fd, const void *data, size_t size, struct fault *fault);

/* Makes the file `temporary`, in place of an older one, and writes it. `fd` stays open, for the
 * caller to sync and close; after a fault the file is removed, and `fd` is −1. */
int file_write_aside(int directory_fd, const char *temporary, const void *data, size_t size,
                     int *fd, struct fault *fault);

/* Writes the file `name` under the temporary name `temporary` in the same directory, and renames
 * it, replacing an older one. `durable`: syncs the file before the rename, and the directory after
 * it. */
int file_write_whole(int directory_fd, const char *name, const char *temporary, const void *data,
                     size_t size, bool durable, struct fault *fault);

/* A file that is written under a temporary name beside its final one. The struct must not be moved
 * until commit or discard. */
struct file_draft {
    int fd;          /* to write to; −1: closed */
    char *path;      /* the final name; NULL: a device or pipe is written directly; owned */
    char *temporary; /* the temporary name; NULL: it has its final name; owned */
    LIST_ENTRY(file_draft) link;
};

/* Opens a draft for `path`. Links are followed, as by cp: the file that the link leads to is
 * replaced. file_draft_commit or file_draft_discard must follow. */
int file_draft_open(struct file_draft *draft, const char *path, struct fault *fault);

/* Closes the draft and gives it its name, replacing an older file. `durable`: also syncs the file
 * and its folder. */
int file_draft_commit(struct file_draft *draft, bool durable, struct fault *fault);

/* file_draft_commit in steps, for several files that belong together: all are closed, then all are
 * placed, then all are discarded. */
int file_draft_close(struct file_draft *draft, struct fault *fault);

/* Renames the file to `path` in the same folder (NULL: its own final name). With `replaced`, an
 * older file is replaced, and that is reported there; with NULL this is FAULT_EXISTS. After a fault
 * the file still has its temporary name. */
int file_draft_place(struct file_draft *draft, const char *path, bool *replaced,
                     struct fault *fault);

/* Gives a file that was placed as `path` (NULL: its own final name) a temporary name again. */
void file_draft_take_back(struct file_draft *draft, const char *path);

/* Removes a draft that has not been placed. Does nothing for one that was never opened ({.fd = -1})
 * or is finished. */
void file_draft_discard(struct file_draft *draft);

/* Removes the temporary files of all drafts, for a process that is about to end. Threads that open,
 * place or discard a draft afterwards wait for ever. Not for signal handlers. */
void file_drafts_abandon(void);

/* "NFS", "FUSE" and so on, for a file system on which changes by others cause no inotify event
 * here; NULL for others, and where that is not known. */
const char *file_remote_kind(const char *path);

/* Makes a path absolute in the working directory. Links are not followed; empty and "." components
 * are removed, ".." stays, since it may follow a link. The caller frees it; NULL without memory. */
char *path_absolute(const char *path);

/* realpath(3) with a limit: returns false with ETIMEDOUT when the disk does not answer within a
 * second. The thread that waits for the disk is left behind. */
bool path_real(const char *path, char real[PATH_MAX]);

/* Makes the directory and missing ones above it, with this mode. */
int path_make_directories(const char *path, mode_t mode, struct fault *fault);

/* A result's path with a number and a plane: "sub/out.png", 2, "dx" → "sub/out-2.dx.png"; 0 and ""
 * add nothing. The caller frees it. */
char *path_of_result(const char *path, unsigned number, const char *plane);

/* True for an existing directory, and for a path that ends in a slash. */
bool path_is_directory(const char *path);

/* True when both exist and are the same file. */
bool path_same_file(const char *a, const char *b);

#endif
