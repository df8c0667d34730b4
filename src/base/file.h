/* Files: read whole within a limit, written so that nobody sees half of one. */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include "base/fault.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* Bytes in memory that somebody owns. */
struct bytes {
    uint8_t *data;
    size_t size;
};

void bytes_finish(struct bytes *bytes);

/* Reads `fd` from its beginning (a pipe: from here) to its end into memory that the caller owns.
 * Never maps: whoever may truncate the file under us would kill the process with SIGBUS.
 * More than `limit` bytes is FAULT_LIMIT, told from the file's size before memory is taken where
 * there is one. */
int file_read(int fd, uint64_t limit, struct bytes *bytes, struct fault *fault);

/* Writes all of it or says why not. */
int file_write(int fd, const void *data, size_t size, struct fault *fault);

/* Writes `name` anew, through the temporary name `temporary` in the same directory, and renames it
 * (replacing). `durable`: the file is synced before, the directory after. */
int file_write_whole(int directory_fd, const char *name, const char *temporary, const void *data,
                     size_t size, bool durable, struct fault *fault);

/* A file being written under a temporary name beside its final one. It stays where it is in memory
 * until it has ended. */
struct file_draft {
    int fd;          /* write here; −1: closed */
    char *path;      /* the final name; NULL: written in place, to a device or a pipe; owned */
    char *temporary; /* the temporary one; NULL: it has its final name; owned */
    LIST_ENTRY(file_draft) link;
};

/* Opens a draft for `path`. A link there is followed, as cp does: what it leads to is replaced.
 * The caller ends it with file_draft_commit or file_draft_discard. */
int file_draft_open(struct file_draft *draft, const char *path, struct fault *fault);

/* Closes, places and discards the draft, replacing what has its name; `durable` also syncs the file
 * and its folder. */
int file_draft_commit(struct file_draft *draft, bool durable, struct fault *fault);

/* file_draft_commit in steps, for several files that are placed together: all that are written are
 * closed, then all are placed, then all discarded. */
int file_draft_close(struct file_draft *draft, struct fault *fault);

/* Gives the file the name `path` in the same folder, or where NULL its own. `replaced` is set to
 * whether there was a file of that name; where it is NULL, none is replaced: FAULT_EXISTS. After a
 * failure the file still has its temporary name. */
int file_draft_place(struct file_draft *draft, const char *path, bool *replaced,
                     struct fault *fault);

/* Removes what has not been placed. Fine on one that was never opened ({.fd = -1}) or has ended. */
void file_draft_discard(struct file_draft *draft);

/* Removes the temporary files of all drafts, for a process that is about to end: whatever thread
 * opens, places or discards one from now on waits for ever. Not in a signal's handler. */
void file_drafts_abandon(void);

/* "NFS", "FUSE", …: a file system at `path` where what others write makes no event of inotify here;
 * NULL for all others, and where that cannot be told. */
const char *file_remote_kind(const char *path);

/* The absolute path that one means in the working directory: without links followed, and without
 * empty and "." components (".." stays: it may lead over a link). NULL without memory; the caller
 * frees it. */
char *path_absolute(const char *path);

/* realpath(3) for those who must not wait: false with ETIMEDOUT where the disk does not answer
 * within a second. The thread that waits for it is left behind. */
bool path_real(const char *path, char real[PATH_MAX]);

/* Makes the directory and those above it that are missing, each with this mode. */
int path_make_directories(const char *path, mode_t mode, struct fault *fault);

#endif
