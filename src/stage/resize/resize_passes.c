/* Passes of resize: along rows into scratch memory (cl/resize/resize_across.cl), then down columns
 * (resize_down.cl); bytes on Mali by pairs of results (resize_pairs.cl); on CPUs both at once
 * (resize_bands.cl), and of bytes on NVIDIA's GPUs (resize_matrix.cl). First samples, counts and
 * weights of all axes of a plan are one table, because a frame may have planes of many sizes. */
#include "stage/resize/resize.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "stage/common.h"
#include "stage/move/move.h"
#include "stage/resize/resize_table.h"
#include "stage/weighted.h"

/* How sums are made. */
enum arithmetic {
    FIXED, /* exact, for integers */
    REAL,  /* in f32 */
    ALPHA, /* in f32, colours times alpha; alpha itself exact if it is an integer */
};

/* Rows that resize_bands takes at once, and columns of its scratch memory for a block it copies. */
#define ROWS_AT_ONCE   16
#define COLUMN_BYTES   64
#define COPIED_COLUMNS 4

/* Rows for each work-item of resize_wide, by channels: as many as fit into registers on Mali. */
static const uint32_t wide_rows[PLANE_CHANNELS_MAX + 1] = {[1] = 4, [3] = 2};

/* Rows for each work-item of resize_pairs along rows. */
#define PAIR_ROWS 4

struct task {
    struct stage_plan *plan;
    struct resize_table table;
    unsigned table_operand;
    struct scratch columns, middle, scaled;
};

/* Sums for one plane: along those rows of `source` that are needed into `middle`, and from there
 * along columns into `out`. */
struct sums {
    struct resize_taps x, y;
    double scale; /* rows of the source for one of the result */
    enum arithmetic arithmetic;
    struct plane plane;
    uint32_t first_row; /* of source, within the plane */
    struct view source, middle, out;
    bool alone;  /* pairs of results along rows begin behind the first one */
    double work; /* for a pixel of a row */
};

static enum arithmetic arithmetic_of(const struct plane *plane)
{
    return plane_has_alpha(plane) ? ALPHA : sample_is_integer(plane->type) ? FIXED : REAL;
}

static void pass_axis(struct pass *pass, struct resize_part part)
{
    pass_ints(pass, part.at, part.n, part.taps);
}

/* Adds the weights of an axis as arguments: fixed ones for integers, and real ones if they are
 * needed. */
static void pass_weights(struct task *task, struct pass *pass, const struct resize_taps *taps,
                         const struct sums *sums, bool pairs)
{
    bool is_fixed = sums->arithmetic == FIXED;
    struct resize_part fixed = {0}, real = {0};
    if (sample_is_integer(sums->plane.type))
        fixed = resize_table_fixed(&task->table, taps, is_fixed && pairs);
    if (!is_fixed)
        real = resize_table_real(&task->table, taps);
    pass_axis(pass, fixed);
    pass_axis(pass, real);
}

/* Between the two directions. If alpha is an integer, a pixel has its exact sum as one more word.
 */
static enum sample_type middle_type(const struct sums *sums)
{
    return sums->arithmetic == FIXED ? weighted_middle(sums->plane.type) : SAMPLE_F32;
}

static uint32_t middle_channels(const struct sums *sums)
{
    bool exact_alpha = sums->arithmetic == ALPHA && sample_is_integer(sums->plane.type);
    return sums->plane.channels + exact_alpha;
}

static void describe_pass(struct pass *pass, const struct sums *sums)
{
    pass_define_type(pass, "SRC", sums->plane.type);
    pass_channels(pass, sums->plane.channels, sums->plane.channels);
    pass_define(pass, "FIXED", "%d", sums->arithmetic == FIXED);
    if (sums->arithmetic == ALPHA)
        pass_define(pass, "WITH_ALPHA", "1");
    if (sample_is_integer(sums->plane.type))
        pass_define(pass, "SRC_MAX", "%.1ff", sample_max(sums->plane.type));
    pass_name(pass, kernel_form_name(pass->form));
}

/* Which rows of the source, or of what was summed along these, such rows of the result need:
 * as many on both sides of their place, `more` behind that are weighted by 0, and in front of it
 * what the height of the latter is rounded up by. */
static void scale_rows(struct pass *pass, const struct sums *sums, uint32_t band, uint32_t more)
{
    int32_t around = (int32_t)(sums->y.largest + 1) / 2 + 1;
    pass_set_rows(pass, band, around + ROWS_AT_ONCE, around + (int32_t)more, BORDER_EDGE, 0);
    pass->scaled = true;
}

static double work_down(const struct sums *sums)
{
    return (double)sums->plane.height / sums->y.n * 6 + 6;
}

static enum kernel_form form_of(const struct task *task)
{
    return task->plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
}

/* Rows of the result for each work-item of resize_bands: up to four items for each core, none
 * longer than a launch may be. Neighbouring bands both compute the sums along rows that they have
 * in common, so fewer items are made if these were more than a sixteenth, and with many cores never
 * so many that they were more than the others. */
static uint32_t rows_of_band(const struct device_profile *profile, uint32_t rows, double common,
                             double row_work)
{
    double most = LAUNCH_SECONDS_MAX * profile->work_per_second / profile->units / row_work;
    double each = (double)rows / profile->units, items = 4;
    while (items > 1 && each / items < 16 * common)
        items--;
    double band = ceil(fmin(fmax(each / items, common), most));
    return band < 1 ? 1 : band > rows ? rows : (uint32_t)band;
}

static bool suits_bands(const struct task *task, const struct sums *sums)
{
    return form_of(task) == FORM_ROWS;
}

/* Both directions on CPUs, by bands of the result. Scratch memory has, for each band, columns of
 * three times the length that eight sums need, so that they are rarely moved; this fits the nearest
 * cache. Behind them it has rows of sums, twice as many as a row of the result needs. */
static void add_bands(struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->plane;
    const struct resize_taps *x = &sums->x, *y = &sums->y;
    bool alpha = sums->arithmetic == ALPHA;
    const struct resize_groups groups = {RESIZE_AT_ONCE, 1, false};
    uint32_t stretch = resize_groups_longest(x, &groups) / (sums->arithmetic == FIXED ? 2 : 1);
    uint32_t columns = 3 * (stretch + 2 * RESIZE_AT_ONCE) * source->channels;
    if (columns < 256)
        columns = 256;
    uint32_t support = y->largest, rows = 2 * (support + ROWS_AT_ONCE);
    enum sample_type type = middle_type(sums);
    uint32_t pitch = stage_round_up(x->n, alpha ? 16 : RESIZE_AT_ONCE);
    uint32_t stride =
        stage_round_up(pitch * middle_channels(sums), COLUMN_BYTES / sample_size(type));
    uint64_t size = columns + COPIED_COLUMNS +
                    (rows + 1) * ((uint64_t)stride * sample_size(type) / COLUMN_BYTES);
    double scale = sums->scale;
    double row_work = (sums->work * scale + work_down(sums) * source->channels) * x->n;
    double common = (support + ROWS_AT_ONCE / 2) / scale; /* a band begins and ends with 16 rows */
    struct plane larger = sums->out.plane; /* what is held of the source counts, if that is more */
    larger.stride = (size_t)fmax((double)larger.stride, scale * (double)source->stride);
    uint32_t band = rows_of_band(task->plan->profile, y->n, common, row_work);
    struct stage_bands bands =
        bands_of(y->n, pass_limit_band(task->plan->profile, &larger, band, 0.4 * common));
    stage_plan_memory(task->plan, &task->columns, bands.count * size * COLUMN_BYTES);
    task->plan->too_many |= bands.count * size > INT_MAX || (uint64_t)rows * stride > INT_MAX;
    struct pass *pass = pass_begin(task->plan, "resize_bands", "", FORM_ROWS, 1, 1, bands.count);
    describe_pass(pass, sums);
    pass->lanes = 16;
    /* as many on both sides of a result's place, and the rest of what is taken at once */
    int32_t around = (int32_t)(support + 1) / 2 + ROWS_AT_ONCE + 1;
    pass_set_rows(pass, bands.rows, around, around, BORDER_EDGE, size * COLUMN_BYTES);
    pass->scaled = true;
    pass->work = row_work * bands.rows;
    pass_views(pass, &sums->source, &sums->out);
    pass_buffer(pass, task->columns.operand);
    pass_ints(pass, size, columns, rows, stride, pitch, bands.rows, x->n, y->n,
              source->width * source->channels, source->height);
    pass_buffer(pass, task->table_operand);
    pass_weights(task, pass, x, sums, true);
    pass_weights(task, pass, y, sums, false);
}

/* Pairs of results in a work-item pay where registers are few, and where their weights are exact:
 * for bytes without alpha. */
static bool takes_pairs(const struct task *task, const struct sums *sums)
{
    return task->plan->profile->takes_columns && sums->plane.type == SAMPLE_U8 &&
           sums->arithmetic == FIXED;
}

static const struct resize_groups pairs_across[] = {{2, 4, false}, {2, 4, true}};
static const struct resize_groups pairs_down = {2, 1, false};

/* Along rows by pairs. A load has four steps of one channel; it must stay within the row and its
 * padding, which ends at `end`. */
static uint32_t pair_steps(const struct sums *sums, bool alone)
{
    uint32_t steps = (resize_groups_longest(&sums->x, &pairs_across[alone]) + 3) / 4;
    return stage_round_up(steps, sums->plane.channels == 1 ? 4 : 1);
}

static uint32_t pair_end(const struct plane *source)
{
    return stage_round_up(source->width, source->channels == 1 ? 16 : 4);
}

static bool suits_pairs_across(const struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->source.plane;
    return takes_pairs(task, sums) && pass_is_aligned(source) &&
           4 * pair_steps(sums, sums->alone) <= pair_end(source);
}

static void add_pairs_across(struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->source.plane;
    const struct resize_taps *taps = &sums->x;
    bool alone = sums->alone;
    uint32_t end = pair_end(source), steps = pair_steps(sums, alone);
    struct pass *pass = pass_begin(task->plan, "resize_pairs", "across", FORM_SCALAR, 1,
                                   resize_groups_count(taps, &pairs_across[alone]),
                                   (source->height + PAIR_ROWS - 1) / PAIR_ROWS);
    describe_pass(pass, sums);
    pass_define(pass, "ROWS", "%d", PAIR_ROWS);
    pass_define(pass, "ALONE", "%d", alone);
    if (alone)
        pass_name(pass, "alone");
    pass->work = 2 * sums->work * PAIR_ROWS;
    pass_views(pass, &sums->source, &sums->middle);
    pass_set_rows(pass, PAIR_ROWS, 0, 0, BORDER_EDGE, 0);
    pass_buffer(pass, task->table_operand);
    pass_axis(pass, resize_table_steps(&task->table, taps, &pairs_across[alone], steps, end));
    pass_ints(pass, source->height, stage_round_up(source->width * source->channels, 16));
}

/* Along rows on GPUs by words: as many steps as cover the samples of any result, wherever it
 * begins. With one channel, one load has four steps, and must stay within the row and its padding.
 */
static uint32_t wide_steps(const struct sums *sums)
{
    uint32_t steps = (sums->x.largest + 3 + 3) / 4;
    return sums->source.plane.channels == 1 ? stage_round_up(steps, 4) : steps;
}

static bool suits_wide(const struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->source.plane;
    return source->type == SAMPLE_U8 && sums->arithmetic == FIXED && pass_is_aligned(source) &&
           (source->channels > 1 || 4 * wide_steps(sums) <= stage_round_up(source->width, 16));
}

static void add_wide(struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->source.plane;
    uint32_t channels = source->channels, bytes = stage_round_up(source->width * channels, 16);
    uint32_t steps = wide_steps(sums), at_once = wide_rows[channels];
    uint32_t end = channels == 1 ? bytes : stage_round_up(source->width, 4);
    struct pass *pass = pass_begin(task->plan, "resize_wide", "", FORM_SCALAR, 1, sums->x.n,
                                   (source->height + at_once - 1) / at_once);
    describe_pass(pass, sums);
    pass_define(pass, "ROWS", "%u", at_once);
    pass->work = sums->work * at_once;
    pass_views(pass, &sums->source, &sums->middle);
    pass_set_rows(pass, at_once, 0, 0, BORDER_EDGE, 0);
    pass_buffer(pass, task->table_operand);
    pass_axis(pass, resize_table_steps(&task->table, &sums->x, &(struct resize_groups){1, 4, false},
                                       steps, end));
    pass_ints(pass, source->height, bytes / 4 - 1);
}

/* Both directions on GPUs that multiply matrices of bytes: work-groups have MATRIX_ACROSS strips of
 * 16 columns of the result, and for each `tiles` times 32 work-items, which have `tiles` times 16
 * rows: as many as there are registers for. */
enum {
    MATRIX_ACROSS = 4,
    MATRIX_WORDS_MAX = 1 << 22
};

static uint32_t matrix_tiles(const struct plane *source)
{
    return source->channels == 1 ? 2 : 1;
}

/* Few work-items with long ways, for small results of large pictures, would leave the GPU waiting.
 */
static bool suits_matrices(const struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->plane;
    const uint32_t tiles = matrix_tiles(source);
    const struct resize_taps *x = &sums->x, *y = &sums->y;
    if (!task->plan->profile->multiplies_bytes || source->type != SAMPLE_U8 ||
        sums->arithmetic != FIXED || !pass_is_aligned(source) || !pass_is_aligned(&sums->out.plane))
        return false;
    const uint64_t strips = (x->n + 15) / 16, bands = (y->n + 16 * tiles - 1) / 16 / tiles;
    uint64_t along = resize_table_matrix_steps(x, 16, true);
    uint64_t down = resize_table_matrix_steps(y, 16 * tiles, false);
    if ((strips * along + bands * tiles * down) * MATRIX_WORDS > MATRIX_WORDS_MAX)
        return false;
    return strips * bands * 32 * tiles >= 4096 * source->channels || along / 2 * down <= 12 * tiles;
}

static void add_matrices(struct task *task, const struct sums *sums)
{
    const struct plane *source = &sums->plane;
    const struct resize_taps *x = &sums->x, *y = &sums->y;
    const uint32_t tiles = matrix_tiles(source), rows = 16 * tiles;
    struct resize_part along = resize_table_matrices(&task->table, x, 16, true);
    struct resize_part down = resize_table_matrices(&task->table, y, rows, false);
    struct pass *pass = pass_begin(task->plan, "resize_matrix", "", FORM_SCALAR, 1,
                                   stage_round_up(along.n, MATRIX_ACROSS) * 32 * tiles, down.n);
    describe_pass(pass, sums);
    pass_define(pass, "ACROSS", "%d", MATRIX_ACROSS);
    pass_define(pass, "DOWN", "%u", tiles);
    pass_define(pass, "TILES", "%u", tiles);
    pass->group[0] = 32 * MATRIX_ACROSS * tiles;
    pass->work = (sums->work + work_down(sums)) * source->height / down.n / (2 * tiles);
    pass_views(pass, &sums->source, &sums->out);
    scale_rows(pass, sums, rows, 32 * (down.taps + 1));
    pass_buffer(pass, task->table_operand);
    pass_ints(pass, along.at, along.n, along.taps / 2, down.at, down.n, down.taps, source->height,
              stage_round_up(source->width * source->channels, 16) - 16, x->n, y->n);
}

static void add_across(struct task *task, const struct sums *sums)
{
    struct pass *pass = pass_begin(task->plan, "resize_across", "", FORM_SCALAR, 1, sums->x.n,
                                   sums->source.plane.height);
    describe_pass(pass, sums);
    pass_views(pass, &sums->source, &sums->middle);
    pass->work = sums->work;
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    pass_buffer(pass, task->table_operand);
    pass_weights(task, pass, &sums->x, sums, false);
    pass_int(pass, (int32_t)sums->middle.plane.width);
}

static void add_down(struct task *task, const struct sums *sums)
{
    bool alpha = sums->arithmetic == ALPHA;
    struct pass *pass = pass_begin(task->plan, "resize_down", "", FORM_SCALAR, 1,
                                   sums->x.n * (alpha ? 1 : sums->plane.channels), sums->y.n);
    describe_pass(pass, sums);
    pass->work = work_down(sums) * (alpha ? sums->plane.channels : 1);
    pass_views(pass, &sums->middle, &sums->out);
    scale_rows(pass, sums, 1, 0);
    pass_buffer(pass, task->table_operand);
    pass_weights(task, pass, &sums->y, sums, false);
    pass_ints(pass, sums->first_row, sums->middle.plane.width);
}

/* Down columns by pairs. */
static uint32_t pair_steps_down(const struct sums *sums)
{
    return (resize_groups_longest(&sums->y, &pairs_down) + 3) / 4;
}

static bool suits_pairs_down(const struct task *task, const struct sums *sums)
{
    return takes_pairs(task, sums) && pass_is_aligned(&sums->out.plane) &&
           4 * pair_steps_down(sums) <= sums->source.plane.height;
}

static void add_pairs_down(struct task *task, const struct sums *sums)
{
    const struct resize_taps *taps = &sums->y;
    const uint32_t lanes = 8, end = sums->first_row + sums->source.plane.height;
    uint32_t steps = pair_steps_down(sums);
    struct pass *pass = pass_begin(task->plan, "resize_pairs", "down", FORM_VECTOR, lanes,
                                   sums->x.n * sums->plane.channels, (taps->n + 1) / 2);
    describe_pass(pass, sums);
    pass->work = 2 * lanes * work_down(sums);
    pass_views(pass, &sums->middle, &sums->out);
    scale_rows(pass, sums, 2, 4 * steps);
    pass_buffer(pass, task->table_operand);
    pass_axis(pass, resize_table_steps(&task->table, taps, &pairs_down, steps, end));
    pass_ints(pass, sums->first_row, taps->n);
}

static struct view middle_of(struct task *task, const struct sums *sums)
{
    struct plane shape = {.width = stage_round_up(sums->x.n + sums->alone, RESIZE_AT_ONCE),
                          .height = stage_round_up(sums->source.plane.height, ROWS_AT_ONCE),
                          .channels = middle_channels(sums),
                          .type = middle_type(sums)};
    return stage_plan_view(task->plan, &task->middle, &shape);
}

/* Which movement serves what: the first that suits. */
struct way {
    bool (*suits)(const struct task *task, const struct sums *sums); /* NULL: all that is left */
    void (*add)(struct task *task, const struct sums *sums);
};

static void add_way(const struct way *ways, struct task *task, const struct sums *sums)
{
    while (ways->suits && !ways->suits(task, sums))
        ways++;
    ways->add(task, sums);
}

/* Along rows, and from there down columns. */
static void add_two(struct task *task, const struct sums *whole)
{
    static const struct way along[] = {
        {suits_pairs_across, add_pairs_across}, /* pairs of results: bytes on Mali */
        {suits_wide, add_wide},                 /* words: bytes on GPUs */
        {NULL, add_across},                     /* point */
    };
    static const struct way down[] = {
        {suits_pairs_down, add_pairs_down}, /* pairs of results: bytes on Mali */
        {NULL, add_down},                   /* point */
    };
    struct sums sums = *whole; /* only the rows that the result needs are summed */
    sums.source.plane.height = resize_table_stretch(&sums.y, 0, sums.y.n, &sums.first_row);
    sums.source.plane.offset += sums.first_row * sums.plane.stride;
    sums.alone = takes_pairs(task, &sums) && pair_steps(&sums, true) < pair_steps(&sums, false);
    sums.middle = middle_of(task, &sums);
    add_way(along, task, &sums);
    add_way(down, task, &sums);
}

static const struct way ways[] = {
    {suits_bands, add_bands},       /* bands of rows, both directions at once: CPUs */
    {suits_matrices, add_matrices}, /* tile, by products of matrices: bytes on NVIDIA's GPUs */
    {NULL, add_two},                /* table, in two passes: GPUs */
};

/* Each sample of the result is one sample of the source: the table holds its column and row. */
static void add_picks(struct task *task, const struct sums *sums)
{
    struct pass *pass = move_begin(task->plan, "resize_pick", form_of(task), 0, &sums->source,
                                   &sums->out, sums->x.n, sums->y.n);
    pass_buffer(pass, task->table_operand);
    pass_int(pass, (int32_t)resize_table_firsts(&task->table, &sums->x));
    pass_int(pass, (int32_t)resize_table_firsts(&task->table, &sums->y));
}

static void add_sums(struct task *task, const struct view *in, const struct view *out,
                     const struct resize_layout *layout)
{
    struct sums sums = {.scale = (double)layout->y.from / layout->y.to,
                        .arithmetic = arithmetic_of(&in->plane),
                        .plane = in->plane,
                        .source = *in,
                        .out = *out};
    if (!resize_taps_make(&sums.x, &layout->x) || !resize_taps_make(&sums.y, &layout->y))
        task->table.out_of_memory = true;
    else if (resize_axis_moves(&layout->x) && resize_axis_moves(&layout->y))
        add_picks(task, &sums);
    else {
        sums.work = ((double)in->plane.width / sums.x.n * 6 + 6) * in->plane.channels;
        add_way(ways, task, &sums);
    }
    free(sums.x.at);
    free(sums.y.at);
}

static bool is_whole(const struct resize_axis *axis)
{
    return axis->from == axis->to && axis->count == axis->to;
}

/* Adds one plane: scaled if its size changes, then placed on its background if it has one. */
static void add_plane(struct task *task, const struct resize_config *config, unsigned i,
                      struct fault *fault)
{
    struct stage_plan *plan = task->plan;
    struct view in = {OPERAND_IN, plan->in->planes[i]};
    struct view out = {OPERAND_OUT, plan->out->planes[i]}, scaled = out;
    struct resize_layout layout;
    resize_layout(config, &in.plane, &layout, fault);
    bool same = is_whole(&layout.x) && is_whole(&layout.y);
    if (config->fit == RESIZE_PAD) {
        struct plane shape = out.plane;
        shape.width = layout.x.count;
        shape.height = layout.y.count;
        scaled = same ? in : stage_plan_view(plan, &task->scaled, &shape);
    }
    if (config->fit != RESIZE_PAD || !same)
        add_sums(task, &in, &scaled, &layout);
    if (config->fit == RESIZE_PAD) {
        struct move move = {.from = &scaled,
                            .left = (int32_t)layout.left,
                            .top = (int32_t)layout.top,
                            .border = MOVE_BACKGROUND};
        stage_background("resize", &config->background, &in.plane, move.background, fault);
        move_add(plan, i, &move);
    }
}

int resize_passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct resize_config *config = config_;
    struct task task = {.plan = plan, .table_operand = OPERAND_TABLE};
    bool keeps_all = true; /* every plane stays as it is, so that no pass is needed */
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        struct resize_layout layout;
        resize_layout(config, &plan->in->planes[i], &layout, NULL);
        keeps_all &= is_whole(&layout.x) && is_whole(&layout.y) && layout.width == layout.x.count &&
                     layout.height == layout.y.count;
    }
    if (keeps_all)
        return 0;
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        add_plane(&task, config, i, fault);
    plan->out_of_memory |= task.table.out_of_memory;
    if (task.table.words)
        stage_plan_table(plan, task.table.words, task.table.count * sizeof *task.table.words);
    free(task.table.words);
    return 0;
}
