/* Preloaded in a build for ThreadSanitizer (the suite tsan): what GCC 12's does not see becomes
 * calls that it knows.
 *
 * libuv closes descriptors by syscall(2). ThreadSanitizer then keeps its record of a pipe until
 * another file has that number, and reports that the thread which opens or closes this one races
 * with the one that made the pipe. Threads that are joined by pthread_clockjoin_np it takes for
 * leaked, and what they wrote for races. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long args[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        args[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_close)
        return close((int)args[0]);
    return next(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static int has_come(clockid_t clock, const struct timespec *time)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > time->tv_sec ||
           (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                         const struct timespec *until)
{
    int error;
    while ((error = pthread_tryjoin_np(thread, value)) == EBUSY) {
        if (has_come(clock, until))
            return ETIMEDOUT;
        usleep(1000);
    }
    return error;
}
