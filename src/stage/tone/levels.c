/* levels of integers uses a table with the result for each value of the type, which is made here.
 * If one multiplication in f32 gives the same results, which is tried for every value, no table is
 * needed. */
#include "stage/tone/tone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stage/common.h"

static const struct param_choice max_choices[] = {
    {"max", LEVELS_MAX},
    {NULL, 0},
};

/* Within these numbers, what kernels compute in f32 has its usual accuracy: a factor is at most
 * 2e27, and a power loses 1/gamma times what the base has lost. */
#define NUMBER_MOST   1e15
#define BETWEEN_LEAST 1e-12
#define GAMMA_LEAST   0.01
#define GAMMA_MOST    100

static const struct param params[] = {
    PARAM(REAL, "black", offsetof(struct levels_config, black),
          "samples of at most this become low", RANGE(-NUMBER_MOST, NUMBER_MOST), DEFAULT("0")),
    PARAM(REAL_OR_CHOICE, "white", offsetof(struct levels_config, white),
          "samples of at least this become high; max is the picture's",
          RANGE(-NUMBER_MOST, NUMBER_MOST), .choices = max_choices, DEFAULT("max")),
    PARAM(REAL, "gamma", offsetof(struct levels_config, gamma),
          "above 1 what lies between becomes brighter, below darker",
          RANGE(GAMMA_LEAST, GAMMA_MOST), DEFAULT("1")),
    PARAM(REAL, "low", offsetof(struct levels_config, low), "what black becomes",
          RANGE(-NUMBER_MOST, NUMBER_MOST), DEFAULT("0")),
    PARAM(REAL_OR_CHOICE, "high", offsetof(struct levels_config, high),
          "what white becomes; max is the picture's white", RANGE(-NUMBER_MOST, NUMBER_MOST),
          .choices = max_choices, DEFAULT("max")),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    const struct levels_config *config = config_;
    if (config->white.choice != LEVELS_MAX &&
        fabs(config->white.value - config->black) < BETWEEN_LEAST)
        return fault_set(fault, FAULT_CHAIN,
                         "levels: black and white are both %g: nothing lies "
                         "between",
                         config->black);
    return 0;
}

/* The line (v − black)·gain + low, limited to least … most. */
struct line {
    float black, gain, low, least, most;
};

static struct line line_of(const struct levels_config *config, const struct plane *in)
{
    struct levels_range range = levels_range(config, in);
    double least = fmin(range.low, range.high), most = fmax(range.low, range.high);
    if (sample_is_integer(in->type)) {
        least = fmin(fmax(least, 0), plane_white(in));
        most = fmin(fmax(most, 0), plane_white(in));
    }
    return (struct line){.black = (float)range.black,
                         .gain = (float)((range.high - range.low) / (range.white - range.black)),
                         .low = (float)range.low,
                         .least = (float)least,
                         .most = (float)most};
}

/* The result for each value of the type. NULL: no memory. */
static void *make_table(const struct levels_config *config, const struct plane *in)
{
    enum sample_type type = in->type;
    size_t size = sample_size(type), count = (size_t)sample_max(type) + 1;
    uint8_t *table = malloc(count * size);
    for (size_t v = 0; table && v < count; v++)
        sample_store(type, table + v * size,
                     (double)sample_saturate(type, levels_value(config, in, (double)v)));
    return table;
}

static bool is_line(const struct levels_config *config, const void *table, enum sample_type type,
                    const struct line *line)
{
    size_t size = sample_size(type), count = (size_t)sample_max(type) + 1;
    for (size_t v = 0; v < count && config->gamma == 1; v++) {
        float product = ((float)v - line->black) * line->gain;
        float limited = fminf(fmaxf(product + line->low, line->least), line->most);
        if ((double)sample_saturate(type, limited) !=
            sample_load(type, (const uint8_t *)table + v * size))
            return false;
    }
    return config->gamma == 1;
}

static void add_line(struct pixel_function *function, const struct line *line)
{
    pass_kernel(&function->needs, "line");
    pass_floats(&function->needs, line->black, line->gain, line->low, line->least, line->most);
}

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct levels_config *config = config_;
    enum sample_type type = in->type;
    struct levels_range range = levels_range(config, in);
    function->type = type;
    function->keep_alpha = true;
    if (fabs(range.white - range.black) < BETWEEN_LEAST)
        return fault_set(fault, FAULT_SHAPE,
                         "levels: black and white are both %g in a picture of %s", range.black,
                         sample_name(type));
    if (!function->plan)
        return 0;
    struct line line = line_of(config, in);
    if (type == SAMPLE_F32 && config->gamma == 1) {
        add_line(function, &line);
        return 0;
    }
    if (type == SAMPLE_F32) {
        /* ((v − black)·scale, limited to 0 and 1)^exponent·(high − low) + low */
        pass_floats(&function->needs, (float)range.black, (float)(1 / (range.white - range.black)),
                    (float)(1 / config->gamma), (float)(range.high - range.low), (float)range.low);
        pass_kernel(&function->needs, "curve");
        snprintf(function->variant, sizeof function->variant, "curve");
        function->needs.work = 40;
        return 0;
    }
    void *table = make_table(config, in);
    if (!table)
        return fault_set(fault, FAULT_MEMORY, "no memory for a table");
    if (is_line(config, table, type, &line)) {
        add_line(function, &line);
    } else {
        pass_table(&function->needs,
                   stage_plan_table(function->plan, table,
                                    ((size_t)sample_max(type) + 1) * sample_size(type)));
        snprintf(function->variant, sizeof function->variant, "table");
        function->wide = true;
    }
    free(table);
    return 0;
}

/* pow may be off by 16 units in the last place, its base by three roundings, which the power makes
 * 1/gamma times as large; and what is subtracted may be as large as low. */
static struct tolerance tolerance(const void *config_, enum sample_type in, enum sample_type out)
{
    const struct levels_config *config = config_;
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    double power = config->gamma < 1 ? 1 / config->gamma : 1;
    return (struct tolerance){4e-6 * fabs(config->low) + 1e-7, 4e-6 + 3e-7 * power};
}

const struct stage stage_levels = {
    .name = "levels",
    .chains = (const char *const[]){"levels", "levels:gamma=3", NULL},
    .summary =
        "tones between black and white, spread or narrowed to others, along a line or a curve",
    .params = params,
    .config_size = sizeof(struct levels_config),
    .complete = complete,
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32,
    .pixel = pixel,
    .sample = levels_sample,
    .tolerance = tolerance,
    .bench = "levels:20:220",
};
