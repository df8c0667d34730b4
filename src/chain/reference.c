#include "chain/reference.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/number.h"

/* References are run so often with random errors, and a device's may be so many times as large: at
 * a sample where only one error in a few turns the result, all runs may miss it otherwise. (A plane
 * that is noise alone turns anywhere: of a thousand samples 16 runs missed one or two.) */
#define SPREAD_RUNS   32
#define SPREAD_FACTOR 4

/* Planes may be of several types behind stages that change some of them alone (stage/move/only.h),
 * which keep their number. */
static enum sample_type type_of(const struct frame *frame, size_t plane)
{
    return frame->planes[plane < frame->n_planes ? plane : 0].type;
}

static struct tolerance tolerance_of(const struct plan_step *step, size_t plane)
{
    return stage_tolerance(step->stage, step->config, type_of(step->in, plane),
                           type_of(&step->out, plane));
}

/* The largest of all planes. */
static struct tolerance tolerance_of_all(const struct plan_step *step)
{
    struct tolerance all = {0, 0};
    for (size_t i = 0; i < step->out.n_planes; i++) {
        struct tolerance t = tolerance_of(step, i);
        all.absolute = fmax(all.absolute, t.absolute);
        all.relative = fmax(all.relative, t.relative);
    }
    return all;
}

/* Moves floats by a random part of what they may be wrong by: each by its own; an eighth of them;
 * or all of a row, or of a column, by the same. Real errors of even regions are as few, or as
 * regular, and a stage that goes by the noise in a picture sees none there. */
static void disturb(struct picture *picture, const struct tolerance *by, uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    uint32_t seed = *random;
    enum {
        EACH,
        FEW,
        ROWS,
        COLUMNS
    } mode = seed >> 30;
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *p = &picture->frame.planes[i];
        size_t size = sample_size(p->type);
        for (uint32_t y = 0; y < p->height && !sample_is_integer(p->type); y++) {
            uint8_t *row = picture_row(picture, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++) {
                double v = sample_load(p->type, row + x * size);
                *random = *random * 1664525 + 1013904223;
                if (mode == FEW && (*random >> 8) % 8)
                    continue;
                uint32_t number = mode == ROWS      ? (seed ^ y) * 2654435761u
                                  : mode == COLUMNS ? (seed ^ x) * 2654435761u
                                                    : *random;
                double part = ((double)number / UINT32_MAX) * 2 - 1;
                sample_store(p->type, row + x * size,
                             v + part * (by->absolute + by->relative * fabs(v)));
            }
        }
    }
}

/* A step's sums are made of samples that are rounded to so many bits. */
static struct tolerance rounding_of(enum sample_type type)
{
    return (struct tolerance){0, type == SAMPLE_F64 ? 0x1p-50 : 0x1p-21};
}

/* The largest finite number. */
static double magnitude(const struct picture *picture)
{
    double most = 0;
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *p = &picture->frame.planes[i];
        size_t size = sample_size(p->type);
        for (uint32_t y = 0; y < p->height; y++) {
            const uint8_t *row = picture_row(picture, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++) {
                double v = fabs(sample_load(p->type, row + x * size));
                most = v > most && isfinite(v) ? v : most;
            }
        }
    }
    return most;
}

static int copy_picture(const struct picture *from, struct picture *to, struct fault *fault)
{
    if (!picture_create(to, &from->frame))
        return fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    memcpy(to->data, from->data, from->frame.size);
    return 0;
}

/* The frames of a plan while its steps are computed: the input, and what each step gives, as long
 * as somebody has yet to read it. */
struct frames {
    struct picture *pictures; /* by the number of the step; 0: the input */
    unsigned *readers;
};

static void finish_frames(struct frames *frames, size_t count, const struct picture *in)
{
    for (size_t i = 0; frames->pictures && i < count; i++)
        if (frames->pictures[i].data != in->data)
            picture_destroy(&frames->pictures[i]);
    free(frames->pictures);
    free(frames->readers);
}

/* `random` NULL: as the references are; else what enters a step and what it gives is disturbed. */
static int run_step(const struct plan *plan, size_t index, const struct picture *in,
                    uint32_t *random, struct frames *frames, struct fault *fault)
{
    const struct plan_step *step = &plan->steps[index];
    struct picture *from = &frames->pictures[step->before], *to = &frames->pictures[index + 1];
    struct tolerance given = tolerance_of_all(step), rounding = rounding_of(type_of(&step->out, 0));
    int result = deadline_check(fault);
    if (result == 0 && !picture_create(to, &step->out))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a picture of %s",
                           number_size(step->out.size));
    if (result == 0)
        result = stage_compute(step->stage, step->config, from, to, fault);
    if (result != 0)
        return result;
    /* Sums of large samples that cancel are as wrong as those. */
    if (random && !stage_is_per_pixel(step->stage, step->config))
        given.absolute += rounding.relative / 2 * fmax(magnitude(from), magnitude(to));
    if (--frames->readers[step->before] == 0 && from->data != in->data)
        picture_destroy(from);
    frames->readers[index + 1] = step->n_readers;
    if (random)
        disturb(to, &given, random);
    bool enters = false; /* another step */
    for (size_t i = index + 1; i < plan->n_steps; i++)
        enters |= plan->steps[i].before == index + 1;
    if (random && enters)
        disturb(to, &rounding, random);
    return 0;
}

/* The last result that a frame is gets the frame, those before it copies. */
static int take_result(const struct plan *plan, size_t index, const struct picture *in,
                       struct frames *frames, struct picture *out, struct fault *fault)
{
    size_t step = plan->results[index].step;
    struct picture *from = &frames->pictures[step];
    if (step > 0 && --frames->readers[step] == 0) {
        *out = *from;
        *from = (struct picture){0};
        return 0;
    }
    struct picture laid_out = {*plan->results[index].frame, from->data};
    return copy_picture(&laid_out, out, fault);
}

static int run(const struct plan *plan, const struct picture *in, uint32_t *random,
               struct picture *out, struct fault *fault)
{
    struct frames frames = {calloc(plan->n_steps + 1, sizeof *frames.pictures),
                            calloc(plan->n_steps + 1, sizeof *frames.readers)};
    size_t done = 0;
    int result = frames.pictures && frames.readers
                     ? 0
                     : fault_set(fault, FAULT_MEMORY, "no memory for pictures");
    if (result == 0) {
        frames.pictures[0] = *in;
        frames.readers[0] = UINT_MAX; /* it stays */
        if (random && !sample_is_integer(type_of(&in->frame, 0))) {
            struct picture laid_out = {plan->in, in->data};
            result = copy_picture(&laid_out, &frames.pictures[0], fault);
            struct tolerance rounding = rounding_of(type_of(&in->frame, 0));
            if (result == 0 && plan->n_steps > 0)
                disturb(&frames.pictures[0], &rounding, random);
        }
    }
    for (size_t i = 0; i < plan->n_steps && result == 0; i++)
        result = run_step(plan, i, in, random, &frames, fault);
    for (; done < plan->n_results && result == 0; done++)
        result = take_result(plan, done, in, &frames, &out[done], fault);
    finish_frames(&frames, plan->n_steps + 1, in);
    while (result != 0 && done > 0)
        picture_destroy(&out[--done]);
    return result;
}

int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    return run(plan, in, NULL, out, fault);
}

/* The sum of the tolerances of the steps up to this one, for one of its planes. An integer step
 * after a float step may turn a tiny error into a whole unit, so one unit is then allowed. */
static struct tolerance total_tolerance(const struct plan *plan, size_t number, size_t plane)
{
    if (number == 0)
        return (struct tolerance){0, 0};
    const struct plan_step *step = &plan->steps[number - 1];
    struct tolerance total = total_tolerance(plan, step->before, plane);
    struct tolerance t = tolerance_of(step, plane);
    if (sample_is_integer(type_of(&step->out, plane)) && (total.absolute > 0 || total.relative > 0))
        total.absolute = total.absolute < 1 ? 1 : total.absolute;
    total.absolute += t.absolute;
    total.relative += t.relative;
    return total;
}

/* `spread`: for each sample of the result how far it may be off beyond the sum of the tolerances;
 * NULL: not at all. Raises `largest`. */
static int compare(const struct plan *plan, size_t index, const struct picture *reference,
                   const struct picture *device, const double *spread, double *largest,
                   struct fault *fault)
{
    uint64_t differing = 0;
    size_t at = 0;
    char first[160] = "";
    for (size_t i = 0; i < reference->frame.n_planes; i++) {
        const struct plane *p = &reference->frame.planes[i];
        size_t size = sample_size(p->type);
        struct tolerance tolerance = total_tolerance(plan, plan->results[index].step, i);
        for (uint32_t y = 0; y < p->height; y++) {
            const uint8_t *a = picture_row(reference, i, y), *b = picture_row(device, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++, at++) {
                double va = sample_load(p->type, a + x * size);
                double vb = sample_load(p->type, b + x * size);
                double more = spread ? spread[at] : 0;
                if (va != vb && fabs(va - vb) > *largest)
                    *largest = fabs(va - vb);
                if (va == vb || (isnan(va) && isnan(vb)) || more == INFINITY ||
                    fabs(va - vb) <= tolerance.absolute + tolerance.relative * fabs(va) + more)
                    continue;
                if (differing++ == 0)
                    snprintf(first, sizeof first,
                             "plane '%s' pixel (%u, %u) channel %u: %.9g, not %.9g", p->name,
                             x / p->channels, y, x % p->channels, vb, va);
            }
        }
    }
    if (differing == 0)
        return 0;
    return fault_set(fault, FAULT_VERIFY,
                     "%llu samples of the device differ from the reference, first %s",
                     (unsigned long long)differing, first);
}

int reference_compare(const struct plan *plan, const struct picture *reference,
                      const struct picture *device, double *largest, struct fault *fault)
{
    int result = 0;
    *largest = 0;
    for (size_t i = 0; i < plan->n_results && result == 0; i++)
        result = compare(plan, i, &reference[i], &device[i], NULL, largest, fault);
    return result;
}

/* Whether a step on the way to the result works on what the step before may have got a little
 * wrong, or on floats, whose size no tolerance knows. */
static bool may_spread(const struct plan *plan, size_t index)
{
    size_t stages = 0, inexact = 0;
    for (size_t at = plan->results[index].step; at > 0; at = plan->steps[at - 1].before) {
        struct tolerance t = tolerance_of_all(&plan->steps[at - 1]);
        inexact += t.absolute > 0 || t.relative > 0;
        stages += !plan->steps[at - 1].stage->internal || plan->steps[at - 1].only;
    }
    return inexact > 0 && (stages > 1 || !sample_is_integer(type_of(&plan->in, 0)));
}

/* Raises the spread of each sample to a multiple of how far the disturbed result is off. */
static void widen(const struct picture *exact, const struct picture *disturbed, double *spread)
{
    size_t at = 0;
    for (size_t i = 0; i < exact->frame.n_planes; i++) {
        const struct plane *p = &exact->frame.planes[i];
        size_t size = sample_size(p->type);
        for (uint32_t y = 0; y < p->height; y++) {
            const uint8_t *a = picture_row(exact, i, y), *b = picture_row(disturbed, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++, at++) {
                double va = sample_load(p->type, a + x * size);
                double vb = sample_load(p->type, b + x * size);
                double off = va == vb || (isnan(va) && isnan(vb)) ? 0 : fabs(va - vb);
                off = isnan(off) ? INFINITY : off; /* one of them is beyond all numbers */
                spread[at] = fmax(spread[at], SPREAD_FACTOR * off);
            }
        }
    }
}

/* Compares a result with those of disturbed runs. */
static int verify(const struct plan *plan, size_t index, const struct picture *in,
                  const struct picture *reference, const struct picture *device, double *largest,
                  struct fault *fault)
{
    struct fault why = FAULT_INIT;
    double off = 0; /* the last comparison's */
    int result = compare(plan, index, reference, device, NULL, &off, &why);
    uint64_t count = 0;
    uint32_t random = 1;
    for (size_t i = 0; i < reference->frame.n_planes; i++) {
        const struct plane *p = &reference->frame.planes[i];
        count += (uint64_t)p->width * p->height * p->channels;
    }
    double *spread = NULL;
    struct picture *disturbed = NULL;
    if (result == FAULT_VERIFY && may_spread(plan, index)) {
        spread = calloc(count, sizeof *spread);
        disturbed = calloc(plan->n_results, sizeof *disturbed);
        if (!spread || !disturbed) {
            fault_clear(&why);
            result = fault_set(&why, FAULT_MEMORY, "no memory to compare results");
        }
    }
    for (int i = 0; i < SPREAD_RUNS && spread && result == FAULT_VERIFY; i++) {
        struct fault failed = FAULT_INIT;
        result = run(plan, in, &random, disturbed, &failed);
        if (result != 0) {
            why = failed;
            break;
        }
        widen(reference, &disturbed[index], spread);
        for (size_t r = 0; r < plan->n_results; r++)
            picture_destroy(&disturbed[r]);
        fault_clear(&why);
        result = compare(plan, index, reference, device, spread, &off, &why);
    }
    free(spread);
    free(disturbed);
    *largest = off > *largest ? off : *largest;
    return result ? fault_set(fault, why.code, "%s", why.text) : 0;
}

int reference_verify(const struct plan *plan, const struct picture *in,
                     const struct picture *reference, const struct picture *device, double *largest,
                     struct fault *fault)
{
    int result = 0;
    *largest = 0;
    for (size_t i = 0; i < plan->n_results && result == 0; i++)
        result = verify(plan, i, in, &reference[i], &device[i], largest, fault);
    return result;
}
