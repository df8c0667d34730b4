#include "daemon/watch/errands.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define IDLE_SECONDS 10 /* an idle thread ends after so long, unless it is the last one */

STAILQ_HEAD(errand_list, errand);

struct errands {
    uv_async_t done_async;
    unsigned count; /* used by the loop's thread alone */

    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct errand_list waiting, patient, done;
    LIST_HEAD(, errand) running;
    unsigned n_threads, n_idle;
    unsigned n_waiting; /* patient ones, too */
    unsigned n_patient; /* that run */
    bool closing;
    bool closed; /* set by the loop's thread; whoever leaves last frees the memory */
};

/* ---- threads ---- */

/* The list that the next errand comes from. NULL: none may begin. */
static struct errand_list *next_list(struct errands *e)
{
    if (!STAILQ_EMPTY(&e->waiting))
        return &e->waiting;
    return STAILQ_EMPTY(&e->patient) || e->n_patient == ERRANDS_PATIENT ? NULL : &e->patient;
}

/* Waits for the next errand. NULL: the thread shall end. Called with the lock held. */
static struct errand *wait_for_one(struct errands *e)
{
    struct timespec until;
    struct errand_list *list;
    int result = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    e->n_idle++;
    while ((list = next_list(e)) == NULL && !e->closing && (result == 0 || e->n_threads == 1))
        result = e->n_threads == 1 ? pthread_cond_wait(&e->wanted, &e->lock)
                                   : pthread_cond_timedwait(&e->wanted, &e->lock, &until);
    e->n_idle--;
    if (!list)
        return NULL;
    struct errand *errand = STAILQ_FIRST(list);
    STAILQ_REMOVE_HEAD(list, next);
    e->n_waiting--;
    e->n_patient += errand->patient;
    return errand;
}

/* Called with the lock held; unlocks it. */
static void free_if_last(struct errands *e)
{
    bool last = e->closed && e->n_threads == 0;
    pthread_mutex_unlock(&e->lock);
    if (!last)
        return;
    pthread_cond_destroy(&e->wanted);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static void *work(void *context)
{
    struct errands *e = context;
    struct errand *errand;
    pthread_mutex_lock(&e->lock);
    while ((errand = wait_for_one(e)) != NULL) {
        errand->moved = clock_now();
        LIST_INSERT_HEAD(&e->running, errand, in_running);
        pthread_mutex_unlock(&e->lock);
        errand->run(errand);
        pthread_mutex_lock(&e->lock);
        LIST_REMOVE(errand, in_running);
        e->n_patient -= errand->patient;
        STAILQ_INSERT_TAIL(&e->done, errand, next);
        uv_async_send(&e->done_async);
    }
    e->n_threads--;
    free_if_last(e);
    return NULL;
}

/* Signals go to the loop's thread, so they are blocked here. Called with the lock held. */
static int start_thread(struct errands *e)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, work, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return error;
    pthread_detach(thread);
    e->n_threads++;
    return 0;
}

/* ---- the loop ---- */

static void on_done(uv_async_t *async)
{
    struct errands *e = async->data;
    struct errand_list done = STAILQ_HEAD_INITIALIZER(done);
    struct errand *errand;
    pthread_mutex_lock(&e->lock);
    STAILQ_CONCAT(&done, &e->done);
    pthread_mutex_unlock(&e->lock);
    while ((errand = STAILQ_FIRST(&done)) != NULL) {
        STAILQ_REMOVE_HEAD(&done, next);
        e->count--;
        errand->after(errand);
    }
}

int errands_create(struct errands **errands, uv_loop_t *loop, struct fault *fault)
{
    struct errands *e = calloc(1, sizeof *e);
    pthread_condattr_t monotonic;
    *errands = NULL;
    if (!e)
        return fault_set(fault, FAULT_MEMORY, "no memory for threads");
    STAILQ_INIT(&e->waiting);
    STAILQ_INIT(&e->patient);
    STAILQ_INIT(&e->done);
    LIST_INIT(&e->running);
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->wanted, &monotonic);
    pthread_condattr_destroy(&monotonic);
    e->done_async.data = e;
    int error = uv_async_init(loop, &e->done_async, on_done);
    if (error < 0) {
        e->closed = true;
        pthread_mutex_lock(&e->lock);
        free_if_last(e);
        return fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
    }
    uv_unref(
        /* so that a thread that hangs does not keep the daemon from ending */
        (uv_handle_t *)&e->done_async);
    *errands = e;
    pthread_mutex_lock(&e->lock);
    error = start_thread(e);
    pthread_mutex_unlock(&e->lock);
    if (error == 0)
        return 0;
    errands_destroy(errands);
    return fault_set(fault, FAULT_MEMORY, "no thread can be started");
}

static void add(struct errands *errands, struct errand *errand, bool patient,
                void (*run)(struct errand *), void (*after)(struct errand *))
{
    errand->run = run;
    errand->after = after;
    errand->patient = patient;
    errands->count++;
    pthread_mutex_lock(&errands->lock);
    STAILQ_INSERT_TAIL(patient ? &errands->patient : &errands->waiting, errand, next);
    if (++errands->n_waiting > errands->n_idle && errands->n_threads < ERRANDS_THREADS)
        start_thread(errands); /* if it fails, the threads that there are take the errand */
    pthread_cond_signal(&errands->wanted);
    pthread_mutex_unlock(&errands->lock);
}

void errands_add(struct errands *errands, struct errand *errand, void (*run)(struct errand *),
                 void (*after)(struct errand *))
{
    add(errands, errand, false, run, after);
}

void errands_add_patient(struct errands *errands, struct errand *errand,
                         void (*run)(struct errand *), void (*after)(struct errand *))
{
    add(errands, errand, true, run, after);
}

void errand_moves(struct errand *errand)
{
    errand->moved = clock_now();
}

unsigned errands_count(const struct errands *errands)
{
    return errands->count;
}

uint64_t errands_since(struct errands *errands)
{
    uint64_t since = 0;
    const struct errand *errand;
    pthread_mutex_lock(&errands->lock);
    LIST_FOREACH (errand, &errands->running, in_running)
        if (since == 0 || errand->moved < since)
            since = errand->moved;
    pthread_mutex_unlock(&errands->lock);
    return since;
}

static void on_closed(uv_handle_t *handle)
{
    struct errands *e = handle->data;
    pthread_mutex_lock(&e->lock);
    e->closed = true;
    free_if_last(e);
}

void errands_destroy(struct errands **errands)
{
    struct errands *e = *errands;
    *errands = NULL;
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->closing = true;
    pthread_cond_broadcast(&e->wanted);
    pthread_mutex_unlock(&e->lock);
    uv_close((uv_handle_t *)&e->done_async, on_closed);
}
