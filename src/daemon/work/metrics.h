/* What is counted and told of jobs: metrics, rates, and the latest events. The loop's thread alone.
 *
 * Metrics are counters and gauges as /metrics prints them. A series is a name with labels. Labels
 * come from the configuration and from requests; the number of series is bounded whatever clients
 * send. */
#ifndef SLUICE_DAEMON_WORK_METRICS_H
#define SLUICE_DAEMON_WORK_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct job;
struct message;
struct text;

enum metric {
#define METRIC(constant, kind, name, help) METRIC_##constant,
#include "daemon/work/metrics_list.h"
#undef METRIC
    METRICS
};

struct metrics; /* functions that count take NULL, and do nothing */

/* Series without labels are there from the start, except those that have to be measured first.
 * Returns NULL without memory. */
struct metrics *metrics_create(void);
void metrics_destroy(struct metrics **metrics);

/* Adds to a counter or, in seconds, one value to a histogram or to a sum and count. `labels` are as
 * printed: `reason="start"`; NULL: none. */
void metrics_add(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Adds 1 to the series with this one label. */
void metrics_count(struct metrics *metrics, enum metric metric, const char *label,
                   const char *value);

/* Sets a gauge, or a counter that is counted elsewhere. */
void metrics_set(struct metrics *metrics, enum metric metric, const char *labels, double value);

/* Removes all series of a metric: for folders that are not watched any more. */
void metrics_clear(struct metrics *metrics, enum metric metric);

/* Appends `name="value"` to labels, escaped. */
void metrics_label(struct text *labels, const char *name, const char *value);

/* Counts a job that has ended: how, and its results by their chains (with ; between them; the job
 * itself is then one of "several"); and the figures of the worker's report (NULL: none). */
void metrics_count_job(struct metrics *metrics, const char *source, const char *chain,
                       const char *result);
void metrics_count_report(struct metrics *metrics, const struct message *report);

/* Sets the gauges of this process, from /proc, which needs no disk. */
void metrics_measure_process(struct metrics *metrics);

/* Returns 0 for a series that is not there. */
double metrics_value(const struct metrics *metrics, enum metric metric, const char *labels);

/* Appends all series in Prometheus' text format. */
void metrics_print(const struct metrics *metrics, struct text *text);

/* ---- rates ---- */

/* How many pictures end in a second, counted over a window: the last RATE_WINDOW seconds, or the
 * time since the present work began if that is shorter, but at least RATE_LEAST. So a batch that
 * began a moment ago is not spread over a minute in which there was nothing to do. A rate begins as
 * {0}; times are monotonic nanoseconds and go up. Pure. */
#define RATE_WINDOW 60 /* seconds */
#define RATE_LEAST  10

struct rate {
    uint64_t begun;               /* when the present work began; set by whoever has it */
    uint64_t newest;              /* the second up to which is counted */
    uint32_t counts[RATE_WINDOW]; /* of the last seconds, each at its number modulo their count */
};

/* A picture has ended. */
void rate_count(struct rate *rate, uint64_t now);

/* Pictures a second; *window becomes the seconds over which they were counted. */
double rate_read(const struct rate *rate, uint64_t now, double *window);

/* ---- events ---- */

/* What happened last: jobs that began and ended, folders that changed their state. The latest are
 * kept for those who follow them (serve/http_events.c), who come back for more when they
 * have read what they had: nobody is waited for, and what nobody read is forgotten. */
#define EVENTS_KEPT 256

#define EVENT_TEXTS 5

struct event {
    const char *kind; /* "begun", "done", "failed", "folder"; a constant */
    time_t time;
    json_t *what; /* of a folder; owned; NULL: it is of a job, which the rest tells */
    const char *source, *reason; /* constants; NULL: there is none */
    double seconds;              /* that the job took; −1: not known */
    char *texts; /* of the job: folder, name, request, chain and message, then results; owned */
};

struct events {
    struct event list[EVENTS_KEPT]; /* that of number n at n % EVENTS_KEPT */
    uint64_t next;                  /* the number that the next one gets; begins with 0 */
};

/* Adds an event, and forgets the oldest. Takes `what`; NULL, or without memory: none is added. */
void events_add(struct events *events, const char *kind, json_t *what);

/* Adds that a job has begun, is done or has failed. `events` may be NULL. */
void events_add_job(struct events *events, const char *kind, const struct job *job);

/* Moves a follower, whose next event has that number, past those that are forgotten. Returns how
 * many. */
uint64_t events_skip(const struct events *events, uint64_t *next);

/* The event of that number; NULL: it is forgotten, or has not happened yet. */
const struct event *events_get(const struct events *events, uint64_t number);

/* As people are told: JSON, which the caller frees; NULL without memory. */
char *event_print(const struct event *event);

void events_finish(struct events *events);

#endif
