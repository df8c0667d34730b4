#include "view/compute.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "chain/recording.h"
#include "chain/reference.h"
#include "image/video.h"

#define DECODED_MAX 4 /* pictures, of which some may be of the same file */
#define HELD_MAX    3 /* results */

/* A file's picture, as a chain gets it. */
struct decoded {
    size_t file;
    struct timespec changed; /* of the file, when it was read */
    off_t size;
    bool luma;       /* what the chain accepted … */
    uint32_t reduce; /* … */
    bool stored_luma;
    uint32_t reduced;
    struct plane whole; /* as the header says it */
    struct picture picture;
    uint64_t number; /* never the same for two pictures; 0: the place is free */
    uint64_t used;
};

/* A result, with all that its memory hangs on. */
struct held {
    struct text key;
    struct chain chain;
    struct plan *plan;
    struct recording *recording; /* NULL: the references ran, or nothing had to */
    struct recording_run run;
    struct picture own;  /* the references' result */
    const uint8_t *data; /* of plan->out */
    uint64_t run_time;
    uint64_t used; /* 0: the place is free */
};

struct compute {
    const struct viewer *view;
    struct engine_options options; /* must outlive the device */
    struct device *device;         /* NULL: the references */
    pthread_mutex_t lock;
    uint64_t clock; /* of uses */
    struct decoded decoded[DECODED_MAX];
    struct held held[HELD_MAX];
};

/* ---- the files ---- */

/* Whether the place holds that file, which has not changed since. */
static bool holds(const struct decoded *d, size_t file, const struct stat *status)
{
    return d->number && d->file == file && d->size == status->st_size &&
           d->changed.tv_sec == status->st_mtim.tv_sec &&
           d->changed.tv_nsec == status->st_mtim.tv_nsec;
}

static struct stage_source source_for(const struct compute_ask *ask, const struct chain *chain,
                                      const struct plane *whole)
{
    return ask->n_steps > 0 ? chain_source(chain, whole, VIDEO_BT601)
                            : (struct stage_source){.reduce = 1, .matrix = VIDEO_BT601};
}

static struct decoded *find_decoded(struct compute *c, const struct compute_ask *ask,
                                    const struct chain *chain, const struct stat *status)
{
    for (size_t i = 0; i < DECODED_MAX; i++) {
        struct decoded *d = &c->decoded[i];
        if (!holds(d, ask->file, status))
            continue;
        struct stage_source source = source_for(ask, chain, &d->whole);
        if (d->luma == source.luma && d->reduce == source.reduce)
            return d;
    }
    return NULL;
}

/* The place that was used longest ago, emptied. */
static struct decoded *free_decoded(struct compute *c)
{
    struct decoded *oldest = &c->decoded[0];
    for (size_t i = 1; i < DECODED_MAX; i++)
        if (c->decoded[i].used < oldest->used)
            oldest = &c->decoded[i];
    picture_destroy(&oldest->picture);
    *oldest = (struct decoded){0};
    return oldest;
}

static int open_input(const struct compute *c, size_t file, int *fd, struct stat *status,
                      struct fault *fault)
{
    const struct viewer *view = c->view;
    *fd = -1;
    if (file >= view->n_files)
        return fault_set(fault, FAULT_NO_INPUT, "there is no file of that number");
    int result = inputs_open(&view->inputs, view->files[file], fd, fault);
    if (result == INPUTS_OTHER)
        result = fault_set(fault, FAULT_FORMAT, "it is no picture");
    if (result == 0 && fstat(*fd, status) != 0)
        result = fault_set_errno(fault, FAULT_IO, NULL);
    return result;
}

/* Reads the file and its header. `partial`: also what ends too early, as far as it goes. */
static int open_decoder(const struct compute *c, int fd, bool partial, struct bytes *bytes,
                        struct decoder *decoder, struct fault *fault)
{
    struct codec_limits limits = {c->options.max_pixels, c->options.memory};
    struct decode_options options = c->view->decode;
    options.two_threads = true;
    options.partial |= partial;
    int result = file_read(fd, c->options.max_file, bytes, fault);
    return result ? result
                  : decoder_open(decoder, bytes->data, bytes->size, &options, &limits, fault);
}

static int read_picture(struct compute *c, const struct compute_ask *ask, const struct chain *chain,
                        int fd, struct decoded *d, struct fault *fault)
{
    struct bytes bytes = {0};
    struct decoder decoder = {0};
    int result = open_decoder(c, fd, false, &bytes, &decoder, fault);
    if (result == 0) {
        d->whole = decoder.frame.planes[0];
        struct stage_source source = source_for(ask, chain, &d->whole);
        d->luma = source.luma;
        d->reduce = source.reduce;
        result = decoder_narrow(&decoder, source.luma, source.reduce, fault);
    }
    if (result == 0 && !picture_create(&d->picture, &decoder.frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for the picture");
    if (result == 0)
        result = decoder_read(&decoder, &d->picture, fault);
    d->picture.frame.video = decoder.frame.video;
    d->stored_luma = decoder.stored_luma;
    d->reduced = decoder.reduced;
    decoder_close(&decoder);
    bytes_finish(&bytes);
    return result;
}

/* What the chain accepts of a picture depends on the picture's size, which the header tells. */
static int decode(struct compute *c, const struct compute_ask *ask, const struct chain *chain,
                  struct decoded **decoded, uint64_t *time, struct fault *fault)
{
    struct stat status;
    uint64_t begin = clock_now();
    int fd, result = open_input(c, ask->file, &fd, &status, fault);
    *decoded = result == 0 ? find_decoded(c, ask, chain, &status) : NULL;
    if (result == 0 && !*decoded) {
        struct decoded *d = free_decoded(c);
        result = read_picture(c, ask, chain, fd, d, fault);
        if (result == 0) {
            d->file = ask->file;
            d->changed = status.st_mtim;
            d->size = status.st_size;
            d->number = ++c->clock;
            *decoded = d;
        } else {
            picture_destroy(&d->picture);
            *d = (struct decoded){0};
        }
        *time = clock_now() - begin;
    }
    if (result == 0)
        (*decoded)->used = ++c->clock;
    file_close(&fd);
    return result;
}

int compute_shape(struct compute *c, size_t file, struct plane *plane, struct fault *fault)
{
    struct bytes bytes = {0};
    struct decoder decoder = {0};
    struct stat status;
    int fd, result = open_input(c, file, &fd, &status, fault);
    if (result == 0)
        result = open_decoder(c, fd, false, &bytes, &decoder, fault);
    if (result == 0)
        *plane = decoder.frame.video.format ? video_picture(&decoder.frame.video)
                                            : decoder.frame.planes[0];
    decoder_close(&decoder);
    bytes_finish(&bytes);
    file_close(&fd);
    return result;
}

/* ---- runs ---- */

static void drop_held(struct compute *c, struct held *held)
{
    if (held->recording)
        recording_run_finish(held->recording, &held->run);
    recording_destroy(&held->recording);
    plan_destroy(&held->plan);
    chain_finish(&held->chain);
    picture_destroy(&held->own);
    text_finish(&held->key);
    *held = (struct held){0};
}

static struct held *free_held(struct compute *c)
{
    struct held *oldest = &c->held[0];
    for (size_t i = 1; i < HELD_MAX; i++)
        if (c->held[i].used < oldest->used)
            oldest = &c->held[i];
    drop_held(c, oldest);
    return oldest;
}

static int run_recording(struct compute *c, struct held *held, const struct picture *in,
                         struct fault *fault)
{
    struct device_buffer *buffer = NULL;
    void *data;
    int result = recording_create(&held->recording, held->plan, c->device, fault);
    if (result == 0 && device_profile(c->device)->host_memory) {
        result = device_buffer_wrap(c->device, in->data, in->frame.size, false, &buffer, fault);
    } else if (result == 0) {
        result = device_buffer_acquire(c->device, held->plan->slot_size[held->plan->in_slot],
                                       &buffer, fault);
        if (result == 0)
            result = device_buffer_map(c->device, buffer, in->frame.size, &data, fault);
        if (result == 0)
            memcpy(data, in->data, in->frame.size);
        else
            device_buffer_release(c->device, &buffer);
    }
    if (result == 0)
        result = recording_run(held->recording, &buffer, 1, &held->run, fault);
    if (result == 0) {
        held->data = held->run.data;
        recording_store(held->recording, NULL);
    }
    return result;
}

/* Plans the chain for the picture and computes it. `mosaic`: planes of a transform become one. */
static int compute_held(struct compute *c, struct held *held, const struct picture *in, bool mosaic,
                        struct fault *fault)
{
    const struct plan_target target = {.mosaic_gain = mosaic ? 1 : 0};
    struct plan_options options = {.profile = c->device ? device_profile(c->device) : NULL,
                                   .keep_input = true,
                                   .no_fuse = c->options.no_fuse,
                                   .targets = &target};
    uint64_t begin = clock_now();
    int result = plan_create(&held->plan, &held->chain, &in->frame, &options, fault);
    if (result != 0 && c->device)
        device_tell_fp64(device_profile(c->device), fault);
    if (result == 0 && plan_peak(held->plan) > c->options.memory)
        result = fault_set(fault, FAULT_LIMIT,
                           "%s of memory are needed, and %s are the limit (--memory)",
                           number_size(plan_peak(held->plan)), number_size(c->options.memory));
    if (result == 0 && c->device && plan_total_launches(held->plan) > 0)
        result = run_recording(c, held, in, fault);
    else if (result == 0 && !c->device && held->plan->n_steps > 0) {
        result = reference_run(held->plan, in, &held->own, fault);
        held->data = held->own.data;
    } else if (result == 0) {
        held->data = in->data; /* the result lies in the picture, which the caller keeps */
    }
    held->run_time = clock_now() - begin;
    return result;
}

/* The frame that the result's samples lie in. */
static const struct frame *frame_of(const struct held *held)
{
    return held->own.data ? &held->own.frame : held->plan->out;
}

/* ---- what is sent ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The mean of every × every pixels of one channel, fewer at the right and lower edges. */
static double mean(const struct plane *plane, const uint8_t *from, uint32_t columns, uint32_t rows)
{
    size_t size = sample_size(plane->type), step = size * plane->channels;
    double sum = 0;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++)
            sum += sample_load(plane->type, from + y * plane->stride + x * step);
    return sum / ((double)columns * rows);
}

/* The same for bytes, of which most pictures are. */
static uint8_t mean_of_bytes(const struct plane *plane, const uint8_t *from, uint32_t columns,
                             uint32_t rows)
{
    uint32_t sum = 0, count = columns * rows;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++)
            sum += from[y * plane->stride + x * plane->channels];
    return (uint8_t)((sum + count / 2) / count);
}

static void send_means(const struct plane *plane, const uint8_t *data, struct compute_result *r)
{
    size_t size = sample_size(plane->type), pixel = size * plane->channels;
    uint8_t *to = r->samples;
    for (uint32_t y = 0; y < r->rows; y++)
        for (uint32_t x = 0; x < r->columns; x++) {
            uint32_t columns = least(r->every, r->width - x * r->every);
            uint32_t rows = least(r->every, r->height - y * r->every);
            const uint8_t *from = data + plane->offset +
                                  (size_t)(r->y + y * r->every) * plane->stride +
                                  (r->x + x * r->every) * pixel;
            for (uint32_t k = 0; k < plane->channels; k++, from += size, to += size) {
                if (plane->type == SAMPLE_U8) {
                    *to = mean_of_bytes(plane, from, columns, rows);
                    continue;
                }
                double value = mean(plane, from, columns, rows);
                if (sample_is_integer(plane->type))
                    value = (double)sample_saturate(plane->type, value);
                sample_store(plane->type, to, value);
            }
        }
}

/* Takes the part that was asked for out of the plane's samples; r->plane and the part are set. */
static int send_part(const struct plane *plane, const uint8_t *data, struct compute_result *r,
                     struct fault *fault)
{
    size_t pixel = sample_size(plane->type) * plane->channels;
    r->columns = (r->width + r->every - 1) / r->every;
    r->rows = (r->height + r->every - 1) / r->every;
    r->size = pixel * r->columns * r->rows;
    r->samples = malloc(r->size);
    if (!r->samples)
        return fault_set(fault, FAULT_MEMORY, "no memory for what is shown");
    if (r->every > 1) {
        send_means(plane, data, r);
        return 0;
    }
    for (uint32_t y = 0; y < r->height; y++)
        memcpy(r->samples + y * r->width * pixel,
               data + plane->offset + (size_t)(r->y + y) * plane->stride + r->x * pixel,
               r->width * pixel);
    return 0;
}

static int copy_planes(const struct frame *frame, struct compute_result *r, struct fault *fault)
{
    r->planes = malloc(frame->n_planes * sizeof *r->planes + 1);
    if (!r->planes)
        return fault_set(fault, FAULT_MEMORY, "no memory for a list of planes");
    memcpy(r->planes, frame->planes, frame->n_planes * sizeof *r->planes);
    r->n_planes = frame->n_planes;
    return 0;
}

/* Consecutive launches of one stage are its passes. */
static int tell_times(const struct held *held, struct compute_result *r, struct fault *fault)
{
    const struct recording_run *run = &held->run;
    r->times = calloc(run->n_launches + 1, sizeof *r->times);
    if (!r->times)
        return fault_set(fault, FAULT_MEMORY, "no memory for times");
    for (size_t i = 0; i < run->n_launches; i++) {
        const char *label = held->plan->steps[run->launches[i].step].label;
        if (r->n_times == 0 || strcmp(r->times[r->n_times - 1].stage, label) != 0)
            snprintf(r->times[r->n_times++].stage, sizeof r->times->stage, "%s", label);
        r->times[r->n_times - 1].run += run->launches[i].run;
        r->times[r->n_times - 1].n_launches++;
    }
    for (size_t i = 0; i < held->plan->n_steps; i++)
        if (held->plan->steps[i].work.warning)
            r->warning = held->plan->steps[i].work.warning;
    r->total = held->run_time;
    r->n_launches = (unsigned)run->n_launches;
    r->bytes_copied = run->traffic.bytes_copied;
    r->bytes_moved = plan_bytes_moved(held->plan);
    r->peak = plan_peak(held->plan);
    return 0;
}

/* ---- a part alone ---- */

/* How far around a pixel of the result the pixels lie from which the first n stages compute it, if
 * all of them keep the picture's size and its places; −1: they do not, or a stage needs the whole.
 */
static int64_t margin_of(const struct chain *chain, size_t n)
{
    int64_t margin = 0;
    for (size_t i = 0; i < n; i++) {
        const struct chain_step *step = &chain->steps[i];
        int64_t own = stage_find_margin(step->stage, step->config);
        if (own < 0)
            return -1;
        margin += own;
    }
    return margin;
}

/* Where the picture is a single plane: the part that the result's part needs, as a picture in the
 * same memory, and where that begins. False: it is nearly the whole. */
static bool cut(const struct picture *whole, const struct compute_ask *ask, int64_t margin,
                struct picture *part, uint32_t *x0, uint32_t *y0)
{
    const struct plane *plane = &whole->frame.planes[0];
    if (margin < 0 || whole->frame.n_planes != 1 || whole->frame.video.format != VIDEO_NONE ||
        ask->width == 0 || ask->height == 0 || ask->x >= plane->width || ask->y >= plane->height)
        return false;
    int64_t left = ask->x - margin, top = ask->y - margin;
    int64_t right = (int64_t)ask->x + ask->width + margin,
            low = (int64_t)ask->y + ask->height + margin;
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right > plane->width ? plane->width : right;
    low = low > plane->height ? plane->height : low;
    if ((double)(right - left) * (double)(low - top) > 0.7 * plane->width * plane->height)
        return false;
    struct plane cut = *plane;
    cut.width = (uint32_t)(right - left);
    cut.height = (uint32_t)(low - top);
    *part = (struct picture){.data = whole->data};
    if (!frame_add_plane(&part->frame, &cut, FRAME_ALIGNMENT))
        return false;
    part->frame.planes[0].offset = plane->offset + (size_t)top * plane->stride +
                                   (size_t)left * plane->channels * sample_size(plane->type);
    part->frame.planes[0].stride = plane->stride;
    part->frame.size = whole->frame.size;
    *x0 = (uint32_t)left;
    *y0 = (uint32_t)top;
    return true;
}

/* ---- all together ---- */

/* Which plane of the frame is shown: by its name, else the first. */
static int choose_plane(const struct frame *frame, const char *name, size_t *index,
                        struct fault *fault)
{
    int found = name ? frame_find_plane(frame, name) : 0;
    if (found < 0)
        return fault_set(fault, FAULT_USAGE, "there is no plane '%.40s' here", name);
    *index = (size_t)found;
    return 0;
}

/* Sets the part, in pixels of r->plane. */
static void settle_part(const struct compute_ask *ask, struct compute_result *r)
{
    r->every = ask->every > 0 ? ask->every : 1;
    r->x = least(ask->x, r->plane.width - 1);
    r->y = least(ask->y, r->plane.height - 1);
    r->width = ask->width > 0 ? least(ask->width, r->plane.width - r->x) : r->plane.width - r->x;
    r->height = ask->width > 0 ? least(ask->height > 0 ? ask->height : 1, r->plane.height - r->y)
                               : r->plane.height - r->y;
}

/* Computes the part alone and sends it. *done stays false where that is not possible. */
static int run_part(struct compute *c, const struct compute_ask *ask, const struct chain *chain,
                    struct decoded *decoded, struct compute_result *r, bool *done,
                    struct fault *fault)
{
    struct held held = {0};
    struct picture part = {0};
    uint32_t x0, y0;
    if (!ask->moving || ask->plane || !c->device || !device_profile(c->device)->host_memory ||
        !cut(&decoded->picture, ask, margin_of(chain, ask->n_steps), &part, &x0, &y0))
        return 0;
    held.chain = *chain;
    held.chain.n_steps = ask->n_steps;
    int result = compute_held(c, &held, &part, false, fault);
    if (result == 0 && frame_of(&held)->n_planes == 1) { /* of several the whole has the names */
        const struct plane *whole = &decoded->picture.frame.planes[0];
        r->plane = frame_of(&held)->planes[0];
        r->plane.width = whole->width;
        r->plane.height = whole->height;
        settle_part(ask, r);
        r->x -= x0;
        r->y -= y0;
        result = send_part(&frame_of(&held)->planes[0], held.data, r, fault);
        r->x += x0;
        r->y += y0;
        if (result == 0)
            result = copy_planes(frame_of(&held), r, fault);
        if (result == 0)
            result = tell_times(&held, r, fault);
        if (result == 0)
            r->planes[0] = r->plane;
        r->of_part = *done = result == 0;
    }
    held.chain = (struct chain){0}; /* it is the caller's */
    drop_held(c, &held);
    frame_finish(&part.frame);
    return result;
}

int compute_thumb(struct compute *c, const char *path, uint32_t side, struct compute_result *r,
                  struct fault *fault)
{
    struct bytes bytes = {0};
    struct decoder decoder = {0};
    struct picture picture = {0};
    int fd = -1;
    *r = (struct compute_result){0};
    int result = file_open_input(path, O_NOFOLLOW | O_NONBLOCK, &fd, fault);
    if (result == 0)
        result = open_decoder(c, fd, true, &bytes, &decoder, fault);
    if (result == 0 && decoder.frame.video.format != VIDEO_NONE)
        result = fault_set(fault, FAULT_FORMAT, "a raw frame");
    if (result == 0) {
        const struct plane *whole = &decoder.frame.planes[0];
        uint32_t longer = whole->width > whole->height ? whole->width : whole->height, reduce = 1;
        while (reduce < 8 && longer / (2 * reduce) >= side)
            reduce *= 2;
        result = decoder_narrow(&decoder, false, reduce, fault);
    }
    if (result == 0 && !picture_create(&picture, &decoder.frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for the picture");
    if (result == 0)
        result = decoder_read(&decoder, &picture, fault);
    if (result == 0) {
        r->plane = picture.frame.planes[0];
        uint32_t longer = r->plane.width > r->plane.height ? r->plane.width : r->plane.height;
        r->width = r->plane.width;
        r->height = r->plane.height;
        r->every = (longer + side - 1) / side;
        result = send_part(&picture.frame.planes[0], picture.data, r, fault);
    }
    picture_destroy(&picture);
    decoder_close(&decoder);
    bytes_finish(&bytes);
    file_close(&fd);
    if (result != 0)
        compute_finish(r);
    return result;
}

static struct held *find_held(struct compute *c, const char *key)
{
    for (size_t i = 0; i < HELD_MAX; i++)
        if (c->held[i].used && strcmp(text_string(&c->held[i].key), key) == 0)
            return &c->held[i];
    return NULL;
}

/* The whole result, computed or found; takes the chain. */
static int run_whole(struct compute *c, const struct compute_ask *ask, struct chain *chain,
                     struct decoded *decoded, bool mosaic, struct held **held,
                     struct compute_result *r, struct fault *fault)
{
    struct text key = {0};
    struct chain prefix = *chain;
    int result = 0;
    prefix.n_steps = ask->n_steps;
    text_printf(&key, "%llu %d ", (unsigned long long)decoded->number, mosaic);
    chain_print(&prefix, &key);
    if (key.failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a result");
    *held = result == 0 ? find_held(c, text_string(&key)) : NULL;
    r->again = *held != NULL;
    if (result == 0 && !*held) {
        struct held *made = free_held(c);
        size_t n_steps = chain->n_steps;
        made->chain = *chain;
        made->chain.n_steps = ask->n_steps;
        made->key = key;
        key = (struct text){0};
        result = compute_held(c, made, &decoded->picture, mosaic, fault);
        if (result == 0) {
            /* steps beyond the last are of no use any more */
            for (size_t i = ask->n_steps; i < n_steps; i++) {
                free(chain->steps[i].config);
                chain->steps[i].config = NULL;
            }
            *chain = (struct chain){0};
            *held = made;
        } else {
            made->chain = (struct chain){0};
            drop_held(c, made);
        }
    }
    text_finish(&key);
    if (result == 0)
        (*held)->used = ++c->clock;
    return result;
}

/* The names of all planes, of which a mosaic may be made. */
static int list_planes(const struct compute_ask *ask, const struct chain *chain,
                       const struct picture *picture, struct compute_result *r, struct fault *fault)
{
    static const struct plan_options shapes = {0};
    struct chain prefix = *chain;
    struct plan *plan = NULL;
    prefix.n_steps = ask->n_steps;
    int result = plan_create(&plan, &prefix, &picture->frame, &shapes, fault);
    if (result == 0)
        result = copy_planes(plan->out, r, fault);
    plan_destroy(&plan);
    return result;
}

static int run(struct compute *c, const struct compute_ask *given, struct chain *chain,
               struct compute_result *r, struct fault *fault)
{
    struct compute_ask ask = *given;
    struct decoded *decoded = NULL;
    struct held *held = NULL;
    size_t index = 0;
    bool done = false;
    if (ask.n_steps > chain->n_steps)
        ask.n_steps = chain->n_steps;
    int result = decode(c, &ask, chain, &decoded, &r->decode, fault);
    if (result != 0)
        return result;
    r->stored_luma = decoded->stored_luma;
    r->reduced = decoded->reduced;
    result = run_part(c, &ask, chain, decoded, r, &done, fault);
    if (result != 0 || done)
        return result;
    result = list_planes(&ask, chain, &decoded->picture, r, fault);
    if (result == 0)
        result = run_whole(c, &ask, chain, decoded, !ask.plane && r->n_planes > 1, &held, r, fault);
    if (result == 0)
        result = choose_plane(frame_of(held), ask.plane, &index, fault);
    if (result != 0)
        return result;
    const struct frame *frame = frame_of(held);
    r->is_mosaic = !ask.plane && r->n_planes > 1 && frame->n_planes == 1;
    r->plane = frame->planes[index];
    settle_part(&ask, r);
    result = send_part(&frame->planes[index], held->data, r, fault);
    return result ? result : tell_times(held, r, fault);
}

int compute_run(struct compute *c, const struct compute_ask *ask, struct compute_result *r,
                struct faults *faults, struct fault *fault)
{
    struct chain chain = {0};
    *r = (struct compute_result){0};
    int result = chain_parse_all(&chain, ask->chain, &c->view->config.definitions, faults);
    if (result != 0)
        return faults_first(faults, fault);
    pthread_mutex_lock(&c->lock);
    result = run(c, ask, &chain, r, fault);
    pthread_mutex_unlock(&c->lock);
    chain_finish(&chain);
    if (result != 0)
        compute_finish(r);
    return result;
}

void compute_finish(struct compute_result *r)
{
    free(r->planes);
    free(r->samples);
    free(r->times);
    *r = (struct compute_result){0};
}

const struct device_info *compute_device(const struct compute *c)
{
    return c->device ? device_info(c->device) : NULL;
}

int compute_open(struct compute **compute, const struct viewer *view, struct fault *fault)
{
    const struct device_info *order[DEVICES_MAX];
    struct compute *c = calloc(1, sizeof *c);
    size_t fitting;
    int result = 0;
    *compute = c;
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for pictures");
    c->view = view;
    pthread_mutex_init(&c->lock, NULL);
    cli_engine_options(&view->options->common, &c->options);
    if (!c->options.reference)
        result = device_select(&c->options.device, order, &fitting, fault);
    if (result == 0 && !c->options.reference)
        result = device_open(&c->device, order[0], &c->options.device, fault);
    if (result != 0)
        compute_close(compute);
    return result;
}

void compute_close(struct compute **compute)
{
    struct compute *c = *compute;
    *compute = NULL;
    if (!c)
        return;
    for (size_t i = 0; i < HELD_MAX; i++)
        drop_held(c, &c->held[i]);
    for (size_t i = 0; i < DECODED_MAX; i++)
        picture_destroy(&c->decoded[i].picture);
    device_close(&c->device);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
