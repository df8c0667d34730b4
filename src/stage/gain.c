/* gain on integers is rne(N/D) with N = in·P + R, exactly (stage/quotient.h). Planning takes the
 * first of three ways that is exact:
 *
 * - 8-bit samples with small N and D: the quotient in 16-bit lanes, but for bytes on GPUs
 * - 8 and 16 bits: in·by + offset in f32, if that rounds to the exact result for every value of the
 *   type, which is tried here;
 * - the quotient in 32 or 64 bits. Samples are first limited to those whose results do not
 * saturate, and one more on either side, which keeps N below 2^63 for any factor and offset.
 *
 * A generic kernel takes its numbers as arguments: in f32 where that is exact, otherwise in 64
 * bits. */
#include "stage/gain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ratio.h"
#include "stage/common.h"
#include "stage/quotient.h"

#define GAIN_MAX 999999999

static const struct param params[] = {
    PARAM(REAL, "by", offsetof(struct gain_config, by), "what each sample is multiplied by",
          RANGE(-GAIN_MAX, GAIN_MAX), DEFAULT("1")),
    PARAM(REAL, "offset", offsetof(struct gain_config, offset), "what is added to the product",
          RANGE(-GAIN_MAX, GAIN_MAX), DEFAULT("0")),
    {0},
};

/* The line (in·P + R) / D. */
struct line {
    int64_t p, r, d;
};

static struct line line_of(const struct gain_config *config)
{
    struct ratio by = ratio_from_real(config->by), offset = ratio_from_real(config->offset);
    /* both denominators divide 10^9, and so does this */
    int64_t d = by.q / greatest_common_divisor(by.q, offset.q) * offset.q;
    return (struct line){by.p * (d / by.q), offset.p * (d / offset.q), d};
}

static wide_int divide_down(wide_int n, wide_int d)
{
    return n / d - (n % d != 0 && (n < 0) != (d < 0));
}

static wide_int divide_up(wide_int n, wide_int d)
{
    return -divide_down(-n, d);
}

static int64_t limit(wide_int v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : (int64_t)v;
}

/* The samples beyond which the result stays the same. Where it is the same everywhere, the line
 * becomes that constant. */
static void unsaturated(struct line *line, enum sample_type type, int64_t *first, int64_t *last)
{
    int64_t min = (int64_t)sample_min(type), max = (int64_t)sample_max(type);
    wide_int to_min = (wide_int)min * line->d - line->r, to_max = (wide_int)max * line->d - line->r;
    *first = min;
    *last = max;
    if (line->p > 0) {
        *first = limit(divide_down(to_min, line->p), min, max);
        *last = limit(divide_up(to_max, line->p), min, max);
    } else if (line->p < 0) {
        *first = limit(divide_down(to_max, line->p), min, max);
        *last = limit(divide_up(to_min, line->p), min, max);
    }
    wide_int at_first = (wide_int)line->p * *first - to_min, range = to_max - to_min;
    if (*first == *last || line->p == 0) {
        int64_t constant = at_first <= 0 ? min : at_first >= range ? max : INT64_MIN;
        if (constant != INT64_MIN)
            *line = (struct line){0, constant, 1};
    }
}

/* With the product rounded, and without: kernels have both. */
static bool is_exact_in_f32(const struct line *line, enum sample_type type, float gain,
                            float offset)
{
    if (sample_size(type) > 2)
        return false;
    for (int64_t v = (int64_t)sample_min(type); v <= (int64_t)sample_max(type); v++) {
        float product = (float)v * gain;
        wide_int n = (wide_int)line->p * v + line->r;
        wide_int exact = divide_down(n, line->d), twice = 2 * (n - exact * line->d);
        exact += twice > line->d || (twice == line->d && exact % 2 != 0);
        exact = limit(exact, (int64_t)sample_min(type), (int64_t)sample_max(type));
        if (sample_saturate(type, product + offset) != exact ||
            sample_saturate(type, fmaf((float)v, gain, offset)) != exact)
            return false;
    }
    return true;
}

static void define_exact(struct pixel_function *function, const struct quotient *quotient,
                         const struct line *line, int64_t first, int64_t last)
{
    quotient_define(quotient, &function->needs, false);
    pass_define(&function->needs, "FACTOR", "%" PRId64 "L", line->p);
    if (line->p == 0 ||
        (first == (int64_t)sample_min(quotient->in) && last == (int64_t)sample_max(quotient->in)))
        pass_define(&function->needs, "INPUT(v)", "(v)");
    else
        pass_define(&function->needs, "INPUT(v)",
                    "clamp(v, (V(SRC))((SRC)%" PRId64 "L), (V(SRC))((SRC)%" PRId64 "L))", first,
                    last);
    snprintf(function->variant, sizeof function->variant, "exact%u", quotient->bits);
}

/* 64 bits for every gain, so that there is one kernel. */
static void define_generic(struct pixel_function *function, const struct quotient *quotient,
                           const struct line *line, int64_t first, int64_t last)
{
    uint64_t numbers[QUOTIENT_NUMBERS];
    quotient_define(quotient, &function->needs, true);
    quotient_numbers(quotient, numbers);
    pass_long(&function->needs, line->p);
    pass_ints(&function->needs, (int32_t)first, (int32_t)last);
    for (int i = 0; i < QUOTIENT_NUMBERS; i++)
        pass_long(&function->needs, (int64_t)numbers[i]);
    pass_kernel(&function->needs, "generic");
    snprintf(function->variant, sizeof function->variant, "generic");
}

static void define_f32(struct pixel_function *function, const struct gain_config *config)
{
    pass_kernel(&function->needs, "f32");
    pass_floats(&function->needs, (float)config->by, (float)config->offset);
}

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct gain_config *config = config_;
    enum sample_type type = in->type;
    function->type = type;
    function->keep_alpha = true;
    function->identity = config->by == 1 && config->offset == 0;
    function->needs.work = 8;
    if (type == SAMPLE_F32) {
        define_f32(function, config);
        return 0;
    }
    struct line line = line_of(config);
    struct quotient quotient;
    int64_t first, last;
    float gain = (float)config->by, offset = (float)config->offset;
    unsaturated(&line, type, &first, &last);
    wide_int a = (wide_int)line.p * first, b = (wide_int)line.p * last;
    if (!quotient_plan(&quotient, a < b ? a : b, a < b ? b : a, line.r, (uint64_t)line.d, type,
                       type))
        return fault_set(fault, FAULT_INTERNAL, "gain: a numerator beyond 64 bits");
    bool in_words =
        type == SAMPLE_U8 && function->plan && function->plan->profile->form == FORM_VECTOR;
    bool may_be_f32 = quotient.bits > 16 || function->generic || in_words;
    if (may_be_f32 && is_exact_in_f32(&line, type, gain, offset))
        define_f32(function, config);
    else if (function->generic && quotient_make_generic(&quotient, 64))
        define_generic(function, &quotient, &line, first, last);
    else if (function->generic)
        return fault_set(fault, FAULT_INTERNAL, "gain: a numerator beyond 63 bits");
    else
        define_exact(function, &quotient, &line, first, last);
    return 0;
}

const struct stage stage_gain = {
    .name = "gain",
    .chains = (const char *const[]){"gain:by=0", "gain:by=1.3", NULL},
    .summary = "each sample times a number, plus an offset",
    .params = params,
    .config_size = sizeof(struct gain_config),
    .types = STAGE_TYPES_BUT_F64,
    .pixel = pixel,
    .sample = gain_sample,
    .bench = "gain:1.5",
};
