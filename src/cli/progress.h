/* A progress bar on the last line of a terminal; nothing anywhere else. */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool visible; /* stderr is a terminal and there is something to show */
    uint64_t begun, shown;
};

void progress_begin(struct progress *progress, bool hidden);

/* Draws the bar, at most ten times a second, and always when all is done. */
void progress_show(struct progress *progress, size_t done, size_t total, size_t failed);

/* Removes the bar, so that a line can be printed. */
void progress_clear(struct progress *progress);

#endif
