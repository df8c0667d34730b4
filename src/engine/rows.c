/* A job whose picture is never there as a whole: rows go from the decoder through the kernels to
 * the encoders of all results while they are in the cache. Each of these sides takes a step
 * whenever the one in front of it has rows and the one behind it has room. One thread does all in
 * turn; where processors are free, as many threads as these take steps of the sides that no other
 * one is at. What goes wrong on any side ends the others. */
#include "engine/engine_internal.h"

#include <time.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

/* The decoder, the kernels, and an encoder for each result. */
enum {
    DECODE,
    COMPUTE,
    ENCODE,
    SIDES_MAX = ENCODE + CHAIN_RESULTS_MAX
};

struct side {
    bool busy; /* a thread is at it */
    bool over; /* it has taken its last step */
    int result;
    struct fault fault;
    uint64_t time; /* in steps, in nanoseconds */
};

struct flow {
    struct job_state *s;
    struct job_file files[CHAIN_RESULTS_MAX];
    unsigned n_sides;
    uint32_t came, went; /* rows that the device had when it was last called, and that were taken */
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t changed;
    struct side sides[SIDES_MAX];
    unsigned changes; /* steps that were taken */
    unsigned n_busy;
    bool are_open; /* the files */
    bool stop;
};

/* Each of the following takes one step of its side if it can; says whether it did so, and whether
 * that was the last one. */

static int decode_some(struct flow *f, bool *moved, bool *over, struct fault *fault)
{
    struct job_state *s = f->s;
    uint32_t row = s->decoder.row, height = window_height(s->in);
    uint32_t end = row + plan_rows_of_band(s->prepared->plan, s->in->frame),
             turn = window_turn(s->in, row);
    if (s->decoder.whole || s->in->size.rows == height || end > height)
        end = height;
    end = end < turn ? end : turn;
    if (row < height && end <= window_room(s->in, row)) {
        int result = job_decode_rows(s, end, fault);
        if (result != 0)
            return result;
        *moved = true;
    }
    *over = s->decoder.row == height;
    return 0;
}

/* Whether rows may come and go while the device computes. */
static bool shares_memory(const struct job_state *s)
{
    return !s->device || s->prepared->plan->profile->prebuilt;
}

/* Rows that results have, and that were taken of them. */
static uint32_t count_rows(const struct job_state *s, bool taken)
{
    uint32_t rows = 0;
    for (size_t i = 0; i < s->prepared->plan->n_results; i++)
        rows += atomic_load(taken ? &s->sinks[i].taken : &s->sinks[i].ready);
    return rows;
}

/* Without kernels results are the input. */
static void pass_on(struct job_state *s, bool *moved)
{
    uint32_t ready = atomic_load(&s->in->written), least = window_height(s->in);
    for (size_t i = 0; i < s->prepared->plan->n_results; i++) {
        uint32_t taken = atomic_load(&s->sinks[i].taken);
        least = taken < least ? taken : least;
        *moved |= atomic_load(&s->sinks[i].ready) != ready;
        atomic_store(&s->sinks[i].ready, ready);
    }
    *moved |= atomic_load(&s->in->freed) != least;
    atomic_store(&s->in->freed, least);
}

static int compute_some(struct flow *f, bool *moved, bool *over, struct fault *fault)
{
    struct job_state *s = f->s;
    struct recording *recording = s->prepared->recording;
    uint32_t came = atomic_load(&s->in->written), went = count_rows(s, true),
             freed = atomic_load(&s->in->freed), ready = count_rows(s, false);
    int result = 0;
    if (!recording)
        pass_on(s, moved);
    *over = recording ? s->run.ended : came == window_height(s->in);
    if (!recording || *over || (!shares_memory(s) && f->came == came && f->went == went))
        return 0;
    f->came = came;
    f->went = went;
    if (!s->run.batch)
        result = recording_submit(recording, 1, &s->run, fault);
    if (result == 0)
        result = recording_wait(recording, &s->run, fault);
    *moved = result == 0 && (s->run.ended || s->run.moved || freed != atomic_load(&s->in->freed) ||
                             ready != count_rows(s, false));
    return result;
}

static int encode_some(struct flow *f, size_t index, bool *moved, bool *over, struct fault *fault)
{
    struct job_state *s = f->s;
    struct job_file *file = &f->files[index];
    struct window_sink *sink = &s->sinks[index];
    const struct frame *frame = s->prepared->plan->results[index].frame;
    uint32_t row = file->encoder.row, height = frame->planes[0].height;
    /* the result may be a part of what is computed */
    uint32_t top = frame->n_planes == 1 ? plane_first_row(&frame->planes[0]) : 0;
    uint32_t end = atomic_load(&sink->ready), turn = window_turn(sink->window, top + row);
    end = end < turn ? end : turn;
    end = end < top + height ? end : top + height;
    end = end > top ? end - top : 0;
    if (end > row && (end == height || !s->formats[index].codec->writes_whole)) {
        struct picture rows = {*frame, window_at(sink->window, top + row)};
        int result = encoder_rows(&file->encoder, &rows, end, fault);
        if (result != 0)
            return result;
        atomic_store(&sink->taken, end < height ? top + end : window_height(sink->window));
        *moved = true;
    }
    *over = file->encoder.row == height;
    return 0;
}

static int take_step(struct flow *f, unsigned side, bool *moved, bool *over, struct fault *fault)
{
    int result = deadline_check(fault);
    if (result != 0)
        return result;
    switch (side) {
    case DECODE:
        return decode_some(f, moved, over, fault);
    case COMPUTE:
        return compute_some(f, moved, over, fault);
    default:
        return encode_some(f, side - ENCODE, moved, over, fault);
    }
}

/* Tries a step of each side in turn that nobody is at. Returns whether something has changed.
 * Called with the lock held, which is given up during steps. */
static bool take_steps(struct flow *f)
{
    bool any = false;
    for (unsigned i = 0; i < f->n_sides && !f->stop; i++) {
        struct side *side = &f->sides[i];
        if (side->busy || side->over || (i >= ENCODE && !f->are_open))
            continue;
        bool moved = false, over = false;
        side->busy = true;
        f->n_busy++;
        pthread_mutex_unlock(&f->lock);
        uint64_t before = clock_now();
        int result = take_step(f, i, &moved, &over, &side->fault);
        uint64_t after = clock_now();
        pthread_mutex_lock(&f->lock);
        side->busy = false;
        f->n_busy--;
        side->time += after - before;
        side->result = result;
        side->over = over;
        f->stop |= result != 0;
        if (moved || over || result != 0) {
            any = true;
            f->changes++;
            pthread_cond_broadcast(&f->changed);
        }
    }
    return any;
}

static bool is_over(const struct flow *f)
{
    bool over = true;
    for (unsigned i = 0; i < f->n_sides; i++)
        over &= f->sides[i].over;
    return over || f->stop;
}

/* Waits until another thread has taken a step, or for a second, after which the deadline is looked
 * at. Called with the lock held. */
static void wait_for_change(struct flow *f)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&f->changed, &f->lock, &until);
}

static void *help(void *flow)
{
    struct flow *f = flow;
    deadline_set(f->s->job->deadline);
    pthread_mutex_lock(&f->lock);
    while (!is_over(f)) {
        unsigned seen = f->changes;
        if (!take_steps(f) && f->changes == seen && !is_over(f))
            wait_for_change(f);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int open_files(struct flow *f, struct fault *fault)
{
    struct job_state *s = f->s;
    int result = 0;
    for (unsigned i = 0; i < f->n_sides - ENCODE && result == 0; i++) {
        job_note_result(s, i, s->prepared->plan->results[i].frame);
        result = job_open_file(s, i, 0, "", &f->files[i], fault);
        if (result != 0)
            job_name_result(s, i, fault);
    }
    return result;
}

/* What the job's own thread does. Files are opened when a result gets its first rows. */
static int run_sides(struct flow *f, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&f->lock);
    while (!is_over(f) && result == 0) {
        unsigned seen = f->changes;
        bool moved = take_steps(f), opens = !f->are_open && f->n_sides > ENCODE;
        if (opens && !f->stop && count_rows(f->s, false) > 0) {
            pthread_mutex_unlock(&f->lock);
            result = open_files(f, fault);
            pthread_mutex_lock(&f->lock);
            f->are_open = moved = true;
            f->changes++;
            pthread_cond_broadcast(&f->changed);
        }
        if (moved || f->changes != seen || is_over(f))
            continue;
        if (f->n_busy == 0)
            result = fault_set(fault, FAULT_INTERNAL, "a picture's rows do not go on");
        else
            wait_for_change(f);
    }
    f->stop = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return result;
}

/* Notes what each side took, and the fault of the first that failed. */
static int settle(struct flow *f, int result, struct fault *fault)
{
    struct engine_report *report = &f->s->job->report;
    report->decode += f->sides[DECODE].time - job_take_reading(f->s);
    report->device += f->sides[COMPUTE].time;
    for (unsigned i = 0; i < f->n_sides; i++) {
        const struct side *side = &f->sides[i];
        if (i >= ENCODE)
            report->encode += side->time;
        if (side->result == 0 || result != 0)
            continue;
        report->step = i == DECODE ? "decode" : i == COMPUTE ? "device" : "encode";
        result = fault_set(fault, side->fault.code, "%s", side->fault.text);
        if (i >= ENCODE)
            job_name_result(f->s, i - ENCODE, fault);
    }
    return result;
}

int job_run_rows(struct job_state *s, struct fault *fault)
{
    size_t n_results = s->prepared->plan->n_results;
    struct flow f = {.s = s,
                     .n_sides = ENCODE,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    pthread_t threads[SIDES_MAX];
    unsigned n_threads = 0;
    if (job_writes_files(s))
        f.n_sides += (unsigned)n_results;
    for (unsigned i = 0; i < f.n_sides; i++)
        fault_clear(&f.sides[i].fault);
    unsigned wanted = s->engine->processors < f.n_sides ? s->engine->processors : f.n_sides;
    if (!shares_memory(s) || !job_has_free_processor(s->engine))
        wanted = 1;
    while (n_threads + 1 < wanted && thread_start(&threads[n_threads], help, &f))
        n_threads++;
    int result = run_sides(&f, fault);
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    result = settle(&f, result, fault);
    s->mark = clock_now();
    if (result == 0 && s->prepared->recording)
        result = job_note_run(s, fault);
    s->is_written = f.n_sides > ENCODE;
    for (size_t i = 0; i < n_results && s->is_written; i++) {
        bool good = result == 0;
        if (f.files[i].output)
            result = job_close_file(s, &f.files[i], result, good ? fault : NULL);
        if (good && result != 0)
            job_name_result(s, i, fault);
    }
    return result;
}
