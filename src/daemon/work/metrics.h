/* Counters and gauges as /metrics prints them. A series is a name with labels. Labels come from the
 * configuration and from requests; the number of series is bounded whatever clients send. The
 * loop's thread alone. */
#ifndef SLUICE_DAEMON_WORK_METRICS_H
#define SLUICE_DAEMON_WORK_METRICS_H

struct text;
struct message;

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

/* Adds to a counter. `labels` are as printed: `reason="start"`; NULL: none. */
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

/* Adds a value, in seconds, to a histogram or to a sum and count. */
void metrics_observe(struct metrics *metrics, enum metric metric, const char *labels,
                     double seconds);

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

#endif
