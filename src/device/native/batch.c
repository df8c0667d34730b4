/* Batches of native. The launches of a batch run one after the other. Each is divided into pieces,
 * which are taken by the device's threads and by the thread that waits for the batch. So a small
 * picture is computed by the waiting thread alone, and a large one by all processors.
 *
 * A thread takes a piece, and reports its end, under the device's lock; that also makes the results
 * of one launch visible to the threads that run the next one. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"
#include "device/native/native.h"

/* Work in scalar operations, as passes estimate it. Of a launch of less than SHARED_WORK the
 * waiting thread computes all: waking another one takes some tens of microseconds. Pieces of others
 * are at least PIECE_WORK, tens of microseconds, too. They get smaller, so that all processors end
 * at nearly the same time: for each processor, a piece is one part in LAST_PIECES of what is left,
 * and at most one in MOST_PIECES of the whole, since a batch that is given up waits for its end. */
#define SHARED_WORK 2e6
#define PIECE_WORK  5e5
#define LAST_PIECES 2
#define MOST_PIECES 8

/* So long does a thread look out for more to do before it sleeps. To wake one takes 25 µs and more,
 * which is the time between frames that follow each other, or launches of a frame. */
#define LOOK_OUT (UINT64_C(50) * 1000)

struct launch {
    const struct native_kernel *kernel;
    union native_arg *args; /* owned */
    int items, row;         /* work-items of a row, and the first row */
    bool by_rows;           /* a unit is a row; otherwise, where a row is much work, a work-item */
    int n_units, least;     /* units of the launch, and of the smallest piece */
    uint64_t queued, started, ended;
};

struct native_batch {
    struct device_batch base;
    size_t n_launches, capacity;
    struct launch *launches;
    struct device_timing *timings;
    uint64_t submitted;
    /* Protected by the device's lock once the batch is submitted. */
    bool in_list;    /* in the device's list of batches that have not ended */
    size_t current;  /* index of the launch that is being computed */
    int taken;       /* units of that launch that threads have taken */
    unsigned pieces; /* pieces of that launch that are being computed */
    struct native_batch *next;
};

static struct native_batch *own_batch(struct device_batch *batch)
{
    return (struct native_batch *)batch;
}

int native_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault)
{
    struct native_batch *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a batch");
    made->base.device = device;
    *batch = &made->base;
    return 0;
}

int native_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault)
{
    buffer->mapped = NULL;
    batch->traffic.crossings_in++;
    return 0;
}

int native_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     bool writes, void **data, struct fault *fault)
{
    *data = buffer->mapped = buffer->handle;
    batch->traffic.crossings_out++;
    return 0;
}

/* Converts the arguments of a launch: of the three that describe the grid (width, first row, end)
 * a kernel gets the width; the rows come with each call. */
static union native_arg *copy_arguments(const struct device_launch *launch)
{
    enum {
        GRID_ARGS = 3
    };
    union native_arg *args = calloc(NATIVE_ARGS + launch->n_args, sizeof *args);
    if (!args)
        return NULL;
    args[NATIVE_WIDTH].i = launch->args[0].i;
    for (unsigned i = GRID_ARGS; i < launch->n_args; i++) {
        union native_arg *to = &args[NATIVE_ARGS + i - GRID_ARGS];
        if (launch->args[i].kind == ARG_MEMORY)
            to->p = (void *)((uintptr_t)launch->args[i].buffer->handle +
                             (uintptr_t)launch->args[i].shift);
        else
            to->l = launch->args[i].l;
    }
    return args;
}

/* The units of the smallest piece. */
static int least_piece(const struct launch *launch, double work)
{
    double units = PIECE_WORK / (work / launch->n_units + 1);
    return work < SHARED_WORK || units > launch->n_units ? launch->n_units
           : units < 1                                   ? 1
                                                         : (int)units;
}

static bool is_shared(const struct launch *launch)
{
    return launch->n_units > launch->least;
}

int native_batch_launch(struct device_batch *base, const struct device_launch *launch,
                        struct fault *fault)
{
    struct native_batch *batch = own_batch(base);
    if (batch->n_launches == batch->capacity) {
        size_t capacity = batch->capacity ? 2 * batch->capacity : 8;
        struct launch *grown = realloc(batch->launches, capacity * sizeof *grown);
        if (!grown)
            return fault_set(fault, FAULT_MEMORY, "no memory for %zu launches", capacity);
        batch->launches = grown;
        batch->capacity = capacity;
    }
    struct launch *made = &batch->launches[batch->n_launches];
    int row = launch->args[1].i, rows = launch->args[2].i - row;
    int items = (int)launch->global[0];
    *made = (struct launch){.kernel = (const struct native_kernel *)launch->kernel,
                            .args = copy_arguments(launch),
                            .items = items,
                            .row = row,
                            .by_rows = items == 1 || launch->work / rows <= PIECE_WORK,
                            .queued = clock_now()};
    if (!made->args)
        return fault_set(fault, FAULT_MEMORY, "no memory for a launch");
    made->n_units = made->by_rows ? rows : rows * items;
    made->least = least_piece(made, launch->work);
    batch->n_launches++;
    atomic_fetch_add(&base->device->counters.launches, 1);
    return 0;
}

static void pause_processor(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* yield does nothing on most */
#endif
}

static void run_piece(const struct launch *launch, int begin, int end)
{
    if (launch->kernel->rows) {
        native_rows_run(launch->kernel->rows, launch->args, launch->row + begin, launch->row + end);
        return;
    }
    const struct native_function *function = &launch->kernel->function;
    if (launch->by_rows) {
        function->call(function, launch->args, 0, launch->items, launch->row + begin,
                       launch->row + end);
        return;
    }
    for (int unit = begin; unit < end; unit++) {
        int row = launch->row + unit / launch->items, item = unit % launch->items;
        function->call(function, launch->args, item, item + 1, row, row + 1);
    }
}

/* ---- functions that are called with the device's lock held ---- */

static void give_signal(struct native_signal *signal)
{
    atomic_fetch_add(&signal->count, 1);
    pthread_cond_broadcast(&signal->sleepers);
}

/* Waits, without the lock, for a signal; as with pthread_cond_wait the caller looks whether it is
 * the one. */
static void wait_signal(struct native *native, struct native_signal *signal)
{
    unsigned seen = atomic_load(&signal->count);
    if (native->looks_out) {
        pthread_mutex_unlock(&native->lock);
        uint64_t end = clock_now() + LOOK_OUT;
        while (atomic_load(&signal->count) == seen && clock_now() < end)
            pause_processor();
        pthread_mutex_lock(&native->lock);
    }
    if (atomic_load(&signal->count) == seen)
        pthread_cond_wait(&signal->sleepers, &native->lock);
}

static bool has_ended(const struct native_batch *batch)
{
    return batch->current == batch->n_launches;
}

static void remove_from_list(struct native *native, struct native_batch *batch)
{
    for (struct native_batch **link = &native->first; *link; link = &(*link)->next)
        if (*link == batch) {
            *link = batch->next;
            break;
        }
    batch->in_list = false;
}

/* Goes on to the next launch, after the last piece of the current one. */
static void end_launch(struct native *native, struct native_batch *batch)
{
    batch->launches[batch->current].ended = clock_now();
    batch->current++;
    batch->taken = 0;
    if (has_ended(batch))
        remove_from_list(native, batch);
    else if (is_shared(&batch->launches[batch->current]))
        give_signal(&native->work);
    give_signal(&native->progress);
}

/* The units of the next piece of a launch of which `left` are left. Whole rows while it can: what
 * one processor fetches ahead at the end of a work-item is where the next one begins. */
static int next_piece(const struct native *native, const struct launch *launch, int left)
{
    int processors = (int)native->n_wanted + 1;
    int last = left / (LAST_PIECES * processors),
        most = launch->n_units / (MOST_PIECES * processors);
    int piece = last < most ? last : most;
    piece = piece > launch->least ? piece : launch->least;
    if (!launch->by_rows && piece > launch->items)
        piece -= piece % launch->items;
    return piece < left ? piece : left;
}

/* Computes the next piece of the batch's current launch, without the lock. Returns false if all
 * pieces are taken: then the next launch waits for their end. */
static bool do_piece(struct native *native, struct native_batch *batch)
{
    if (has_ended(batch) || batch->taken == batch->launches[batch->current].n_units)
        return false;
    struct launch *launch = &batch->launches[batch->current];
    int begin = batch->taken, end = begin + next_piece(native, launch, launch->n_units - begin);
    if (begin == 0)
        launch->started = clock_now();
    batch->taken = end;
    batch->pieces++;
    pthread_mutex_unlock(&native->lock);
    run_piece(launch, begin, end);
    pthread_mutex_lock(&native->lock);
    if (--batch->pieces == 0 && batch->taken == launch->n_units)
        end_launch(native, batch);
    return true;
}

static void *work(void *native_)
{
    struct native *native = native_;
    pthread_mutex_lock(&native->lock);
    while (!native->closing) {
        struct native_batch *batch = native->first;
        while (batch && !do_piece(native, batch))
            batch = batch->next;
        if (!batch)
            wait_signal(native, &native->work);
    }
    pthread_mutex_unlock(&native->lock);
    return NULL;
}

/* If not all threads can be started, those that were started do the work. */
static void start_threads(struct native *native)
{
    native->threads = calloc(native->n_wanted, sizeof *native->threads);
    while (native->threads && native->n_threads < native->n_wanted &&
           thread_start(&native->threads[native->n_threads], work, native))
        native->n_threads++;
    native->n_wanted = native->n_threads;
}

void native_threads_stop(struct native *native)
{
    pthread_mutex_lock(&native->lock);
    native->closing = true;
    give_signal(&native->work);
    pthread_mutex_unlock(&native->lock);
    for (unsigned i = 0; i < native->n_threads; i++)
        pthread_join(native->threads[i], NULL);
    free(native->threads);
}

/* ---- functions that are called without the lock ---- */

int native_batch_submit(struct device_batch *base, struct fault *fault)
{
    struct native_batch *batch = own_batch(base);
    struct native *native = base->device->own;
    batch->submitted = clock_now();
    if (batch->n_launches == 0)
        return 0;
    pthread_mutex_lock(&native->lock);
    struct native_batch **end = &native->first;
    while (*end)
        end = &(*end)->next;
    *end = batch;
    batch->in_list = true;
    bool share = false;
    for (size_t i = 0; i < batch->n_launches; i++)
        share |= is_shared(&batch->launches[i]);
    if (share) {
        if (native->n_threads < native->n_wanted)
            start_threads(native);
        give_signal(&native->work);
    }
    pthread_mutex_unlock(&native->lock);
    return 0;
}

int native_batch_wait(struct device_batch *base, struct fault *fault)
{
    struct native_batch *batch = own_batch(base);
    struct native *native = base->device->own;
    int result = 0;
    pthread_mutex_lock(&native->lock);
    while (!has_ended(batch) && (result = deadline_check(fault)) == 0)
        if (!do_piece(native, batch))
            wait_signal(native, &native->progress);
    pthread_mutex_unlock(&native->lock);
    return result; /* after a passed deadline native_batch_finish stops the rest */
}

const struct device_timing *native_batch_timings(struct device_batch *base, size_t *count)
{
    struct native_batch *batch = own_batch(base);
    if (!batch->timings)
        batch->timings = calloc(batch->n_launches + 1, sizeof *batch->timings);
    for (size_t i = 0; batch->timings && i < batch->n_launches; i++) {
        const struct launch *launch = &batch->launches[i];
        uint64_t ready = i > 0 ? batch->launches[i - 1].ended : batch->submitted;
        batch->timings[i] =
            (struct device_timing){launch->kernel->base.name, batch->submitted - launch->queued,
                                   launch->started - ready, launch->ended - launch->started};
    }
    *count = batch->n_launches;
    return batch->timings;
}

/* Of a batch that has not ended, no further piece is started, and those that run are waited for:
 * the caller frees the buffers next. */
void native_batch_finish(struct device_batch *base)
{
    struct native_batch *batch = own_batch(base);
    struct native *native = base->device->own;
    size_t n_launches = batch->n_launches;
    pthread_mutex_lock(&native->lock);
    if (batch->in_list) {
        batch->launches[batch->current].n_units = batch->taken;
        batch->n_launches = batch->current + (batch->taken > 0);
        while (batch->pieces > 0)
            wait_signal(native, &native->progress);
        if (batch->in_list)
            remove_from_list(native, batch);
    }
    pthread_mutex_unlock(&native->lock);
    for (size_t i = 0; i < n_launches; i++)
        free(batch->launches[i].args);
    free(batch->launches);
    free(batch->timings);
    free(batch);
}
