/* Files: read whole within a limit, written so that nobody sees half of one. */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A file being written under a temporary name beside its final one. */
struct file_draft {
    int fd;           /* write here */
    int directory_fd; /* of the final name; owned */
    char *name;       /* final name within the directory; owned */
    char *temporary;  /* temporary name within the directory; owned */
    bool in_place;    /* the final name is a device or a pipe: written directly */
};

/* Opens a draft for `path`. The caller ends it with file_draft_commit or file_draft_discard. */
int file_draft_open(struct file_draft *draft, const char *path, struct fault *fault);

/* Syncs the draft and gives it its final name, replacing what had that name; `durable` also syncs
 * the directory. On failure the draft is discarded. */
int file_draft_commit(struct file_draft *draft, bool durable, struct fault *fault);

/* Removes the draft. Fine on one that was never opened ({.fd = -1}) or has ended. */
void file_draft_discard(struct file_draft *draft);

/* "NFS", "FUSE", …: a file system at `path` where what others write makes no event of inotify here;
 * NULL for all others, and where that cannot be told. */
const char *file_remote_kind(const char *path);

/* The part of `path` after its last slash. */
const char *path_name(const char *path);

/* `name` up to its last dot, as a length; the whole of it when it has none or only begins with it.
 */
size_t path_stem_length(const char *name);

/* Makes the directory and those above it that are missing; mode 0700 for each made. */
int path_make_directories(const char *path, struct fault *fault);

#endif
