/* Metrics that are measured when somebody asks for them. */
#include "daemon/front/front.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/text.h"
#include "daemon/work/metrics.h"
#include "version.h"

/* Sets a gauge of a folder, with one more label unless that is NULL. */
static void set(struct metrics *metrics, enum metric metric, const char *dir, const char *label,
                const char *word, double value)
{
    struct text labels = {0};
    metrics_label(&labels, "dir", dir);
    if (label)
        metrics_label(&labels, label, word);
    metrics_set(metrics, metric, text_string(&labels), value);
    text_finish(&labels);
}

/* Measures the folders. After a reload a folder may exist twice until the jobs of the old one have
 * ended; then their sum counts. */
static void measure_folders(struct front *front)
{
    struct metrics *metrics = front->metrics;
    metrics_clear(metrics, METRIC_FILES);
    metrics_clear(metrics, METRIC_FOLDER_STATE);
    metrics_clear(metrics, METRIC_WATCH_MODE);
    metrics_clear(metrics, METRIC_WATCH_OVERFLOWS);
    for (size_t i = 0; i < front->n_folders; i++) {
        const struct folder *folder = front->folders[i].folder;
        const char *dir = folder_settings(folder)->input;
        struct folder_census census;
        if (front->folders[i].stopped || front->folders[i].waits)
            continue;
        folder_count(folder, &census);
        set(metrics, METRIC_FILES, dir, "state", "waiting", (double)census.waiting);
        set(metrics, METRIC_FILES, dir, "state", "queued", (double)census.queued);
        set(metrics, METRIC_FILES, dir, "state", "running", (double)census.running);
        set(metrics, METRIC_FILES, dir, "state", "retrying", (double)census.retrying);
        set(metrics, METRIC_FILES, dir, "state", "done", (double)census.done);
        set(metrics, METRIC_FILES, dir, "state", "failed", (double)census.failed);
        set(metrics, METRIC_WATCH_OVERFLOWS, dir, NULL, NULL, census.overflows);
        set(metrics, METRIC_FOLDER_STATE, dir, "state", census.state, 1);
        set(metrics, METRIC_WATCH_MODE, dir, "mode", census.mode, 1);
    }
}

/* ---- this process, from /proc, which needs no disk ---- */

/* Seconds, bytes, counts and Unix time; −1 where it could not be read. */
struct process_figures {
    double cpu_seconds, resident, virtual, open_fds, max_fds, start_time;
};

/* descriptors that counting opens for /proc/self/fd */
#define OWN 2

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Reads /proc/self/statm: emulators make up most of /proc/self/stat. */
static void measure_memory(struct process_figures *figures)
{
    char text[256];
    unsigned long virtual, resident;
    double page = (double)sysconf(_SC_PAGESIZE);
    if (!file_read_text("/proc/self/statm", text, sizeof text) ||
        sscanf(text, "%lu %lu", &virtual, &resident) != 2)
        return;
    figures->virtual = (double)virtual * page;
    figures->resident = (double)resident * page;
}

/* Finds the start time, once, since the clock may be set later. The kernel gives it from the
 * machine's start. Field numbers are those of proc(5); the second field, the program's name, may
 * hold any character. */
static void find_start(struct process_figures *figures)
{
    static double started;
    char text[1024];
    unsigned long long ticks;
    if (started == 0) {
        const char *from =
            file_read_text("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
        if (!from || sscanf(from + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                            "%*d %*d %llu",
                            &ticks) != 1)
            return;
        started = seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) +
                  (double)ticks / (double)sysconf(_SC_CLK_TCK);
        started = round(started * 100) / 100;
    }
    figures->start_time = started;
}

static int count(void *context, const char *name, unsigned char kind)
{
    (void)name;
    (void)kind;
    ++*(double *)context;
    return 0;
}

static void count_descriptors(struct process_figures *figures)
{
    struct rlimit limit;
    double entries = 0;
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && disk_list(fd, count, &entries) == 0)
        figures->open_fds = entries - OWN;
    file_close(&fd);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        figures->max_fds = (double)limit.rlim_cur;
}

static void measure_process(struct metrics *metrics)
{
    struct process_figures figures = {-1, -1, -1, -1, -1, -1};
    figures.cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    measure_memory(&figures);
    find_start(&figures);
    count_descriptors(&figures);
    const struct {
        enum metric metric;
        double value;
    } rows[] = {
        {METRIC_CPU_SECONDS, figures.cpu_seconds}, {METRIC_RESIDENT_MEMORY, figures.resident},
        {METRIC_VIRTUAL_MEMORY, figures.virtual},  {METRIC_OPEN_FDS, figures.open_fds},
        {METRIC_MAX_FDS, figures.max_fds},         {METRIC_START_TIME, figures.start_time},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].value >= 0)
            metrics_set(metrics, rows[i].metric, NULL, rows[i].value);
        else
            metrics_clear(metrics, rows[i].metric);
    }
}

void front_measure(struct front *front)
{
    metrics_set(front->metrics, METRIC_QUEUE_JOBS, NULL, front->queue.n_jobs);
    service_measure(&front->sockets.service);
    measure_folders(front);
    measure_process(front->metrics);
}

void front_measure_once(struct metrics *metrics)
{
    struct text labels = {0};
    metrics_label(&labels, "version", SLUICE_VERSION);
    metrics_set(metrics, METRIC_BUILD_INFO, text_string(&labels), 1);
    metrics_set(metrics, METRIC_RELOAD_SUCCESS, NULL, 1);
    /* the start time is among them: it was read once, since the clock may be set later */
    measure_process(metrics);
    text_finish(&labels);
}
