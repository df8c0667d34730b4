/* fir of 8-bit samples with two samples in a word, or in columns: see fir_packed.cl,
 * fir_columns.cl. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "stage/box/box_divide.h"
#include "stage/fir/fir.h"
#include "stage/packed.h"

enum {
    LITERALS_MAX = 25 /* of f32, for whose digits a pass has room */
};

const struct packed_stage fir_packed_stage = {"fir", "fir_packed", "fir_columns"};

static void define_taps(struct pass *pass, const struct device_profile *profile,
                        const struct fir_window *w, unsigned channels)
{
    struct fir_factors f;
    struct text taps = {0}, downs = {0};
    bool separable = fir_factorise(w, &f);
    int left = (int)w->columns / 2;
    for (unsigned j = 0; j < w->rows && !separable; j++)
        for (unsigned i = 0; i < w->columns; i++)
            packed_add_tap(&taps, profile, channels, j, (int)i - left,
                           (int64_t)w->k[j * w->columns + i]);
    for (unsigned i = 0; i < w->columns && separable; i++)
        packed_add_tap(&taps, profile, channels, 0, (int)i - left, f.across[i]);
    for (unsigned j = 0; j < w->rows && separable; j++)
        if (f.down[j] != 0)
            text_printf(&downs, " D(%u,%" PRId64 ")", j, f.down[j]);
    pass_define(pass, separable ? "ACROSS" : "TAPS", "%s", text_string(&taps));
    if (separable)
        pass_define(pass, "DOWNS", "%s", text_string(&downs));
    text_finish(&taps);
    text_finish(&downs);
}

/* Sums in floats, which begin with the bias. Division by a power of two is exact, and ties go to
 * even. For another divisor the product with its reciprocal is off by at most 2^-24 of 2^8, while a
 * sum that is no tie is at least 1/(2 · divisor) away from one; for an even divisor the kernel
 * looks for ties. */
static void define_quotient(struct pass *pass, const struct fir_window *w, const struct quotient *q)
{
    bool is_power = (q->divisor & (q->divisor - 1)) == 0;
    pass_define(pass, "RECIPROCAL", "%af", (double)(float)(1.0 / (double)q->divisor));
    pass_define(pass, "START", "%.1ff", w->bias * (double)q->divisor);
    pass_define(pass, "DST_LEAST", "%.1ff", sample_min(q->out));
    pass_define(pass, "DST_MOST", "%.1ff", sample_max(q->out));
    if (!is_power && q->divisor % 2 == 0)
        pass_define(pass, "HALF", "%.1ff", (double)q->divisor / 2);
    if (q->limited)
        pass_define(pass, "LIMITED", "1");
}

/* Defines how sums become bytes, and what sums begin with. */
static void define_finish(struct pass *pass, const struct quotient *q)
{
    struct quotient wide = *q; /* for results that are computed one by one */
    uint64_t start = q->offset, results = q->top / q->divisor;
    uint32_t multiplier, shift = 0;
    while (UINT64_C(1) << shift < q->divisor)
        shift++;
    bool in_lanes = !q->limited || (q->zero <= 0x8000 && results < q->zero + 0x8000);
    wide.bits = 32;
    quotient_define(&wide, pass, false);
    if (q->limited)
        pass_define(pass, "LIMITED", "1");
    if (UINT64_C(1) << shift == q->divisor && in_lanes) {
        pass_define(pass, "SHIFT", "%u", shift);
    } else if (q->divisor % 2 == 1 && !q->limited &&
               box_divide_by_byte((uint32_t)q->divisor, &multiplier)) {
        pass_define(pass, "MULTIPLIER", "%uu", multiplier);
        start += q->divisor / 2;
    }
    pass_define(pass, "START", "%" PRIu64 "u", start);
}

/* Whether every intermediate sum is a whole number that a float can hold, and can be divided as
 * define_quotient does. */
static bool suits_floats(const struct fir_window *w)
{
    double most = fabs(w->bias) * w->divisor;
    for (unsigned i = 0; i < w->columns * w->rows; i++)
        most += 255 * fabs(w->k[i]);
    return most < 1 << 24 && w->divisor < 1 << 15;
}

/* How sums become results of f32. */
static void define_floats(struct pass *pass, const struct device_profile *profile,
                          const struct fir_window *w)
{
    pass_name(pass, "f32");
    pass_define(pass, "START", "0");
    fir_define_division(pass, profile, w);
}

/* Products and sums that are rounded one by one, in the order of the rows, as the reference's are.
 */
static void define_rounded_taps(struct pass *pass, const struct fir_window *w, unsigned channels)
{
    struct text taps = {0};
    for (unsigned n = 0; n < w->columns * w->rows; n++) {
        int at = ((int)(n % w->columns) - (int)w->columns / 2) * (int)channels;
        if (w->k[n] != 0)
            text_printf(&taps, " T(%u,AT_%s%d,%af)", n / w->columns, at < 0 ? "m" : "", abs(at),
                        (double)(float)w->k[n]);
    }
    pass_define(pass, "TAPS", "%s", text_string(&taps));
    pass_define(pass, "EACH_ROUNDED", "1");
    pass_name(pass, "rounded");
    text_finish(&taps);
}

static struct stage_window reach_of(const struct fir_work *work)
{
    const struct fir_window *w = &work->window;
    return (struct stage_window){w->columns / 2, w->columns / 2, w->rows / 2, w->rows / 2,
                                 (enum border)work->config->border};
}

bool fir_suits_packed(const struct fir_work *work)
{
    const struct fir_window *w = &work->window;
    const struct stage_window reach = reach_of(work);
    const struct plane *in = work->in, *out = work->out;
    if (work->plan->profile->packs_bytes
            ? !work->exact || in->type != SAMPLE_U8 || out->type != SAMPLE_U8 ||
                  work->quotient.top > UINT16_MAX
        : work->exact ? !suits_floats(w)
                      : out->type != SAMPLE_F32 || w->columns * w->rows > LITERALS_MAX)
        return false;
    return reach.border != BORDER_CROP && w->columns <= 9 && w->rows <= 7 &&
           packed_suits(work->plan->profile, in, out, &reach);
}

void fir_add_packed(const struct fir_work *work)
{
    struct stage_plan *plan = work->plan;
    const struct fir_window *w = &work->window;
    const struct quotient *quotient = work->exact ? &work->quotient : NULL;
    const struct plane *in = work->in, *out = work->out;
    const struct stage_window reach = reach_of(work);
    bool is_columns = !plan->profile->packs_bytes;
    char size[32];
    /* Tall windows have more lines in registers. */
    unsigned words = w->rows > 3 ? 2 : 4;
    struct pass *pass = packed_begin(plan, &fir_packed_stage, in, &reach, words);
    packed_outputs(pass, 1);
    snprintf(size, sizeof size, "%ux%u", w->columns, w->rows);
    pass_name(pass, size);
    pass_define_type(pass, "DST", out->type);
    pass_define(pass, "LAST", "%u", w->rows - 1);
    pass->goes_on = true;
    if (quotient || (fir_is_whole(w) && suits_floats(w)))
        define_taps(pass, plan->profile, w, in->channels);
    else
        define_rounded_taps(pass, w, in->channels);
    if (!quotient)
        define_floats(pass, plan->profile, w);
    else if (is_columns)
        define_quotient(pass, w, quotient);
    else
        define_finish(pass, quotient);
    pass->work *= 4.0 + 2.0 * w->columns * w->rows;
    pass_planes(pass, plan, work->plane);
    pass_ints(pass, in->width, in->height, reach.border);
}
