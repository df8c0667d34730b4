/* The forms of a level taken apart: on CPUs by lifting (cl/dwt_lift.cl) or by sums of products in
 * one kernel (cl/dwt.cl), on GPUs with local memory by lifting (cl/dwt_walk.cl) or by sums in tiles
 * (cl/dwt_tile.cl), else in two kernels (cl/dwt.cl). */
#include "image/border.h"
#include "stage/dwt_level.h"

/* cl/dwt.cl */
enum {
    BORDER_PERIODIZATION = 5
};

enum {
    /* Samples of a band that one work-item of a level kernel takes: what it keeps of them fits a
     * CPU's first cache. */
    LEVEL_SAMPLES = 512,
    /* Of lifting: bytes of a source row, half of which columns of each band, so few that what is
     * kept of them fits the first cache where samples are bytes, and stretches that a CPU fetches
     * ahead where they are wide; and rows, a few more of which are computed above them. (9/7 of
     * 4096², from bytes 256 columns: 0.97, 512: 1.07, 2048: 1.18 ticks a pixel; from floats 512:
     * 0.40, 1024: 0.31, 2048: 0.33.) */
    LIFT_BYTES = 256,
    LIFT_ROWS = 64,
    /* Of a tile: about as many samples of a band's rows, and work-items. */
    TILE_SAMPLES = 128,
    TILE_ITEMS = 128
};

static int kernel_border(const struct dwt_task *task)
{
    static const int borders[] = {
        [WAVELET_JPEG2000] = BORDER_REFLECT,    [WAVELET_PERIODIZATION] = BORDER_PERIODIZATION,
        [WAVELET_ZERO] = BORDER_ZERO,           [WAVELET_CONSTANT] = BORDER_EDGE,
        [WAVELET_SYMMETRIC] = BORDER_SYMMETRIC, [WAVELET_REFLECT] = BORDER_REFLECT,
        [WAVELET_PERIODIC] = BORDER_WRAP,
    };
    return borders[task->config->mode];
}

static void define_source(const struct dwt_analysis *a, struct pass *pass)
{
    pass_define_type(pass, "SRC", a->in_type);
    pass_define(pass, "SRC_SIZE", "%zu", sample_size(a->in_type));
    pass_define(pass, "CH", "%u", a->in_channels);
    if (a->in_channels == 2 || a->in_channels == 4)
        pass_name(pass, "alpha");
}

/* Definitions and first arguments of a kernel that does all of a level. */
static void describe(const struct dwt_analysis *a, struct pass *pass)
{
    dwt_define_work(&a->task, pass);
    define_source(a, pass);
    pass->bytes_read = dwt_signal_samples(&a->task) * sample_size(a->in_type);
    pass->bytes_written = dwt_band_bytes(&a->task);
    dwt_pass_place(pass, a->in);
    dwt_pass_bands(&a->task, pass);
}

static void add_lift(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    struct pass *pass = pass_begin(a->task.plan, "dwt_lift", "level", FORM_ROWS,
                                   LIFT_BYTES * (unsigned)sample_size(a->in_type), l->low_width,
                                   (l->low_height + LIFT_ROWS - 1) / LIFT_ROWS);
    describe(a, pass);
    dwt_define_lifting(&a->task, pass, LIFT_ROWS);
    dwt_pass_lifting(&a->task, pass, false, LIFT_ROWS);
}

static void add_walk(const struct dwt_analysis *a)
{
    uint32_t rows;
    struct pass *pass = dwt_begin_walk(&a->task, "analysis", &rows);
    describe(a, pass);
    dwt_define_lifting(&a->task, pass, rows);
    dwt_pass_lifting(&a->task, pass, false, rows);
}

/* Taps both ways and the level's size; returns how many taps. */
static double pass_filters(const struct dwt_analysis *a, struct pass *pass)
{
    struct dwt_taps vertical = dwt_analysis_taps(&a->task, a->task.level->height);
    struct dwt_taps horizontal = dwt_analysis_taps(&a->task, a->task.level->width);
    dwt_pass_taps(pass, &vertical);
    dwt_pass_taps(pass, &horizontal);
    dwt_pass_size(&a->task, pass);
    return vertical.count + horizontal.count;
}

static void add_level(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    uint32_t c = a->task.layout->channels;
    struct pass *pass = pass_begin(a->task.plan, "dwt", "level", FORM_ROWS, LEVEL_SAMPLES / c * c,
                                   l->low_width * c, l->low_height);
    describe(a, pass);
    pass->work = 8.0 * pass_filters(a, pass);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_border(&a->task));
}

static void add_tile(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    uint32_t c = a->task.layout->channels, samples = TILE_SAMPLES / 4 / c * c * 4;
    /* Pairs of rows of a tile: with the columns beside it for the longest filter, local memory
     * holds as many. */
    unsigned strips = a->task.layout->type == SAMPLE_F64 ? 2 : 4;
    struct pass *pass = pass_begin(a->task.plan, "dwt_tile", "", FORM_SCALAR, 1,
                                   (l->low_width * c + samples - 1) / samples * TILE_ITEMS,
                                   (l->low_height + 2 * strips - 1) / (2 * strips));
    pass->group[0] = TILE_ITEMS;
    pass->group[1] = 1;
    describe(a, pass);
    pass_define(pass, "ITEMS", "%u", TILE_ITEMS);
    pass_define(pass, "SAMPLES", "%u", samples);
    pass_define(pass, "STRIPS", "%u", strips);
    pass->work = 16.0 * strips * pass_filters(a, pass);
    pass_int(pass, (int32_t)l->low_width);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_border(&a->task));
}

static void add_vertical(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    struct dwt_taps taps = dwt_analysis_taps(&a->task, l->height);
    struct pass *pass = pass_begin(a->task.plan, "dwt", "vertical", FORM_SCALAR, 1,
                                   l->width * a->task.layout->channels, l->low_height);
    dwt_define_work(&a->task, pass);
    define_source(a, pass);
    pass->work = 4.0 * taps.count;
    pass->bytes_read = dwt_signal_samples(&a->task) * sample_size(a->in_type);
    pass->bytes_written = dwt_mid_bytes(&a->task);
    dwt_pass_place(pass, a->in);
    dwt_pass_mid(&a->task, pass);
    dwt_pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->height);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, (int32_t)l->high_height);
    pass_int(pass, kernel_border(&a->task));
}

static void add_horizontal(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    struct dwt_taps taps = dwt_analysis_taps(&a->task, l->width);
    struct pass *pass =
        pass_begin(a->task.plan, "dwt", "horizontal", FORM_SCALAR, 1,
                   l->low_width * a->task.layout->channels, l->low_height + l->high_height);
    dwt_define_work(&a->task, pass);
    pass->work = 4.0 * taps.count;
    pass->bytes_read = dwt_mid_bytes(&a->task);
    pass->bytes_written = dwt_band_bytes(&a->task);
    dwt_pass_mid(&a->task, pass);
    dwt_pass_bands(&a->task, pass);
    dwt_pass_taps(pass, &taps);
    pass_int(pass, (int32_t)l->width);
    pass_int(pass, (int32_t)l->high_width);
    pass_int(pass, (int32_t)l->low_height);
    pass_int(pass, kernel_border(&a->task));
}

void dwt_add_analysis(const struct dwt_analysis *a)
{
    bool lifts = dwt_is_lifting(&a->task) && a->in_channels == 1;
    if (a->task.plan->profile->form == FORM_ROWS && lifts) {
        add_lift(a);
    } else if (a->task.plan->profile->form == FORM_ROWS) {
        add_level(a);
    } else if (dwt_suits_gpu(&a->task) && lifts) {
        add_walk(a);
    } else if (dwt_suits_gpu(&a->task) && a->task.config->precision != DWT_REVERSIBLE) {
        add_tile(a);
    } else {
        add_vertical(a);
        add_horizontal(a);
    }
}
