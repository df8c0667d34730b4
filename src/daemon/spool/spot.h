/* What a path means to a watched folder: a file in it, in done, in failed, or a result of it. By
 * its text alone. Pure. */
#ifndef SLUICE_DAEMON_SPOOL_SPOT_H
#define SLUICE_DAEMON_SPOOL_SPOT_H

#include <limits.h>
#include <stdbool.h>

enum spot_kind {
    SPOT_NONE,
    SPOT_INPUT,  /* IN/NAME */
    SPOT_DONE,   /* IN/.sluice/done/NAME */
    SPOT_FAILED, /* IN/.sluice/failed/NAME, or its reason */
    SPOT_WORK,   /* IN/.sluice/work/INSTANCE/SERIAL/NAME */
    SPOT_RESULT, /* OUT/NAME */
};

struct spot {
    enum spot_kind kind;
    char name[PATH_MAX]; /* below that folder; of a reason that of its file */
};

/* An absolute path without empty, "." and ".." components. False: it is none, or too long. */
bool spot_normalise(const char *path, char normal[PATH_MAX]);

/* Where a normal path is below a folder, itself normal; NULL: elsewhere. */
const char *spot_below(const char *path, const char *folder);

/* As a file of IN. */
void spot_in(struct spot *place, const char *path, const char *in);

/* As a result in OUT. */
void spot_out(struct spot *place, const char *path, const char *out);

#endif
