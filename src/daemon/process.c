#include "daemon/process.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/disk.h"

/* Descriptors that the count itself opens: the directory's two. */
#define OWN 2

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Field numbers are those of proc(5); the program's name, the second, may hold anything. */
static void read_stat(struct process_figures *figures)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return;
    text[length] = '\0';
    const char *from = strrchr(text, ')');
    unsigned long user, system, virtual;
    unsigned long long start;
    long pages;
    if (!from || sscanf(from + 1,
                        " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d "
                        "%*d %llu %lu %ld",
                        &user, &system, &start, &virtual, &pages) != 5)
        return;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    figures->cpu_seconds = (double)(user + system) / ticks;
    figures->virtual = (double)virtual;
    figures->resident = (double)pages * (double)sysconf(_SC_PAGESIZE);
    /* The kernel counts from the machine's start. Told once, since the clock may be set later. */
    static double started;
    if (started == 0)
        started = round((seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) +
                         (double)start / ticks) *
                        100) /
                  100;
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
    read_stat(figures);
    count_descriptors(figures);
}
