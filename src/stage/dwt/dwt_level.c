#include "stage/dwt/dwt_level.h"

#include <stdio.h>

#include "base/text.h"
#include "image/border.h"

/* Of the walking forms: columns of a band that a work-item makes, so that it loads and stores whole
 * vectors and registers hold what it keeps (of f64 half as many); rows of a band; and work-items of
 * a group, few, since those at the ends of rows take longer. */
enum {
    WALK_PAIRS = 4,
    WALK_ROWS_MIN = 8,
    WALK_ROWS_MAX = 64,
    WALK_ITEMS = 64
};

static unsigned add_table(const struct dwt_task *task, const double *values, unsigned n)
{
    double wide[4 * WAVELET_TAPS_MAX];
    float narrow[4 * WAVELET_TAPS_MAX];
    for (unsigned i = 0; i < n; i++) {
        wide[i] = values[i];
        narrow[i] = (float)values[i];
    }
    if (task->layout->type == SAMPLE_F64)
        return stage_plan_table(task->plan, wide, n * sizeof *wide);
    return stage_plan_table(task->plan, narrow, n * sizeof *narrow);
}

struct dwt_taps dwt_add_taps(const struct dwt_task *task, const double *values, unsigned n,
                             int first, unsigned count)
{
    return (struct dwt_taps){add_table(task, values, n), first, (int)count};
}

/* JPEG 2000 passes a side of 1 through unchanged. */
static bool passes_through(const struct dwt_config *config, uint32_t size)
{
    return config->mode == WAVELET_JPEG2000 && size == 1;
}

void dwt_analysis_window(const struct dwt_task *task, struct wavelet_analysis *window)
{
    wavelet_analysis(task->config->wavelet, task->config->mode, window);
    window->first += (int)task->before;
}

struct dwt_taps dwt_analysis_taps(const struct dwt_task *task, uint32_t size)
{
    struct wavelet_analysis w = {.first = 0, .count = 2, .low = {1}};
    double values[2 * WAVELET_TAPS_MAX];
    if (!passes_through(task->config, size))
        dwt_analysis_window(task, &w);
    for (unsigned k = 0; k < w.count; k++) {
        values[k] = w.low[k];
        values[w.count + k] = w.high[k];
    }
    return dwt_add_taps(task, values, 2 * w.count, w.first, w.count);
}

struct dwt_taps dwt_synthesis_taps(const struct dwt_task *task, uint32_t size, double scale)
{
    struct wavelet_synthesis w = {.first = 0, .count = 1, .low = {{1}}};
    double values[4 * WAVELET_TAPS_MAX];
    if (!passes_through(task->config, size))
        wavelet_synthesis(task->config->wavelet, task->config->mode, &w);
    for (unsigned j = 0; j < w.count; j++) {
        for (unsigned p = 0; p < 2; p++) {
            values[p * w.count + j] = w.low[p][j] * scale;
            values[(2 + p) * w.count + j] = w.high[p][j] * scale;
        }
    }
    return dwt_add_taps(task, values, 4 * w.count, w.first, w.count);
}

static bool are_aligned(const struct frame *frame)
{
    bool are = true;
    for (size_t i = 0; i < frame->n_planes; i++)
        are &= pass_is_aligned(&frame->planes[i]);
    return are;
}

bool dwt_suits_gpu(const struct dwt_task *task)
{
    const struct stage_plan *plan = task->plan;
    return plan->profile->form == FORM_VECTOR && plan->profile->local_memory >= 32768 &&
           are_aligned(plan->in) && are_aligned(plan->out);
}

bool dwt_suits_columns(const struct dwt_task *task)
{
    const struct stage_plan *plan = task->plan;
    return plan->profile->takes_columns && task->layout->type != SAMPLE_F64 &&
           task->level->width >= 8 && are_aligned(plan->in) && are_aligned(plan->out);
}

bool dwt_is_lifting(const struct dwt_task *task)
{
    return task->config->mode == WAVELET_JPEG2000 && task->layout->channels == 1 &&
           task->level->width > 1 && task->level->height > 1;
}

/* (H200, 8192² and 4096²: best with 512 to 1024 work-items for each unit.) */
uint32_t dwt_walk_rows(const struct dwt_task *task, unsigned pairs)
{
    const struct dwt_level *l = task->level;
    uint64_t items = (uint64_t)(l->low_width + pairs - 1) / pairs * l->low_height;
    uint64_t wanted = items / (512 * (uint64_t)task->plan->profile->units);
    return wanted < WALK_ROWS_MIN   ? WALK_ROWS_MIN
           : wanted > WALK_ROWS_MAX ? WALK_ROWS_MAX
                                    : (uint32_t)wanted;
}

struct pass *dwt_begin_walk(const struct dwt_task *task, const char *variant, uint32_t *rows)
{
    const struct dwt_level *l = task->level;
    bool columns = task->plan->profile->takes_columns;
    unsigned pairs = columns || task->layout->type == SAMPLE_F64 ? WALK_PAIRS / 2 : WALK_PAIRS;
    *rows = dwt_walk_rows(task, pairs);
    struct pass *pass =
        pass_begin(task->plan, columns ? "dwt_columns" : "dwt_walk", variant, FORM_VECTOR, pairs,
                   l->low_width, (l->low_height + *rows - 1) / *rows);
    pass_define(pass, "PAIRS", "%u", pairs);
    if (!columns)
        pass->group[0] = WALK_ITEMS;
    return pass;
}

void dwt_define_work(const struct dwt_task *task, struct pass *pass)
{
    pass_define_type(pass, "WORK", task->layout->type);
    pass_define(pass, "WORK_SIZE", "%zu", sample_size(task->layout->type));
    pass_define(pass, "C", "%u", task->layout->channels);
    if (task->layout->channels > 1)
        pass_name(pass, "c3");
    if (task->config->precision == DWT_REVERSIBLE)
        pass_define(pass, "REVERSIBLE", "1");
}

/* Kernel names cannot have points: bior1.3 becomes bior1_3. */
void dwt_name_wavelet(struct pass *pass, int wavelet)
{
    char name[24];
    snprintf(name, sizeof name, "%s", param_choice_name(wavelet_choices, wavelet));
    for (char *c = name; *c; c++)
        *c = *c == '.' ? '_' : *c;
    pass_name(pass, name);
}

void dwt_define_taps(struct pass *pass, enum sample_type type, const char *name, const double *taps,
                     unsigned n)
{
    struct text list = {0};
    for (unsigned k = 0; k < n; k++)
        if (type == SAMPLE_F64)
            text_printf(&list, "%a,", taps[k]);
        else
            text_printf(&list, "%af,", (double)(float)taps[k]);
    pass_define(pass, name, "%s", text_string(&list));
    text_finish(&list);
}

void dwt_define_each(struct pass *pass, const char *filter, const double *taps, unsigned n,
                     unsigned most)
{
    for (unsigned k = 0; k < most; k++) {
        char name[16];
        snprintf(name, sizeof name, "%s%u", filter, k);
        pass_define(pass, name, "%af", k < n ? (double)(float)taps[k] : 0);
    }
}

void dwt_define_lifting(const struct dwt_task *task, struct pass *pass, uint32_t rows)
{
    struct wavelet_lifting w;
    wavelet_lifting(task->config->wavelet, &w);
    pass_define(pass, "STEPS", "%u", w.n_steps);
    pass_name(pass, w.n_steps == 4 ? "97" : "53");
    pass->work = 16.0 * w.n_steps * rows;
}

/* For cl/dwt/dwt_columns.cl. Its inverse divides by the gains at the end, not at the beginning, so
 * the factors of its steps change accordingly. */
static void pass_steps(const struct dwt_task *task, struct pass *pass,
                       const struct wavelet_lifting *w, bool inverse)
{
    double odd = inverse ? w->high / w->low : 1;
    const double numbers[] = {w->step[0] * odd,
                              w->step[1] / odd,
                              w->step[2] * odd,
                              w->step[3] / odd,
                              inverse ? 1 / w->low : w->low,
                              inverse ? 1 / w->high : w->high};
    for (int i = 0; i < 6; i++) {
        if (task->layout->type == SAMPLE_F32)
            pass_float(pass, (float)numbers[i]);
        else
            pass_int(pass, 0); /* steps in integers have no gains */
    }
}

void dwt_pass_lifting(const struct dwt_task *task, struct pass *pass, bool inverse, uint32_t rows)
{
    struct wavelet_lifting w;
    wavelet_lifting(task->config->wavelet, &w);
    const double lift[] = {w.step[0],
                           w.step[1],
                           w.step[2],
                           w.step[3],
                           inverse ? 1 / w.low : w.low,
                           inverse ? 1 / w.high : w.high};
    if (task->plan->profile->takes_columns)
        pass_steps(task, pass, &w, inverse);
    else
        pass_buffer(pass, add_table(task, lift, 6));
    pass_int(pass, (int32_t)rows);
    dwt_pass_size(task, pass);
}

const struct plane *dwt_plane(const struct stage_plan *plan, struct dwt_place place)
{
    static const struct plane none;
    const struct frame *frame = place.operand == OPERAND_IN ? plan->in
                                : place.operand == OPERAND_OUT
                                    ? plan->out
                                    : &plan->scratch[place.operand - OPERAND_SCRATCH];
    return place.plane < frame->n_planes ? &frame->planes[place.plane] : &none;
}

void dwt_pass_place(struct pass *pass, struct dwt_place place)
{
    pass_plane(pass, place.operand, place.plane);
}

void dwt_pass_bands(const struct dwt_task *task, struct pass *pass)
{
    for (int b = 0; b < DWT_BANDS; b++)
        dwt_pass_place(pass, task->bands[b]);
}

void dwt_pass_taps(struct pass *pass, const struct dwt_taps *taps)
{
    pass_buffer(pass, taps->table);
    pass_ints(pass, taps->first, taps->count);
}

void dwt_pass_size(const struct dwt_task *task, struct pass *pass)
{
    pass_ints(pass, task->level->width, task->level->height);
}

void dwt_pass_band_sizes(const struct dwt_level *level, struct pass *pass)
{
    pass_ints(pass, level->low_width, level->high_width, level->low_height, level->high_height);
}

int dwt_border_of_mode(int mode)
{
    enum {
        PERIODIZATION = 5
    }; /* cl/prelude/ends.cl */
    static const int borders[] = {
        [WAVELET_JPEG2000] = BORDER_REFLECT,    [WAVELET_PERIODIZATION] = PERIODIZATION,
        [WAVELET_ZERO] = BORDER_ZERO,           [WAVELET_CONSTANT] = BORDER_EDGE,
        [WAVELET_SYMMETRIC] = BORDER_SYMMETRIC, [WAVELET_REFLECT] = BORDER_REFLECT,
        [WAVELET_PERIODIC] = BORDER_WRAP,       [WAVELET_SMOOTH] = BORDER_EDGE,
        [WAVELET_ANTISYMMETRIC] = BORDER_EDGE,  [WAVELET_ANTIREFLECT] = BORDER_EDGE,
    };
    return borders[mode];
}

int dwt_kernel_border(const struct dwt_task *task)
{
    return task->config->stationary ? BORDER_WRAP : dwt_border_of_mode(task->config->mode);
}

int dwt_kernel_ends(const struct dwt_task *task)
{
    enum {
        NONE,
        REFLECT,
        PERIODIC
    }; /* cl/prelude/ends.cl */
    int mode = task->config->mode;
    return mode == WAVELET_JPEG2000 ? REFLECT : mode == WAVELET_PERIODIZATION ? PERIODIC : NONE;
}

uint64_t dwt_band_bytes(const struct dwt_task *task)
{
    const struct dwt_level *l = task->level;
    return (uint64_t)(l->low_width + l->high_width) * (l->low_height + l->high_height) *
           task->layout->channels * sample_size(task->layout->type);
}

uint64_t dwt_signal_samples(const struct dwt_task *task)
{
    return (uint64_t)task->level->width * task->level->height * task->layout->channels;
}

/* Level `i` of a layout whose planes are in `operand`, from `first` on. */
static struct dwt_task task_of(const struct dwt_config *config, struct stage_plan *plan,
                               struct dwt_scratch *scratch, const struct dwt_layout *layout,
                               unsigned i, unsigned operand, unsigned first)
{
    const struct dwt_level *level = &layout->levels[i];
    struct dwt_place low = {scratch->low[(i + 1) % 2], 0};
    struct dwt_task task = {config, plan, scratch, layout, level, 0, {low}, 1};
    task.gap = config->stationary ? 1 << i : 1;
    for (int b = 0; b < DWT_BANDS; b++) /* one that does not exist has LL's, and is left alone */
        task.bands[b] = level->plane[b] < 0
                            ? low
                            : (struct dwt_place){operand, first + (unsigned)level->plane[b]};
    return task;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout)
{
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        uint32_t more = 2 * layout->before, height = l->low_height + l->high_height;
        uint32_t width = (l->width + more) * layout->channels;
        if (more > 0) {
            scratch->extended_width = larger(scratch->extended_width, width);
            scratch->extended_height = larger(scratch->extended_height, l->height + more);
        }
        scratch->mid_width = larger(scratch->mid_width, width);
        scratch->mid_height = larger(scratch->mid_height, height);
        if (i > 0) {
            scratch->low_width[i % 2] = larger(scratch->low_width[i % 2], width);
            scratch->low_height[i % 2] = larger(scratch->low_height[i % 2], l->height);
        }
    }
}

void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type)
{
    for (int i = 0; i < 2; i++)
        if (scratch->low_width[i] > 0)
            scratch->low[i] =
                stage_plan_scratch(plan, scratch->low_width[i], scratch->low_height[i], 1, type);
}

/* With room for what stands outside, where kernels cannot make that of one sample. */
static void analysis_layout(const struct dwt_config *config, const struct plane *plane,
                            struct dwt_layout *layout)
{
    struct wavelet_analysis w;
    dwt_layout_of(config, plane, layout);
    if (!wavelet_mode_sums(config->mode))
        return;
    wavelet_analysis(config->wavelet, config->mode, &w);
    layout->before = (w.count + 3) & ~3u; /* vectors begin where they did */
}

static void analysis_of_plane(const struct dwt_config *config, struct stage_plan *plan,
                              struct dwt_scratch *scratch, unsigned index, unsigned first)
{
    const struct plane *plane = &plan->in->planes[index];
    struct dwt_layout layout;
    analysis_layout(config, plane, &layout);
    struct dwt_analysis level = {
        .in = {OPERAND_IN, index}, .in_type = plane->type, .in_channels = plane->channels};
    for (unsigned i = 0; i < layout.n_levels; i++) {
        level.task = task_of(config, plan, scratch, &layout, i, OPERAND_OUT, first);
        dwt_add_analysis(&level);
        level.in = level.task.bands[DWT_LL];
        level.in_type = layout.type;
        level.in_channels = layout.channels;
    }
}

void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan)
{
    struct dwt_scratch scratch = {0};
    struct dwt_layout layout;
    unsigned first = 0;
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        analysis_layout(config, &plan->in->planes[i], &layout);
        dwt_scratch_reserve(&scratch, &layout);
    }
    dwt_scratch_add(&scratch, plan, dwt_band_type(config->precision));
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        analysis_layout(config, &plan->in->planes[i], &layout);
        analysis_of_plane(config, plan, &scratch, i, first);
        first += (unsigned)layout.n_planes;
    }
}

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          struct dwt_scratch *scratch, struct stage_plan *plan, unsigned out,
                          unsigned kept, double scale)
{
    for (unsigned i = layout->n_levels; i-- > kept;) {
        struct dwt_synthesis level = {.task =
                                          task_of(config, plan, scratch, layout, i, OPERAND_IN, 0),
                                      .out = {scratch->low[i % 2], 0},
                                      .out_type = layout->type,
                                      .scale = 1};
        if (i == kept) {
            level.out = (struct dwt_place){OPERAND_OUT, out};
            level.out_type = plan->out->planes[out].type;
            level.scale = scale;
        }
        dwt_add_synthesis(&level);
    }
}
