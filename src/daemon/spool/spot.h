/* A spot: what a path means to a watched folder, by its text alone: a file in IN, done, failed or
 * work, or a result. Pure. */
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
    char name[PATH_MAX]; /* below that folder; for a reason the name of its file */
};

/* Makes the path absolute text without empty, "." and ".." components. False: it is not absolute,
 * or too long. */
bool spot_normalise(const char *path, char normal[PATH_MAX]);

/* The path as one of a file below IN. */
void spot_in(struct spot *place, const char *path, const char *in);

/* The path as one of a result in OUT. */
void spot_out(struct spot *place, const char *path, const char *out);

#endif
