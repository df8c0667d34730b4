/* How many pictures end in a second, counted over a window: the last RATE_WINDOW seconds, or the
 * time since the present work began if that is shorter, but at least RATE_LEAST. So a batch that
 * began a moment ago is not spread over a minute in which there was nothing to do. A rate begins as
 * {0}; times are monotonic nanoseconds and go up. Pure. */
#ifndef SLUICE_DAEMON_WORK_RATE_H
#define SLUICE_DAEMON_WORK_RATE_H

#include <stdint.h>

#define RATE_WINDOW 60 /* seconds */
#define RATE_LEAST  10

struct rate {
    uint64_t begun;               /* the second in which the present work began */
    uint64_t newest;              /* the second up to which is counted */
    uint32_t counts[RATE_WINDOW]; /* of the last seconds, each at its number modulo their count */
};

/* There was nothing to do before now. */
void rate_begin(struct rate *rate, uint64_t now);

/* A picture has ended. */
void rate_count(struct rate *rate, uint64_t now);

/* Pictures a second; *window becomes the seconds over which they were counted. */
double rate_read(const struct rate *rate, uint64_t now, double *window);

#endif
