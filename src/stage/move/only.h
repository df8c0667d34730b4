/* The stage only has another one change some of a frame's planes, by their names, and copies the
 * rest: `clahe:only=LL*` in a chain. Made into plans, not written as a stage.
 *
 * A pattern is one name, in which * stands for any characters, or several joined by /. The stage
 * must keep the number, sizes and channels of the planes; their types it may change. It gets those
 * planes as a frame of their own; one that needs whole transforms (stage.whole) gets all planes,
 * and what it made of the others is not taken. */
#ifndef SLUICE_STAGE_MOVE_ONLY_H
#define SLUICE_STAGE_MOVE_ONLY_H

#include "stage/stage.h"

struct only_config {
    const struct stage *stage; /* with its parameters; borrowed */
    const void *config;
    const char *pattern; /* borrowed */
};

extern const struct stage stage_only;

#endif
