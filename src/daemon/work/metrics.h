/* What has been counted since the start, under the names that /metrics will print. A series is a
 * name and its labels; there are as many as the configuration has chains and folders, and never
 * more than a bound, whatever anybody asks for. The loop's thread alone. */
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
    METRIC_PIXELS,         /* of inputs */
    METRIC_BYTES_READ,
    METRIC_BYTES_WRITTEN,
    METRIC_BYTES_COPIED,       /* as reports count them, and of inputs that may change */
    METRIC_CROSSINGS,          /* direction: in, out */
    METRIC_QUEUE_JOBS,         /* held now */
    METRIC_CONNECTIONS,        /* socket: http, jobs */
    METRIC_USERS,              /* that are connected, or have jobs */
    METRIC_CLIENT_BYTES,       /* of inputs and unread results, … */
    METRIC_CLIENT_BYTES_MAX,   /* … and their limit */
    METRIC_RECEIVERS,          /* state: well, hanging */
    METRIC_FILES,              /* dir, state */
    METRIC_FOLDER_STATE,       /* dir, state: ok, degraded, hanging, lost; always 1 */
    METRIC_WATCH_MODE,         /* dir, mode: inotify, poll, gone; always 1 */
    METRIC_WATCH_OVERFLOWS,    /* dir: of inotify's queue */
    METRIC_RELOAD_SUCCESS,     /* 1: what was read last is in force */
    METRIC_BUFFER_BYTES,       /* of the device's memory, as the worker last told */
    METRIC_JOB_RETRIES,        /* after trouble that is not the file's */
    METRIC_JOB_QUARANTINES,    /* tried again in a worker of their own */
    METRIC_DEVICE_FALLBACK,    /* reason: error, start, check, missing, stuck, crash */
    METRIC_DEVICE_ON_FALLBACK, /* 1 while something else does the device's work */
    METRIC_DEVICES_LOST,       /* stuck in the kernel: a reboot is due */
    METRIC_KERNEL_BUILDS,
    METRIC_KERNEL_CACHE_HITS,
    METRIC_CLIENT_KERNELS, /* that the latest worker has made for chains that are not configured */
    METRIC_CACHE_WIPES,
    METRIC_WORKER_STARTS,
    METRIC_WORKER_ENDS, /* reason: recycled, replaced, refused, crashed, killed,
                                  taken, stuck, stopped */
    METRIC_CPU_SECONDS, /* of this process, as other programs name them */
    METRIC_RESIDENT_MEMORY,
    METRIC_VIRTUAL_MEMORY,
    METRIC_OPEN_FDS,
    METRIC_MAX_FDS,
    METRIC_START_TIME,
    METRICS
};

struct metrics; /* NULL may be given to all functions that count: nothing is */

/* Those without labels are there from the beginning, but for what has to be measured first. NULL
 * without memory. */
struct metrics *metrics_create(void);
void metrics_destroy(struct metrics **metrics);

/* Adds to a counter. `labels` as they are printed: `reason="start"`; NULL: none. */
void metrics_add(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Sets a gauge, or a counter that somebody else counts. */
void metrics_set(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Forgets all series of one: of folders that are not watched any more. */
void metrics_clear(struct metrics *metrics, enum metric metric);

/* Appends `name="value"` to labels, with what may not stand there as it is escaped. */
void metrics_label(struct text *labels, const char *name, const char *value);

/* One more value of a histogram, or of a sum and count, in seconds. */
void metrics_observe(struct metrics *metrics, enum metric metric, const char *labels,
                     double seconds);

/* A job has ended: its result, and what the worker's report tells (NULL: nothing). */
void metrics_count_job(struct metrics *metrics, const char *source, const char *chain,
                       const char *result);
void metrics_count_report(struct metrics *metrics, const struct message *report);

/* 0 for a series that is not there. */
double metrics_value(const struct metrics *metrics, enum metric metric, const char *labels);

/* Appends all of it in Prometheus' text format. */
void metrics_print(const struct metrics *metrics, struct text *text);

#endif
