/* The one way through folders below a folder: bounded, and through no link. Waits for the disk, so
 * the daemon never calls it on its loop. */
#ifndef SLUICE_BASE_WALK_H
#define SLUICE_BASE_WALK_H

#include <stddef.h>

/* Folders below folders: what lies deeper is passed over, as are folders in which the path of an
 * entry could be PATH_MAX bytes long or longer. So a path that a visitor gets fits into PATH_MAX.
 */
#define WALK_DEPTH_MAX 32

struct walk_entry {
    int directory_fd;   /* where it lies; not the visitor's to close */
    const char *path;   /* below the root, while the visitor runs */
    const char *name;   /* its last component, within `path` */
    unsigned char kind; /* a DT_ constant of readdir(3); DT_UNKNOWN where the kernel does not tell
                           is found out */
};

enum walk_answer {
    WALK_ON,   /* and into it, if it is a folder */
    WALK_PAST, /* and not into it */
    WALK_STOP, /* the whole walk is at its end */
};

/* Calls `visit` with each entry but . and .., a folder before what is in it. `unreadable`, which
 * may be NULL, is told of each folder below the root that cannot be opened or read to its end; a
 * folder that is too deep has not been tried. Returns 0 at the end, 1 when it was stopped, −1 and
 * errno when the root itself cannot be read to its end. */
int walk(int root_fd, enum walk_answer (*visit)(void *context, const struct walk_entry *entry),
         void (*unreadable)(void *context, const char *path, int error), void *context);

#endif
