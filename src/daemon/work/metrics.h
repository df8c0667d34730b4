/* Counters and gauges as /metrics prints them. A series is a name with labels. Labels come from the
 * configuration and from requests; the number of series is bounded whatever clients send. The
 * loop's thread alone. */
#ifndef SLUICE_DAEMON_WORK_METRICS_H
#define SLUICE_DAEMON_WORK_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct text;
struct message;

enum metric {
    METRIC_BUILD_INFO,     /* version: always 1 */
    METRIC_JOBS,           /* source, chain, result: done, failed */
    METRIC_JOB_DURATION,   /* seconds in the worker: a histogram */
    METRIC_SPAN_DURATION,  /* span: read, decode, device, encode, write: sum and count */
    METRIC_STAGE_DURATION, /* stage, or stages fused: time on the device, sum and count */
    METRIC_PIXELS,         /* of input pictures */
    METRIC_BYTES_READ,
    METRIC_BYTES_WRITTEN,
    METRIC_BYTES_COPIED, /* as reports count them, and copies of inputs that a client could still
                            change */
    METRIC_CROSSINGS,    /* direction: in, out */
    METRIC_QUEUE_JOBS,   /* jobs in the queue now */
    METRIC_CONNECTIONS,  /* socket: http, jobs */
    METRIC_USERS,        /* users that are connected or have jobs */
    METRIC_CLIENT_BYTES, /* size of inputs and unread results */
    METRIC_CLIENT_BYTES_MAX,   /* the limit of these */
    METRIC_RECEIVERS,          /* state: well, hanging */
    METRIC_FILES,              /* dir, state */
    METRIC_FOLDER_STATE,       /* dir, state: ok, degraded, hanging, lost; always 1 */
    METRIC_WATCH_MODE,         /* dir, mode: inotify, poll, gone; always 1 */
    METRIC_WATCH_OVERFLOWS,    /* dir: of inotify's queue */
    METRIC_RELOAD_SUCCESS,     /* 1: the configuration that was read last is in force */
    METRIC_BUFFER_BYTES,       /* of the device's memory, as the worker last reported */
    METRIC_JOB_RETRIES,        /* tries again after faults that are not the file's */
    METRIC_JOB_QUARANTINES,    /* jobs tried again in the quarantine worker */
    METRIC_DEVICE_FALLBACK,    /* reason: error, start, check, missing, stuck, crash */
    METRIC_DEVICE_ON_FALLBACK, /* 1 while another device does the configured one's work */
    METRIC_CHAINS,             /* tier: configured chains by the kind of device that runs them */
    METRIC_DEVICES_LOST,       /* devices stuck in the kernel: a reboot is due */
    METRIC_KERNEL_BUILDS,
    METRIC_KERNEL_CACHE_HITS,
    METRIC_CLIENT_KERNELS, /* compiled by the latest worker for chains that are not configured */
    METRIC_CACHE_WIPES,
    METRIC_WORKER_STARTS,
    METRIC_WORKER_ENDS, /* reason: recycled, replaced, refused, crashed, killed,
                                  taken, stuck, stopped */
    METRIC_CPU_SECONDS, /* of this process; the name is the one that other programs use */
    METRIC_RESIDENT_MEMORY,
    METRIC_VIRTUAL_MEMORY,
    METRIC_OPEN_FDS,
    METRIC_MAX_FDS,
    METRIC_START_TIME,
    METRICS
};

struct metrics; /* functions that count take NULL, and do nothing */

/* Series without labels are there from the start, except those that have to be measured first.
 * Returns NULL without memory. */
struct metrics *metrics_create(void);
void metrics_destroy(struct metrics **metrics);

/* Adds to a counter. `labels` are as printed: `reason="start"`; NULL: none. */
void metrics_add(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Sets a gauge, or a counter that is counted elsewhere. */
void metrics_set(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Removes all series of a metric: for folders that are not watched any more. */
void metrics_clear(struct metrics *metrics, enum metric metric);

/* Appends `name="value"` to labels, escaped. */
void metrics_label(struct text *labels, const char *name, const char *value);

/* Adds a value, in seconds, to a histogram or to a sum and count. */
void metrics_observe(struct metrics *metrics, enum metric metric, const char *labels,
                     double seconds);

/* Counts a job that has ended: its result, and the figures of the worker's report (NULL: none). */
void metrics_count_job(struct metrics *metrics, const char *source, const char *chain,
                       const char *result);
void metrics_count_report(struct metrics *metrics, const struct message *report);

/* Returns 0 for a series that is not there. */
double metrics_value(const struct metrics *metrics, enum metric metric, const char *labels);

/* Appends all series in Prometheus' text format. */
void metrics_print(const struct metrics *metrics, struct text *text);

#endif
