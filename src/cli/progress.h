/* What a terminal shows on its last line while files are on their way. Where lines cannot be drawn
 * over (a pipe, TERM=dumb) or are not to be (NO_COLOR), a line now and then. */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool hidden; /* --quiet: nothing is shown */
    bool bar;    /* stderr is a terminal that can be drawn over */
    bool drawn;  /* and the bar stands there */
    uint64_t begun, shown;
    /* What rates are counted from: when something had ended, and what. Before that, kernels are
     * compiled. */
    uint64_t base_time, base_pixels;
    size_t base_ended;
};

struct progress_state {
    size_t total, ended, failed;
    uint64_t pixels;     /* of the inputs that have ended well */
    const char *waiting; /* what is being prepared while nothing runs; "": nothing is */
};

void progress_begin(struct progress *progress, bool hidden);

/* Draws the bar: at most ten times a second, and always when all has ended. */
void progress_show(struct progress *progress, const struct progress_state *state);

/* Removes the bar, so that a line can be printed. */
void progress_clear(struct progress *progress);

#endif
