/* Identifies a file and its content: device, inode, size and modification time. These must stay the
 * same from the first look to the end of the job. The change time is left out, since our own
 * renames change it. */
#ifndef SLUICE_DAEMON_SPOOL_IDENTITY_H
#define SLUICE_DAEMON_SPOOL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct identity {
    dev_t device;
    ino_t inode;
    int64_t size;
    int64_t mtime; /* nanoseconds since 1970, as the file system has it */
};

static inline struct identity identity_of(const struct stat *status)
{
    return (struct identity){status->st_dev, status->st_ino, status->st_size,
                             status->st_mtim.tv_sec * INT64_C(1000000000) +
                                 status->st_mtim.tv_nsec};
}

static inline bool identity_equal(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime == b->mtime;
}

#endif
