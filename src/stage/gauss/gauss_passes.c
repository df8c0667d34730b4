/* Passes of gauss and unsharp: in one on CPUs (cl/gauss/gauss.cl), and on GPUs by tiles in local
 * memory (gauss_tile.cl); without that, and for wide windows, along rows and then down columns
 * (gauss_across.cl, gauss_down.cl; for bytes on Mali gauss_columns.cl). On NVIDIA's GPUs bytes take
 * products of matrices (gauss_matrix.cl). */
#include "stage/gauss/gauss.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "stage/common.h"
#include "stage/strips.h"
#include "stage/weighted.h"

struct task {
    struct stage_plan *plan;
    const struct gauss_config *config;
    struct view in, out;
    uint32_t radius;
    struct stage_window window;
    int border;     /* as kernels take it */
    int32_t centre; /* where in the source the result's pixel (0, 0) lies, each way */
    double weights[GAUSS_RADIUS_MAX + 1]; /* from distance 0 on */
    int32_t fixed[GAUSS_RADIUS_MAX + 1];  /* the same in 2^14ths */
    struct scratch scratch, middle;
};

/* The weights that kernels read: pairs of them, the last filled up with 0. */
static unsigned add_weights(const struct task *task)
{
    int16_t shorts[GAUSS_RADIUS_MAX + 2] = {0};
    float reals[GAUSS_RADIUS_MAX + 2] = {0};
    size_t count = task->radius / 2 * 2 + 2;
    for (uint32_t i = 0; i <= task->radius; i++) {
        shorts[i] = (int16_t)task->fixed[i];
        reals[i] = (float)task->weights[i];
    }
    return task->in.plane.type == SAMPLE_F32
               ? stage_plan_table(task->plan, reals, count * sizeof *reals)
               : stage_plan_table(task->plan, shorts, count * sizeof *shorts);
}

/* Whether all changes of the type are those that f32 gives. */
static bool is_exact_in_f32(const struct gauss_config *config, int largest)
{
    float amount = (float)config->amount;
    for (int d = 0; d <= largest; d++) {
        float change = (float)d * amount, rounder = 12582912.0f;
        change = d >= config->threshold ? (change + rounder) - rounder : 0;
        if (change != gauss_change(config, d))
            return false;
    }
    return true;
}

static void add_changes(const struct task *task, struct pass *pass, int largest)
{
    int32_t *changes = malloc(((size_t)largest + 1) * sizeof *changes);
    if (!changes) {
        task->plan->out_of_memory = true;
        return;
    }
    for (int d = 0; d <= largest; d++)
        changes[d] = (int32_t)gauss_change(task->config, d);
    pass_buffer(pass,
                stage_plan_table(task->plan, changes, ((size_t)largest + 1) * sizeof *changes));
    free(changes);
}

/* What is done with the blurred sample: definitions and arguments. */
static void add_sharpening(const struct task *task, struct pass *pass)
{
    const struct gauss_config *config = task->config;
    if (!config->sharpens)
        return;
    enum sample_type type = task->in.plane.type;
    int largest = (int)sample_max(type);
    bool real = type == SAMPLE_F32 || is_exact_in_f32(config, largest);
    pass_define(pass, real ? "REAL" : "TABLE", "1");
    pass_name(pass, real ? "real" : "table");
    if (real) {
        pass_floats(pass, (float)config->amount, (float)config->threshold);
        pass_numbers(pass, "float amount, float threshold", "amount, threshold");
    } else {
        add_changes(task, pass, largest);
        pass_numbers(pass, "__global const int *restrict changes", "changes");
    }
}

static bool suits_rows(const struct task *task)
{
    return task->plan->profile->form == FORM_ROWS;
}

static void add_rows(struct task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    uint32_t radius = task->radius, lines = 2 * radius + 1;
    size_t size = sample_size(in->type), middle = size == 4 ? 4 : 2 * size;
    /* Of a wide window all lines are read for each row, more often than the source is. */
    size_t cache = radius < 12 ? STRIPS_SECOND_CACHE : STRIPS_FIRST_CACHE;
    struct strips_need need = {lines * middle, cache, 4.0 * lines, radius};
    struct strips strips = strips_cut(task->plan->profile, out, &need);
    /* The last line, of bytes, is there a second time, widened. */
    uint64_t bytes = (uint64_t)lines * (strips.width + 64) * middle +
                     strips_line(&strips, &task->window, in->channels) * (size == 1 ? 3 : size);
    struct pass *pass = strips_begin(task->plan, "gauss", "", &strips, &task->in, &task->out,
                                     &task->window, &task->scratch, bytes);
    pass_name(pass, "rows");
    pass->lanes = 16; /* that are sharpened at once */
    pass->work = 4.0 * lines * strips.width * (strips.bands.rows + radius);
    pass_buffer(pass, add_weights(task));
    add_sharpening(task, pass);
}

static void add_across(struct task *task, const struct view *middle)
{
    const struct plane *in = &task->in.plane;
    struct pass *pass =
        pass_begin(task->plan, "gauss_across", "", FORM_SCALAR, 1,
                   middle->plane.width * middle->plane.channels, middle->plane.height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass->work = 4.0 * task->radius + 8;
    pass_views(pass, &task->in, middle);
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    pass_ints(pass, in->width, task->radius, task->border, task->centre);
    pass_buffer(pass, add_weights(task));
}

static void add_down(struct task *task, const struct view *middle)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    const uint32_t lanes = 4;
    bool alpha = plane_has_alpha(in);
    uint32_t samples = out->width * out->channels;
    /* The source's samples stand beside those of the result unless that is cropped. */
    bool aligned = pass_is_aligned(in) && task->centre == 0;
    bool wide =
        pass_is_aligned(out) && samples >= lanes && (aligned || !(alpha || task->config->sharpens));
    struct pass *pass = pass_begin(task->plan, "gauss_down", "", wide ? FORM_VECTOR : FORM_SCALAR,
                                   wide ? lanes : 1, samples, out->height);
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "ALPHA", "%u", alpha ? in->channels : 0);
    pass_name(pass, alpha ? in->channels == 2 ? "alpha2" : "alpha4" : "plain");
    pass_name(pass, kernel_form_name(pass->form));
    pass->work = (4.0 * task->radius + 8) * (wide ? lanes : 1);
    pass_views(pass, middle, &task->out);
    pass_view(pass, &task->in);
    stage_set_rows(pass, 1, &task->window, 0);
    pass_ints(pass, (uint32_t)task->centre * in->channels, in->height, task->radius, task->border,
              task->centre);
    pass_buffer(pass, add_weights(task));
    add_sharpening(task, pass);
}

/* The weights from distance 0 on, as text. */
static void define_weights(const struct task *task, struct pass *pass)
{
    struct text list = {0};
    for (uint32_t i = 0; i <= task->radius; i++)
        if (task->in.plane.type == SAMPLE_F32)
            text_printf(&list, "%af,", (double)(float)task->weights[i]);
        else
            text_printf(&list, "%" PRId32 ",", task->fixed[i]);
    pass_define(pass, "WEIGHTS", "%s", text_string(&list));
    text_finish(&list);
}

enum {
    TILE_ITEMS = 256,
    TILE_ROWS = 64,
    TILE_RADIUS_MAX = 48 /* more weights would be too long a text, and too long a program */
};

/* A tile's width in blocks of four pixels: a line of a warp, or half of one where windows are so
 * tall that rows which two tiles share, and sum along both, would be many. */
static uint32_t tile_blocks(uint32_t channels, uint32_t radius)
{
    static const uint32_t blocks[] = {0, 32, 16, 10, 8};
    return radius > 12 ? blocks[channels] / 2 : blocks[channels];
}

/* The lines of sums that local memory has room for. */
static uint32_t tile_lines(const struct task *task)
{
    const uint32_t channels = task->in.plane.channels;
    size_t sums = (task->in.plane.type == SAMPLE_U8 ? 8 : 16) * (size_t)channels;
    return (uint32_t)(task->plan->profile->local_memory /
                      (sums * tile_blocks(channels, task->radius)));
}

/* The rows of the result that a tile has, of those whose lines it has room for. */
static uint32_t tile_rows(const struct task *task)
{
    const uint32_t radius = task->radius, rows = (tile_lines(task) - 2 * radius) & ~3u;
    uint32_t enough = radius > 12 ? 3 * TILE_ROWS : TILE_ROWS;
    return rows > enough ? enough : rows;
}

static bool suits_tile(const struct task *task)
{
    return !task->plan->profile->generic && task->radius <= TILE_RADIUS_MAX &&
           tile_lines(task) >= 2 * task->radius + 16 && tile_rows(task) >= task->radius;
}

static void add_tile(struct task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    const uint32_t channels = in->channels, radius = task->radius, rows = tile_rows(task);
    const uint32_t blocks = tile_blocks(channels, radius);
    uint32_t lines = rows + 2 * radius, strips = (out->width + 4 * blocks - 1) / (4 * blocks);
    struct pass *pass = pass_begin(task->plan, "gauss_tile", "", FORM_SCALAR, 1,
                                   strips * TILE_ITEMS, (out->height + rows - 1) / rows);
    pass->group[0] = TILE_ITEMS;
    pass->lanes = 4;
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, channels, channels);
    pass_define(pass, "RADIUS", "%u", radius);
    pass_define(pass, "BLOCKS", "%u", blocks);
    pass_define(pass, "LINES", "%u", lines);
    pass_define(pass, "ALIGNED", "%d", pass_is_aligned(out));
    define_weights(task, pass);
    if (in->type == SAMPLE_U8 && channels == 1 && pass_is_aligned(in))
        pass_define(pass, "PHASE", "%u", task->centre ? 0 : (4 - radius % 4) % 4);
    pass_define(pass, "SHARPENS", "%d", task->config->sharpens);
    pass->work = 8.0 * (2 * radius + 4) * blocks * channels * (lines + rows) / TILE_ITEMS;
    pass_views(pass, &task->in, &task->out);
    stage_set_rows(pass, rows, &task->window, 0);
    pass_ints(pass, in->width, in->height, out->width, out->height, rows, task->border,
              task->centre);
    add_sharpening(task, pass);
}

enum {
    COLUMNS_ROWS = 2,     /* of a work-item of gauss_columns that sums down */
    COLUMNS_LANES = 8,    /* samples of a work-item, both ways */
    COLUMNS_RADIUS = 12,  /* of more weights the text would be too long */
    COLUMNS_SAMPLES = 16, /* on either side, for the samples of a window to fit into registers */
};

/* Whether gauss_columns can take the plane: its loads and stores are aligned, and those of alpha
 * and of what is sharpened stand beside the result's. */
static bool suits_columns(const struct task *task)
{
    const struct plane *in = &task->in.plane;
    uint32_t radius = task->radius;
    bool beside =
        task->config->border != BORDER_CROP || !(plane_has_alpha(in) || task->config->sharpens);
    return task->plan->profile->takes_columns && !task->plan->profile->generic &&
           in->type == SAMPLE_U8 && radius <= COLUMNS_RADIUS &&
           radius * in->channels <= COLUMNS_SAMPLES && pass_is_aligned(in) &&
           pass_is_aligned(&task->out.plane) && beside;
}

/* WEIGHT_OF(d) for constants d, which compilers fold. */
static void define_weight_of(const struct task *task, struct pass *pass)
{
    struct text choice = {0};
    for (uint32_t i = 0; i < task->radius; i++)
        text_printf(&choice, "(d) == %u ? %" PRId32 " : ", i, task->fixed[i]);
    text_printf(&choice, "%" PRId32, task->fixed[task->radius]);
    pass_define(pass, "WEIGHT_OF(d)", "(%s)", text_string(&choice));
    text_finish(&choice);
}

/* Begins a pass of gauss_columns. */
static struct pass *begin_columns(const struct task *task, const char *direction,
                                  uint32_t grid_width, uint32_t grid_height)
{
    const struct plane *in = &task->in.plane;
    struct pass *pass = pass_begin(task->plan, "gauss_columns", direction, FORM_VECTOR,
                                   COLUMNS_LANES, grid_width, grid_height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass_define(pass, "RADIUS", "%u", task->radius);
    define_weight_of(task, pass);
    return pass;
}

static void add_columns_across(const struct task *task, const struct view *middle)
{
    const struct plane *in = &task->in.plane;
    uint32_t reach = task->radius * in->channels;
    uint32_t before = task->centre ? reach : (reach + 3) / 4 * 4;
    struct pass *pass =
        begin_columns(task, "across", middle->plane.width * in->channels, middle->plane.height);
    pass_define(pass, "BEFORE", "%u", before);
    pass_define(pass, "CHUNKS", "%u", (before + COLUMNS_LANES + reach + 15) / 16);
    pass->work = COLUMNS_LANES * (4.0 * task->radius + 8);
    pass_views(pass, &task->in, middle);
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    pass_ints(pass, in->width, task->border, task->centre ? 0 : -(int32_t)before);
}

static void add_columns_down(const struct task *task, const struct view *middle)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct pass *pass = begin_columns(task, "down", out->width * out->channels,
                                      (out->height + COLUMNS_ROWS - 1) / COLUMNS_ROWS);
    pass_define(pass, "ROWS", "%d", COLUMNS_ROWS);
    pass->work = COLUMNS_ROWS * COLUMNS_LANES * (4.0 * task->radius + 8);
    pass_views(pass, middle, &task->out);
    pass_view(pass, &task->in);
    stage_set_rows(pass, COLUMNS_ROWS, &task->window, 0);
    pass_ints(pass, in->height, out->height, task->border, task->centre);
    pass_buffer(pass, add_weights(task));
    add_sharpening(task, pass);
}

enum {
    MATRIX_ITEMS = 128, /* 32 for each strip of 16 columns */
    MATRIX_STEPS_MAX = 4,
    /* of three channels in wide windows; fewer leave the GPU waiting */
    MATRIX_ITEMS_LEAST = 1 << 16
};

/* Weights of a window of 32 columns or rows a step around 16 of the result, along rows and then
 * down columns. */
static unsigned add_matrices(const struct task *task, uint32_t steps)
{
    uint32_t words[2 * MATRIX_STEPS_MAX][MATRIX_WORDS] = {0};
    for (uint32_t at = 0; at < 32 * steps; at++)
        for (uint32_t i = 0; i < 16; i++) {
            int64_t distance = llabs((int64_t)at - (16 * steps - 8) - i);
            if (distance > task->radius)
                continue;
            uint32_t step = at / 32, column = at % 8 / 4 * 16 + at % 32 / 8 * 4 + at % 4;
            matrix_set(words[step], matrix_row_of(i), column, task->fixed[distance]);
            matrix_set(words[steps + step], i, matrix_column_of(at % 32), task->fixed[distance]);
        }
    return stage_plan_table(task->plan, words, 2 * steps * sizeof words[0]);
}

/* How products of matrices cut a plane: work-items along a band, and their rows. */
struct products {
    uint32_t steps, items, rows, bands;
};

static struct products cut_products(const struct task *task)
{
    const struct plane *in = &task->in.plane;
    struct products cut = {.steps = (task->radius + 8 + 15) / 16,
                           .items = stage_round_up(32 * ((in->width + 15) / 16), MATRIX_ITEMS)};
    cut.rows = cut.steps > 2 ? 96 * (cut.steps - 1) : 96;
    if (cut.steps == 1 && in->channels == 3) /* few work-items, and little to begin with */
        cut.rows = 48;
    cut.bands = (in->height + cut.rows - 1) / cut.rows;
    return cut;
}

static bool suits_products(const struct task *task)
{
    const struct plane *in = &task->in.plane;
    struct products cut = cut_products(task);
    bool few = task->radius < 10 || cut.items * cut.bands < MATRIX_ITEMS_LEAST;
    return task->plan->profile->multiplies_bytes && in->type == SAMPLE_U8 && !plane_has_alpha(in) &&
           task->config->border != BORDER_CROP && cut.steps <= MATRIX_STEPS_MAX &&
           pass_is_aligned(in) && pass_is_aligned(&task->out.plane) &&
           !(cut.steps > 1 && in->channels == 3 && few);
}

static void add_products(struct task *task)
{
    const struct plane *in = &task->in.plane;
    const struct products cut = cut_products(task);
    const uint32_t radius = task->radius, steps = cut.steps, rows = cut.rows;
    struct pass *pass =
        pass_begin(task->plan, "gauss_matrix", "", FORM_SCALAR, 1, cut.items, cut.bands);
    pass->group[0] = MATRIX_ITEMS;
    pass->lanes = 4;
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass_define(pass, "STEPS", "%u", steps);
    pass_define(pass, "SHARPENS", "%d", task->config->sharpens);
    pass->work = 8.0 * (2 * radius + 4) * in->channels * rows / 2;
    pass_views(pass, &task->in, &task->out);
    /* of 16 rows all are loaded, and those behind them */
    const int32_t around = (int32_t)(16 * steps - 8);
    pass_set_rows(pass, rows, around, around + 31, task->config->border, 0);
    pass_ints(pass, in->width, in->height, rows, task->border);
    pass_buffer(pass, add_matrices(task, steps));
    add_sharpening(task, pass);
}

/* Sums along rows, which are summed down columns. */
static struct view sums_along(struct task *task)
{
    struct plane shape = task->in.plane;
    shape.width = task->out.plane.width;
    shape.type = weighted_middle(shape.type);
    return stage_plan_view(task->plan, &task->middle, &shape);
}

static void add_columns(struct task *task)
{
    struct view middle = sums_along(task);
    add_columns_across(task, &middle);
    add_columns_down(task, &middle);
}

static void add_samples(struct task *task)
{
    struct view middle = sums_along(task);
    add_across(task, &middle);
    add_down(task, &middle);
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct task *task); /* NULL: all that is left */
    void (*add)(struct task *task);
} ways[] = {
    {suits_rows, add_rows},         /* strips: CPUs */
    {suits_products, add_products}, /* tile, by products of matrices: bytes on NVIDIA's GPUs */
    {suits_tile, add_tile},         /* tile: GPUs with local memory */
    {suits_columns, add_columns},   /* walker, along rows and down columns: bytes on Mali */
    {NULL, add_samples},            /* point, the same way */
};

int gauss_passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct gauss_config *config = config_;
    struct task task = {.plan = plan,
                        .config = config,
                        .radius = (uint32_t)config->radius,
                        .border = stage_border((enum border)config->border),
                        .centre = config->border == BORDER_CROP ? (int32_t)config->radius : 0};
    gauss_window(config, &task.window);
    gauss_weights(config->sigma, config->radius, task.weights);
    gauss_fixed_weights(task.weights, config->radius, task.fixed);
    for (unsigned i = 0, way; i < plan->in->n_planes; i++) {
        task.in = (struct view){OPERAND_IN, plan->in->planes[i]};
        task.out = (struct view){OPERAND_OUT, plan->out->planes[i]};
        for (way = 0; ways[way].suits && !ways[way].suits(&task); way++)
            ;
        ways[way].add(&task);
    }
    return 0;
}
