/* A job whose picture is never there as a whole: rows go from the decoder through the kernels to
 * the encoder while they are in the cache. Each of these three takes a step whenever the one in
 * front of it has rows and the one behind it has room. One thread does all in turn; where
 * processors are free, two more decode ahead and encode behind. What goes wrong on any side ends
 * the others. */
#include "engine/engine_internal.h"

#include <time.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

struct flow;

/* The decoder, or the kernels, or the encoder. */
struct side {
    struct flow *flow;
    /* Takes one step if it can; says whether it did so, and whether that was the last one. */
    int (*step)(struct flow *flow, bool *moved, bool *over, struct fault *fault);
    bool has_thread;
    pthread_t thread;
    bool over;
    int result;
    struct fault fault;
    uint64_t time; /* in steps, in nanoseconds */
};

enum {
    DECODE,
    COMPUTE,
    ENCODE,
    SIDES
};

struct flow {
    struct job_state *s;
    struct job_file file;
    struct side sides[SIDES];
    pthread_mutex_t lock; /* protects the rest, and sides' over and result */
    pthread_cond_t changed;
    unsigned changes; /* steps that were taken */
    bool stop;
    uint32_t came, went; /* rows that the device had when it was last called, and that were taken */
};

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

static int compute_some(struct flow *f, bool *moved, bool *over, struct fault *fault)
{
    struct job_state *s = f->s;
    struct recording *recording = s->prepared->recording;
    int result = 0;
    if (!recording || s->run.ended) {
        *over = s->run.ended || atomic_load(&s->in->written) == window_height(s->in);
        return 0;
    }
    if (!shares_memory(s) && f->came == atomic_load(&s->in->written) &&
        f->went == atomic_load(&s->out->freed))
        return 0;
    f->came = atomic_load(&s->in->written);
    f->went = atomic_load(&s->out->freed);
    if (!s->run.batch)
        result = recording_submit(recording, 1, &s->run, fault);
    if (result == 0)
        result = recording_wait(recording, &s->run, fault);
    *moved = result == 0 && (s->run.ended || s->run.moved);
    return result;
}

static int encode_some(struct flow *f, bool *moved, bool *over, struct fault *fault)
{
    struct job_state *s = f->s;
    const struct frame *frame = s->prepared->plan->out;
    uint32_t row = f->file.encoder.row, height = frame->planes[0].height;
    /* the result may be a part of what is computed */
    uint32_t top = frame->n_planes == 1 ? plane_first_row(&frame->planes[0]) : 0;
    uint32_t end = atomic_load(&s->out->written), turn = window_turn(s->out, top + row);
    end = end < turn ? end : turn;
    end = end < top + height ? end : top + height;
    end = end > top ? end - top : 0;
    if (end > row && (end == height || !s->formats[0].codec->writes_whole)) {
        struct picture rows = {*frame, window_at(s->out, top + row)};
        int result = encoder_rows(&f->file.encoder, &rows, end, fault);
        if (result != 0)
            return result;
        atomic_store(&s->out->freed, end < height ? top + end : window_height(s->out));
        *moved = true;
    }
    *over = f->file.encoder.row == height;
    return 0;
}

/* Takes a step of one side. Returns whether something has changed. */
static bool take_step(struct side *side)
{
    struct flow *f = side->flow;
    bool moved = false, over = false;
    uint64_t before = clock_now();
    int result = deadline_check(&side->fault);
    if (result == 0)
        result = side->step(f, &moved, &over, &side->fault);
    pthread_mutex_lock(&f->lock);
    side->time += clock_now() - before;
    side->result = result;
    side->over = over;
    f->stop |= result != 0;
    moved |= result != 0 || over;
    if (moved) {
        f->changes++;
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return moved;
}

/* Waits until another side has moved since there were so many changes, or for a second, after which
 * the deadline is looked at. */
static void wait_for_change(struct flow *f, unsigned seen)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&f->lock);
    if (f->changes == seen && !f->stop)
        pthread_cond_timedwait(&f->changed, &f->lock, &until);
    pthread_mutex_unlock(&f->lock);
}

/* Whether a side has to go on; and how many changes there are. */
static bool goes_on(struct flow *f, bool over, unsigned *seen)
{
    pthread_mutex_lock(&f->lock);
    *seen = f->changes;
    bool more = !f->stop && !over;
    pthread_mutex_unlock(&f->lock);
    return more;
}

static void *run_side(void *side_)
{
    struct side *side = side_;
    unsigned seen;
    deadline_set(side->flow->s->job->deadline);
    while (goes_on(side->flow, side->over, &seen))
        if (!take_step(side))
            wait_for_change(side->flow, seen);
    return NULL;
}

static bool all_over(struct flow *f)
{
    bool over = true;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < SIDES; i++)
        over &= f->sides[i].over;
    pthread_mutex_unlock(&f->lock);
    return over;
}

/* Takes steps until all is done. The file is opened when it gets its first rows. */
static int run_sides(struct flow *f, bool threads, struct fault *fault)
{
    struct side *decode = &f->sides[DECODE], *encode = &f->sides[ENCODE];
    bool has_file = job_writes_one_file(f->s, 0) && !f->s->job->output.is_final;
    unsigned seen;
    encode->over = !has_file;
    decode->has_thread = threads && thread_start(&decode->thread, run_side, decode);
    while (goes_on(f, all_over(f), &seen)) {
        bool moved = !decode->has_thread && !decode->over && take_step(decode);
        if (!f->sides[COMPUTE].over)
            moved |= take_step(&f->sides[COMPUTE]);
        if (has_file && !f->file.output && atomic_load(&f->s->out->written) > 0) {
            job_note_result(f->s, 0, f->s->prepared->plan->out);
            int result = job_open_file(f->s, 0, 0, "", &f->file, fault);
            if (result != 0)
                return result;
            encode->has_thread = threads && thread_start(&encode->thread, run_side, encode);
        }
        if (f->file.output && !encode->has_thread)
            moved |= take_step(encode);
        if (moved)
            continue;
        if (!decode->has_thread && !encode->has_thread && !f->stop)
            return fault_set(fault, FAULT_INTERNAL, "a picture's rows do not go on");
        wait_for_change(f, seen);
    }
    return 0;
}

int job_run_rows(struct job_state *s, struct fault *fault)
{
    static const char *const steps[] = {"decode", "device", "encode"};
    struct engine_report *report = &s->job->report;
    struct flow f = {
        .s = s,
        .sides = {{.step = decode_some}, {.step = compute_some}, {.step = encode_some}},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < SIDES; i++) {
        f.sides[i].flow = &f;
        fault_clear(&f.sides[i].fault);
    }
    int result = run_sides(&f, shares_memory(s) && job_has_free_processor(s->engine), fault);
    pthread_mutex_lock(&f.lock);
    f.stop = true;
    pthread_cond_broadcast(&f.changed);
    pthread_mutex_unlock(&f.lock);
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &f.sides[i];
        if (side->has_thread)
            pthread_join(side->thread, NULL);
        if (side->result != 0 && result == 0) {
            report->step = steps[i];
            result = fault_set(fault, side->fault.code, "%s", side->fault.text);
        }
    }
    report->decode += f.sides[DECODE].time - job_take_reading(s);
    report->device += f.sides[COMPUTE].time;
    report->encode += f.sides[ENCODE].time;
    s->mark = clock_now();
    if (result == 0 && s->prepared->recording)
        result = job_note_run(s, fault);
    s->is_written = f.file.output != NULL;
    return s->is_written ? job_close_file(s, &f.file, result, fault) : result;
}
