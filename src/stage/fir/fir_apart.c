/* fir of integers by windows that are the product of a column and a row of whole numbers: sums
 * along rows, of those sums down columns. All are exact, so they are the sums of the whole window.
 * CPUs do both in one pass, strip by strip (fir_apart.cl); others in two (fir.cl, fir_down.cl), in
 * floats if these hold every sum. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ratio.h"
#include "stage/common.h"
#include "stage/fir/fir.h"
#include "stage/strips.h"

enum {
    SIDE_LEAST = 9, /* smaller windows have kernels that add more coefficients at a time */
    GAIN_LEAST = 3, /* times fewer products */
    DOWN_ROWS = 4   /* of the result, for each work-item of fir_down */
};

static int64_t coefficient(const struct fir_window *w, unsigned row, unsigned column)
{
    return (int64_t)w->k[row * w->columns + column];
}

/* Takes the first row that is not zero, divided by its coefficients' common factor. */
static bool choose_across(const struct fir_window *w, struct fir_factors *f, unsigned *pivot)
{
    for (unsigned j = 0; j < w->rows; j++) {
        int64_t divisor = 0;
        for (unsigned i = 0; i < w->columns; i++) {
            int64_t k = coefficient(w, j, i);
            if (k != 0)
                *pivot = i;
            divisor = greatest_common_divisor(divisor, k);
        }
        for (unsigned i = 0; i < w->columns && divisor != 0; i++)
            f->across[i] = coefficient(w, j, i) / divisor;
        if (divisor != 0)
            return true;
    }
    return false;
}

bool fir_factorise(const struct fir_window *w, struct fir_factors *f)
{
    unsigned pivot = 0, terms = 0, count = 0;
    if (!choose_across(w, f, &pivot))
        return false;
    for (unsigned j = 0; j < w->rows; j++) {
        f->down[j] = coefficient(w, j, pivot) / f->across[pivot];
        terms += f->down[j] != 0;
        for (unsigned i = 0; i < w->columns; i++) {
            if (coefficient(w, j, i) != f->down[j] * f->across[i])
                return false;
            count += coefficient(w, j, i) != 0;
        }
    }
    for (unsigned i = 0; i < w->columns; i++)
        terms += f->across[i] != 0;
    return terms < count;
}

bool fir_is_apart(const struct fir_window *w)
{
    struct fir_factors factors;
    unsigned side = w->columns > w->rows ? w->columns : w->rows, terms = 0, count = 0;
    if (side < SIDE_LEAST || !fir_is_whole(w) || !fir_factorise(w, &factors))
        return false;
    for (unsigned n = 0; n < w->columns * w->rows; n++)
        count += w->k[n] != 0;
    for (unsigned i = 0; i < w->columns; i++)
        terms += factors.across[i] != 0;
    for (unsigned j = 0; j < w->rows; j++)
        terms += factors.down[j] != 0;
    return count >= GAIN_LEAST * terms;
}

struct work {
    struct stage_plan *plan;
    unsigned plane;
    const struct plane *in, *out;
    const struct fir_window *window;
    struct quotient quotient; /* of 32 or 64 bits */
    struct fir_factors factors;
    int border;
    bool crop;
};

/* How the last sums become results, as definitions and, if these depend on numbers, arguments. */
static void add_quotient(const struct work *work, struct pass *pass)
{
    bool generic = work->plan->profile->generic;
    quotient_define(&work->quotient, pass, generic);
    pass_name(pass, work->quotient.bits == 64 ? "exact64" : "exact32");
    if (!generic)
        return;
    fir_add_numbers(pass, &work->quotient);
    pass_numbers(pass, "QUOTIENT_PARAMETERS", "");
}

static void add_strips(const struct work *work)
{
    const struct plane *in = work->in;
    const struct fir_window *w = work->window;
    int32_t table[2 * PARAM_MATRIX_SIDE];
    struct scratch scratch = {0};
    struct stage_window window = {w->columns / 2, w->columns / 2, w->rows / 2, w->rows / 2,
                                  (enum border)work->border};
    struct strips_need need = {w->rows * sizeof(int32_t), STRIPS_SECOND_CACHE,
                               2.0 * (w->columns + w->rows), w->rows / 2.0};
    struct strips strips = strips_cut(work->plan->profile, work->out, &need);
    struct view from = {OPERAND_IN, *in}, to = {OPERAND_OUT, *work->out};
    uint64_t bytes = (uint64_t)w->rows * (strips.width + 64) * sizeof(int32_t) +
                     strips_line(&strips, &window, in->channels) * sample_size(in->type);
    for (unsigned i = 0; i < w->columns; i++)
        table[i] = (int32_t)work->factors.across[i];
    for (unsigned j = 0; j < w->rows; j++)
        table[w->columns + j] = (int32_t)work->factors.down[j];
    struct pass *pass =
        strips_begin(work->plan, "fir_apart", "", &strips, &from, &to, &window, &scratch, bytes);
    pass->lanes = 16;
    pass->work = 2.0 * (w->columns + w->rows) * strips.width * (strips.bands.rows + w->rows / 2);
    snprintf(pass->place, sizeof pass->place, "row times column");
    pass_define(pass, "DST", "%s", pass_type_name(work->out->type));
    pass_buffer(pass, stage_plan_table(work->plan, table, (w->columns + w->rows) * sizeof *table));
    add_quotient(work, pass);
}

/* Whether each sum is a whole number that a float holds. */
static bool suits_floats(const struct work *work)
{
    const struct fir_window *w = work->window;
    double most = 0, largest = fmax(-sample_min(work->in->type), sample_max(work->in->type));
    for (unsigned n = 0; n < w->columns * w->rows; n++)
        most += fabs(w->k[n]) * largest;
    return most < 1 << 24 && work->quotient.bits == 32;
}

static void add_down(const struct work *work, const struct view *middle, bool floats)
{
    const struct plane *in = work->in, *out = work->out;
    const unsigned rows = work->window->rows, top = work->crop ? 0 : rows / 2;
    const uint32_t samples = out->width * out->channels;
    uint32_t table[PARAM_MATRIX_SIDE + 2 * (DOWN_ROWS - 1)] = {0}; /* or floats */
    bool alpha = plane_has_alpha(in);
    bool wide = pass_form_for(work->plan->profile, out, out) == FORM_VECTOR && samples >= 4 &&
                (!alpha || (pass_is_aligned(in) && !work->crop));
    for (unsigned j = 0; j < rows; j++)
        table[DOWN_ROWS - 1 + j] = fir_number((double)work->factors.down[j], !floats);
    struct pass *pass =
        pass_begin(work->plan, "fir_down", "", wide ? FORM_VECTOR : FORM_SCALAR, wide ? 4 : 1,
                   samples, (out->height + DOWN_ROWS - 1) / DOWN_ROWS);
    pass->lanes = wide ? 4 : 0;
    snprintf(pass->place, sizeof pass->place, "columns");
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    pass_define(pass, "ALPHA", "%u", alpha ? in->channels : 0);
    pass_name(pass, alpha ? in->channels == 2 ? "alpha2" : "alpha4" : "plain");
    pass_name(pass, floats ? "floats" : "ints");
    pass_name(pass, kernel_form_name(pass->form));
    pass_define(pass, "MIDDLE", floats ? "float" : "int");
    if (floats)
        pass_define(pass, "FLOATS", "1");
    pass_define(pass, "ROWS", "%d", DOWN_ROWS);
    pass->work = 2.0 * DOWN_ROWS * (rows + DOWN_ROWS) * (wide ? 4 : 1);
    pass->bytes_read = plane_bytes(&middle->plane);
    pass->bytes_written = plane_bytes(out);
    pass_view(pass, middle);
    pass_plane(pass, OPERAND_OUT, work->plane);
    pass_plane(pass, OPERAND_IN, work->plane);
    pass_ints(pass, work->crop ? work->window->columns / 2 * in->channels : 0,
              work->crop ? rows / 2 : 0, in->height, out->height, rows, top,
              stage_border((enum border)work->border));
    pass_buffer(pass,
                stage_plan_table(work->plan, table, (rows + 2 * (DOWN_ROWS - 1)) * sizeof *table));
    add_quotient(work, pass);
}

bool fir_suits_apart(const struct fir_work *work)
{
    struct fir_factors factors;
    double largest = fmax(-sample_min(work->in->type), sample_max(work->in->type)), most = 0;
    if (!work->exact || !fir_is_apart(&work->window) || !fir_factorise(&work->window, &factors))
        return false;
    for (unsigned i = 0; i < work->window.columns; i++)
        most += fabs((double)factors.across[i]) * largest;
    return most <= INT32_MAX;
}

void fir_add_apart(const struct fir_work *of)
{
    struct work work = {.plan = of->plan,
                        .plane = of->plane,
                        .in = of->in,
                        .out = of->out,
                        .window = &of->window,
                        .quotient = of->quotient,
                        .border = of->config->border,
                        .crop = of->config->border == BORDER_CROP};
    fir_factorise(work.window, &work.factors);
    work.quotient.in = SAMPLE_I32; /* what is summed at last */
    if (work.quotient.bits == 16)
        work.quotient.bits = 32;
    if (work.plan->profile->form == FORM_ROWS) {
        add_strips(&work);
        return;
    }
    struct plane shape = *work.in;
    struct scratch scratch = {0};
    bool floats = suits_floats(&work);
    shape.width = work.out->width;
    shape.type = floats ? SAMPLE_F32 : SAMPLE_I32;
    struct view middle = stage_plan_view(work.plan, &scratch, &shape);
    fir_add_across(of, &middle, work.factors.across);
    add_down(&work, &middle, floats);
}
