#include "daemon/work/metrics.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/text.h"
#include "daemon/work/job.h"
#include "worker/json_text.h"
#include "worker/message.h"

#define SERIES_MAX 1024
#define LABELS_MAX 5000 /* room for a path with every byte escaped */

enum metric_kind {
    KIND_COUNTER,
    KIND_GAUGE,
    KIND_HISTOGRAM,
    KIND_SUMMARY,
};

static const struct {
    const char *name, *help;
    enum metric_kind kind;
} kinds[METRICS] = {
#define METRIC(constant, kind, name, help) [METRIC_##constant] = {name, help, KIND_##kind},
#include "daemon/work/metrics_list.h"
#undef METRIC
};

static const double bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
#define N_BOUNDS (sizeof bounds / sizeof *bounds)

struct series {
    enum metric metric;
    char *labels; /* owned */
    double value; /* for a histogram or summary: the sum */
    uint64_t count;
    uint64_t below[N_BOUNDS]; /* samples in this bucket alone (printed buckets are cumulative) */
};

struct metrics {
    size_t n_series;
    struct series series[SERIES_MAX];
};

/* Series that are printed with 0 before their first event, so that rates can be computed from the
 * start. */
static const enum metric unlabelled[] = {
    METRIC_JOB_DURATION,      METRIC_PIXELS,
    METRIC_BYTES_READ,        METRIC_BYTES_WRITTEN,
    METRIC_BYTES_COPIED,      METRIC_QUEUE_JOBS,
    METRIC_JOB_RETRIES,       METRIC_DEVICE_ON_FALLBACK,
    METRIC_DEVICES_LOST,      METRIC_KERNEL_BUILDS,
    METRIC_KERNEL_CACHE_HITS, METRIC_CACHE_WIPES,
    METRIC_WORKER_STARTS,     METRIC_RELOAD_SUCCESS,
    METRIC_BUFFER_BYTES,      METRIC_JOB_QUARANTINES,
};

struct metrics *metrics_create(void)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    for (size_t i = 0; i < sizeof unlabelled / sizeof *unlabelled; i++)
        metrics_set(metrics, unlabelled[i], NULL, 0);
    metrics_set(metrics, METRIC_CROSSINGS, "direction=\"in\"", 0);
    metrics_set(metrics, METRIC_CROSSINGS, "direction=\"out\"", 0);
    return metrics;
}

void metrics_clear(struct metrics *metrics, enum metric metric)
{
    size_t kept = 0;
    for (size_t i = 0; metrics && i < metrics->n_series; i++) {
        if (metrics->series[i].metric == metric)
            free(metrics->series[i].labels);
        else
            metrics->series[kept++] = metrics->series[i];
    }
    if (metrics)
        metrics->n_series = kept;
}

void metrics_destroy(struct metrics **metrics)
{
    for (size_t i = 0; *metrics && i < (*metrics)->n_series; i++)
        free((*metrics)->series[i].labels);
    free(*metrics);
    *metrics = NULL;
}

void metrics_label(struct text *labels, const char *name, const char *value)
{
    struct text valid = {0};
    text_append_utf8(&valid, value);
    text_printf(labels, "%s%s=\"", labels->length ? "," : "", name);
    for (const char *c = text_string(&valid); *c; c++) {
        if (*c == '\n')
            text_append(labels, "\\n");
        else if (*c == '"' || *c == '\\')
            text_printf(labels, "\\%c", *c);
        else
            text_append_bytes(labels, c, 1);
    }
    text_append(labels, "\"");
    text_finish(&valid);
}

/* The series, which may be added. NULL: there is none, or there are too many, or the labels are
 * longer than any that we make. */
static struct series *find(struct metrics *metrics, enum metric metric, const char *labels,
                           bool may_add)
{
    for (size_t i = 0; metrics && i < metrics->n_series; i++) {
        struct series *s = &metrics->series[i];
        if (s->metric == metric && strcmp(s->labels, labels ? labels : "") == 0)
            return s;
    }
    if (!may_add || !metrics || metrics->n_series == SERIES_MAX ||
        (labels && strlen(labels) >= LABELS_MAX))
        return NULL;
    char *copy = strdup(labels ? labels : "");
    if (!copy)
        return NULL;
    struct series *added = &metrics->series[metrics->n_series++];
    *added = (struct series){.metric = metric, .labels = copy};
    return added;
}

void metrics_add(struct metrics *metrics, enum metric metric, const char *labels, double value)
{
    struct series *series = find(metrics, metric, labels, true);
    size_t bucket = 0;
    if (!series)
        return;
    series->value += value;
    series->count++;
    while (bucket < N_BOUNDS && value > bounds[bucket])
        bucket++;
    if (bucket < N_BOUNDS && kinds[metric].kind == KIND_HISTOGRAM)
        series->below[bucket]++;
}

void metrics_count(struct metrics *metrics, enum metric metric, const char *label,
                   const char *value)
{
    struct text labels = {0};
    metrics_label(&labels, label, value);
    metrics_add(metrics, metric, text_string(&labels), 1);
    text_finish(&labels);
}

void metrics_set(struct metrics *metrics, enum metric metric, const char *labels, double value)
{
    struct series *series = find(metrics, metric, labels, true);
    if (series)
        series->value = value;
}

#define CHAIN_MAX 200 /* a longer name counts as "other" */

/* Half of the series are kept for those without a chain or a stage in their labels. So a chain that
 * is too long for a label, or for which there is no room, counts as "other". `result` may be NULL. */
static void count_chain(struct metrics *metrics, enum metric metric, const char *source,
                        const char *chain, size_t length, const char *result)
{
    bool filling = metrics && metrics->n_series > SERIES_MAX / 2, counted = false;
    char own[CHAIN_MAX];
    snprintf(own, sizeof own, "%.*s", (int)length, chain);
    const char *names[] = {length < CHAIN_MAX ? own : "other", "other"};
    for (int i = 0; i < 2 && !counted; i++) {
        struct text labels = {0};
        metrics_label(&labels, "source", source);
        metrics_label(&labels, "chain", names[i]);
        if (result)
            metrics_label(&labels, "result", result);
        counted = i == 1 || !filling || find(metrics, metric, text_string(&labels), false);
        if (counted && !labels.failed)
            metrics_add(metrics, metric, text_string(&labels), 1);
        text_finish(&labels);
    }
}

void metrics_count_job(struct metrics *metrics, const char *source, const char *chain,
                       const char *result)
{
    const char *of_all = strchr(chain, ';') ? "several" : chain, *part;
    size_t length;
    count_chain(metrics, METRIC_JOBS, source, of_all, strlen(of_all), result);
    for (size_t i = 0;
         strcmp(result, "done") == 0 && (part = text_find_part(chain, i, &length)) != NULL; i++)
        count_chain(metrics, METRIC_RESULTS, source, part, length, NULL);
}

void metrics_count_report(struct metrics *metrics, const struct message *report)
{
    if (!report)
        return;
    static const struct {
        enum metric metric;
        const char *labels, *figure;
    } sums[] = {
        {METRIC_SPAN_DURATION, "span=\"read\"", "read_s"},
        {METRIC_SPAN_DURATION, "span=\"decode\"", "decode_s"},
        {METRIC_SPAN_DURATION, "span=\"device\"", "device_s"},
        {METRIC_SPAN_DURATION, "span=\"encode\"", "encode_s"},
        {METRIC_SPAN_DURATION, "span=\"write\"", "write_s"},
        {METRIC_BYTES_READ, NULL, "bytes_in"},
        {METRIC_BYTES_WRITTEN, NULL, "bytes_out"},
        /* what the front copied for the worker is added elsewhere */
        {METRIC_BYTES_COPIED, NULL, "bytes_copied"},
        {METRIC_CROSSINGS, "direction=\"in\"", "crossings_in"},
        {METRIC_CROSSINGS, "direction=\"out\"", "crossings_out"},
    };
    const json_t *in = json_object_get(report->report, "in");
    metrics_add(metrics, METRIC_JOB_DURATION, NULL, (double)report->total * 1e-9);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        metrics_add(metrics, sums[i].metric, sums[i].labels,
                    message_figure(report, sums[i].figure));
    metrics_add(metrics, METRIC_PIXELS, NULL,
                json_number_value(json_object_get(in, "width")) *
                    json_number_value(json_object_get(in, "height")));
    /* stages that share one kernel are counted together, as "luminance+sobel" */
    size_t i;
    json_t *stage;
    bool filling = metrics && metrics->n_series > SERIES_MAX / 2;
    json_array_foreach (json_object_get(report->report, "stages"), i, stage) {
        const char *name = json_string_value(json_object_get(stage, "stage"));
        char labels[100];
        if (!message_is_stage_label(name))
            continue;
        snprintf(labels, sizeof labels, "stage=\"%s\"", name);
        if (filling && !find(metrics, METRIC_STAGE_DURATION, labels, false))
            snprintf(labels, sizeof labels, "stage=\"other\"");
        metrics_add(metrics, METRIC_STAGE_DURATION, labels,
                        json_number_value(json_object_get(stage, "run_s")));
    }
}

double metrics_value(const struct metrics *metrics, enum metric metric, const char *labels)
{
    const struct series *series = find((struct metrics *)metrics, metric, labels, false);
    return series ? series->value : 0;
}

static void print_line(struct text *text, const char *name, const char *suffix, const char *labels,
                       double value)
{
    if (labels[0])
        text_printf(text, "%s%s{%s} %.15g\n", name, suffix, labels, value);
    else
        text_printf(text, "%s%s %.15g\n", name, suffix, value);
}

static void print_buckets(const struct series *s, const char *name, struct text *text)
{
    const char *comma = s->labels[0] ? "," : "";
    uint64_t total = 0;
    for (size_t i = 0; i < N_BOUNDS; i++) {
        total += s->below[i];
        text_printf(text, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, s->labels, comma, bounds[i],
                    (unsigned long long)total);
    }
    text_printf(text, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, s->labels, comma,
                (unsigned long long)s->count);
}

static void print_series(const struct series *s, const char *name, enum metric_kind kind,
                         struct text *text)
{
    if (kind == KIND_COUNTER || kind == KIND_GAUGE) {
        print_line(text, name, "", s->labels, s->value);
        return;
    }
    if (kind == KIND_HISTOGRAM)
        print_buckets(s, name, text);
    print_line(text, name, "_sum", s->labels, s->value);
    print_line(text, name, "_count", s->labels, (double)s->count);
}

void metrics_print(const struct metrics *metrics, struct text *text)
{
    static const char *const words[] = {"counter", "gauge", "histogram", "summary"};
    for (int metric = 0; metric < METRICS; metric++) {
        /* also for metrics without a sample yet: name and meaning are known */
        text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", kinds[metric].name, kinds[metric].help,
                    kinds[metric].name, words[kinds[metric].kind]);
        for (size_t i = 0; i < metrics->n_series; i++) {
            const struct series *s = &metrics->series[i];
            if ((int)s->metric == metric)
                print_series(s, kinds[metric].name, kinds[metric].kind, text);
        }
    }
}

/* ---- this process, from /proc, which needs no disk ---- */

/* descriptors that counting opens for /proc/self/fd */
#define OWN 2

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Unix time at which this process started; 0: not known. It is found once, since the clock may be
 * set later. The kernel gives it from the machine's start. Field numbers are those of proc(5); the
 * second field, the program's name, may hold any character. */
static double start_time(void)
{
    static double started;
    char text[1024];
    unsigned long long ticks;
    const char *from = started == 0 && file_read_text("/proc/self/stat", text, sizeof text)
                           ? strrchr(text, ')')
                           : NULL;
    if (from && sscanf(from + 1,
                       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                       "%*d %llu",
                       &ticks) == 1) {
        started = seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) +
                  (double)ticks / (double)sysconf(_SC_CLK_TCK);
        started = round(started * 100) / 100;
    }
    return started;
}

static int count_entry(void *context, const char *name, unsigned char kind)
{
    ++*(double *)context;
    return 0;
}

static void set_or_clear(struct metrics *metrics, enum metric metric, bool known, double value)
{
    if (known)
        metrics_set(metrics, metric, NULL, value);
    else
        metrics_clear(metrics, metric);
}

void metrics_measure_process(struct metrics *metrics)
{
    char text[256];
    unsigned long virtual = 0, resident = 0;
    double page = (double)sysconf(_SC_PAGESIZE), started = start_time(), entries = 0;
    struct rlimit limit = {0};
    /* emulators make up most of /proc/self/stat */
    bool known = file_read_text("/proc/self/statm", text, sizeof text) &&
                 sscanf(text, "%lu %lu", &virtual, &resident) == 2;
    set_or_clear(metrics, METRIC_VIRTUAL_MEMORY, known, (double)virtual * page);
    set_or_clear(metrics, METRIC_RESIDENT_MEMORY, known, (double)resident * page);
    metrics_set(metrics, METRIC_CPU_SECONDS, NULL, seconds_of(CLOCK_PROCESS_CPUTIME_ID));
    set_or_clear(metrics, METRIC_START_TIME, started != 0, started);
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    known = fd >= 0 && disk_list(fd, count_entry, &entries) == 0;
    file_close(&fd);
    set_or_clear(metrics, METRIC_OPEN_FDS, known, entries - OWN);
    known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    set_or_clear(metrics, METRIC_MAX_FDS, known, (double)limit.rlim_cur);
}

/* ---- rates ---- */

void rate_count(struct rate *rate, uint64_t now)
{
    uint64_t second = now / SECOND;
    uint64_t passed = second - rate->newest; /* these have nothing of the last round left */
    for (uint64_t i = 0; i < passed && i < RATE_WINDOW; i++)
        rate->counts[(second - i) % RATE_WINDOW] = 0;
    rate->newest = second;
    rate->counts[second % RATE_WINDOW]++;
}

double rate_read(const struct rate *rate, uint64_t now, double *window)
{
    uint64_t second = now / SECOND, first = rate->begun / SECOND, count = 0;
    uint64_t earliest = second < RATE_WINDOW ? 0 : second - RATE_WINDOW + 1;
    uint64_t latest = second < RATE_LEAST ? 0 : second - RATE_LEAST;
    first = first < earliest ? earliest : first > latest ? latest : first;
    for (uint64_t s = first; s <= rate->newest; s++)
        count += rate->counts[s % RATE_WINDOW];
    *window = (double)(now - first * SECOND) * 1e-9;
    return *window > 0 ? (double)count / *window : 0;
}

/* ---- events ---- */

/* The place of the next event, from which the oldest one has gone. */
static struct event *next_event(struct events *events, const char *kind)
{
    struct event *event = &events->list[events->next++ % EVENTS_KEPT];
    json_decref(event->what);
    free(event->texts);
    *event = (struct event){.kind = kind, .time = time(NULL), .seconds = -1};
    return event;
}

void events_add(struct events *events, const char *kind, json_t *what)
{
    if (what)
        next_event(events, kind)->what = what;
}

/* There are thousands of jobs for each that is followed, so it becomes JSON when it is read. */
void events_add_job(struct events *events, const char *kind, const struct job *job)
{
    bool done = kind[0] == 'd', failed = kind[0] == 'f';
    const char *const texts[EVENT_TEXTS] = {job->folder, job->folder ? job->label : NULL,
                                            job->request, job->chain,
                                            failed ? job->fault.text : NULL};
    const char *last = done ? job->results : NULL;
    size_t size = 1;
    while (last && *last)
        last += strlen(last) + 1;
    size_t results = last ? (size_t)(last - job->results) : 0;
    for (size_t i = 0; i < EVENT_TEXTS; i++)
        size += texts[i] ? strlen(texts[i]) + 2 : 1;
    char *at = events ? malloc(size + results) : NULL;
    if (!at)
        return;
    struct event *event = next_event(events, kind);
    event->texts = at;
    event->source = job->origin;
    event->reason = failed ? fault_name(job->fault.code) : NULL;
    if ((done || failed) && job->sent > 0)
        event->seconds = (double)(clock_now() - job->sent) / (double)SECOND;
    for (size_t i = 0; i < EVENT_TEXTS; i++) { /* one that is not there is a blank alone */
        size_t length = texts[i] ? strlen(texts[i]) + 1 : 0;
        *at++ = texts[i] ? '+' : ' ';
        memcpy(at, texts[i] ? texts[i] : "", length);
        at += length;
    }
    memcpy(at, results ? job->results : "", results);
    at[results] = '\0';
}

char *event_print(const struct event *event)
{
    static const char *const names[EVENT_TEXTS] = {"folder", "name", "request", "chain", "message"};
    const char *at = event->texts;
    char now[32];
    struct tm utc;
    json_t *what =
        event->what ? json_copy(event->what) : json_pack("{s:s}", "source", event->source);
    for (size_t i = 0; what && at && i < EVENT_TEXTS; i++) {
        bool is_there = *at++ == '+';
        if (is_there || strcmp(names[i], "message") != 0)
            json_object_set_new(what, names[i], is_there ? json_text(at) : json_null());
        at += is_there ? strlen(at) + 1 : 0;
    }
    json_t *results = what && at && event->kind[0] == 'd' ? json_array() : NULL;
    for (; results && *at; at += strlen(at) + 1)
        json_array_append_new(results, json_text(at));
    if (results)
        json_object_set_new(what, "results", results);
    if (what && event->seconds >= 0)
        json_object_set_new(what, "seconds", json_real(event->seconds));
    if (what && event->reason)
        json_object_set_new(what, "reason", json_string(event->reason));
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&event->time, &utc));
    if (what)
        json_object_set_new(what, "time", json_string(now));
    char *text = what ? json_dumps(what, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(what);
    return text;
}

uint64_t events_skip(const struct events *events, uint64_t *next)
{
    uint64_t oldest = events->next > EVENTS_KEPT ? events->next - EVENTS_KEPT : 0, before = *next;
    *next = before < oldest ? oldest : before;
    return *next - before;
}

const struct event *events_get(const struct events *events, uint64_t number)
{
    bool is_there = number < events->next && events->next - number <= EVENTS_KEPT;
    return is_there ? &events->list[number % EVENTS_KEPT] : NULL;
}

void events_finish(struct events *events)
{
    for (unsigned i = 0; i < EVENTS_KEPT; i++) {
        json_decref(events->list[i].what);
        free(events->list[i].texts);
    }
    *events = (struct events){0};
}
