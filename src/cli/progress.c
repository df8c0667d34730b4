#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/common.h"

#define BAR_WIDTH    30
#define DRAWN_EVERY  (SECOND / 10) /* between two drawings of the bar */
#define TOLD_EVERY   (10 * SECOND) /* between two lines, without a bar */
#define PATIENCE     SECOND        /* before a single file shows anything */
#define WIDTH_UNSAID 80            /* columns of a terminal that does not tell */

void progress_begin(struct progress *progress, bool hidden)
{
    const char *terminal = getenv("TERM"), *plain = getenv("NO_COLOR");
    uint64_t now = clock_now();
    *progress = (struct progress){.begun = now, .shown = now, .hidden = hidden};
    progress->bar =
        isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !(plain && plain[0]);
}

/* Rates count from the end of the first files, because kernels were compiled before that; until
 * there are enough, from the beginning. */
static void append_rates(const struct progress *progress, const struct progress_state *state,
                         uint64_t now, struct text *line)
{
    bool is_late = progress->base_time && state->ended > progress->base_ended;
    uint64_t since = is_late ? progress->base_time : progress->begun;
    size_t files = state->ended - (is_late ? progress->base_ended : 0);
    uint64_t pixels = state->pixels - (is_late ? progress->base_pixels : 0);
    if (files == 0 || now <= since)
        return;
    double seconds = (double)(now - since) * 1e-9;
    text_printf(line, "  %.1f MP/s", (double)pixels * 1e-6 / seconds);
    if (state->ended < state->total)
        text_printf(
            line, "  %s left",
            cli_rough_time((double)(state->total - state->ended) * seconds / (double)files));
}

static void print(struct progress *progress, const struct text *line)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                                  : WIDTH_UNSAID;
    if (progress->bar) /* a longer line would wrap and could not be erased */
        fprintf(stderr, "\r%.*s\033[K", columns - 1, text_string(line));
    else
        fprintf(stderr, "sluice: %s\n", text_string(line));
    fflush(stderr);
    progress->drawn = progress->bar;
}

void progress_show(struct progress *progress, const struct progress_state *state)
{
    uint64_t now = clock_now();
    if (state->ended > 0 && progress->base_time == 0) {
        progress->base_time = now;
        progress->base_ended = state->ended;
        progress->base_pixels = state->pixels;
    }
    bool last = state->ended == state->total && state->total > 1;
    if (progress->hidden || (last && !progress->bar) ||
        (!last && now - progress->shown < (progress->bar ? DRAWN_EVERY : TOLD_EVERY)) ||
        (state->total < 2 && now - progress->begun < PATIENCE))
        return;
    progress->shown = now;
    struct text line = {0};
    if (progress->bar && state->total > 0) {
        char bar[BAR_WIDTH + 1] = "";
        memset(bar, '.', BAR_WIDTH);
        memset(bar, '#', state->total ? state->ended * BAR_WIDTH / state->total : 0);
        text_printf(&line, "[%s] ", bar);
    }
    if (state->total > 0)
        text_printf(&line, progress->bar ? "%zu/%zu" : "%zu of %zu files", state->ended,
                    state->total);
    append_rates(progress, state, now, &line);
    if (state->failed)
        text_printf(&line, "  %zu failed", state->failed);
    if (state->waiting[0])
        text_printf(&line, "  %s", state->waiting);
    print(progress, &line);
    text_finish(&line);
}

void progress_clear(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
