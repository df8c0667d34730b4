#include "chain/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/number.h"

/* References are run so often with random errors, and a device's may be so many times as large: at
 * a sample where only one error in a few turns the result, all runs may miss it otherwise. */
#define SPREAD_RUNS   16
#define SPREAD_FACTOR 4

static enum sample_type type_of(const struct frame *frame)
{
    return frame->planes[0].type;
}

static struct tolerance tolerance_of(const struct plan_step *step)
{
    return stage_tolerance(step->stage, step->config, type_of(step->in), type_of(&step->out));
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

/* `random` NULL: as the references are; else what enters a step and what it gives is disturbed. */
static int run(const struct plan *plan, const struct picture *in, uint32_t *random,
               struct picture *out, struct fault *fault)
{
    struct picture from = *in, to = {0};
    int result = 0;
    if (plan->n_steps == 0 || (random && !sample_is_integer(type_of(&in->frame)))) {
        struct picture laid_out = {plan->in, in->data};
        if ((result = copy_picture(&laid_out, &from, fault)) != 0)
            return result;
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        struct tolerance rounding = rounding_of(type_of(step->in)), given = tolerance_of(step);
        result = deadline_check(fault);
        if (result == 0 && !picture_create(&to, &step->out))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a picture of %s",
                               number_size(step->out.size));
        if (random && from.data != in->data)
            disturb(&from, &rounding, random);
        if (result == 0)
            result = step->stage->reference(step->config, &from, &to, fault);
        /* Sums of large samples that cancel are as wrong as those. */
        if (random && result == 0 && !stage_is_per_pixel(step->stage, step->config))
            given.absolute += rounding_of(type_of(&step->out)).relative / 2 *
                              fmax(magnitude(&from), magnitude(&to));
        if (from.data != in->data)
            picture_destroy(&from);
        if (result != 0) {
            picture_destroy(&to);
            return result;
        }
        if (random)
            disturb(&to, &given, random);
        from = to;
        to = (struct picture){0};
    }
    *out = from;
    return 0;
}

int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    return run(plan, in, NULL, out, fault);
}

/* The sum of the steps' tolerances. An integer step after a float step may turn a tiny error into a
 * whole unit, so one unit is then allowed. */
static struct tolerance total_tolerance(const struct plan *plan)
{
    struct tolerance total = {0, 0};
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        struct tolerance t = tolerance_of(step);
        if (sample_is_integer(type_of(&step->out)) && (total.absolute > 0 || total.relative > 0))
            total.absolute = total.absolute < 1 ? 1 : total.absolute;
        total.absolute += t.absolute;
        total.relative += t.relative;
    }
    return total;
}

/* For each sample of a result how far it may be off beyond the sum of the tolerances; NULL: not at
 * all. */
static int compare(const struct plan *plan, const struct picture *reference,
                   const struct picture *device, const double *spread, double *largest,
                   struct fault *fault)
{
    struct tolerance tolerance = total_tolerance(plan);
    uint64_t differing = 0;
    size_t at = 0;
    char first[160] = "";
    *largest = 0;
    for (size_t i = 0; i < reference->frame.n_planes; i++) {
        const struct plane *p = &reference->frame.planes[i];
        size_t size = sample_size(p->type);
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
    return compare(plan, reference, device, NULL, largest, fault);
}

/* Whether a step works on what the step before may have got a little wrong, or on floats, whose
 * size no tolerance knows. */
static bool may_spread(const struct plan *plan)
{
    size_t stages = 0, inexact = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        struct tolerance t = tolerance_of(&plan->steps[i]);
        inexact += t.absolute > 0 || t.relative > 0;
        stages += !plan->steps[i].stage->internal;
    }
    return inexact > 0 && (stages > 1 || !sample_is_integer(type_of(&plan->in)));
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

int reference_verify(const struct plan *plan, const struct picture *in,
                     const struct picture *reference, const struct picture *device, double *largest,
                     struct fault *fault)
{
    struct fault why = FAULT_INIT;
    int result = compare(plan, reference, device, NULL, largest, &why);
    uint64_t count = 0;
    uint32_t random = 1;
    for (size_t i = 0; i < reference->frame.n_planes; i++) {
        const struct plane *p = &reference->frame.planes[i];
        count += (uint64_t)p->width * p->height * p->channels;
    }
    double *spread = NULL;
    if (result == FAULT_VERIFY && may_spread(plan)) {
        spread = calloc(count, sizeof *spread);
        if (!spread)
            return fault_set(fault, FAULT_MEMORY, "no memory to compare results");
    }
    for (int i = 0; i < SPREAD_RUNS && spread && result == FAULT_VERIFY; i++) {
        struct picture disturbed = {0};
        struct fault failed = FAULT_INIT;
        int code = run(plan, in, &random, &disturbed, &failed);
        if (code != 0) {
            free(spread);
            return fault_set(fault, code, "%s", failed.text);
        }
        widen(reference, &disturbed, spread);
        picture_destroy(&disturbed);
        fault_clear(&why);
        result = compare(plan, reference, device, spread, largest, &why);
    }
    free(spread);
    return result ? fault_set(fault, why.code, "%s", why.text) : 0;
}
