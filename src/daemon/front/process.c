#include "daemon/front/process.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"

/* descriptors that counting opens for /proc/self/fd */
#define OWN 2

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Reads a file of /proc/self. False when there is none. */
static bool read_own(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Reads /proc/self/statm: emulators make up most of /proc/self/stat. */
static void measure_memory(struct process_figures *figures)
{
    char text[256];
    unsigned long virtual, resident;
    double page = (double)sysconf(_SC_PAGESIZE);
    if (!read_own("/proc/self/statm", text, sizeof text) ||
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
            read_own("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
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
    if (fd >= 0)
        close(fd);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        figures->max_fds = (double)limit.rlim_cur;
}

void process_measure(struct process_figures *figures)
{
    *figures = (struct process_figures){-1, -1, -1, -1, -1, -1};
    figures->cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    measure_memory(figures);
    find_start(figures);
    count_descriptors(figures);
}
