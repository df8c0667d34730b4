/* What a service manager is told: that the daemon is ready, reloads or stops; its status in words;
 * that it is alive; and that the start takes longer while programs are compiled. */
#include "daemon/front/front.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/serve/manager.h"

/* Milliseconds. */
#define TICK_STARTING 2000
#define TICK_READY    10000
/* Seconds by which each sign of progress extends the start. The supervisor kills a worker that
 * shows none, so a start that hangs does end. */
#define MORE_TIME 30

static void describe(const struct front *front, char *text, size_t size)
{
    const struct queue *queue = &front->queue;
    const struct supervisor *s = &front->crew->supervisor;
    const struct worker *worker = supervisor_at_work(s);
    unsigned done = 0, of = 0;
    if (worker)
        worker_progress(worker, &done, &of);
    if (front->state == FRONT_STARTING && of > 0)
        snprintf(text, size, "starting: kernels are prepared: %u of %u", done, of);
    else if (front->state == FRONT_STARTING)
        snprintf(text, size, "starting: the device is opened, kernels are prepared");
    else if (front->state == FRONT_SCANNING)
        snprintf(text, size, "starting: folders are read");
    else
        snprintf(text, size, "%s%s on %s; %u jobs held, %" PRIu64 " done, %" PRIu64 " failed",
                 front_state_name(front), front->reload != RELOAD_NONE ? ", reloading" : "",
                 worker && worker->name[0] ? worker->name : "no device", queue->n_jobs,
                 queue->n_done, queue->n_failed);
}

static void say_status(struct front *front)
{
    char text[sizeof front->told];
    describe(front, text, sizeof text);
    if (strcmp(text, front->told) == 0)
        return;
    memcpy(front->told, text, sizeof text);
    manager_say("STATUS=%s", text);
}

static void on_tick(uv_timer_t *timer)
{
    struct front *front = timer->data;
    say_status(front);
    if (front->state < FRONT_READY)
        manager_say("EXTEND_TIMEOUT_USEC=%d000000", MORE_TIME);
    else if (manager_watchdog() > 0 && supervisor_is_sound(&front->crew->supervisor))
        manager_say("WATCHDOG=1");
}

void front_manager_starting(struct front *front)
{
    if (!manager_listens())
        return;
    say_status(front);
    uv_timer_start(&front->tick, on_tick, TICK_STARTING, TICK_STARTING);
}

void front_manager_ready(struct front *front)
{
    if (!manager_listens())
        return;
    describe(front, front->told, sizeof front->told);
    manager_say("READY=1\nSTATUS=%s\nWATCHDOG=1", front->told);
    /* the watchdog is fed three times in its period: one late turn of the loop does no harm */
    uint64_t every = manager_watchdog() / 3000000;
    if (every == 0 || every > TICK_READY)
        every = TICK_READY;
    uv_timer_start(&front->tick, on_tick, every, every);
}

void front_manager_reloading(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    manager_say("RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=reading the configuration again",
                (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}

/* READY in any case: after a refused reload the daemon works with the old configuration. */
void front_manager_reloaded(struct front *front, const char *refused)
{
    front->told[0] = '\0';
    if (refused)
        manager_say("READY=1\nSTATUS=the new configuration is refused (%s), the old one stays",
                    refused);
    else
        manager_say("READY=1");
    if (!refused && manager_listens())
        say_status(front);
}

void front_manager_stopping(struct front *front, uint64_t patience)
{
    describe(front, front->told, sizeof front->told);
    manager_say("STOPPING=1\nSTATUS=%s\nEXTEND_TIMEOUT_USEC=%" PRIu64, front->told,
                patience / 1000);
}
