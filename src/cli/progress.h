/* The progress of a batch on the terminal's last line; every now and then a line of its own where a
 * line cannot be overwritten (a pipe, TERM=dumb) or should not be (NO_COLOR). */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool hidden; /* --quiet: nothing is shown */
    bool bar;    /* stderr is a terminal whose lines can be overwritten */
    bool drawn;  /* the bar is on the terminal */
    uint64_t begun, shown;
    /* Rates are counted from here: the time, and the pixels until then. Before that kernels are
     * compiled. */
    uint64_t base_time, base_pixels;
    size_t base_ended;
};

struct progress_state {
    size_t total, ended, failed;
    uint64_t pixels;     /* of inputs that have ended well */
    const char *waiting; /* what is being prepared while nothing runs; "": nothing */
};

void progress_begin(struct progress *progress, bool hidden);

/* Draws the bar: at most ten times a second, and always at the end. */
void progress_show(struct progress *progress, const struct progress_state *state);

/* Removes the bar, so that a line can be printed. */
void progress_clear(struct progress *progress);

#endif
