/* Denoising by thresholds for wavelet coefficients. Thresholds that depend on the picture are
 * computed on the device: see cl/dwt/shrink.cl. */
#include "stage/dwt/shrink.h"

#include <math.h>
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
    bool upper = *given & param_bit(params, "upper");
    if (upper && config->rule != SHRINK_FIRM)
        return fault_set(fault, FAULT_CHAIN, "stage 'shrink': upper is for rule=firm");
    if (!upper)
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

/* Bits that are found at a time; rows of a band: where work-groups count together, and where each
 * work-item takes a column; about how many bands CPUs get; parts in which columns are counted. */
enum {
    BITS = 8,
    BITS_TOGETHER = 11,
    ROWS_TOGETHER = 4,
    ROWS_OF_COLUMNS = 32,
    ROWS_OF_BLOCK = 8,
    BANDS_ON_CPUS = 192,
    PARTS_OF_COLUMNS = 16
};

/* Ints of a place (cl/dwt/shrink.cl). */
enum {
    PLACE_INTS = 16
};

/* Transforms with as many channels, whose planes passes take together; planes that show the noise
 * come first. */
struct group {
    size_t first, end; /* transforms */
    uint32_t channels;
    int32_t at;                  /* its first place in the table */
    uint32_t places, noisy;      /* planes; those that show the noise */
    uint32_t width, blocks;      /* samples of the widest plane's rows; blocks of all planes */
    uint32_t bands[2], parts[2]; /* of all planes; of those that show the noise */
    uint64_t bytes[2];
};

/* All planes, in bands of so many rows. */
struct cut {
    uint32_t band;
    unsigned table;       /* operand: places */
    struct group *groups; /* owned */
    size_t n_groups;
};

/* What the passes of one plan share. */
struct shrinking {
    const struct shrink_config *config;
    struct stage_plan *plan;
    enum sample_type type;
    enum kernel_form form;
    bool applies;                          /* plan->out is the stage's own */
    bool together;                         /* as cl/dwt/shrink.cl says */
    bool aligned;                          /* all planes are, of four bytes a sample */
    struct cut cut, columns_cut;           /* for counting; for sums of squares */
    unsigned values, state, columns, sums; /* operands */
    /* While places are described: a transform's planes, itself, and all numbers. */
    size_t first, count;
    struct dwt_config dwt;
    struct dwt_layout layout;
    int32_t *numbers;
    double *factors;
};

static bool is_fixed(const struct shrink_config *config)
{
    return config->threshold.choice == PARAM_IS_NUMBER;
}

unsigned shrink_value_at(unsigned plane)
{
    return plane * PLANE_CHANNELS_MAX;
}

static uint32_t parts_of(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

/* A fixed threshold in the units of the band, or what the median is multiplied with: for the
 * threshold, for σ, or for one of the steps up to the threshold. */
static double factor_of(const struct shrinking *s, unsigned level, enum dwt_band band, uint64_t n)
{
    return is_fixed(s->config)
               ? s->config->threshold.value / shrink_norm(&s->dwt, &s->layout, level, band)
           : s->config->threshold.choice == SHRINK_BAYES
               ? shrink_sigma_factor(&s->dwt, &s->layout, level, band)
           : s->config->threshold.choice == SHRINK_SURE
               ? shrink_step_factor(&s->dwt, &s->layout, level, band, n)
               : shrink_universal_factor(&s->dwt, &s->layout, level, band);
}

/* Rows that a work-item applies thresholds to: several where it takes columns, since there finding
 * its place takes as long as four samples. */
static uint32_t block_of(const struct shrinking *s)
{
    return s->plan->profile->takes_columns ? ROWS_OF_BLOCK : 1;
}

/* Describes a plane, in which its transform's noise is found if `noisy`. */
static void add_place(struct shrinking *s, struct group *g, const struct cut *cut, unsigned level,
                      enum dwt_band band, uint32_t transform)
{
    const struct stage_plan *plan = s->plan;
    size_t index = s->first + (size_t)s->layout.levels[level].plane[band];
    const struct plane *in = &plan->in->planes[index];
    const struct plane *out = &(s->applies ? plan->out : plan->in)->planes[index];
    size_t size = sample_size(in->type);
    uint64_t n = (uint64_t)in->width * in->height;
    bool has_noise = is_fixed(s->config) || s->layout.levels[0].plane[s->layout.finest] >= 0;
    bool copied = band == DWT_LL || !shrink_takes_level(s->config, level) || !has_noise;
    uint32_t width = in->width * g->channels, bands = copied ? 0 : parts_of(in->height, cut->band);
    uint32_t most = s->form == FORM_ROWS ? bands : s->together ? 1 : PARTS_OF_COLUMNS;
    uint32_t parts = bands < most ? bands : most;
    uint32_t heads = (uint32_t)(g->end - g->first), blocks = parts_of(in->height, block_of(s));
    const int32_t place[PLACE_INTS] = {
        /* the plane */
        (int32_t)(in->offset / size), (int32_t)(in->stride / size), (int32_t)width,
        (int32_t)in->height,
        /* its parts */
        (int32_t)g->bands[0], (int32_t)(heads + 2 * g->channels * g->parts[0]), (int32_t)parts,
        (int32_t)transform,
        /* its result */
        (int32_t)(g->blocks + blocks), (int32_t)(out->offset / size), (int32_t)(out->stride / size),
        copied ? -1 : (int32_t)shrink_value_at((unsigned)index),
        /* ranges */
        (int32_t)(g->bands[0] + bands), (int32_t)shrink_value_at((unsigned)s->first),
        (int32_t)shrink_value_at((unsigned)(s->first + s->count)), shrink_step_weight(n)};
    memcpy(s->numbers + (g->at + g->places++) * PLACE_INTS, place, sizeof place);
    for (unsigned c = 0; c < PLANE_CHANNELS_MAX && !copied; c++)
        s->factors[shrink_value_at((unsigned)index) + c] = factor_of(s, level, band, n);
    g->blocks += blocks;
    g->width = width > g->width ? width : g->width;
    g->bands[0] += bands;
    g->parts[0] += parts;
    g->bytes[0] += plane_bytes(in);
    s->aligned &= size == 4 && pass_is_aligned(in) && pass_is_aligned(out);
}

static int read_origin(struct shrinking *s, size_t i, struct fault *fault)
{
    s->first = s->plan->in->origins[i].first;
    s->count = s->plan->in->origins[i].count;
    return dwt_read_origin("shrink", s->plan->in, i, false, &s->dwt, &s->layout, fault);
}

/* Describes the planes of transforms from g->first on, as long as they have as many channels. */
static int describe_group(struct shrinking *s, const struct cut *cut, struct group *g,
                          struct fault *fault)
{
    const struct frame *in = s->plan->in;
    g->channels = in->planes[in->origins[g->first].first].channels;
    for (g->end = g->first; g->end < in->n_origins; g->end++)
        if (in->planes[in->origins[g->end].first].channels != g->channels)
            break;
    for (unsigned rest = 0; rest < 2; rest++) { /* noisy planes first */
        uint32_t transform = 0;
        for (size_t i = g->first; i < g->end; i++) {
            int result = read_origin(s, i, fault);
            if (result != 0)
                return result;
            bool has_noise = s->layout.levels[0].plane[s->layout.finest] >= 0;
            for (unsigned level = 0; level < s->layout.n_levels; level++)
                for (int band = DWT_BANDS - 1; band >= 0; band--) {
                    bool noisy = level == 0 && band == (int)s->layout.finest;
                    if (s->layout.levels[level].plane[band] >= 0 && noisy == !rest)
                        add_place(s, g, cut, level, (enum dwt_band)band, transform);
                }
            transform += has_noise;
        }
        if (rest == 0) {
            g->noisy = g->places;
            g->bands[1] = g->bands[0];
            g->parts[1] = g->parts[0];
            g->bytes[1] = g->bytes[0];
        }
    }
    return 0;
}

/* Describes all planes for bands of `band` rows. */
static int describe(struct shrinking *s, uint32_t band, struct cut *cut, struct fault *fault)
{
    const struct frame *in = s->plan->in;
    *cut = (struct cut){.band = band, .groups = calloc(in->n_origins + 1, sizeof *cut->groups)};
    int result = cut->groups ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    int32_t at = 0;
    for (size_t i = 0; i < in->n_origins && result == 0; i = cut->groups[cut->n_groups - 1].end) {
        struct group *g = &cut->groups[cut->n_groups++];
        *g = (struct group){.first = i, .at = at};
        result = describe_group(s, cut, g, fault);
        at += (int32_t)g->places;
    }
    if (result == 0)
        cut->table =
            stage_plan_table(s->plan, s->numbers, (size_t)at * PLACE_INTS * sizeof *s->numbers);
    return result;
}

static enum sample_type work_type(const struct shrinking *s)
{
    return s->type == SAMPLE_F64 ? SAMPLE_F64 : SAMPLE_F32;
}

static struct pass *begin(const struct shrinking *s, const struct group *g, const char *part,
                          enum kernel_form form, uint32_t span, uint32_t width, uint32_t height)
{
    struct pass *pass = pass_begin(s->plan, "shrink", part, form, span, width, height);
    pass_define_type(pass, "SRC", s->type);
    pass_define(pass, "WORK", "%s", s->type == SAMPLE_F64 ? "double" : "float");
    if (s->type == SAMPLE_F64)
        pass_define(pass, "WORK_IS_double", "1");
    pass_define(pass, "C", "%u", g->channels);
    if (g->channels > 1)
        pass_name(pass, "c3");
    pass_name(pass, kernel_form_name(form));
    return pass;
}

/* A pass whose work-groups work together. */
static struct pass *begin_together(const struct shrinking *s, const struct group *g,
                                   const char *part, uint32_t height)
{
    struct pass *pass = begin(s, g, part, FORM_SCALAR, 1, COUNT_ITEMS, height * g->channels);
    pass->group[0] = COUNT_ITEMS;
    pass_define(pass, "ITEMS", "%d", COUNT_ITEMS);
    pass_define(pass, "BINS", "%d", 1 << BITS_TOGETHER);
    return pass;
}

/* Whether passes that take columns take four samples at once. */
static bool takes_fours(const struct shrinking *s, const struct group *g)
{
    return s->plan->profile->takes_columns && g->channels == 1 && s->aligned;
}

/* A pass over bands, in columns of pixels except on CPUs. */
static struct pass *begin_bands(const struct shrinking *s, const struct group *g, const char *part,
                                const struct cut *cut, uint32_t bands)
{
    bool rows = s->form == FORM_ROWS, fours = takes_fours(s, g);
    uint32_t span = rows ? PASS_WHOLE_ROW : fours ? 4 : g->channels;
    struct pass *pass = begin(s, g, part, s->form, span, g->width, bands);
    pass_define(pass, "IN_FOURS", "%d", fours);
    pass->work = 8.0 * cut->band;
    return pass;
}

static void pass_places(struct pass *pass, const struct cut *cut, const struct group *g, uint32_t n)
{
    pass_buffer(pass, cut->table);
    pass_ints(pass, g->at, (int32_t)n);
}

/* Stores the two middle magnitudes of each transform's finest details in the state, and thresholds
 * that follow from these alone. */
static void add_median(const struct shrinking *s, const struct group *g, unsigned limits)
{
    int step = s->together ? BITS_TOGETHER : BITS;
    bool counts_all = s->config->threshold.choice == SHRINK_SURE;
    uint32_t bins = 1u << step, heads = (uint32_t)(g->end - g->first);
    uint32_t rows = heads + 2 * g->channels * g->parts[counts_all ? 0 : 1];
    struct pass *pass = begin(s, g, "clear", s->form, 0, bins, rows);
    pass->bytes_written = rows * UINT64_C(4) * bins;
    pass_plane(pass, s->state, 0);
    pass_places(pass, &s->cut, g, g->noisy);
    for (int left = (int)sample_size(s->type) * 8; left > 0;) {
        int bits = left < step ? left : step;
        left -= bits;
        pass = s->together ? begin_together(s, g, "count_together", g->bands[1])
                           : begin_bands(s, g, "count", &s->cut, g->bands[1]);
        if (s->together) {
            pass_define(pass, "ALIGNED", "%d", g->channels == 1 && s->aligned);
            pass->work = 8.0 * ROWS_TOGETHER * g->width / COUNT_ITEMS;
        }
        pass->bytes_read = g->bytes[1];
        pass_buffer(pass, OPERAND_IN);
        pass_plane(pass, s->state, 0);
        pass_places(pass, &s->cut, g, g->noisy);
        pass_ints(pass, (int32_t)s->cut.band, left);
        if (s->together)
            pass_int(pass, bits);
        pass = s->together ? begin_together(s, g, "pick_together", g->noisy)
                           : begin(s, g, "pick", s->form, 1, g->channels, g->noisy);
        pass->work = s->together ? 64 : 1024.0 * g->parts[1] / g->noisy;
        pass->bytes_read = UINT64_C(8) * g->channels * g->parts[1] * bins;
        pass_plane(pass, s->state, 0);
        pass_places(pass, &s->cut, g, g->noisy);
        bool stores = left == 0 && s->config->threshold.choice == SHRINK_UNIVERSAL;
        pass_int(pass, stores);
        pass_buffer(pass, s->values);
        pass_buffer(pass, limits);
        if (s->together)
            pass_int(pass, bits);
    }
}

/* Sums of squares of each band and channel. */
static void add_squares(const struct shrinking *s, const struct group *g)
{
    const struct cut *cut = &s->columns_cut;
    struct pass *pass = begin_bands(s, g, "squares", cut, g->bands[0]);
    pass->bytes_read = g->bytes[0];
    pass_buffer(pass, OPERAND_IN);
    pass_plane(pass, s->form == FORM_ROWS ? s->sums : s->columns, 0);
    pass_places(pass, cut, g, g->places);
    pass_int(pass, (int32_t)cut->band);
    if (s->form == FORM_ROWS)
        return;
    pass = begin(s, g, "gather", s->form, 1, g->channels, g->bands[0]);
    bool fours = takes_fours(s, g);
    pass_define(pass, "IN_FOURS", "%d", fours);
    pass->work = 16.0 * g->width / (fours ? 4 : g->channels);
    pass_plane(pass, s->columns, 0);
    pass_plane(pass, s->sums, 0);
    pass_places(pass, cut, g, g->places);
}

/* Counts of magnitudes by steps of each plane. */
static void add_steps(const struct shrinking *s, const struct group *g)
{
    struct pass *pass = s->together ? begin_together(s, g, "steps_together", g->bands[0])
                                    : begin_bands(s, g, "steps", &s->cut, g->bands[0]);
    pass->work *= 2;
    if (s->together)
        pass->work = 16.0 * ROWS_TOGETHER * g->width / COUNT_ITEMS;
    pass->bytes_read = g->bytes[0];
    pass_buffer(pass, OPERAND_IN);
    pass_plane(pass, s->state, 0);
    pass_places(pass, &s->cut, g, g->places);
    pass_int(pass, (int32_t)s->cut.band);
    pass_buffer(pass, s->values);
}

/* Finds the thresholds of planes, which are the values from then on. */
static unsigned add_limits(const struct shrinking *s)
{
    unsigned limits = stage_plan_scratch(s->plan, shrink_value_at((unsigned)s->plan->in->n_planes),
                                         1, 1, work_type(s));
    int choice = s->config->threshold.choice;
    const struct cut *cut = choice == SHRINK_BAYES ? &s->columns_cut : &s->cut;
    for (size_t i = 0; i < cut->n_groups; i++) {
        const struct group *g = &cut->groups[i];
        if (g->bands[0] == 0)
            continue;
        add_median(s, &s->cut.groups[i], limits);
        if (choice == SHRINK_UNIVERSAL)
            continue;
        bool bayes = choice == SHRINK_BAYES;
        if (bayes)
            add_squares(s, g);
        else
            add_steps(s, g);
        struct pass *pass =
            begin(s, g, bayes ? "limit" : "least", s->form, 1, g->channels, g->places);
        pass->work = bayes ? 32.0 * g->bands[0] / g->places + 32
                           : 4.0 * SHRINK_STEPS * (g->parts[0] / g->places + 5);
        pass_plane(pass, s->state, 0);
        if (bayes)
            pass_plane(pass, s->sums, 0);
        pass_places(pass, cut, g, g->places);
        pass_buffer(pass, s->values);
        pass_buffer(pass, limits);
    }
    return limits;
}

/* Scratch memory that is large enough for every group. */
static void add_scratch(struct shrinking *s)
{
    uint32_t rows = 1, bands = 1, width = 1;
    bool counts_all = s->config->threshold.choice == SHRINK_SURE;
    for (size_t i = 0; i < s->cut.n_groups; i++) {
        const struct group *g = &s->cut.groups[i], *h = &s->columns_cut.groups[i];
        uint32_t own =
            (uint32_t)(g->end - g->first) + 2 * g->channels * g->parts[counts_all ? 0 : 1];
        rows = own > rows ? own : rows;
        bands = h->bands[0] > bands ? h->bands[0] : bands;
        width = h->width > width ? h->width : width;
    }
    s->state = stage_plan_scratch(s->plan, 1u << (s->together ? BITS_TOGETHER : BITS), rows, 1,
                                  SAMPLE_I32);
    if (s->config->threshold.choice != SHRINK_BAYES)
        return;
    s->sums = stage_plan_scratch(s->plan, 2 * PLANE_CHANNELS_MAX, bands, 1, work_type(s));
    if (s->form != FORM_ROWS)
        s->columns = stage_plan_scratch(s->plan, 2 * width, bands, 1, work_type(s));
}

/* A table of the numbers of all planes and channels. */
static unsigned add_values(const struct shrinking *s)
{
    size_t n = shrink_value_at((unsigned)s->plan->in->n_planes);
    float *narrow = (float *)s->factors; /* in place: each number is in front of its source */
    if (s->type == SAMPLE_F64)
        return stage_plan_table(s->plan, s->factors, n * sizeof *s->factors);
    for (size_t i = 0; i < n; i++) {
        float value = (float)s->factors[i];
        memcpy(&narrow[i], &value, sizeof value);
    }
    return stage_plan_table(s->plan, narrow, n * sizeof *narrow);
}

/* Describes all planes. */
static int describe_all(struct shrinking *s, struct fault *fault)
{
    const struct frame *in = s->plan->in;
    uint32_t rows = 0;
    for (size_t i = 0; i < in->n_planes; i++)
        rows += in->planes[i].height;
    uint32_t columns = s->form == FORM_ROWS ? parts_of(rows + 1, BANDS_ON_CPUS) : ROWS_OF_COLUMNS;
    s->numbers = calloc(in->n_planes + 1, PLACE_INTS * sizeof *s->numbers);
    s->factors = calloc(in->n_planes + 1, shrink_value_at(1) * sizeof *s->factors);
    int result =
        s->numbers && s->factors ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    if (result == 0)
        result = describe(s, s->together ? ROWS_TOGETHER : columns, &s->cut, fault);
    if (result == 0)
        result = describe(s, columns, &s->columns_cut, fault);
    if (result == 0)
        result = dwt_check_device(s->plan, s->dwt.precision, fault);
    if (result == 0)
        s->values = add_values(s);
    free(s->numbers);
    free(s->factors);
    return result;
}

/* Adds the passes that find the thresholds. */
static int find_limits(struct shrinking *s, struct fault *fault)
{
    int result = describe_all(s, fault);
    if (result != 0 || is_fixed(s->config))
        return result;
    add_scratch(s);
    s->values = add_limits(s);
    return 0;
}

static void finish(struct shrinking *s)
{
    free(s->cut.groups);
    free(s->columns_cut.groups);
}

void shrink_add_limits(struct pass *pass, const struct shrink_limits *limits)
{
    const struct shrink_config *config = limits->config;
    const double numbers[] = {config->upper, shrink_slope(config)};
    pass_define(pass, "RULE", "%d", config->rule);
    pass_name(pass, param_choice_name(rule_choices, config->rule));
    pass_buffer(pass, limits->values);
    for (int i = 0; i < 2; i++) {
        if (limits->type == SAMPLE_F64)
            pass_double(pass, numbers[i]);
        else
            pass_float(pass, (float)numbers[i]);
    }
}

static struct shrink_limits limits_of(const struct shrinking *s)
{
    return (struct shrink_limits){s->config, s->type, s->values};
}

static struct shrinking shrinking_of(const struct shrink_config *config, struct stage_plan *plan,
                                     bool applies)
{
    return (struct shrinking){.config = config,
                              .plan = plan,
                              .applies = applies,
                              .type = plan->in->planes[0].type,
                              .form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR,
                              .together = count_together(plan),
                              .aligned = true};
}

/* Applies the thresholds to a group's planes; on GPUs to vectors, where there is one channel. */
static void add_apply(const struct shrinking *s, const struct group *g)
{
    bool four = takes_fours(s, g) || (s->together && g->channels == 1 && s->aligned);
    const struct shrink_limits limits = limits_of(s);
    struct pass *pass = begin(s, g, "apply", s->form,
                              s->form == FORM_ROWS ? PASS_WHOLE_ROW
                              : four               ? 4
                                                   : g->channels,
                              g->width, g->blocks);
    pass_define(pass, "IN_FOURS", "%d", four);
    pass_define(pass, "ROWS", "%u", block_of(s));
    pass->work = 6 * block_of(s);
    pass->bytes_read = pass->bytes_written = g->bytes[0];
    pass_buffer(pass, OPERAND_IN);
    pass_buffer(pass, OPERAND_OUT);
    pass_places(pass, &s->cut, g, g->places);
    shrink_add_limits(pass, &limits);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct shrinking s = shrinking_of(config, plan, true);
    int result = find_limits(&s, fault);
    for (size_t i = 0; i < s.cut.n_groups && result == 0; i++)
        add_apply(&s, &s.cut.groups[i]);
    finish(&s);
    return result;
}

int shrink_find_limits(const struct shrink_config *config, struct stage_plan *plan,
                       struct shrink_limits *limits, struct fault *fault)
{
    struct shrinking s = shrinking_of(config, plan, false);
    if (!s.together || plan->in->n_origins != 1)
        return 0;
    int result = find_limits(&s, fault);
    if (result == 0 && (is_fixed(config) || s.cut.groups[0].noisy > 0))
        *limits = limits_of(&s);
    finish(&s);
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
