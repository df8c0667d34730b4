#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_WIDTH 30

void progress_begin(struct progress *progress, bool hidden)
{
    const char *terminal = getenv("TERM");
    *progress = (struct progress){.begun = clock_now()};
    progress->visible =
        !hidden && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void progress_show(struct progress *progress, size_t done, size_t total, size_t failed)
{
    uint64_t now = clock_now();
    if (!progress->visible || (done < total && now - progress->shown < 100000000))
        return;
    progress->shown = now;
    char bar[BAR_WIDTH + 1];
    size_t filled = total ? done * BAR_WIDTH / total : 0;
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', filled);
    bar[BAR_WIDTH] = '\0';
    double seconds = (double)(now - progress->begun) * 1e-9;
    fprintf(stderr, "\r[%s] %zu/%zu  %.1f/s", bar, done, total,
            seconds > 0 ? (double)done / seconds : 0);
    if (failed)
        fprintf(stderr, "  %zu failed", failed);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void progress_clear(struct progress *progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
}
