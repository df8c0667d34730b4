/* Which device the next worker gets: the configured one or, while that one fails, the next one of a
 * list that the setting `fallback` chooses. The list is called the ladder, its entries are rungs:
 *
 *     native       the device, then the processor with the kernels that came with sluice, then the
 *                  plain C references
 *     cpu          the device, then OpenCL's CPU device, then the references
 *     reference    the device, then the references
 *     none         the device alone
 *
 * A device that failed is tried again after 30 s, then after 2 min, then every 10 min. A device in
 * which a process is stuck is not tried again before a reboot. Pure: no clock, no files. Times are
 * monotonic nanoseconds. */
#ifndef SLUICE_DAEMON_WORK_FALLBACK_H
#define SLUICE_DAEMON_WORK_FALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#define FALLBACK_RUNGS_MAX 3

struct fallback {
    const char *rungs[FALLBACK_RUNGS_MAX]; /* names as a worker's setup has them; rung 0 is the
                                              configured device */
    unsigned n_rungs;
    unsigned rung;       /* that the next worker gets */
    unsigned first;      /* rungs above it are lost until a reboot */
    unsigned troubles;   /* failures of the device since it last counted as sound */
    uint64_t retry_at;   /* when the device is tried again; 0: it is in use, or lost */
    uint64_t good_since; /* since when the device has been in use; 0: it is not */
};

/* The strings must outlive `fallback`. `setting` NULL means none. */
void fallback_init(struct fallback *fallback, const char *device, const char *setting);

const char *fallback_device(const struct fallback *fallback);

/* True when `rung` is not the best that may be used: another device does the configured one's work.
 */
bool fallback_is_below(const struct fallback *fallback, unsigned rung);

/* The device of that rung failed, so the next worker gets the rung below. Returns false, and
 * changes nothing, when there is none. */
bool fallback_step_down(struct fallback *fallback, unsigned rung, uint64_t now);

/* As fallback_step_down, until a reboot, because a process is stuck in the device. Where there is
 * no other device this one stays in use. */
bool fallback_lose(struct fallback *fallback, unsigned rung, uint64_t now);

/* A worker on that rung has become ready. */
void fallback_came_up(struct fallback *fallback, unsigned rung, uint64_t now);

/* True when it is time to try the device again. */
bool fallback_is_due(const struct fallback *fallback, uint64_t now);

/* Has the next worker try the best device that is not lost. If that fails, fallback_step_down goes
 * down again. */
void fallback_climb(struct fallback *fallback);

#endif
