/* colour in integers is exact: a sum in f32 is rounded and then corrected by what is left of the
 * whole numbers' sum, which is small and so right modulo 2^32 (cl/tone/colour.cl). Where the sum
 * may be so large that f32 is too far off, it is computed in 64 bits. */
#include "stage/tone/tone.h"

#include <math.h>
#include <string.h>

#include "base/ratio.h"
#include "stage/common.h"

#define MATRIX_MAX 10000 /* with it and OFFSET_MAX, sums in billionths fit 64 bits */
#define OFFSET_MAX 1000000000
#define UNIT       1000000000 /* which the denominators of decimals divide */
#define F32_MAX    524288     /* sums up to here are less than 0.4 off in f32 */

/* Of a quotient up to 255 in f32 less than 1/32000 is lost, and one that is no tie is at least half
 * of the divisor's reciprocal away from one. */
#define SMALL_DIVISOR 10000

static const struct param params[] = {
    PARAM(MATRIX, "m", offsetof(struct colour_config, m),
          "three rows of three numbers, of which red, green and blue of the result are sums",
          RANGE(-MATRIX_MAX, MATRIX_MAX), .required = true),
    PARAM(REALS, "offset", offsetof(struct colour_config, offset),
          "what is added: one value, or one for each colour", RANGE(-OFFSET_MAX, OFFSET_MAX),
          DEFAULT("0")),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    const struct colour_config *config = config_;
    if (config->m.choice != PARAM_IS_NUMBER || config->m.columns != 3 || config->m.rows != 3)
        return fault_set(fault, FAULT_CHAIN,
                         "colour: m is three rows of three numbers, as in 1_0_0/0_1_0/0_0_1");
    if (config->offset.columns != 1 && config->offset.columns != 3)
        return fault_set(fault, FAULT_CHAIN,
                         "colour: offset has %u values: give one, or one for each colour",
                         config->offset.columns);
    return 0;
}

double colour_offset(const struct colour_config *config, unsigned row)
{
    return config->offset.v[config->offset.columns == 3 ? row : 0];
}

static int change(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->channels >= 3)
        return 0;
    return fault_set(fault, FAULT_SHAPE,
                     "colour takes RGB and RGBA, not a picture of %u channel%s; put "
                     "convert:channels=3 in front",
                     plane->channels, plane->channels == 1 ? "" : "s");
}

/* A row of the matrix and its offset, as whole numbers over a divisor. */
struct row {
    float in_f32[4];
    int64_t whole[4], divisor;
};

static struct row row_of(const struct colour_config *config, unsigned index)
{
    struct row row = {.divisor = UNIT};
    int64_t common = UNIT;
    for (unsigned i = 0; i < 4; i++) {
        double value = i < 3 ? config->m.v[3 * index + i] : colour_offset(config, index);
        struct ratio ratio = ratio_from_real(value);
        row.in_f32[i] = (float)value;
        row.whole[i] = ratio.p * (UNIT / ratio.q);
        common = greatest_common_divisor(common, row.whole[i]);
    }
    for (unsigned i = 0; i < 4; i++)
        row.whole[i] /= common;
    row.divisor /= common;
    return row;
}

/* Whether sums of bytes, and quotients that are no ties, are exact in f32. */
static bool is_small(const struct row *row)
{
    double sum = fabs((double)row->whole[3]);
    for (unsigned i = 0; i < 3; i++)
        sum += 255 * fabs((double)row->whole[i]);
    return sum < 1 << 24 && row->divisor <= SMALL_DIVISOR;
}

enum numbers {
    IN_F32_AND_WHOLE,
    WIDE,
    SMALL,
};

/* The table of cl/tone/colour.cl. */
static unsigned add_table(const struct colour_config *config, struct stage_plan *plan,
                          enum numbers kind)
{
    int32_t numbers[3][9];
    int64_t wide_numbers[3][5];
    float small[3][8] = {0};
    for (unsigned c = 0; c < 3; c++) {
        struct row row = row_of(config, c);
        memcpy(numbers[c], row.in_f32, sizeof row.in_f32);
        for (unsigned i = 0; i < 4; i++) {
            numbers[c][4 + i] = (int32_t)(uint32_t)(uint64_t)row.whole[i];
            wide_numbers[c][i] = row.whole[i];
            small[c][i] = (float)row.whole[i];
        }
        numbers[c][8] = (int32_t)row.divisor;
        wide_numbers[c][4] = row.divisor;
        small[c][4] = (float)row.divisor;
        small[c][5] = (float)(1.0 / (double)row.divisor);
        small[c][6] = 255 * (float)row.divisor;
        small[c][7] = (float)row.divisor / 2;
    }
    return kind == WIDE    ? stage_plan_table(plan, wide_numbers, sizeof wide_numbers)
           : kind == SMALL ? stage_plan_table(plan, small, sizeof small)
                           : stage_plan_table(plan, numbers, sizeof numbers);
}

static void add(const void *config_, struct stage_plan *plan, unsigned index)
{
    const struct colour_config *config = config_;
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[index];
    bool wide = false; /* integers whose sums f32 cannot hold */
    for (unsigned c = 0; c < 3 && in->type != SAMPLE_F32; c++) {
        const double *m = &config->m.v[3 * c];
        double sum = fabs(m[0]) + fabs(m[1]) + fabs(m[2]);
        wide |= !(sum * plane_white(in) + fabs(colour_offset(config, c)) < F32_MAX);
    }
    enum kernel_form form = pass_form_for(plan->profile, in, out);
    if (form == FORM_VECTOR && (wide || in->width < 4))
        form = FORM_SCALAR;
    bool small = form == FORM_VECTOR && plan->profile->takes_columns && in->type == SAMPLE_U8;
    for (unsigned c = 0; c < 3 && small; c++) {
        struct row row = row_of(config, c);
        small = is_small(&row);
    }
    struct pass *pass = pass_begin(plan, "colour",
                                   wide    ? "wide"
                                   : small ? "small"
                                           : "",
                                   form,
                                   form == FORM_VECTOR   ? 4
                                   : form == FORM_SCALAR ? 1
                                                         : 0,
                                   in->width, in->height);
    pass->goes_on = true;
    if (form == FORM_VECTOR)
        pass->lanes = 4;
    if (in->type == SAMPLE_F32)
        pass_define(pass, "KERNEL_float", "1");
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "DST", "SRC");
    pass_channels(pass, in->channels, in->channels);
    pass_name(pass, kernel_form_name(form));
    pass->work = 30;
    pass_planes(pass, plan, index);
    pass_buffer(pass, add_table(config, plan, wide ? WIDE : small ? SMALL : IN_F32_AND_WHOLE));
}

const struct stage stage_colour = {
    .name = "colour",
    .chains =
        (const char *const[]){"colour:m=0_0_0/0_0_0/0_0_0",
                              "colour:m=-1000_-1000_-1000/-1000_-1000_-1000/-1000_-1000_-1000",
                              NULL},
    .summary = "colours mixed anew: a 3x3 matrix times red, green and blue, plus an offset",
    .params = params,
    .config_size = sizeof(struct colour_config),
    .complete = complete,
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32,
    .window = stage_window_of_pixel,
    .change = change,
    .add = add,
    .at = colour_at,
    /* sums that cancel each other are as near as their largest term */
    .floats = &(const struct tolerance){1e-6, 1e-6},
    .bench = "colour:0.9_0.1_0/0.1_0.8_0.1/0_0.2_0.8",
    .bench_channels = 3,
};
