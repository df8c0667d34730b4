/* Visits all files and folders below a folder, to a bounded depth and without following links.
 * Waits for the disk, so the daemon never calls it on its loop. */
#ifndef SLUICE_BASE_WALK_H
#define SLUICE_BASE_WALK_H

#include <stddef.h>

/* Folders deeper than this are skipped, as are folders in which a path could become PATH_MAX bytes
 * long. A visitor's paths therefore fit into PATH_MAX. */
#define WALK_DEPTH_MAX 32

struct walk_entry {
    int directory_fd;   /* the entry's directory; owned by the walk */
    const char *path;   /* below the root; valid during the call */
    const char *name;   /* its last component, within `path` */
    unsigned char kind; /* a DT_ constant of readdir(3); found out where the kernel does not tell */
};

enum walk_answer {
    WALK_ON,   /* go on, into the entry if it is a folder */
    WALK_PAST, /* go on, not into the entry */
    WALK_STOP, /* end the walk */
};

/* Calls `visit` for each entry except . and .., a folder before its content. `unreadable` (may be
 * NULL) is called for each folder below the root that cannot be read, but not for those that are
 * too deep. Returns 0 at the end, 1 when the visitor stopped, −1 and errno when the root cannot be
 * read. */
int walk(int root_fd, enum walk_answer (*visit)(void *context, const struct walk_entry *entry),
         void (*unreadable)(void *context, const char *path, int error), void *context);

#endif
