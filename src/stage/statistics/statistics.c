/* statistics and histogram count the samples of each region and colour by value (stage/count.h),
 * and make numbers of the counts, or sums of neighbouring ones. Counts and sums are whole numbers,
 * whatever the order in which work-items add. */
#include "stage/statistics/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "stage/common.h"
#include "stage/count.h"

#define REGION_PARAMS(config)                                                                      \
    PARAM(INTEGER, "across", offsetof(config, regions.across),                                     \
          "regions side by side, of equal width as far as pixels allow",                           \
          RANGE(1, STATISTICS_SIDE_MAX), DEFAULT("1")),                                            \
        PARAM(INTEGER, "down", offsetof(config, regions.down), "regions below each other",         \
              RANGE(1, STATISTICS_SIDE_MAX), DEFAULT("1"))

static const struct param_choice no_numbers[] = {{"none", 0}, {NULL, 0}};

static const struct param statistics_params[] = {
    PARAM(
        REALS, "percentiles", offsetof(struct statistics_config, percentiles),
        "for each of these shares, in percent, the least value that as many samples do not exceed",
        RANGE(0, 100), .choices = no_numbers, DEFAULT("5_50_95")),
    PARAM(REALS, "over", offsetof(struct statistics_config, over),
          "for each of these values, how many samples are above it", RANGE(-32768, 65535),
          .choices = no_numbers, DEFAULT("none")),
    REGION_PARAMS(struct statistics_config),
    {0},
};

static const struct param histogram_params[] = {
    PARAM(INTEGER, "bins", offsetof(struct histogram_config, bins),
          "how many counts there are; of integers a power of two, at most one for each value",
          RANGE(1, 65536), DEFAULT("256")),
    REGION_PARAMS(struct histogram_config),
    PARAM(REAL, "low", offsetof(struct histogram_config, low), "of f32: where the first bin begins",
          DEFAULT("0")),
    PARAM(REAL, "high", offsetof(struct histogram_config, high),
          "of f32: where the last bin ends; without it at white"),
    {0},
};

/* ---- what comes out ---- */

static unsigned count_of(const struct param_matrix *values)
{
    return values->choice == PARAM_IS_NUMBER ? values->columns : 0;
}

static void set_number(struct statistics_number *number, enum statistics_kind kind, int32_t value,
                       const char *name)
{
    *number = (struct statistics_number){.kind = kind, .value = value};
    snprintf(number->name, sizeof number->name, "%.*s", (int)sizeof number->name - 1, name);
}

unsigned statistics_numbers(const struct statistics_config *config,
                            struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX])
{
    static const struct statistics_number always[] = {{STATISTICS_COUNT, 0, "count"},
                                                      {STATISTICS_LEAST, 0, "min"},
                                                      {STATISTICS_MOST, 0, "max"},
                                                      {STATISTICS_MEAN, 0, "mean"},
                                                      {STATISTICS_DEVIATION, 0, "deviation"}};
    unsigned n = 0;
    char name[NUMBER_TEXT_MAX + 8], text[NUMBER_TEXT_MAX];
    for (; n < sizeof always / sizeof *always; n++)
        numbers[n] = always[n];
    for (unsigned i = 0; i < count_of(&config->percentiles); i++) {
        double p = config->percentiles.v[i];
        snprintf(name, sizeof name, "p%s", number_format_real(p, text));
        set_number(&numbers[n++], STATISTICS_PERCENTILE, (int32_t)lrint(p * STATISTICS_PARTS),
                   name);
    }
    for (unsigned i = 0; i < count_of(&config->over); i++) {
        double v = config->over.v[i];
        snprintf(name, sizeof name, "over%s", number_format_real(v, text));
        set_number(&numbers[n++], STATISTICS_OVER, (int32_t)floor(v), name);
    }
    return n;
}

/* Names of planes have no more. */
static int check_digits(const char *what, const struct param_matrix *values, struct fault *fault)
{
    for (unsigned i = 0; i < count_of(values); i++)
        if (fabs(values->v[i] * 1000 - rint(values->v[i] * 1000)) > 1e-6)
            return fault_set(fault, FAULT_CHAIN,
                             "statistics: %s=%g: at most three digits behind the point", what,
                             values->v[i]);
    return 0;
}

static int complete_statistics(void *config_, param_given *given, struct fault *fault)
{
    const struct statistics_config *config = config_;
    const struct param_matrix *p = &config->percentiles, *over = &config->over;
    if (count_of(p) > STATISTICS_NUMBERS_MAX || count_of(over) > STATISTICS_NUMBERS_MAX)
        return fault_set(fault, FAULT_CHAIN, "statistics: at most %d percentiles, and %d of over",
                         STATISTICS_NUMBERS_MAX, STATISTICS_NUMBERS_MAX);
    int result = check_digits("percentiles", p, fault);
    if (result == 0)
        result = check_digits("over", over, fault);
    if (result != 0)
        return result;
    struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX];
    unsigned n = statistics_numbers(config, numbers);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++)
            if (strcmp(numbers[i].name, numbers[k].name) == 0)
                return fault_set(fault, FAULT_CHAIN, "statistics: %s is asked for twice",
                                 numbers[i].name);
    return 0;
}

static int complete_histogram(void *config_, param_given *given, struct fault *fault)
{
    struct histogram_config *config = config_;
    const param_given high = param_bit(histogram_params, "high");
    config->has_high = *given & high;
    if (config->has_high && !(config->high > config->low))
        return fault_set(fault, FAULT_CHAIN, "histogram: high=%g is not above low=%g", config->high,
                         config->low);
    return 0;
}

float histogram_low(const struct histogram_config *config)
{
    return (float)config->low;
}

float histogram_scale(const struct histogram_config *config, const struct plane *plane)
{
    double high = config->has_high ? config->high : plane_white(plane);
    return (float)((double)config->bins / (high - config->low));
}

/* Alpha is no colour. */
static uint32_t colours_of(const struct plane *plane)
{
    return plane->channels - (plane_has_alpha(plane) ? 1 : 0);
}

static uint32_t values_of(const struct plane *plane, uint32_t bins)
{
    return sample_is_integer(plane->type) ? 1u << 8 * sample_size(plane->type) : bins;
}

static int check(const char *stage, const struct regions *regions, const struct plane *plane,
                 uint32_t values, struct fault *fault)
{
    uint64_t counts =
        (uint64_t)values * colours_of(plane) * (uint64_t)(regions->across * regions->down);
    if (plane->width < regions->across || plane->height < regions->down)
        return fault_set(fault, FAULT_SHAPE, "%s: %lld×%lld regions of %u×%u pixels", stage,
                         (long long)regions->across, (long long)regions->down, plane->width,
                         plane->height);
    if (counts > STATISTICS_COUNTS_MAX)
        return fault_set(fault, FAULT_SHAPE,
                         "%s: %llu counts (regions × colours × values), of at most %u: take fewer "
                         "regions, or convert:type=u8",
                         stage, (unsigned long long)counts, STATISTICS_COUNTS_MAX);
    return 0;
}

static int statistics_shape(const void *config_, const struct frame *in, size_t alignment,
                            struct frame *out, struct fault *fault)
{
    const struct statistics_config *config = config_;
    struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX];
    unsigned n = statistics_numbers(config, numbers);
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        const struct plane *from = &in->planes[i];
        result = check("statistics", &config->regions, from, values_of(from, 0), fault);
        for (unsigned k = 0; k < n && result == 0; k++) {
            struct plane plane = {.width = (uint32_t)config->regions.across,
                                  .height = (uint32_t)config->regions.down,
                                  .channels = colours_of(from)};
            enum statistics_kind kind = numbers[k].kind;
            plane.type = kind == STATISTICS_COUNT || kind == STATISTICS_OVER       ? SAMPLE_I32
                         : kind == STATISTICS_MEAN || kind == STATISTICS_DEVIATION ? SAMPLE_F64
                                                                                   : from->type;
            int length = snprintf(plane.name, sizeof plane.name, "%s%s%s", from->name,
                                  from->name[0] ? "." : "", numbers[k].name);
            if (length >= PLANE_NAME_MAX)
                return fault_set(fault, FAULT_SHAPE,
                                 "statistics: the name %s.%s would be longer than %d letters",
                                 from->name, numbers[k].name, PLANE_NAME_MAX - 1);
            result = stage_add_plane(out, &plane, alignment, fault);
            if (result != 0)
                return result;
        }
    }
    return result;
}

static int histogram_change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct histogram_config *config = config_;
    const struct plane from = *plane;
    uint32_t bins = (uint32_t)config->bins, values = values_of(&from, bins);
    if (sample_is_integer(from.type) && (values < bins || values % bins != 0))
        return fault_set(fault, FAULT_SHAPE, "histogram: bins=%u: of %s a power of two, at most %u",
                         bins, sample_name(from.type), values);
    *plane = (struct plane){.width = bins,
                            .height = (uint32_t)(config->regions.across * config->regions.down),
                            .channels = colours_of(&from),
                            .type = SAMPLE_I32};
    snprintf(plane->name, sizeof plane->name, "%s", from.name[0] ? from.name : "histogram");
    return check("histogram", &config->regions, &from, values, fault);
}

/* ---- passes ---- */

#define BLOCK 256 /* values that are summed up together */

static uint32_t sets_of(const struct count *count)
{
    return count->tiles * count->colours;
}

/* Ints in front of the blocks' numbers, four 64-bit ones of each. */
static uint32_t sums_at(const struct count *count)
{
    return (uint32_t)((count_bytes(count) / sizeof(int32_t) + 1) / 2 * 2);
}

static int add_statistics(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct statistics_config *config = config_;
    struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX];
    unsigned n = statistics_numbers(config, numbers);
    struct scratch state = {0};
    struct count count;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *in = &plan->in->planes[i];
        int32_t table[4 * (5 + 2 * STATISTICS_NUMBERS_MAX)];
        count_regions(plan, in, (uint32_t)config->regions.across, (uint32_t)config->regions.down,
                      65536, &count);
        stage_plan_memory(plan, &state,
                          sizeof(int32_t) * (uint64_t)sums_at(&count) +
                              32 * (uint64_t)sets_of(&count) * count.bins / BLOCK);
        count_add(plan, i, state.operand, &count);
        for (unsigned k = 0; k < n; k++) {
            const struct plane *out = &plan->out->planes[i * n + k];
            table[4 * k] = (int32_t)numbers[k].kind;
            table[4 * k + 1] = numbers[k].value;
            table[4 * k + 2] = (int32_t)out->offset;
            table[4 * k + 3] = (int32_t)out->stride;
        }
        uint32_t blocks = count.bins / BLOCK;
        struct pass *sum = count_pass(plan, "statistics", "sum", in, state.operand, &count,
                                      blocks * sets_of(&count));
        sum->work = 256.0 * 8 * count.parts / (count_together(plan) ? COUNT_ITEMS : 1);
        sum->bytes_read = count_bytes(&count);
        pass_ints(sum, count.parts, count.colours, sums_at(&count));
        struct pass *pass = pass_begin(plan, "statistics", "numbers", FORM_SCALAR, 1,
                                       (uint32_t)config->regions.across * count.colours,
                                       (uint32_t)config->regions.down);
        pass_name(pass, kernel_form_name(FORM_SCALAR));
        pass_define_type(pass, "SRC", in->type);
        pass_define(pass, "LEVEL_MIN", "%d", (int)sample_min(in->type));
        pass->work = 500.0 * n + 4.0 * blocks * n;
        pass->bytes_read = 32 * (uint64_t)blocks * sets_of(&count);
        pass_buffer(pass, state.operand);
        pass_buffer(pass, OPERAND_OUT);
        pass_buffer(pass, stage_plan_table(plan, table, 4 * n * sizeof *table));
        pass_ints(pass, n, count.bins, count.parts, count.colours, sums_at(&count));
    }
    return 0;
}

static int add_histogram(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct histogram_config *config = config_;
    uint32_t bins = (uint32_t)config->bins;
    struct scratch state = {0};
    struct count count;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *in = &plan->in->planes[i];
        count_regions(plan, in, (uint32_t)config->regions.across, (uint32_t)config->regions.down,
                      bins, &count);
        stage_plan_memory(plan, &state, count_bytes(&count));
        count.low = histogram_low(config);
        count.scale = count.scaled ? histogram_scale(config, in) : 0;
        count_add(plan, i, state.operand, &count);
        struct pass *pass = pass_begin(plan, "statistics", "bins", FORM_SCALAR, 1,
                                       bins * count.colours, count.tiles);
        pass_name(pass, kernel_form_name(FORM_SCALAR));
        pass->work = 2.0 * count.parts * count.bins / bins;
        pass->bytes_read = count_bytes(&count);
        pass->bytes_written = plane_bytes(&plan->out->planes[i]);
        pass_buffer(pass, state.operand);
        pass_plane(pass, OPERAND_OUT, i);
        pass_ints(pass, count.bins, count.bins / bins, count.parts, count.colours);
    }
    return 0;
}

#define COUNTED_TYPES (1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16)

const struct stage stage_statistics = {
    .name = "statistics",
    .summary = "numbers in place of the picture: how many samples, mean, deviation, percentiles",
    .params = statistics_params,
    .config_size = sizeof(struct statistics_config),
    .types = COUNTED_TYPES,
    .complete = complete_statistics,
    .shape = statistics_shape,
    .passes = add_statistics,
    .reference = statistics_reference,
};

const struct stage stage_histogram = {
    .name = "histogram",
    .summary = "in place of the picture, how many samples there are of each value",
    .params = histogram_params,
    .config_size = sizeof(struct histogram_config),
    .types = COUNTED_TYPES | 1u << SAMPLE_F32,
    .complete = complete_histogram,
    .change = histogram_change,
    .passes = add_histogram,
    .reference = histogram_reference,
};
