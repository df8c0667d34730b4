/* The rows of a JPEG, behind its header.
 *
 * The codes of a picture can only be read from the first to the last, but most of the rest, from
 * coefficients to pixels, can be left out. So where a second processor is free, another thread
 * skips rows with a reader of its own, until what is left is a fair share of the picture, and
 * decodes that lower part, while this one decodes from the top. If the other one comes too late,
 * this one goes on to the end, and nothing is lost. Otherwise the other one has read all codes, and
 * its warnings and faults are those of the whole. */
#include "codec/jpeg.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

/* A picture of fewer pixels takes little longer than a thread's start. */
#define TWO_THREADS_PIXELS (1u << 20)

/* A step of skipping. libjpeg decodes some rows of it, and calls nobody meanwhile. */
#define SKIP_ROWS 256

/* The time of a photograph's codes as a part of all of it, where it is reduced by 2 or only luma is
 * wanted; 0.45 in colours of full size. */
#define CODES 0.6

/* How two threads share the rows. The upper one takes them in blocks up to `end`, which is the
 * picture's height until the lower one decides where it begins. */
struct jpeg_shares {
    pthread_mutex_t lock;
    uint32_t taken, end;
};

/* R = (255 − C)·(255 − K) / 255, and G and B likewise. Adobe's programs store inverted values, 255
 * for no ink, and only their marker tells (libjpeg.txt, "Special color spaces"). */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width, bool inverted)
{
    uint8_t invert = inverted ? 0 : 255;
    for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        uint32_t white = cmyk[3] ^ invert;
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(((cmyk[c] ^ invert) * white + 127) / 255);
    }
}

/* The row at which the lower part should begin, so that both end at the same time: the lower thread
 * has skipped `at` of the rows, while the upper one, which may be on a slower processor, went from
 * row `before` to `taken`. With r = (taken - before) / at, the upper one needs (end - taken) / r
 * for what is left, and the other one end - at + (height - end) / CODES. */
static uint32_t choose_end(uint32_t at, uint32_t before, uint32_t taken, uint32_t height)
{
    double rows =
        taken - before > ORIENT_ROWS ? taken - before - 0.5 * ORIENT_ROWS : 0.5 * ORIENT_ROWS;
    double slow = at / rows; /* 1 / r */
    double end = (height / CODES - at + taken * slow) / (slow - 1 + 1 / CODES);
    return (uint32_t)(end < height ? end : height) / ORIENT_ROWS * ORIENT_ROWS;
}

static uint32_t taken_rows(struct jpeg_shares *shares)
{
    pthread_mutex_lock(&shares->lock);
    uint32_t taken = shares->taken;
    pthread_mutex_unlock(&shares->lock);
    return taken;
}

/* Skips the upper part, whose end it decides. False if nothing is left for this thread, or others
 * need its processor. The last block is this thread's, since libjpeg does not read the codes of
 * rows that are skipped at a picture's end. */
static bool skip_upper(struct jpeg_reader *r)
{
    struct jpeg_decompress_struct *info = &r->info;
    struct jpeg_shares *shares = r->shares;
    uint32_t last = (r->place.height - 1) / ORIENT_ROWS * ORIENT_ROWS, before = taken_rows(shares);
    uint32_t end = SKIP_ROWS < last ? SKIP_ROWS : last;
    uint64_t now = clock_now(), used = clock_thread();
    bool decided = false;
    while (info->output_scanline < end) {
        uint32_t left = end - info->output_scanline, at;
        jpeg_skip_scanlines(info, left < SKIP_ROWS ? left : SKIP_ROWS);
        r->progress.progress_monitor((j_common_ptr)info);
        if (decided)
            continue;
        at = info->output_scanline;
        pthread_mutex_lock(&shares->lock);
        end = choose_end(at, before, shares->taken, r->place.height);
        end = end < last ? end : last;
        decided = end <= at;
        end = decided && at < shares->taken ? shares->taken : decided ? at : end;
        /* If other threads have taken more than a quarter of this one's time, no processor is free,
         * and what both threads read costs more than is won. */
        bool is_crowded = 4 * (clock_thread() - used) < 3 * (clock_now() - now);
        bool leaves = shares->taken > last || is_crowded;
        if (decided && !leaves)
            shares->end = end;
        pthread_mutex_unlock(&shares->lock);
        if (leaves)
            return false;
    }
    return decided;
}

static bool take_rows(struct jpeg_reader *r)
{
    struct jpeg_shares *shares = r->shares;
    if (!shares || r->is_lower)
        return false;
    pthread_mutex_lock(&shares->lock);
    if (shares->taken < shares->end)
        shares->taken += ORIENT_ROWS;
    r->end = shares->taken < r->place.height ? shares->taken : r->place.height;
    pthread_mutex_unlock(&shares->lock);
    return r->info.output_scanline < r->end;
}

static void read_rows(void *context)
{
    struct jpeg_reader *r = context;
    struct jpeg_decompress_struct *info = &r->info;
    if (!r->started) {
        r->started = true;
        jpeg_start_decompress(info);
        if (r->is_lower && !skip_upper(r))
            return;
    }
    while (info->output_scanline < r->end || take_rows(r)) {
        uint32_t y = info->output_scanline;
        uint8_t *target = orient_row(&r->place, y);
        JSAMPROW row = r->cmyk_row ? r->cmyk_row : target;
        jpeg_read_scanlines(info, &row, 1);
        if (r->cmyk_row)
            cmyk_to_rgb(r->cmyk_row, target, info->output_width, info->saw_Adobe_marker);
        orient_done(&r->place, y);
    }
    if (info->output_scanline == info->output_height)
        jpeg_finish_decompress(info); /* reads up to EOI; without one the file is truncated */
}

static int begin_part(struct decoder *d, const struct picture *into, struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    uint64_t memory = d->limits.memory;
    r->decoder = d;
    r->partial = d->options.partial;
    /* Overrides the environment variable JPEGMEM. */
    r->info.mem->max_memory_to_use = memory < LONG_MAX ? (long)memory : LONG_MAX;
    if (jpeg_is_cmyk(r)) {
        r->cmyk_row = malloc(4 * (size_t)r->info.image_width);
        if (!r->cmyk_row)
            return fault_set(fault, FAULT_MEMORY, "no memory for a row");
    }
    return orient_begin(&r->place, r->orientation, into, false, fault);
}

/* Reads the stored rows up to `end`; with shares, those of this reader's part. */
static int read_part(struct decoder *d, const struct picture *into, uint32_t end,
                     struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    int result = r->started ? 0 : begin_part(d, into, fault);
    r->place.into = into;
    r->end = r->shares && !r->is_lower ? 0 : end;
    return result ? result : jpeg_attempt(&r->errors, read_rows, r, fault);
}

/* ---- two threads ---- */

bool jpeg_takes_two(const struct decoder *d)
{
    struct jpeg_decompress_struct *info = &((struct jpeg_reader *)d->state)->info;
    bool is_large = (uint64_t)info->image_width * info->image_height >= TWO_THREADS_PIXELS;
    return d->options.two_threads && is_large && !jpeg_has_multiple_scans(info) &&
           !info->arith_code;
}

/* The lower part, and what its thread takes over. */
struct lower {
    pthread_t thread;
    const struct decoder *whole;
    struct decoder_input input;
    struct picture *into;
    struct jpeg_shares *shares;
    uint32_t height; /* of the stored picture */
    uint64_t deadline;
    struct decoder decoder;
    struct fault fault;
};

static void *read_lower(void *lower_)
{
    struct lower *lower = lower_;
    const struct decoder *whole = lower->whole;
    struct decode_options options = whole->options;
    struct decoder *d = &lower->decoder;
    options.meta = METADATA_STRIP;
    options.two_threads = false;
    deadline_set(lower->deadline);
    if (decoder_open_input(d, &lower->input, &options, &whole->limits, &lower->fault) != 0 ||
        decoder_narrow(d, whole->stored_luma, whole->reduced, &lower->fault) != 0)
        return NULL;
    struct jpeg_reader *r = d->state;
    r->shares = lower->shares;
    r->is_lower = true;
    read_part(d, lower->into, lower->height, &lower->fault);
    return NULL;
}

/* Waits for the lower part, if it has begun; otherwise its thread finds that no rows are left. */
static int end_lower(struct lower *lower, struct decoder *d, int result, struct fault *fault)
{
    struct jpeg_shares *shares = lower->shares;
    pthread_mutex_lock(&shares->lock);
    bool has_begun = shares->end < lower->height;
    if (!has_begun)
        shares->taken = UINT32_MAX;
    pthread_mutex_unlock(&shares->lock);
    pthread_join(lower->thread, NULL);
    if (has_begun && result == 0) {
        text_finish(&d->warnings);
        d->warnings = lower->decoder.warnings;
        d->n_warnings = lower->decoder.n_warnings;
        lower->decoder.warnings = (struct text){0};
        if (lower->fault.code)
            result = fault_set(fault, lower->fault.code, "%s", lower->fault.text);
    }
    decoder_close(&lower->decoder);
    return result;
}

int jpeg_read(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    const struct plane *plane = &d->frame.planes[0];
    bool at_once = d->row == 0 && end == plane->height;
    uint32_t height = orient_is_transposed(r->orientation) ? plane->width : plane->height;
    struct jpeg_shares shares = {PTHREAD_MUTEX_INITIALIZER, 0, height};
    struct lower lower = {
        .whole = d, .input = input_again(&d->input), .into = into, .shares = &shares, .height = height, .deadline = deadline_get()};
    if (!at_once || !r->two_threads || !thread_start(&lower.thread, read_lower, &lower))
        return read_part(d, into, at_once ? height : end, fault);
    r->shares = &shares;
    int result = read_part(d, into, height, fault);
    return end_lower(&lower, d, result, fault);
}
