#include "cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool begun;
    pthread_t thread;
    sigset_t signals, before;
    void (*tick)(void *context), (*ending)(void *context);
    void *context;
} taker;

/* ends the thread; nobody else sends it */
#define WAKE SIGRTMIN

static void *take_signals(void *unused)
{
    static const struct timespec interval = {.tv_nsec = 100000000};
    int signal;
    (void)unused;
    while ((signal = sigtimedwait(&taker.signals, NULL, &interval)) != WAKE) {
        if (signal > 0) {
            taker.ending(taker.context);
            _exit(128 + signal);
        }
        taker.tick(taker.context);
    }
    return NULL;
}

void interrupt_begin(void (*tick)(void *context), void (*ending)(void *context), void *context)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    taker.tick = tick;
    taker.ending = ending;
    taker.context = context;
    sigemptyset(&taker.signals);
    sigaddset(&taker.signals, WAKE);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&taker.signals, signals[i]);
    pthread_sigmask(SIG_BLOCK, &taker.signals, &taker.before);
    taker.begun = pthread_create(&taker.thread, NULL, take_signals, NULL) == 0;
    if (!taker.begun) /* without the thread, signals end the process as usual */
        pthread_sigmask(SIG_SETMASK, &taker.before, NULL);
}

void interrupt_end(void)
{
    if (!taker.begun)
        return;
    pthread_kill(taker.thread, WAKE);
    pthread_join(taker.thread, NULL);
    taker.begun = false;
    pthread_sigmask(SIG_SETMASK, &taker.before, NULL);
}
