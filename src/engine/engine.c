#include "engine/engine_internal.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* The next job of the queue. With `wait`, NULL means that the engine closes. Without it, NULL means
 * that the queue is empty, or that idle threads will take what is there. */
static struct engine_job *next_job(struct engine *engine, bool wait)
{
    struct engine_job *job = NULL;
    pthread_mutex_lock(&engine->queue_lock);
    engine->n_idle += wait;
    while (wait && !engine->queue && !engine->closing)
        pthread_cond_wait(&engine->queue_changed, &engine->queue_lock);
    engine->n_idle -= wait;
    if (wait ? engine->queue != NULL : engine->n_queued > engine->n_idle) {
        job = engine->queue;
        engine->queue = job->next;
        engine->n_queued--;
        if (!engine->queue)
            engine->queue_end = &engine->queue;
    }
    pthread_mutex_unlock(&engine->queue_lock);
    return job;
}

/* Bursts: several small jobs at once on one thread. The device needs less time for a picture of a
 * few hundred kilobytes than a thread needs to sleep and to be woken. So a thread starts small jobs
 * while more wait in the queue, and then ends them in the same order: the device goes from one to
 * the next while no thread wakes, and most jobs have finished by the time they are waited for.
 *
 * A thread that has to wait for anything else (memory, an input that is not a regular file) first
 * ends the jobs it has started: nobody then waits for memory that a waiting thread holds. */
#define BURST_MAX 4 /* more jobs would only hold more of the device's memory */

/* A ring of jobs: new ones are started at one end while others are ended at the other. */
struct burst {
    unsigned begin, end;
    struct job_state jobs[BURST_MAX];
};

static struct job_state *at(struct burst *burst, unsigned index)
{
    return &burst->jobs[index % BURST_MAX];
}

void burst_settle(struct burst *burst)
{
    for (; burst && burst->begin != burst->end; burst->begin++) {
        struct engine_job *job = at(burst, burst->begin)->job;
        job_end(at(burst, burst->begin));
        job->done(job);
    }
}

/* Takes jobs from the queue until that closes. */
static void *work(void *engine_)
{
    struct engine *engine = engine_;
    struct burst burst = {0};
    for (;;) {
        bool is_empty = burst.begin == burst.end;
        struct engine_job *job = next_job(engine, is_empty);
        if (!job && is_empty)
            return NULL;
        if (job) {
            job_start(at(&burst, burst.end), engine, job, &burst);
            burst.end++;
        }
        if (!job || !at(&burst, burst.end - 1)->is_small || burst.end - burst.begin == BURST_MAX)
            burst_settle(&burst);
    }
}

void engine_submit(struct engine *engine, struct engine_job *job)
{
    job->next = NULL;
    job->submitted = clock_now();
    pthread_mutex_lock(&engine->queue_lock);
    *engine->queue_end = job;
    engine->queue_end = &job->next;
    engine->n_queued++;
    pthread_mutex_unlock(&engine->queue_lock);
    pthread_cond_signal(&engine->queue_changed); /* whoever wakes finds the lock free */
}

static int start_threads(struct engine *engine, struct fault *fault)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = engine->options.threads;
    engine->processors = processors > 0 ? (unsigned)processors : 1;
    if (wanted == 0)
        wanted = engine->processors;
    engine->threads = calloc(wanted, sizeof *engine->threads);
    if (!engine->threads)
        return fault_set(fault, FAULT_MEMORY, "no memory for threads");
    while (engine->n_threads < wanted) {
        int error = pthread_create(&engine->threads[engine->n_threads], NULL, work, engine);
        if (error != 0 && engine->n_threads == 0)
            return fault_set(fault, FAULT_MEMORY, "pthread_create: %s", strerror(error));
        if (error != 0)
            break; /* the engine works with fewer threads */
        engine->n_threads++;
    }
    return 0;
}

/* Blocks of this size or more get a mapping of their own. By default glibc takes growing blocks
 * from an arena for each thread, and an arena gives nothing back that lies between blocks in use:
 * with pictures of several sizes the process would hold several times the memory in use. */
#define BLOCK_OF_ITS_OWN (1 << 20)

int engine_open(struct engine **engine, const struct engine_options *options, struct fault *fault)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return fault_set(fault, FAULT_MEMORY, "no memory for an engine");
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, BLOCK_OF_ITS_OWN);
#endif
    e->options = *options;
    e->queue_end = &e->queue;
    budget_init(&e->files, options->memory / 4);
    uint64_t planes = options->memory - options->memory / 4;
    budget_init(&e->planes, planes - (options->held < planes ? options->held : planes));
    pthread_mutex_init(&e->device_lock, NULL);
    pthread_mutex_init(&e->prepared_lock, NULL);
    pthread_cond_init(&e->prepared_changed, NULL);
    pthread_mutex_init(&e->queue_lock, NULL);
    pthread_cond_init(&e->queue_changed, NULL);
    mover_init(e);
    int result = start_threads(e, fault);
    if (result != 0)
        engine_close(&e);
    *engine = e;
    return result;
}

void engine_close(struct engine **engine)
{
    struct engine *e = *engine;
    if (!e)
        return;
    pthread_mutex_lock(&e->queue_lock);
    e->closing = true;
    pthread_cond_broadcast(&e->queue_changed);
    pthread_mutex_unlock(&e->queue_lock);
    for (unsigned i = 0; i < e->n_threads; i++)
        pthread_join(e->threads[i], NULL);
    free(e->threads);
    mover_finish(e);
    prepared_destroy_all(e);
    known_destroy_all(e);
    tuned_destroy(&e->tuned);
    device_close(&e->native);
    device_close(&e->fallback);
    device_close(&e->device);
    pthread_cond_destroy(&e->queue_changed);
    pthread_mutex_destroy(&e->queue_lock);
    pthread_cond_destroy(&e->prepared_changed);
    pthread_mutex_destroy(&e->prepared_lock);
    pthread_mutex_destroy(&e->device_lock);
    budget_finish(&e->planes);
    budget_finish(&e->files);
    free(e);
    *engine = NULL;
}

void engine_tell_preparing(struct engine *engine, const char *text)
{
    pthread_mutex_lock(&engine->queue_lock);
    snprintf(engine->preparing, sizeof engine->preparing, "%s", text);
    pthread_mutex_unlock(&engine->queue_lock);
}

void engine_preparing(struct engine *engine, char text[ENGINE_PREPARING_MAX])
{
    pthread_mutex_lock(&engine->queue_lock);
    memcpy(text, engine->preparing, ENGINE_PREPARING_MAX);
    pthread_mutex_unlock(&engine->queue_lock);
}

struct device *engine_device(struct engine *engine)
{
    pthread_mutex_lock(&engine->device_lock);
    struct device *device = engine->device;
    if (!device && atomic_load(&engine->mover.on))
        device = engine->fallback;
    if (!device)
        device = engine->native;
    pthread_mutex_unlock(&engine->device_lock);
    return device;
}

bool engine_is_busy(struct engine *engine)
{
    return atomic_load(&engine->mover.busy);
}

const char *engine_tier(struct engine *engine, const struct chain *chain)
{
    enum level level = level_of(engine, chain);
    if (engine->options.reference || level == LEVEL_REFERENCE)
        return "reference";
    pthread_mutex_lock(&engine->device_lock);
    bool below = level == LEVEL_FALLBACK || atomic_load(&engine->mover.on);
    const struct device *device = below ? engine->fallback : engine->device;
    pthread_mutex_unlock(&engine->device_lock);
    return device ? device_kind_name(device_info(device)->kind) : NULL;
}

/* Only a GPU that nobody asked for by name has to prove itself. */
static int prove(const struct engine *engine, struct device *device, const struct chain *chain,
                 bool warming, struct fault *fault)
{
    bool strangers = engine->options.generic;
    struct check_how how = {.generic = strangers && !warming,
                            .use = !strangers ? PROGRAM_ANY
                                   : warming  ? PROGRAM_KEPT
                                              : PROGRAM_COUNTED};
    const char *select = engine->options.device.select;
    if (device_info(device)->kind >= DEVICE_NATIVE || (select && strcmp(select, "auto") != 0))
        return 0;
    return check_colour(device, &how, chain, fault);
}

static int open_best(struct engine *engine, const struct chain *chain, bool warming,
                     struct fault *fault)
{
    const struct device_info *order[DEVICES_MAX];
    size_t left;
    int result = device_select(&engine->options.device, order, &left, fault);
    while (result == 0 && !engine->device) {
        struct fault why = FAULT_INIT;
        struct device *device;
        result = device_open_first(&device, order, &left, &engine->options.device, fault);
        if (result != 0)
            break;
        const struct device_info *info = device_info(device);
        if (prove(engine, device, chain, warming, &why) == 0) {
            device_pool_limit(device, engine->options.memory);
            log_info("device %s (%s), driver %s", info->name, info->platform, info->driver);
            engine->device = device;
            break;
        }
        device_close(&device);
        if (left == 0)
            result = fault_set(fault, why.code, "device %s: %s", info->name, why.text);
        else
            log_error("device %s is not used: %s", info->name, why.text);
    }
    return result;
}

static int open_fallback(struct engine *engine, struct fault *fault)
{
    const struct device_options options = {
        .select = engine->options.fallback, .platform_index = -1, .device_index = -1};
    const struct device_info *order[DEVICES_MAX];
    size_t fitting, others = 0;
    int result = device_select(&options, order, &fitting, fault);
    for (size_t i = 0; result == 0 && i < fitting; i++)
        if (!engine->device || device_info(engine->device) != order[i])
            order[others++] = order[i];
    if (result == 0)
        result = device_open_first(&engine->fallback, order, &others, &options, fault);
    if (result == 0 && atomic_load(&engine->mover.on))
        device_pool_limit(engine->fallback, engine->options.memory);
    return result;
}

int engine_need_fallback(struct engine *engine, struct device **device, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&engine->device_lock);
    if (!engine->fallback)
        result = open_fallback(engine, fault);
    *device = engine->fallback;
    pthread_mutex_unlock(&engine->device_lock);
    return result;
}

int engine_need_device(struct engine *engine, const struct chain *chain, struct device **device,
                       bool warming, struct fault *fault)
{
    int result = 0;
    if (atomic_load(&engine->mover.on))
        return engine_need_fallback(engine, device, fault);
    pthread_mutex_lock(&engine->device_lock);
    if (!engine->device) {
        engine_tell_preparing(engine, "opening the device");
        result = open_best(engine, chain, warming, fault);
        engine_tell_preparing(engine, "");
    }
    *device = engine->device;
    pthread_mutex_unlock(&engine->device_lock);
    return result;
}

/* The file is read once, and before the device is opened: a job that native does sooner does not wait
 * for a driver. */
static const struct tuned *tuned_of(struct engine *engine)
{
    const struct device_options *options = &engine->options.device;
    const struct device_info *device, *native;
    pthread_mutex_lock(&engine->device_lock);
    bool may_ask = engine->device || !atomic_load(&engine->mover.on);
    if (!engine->has_asked && may_ask) {
        struct fault fault = FAULT_INIT;
        engine->has_asked = true;
        if (!engine->options.reference && tuned_may_choose(options) && device_may_load(options) &&
            tuned_pair(options, &device, &native, &fault) == 0)
            tuned_create(&engine->tuned, engine->device ? device_info(engine->device) : device,
                         native, &fault);
        if (engine->tuned && tuned_count(engine->tuned) == 0)
            tuned_destroy(&engine->tuned);
    }
    const struct tuned *tuned = engine->tuned;
    pthread_mutex_unlock(&engine->device_lock);
    return tuned;
}

bool engine_prefers_native(struct engine *engine, const struct chain *chain, const struct frame *in)
{
    const struct tuned *tuned = tuned_of(engine);
    struct tuned_choice choice;
    return tuned && tuned_choose(tuned, chain, in, &choice) && choice.native;
}

int engine_need_native(struct engine *engine, struct device **device, struct fault *fault)
{
    const struct device_options options = {
        .select = "native", .platform_index = -1, .device_index = -1};
    const char *fallback = engine->options.fallback;
    int result = 0;
    if (fallback && strcmp(fallback, "native") == 0)
        return engine_need_fallback(engine, device, fault);
    pthread_mutex_lock(&engine->device_lock);
    if (!engine->native) {
        result = device_open_best(&engine->native, &options, fault);
        if (result == 0)
            device_pool_limit(engine->native, engine->options.memory);
    }
    *device = engine->native;
    pthread_mutex_unlock(&engine->device_lock);
    return result;
}

void engine_report_finish(struct engine_report *report)
{
    free(report->launches);
    text_finish(&report->warnings);
    *report = (struct engine_report){0};
}
