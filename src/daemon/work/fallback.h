/* Which device the next worker gets: the one that was asked for, or, while that one fails, the next
 * on a ladder that `fallback` gives:
 *
 *     cpu          the device, then OpenCL's CPU device, then the plain C references
 *     reference    the device, then the references
 *     none         the device alone
 *
 * The device is tried again after 30 s, then 2 min, then every 10 min. One that a process is stuck
 * in is lost until a reboot, and is not tried again. Pure; times are monotonic nanoseconds. */
#ifndef SLUICE_DAEMON_WORK_FALLBACK_H
#define SLUICE_DAEMON_WORK_FALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#define FALLBACK_RUNGS_MAX 3

struct fallback {
    const char *rungs[FALLBACK_RUNGS_MAX]; /* what a worker's setup says; the device first */
    unsigned n_rungs;
    unsigned rung;       /* of the next worker */
    unsigned first;      /* those above are lost */
    unsigned troubles;   /* times that the device failed and did not prove itself since */
    uint64_t retry_at;   /* when the device is tried again; 0: it is in use, or lost */
    uint64_t good_since; /* when it came up; 0: it is not in use */
};

/* Texts are borrowed. `setting` NULL: none. */
void fallback_init(struct fallback *fallback, const char *device, const char *setting);

const char *fallback_device(const struct fallback *fallback);

/* True when `rung` is not the best that may be used: something else does the device's work. */
bool fallback_is_below(const struct fallback *fallback, unsigned rung);

/* The device of that rung failed: the next worker gets the next one. False when there is none; then
 * the rung stays. */
bool fallback_step_down(struct fallback *fallback, unsigned rung, uint64_t now);

/* The same, for good: a process is stuck in it. Where there is no other it stays in use. */
bool fallback_lose(struct fallback *fallback, unsigned rung, uint64_t now);

/* A worker on that rung is ready. */
void fallback_came_up(struct fallback *fallback, unsigned rung, uint64_t now);

/* Whether the device is to be tried again now; and when it will be (0: never). */
bool fallback_is_due(const struct fallback *fallback, uint64_t now);

/* The next worker gets the best device again. One that fails then steps down once more. */
void fallback_climb(struct fallback *fallback);

#endif
