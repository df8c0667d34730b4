#include "stage/dwt_passes.h"

#include "image/border.h"
#include "stage/wavelet.h"

/* cl/dwt.cl, cl/idwt.cl */
enum {
    BORDER_PERIODIZATION = 5,
    ENDS_NONE = 0,
    ENDS_REFLECT,
    ENDS_PERIODIC
};

/* Samples of a band that one work-item of a level kernel takes: what it keeps of them fits a CPU's
 * first cache. */
enum {
    TILE = 512,
    /* Of lifting: columns of a band, long stretches, which a CPU fetches ahead; and rows, a few
     * more of which are computed above them. */
    LIFT_COLUMNS = 2048,
    LIFT_ROWS = 32
};

/* A window's taps on the device: a table, and where the window begins. */
struct taps {
    unsigned table;
    int first, count;
};

static enum sample_type work_type(const struct dwt_config *config)
{
    return dwt_band_type(config->precision);
}

static unsigned add_table(struct stage_plan *plan, enum sample_type type, const double *values,
                          unsigned n)
{
    double wide[4 * WAVELET_TAPS_MAX];
    float narrow[4 * WAVELET_TAPS_MAX];
    for (unsigned i = 0; i < n; i++) {
        wide[i] = values[i];
        narrow[i] = (float)values[i];
    }
    if (type == SAMPLE_F64)
        return stage_plan_table(plan, wide, n * sizeof *wide);
    return stage_plan_table(plan, narrow, n * sizeof *narrow);
}

/* A side of 1 goes through where JPEG 2000 says so. */
static bool passes_through(const struct dwt_config *config, uint32_t size)
{
    return config->mode == WAVELET_JPEG2000 && size == 1;
}

static struct taps analysis_taps(const struct dwt_config *config, struct stage_plan *plan,
                                 uint32_t size)
{
    struct wavelet_analysis w = {.first = 0, .count = 2, .low = {1}};
    double values[2 * WAVELET_TAPS_MAX];
    if (!passes_through(config, size))
        wavelet_analysis(config->wavelet, config->mode, &w);
    for (unsigned k = 0; k < w.count; k++) {
        values[k] = w.low[k];
        values[w.count + k] = w.high[k];
    }
    return (struct taps){add_table(plan, work_type(config), values, 2 * w.count), w.first,
                         (int)w.count};
}

static struct taps synthesis_taps(const struct dwt_config *config, struct stage_plan *plan,
                                  uint32_t size, double scale)
{
    struct wavelet_synthesis w = {.first = 0, .count = 1, .low = {{1}}};
    double values[4 * WAVELET_TAPS_MAX];
    if (!passes_through(config, size))
        wavelet_synthesis(config->wavelet, config->mode, &w);
    for (unsigned j = 0; j < w.count; j++) {
        for (unsigned p = 0; p < 2; p++) {
            values[p * w.count + j] = w.low[p][j] * scale;
            values[(2 + p) * w.count + j] = w.high[p][j] * scale;
        }
    }
    return (struct taps){add_table(plan, work_type(config), values, 4 * w.count), w.first,
                         (int)w.count};
}

static void pass_taps(struct pass *pass, const struct taps *taps)
{
    pass_buffer(pass, taps->table);
    pass_int(pass, taps->first);
    pass_int(pass, taps->count);
}

static int kernel_border(int mode)
{
    static const int borders[] = {
        [WAVELET_JPEG2000] = BORDER_REFLECT,    [WAVELET_PERIODIZATION] = BORDER_PERIODIZATION,
        [WAVELET_ZERO] = BORDER_ZERO,           [WAVELET_CONSTANT] = BORDER_EDGE,
        [WAVELET_SYMMETRIC] = BORDER_SYMMETRIC, [WAVELET_REFLECT] = BORDER_REFLECT,
        [WAVELET_PERIODIC] = BORDER_WRAP,
    };
    return borders[mode];
}

static int kernel_ends(int mode)
{
    return mode == WAVELET_JPEG2000        ? ENDS_REFLECT
           : mode == WAVELET_PERIODIZATION ? ENDS_PERIODIC
                                           : ENDS_NONE;
}

/* Where a level's planes are. */
struct place {
    unsigned operand, plane;
};

static void pass_place(struct pass *pass, struct place place)
{
    pass_plane(pass, place.operand, place.plane);
}

/* A band's plane; where there is none, that of LL, which the kernel then leaves alone. */
static struct place band_place(const struct dwt_level *level, enum dwt_band band, unsigned operand,
                               unsigned first, struct place low)
{
    if (level->plane[band] < 0)
        return low;
    return (struct place){operand, first + (unsigned)level->plane[band]};
}

static void define_work(const struct dwt_config *config, struct pass *pass, uint32_t channels)
{
    enum sample_type type = work_type(config);
    pass_define_type(pass, "WORK", type);
    pass_define(pass, "WORK_SIZE", "%zu", sample_size(type));
    pass_define(pass, "C", "%u", channels);
    if (channels > 1)
        pass_name(pass, "c3");
    if (config->precision == DWT_REVERSIBLE)
        pass_define(pass, "REVERSIBLE", "1");
}

static uint64_t band_bytes(const struct dwt_layout *layout, const struct dwt_level *l)
{
    return (uint64_t)(l->low_width + l->high_width) * (l->low_height + l->high_height) *
           layout->channels * sample_size(layout->type);
}

static uint64_t signal_samples(const struct dwt_layout *layout, const struct dwt_level *l)
{
    return (uint64_t)l->width * l->height * layout->channels;
}

/* What an analysis level reads. */
struct source {
    struct place place;
    enum sample_type type;
    uint32_t channels;
};

static void define_source(struct pass *pass, const struct source *source)
{
    pass_define_type(pass, "SRC", source->type);
    pass_define(pass, "SRC_SIZE", "%zu", sample_size(source->type));
    pass_define(pass, "CH", "%u", source->channels);
    if (source->channels == 2 || source->channels == 4)
        pass_name(pass, "alpha");
}

static void analysis_level(const struct dwt_config *config, struct stage_plan *plan,
                           const struct dwt_layout *layout, const struct dwt_level *l,
                           const struct source *source, const struct place bands[DWT_BANDS])
{
    uint32_t c = layout->channels;
    struct taps vertical = analysis_taps(config, plan, l->height);
    struct taps horizontal = analysis_taps(config, plan, l->width);
    struct pass *pass =
        pass_begin(plan, "dwt", "level", FORM_ROWS, TILE / c * c, l->low_width * c, l->low_height);
    define_work(config, pass, c);
    define_source(pass, source);
    pass->work = 8.0 * (vertical.count + horizontal.count);
    pass->bytes_read = signal_samples(layout, l) * sample_size(source->type);
    pass->bytes_written = band_bytes(layout, l);
    pass_place(pass, source->place);
    for (int b = 0; b < DWT_BANDS; b++)
        pass_place(pass, bands[b]);
    pass_taps(pass, &vertical);
    pass_taps(pass, &horizontal);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->height);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_border(config->mode));
}

static bool can_lift(const struct dwt_config *config, const struct dwt_level *l,
                     const struct source *source)
{
    return config->mode == WAVELET_JPEG2000 && source->channels == 1 && l->width > 1 &&
           l->height > 1;
}

static void analysis_lift(const struct dwt_config *config, struct stage_plan *plan,
                          const struct dwt_layout *layout, const struct dwt_level *l,
                          const struct source *source, const struct place bands[DWT_BANDS])
{
    struct wavelet_lifting w;
    wavelet_lifting(config->wavelet, &w);
    const double lift[] = {w.step[0], w.step[1], w.step[2], w.step[3], w.low, w.high};
    struct pass *pass = pass_begin(plan, "dwt_lift", "level", FORM_ROWS, LIFT_COLUMNS, l->low_width,
                                   (l->low_height + LIFT_ROWS - 1) / LIFT_ROWS);
    define_work(config, pass, 1);
    define_source(pass, source);
    pass_define(pass, "STEPS", "%u", w.n_steps);
    pass_name(pass, w.n_steps == 4 ? "97" : "53");
    pass->work = 16.0 * w.n_steps * LIFT_ROWS;
    pass->bytes_read = signal_samples(layout, l) * sample_size(source->type);
    pass->bytes_written = band_bytes(layout, l);
    pass_place(pass, source->place);
    for (int b = 0; b < DWT_BANDS; b++)
        pass_place(pass, bands[b]);
    pass_buffer(pass, add_table(plan, work_type(config), lift, 6));
    pass_int(pass, LIFT_ROWS);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->height);
}

static void analysis_split(const struct dwt_config *config, struct stage_plan *plan,
                           const struct dwt_layout *layout, const struct dwt_level *l,
                           const struct source *source, const struct place bands[DWT_BANDS],
                           unsigned mid)
{
    uint32_t c = layout->channels, rows = l->low_height + l->high_height;
    struct taps taps = analysis_taps(config, plan, l->height);
    struct pass *pass =
        pass_begin(plan, "dwt", "vertical", FORM_SCALAR, 1, l->width * c, l->low_height);
    define_work(config, pass, c);
    define_source(pass, source);
    pass->work = 4.0 * taps.count;
    pass->bytes_read = signal_samples(layout, l) * sample_size(source->type);
    pass->bytes_written = (uint64_t)l->width * rows * c * sample_size(layout->type);
    pass_place(pass, source->place);
    pass_plane(pass, mid, 0);
    pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->height);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_border(config->mode));

    taps = analysis_taps(config, plan, l->width);
    pass = pass_begin(plan, "dwt", "horizontal", FORM_SCALAR, 1, l->low_width * c, rows);
    define_work(config, pass, c);
    pass->work = 4.0 * taps.count;
    pass->bytes_read = (uint64_t)l->width * rows * c * sample_size(layout->type);
    pass->bytes_written = band_bytes(layout, l);
    pass_plane(pass, mid, 0);
    for (int b = 0; b < DWT_BANDS; b++)
        pass_place(pass, bands[b]);
    pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, kernel_border(config->mode));
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout)
{
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        uint32_t width = l->width * layout->channels, height = l->low_height + l->high_height;
        scratch->mid_width = larger(scratch->mid_width, width);
        scratch->mid_height = larger(scratch->mid_height, height);
        if (i > 0) {
            scratch->low_width[i % 2] = larger(scratch->low_width[i % 2], width);
            scratch->low_height[i % 2] = larger(scratch->low_height[i % 2], l->height);
        }
    }
}

void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type,
                     bool needs_mid)
{
    if (needs_mid)
        scratch->mid = stage_plan_scratch(plan, scratch->mid_width, scratch->mid_height, 1, type);
    for (int i = 0; i < 2; i++)
        if (scratch->low_width[i] > 0)
            scratch->low[i] =
                stage_plan_scratch(plan, scratch->low_width[i], scratch->low_height[i], 1, type);
}

static void analysis_of_plane(const struct dwt_config *config, struct stage_plan *plan,
                              const struct dwt_scratch *scratch, unsigned index, unsigned first)
{
    const struct plane *plane = &plan->in->planes[index];
    struct source source = {{OPERAND_IN, index}, plane->type, plane->channels};
    struct dwt_layout layout;
    dwt_layout_of(config, plane, &layout);
    for (unsigned i = 0; i < layout.n_levels; i++) {
        const struct dwt_level *l = &layout.levels[i];
        struct place bands[DWT_BANDS];
        bands[DWT_LL] = (struct place){scratch->low[(i + 1) % 2], 0};
        for (int b = 0; b < DWT_BANDS; b++)
            bands[b] = band_place(l, (enum dwt_band)b, OPERAND_OUT, first, bands[DWT_LL]);
        if (plan->profile->form == FORM_ROWS && can_lift(config, l, &source))
            analysis_lift(config, plan, &layout, l, &source, bands);
        else if (plan->profile->form == FORM_ROWS)
            analysis_level(config, plan, &layout, l, &source, bands);
        else
            analysis_split(config, plan, &layout, l, &source, bands, scratch->mid);
        source = (struct source){bands[DWT_LL], layout.type, layout.channels};
    }
}

void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan)
{
    struct dwt_scratch scratch = {0};
    struct dwt_layout layout;
    unsigned first = 0;
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        dwt_layout_of(config, &plan->in->planes[i], &layout);
        dwt_scratch_reserve(&scratch, &layout);
    }
    dwt_scratch_add(&scratch, plan, work_type(config), plan->profile->form != FORM_ROWS);
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        dwt_layout_of(config, &plan->in->planes[i], &layout);
        analysis_of_plane(config, plan, &scratch, i, first);
        first += (unsigned)layout.n_planes;
    }
}

/* A level of the inverse: its bands, and what comes out. */
struct synthesis {
    const struct dwt_level *level;
    struct place bands[DWT_BANDS], out;
    enum sample_type out_type;
    double scale;
};

static void define_result(const struct dwt_config *config, struct pass *pass, enum sample_type type)
{
    pass_define_type(pass, "DST", type);
    if (type == work_type(config))
        pass_define(pass, "DST_IS_WORK", "1");
}

static void synthesis_level(const struct dwt_config *config, struct stage_plan *plan,
                            const struct dwt_layout *layout, const struct synthesis *s)
{
    const struct dwt_level *l = s->level;
    uint32_t c = layout->channels;
    struct taps vertical = synthesis_taps(config, plan, l->height, 1);
    struct taps horizontal = synthesis_taps(config, plan, l->width, s->scale);
    struct pass *pass = pass_begin(plan, "idwt", "level", FORM_ROWS, TILE / c * c,
                                   (l->width + 1) / 2 * c, (l->height + 1) / 2);
    define_work(config, pass, c);
    define_result(config, pass, s->out_type);
    pass->work = 16.0 * (vertical.count + horizontal.count);
    pass->bytes_read = band_bytes(layout, l);
    pass->bytes_written = signal_samples(layout, l) * sample_size(s->out_type);
    for (int b = 0; b < DWT_BANDS; b++)
        pass_place(pass, s->bands[b]);
    pass_place(pass, s->out);
    pass_taps(pass, &vertical);
    pass_taps(pass, &horizontal);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->height);
    pass_int(pass, (int32_t)l->low_width);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_ends(config->mode));
}

static void synthesis_split(const struct dwt_config *config, struct stage_plan *plan,
                            const struct dwt_layout *layout, const struct synthesis *s,
                            unsigned mid)
{
    const struct dwt_level *l = s->level;
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    uint32_t c = layout->channels, rows = l->low_height + l->high_height;
    struct taps taps = synthesis_taps(config, plan, l->width, s->scale);
    struct pass *pass =
        pass_begin(plan, "idwt", "horizontal", form, 0, (l->width + 1) / 2 * c, rows);
    define_work(config, pass, c);
    pass_name(pass, kernel_form_name(form));
    pass->work = 8.0 * taps.count;
    pass->bytes_read = band_bytes(layout, l);
    pass->bytes_written = (uint64_t)l->width * rows * c * sample_size(layout->type);
    for (int b = 0; b < DWT_BANDS; b++)
        pass_place(pass, s->bands[b]);
    pass_plane(pass, mid, 0);
    pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->low_width);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, kernel_ends(config->mode));

    taps = synthesis_taps(config, plan, l->height, 1);
    pass = pass_begin(plan, "idwt", "vertical", form, 0, l->width * c, (l->height + 1) / 2);
    define_work(config, pass, c);
    define_result(config, pass, s->out_type);
    pass_name(pass, kernel_form_name(form));
    pass->work = 8.0 * taps.count;
    pass->bytes_read = (uint64_t)l->width * rows * c * sample_size(layout->type);
    pass->bytes_written = signal_samples(layout, l) * sample_size(s->out_type);
    pass_plane(pass, mid, 0);
    pass_place(pass, s->out);
    pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->height);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_ends(config->mode));
}

bool dwt_synthesis_is_split(const struct dwt_config *config, const struct stage_plan *plan)
{
    return plan->profile->form != FORM_ROWS || config->precision == DWT_REVERSIBLE;
}

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          const struct dwt_scratch *scratch, struct stage_plan *plan,
                          unsigned first, unsigned out, unsigned kept, double scale)
{
    for (unsigned i = layout->n_levels; i-- > kept;) {
        const struct dwt_level *l = &layout->levels[i];
        bool last = i == kept;
        struct synthesis s = {.level = l, .scale = last ? scale : 1};
        s.bands[DWT_LL] = (struct place){scratch->low[(i + 1) % 2], 0};
        for (int b = 0; b < DWT_BANDS; b++)
            s.bands[b] = band_place(l, (enum dwt_band)b, OPERAND_IN, first, s.bands[DWT_LL]);
        s.out = last ? (struct place){OPERAND_OUT, out} : (struct place){scratch->low[i % 2], 0};
        s.out_type = last ? plan->out->planes[out].type : layout->type;
        if (dwt_synthesis_is_split(config, plan))
            synthesis_split(config, plan, layout, &s, scratch->mid);
        else
            synthesis_level(config, plan, layout, &s);
    }
}
