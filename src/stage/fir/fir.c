/* fir: chooses the kernel for a plane, a window and a device.
 *
 * Sums are exact integers (stage/quotient.h) if samples and parameters are whole numbers; otherwise
 * they are f32, added in the order of the rows. For a window with few coefficients the kernel is
 * written out with the coefficients as literals, so that zeros cost nothing. For a wide window it
 * loops over a table, as does every generic kernel, which has its other numbers as arguments; if it
 * is the product of a column and a row, integers are summed in two steps (fir_apart.c). Of the
 * kernels that are compiled with sluice, some are for windows of 3×3, 5×5 and 7×7. */
#include "stage/fir/fir.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stage/common.h"

#define NUMBER_MAX                                                                                 \
    1e9 /* limit of coefficients, divisor and bias, so that sums fit into 64 bits                  \
         */
#define DIVISOR_MIN  1e-9 /* its reciprocal must be an f32 */
#define LITERALS_MAX 25   /* coefficients of a window that is written out */
#define ROWS_MAX     7    /* rows of such a window; each has a pointer */

static const struct param params[] = {
    PARAM(MATRIX, "k", offsetof(struct fir_config, k),
          "the coefficients, row after row: an odd number of rows and of columns",
          RANGE(-NUMBER_MAX, NUMBER_MAX),
          CHOICES({"sample", FIR_SAMPLE}, {"gaussian3", FIR_GAUSSIAN3},
                  {"gaussian5", FIR_GAUSSIAN5}, {"sharpen", FIR_SHARPEN},
                  {"laplacian", FIR_LAPLACIAN}, {"emboss", FIR_EMBOSS}, {"identity", FIR_IDENTITY}),
          .required = true),
    PARAM(REAL, "divisor", offsetof(struct fir_config, divisor),
          "divides the sum; without it the sum of the coefficients does, or 1 where that is 0",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(REAL, "bias", offsetof(struct fir_config, bias), "added to the quotient",
          RANGE(-NUMBER_MAX, NUMBER_MAX), DEFAULT("0")),
    STAGE_BORDER_PARAM(offsetof(struct fir_config, border)),
    PARAM(CHOICE, "out", offsetof(struct fir_config, out),
          "the type of samples that comes out: the one that goes in, or f32 without rounding",
          CHOICES({"same", FIR_OUT_SAME}, {"f32", FIR_OUT_F32}), DEFAULT("same")),
    {0},
};

static const struct {
    unsigned side;
    double divisor, k[25];
} named[] = {
    [FIR_SAMPLE] = {3, 256, {30, 5, 6, 19, 30, 9, 15, 5, 40}},
    [FIR_GAUSSIAN3] = {3, 16, {1, 2, 1, 2, 4, 2, 1, 2, 1}},
    [FIR_GAUSSIAN5] = {5, 256, {1,  4, 6, 4,  1,  4,  16, 24, 16, 4, 6, 24, 36,
                                24, 6, 4, 16, 24, 16, 4,  1,  4,  6, 4, 1}},
    [FIR_SHARPEN] = {3, 1, {0, -1, 0, -1, 5, -1, 0, -1, 0}},
    [FIR_LAPLACIAN] = {3, 1, {0, 1, 0, 1, -4, 1, 0, 1, 0}},
    [FIR_EMBOSS] = {3, 1, {-2, -1, 0, -1, 1, 1, 0, 1, 2}},
    [FIR_IDENTITY] = {1, 1, {1}},
};

void fir_window(const struct fir_config *config, struct fir_window *window)
{
    const struct param_matrix *k = &config->k;
    bool is_number = k->choice == PARAM_IS_NUMBER;
    window->columns = is_number ? k->columns : named[k->choice].side;
    window->rows = is_number ? k->rows : named[k->choice].side;
    memcpy(window->k, is_number ? k->v : named[k->choice].k,
           window->columns * window->rows * sizeof *window->k);
    window->divisor = config->divisor;
    window->bias = config->bias;
}

bool fir_is_whole(const struct fir_window *window)
{
    bool whole = window->divisor == rint(window->divisor) && window->bias == rint(window->bias);
    for (unsigned i = 0; i < window->columns * window->rows; i++)
        whole &= window->k[i] == rint(window->k[i]);
    return whole;
}

/* The sum of the coefficients as decimals: 0.1_0.2_-0.3 gives 0. */
static double sum_of(const struct param_matrix *k)
{
    double sum = 0, size = 0;
    for (unsigned i = 0; i < k->columns * k->rows; i++) {
        sum += k->v[i];
        size += fabs(k->v[i]);
    }
    return fabs(sum) <= size * 1e-12 ? 0 : sum;
}

static int check_matrix(const struct param_matrix *k, struct fault *fault)
{
    if (k->choice == PARAM_IS_REFERENCE) /* define() has found no such kernel */
        return fault_set(
            fault, FAULT_CHAIN,
            "fir: the configuration has no kernel '%s' (--config FILE defines them under kernels)",
            k->reference);
    if (k->choice == PARAM_IS_NUMBER && (k->columns % 2 == 0 || k->rows % 2 == 0))
        return fault_set(fault, FAULT_CHAIN,
                         "fir: k has %u columns and %u rows; each must be odd, from 1 to %d",
                         k->columns, k->rows, PARAM_MATRIX_SIDE);
    return 0;
}

/* A kernel of the configuration counts as if its numbers were in the chain. */
static void define(void *config_, const struct definitions *definitions)
{
    struct fir_config *config = config_;
    if (config->k.choice != PARAM_IS_REFERENCE)
        return;
    const struct param_matrix *k = definitions_kernel(definitions, config->k.reference);
    if (k)
        config->k = *k;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct fir_config *config = config_;
    const param_given divisor = 1 << 1; /* the index of `divisor` in the table */
    int result = check_matrix(&config->k, fault);
    if (result != 0)
        return result;
    if (!(*given & divisor)) {
        bool is_number = config->k.choice == PARAM_IS_NUMBER;
        double sum = is_number ? sum_of(&config->k) : named[config->k.choice].divisor;
        if (fabs(sum) > NUMBER_MAX)
            return fault_set(fault, FAULT_CHAIN,
                             "fir: the sum of k is %g, and a divisor is from -1e9 to 1e9: "
                             "give another one",
                             sum);
        config->divisor = sum != 0 ? sum : 1;
        *given |= divisor;
    }
    if (fabs(config->divisor) < DIVISOR_MIN)
        return fault_set(fault, FAULT_CHAIN,
                         "fir: divisor=%g: expected a number from 1e-9 up, or from -1e-9 down",
                         config->divisor);
    return 0;
}

static bool window(const void *config_, struct stage_window *window)
{
    const struct fir_config *config = config_;
    struct fir_window k;
    fir_window(config, &k);
    unsigned x = k.columns / 2, y = k.rows / 2;
    *window = (struct stage_window){
        x, x, y, y, (enum border)config->border, .by_rows = !fir_is_apart(&k)};
    return true;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct fir_config *config = config_;
    if (config->out == FIR_OUT_F32) {
        plane->channels -= plane_has_alpha(plane);
        plane->type = SAMPLE_F32;
    }
    return 0;
}

/* What the kernel for every window needs to know beside the work for a plane. */
struct work {
    const struct plane *in, *out;
    const struct device_profile *profile;
    struct fir_window window;
    unsigned left, top; /* coefficients before the one at the result's own place */
    bool exact;
    struct quotient quotient;  /* for exact work */
    bool generic;              /* numbers are arguments */
    const struct view *middle; /* sums along rows go there; NULL: results to the plane */
    enum kernel_form form;
    bool written_out; /* with each coefficient as a literal */
    bool sized;       /* a kernel for windows of this size, with coefficients from the table */
    bool pairs;       /* whose table has the coefficients in pairs, too */
    unsigned lanes;
    /* For a wide window in vectors: the table has rows of `pitch` coefficients with zeros around
     * them, in blocks of four that begin `first` vectors from the result's. */
    unsigned pitch, lead;
    int first;
};

static unsigned count_coefficients(const struct fir_window *window)
{
    unsigned count = 0;
    for (unsigned i = 0; i < window->columns * window->rows; i++)
        count += window->k[i] != 0;
    return count;
}

static void choose_sums(struct fir_work *work, bool whole)
{
    struct fir_window *w = &work->window;
    double min = sample_min(work->in->type), max = sample_max(work->in->type);
    wide_int least = 0, most = 0;
    work->exact = whole && sample_is_integer(work->in->type) && sample_is_integer(work->out->type);
    for (unsigned i = 0; i < w->columns * w->rows && work->exact; i++) {
        least += (wide_int)(w->k[i] * (w->k[i] > 0 ? min : max));
        most += (wide_int)(w->k[i] * (w->k[i] > 0 ? max : min));
    }
    if (work->exact) /* always fits: NUMBER_MAX and PARAM_MATRIX_SIDE limit the sums */
        work->exact =
            quotient_plan(&work->quotient, least, most, (wide_int)w->bias * (wide_int)w->divisor,
                          (uint64_t)w->divisor, work->in->type, work->out->type) &&
            (!work->plan->profile->generic ||
             quotient_make_generic(&work->quotient, work->plan->profile->prebuilt ? 16 : 32));
    if (work->exact && work->quotient.bits == 16 && !work->plan->profile->packs_shorts &&
        !work->plan->profile->generic)
        work->quotient.bits = 32; /* saves a mask after each sum */
}

/* Kernels that are compiled with sluice for some sizes have no loop over the window. They also read
 * samples under coefficients of 0, which must therefore be finite. */
static bool has_size(const struct work *work)
{
    const struct fir_window *w = &work->window;
    bool finite =
        sample_is_integer(work->in->type) || count_coefficients(w) == w->columns * w->rows;
    bool narrow = !work->exact || work->quotient.bits <= 32;
    return w->columns == w->rows && w->columns >= 3 && w->columns <= 7 && finite && narrow;
}

static void choose_form(struct work *work)
{
    unsigned count = count_coefficients(&work->window);
    work->written_out = !work->generic && !work->middle && count > 0 && count <= LITERALS_MAX &&
                        work->window.rows <= ROWS_MAX;
    work->sized = work->profile->prebuilt && has_size(work);
    work->form = pass_form_for(work->profile, work->in, work->out);
    if (work->form == FORM_ROWS) /* vectors of 32 are in native's texts alone */
        work->lanes = work->sized && work->exact && work->quotient.bits == 16 ? 32 : 16;
    work->pairs = work->lanes == 32 && work->in->channels == 1 && work->in->type == SAMPLE_U8 &&
                  work->out->type == SAMPLE_U8;
    if (work->form == FORM_VECTOR) {
        work->lanes = work->written_out
                          ? pass_vector_length(work->profile, work->in->type, work->out->type)
                          : 4;
        if (work->out->width * work->in->channels < work->lanes) {
            work->form = FORM_SCALAR;
            work->lanes = 0;
        }
    }
    if (work->form == FORM_SCALAR)
        work->written_out = false;
}

/* For a wide window, zeros are put in front of each row of the table until it begins at an aligned
 * vector. */
static void lay_out_table(struct work *work)
{
    int channels = (int)work->in->channels, begin = -(int)work->left * channels;
    work->pitch = work->window.columns;
    work->lead = 0;
    work->first = 0;
    if (work->form != FORM_VECTOR || work->written_out)
        return;
    while ((begin - (int)work->lead * channels) % 4 != 0)
        work->lead++;
    work->first = (begin - (int)work->lead * channels) / 4;
    work->pitch = (work->lead + work->window.columns + 3) / 4 * 4;
}

/* Whether two products of a sample and a coefficient, of neighbours in a row, always fit 16 bits
 * with a sign. */
static bool fits_pairs(const struct fir_window *w)
{
    for (unsigned n = 0; n < w->columns * w->rows; n++) {
        double a = n % w->columns > 0 ? w->k[n - 1] : 0, b = w->k[n];
        if (b > 127 || fmax(a, 0) + fmax(b, 0) > 128 || fmin(a, 0) + fmin(b, 0) < -128)
            return false;
    }
    return true;
}

/* Column i of row j as a byte; 0 beside the window. */
static uint32_t coefficient_byte(const struct fir_window *w, unsigned j, int i)
{
    return i >= 0 && i < (int)w->columns ? (uint8_t)(int32_t)w->k[j * w->columns + (unsigned)i] : 0;
}

/* The coefficients that are multiplied with samples 2n and 2n + 1 of a row, as bytes, which each
 * word has twice: in turn for results at even places, k0 k1, k2 0, and at odd places, 0 k0, k1 k2.
 */
static void add_pairs(const struct fir_window *w, uint32_t *pairs)
{
    for (unsigned j = 0; j < w->rows; j++)
        for (int i = 0; i < (int)w->columns; i += 2) {
            *pairs++ = (coefficient_byte(w, j, i) | coefficient_byte(w, j, i + 1) << 8) * 0x10001;
            *pairs++ = (coefficient_byte(w, j, i - 1) | coefficient_byte(w, j, i) << 8) * 0x10001;
        }
}

uint32_t fir_number(double k, bool whole)
{
    float real = (float)k;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return whole ? (uint32_t)(int32_t)k : bits;
}

static unsigned add_table(struct stage_plan *plan, const struct work *work)
{
    const struct fir_window *w = &work->window;
    uint32_t data[(PARAM_MATRIX_SIDE + 6) * PARAM_MATRIX_SIDE] = {0}; /* or floats */
    for (unsigned j = 0; j < w->rows; j++) {
        for (unsigned i = 0; i < w->columns; i++) {
            size_t at = (size_t)j * work->pitch + work->lead + i;
            data[at] = fir_number(w->k[j * w->columns + i], work->exact);
        }
    }
    unsigned n = work->pitch * w->rows;
    if (work->pairs) {
        add_pairs(w, data + n);
        n += (w->columns + 1) * w->rows;
    }
    return stage_plan_table(plan, data, n * sizeof *data);
}

/* Defines TAPS: T(j, o, b, k) for each coefficient k that is not 0, in the order of the rows, where
 * j is the row and o the sample; in vectors, b is the lane in vector o, counted from the result's.
 */
static void define_taps(struct pass *pass, const struct work *work)
{
    struct text taps = {0};
    const struct fir_window *w = &work->window;
    for (unsigned n = 0; n < w->columns * w->rows; n++) {
        int offset = ((int)(n % w->columns) - (int)work->left) * (int)work->in->channels;
        int lane = 0, lanes = (int)work->lanes;
        if (w->k[n] == 0)
            continue;
        if (work->form == FORM_VECTOR) {
            lane = ((offset % lanes) + lanes) % lanes;
            offset = (offset - lane) / lanes;
        }
        text_printf(&taps, " T(%u,%d,%d,", n / w->columns, offset, lane);
        if (work->exact)
            text_printf(&taps, "%" PRId64 ")", (int64_t)w->k[n]);
        else
            text_printf(&taps, "%af)", (double)(float)w->k[n]);
    }
    pass_define(pass, "TAPS", "%s", text_string(&taps));
    pass_define(pass, "ROWS", "%u", w->rows);
    text_finish(&taps);
}

/* The reciprocal of a power of two is exact; if the device does not divide with correct rounding
 * the kernel corrects the quotient. */
void fir_define_division(struct pass *pass, const struct device_profile *profile,
                         const struct fir_window *window)
{
    float divisor = (float)window->divisor;
    int exponent;
    if (divisor == 1) {
        pass_define(pass, "DIVIDE(v)", "(v)");
    } else if (frexpf(divisor, &exponent) == 0.5f) {
        pass_define(pass, "DIVIDE(v)", "((v) * %af)", (double)(1 / divisor));
    } else if (profile->exact_divide) {
        pass_define(pass, "DIVIDE(v)", "((v) / %af)", (double)divisor);
    } else {
        pass_define(pass, "DIVISOR", "%af", (double)divisor);
        pass_define(pass, "RECIPROCAL", "%af", (double)(1 / divisor));
        pass_define(pass, "DIVIDE(v)", "FN(divide)(v, DIVISOR, RECIPROCAL)");
    }
    if (window->bias != 0)
        pass_define(pass, "ADD_BIAS", "+ %af", (double)(float)window->bias);
    else
        pass_define(pass, "ADD_BIAS", " ");
}

/* The same with arguments. Dividing by a power of two equals multiplying by its reciprocal. */
static void define_generic_division(struct pass *pass, const struct work *work)
{
    pass_define(pass, "GENERIC", "1");
    if (work->profile->exact_divide) {
        pass_define(pass, "DIVIDE(v)", "((v) / divisor)");
    } else {
        pass_define(pass, "RECIPROCAL", "reciprocal");
        pass_define(pass, "DIVIDE(v)", "FN(divide)(v, divisor, reciprocal)");
    }
    pass_define(pass, "ADD_BIAS", "+ bias");
}

static void define_sums(struct pass *pass, const struct work *work)
{
    if (work->exact) {
        quotient_define(&work->quotient, pass, work->generic);
        pass_define(pass, "ACC", work->quotient.bits == 64 ? "ulong" : "uint");
        pass_define(pass, "COEFFICIENT", "int");
    } else {
        pass_define(pass, "NUM", "float");
        pass_define(pass, "WIDEN(v)", "CONVERT(float, v)");
        pass_define(pass, "ACC", "float");
        pass_define(pass, "COEFFICIENT", "float");
        if (work->generic)
            define_generic_division(pass, work);
        else
            fir_define_division(pass, work->profile, &work->window);
    }
}

void fir_add_numbers(struct pass *pass, const struct quotient *quotient)
{
    uint64_t numbers[QUOTIENT_NUMBERS];
    quotient_numbers(quotient, numbers);
    for (int i = 0; i < QUOTIENT_NUMBERS; i++) {
        if (quotient->bits == 64)
            pass_long(pass, (int64_t)numbers[i]);
        else
            pass_uint(pass, (uint32_t)numbers[i]);
    }
}

/* Adds as arguments what other kernels have as definitions. Adding -0 changes nothing. */
static void add_numbers(struct pass *pass, const struct work *work)
{
    float divisor = (float)work->window.divisor;
    if (!work->exact) {
        pass_float(pass, divisor);
        pass_float(pass, 1 / divisor);
        pass_float(pass, work->window.bias != 0 ? (float)work->window.bias : -0.0f);
        return;
    }
    fir_add_numbers(pass, &work->quotient);
}

static void name_kernel(struct pass *pass, const struct work *work)
{
    char part[32];
    snprintf(part, sizeof part, "%ux%u", work->window.columns, work->window.rows);
    if (work->sized || !work->generic)
        pass_name(pass, part);
    if (work->generic)
        pass_name(pass, "generic");
    if (work->exact)
        snprintf(part, sizeof part, "exact%u", work->quotient.bits);
    pass_name(pass, work->exact ? part : "f32");
}

/* What sums along rows are called, and where they come from and go. Alpha is summed as others are:
 * fir_down.cl copies it. */
static void define_across(struct pass *pass, const struct work *work, unsigned plane)
{
    unsigned channels = work->in->channels;
    snprintf(pass->place, sizeof pass->place, "rows");
    pass_define(pass, "CH", "%u", channels);
    pass_define(pass, "DST_CH", "%u", channels);
    pass_define(pass, "ALPHA", "0");
    pass_name(pass, (const char *const[]){"c1", "c2", "c3", "c4"}[channels - 1]);
    pass_name(pass, work->exact ? "ints" : "floats");
    pass->bytes_read = plane_bytes(work->in);
    pass->bytes_written = plane_bytes(work->out);
    pass_plane(pass, OPERAND_IN, plane);
    pass_view(pass, work->middle);
}

static void add_pass(struct stage_plan *plan, const struct work *work, unsigned plane,
                     const struct fir_config *config)
{
    const struct fir_window *w = &work->window;
    struct pass *pass = pass_begin(plan, "fir", work->middle ? "across" : "", work->form,
                                   work->form == FORM_VECTOR ? work->lanes : 0,
                                   work->out->width * work->in->channels, work->out->height);
    pass->goes_on = !work->middle;
    pass->lanes = work->lanes;
    if (!work->middle)
        name_kernel(pass, work);
    pass_define_type(pass, "SRC", work->in->type);
    pass_define(pass, "DST", "%s", pass_type_name(work->out->type));
    if (work->middle) {
        define_across(pass, work, plane);
    } else {
        pass_channels(pass, work->in->channels, work->out->channels);
        pass_planes(pass, plan, plane);
    }
    pass_name(pass, kernel_form_name(work->form));
    define_sums(pass, work);
    if (work->written_out)
        define_taps(pass, work);
    if (work->sized) {
        pass_define(pass, "COLUMNS", "%u", w->columns);
        pass_define(pass, "ROWS", "%u", w->rows);
    }
    if (work->pairs)
        pass_define(pass, "PAIRS", "1");
    pass->work = 4.0 + 2.0 * count_coefficients(w);
    pass_buffer(pass, add_table(plan, work));
    pass_ints(pass, work->pitch, work->lead, w->columns, w->rows, work->left, work->top,
              work->in->width, work->in->height, config->border, work->first);
    if (work->generic) {
        add_numbers(pass, work);
        pass_numbers(pass,
                     !work->exact  ? "float divisor, float reciprocal, float bias"
                     : work->pairs ? "QUOTIENT_PARAMETERS, int paired"
                                   : "QUOTIENT_PARAMETERS",
                     "");
    }
    if (work->pairs)
        pass_int(pass, fits_pairs(w));
}

static void add_samples(const struct fir_work *of)
{
    bool crop = of->config->border == BORDER_CROP;
    struct work work = {.in = of->in,
                        .out = of->out,
                        .profile = of->plan->profile,
                        .window = of->window,
                        .left = crop ? 0 : of->window.columns / 2,
                        .top = crop ? 0 : of->window.rows / 2,
                        .exact = of->exact,
                        .quotient = of->quotient,
                        .generic = of->plan->profile->generic};
    choose_form(&work);
    lay_out_table(&work);
    add_pass(of->plan, &work, of->plane, of->config);
}

void fir_add_across(const struct fir_work *of, const struct view *middle, const int64_t *across)
{
    unsigned columns = of->window.columns;
    struct work work = {.in = of->in,
                        .out = &middle->plane,
                        .profile = of->plan->profile,
                        .window = {.columns = columns, .rows = 1, .divisor = 1},
                        .left = of->config->border == BORDER_CROP ? 0 : columns / 2,
                        .exact = middle->plane.type == SAMPLE_I32,
                        .middle = middle};
    for (unsigned i = 0; i < columns; i++)
        work.window.k[i] = (double)across[i];
    quotient_plan(&work.quotient, INT32_MIN, INT32_MAX, 0, 1, of->in->type, SAMPLE_I32);
    choose_form(&work);
    lay_out_table(&work);
    add_pass(of->plan, &work, of->plane, of->config);
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct fir_work *work); /* NULL: all that is left */
    void (*add)(const struct fir_work *work);
} ways[] = {
    {fir_suits_packed,
     fir_add_packed}, /* walker: small windows of bytes on GPUs; words, or columns on Mali */
    {fir_suits_apart,
     fir_add_apart},     /* strips on CPUs, else along rows and down columns: large products */
    {NULL, add_samples}, /* point, in every form */
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct fir_config *config = config_;
    struct fir_window window;
    bool needed = false;
    fir_window(config, &window);
    bool keeps = window.columns == 1 && window.rows == 1 && window.bias == 0 &&
                 config->out == FIR_OUT_SAME && window.k[0] == window.divisor;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        bool whole = sample_is_integer(plan->in->planes[i].type);
        needed |= !keeps || !(whole ? fir_is_whole(&window) : window.k[0] == 1);
    }
    for (unsigned i = 0, way; needed && i < plan->in->n_planes; i++) {
        struct fir_work work = {.plan = plan,
                                .config = config,
                                .plane = i,
                                .in = &plan->in->planes[i],
                                .out = &plan->out->planes[i],
                                .window = window};
        bool negative = window.divisor < 0;
        for (unsigned n = 0; negative && n < window.columns * window.rows; n++)
            work.window.k[n] = -window.k[n];
        work.window.divisor = fabs(window.divisor);
        choose_sums(&work, fir_is_whole(&window));
        for (way = 0; ways[way].suits && !ways[way].suits(&work); way++)
            ;
        ways[way].add(&work);
    }
    return 0;
}

/* A window of 9×9 such numbers, and of 7×7. */
#define NINE(k)      ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k) "/" ROW_OF_9(k)
#define ROW_OF_9(k)  ROW_OF_7(k) "_" k "_" k
#define SEVEN(k)     ROW_OF_7(k) "/" ROW_OF_7(k) "/" ROW_OF_7(k) "/" ROW_OF_7(k) "/" ROW_OF_7(k) "/" ROW_OF_7(k) "/" ROW_OF_7(k)
#define ROW_OF_7(k)  k "_" k "_" k "_" k "_" k "_" k "_" k

static const char *const chains[] = {
    "fir:k=0",
    "fir:k=0.5",
    "fir:k=65536",
    "fir:k=1000000000",
    "fir:k=sample",
    "fir:k=sample:bias=0.5",
    "fir:k=sample:bias=255",
    "fir:k=gaussian5",
    "fir:k=gaussian5:bias=0.5",
    "fir:k=gaussian5:bias=3",
    "fir:k=" SEVEN("3"),
    "fir:k=" SEVEN("0") ":bias=0.5",
    "fir:k=" SEVEN("0") ":bias=65536",
    "fir:k=" NINE("3"),
    "fir:k=" NINE("200000"),
    "fir:k=0:out=f32",
    "fir:k=sample:out=f32",
    "fir:k=gaussian5:out=f32",
    "fir:k=" SEVEN("3") ":out=f32",
    NULL,
};

const struct stage stage_fir = {
    .name = "fir",
    .chains = chains,
    .summary = "each sample from a window of its neighbours, weighted by coefficients",
    .params = params,
    .config_size = sizeof(struct fir_config),
    .define = define,
    .complete = complete,
    .types =
        1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16 | 1u << SAMPLE_F32,
    .window = window,
    .change = change,
    .passes = passes,
    .widens = true,
    .reference = fir_reference,
    /* equal bit for bit, except that a GPU may treat numbers below 2^-126 as 0 */
    .floats = &(const struct tolerance){1e-25, 0},
    .bench = "fir:gaussian3",
};
