/* The forms in which a level is split. On CPUs: lifting (cl/dwt/dwt_lift.cl), or sums of products
 * in one kernel (cl/dwt/dwt.cl). On GPUs with local memory: lifting (cl/dwt/dwt_walk.cl), sums down
 * columns (cl/dwt/dwt_sums.cl) or, for long filters or several channels, sums in tiles
 * (cl/dwt/dwt_tile.cl). Otherwise one direction after the other (cl/dwt/dwt_lines.cl). Where what
 * stands outside a picture is a sum of its samples, it is first made with that around it
 * (cl/dwt/dwt_extend.cl).
 */
#include <stdio.h>

#include "stage/dwt/dwt_level.h"

enum {
    /* Samples of a band for each work-item of a level kernel: what it keeps of them fits a CPU's
     * first cache. */
    LEVEL_SAMPLES = 512,
    /* Of lifting: bytes of a source row, half of which columns of each band, so few that what is
     * kept of them fits the first cache where samples are bytes, and stretches that a CPU fetches
     * ahead where they are wide; and rows, a few more of which are computed above them. (9/7 of
     * 4096², from bytes 256 columns: 0.97, 512: 1.07, 2048: 1.18 ticks a pixel; from floats 512:
     * 0.40, 1024: 0.31, 2048: 0.33.) */
    LIFT_BYTES = 256,
    LIFT_ROWS = 64,
    /* In a tile: about how many samples a row of a band has, and work-items. */
    TILE_SAMPLES = 128,
    TILE_ITEMS = 128,
    TILE_TAPS = 42, /* of longer filters local memory does not hold the columns beside a tile */
    /* Of sums down columns: taps, more of whose sums do not fit registers; columns of a band that a
     * work-item makes, rows of theirs, more for long filters, which begin with as many rows as they
     * have taps; and work-items of a group. (H200, 8192², db4: 16 rows 132, 24 135, 32 148 µs; 4
     * columns by 24 rows 140. H100, three levels: 12 rows 261, 16 279, 32 293.) */
    FEW_TAPS = 12, /* on GPUs with few registers */
    SUMS_PAIRS = 2,
    SUMS_ITEMS = 64
};

static void define_source_type(struct pass *pass, enum sample_type type)
{
    pass_define_type(pass, "SRC", type);
    static const char *const quads[] = {[1] = "uint", [2] = "uint2", [4] = "uint4", [8] = "ulong4"};
    static const char *const windows[] = {
        [1] = "uint4", [2] = "uint8", [4] = "uint16", [8] = "ulong16"};
    pass_define(pass, "SRC_SIZE", "%zu", sample_size(type));
    if (pass->form == FORM_VECTOR) { /* 4 samples as they lie in memory, and 16 */
        pass_define(pass, "QUAD", "%s", quads[sample_size(type)]);
        pass_define(pass, "WINDOW", "%s", windows[sample_size(type)]);
    }
}

static void define_source(const struct dwt_analysis *a, struct pass *pass)
{
    define_source_type(pass, a->in_type);
    pass_define(pass, "CH", "%u", a->in_channels);
    if (a->in_channels == 2 || a->in_channels == 4)
        pass_name(pass, "alpha");
}

/* Adds the planes of a kernel for a whole level. */
static void pass_planes_of(const struct dwt_analysis *a, struct pass *pass)
{
    pass->bytes_read = dwt_signal_samples(&a->task) * sample_size(a->in_type);
    pass->bytes_written = dwt_band_bytes(&a->task);
    dwt_pass_place(pass, a->in);
    dwt_pass_bands(&a->task, pass);
}

/* Adds definitions and first arguments of a kernel for a whole level. */
static void describe(const struct dwt_analysis *a, struct pass *pass)
{
    dwt_define_work(&a->task, pass);
    define_source(a, pass);
    pass_planes_of(a, pass);
}

static bool on_cpu(const struct dwt_analysis *a)
{
    return a->task.plan->profile->form == FORM_ROWS;
}

static bool suits_lift(const struct dwt_analysis *a)
{
    return dwt_is_lifting(&a->task) && a->in_channels == 1 &&
           (on_cpu(a) || dwt_suits_gpu(&a->task) || dwt_suits_columns(&a->task));
}

/* By lifting, on CPUs in stretches of a row, on GPUs by walking down. */
static void add_lift(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    uint32_t rows = LIFT_ROWS;
    struct pass *pass = a->task.plan->profile->form != FORM_ROWS
                            ? dwt_begin_walk(&a->task, "analysis", &rows)
                            : pass_begin(a->task.plan, "dwt_lift", "level", FORM_ROWS,
                                         LIFT_BYTES * (unsigned)sample_size(a->in_type),
                                         l->low_width, (l->low_height + rows - 1) / rows);
    describe(a, pass);
    dwt_define_lifting(&a->task, pass, rows);
    dwt_pass_lifting(&a->task, pass, false, rows);
}

/* Adds the taps of both directions and the level's size; returns the number of taps. */
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
    struct pass *pass = pass_begin(a->task.plan, "dwt", "analysis", FORM_ROWS,
                                   LEVEL_SAMPLES / c * c, l->low_width * c, l->low_height);
    describe(a, pass);
    pass->work = 8.0 * pass_filters(a, pass);
    pass_ints(pass, l->high_width, l->high_height, dwt_kernel_border(&a->task));
}

static bool suits_tile(const struct dwt_analysis *a)
{
    struct wavelet_analysis w;
    dwt_analysis_window(&a->task, &w);
    return dwt_suits_gpu(&a->task) && a->task.config->precision != DWT_REVERSIBLE &&
           w.count <= TILE_TAPS;
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
    describe(a, pass);
    pass_define(pass, "ITEMS", "%u", TILE_ITEMS);
    pass_define(pass, "SAMPLES", "%u", samples);
    pass_define(pass, "STRIPS", "%u", strips);
    pass->work = 16.0 * strips * pass_filters(a, pass);
    dwt_pass_band_sizes(l, pass);
    pass_int(pass, dwt_kernel_border(&a->task));
}

/* The window of one bank, whose few, constant taps serve both directions. */
static bool has_window(const struct dwt_analysis *a, struct wavelet_analysis *w)
{
    dwt_analysis_window(&a->task, w);
    unsigned most = a->task.plan->profile->takes_columns ? FEW_TAPS : DWT_SUMS_TAPS;
    return a->task.config->precision != DWT_REVERSIBLE && !a->task.plan->profile->generic &&
           a->in_channels == 1 && w->count <= most && a->task.level->width > 1 &&
           a->task.level->height > 1;
}

struct pass *dwt_begin_sums(struct stage_plan *plan, const struct dwt_window *window,
                            enum sample_type source, enum sample_type type, uint32_t columns,
                            uint32_t height, uint32_t *rows)
{
    uint32_t offset = (uint32_t)(window->at & 3);
    *rows = window->n_taps > 8 ? 24 : 12;
    if (*rows > height / 64)
        *rows = height / 64 > 8 ? height / 64 : 8;
    struct pass *pass = pass_begin(plan, "dwt_sums", "", FORM_VECTOR, SUMS_PAIRS, columns,
                                   (height + *rows - 1) / *rows);
    pass->group[0] = SUMS_ITEMS;
    pass_define(pass, "ITEMS", "%u", SUMS_ITEMS);
    pass_define_type(pass, "WORK", type);
    define_source_type(pass, source);
    pass_define(pass, "M", "%u", window->n_taps / 2);
    pass_define(pass, "WINDOW_AT", "(%d)", window->at);
    pass_define(pass, "OFFSET", "%u", offset);
    pass_define(pass, "BEGIN", "(%d)", window->at - (int)offset);
    pass_define(pass, "QUADS", "%u", (offset + 2 * SUMS_PAIRS + window->n_taps - 2 + 3) / 4);
    dwt_define_taps(pass, type, "LOW_TAPS", window->low, window->n_taps);
    dwt_define_taps(pass, type, "HIGH_TAPS", window->high, window->n_taps);
    pass->work = 16.0 * window->n_taps * *rows;
    return pass;
}

static bool suits_sums(const struct dwt_analysis *a)
{
    struct wavelet_analysis w;
    return dwt_suits_gpu(&a->task) && has_window(a, &w);
}

static void add_sums(const struct dwt_analysis *a)
{
    const struct dwt_level *l = a->task.level;
    struct wavelet_analysis w;
    dwt_analysis_window(&a->task, &w);
    const struct dwt_window window = {w.first, w.count, w.low, w.high};
    uint32_t rows;
    struct pass *pass = dwt_begin_sums(a->task.plan, &window, a->in_type, a->task.layout->type,
                                       l->low_width, l->low_height, &rows);
    dwt_name_wavelet(pass, a->task.config->wavelet);
    pass_planes_of(a, pass);
    pass_int(pass, (int32_t)rows);
    dwt_pass_size(&a->task, pass);
    dwt_pass_band_sizes(l, pass);
    pass_int(pass, dwt_kernel_border(&a->task));
}

/* The same on GPUs with few registers. */
static bool suits_taps(const struct dwt_analysis *a)
{
    struct wavelet_analysis w;
    return dwt_suits_columns(&a->task) && has_window(a, &w);
}

static void add_taps(const struct dwt_analysis *a)
{
    struct wavelet_analysis window, *w = &window;
    dwt_analysis_window(&a->task, w);
    const struct dwt_level *l = a->task.level;
    struct dwt_taps taps = dwt_analysis_taps(&a->task, l->width);
    uint32_t rows = dwt_walk_rows(&a->task, 1);
    struct pass *pass = pass_begin(a->task.plan, "dwt_taps", "analysis", FORM_SCALAR, 1,
                                   l->low_width, (l->low_height + rows - 1) / rows);
    dwt_name_wavelet(pass, a->task.config->wavelet);
    describe(a, pass);
    pass_define(pass, "TAPS", "%u", w->count);
    pass_define(pass, "LAST", "%u", w->count / 2 - 1);
    pass_define(pass, "WINDOW_AT", "(%d)", w->first);
    pass_define(pass, "ODD", "%d", sample_size(a->in_type) < 4 ? w->first & 1 : 0);
    dwt_define_each(pass, "L", w->low, w->count, FEW_TAPS);
    dwt_define_each(pass, "H", w->high, w->count, FEW_TAPS);
    pass->work = 8.0 * w->count * rows;
    pass_buffer(pass, taps.table);
    pass_ints(pass, rows, l->low_height);
    dwt_pass_size(&a->task, pass);
    pass_ints(pass, l->high_width, l->high_height, dwt_kernel_border(&a->task));
}

void dwt_add_outside(const struct dwt_analysis *a, struct dwt_place to, uint32_t before_x,
                     uint32_t before_y, uint32_t width, uint32_t height)
{
    static const int modes[] = {
        [WAVELET_SMOOTH] = 0, [WAVELET_ANTISYMMETRIC] = 1, [WAVELET_ANTIREFLECT] = 2};
    const struct dwt_layout *layout = a->task.layout;
    bool rows = a->task.plan->profile->form == FORM_ROWS;
    struct pass *pass = pass_begin(a->task.plan, "dwt_extend", "", rows ? FORM_ROWS : FORM_SCALAR,
                                   rows ? 0 : 1, width * layout->channels, height);
    dwt_define_work(&a->task, pass);
    define_source(a, pass);
    pass->work = 4;
    pass->bytes_read = dwt_signal_samples(&a->task) * sample_size(a->in_type);
    pass->bytes_written = (uint64_t)width * height * layout->channels * sample_size(layout->type);
    dwt_pass_place(pass, a->in);
    dwt_pass_place(pass, to);
    pass_ints(pass, before_x, before_y);
    dwt_pass_size(&a->task, pass);
    pass_int(pass, modes[a->task.config->mode]);
}

static struct dwt_place extended(const struct dwt_task *task)
{
    struct dwt_scratch *scratch = task->scratch;
    if (scratch->extended == 0)
        scratch->extended = stage_plan_scratch(task->plan, scratch->extended_width,
                                               scratch->extended_height, 1, task->layout->type);
    return (struct dwt_place){scratch->extended, 0};
}

/* Makes the plane of which `wide` is the analysis (cl/dwt/dwt_extend.cl). The kernels then never
 * look beyond its ends. */
static void add_extend(const struct dwt_analysis *a, struct dwt_level *level,
                       struct dwt_analysis *wide)
{
    const struct dwt_layout *layout = a->task.layout;
    uint32_t before_x = layout->axis == DWT_Y ? 0 : layout->before;
    uint32_t before_y = layout->axis == DWT_X ? 0 : layout->before;
    *level = *a->task.level;
    level->width += 2 * before_x;
    level->height += 2 * before_y;
    *wide = *a;
    wide->task.level = level;
    wide->task.before = layout->before;
    wide->in = extended(&a->task);
    wide->in_type = layout->type;
    wide->in_channels = layout->channels;
    dwt_add_outside(a, wide->in, before_x, before_y, level->width, level->height);
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct dwt_analysis *a); /* NULL: all that is left */
    void (*add)(const struct dwt_analysis *a);
} ways[] = {
    {suits_lift, add_lift},  /* walker, by steps: cdf97 and cdf53 of one channel */
    {on_cpu, add_level},     /* both directions at once: CPUs */
    {suits_taps, add_taps},  /* walker, by sums: few taps on Mali */
    {suits_sums, add_sums},  /* walker, by sums: few taps on GPUs with local memory */
    {suits_tile, add_tile},  /* tile: more taps there */
    {NULL, dwt_split_lines}, /* one direction at a time */
};

void dwt_add_analysis(const struct dwt_analysis *a)
{
    struct dwt_level level;
    struct dwt_analysis wide;
    if (a->task.layout->before > 0) {
        add_extend(a, &level, &wide);
        a = &wide;
    }
    unsigned way = 0;
    bool by_lines = dwt_goes_by_lines(a->task.config);
    while (ways[way].suits && (by_lines || !ways[way].suits(a)))
        way++;
    ways[way].add(a);
}
