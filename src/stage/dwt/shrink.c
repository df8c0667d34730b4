/* Denoising by thresholds for wavelet coefficients. Thresholds that depend on the picture are
 * computed on the device: see cl/dwt/shrink.cl. */
#include "stage/dwt/shrink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/count.h"
#include "stage/dwt/wavelet.h"

static const struct param_choice rule_choices[] = {{"soft", SHRINK_SOFT},
                                                   {"hard", SHRINK_HARD},
                                                   {"garrote", SHRINK_GARROTE},
                                                   {"firm", SHRINK_FIRM},
                                                   {"greater", SHRINK_GREATER},
                                                   {"less", SHRINK_LESS},
                                                   {NULL, 0}};

static const struct param params[] = {
    PARAM(CHOICE, "rule", offsetof(struct shrink_config, rule),
          "what becomes of a coefficient: soft moves it towards 0 by the threshold, hard drops it "
          "below the threshold, garrote subtracts less the "
          "larger a coefficient is, firm nothing from upper times the threshold on; greater and "
          "less drop those below and above it, by their sign",
          .choices = rule_choices, DEFAULT("soft")),
    PARAM(REAL_OR_CHOICE, "threshold", offsetof(struct shrink_config, threshold),
          "for coefficients of an orthonormal transform; universal finds it from the picture's "
          "noise, one for all bands, bayes and sure one for each",
          RANGE(0, 1e12),
          CHOICES({"universal", SHRINK_UNIVERSAL}, {"bayes", SHRINK_BAYES}, {"sure", SHRINK_SURE}),
          DEFAULT("universal")),
    PARAM(REAL_OR_CHOICE, "levels", offsetof(struct shrink_config, levels),
          "how many levels to change, the finest first", RANGE(1, DWT_LEVELS_MAX),
          CHOICES({"all", SHRINK_ALL}), DEFAULT("all")),
    PARAM(REAL, "upper", offsetof(struct shrink_config, upper),
          "of rule=firm: from how many times the threshold on coefficients stay; 2 unless given",
          RANGE(1, 1e6)),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct shrink_config *config = config_;
    enum {
        UPPER = 3
    }; /* among the parameters */
    if (*given & (param_given)1 << UPPER && config->rule != SHRINK_FIRM)
        return fault_set(fault, FAULT_CHAIN, "stage 'shrink': upper is for rule=firm");
    if (!(*given & (param_given)1 << UPPER))
        config->upper = 2;
    if (config->levels.choice == PARAM_IS_NUMBER &&
        config->levels.value != floor(config->levels.value))
        return fault_set(fault, FAULT_CHAIN, "stage 'shrink': levels is a whole number, or all");
    return 0;
}

double shrink_slope(const struct shrink_config *config)
{
    return config->upper > 1 ? config->upper / (config->upper - 1)
                             : 0; /* there is nothing between */
}

bool shrink_takes_level(const struct shrink_config *config, unsigned i)
{
    return config->levels.choice == SHRINK_ALL || i < (unsigned)config->levels.value;
}

/* How many levels down to `level` take a side of more than 1 apart. */
static unsigned levels_of_side(const struct dwt_layout *layout, unsigned level, bool vertical)
{
    unsigned count = 0;
    if (layout->axis == (vertical ? DWT_X : DWT_Y))
        return 0;
    for (unsigned i = 0; i <= level; i++)
        count += (vertical ? layout->levels[i].height : layout->levels[i].width) > 1;
    return count;
}

double shrink_norm(const struct dwt_config *dwt, const struct dwt_layout *layout, unsigned level,
                   enum dwt_band band)
{
    double low, high, norm;
    if (dwt->norm)
        return exp2((level + 1) * (dwt->axis == DWT_BOTH ? 1 : 0.5));
    if (!wavelet_is_cdf(dwt->wavelet))
        return 1;
    wavelet_cdf_norms(dwt->wavelet, levels_of_side(layout, level, false), &low, &high);
    norm = band & DWT_HL ? high : low;
    wavelet_cdf_norms(dwt->wavelet, levels_of_side(layout, level, true), &low, &high);
    return norm * (band & DWT_LH ? high : low);
}

/* median(|HH1|) / 0.6745 in orthonormal units (Donoho, Johnstone, Biometrika 81, 1994). */
double shrink_sigma_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                           unsigned level, enum dwt_band band)
{
    return shrink_norm(dwt, layout, 0, layout->finest) / 0.6745 /
           shrink_norm(dwt, layout, level, band);
}

double shrink_universal_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                               unsigned level, enum dwt_band band)
{
    double n = (double)layout->levels[0].width * layout->levels[0].height;
    return shrink_sigma_factor(dwt, layout, level, band) * sqrt(2 * log(n));
}

double shrink_step_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                          unsigned level, enum dwt_band band, uint64_t n)
{
    return shrink_sigma_factor(dwt, layout, level, band) * sqrt(2 * log((double)n)) / SHRINK_STEPS;
}

/* 8σ² in squares of a step. */
int32_t shrink_step_weight(uint64_t n)
{
    return n > 1 ? (int32_t)lrint(4.0 * SHRINK_STEPS * SHRINK_STEPS / log((double)n)) : 0;
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    int result = dwt_check_frame("shrink", in, fault);
    for (size_t i = 0; i < in->n_planes && result == 0; i++)
        result = stage_add_plane(out, &in->planes[i], alignment, fault);
    return result;
}

/* How a plane is divided for counting and adding: bands of rows, one for each work-item on a CPU;
 * on a GPU a column of a band, with counts in a few rows that work-items share. Where work-groups
 * count together, a band for each of them. */
struct cut {
    enum kernel_form form;
    uint32_t rows, bands, parts;
};

/* Bits that are found at a time, and rows that a work-group counts together. */
enum {
    BITS = 8,
    BITS_TOGETHER = 11,
    ROWS_TOGETHER = 4
};

/* As in cl/dwt/shrink.cl; values of each band: a threshold, or its factor, for each channel. */
enum {
    PLACE_INTS = 9,
    VALUES = DWT_LEVELS_MAX * DWT_BANDS * PLANE_CHANNELS_MAX
};

static struct cut cut_plane(const struct stage_plan *plan, const struct plane *plane)
{
    struct cut cut = {.form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR};
    cut.rows = cut.form == FORM_ROWS ? (plane->height + 63) / 64 : 32;
    cut.bands = (plane->height + cut.rows - 1) / cut.rows;
    cut.parts = cut.form == FORM_ROWS ? cut.bands : count_together(plan) ? 1 : 16;
    return cut;
}

/* What the passes of one plan share. */
struct shrinking {
    const struct shrink_config *config;
    struct stage_plan *plan;
    struct dwt_config dwt;
    struct dwt_layout layout;
    bool together;                        /* as cl/dwt/shrink.cl says */
    unsigned first;                       /* the transform's first plane */
    int32_t places_at;                    /* its first number in `places` */
    unsigned state, columns, sums, limit; /* operands */
    unsigned places, values;              /* the same, where planes go together */
    uint32_t parts;                       /* the most that a plane is counted in */
};

/* Whether each band has a threshold of its own, which is found from its coefficients. */
static bool is_by_band(const struct shrink_config *config)
{
    return config->threshold.choice == SHRINK_BAYES || config->threshold.choice == SHRINK_SURE;
}

static bool is_fixed(const struct shrink_config *config)
{
    return config->threshold.choice == PARAM_IS_NUMBER;
}

static struct pass *begin(const struct shrinking *s, const char *part, enum kernel_form form,
                          uint32_t span, uint32_t width, uint32_t height)
{
    struct pass *pass = pass_begin(s->plan, "shrink", part, form, span, width, height);
    pass_define_type(pass, "SRC", s->layout.type);
    pass_define(pass, "WORK", "%s", s->layout.type == SAMPLE_F64 ? "double" : "float");
    if (s->layout.type == SAMPLE_F64)
        pass_define(pass, "WORK_IS_double", "1");
    pass_define(pass, "C", "%u", s->layout.channels);
    if (s->layout.channels > 1)
        pass_name(pass, "c3");
    pass_name(pass, kernel_form_name(form));
    return pass;
}

/* A pass whose work-groups work together. */
static struct pass *begin_together(const struct shrinking *s, const char *part, uint32_t height)
{
    struct pass *pass = begin(s, part, FORM_SCALAR, 1, COUNT_ITEMS, height);
    pass->group[0] = COUNT_ITEMS;
    pass->group[1] = 1;
    pass_define(pass, "TOGETHER", "1");
    pass_define(pass, "ITEMS", "%d", COUNT_ITEMS);
    pass_define(pass, "BINS", "%d", 1 << BITS_TOGETHER);
    return pass;
}

static void pass_work(const struct shrinking *s, struct pass *pass, double value)
{
    if (s->layout.type == SAMPLE_F64)
        pass_double(pass, value);
    else
        pass_float(pass, (float)value);
}

static const struct plane *plane_of(const struct shrinking *s, unsigned level, enum dwt_band band,
                                    unsigned *index)
{
    int plane = s->layout.levels[level].plane[band];
    if (plane < 0)
        return NULL;
    *index = s->first + (unsigned)plane;
    return &s->plan->in->planes[*index];
}

/* The counts of all of a work-group's rows, and what they say, for the bits of a magnitude from
 * `shift` on. */
static void add_bits_together(const struct shrinking *s, const struct plane *plane, unsigned index,
                              int shift, int bits)
{
    uint32_t c = s->layout.channels, bands = (plane->height + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
    struct pass *pass = begin_together(s, "count_together", bands * c);
    pass_define(pass, "ALIGNED", "%d", c == 1 && pass_is_aligned(plane));
    pass->work = 8.0 * ROWS_TOGETHER * plane->width / COUNT_ITEMS;
    pass->bytes_read = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, s->state, 0);
    pass_ints(pass, ROWS_TOGETHER, plane->height, plane->width * c, shift, bits);
    pass = begin_together(s, "pick_together", c);
    pass->work = 64;
    pass->bytes_read = 2 * c * (sizeof(int32_t) << BITS_TOGETHER);
    pass_plane(pass, s->state, 0);
    pass_int(pass, bits);
}

/* Stores the two middle magnitudes of HH1 in the state. */
static void add_median(const struct shrinking *s)
{
    unsigned index = 0;
    const struct plane *plane = plane_of(s, 0, s->layout.finest, &index);
    struct cut cut = cut_plane(s->plan, plane);
    uint32_t c = s->layout.channels, rows = 1 + 2 * c * s->parts;
    uint32_t bins = 1u << (s->together ? BITS_TOGETHER : BITS);
    struct pass *pass = begin(s, "clear", cut.form, 0, bins, rows);
    pass->bytes_written = rows * UINT64_C(4) * bins;
    pass_plane(pass, s->state, 0);
    pass_int(pass, (int32_t)(plane->width * plane->height));
    for (int left = (int)sample_size(plane->type) * 8; s->together && left > 0;) {
        int bits = left < BITS_TOGETHER ? left : BITS_TOGETHER;
        left -= bits;
        add_bits_together(s, plane, index, left, bits);
    }
    if (s->together)
        return;
    for (int shift = (int)sample_size(plane->type) * 8 - 8; shift >= 0; shift -= 8) {
        uint32_t width = plane->width * c;
        pass = begin(s, "count", cut.form, cut.form == FORM_ROWS ? PASS_WHOLE_ROW : 1, width,
                     cut.bands);
        pass->work = 8.0 * cut.rows;
        pass->bytes_read = plane_bytes(plane);
        pass_plane(pass, OPERAND_IN, index);
        pass_plane(pass, s->state, 0);
        pass_ints(pass, cut.rows, plane->height, cut.parts, shift);
        pass = begin(s, "pick", cut.form, 1, c, 1);
        pass->work = 1024.0 * cut.parts;
        pass->bytes_read = (1 + 2 * c * cut.parts) * UINT64_C(1024);
        pass_plane(pass, s->state, 0);
        pass_int(pass, (int32_t)cut.parts);
    }
}

/* Adds sums of squares of a band, for each of its bands of rows and each channel. */
static struct cut add_squares(const struct shrinking *s, const struct plane *plane, unsigned index)
{
    struct cut cut = cut_plane(s->plan, plane);
    uint32_t width = plane->width * plane->channels;
    bool rows = cut.form == FORM_ROWS;
    struct pass *pass = begin(s, "squares", cut.form, rows ? PASS_WHOLE_ROW : 1, width, cut.bands);
    pass->work = 8.0 * cut.rows;
    pass->bytes_read = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, rows ? s->sums : s->columns, 0);
    pass_ints(pass, cut.rows, plane->height);
    if (rows)
        return cut;
    pass = begin(s, "gather", cut.form, 1, plane->channels, cut.bands);
    pass->work = 16.0 * plane->width;
    pass_plane(pass, s->columns, 0);
    pass_plane(pass, s->sums, 0);
    pass_int(pass, (int32_t)plane->width);
    return cut;
}

unsigned shrink_value_at(unsigned level, enum dwt_band band)
{
    return (level * DWT_BANDS + band) * PLANE_CHANNELS_MAX;
}

/* Adds where a band's threshold goes. */
static void pass_limit(const struct shrinking *s, struct pass *pass, unsigned level,
                       enum dwt_band band)
{
    if (s->plan->out_of_memory)
        return;
    struct view limit = {s->limit, s->plan->scratch[s->limit - OPERAND_SCRATCH].planes[0]};
    if (s->together)
        limit.plane.offset += shrink_value_at(level, band) * sample_size(limit.plane.type);
    pass_view(pass, &limit);
}

/* Counts a band's magnitudes by steps, and takes the threshold of least risk. */
static void add_least(const struct shrinking *s, const struct plane *plane, unsigned index,
                      unsigned level, enum dwt_band band)
{
    struct cut cut = cut_plane(s->plan, plane);
    uint32_t c = plane->channels, width = plane->width * c;
    uint64_t samples = (uint64_t)plane->width * plane->height;
    double factor = shrink_step_factor(&s->dwt, &s->layout, level, band, samples);
    bool rows = cut.form == FORM_ROWS;
    uint32_t bands = (plane->height + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
    struct pass *pass = s->together ? begin_together(s, "steps", bands * c)
                                    : begin(s, "steps", cut.form, rows ? PASS_WHOLE_ROW : 1, width,
                                            cut.bands);
    pass->work = 16.0 * (s->together ? ROWS_TOGETHER * plane->width / COUNT_ITEMS : cut.rows);
    pass->bytes_read = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, s->state, 0);
    pass_ints(pass, s->together ? ROWS_TOGETHER : cut.rows, plane->height, cut.parts);
    pass_work(s, pass, factor);
    if (s->together)
        pass_int(pass, (int32_t)width);
    pass = begin(s, "least", cut.form, 1, c, 1);
    pass->work = 4.0 * SHRINK_STEPS * (cut.parts + 4);
    pass->bytes_read = c * cut.parts * UINT64_C(4) * SHRINK_STEPS;
    pass_plane(pass, s->state, 0);
    pass_limit(s, pass, level, band);
    pass_int(pass, (int32_t)cut.parts);
    pass_work(s, pass, factor);
    pass_ints(pass, (int32_t)samples, shrink_step_weight(samples));
}

static void add_limit(const struct shrinking *s, const struct plane *plane, unsigned index,
                      unsigned level, enum dwt_band band)
{
    bool bayes = s->config->threshold.choice == SHRINK_BAYES;
    if (s->config->threshold.choice == SHRINK_SURE) {
        add_least(s, plane, index, level, band);
        return;
    }
    struct cut cut = {.form = s->plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR};
    if (bayes)
        cut = add_squares(s, plane, index);
    struct pass *pass = begin(s, "limit", cut.form, 1, plane->channels, 1);
    if (!bayes) {
        pass_define(pass, "UNIVERSAL", "1");
        pass_name(pass, "universal");
    }
    pass->work = 32.0 * (cut.bands + 1);
    pass_plane(pass, s->state, 0);
    pass_plane(pass, bayes ? s->sums : s->limit, 0);
    pass_limit(s, pass, level, band);
    pass_int(pass, (int32_t)cut.bands);
    pass_work(s, pass, (double)plane->width * plane->height);
    pass_work(s, pass,
              bayes ? shrink_sigma_factor(&s->dwt, &s->layout, level, band)
                    : shrink_universal_factor(&s->dwt, &s->layout, level, band));
}

/* A table of the fixed threshold in the units of each band, or of what the median is multiplied
 * with to give it, for each channel the same. */
static unsigned add_values(const struct shrinking *s)
{
    double wide[VALUES] = {0};
    float narrow[VALUES] = {0};
    for (unsigned i = 0; i < s->layout.n_levels * DWT_BANDS * PLANE_CHANNELS_MAX; i++) {
        unsigned level = i / PLANE_CHANNELS_MAX / DWT_BANDS;
        enum dwt_band band = (enum dwt_band)(i / PLANE_CHANNELS_MAX % DWT_BANDS);
        wide[i] = is_fixed(s->config)
                      ? s->config->threshold.value / shrink_norm(&s->dwt, &s->layout, level, band)
                      : shrink_universal_factor(&s->dwt, &s->layout, level, band);
        narrow[i] = (float)wide[i];
    }
    if (s->layout.type == SAMPLE_F64)
        return stage_plan_table(s->plan, wide, sizeof wide);
    return stage_plan_table(s->plan, narrow, sizeof narrow);
}

/* Adds the rule's numbers, behind all other arguments. */
static void pass_rule(const struct shrinking *s, struct pass *pass)
{
    if (s->config->rule != SHRINK_FIRM)
        return;
    pass_numbers(pass, "WORK upper, WORK slope", "upper, slope");
    pass_work(s, pass, s->config->upper);
    pass_work(s, pass, shrink_slope(s->config));
}

/* Whether the band stays as it is. */
static bool is_copied(const struct shrinking *s, unsigned level, enum dwt_band band)
{
    bool has_noise = is_fixed(s->config) || s->layout.levels[0].plane[s->layout.finest] >= 0;
    return band == DWT_LL || !shrink_takes_level(s->config, level) || !has_noise;
}

/* Vectors, for planes of one channel on GPUs. */
static bool takes_four(const struct shrinking *s, const struct plane *plane)
{
    const struct device_profile *profile = s->plan->profile;
    return (profile->takes_columns || s->together) && plane->channels == 1 &&
           sample_size(plane->type) == 4 && pass_is_aligned(plane);
}

static void define_rule(const struct shrink_config *config, struct pass *pass)
{
    char rule[24];
    snprintf(rule, sizeof rule, "RULE_%s", param_choice_name(rule_choices, config->rule));
    pass_define(pass, rule, "1");
}

static void add_band(const struct shrinking *s, unsigned level, enum dwt_band band)
{
    unsigned index = 0;
    const struct plane *plane = plane_of(s, level, band, &index);
    if (!plane)
        return;
    bool copies = is_copied(s, level, band);
    if (!copies && !is_fixed(s->config))
        add_limit(s, plane, index, level, band);
    enum kernel_form form = s->plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    const char *part = copies ? "copy" : param_choice_name(rule_choices, s->config->rule);
    struct pass *pass = begin(s, part, form, takes_four(s, plane) ? 4 : 0,
                              plane->width * plane->channels, plane->height);
    pass_planes(pass, s->plan, index);
    if (copies)
        return;
    pass->work = 6;
    define_rule(s->config, pass);
    pass_buffer(pass, is_fixed(s->config) ? s->values : s->limit);
    pass_int(pass, is_fixed(s->config) ? (int32_t)shrink_value_at(level, band) : 0);
    pass_rule(s, pass);
}

/* Describes the planes of a transform for one launch, the largest ones first; returns how many
 * numbers that are. */
static unsigned describe_places(const struct shrinking *s, int32_t *numbers)
{
    int32_t rows = 0, *at = numbers;
    for (unsigned i = 0; i < s->layout.n_levels * DWT_BANDS; i++) {
        unsigned index, level = i / DWT_BANDS;
        enum dwt_band band = (enum dwt_band)(DWT_BANDS - 1 - i % DWT_BANDS);
        const struct plane *in = plane_of(s, level, band, &index);
        if (!in)
            continue;
        const struct plane *out = &s->plan->out->planes[index];
        size_t size = sample_size(in->type);
        const int32_t place[PLACE_INTS] = {
            rows + (int32_t)in->height,          rows,
            (int32_t)(in->offset / size),        (int32_t)(in->stride / size),
            (int32_t)(out->offset / size),       (int32_t)(out->stride / size),
            (int32_t)(in->width * in->channels), is_copied(s, level, band),
            (int32_t)shrink_value_at(level, band)};
        memcpy(at, place, sizeof place);
        at += PLACE_INTS;
        rows = place[0];
    }
    return (unsigned)(at - numbers);
}

/* Thresholds of bands, each of which has its own. */
static void add_limits(const struct shrinking *s)
{
    for (unsigned level = 0; level < s->layout.n_levels; level++)
        for (int band = 0; band < DWT_BANDS; band++) {
            unsigned index;
            const struct plane *plane = plane_of(s, level, (enum dwt_band)band, &index);
            if (plane && !is_copied(s, level, (enum dwt_band)band))
                add_limit(s, plane, index, level, (enum dwt_band)band);
        }
}

static struct shrink_limits limits_of(const struct shrinking *s)
{
    return (struct shrink_limits){s->config, is_by_band(s->config) ? s->limit : s->values,
                                  s->state};
}

void shrink_define_limits(struct pass *pass, const struct shrink_limits *limits)
{
    define_rule(limits->config, pass);
    if (limits->config->threshold.choice == SHRINK_UNIVERSAL)
        pass_define(pass, "UNIVERSAL", "1");
}

void shrink_pass_limits(struct pass *pass, const struct shrink_limits *limits)
{
    pass_buffer(pass, limits->values);
    if (limits->config->threshold.choice == SHRINK_UNIVERSAL)
        pass_plane(pass, limits->state, 0);
}

/* All planes of a transform in one launch. */
static void add_together(struct shrinking *s)
{
    bool four = true;
    uint32_t width = 0, height = 0, n_places = 0;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < s->layout.n_levels * DWT_BANDS; i++) {
        unsigned index;
        const struct plane *plane =
            plane_of(s, i / DWT_BANDS, (enum dwt_band)(i % DWT_BANDS), &index);
        if (!plane)
            continue;
        four &= takes_four(s, plane) && pass_is_aligned(&s->plan->out->planes[index]);
        width = plane->width > width ? plane->width : width;
        height += plane->height;
        bytes += plane_bytes(plane);
        n_places++;
    }
    if (n_places == 0)
        return;
    struct shrink_limits limits = limits_of(s);
    struct pass *pass = begin(s, param_choice_name(rule_choices, s->config->rule), FORM_SCALAR,
                              four ? 4 : 1, width * s->layout.channels, height);
    shrink_define_limits(pass, &limits);
    pass_define(pass, "TOGETHER", "1");
    pass_name(pass, "together");
    pass->work = 6;
    pass->bytes_read = pass->bytes_written = bytes;
    pass_buffer(pass, OPERAND_IN);
    pass_buffer(pass, OPERAND_OUT);
    pass_buffer(pass, s->places);
    pass_int(pass, s->places_at);
    shrink_pass_limits(pass, &limits);
    pass_rule(s, pass);
    s->places_at += (int32_t)n_places * PLACE_INTS;
}

/* Adds scratch memory that is large enough for every plane. */
static void add_scratch(struct shrinking *s)
{
    uint32_t parts = 1, bands = 1, width = 1;
    const struct frame *in = s->plan->in;
    for (size_t i = 0; i < in->n_planes; i++) {
        struct cut cut = cut_plane(s->plan, &in->planes[i]);
        uint32_t samples = in->planes[i].width * in->planes[i].channels;
        parts = cut.parts > parts ? cut.parts : parts;
        bands = cut.bands > bands ? cut.bands : bands;
        width = samples > width ? samples : width;
    }
    enum sample_type type = s->layout.type == SAMPLE_F64 ? SAMPLE_F64 : SAMPLE_F32;
    s->parts = parts;
    s->state = stage_plan_scratch(s->plan, 1u << (s->together ? BITS_TOGETHER : BITS),
                                  1 + 2 * PLANE_CHANNELS_MAX * parts, 1, SAMPLE_I32);
    s->limit = stage_plan_scratch(s->plan, s->together ? VALUES : PLANE_CHANNELS_MAX, 1, 1, type);
    if (s->config->threshold.choice != SHRINK_BAYES)
        return;
    s->sums = stage_plan_scratch(s->plan, 2 * PLANE_CHANNELS_MAX, bands, 1, type);
    if (s->plan->profile->form != FORM_ROWS)
        s->columns = stage_plan_scratch(s->plan, 2 * width, bands, 1, type);
}

static int read_origin(struct shrinking *s, size_t i, struct fault *fault)
{
    s->first = (unsigned)s->plan->in->origins[i].first;
    int result = dwt_read_origin("shrink", s->plan->in, i, &s->dwt, &s->layout, fault);
    return result ? result : dwt_check_device(s->plan, s->dwt.precision, fault);
}

/* One table of the planes of all transforms. */
static int add_places(struct shrinking *s, struct fault *fault)
{
    int32_t *numbers = calloc(s->plan->in->n_planes + 1, PLACE_INTS * sizeof *numbers);
    size_t count = 0;
    int result = numbers ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    for (size_t i = 0; i < s->plan->in->n_origins && result == 0; i++) {
        result = read_origin(s, i, fault);
        count += result == 0 ? describe_places(s, numbers + count) : 0;
    }
    if (result == 0)
        s->places = stage_plan_table(s->plan, numbers, count * sizeof *numbers);
    free(numbers);
    return result;
}

/* Adds the passes that find the thresholds of transform i, after those of the ones before it. */
static int find_limits(struct shrinking *s, size_t i, struct fault *fault)
{
    int result = read_origin(s, i, fault);
    if (result != 0)
        return result;
    if (s->plan->n_tables + 1 == STAGE_TABLES_MAX)
        return fault_set(fault, FAULT_LIMIT, "shrink: planes of too many shapes at once");
    if (is_fixed(s->config) || (s->together && s->config->threshold.choice == SHRINK_UNIVERSAL))
        s->values = add_values(s);
    if (!is_fixed(s->config) && i == 0)
        add_scratch(s);
    if (!is_fixed(s->config) && s->layout.levels[0].plane[s->layout.finest] >= 0)
        add_median(s);
    if (s->together && is_by_band(s->config))
        add_limits(s);
    return 0;
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct shrinking s = {.config = config, .plan = plan, .together = count_together(plan)};
    int result = s.together ? add_places(&s, fault) : 0;
    for (size_t i = 0; i < plan->in->n_origins && result == 0; i++) {
        result = find_limits(&s, i, fault);
        for (unsigned level = s.layout.n_levels; result == 0 && level-- > 0 && !s.together;)
            for (int band = 0; band < DWT_BANDS; band++)
                add_band(&s, level, (enum dwt_band)band);
        if (result == 0 && s.together)
            add_together(&s);
    }
    return result;
}

int shrink_find_limits(const struct shrink_config *config, struct stage_plan *plan,
                       struct shrink_limits *limits, struct fault *fault)
{
    struct shrinking s = {.config = config, .plan = plan, .together = count_together(plan)};
    if (!s.together || plan->in->n_origins != 1 || config->rule == SHRINK_FIRM)
        return 0;
    int result = find_limits(&s, 0, fault);
    if (result == 0 && (is_fixed(config) || s.layout.levels[0].plane[s.layout.finest] >= 0))
        *limits = limits_of(&s);
    return result;
}

static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    if (out == SAMPLE_I32)
        return (struct tolerance){0, 0};
    return out == SAMPLE_F64 ? (struct tolerance){1e-9, 1e-12} : (struct tolerance){1e-3, 1e-5};
}

static const char *const chains[] = {
    "dwt:wavelet=cdf53,shrink",
    "dwt,shrink:threshold=bayes",
    "dwt,shrink:threshold=sure",
    "dwt,shrink:rule=hard",
    "dwt,shrink:rule=garrote",
    "dwt,shrink:rule=firm",
    "dwt,shrink:rule=greater",
    "dwt,shrink:rule=less",
    "dwt:precision=double,shrink:rule=firm",
    "dwt:precision=double,shrink:rule=greater",
    "dwt:precision=double,shrink:rule=less",
    "dwt:wavelet=cdf53:precision=reversible,shrink:rule=firm",
    "dwt:wavelet=cdf53:precision=reversible,shrink:rule=greater",
    "dwt:wavelet=cdf53:precision=reversible,shrink:rule=less",
    "dwt:precision=double,shrink:threshold=bayes",
    "dwt:precision=double,shrink:threshold=sure",
    "dwt:precision=double,shrink:rule=hard",
    "dwt:precision=double,shrink:rule=garrote",
    "dwt:wavelet=cdf53:precision=reversible,shrink:threshold=bayes",
    "dwt:wavelet=cdf53:precision=reversible,shrink:threshold=sure",
    "dwt:wavelet=cdf53:precision=reversible,shrink:rule=hard",
    "dwt:wavelet=cdf53:precision=reversible,shrink:rule=garrote",
    NULL,
};

const struct stage stage_shrink = {
    .name = "shrink",
    .chains = chains,
    .summary = "wavelet coefficients without what is likely noise",
    .params = params,
    .config_size = sizeof(struct shrink_config),
    .whole = true,
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .reference = shrink_reference,
    .tolerance = tolerance,
    .bench = "dwt:cdf97:levels=3,shrink:soft:threshold=universal",
};
