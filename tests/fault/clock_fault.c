/* A preloaded library that shifts the clocks.
 *
 *     SLUICE_FAULT_CLOCK=FILE    FILE has two or three numbers of seconds, read at each call: what
 *                                today's date is ahead, the boot clock, and the monotonic clock */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(clockid_t id)
{
    const char *path = getenv("SLUICE_FAULT_CLOCK");
    long today = 0, boot = 0, monotonic = 0;
    bool known = id == CLOCK_REALTIME || id == CLOCK_BOOTTIME || id == CLOCK_MONOTONIC ||
                 id == CLOCK_MONOTONIC_COARSE; /* libuv's, where it ticks often enough */
    FILE *file = path && known ? fopen(path, "re") : NULL;
    if (file && fscanf(file, "%ld %ld %ld", &today, &boot, &monotonic) < 2)
        today = boot = 0;
    if (file)
        fclose(file);
    return id == CLOCK_REALTIME ? today : id == CLOCK_BOOTTIME ? boot : monotonic;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    now->tv_sec += ahead(id);
    return result;
}

time_t time(time_t *seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}
