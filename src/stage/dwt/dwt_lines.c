/* Levels that go direction by direction (cl/dwt/dwt_lines.cl): the analysis first down the columns,
 * then along the rows, the synthesis the other way round. */
#include <math.h>

#include "stage/dwt/dwt_level.h"

/* Samples that are computed together. */
enum {
    LANES_ROWS = 16,
    LANES_GPU = 4
};

bool dwt_goes_by_lines(const struct dwt_config *config)
{
    return config->axis != DWT_BOTH || config->stationary;
}

static struct view view_of(const struct dwt_task *task, struct dwt_place place)
{
    const struct plane *plane = dwt_plane(task->plan, place);
    return (struct view){place.operand, *plane};
}

/* What is low, and below it what is high down the columns, between the two directions. */
static struct view half_of_mid(const struct dwt_task *task, bool high)
{
    struct dwt_scratch *scratch = task->scratch;
    if (scratch->mid == 0)
        scratch->mid = stage_plan_scratch(task->plan, scratch->mid_width, scratch->mid_height, 1,
                                          task->layout->type);
    struct view view = view_of(task, (struct dwt_place){scratch->mid, 0});
    view.plane.offset += high ? view.plane.stride * task->level->low_height : 0;
    return view;
}

static struct pass *begin(const struct dwt_task *task, const char *variant, bool along_x,
                          uint32_t width, uint32_t height)
{
    bool rows = task->plan->profile->form == FORM_ROWS;
    struct pass *pass = pass_begin(task->plan, "dwt_lines", variant, rows ? FORM_ROWS : FORM_VECTOR,
                                   rows ? 0 : LANES_GPU, width * task->layout->channels, height);
    if (rows)
        pass->lanes = LANES_ROWS;
    pass_name(pass, along_x ? "x" : "y");
    pass_name(pass, task->config->stationary ? "stationary" : "halved");
    dwt_define_work(task, pass);
    pass_define(pass, "ALONG_X", "%d", along_x);
    pass_define(pass, "STEP", "%d", task->config->stationary ? 1 : 2);
    return pass;
}

/* Adds the arguments behind the planes, but for how the signal or its bands go on. */
static void pass_line(const struct dwt_task *task, struct pass *pass, const struct dwt_taps *taps,
                      bool along_x)
{
    dwt_pass_taps(pass, taps);
    pass_ints(pass, task->gap, along_x ? task->level->width : task->level->height);
    pass->work = 4.0 * taps->count;
}

static struct dwt_taps split_taps(const struct dwt_task *task, bool along_x)
{
    struct wavelet_analysis w;
    double values[2 * WAVELET_TAPS_MAX], factor = task->config->norm ? sqrt(0.5) : 1;
    if (!task->config->stationary)
        return dwt_analysis_taps(task, along_x ? task->level->width : task->level->height);
    dwt_analysis_window(task, &w);
    for (unsigned k = 0; k < w.count; k++) {
        values[k] = w.low[k] * factor;
        values[w.count + k] = w.high[k] * factor;
    }
    return dwt_add_taps(task, values, 2 * w.count, w.first * task->gap, w.count);
}

/* A signal's samples of type `type`, `channels` of a pixel; `across` signals. */
static void add_split(const struct dwt_task *task, const struct view *in, enum sample_type type,
                      uint32_t channels, const struct view *low, const struct view *high,
                      bool along_x, uint32_t across)
{
    const struct dwt_level *l = task->level;
    uint32_t n_low = along_x ? l->low_width : l->low_height;
    uint32_t n_high = along_x ? l->high_width : l->high_height;
    struct dwt_taps taps = split_taps(task, along_x);
    if (across == 0)
        return;
    struct pass *pass =
        begin(task, "split", along_x, along_x ? n_low : across, along_x ? across : n_low);
    pass_define_type(pass, "SRC", type);
    pass_define(pass, "SRC_SIZE", "%zu", sample_size(type));
    pass_define(pass, "CH", "%u", channels);
    if (channels != task->layout->channels)
        pass_name(pass, "alpha");
    uint64_t samples = (uint64_t)across * task->layout->channels;
    pass->bytes_read = samples * (along_x ? l->width : l->height) * sample_size(type);
    pass->bytes_written = samples * (n_low + n_high) * sample_size(task->layout->type);
    pass_view(pass, in);
    pass_view(pass, low);
    pass_view(pass, high);
    pass_line(task, pass, &taps, along_x);
    pass_ints(pass, n_high, dwt_kernel_border(task));
}

void dwt_split_lines(const struct dwt_analysis *a)
{
    const struct dwt_task *task = &a->task;
    const struct dwt_level *l = task->level;
    enum sample_type type = task->layout->type;
    struct view in = view_of(task, a->in), bands[DWT_BANDS];
    for (int b = 0; b < DWT_BANDS; b++)
        bands[b] = view_of(task, task->bands[b]);
    if (task->config->axis != DWT_BOTH) {
        bool along_x = task->config->axis == DWT_X;
        add_split(task, &in, a->in_type, a->in_channels, &bands[DWT_LL],
                  &bands[along_x ? DWT_HL : DWT_LH], along_x, along_x ? l->height : l->width);
        return;
    }
    struct view low = half_of_mid(task, false), high = half_of_mid(task, true);
    uint32_t channels = task->layout->channels;
    add_split(task, &in, a->in_type, a->in_channels, &low, &high, false, l->width);
    add_split(task, &low, type, channels, &bands[DWT_LL], &bands[DWT_HL], true, l->low_height);
    add_split(task, &high, type, channels, &bands[DWT_LH], &bands[DWT_HH], true, l->high_height);
}

/* In the order in which samples lie: the inverse's filters backwards. */
static struct dwt_taps join_taps(const struct dwt_task *task, bool along_x, double scale)
{
    struct wavelet_filters f;
    double values[2 * WAVELET_TAPS_MAX], factor = scale * (task->config->norm ? sqrt(0.5) : 0.5);
    if (!task->config->stationary)
        return dwt_synthesis_taps(task, along_x ? task->level->width : task->level->height, scale);
    wavelet_filters(task->config->wavelet, &f);
    for (unsigned k = 0; k < f.length; k++) {
        values[k] = f.rec_lo[f.length - 1 - k] * factor;
        values[f.length + k] = f.rec_hi[f.length - 1 - k] * factor;
    }
    return dwt_add_taps(task, values, 2 * f.length, -(int)f.length / 2 * task->gap, f.length);
}

static void add_join(const struct dwt_task *task, const struct view *low, const struct view *high,
                     const struct view *out, enum sample_type type, bool along_x, uint32_t across,
                     double scale)
{
    const struct dwt_level *l = task->level;
    uint32_t n_low = along_x ? l->low_width : l->low_height;
    uint32_t n_high = along_x ? l->high_width : l->high_height;
    uint32_t size = along_x ? l->width : l->height;
    uint32_t steps = task->config->stationary ? size : (size + 1) / 2;
    enum sample_type from = task->layout->type;
    struct dwt_taps taps = join_taps(task, along_x, scale);
    if (across == 0)
        return;
    struct pass *pass =
        begin(task, "join", along_x, along_x ? steps : across, along_x ? across : steps);
    pass_define_type(pass, "SRC", from);
    pass_define(pass, "SRC_SIZE", "%zu", sample_size(from));
    pass_define(pass, "CH", "%u", task->layout->channels);
    pass_define_type(pass, "DST", type);
    pass_define(pass, "DST_SIZE", "%zu", sample_size(type));
    uint64_t samples = (uint64_t)across * task->layout->channels;
    pass->bytes_read = samples * (n_low + n_high) * sample_size(from);
    pass->bytes_written = samples * size * sample_size(type);
    pass_view(pass, low);
    pass_view(pass, high);
    pass_view(pass, out);
    pass_line(task, pass, &taps, along_x);
    pass_ints(pass, n_low, n_high, dwt_kernel_ends(task));
}

void dwt_join_lines(const struct dwt_synthesis *s)
{
    const struct dwt_task *task = &s->task;
    const struct dwt_level *l = task->level;
    enum sample_type type = task->layout->type;
    struct view out = view_of(task, s->out), bands[DWT_BANDS];
    for (int b = 0; b < DWT_BANDS; b++)
        bands[b] = view_of(task, task->bands[b]);
    if (task->config->axis != DWT_BOTH) {
        bool along_x = task->config->axis == DWT_X;
        add_join(task, &bands[DWT_LL], &bands[along_x ? DWT_HL : DWT_LH], &out, s->out_type,
                 along_x, along_x ? l->height : l->width, s->scale);
        return;
    }
    struct view low = half_of_mid(task, false), high = half_of_mid(task, true);
    add_join(task, &bands[DWT_LL], &bands[DWT_HL], &low, type, true, l->low_height, 1);
    add_join(task, &bands[DWT_LH], &bands[DWT_HH], &high, type, true, l->high_height, 1);
    add_join(task, &low, &high, &out, s->out_type, false, l->width, s->scale);
}
