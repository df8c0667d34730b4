/* box by sums: along columns and rows on GPUs (cl/box/box_sums.cl), and by summed-area tables
 * (cl/box/box_table.cl). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage/box/box_internal.h"

/* Columns of a table of 32 bits that go down together on a CPU, a page of each row. */
#define TABLE_COLUMNS 1024

/* Sums along one axis of a plane whose lanes are columns of samples, or of sums that lie
 * transposed. */
struct axis {
    const struct box_task *task;
    struct view from, blocks, to;
    enum sample_type sum;     /* type of the accumulators: F32, or I32 and F64 for 32 and 64 bits */
    uint32_t lanes, step;     /* step: the distance of positions */
    uint32_t length;          /* positions of a lane */
    uint32_t block;           /* for sums of blocks: positions in each block */
    uint32_t before, results; /* reach of the window; number of results */
    uint32_t side;
};

/* OpenCL's name for samples and sums; 64-bit sums have the memory of doubles. */
static const char *type_name(enum sample_type type, bool is_signed)
{
    if (type == SAMPLE_I32)
        return is_signed ? "int" : "uint";
    return pass_type_bits_name(type);
}

static struct pass *begin(const struct axis *axis, const char *kernel, enum kernel_form form,
                          uint32_t grid_height)
{
    struct pass *pass =
        pass_begin(axis->task->plan, "box_sums", kernel, form, 0, axis->lanes, grid_height);
    const char *sum = type_name(axis->sum, false);
    char is[32];
    snprintf(pass->name, sizeof pass->name, "box_%s", kernel);
    snprintf(is, sizeof is, "ACC_IS_%s", sum);
    pass_define(pass, "ACC", "%s", sum);
    pass_define(pass, is, "1");
    pass_define(pass, "STEP", "%u", axis->step);
    return pass;
}

static void define_types(struct pass *pass, const struct axis *axis, bool destination)
{
    enum sample_type from = axis->from.plane.type, to = axis->to.plane.type;
    bool is_signed = sample_min(axis->task->in.plane.type) < 0;
    pass_define(pass, "SRC", "%s", type_name(from, is_signed));
    pass_name(pass, type_name(from, is_signed));
    if (!destination)
        return;
    pass_define(pass, "DST", "%s", type_name(to, false));
    pass_name(pass, type_name(to, false));
}

static void add_source(struct pass *pass, const struct axis *axis)
{
    pass_view(pass, &axis->from);
    pass_view(pass, &axis->blocks);
}

/* Sums of blocks of positions; with `carry`, also the sums of all blocks before each. */
static void add_blocks(struct axis *axis, uint32_t positions, bool carry)
{
    uint32_t blocks = (positions + axis->block - 1) / axis->block;
    const enum kernel_form form = FORM_SCALAR;
    axis->blocks = box_scratch(axis->task, &axis->task->memory->blocks, axis->lanes,
                               blocks * axis->step, 1, axis->sum);
    struct pass *pass = begin(axis, "blocks", form, blocks * axis->step);
    define_types(pass, axis, false);
    pass_name(pass, kernel_form_name(form));
    pass->work = 2.0 * axis->block;
    pass->bytes_read = plane_bytes(&axis->from.plane);
    pass->bytes_written = plane_bytes(&axis->blocks.plane);
    add_source(pass, axis);
    pass_ints(pass, axis->length, axis->block);
    if (!carry)
        return;
    pass = begin(axis, "carry", form, axis->step);
    pass_name(pass, type_name(axis->sum, false));
    pass_name(pass, kernel_form_name(form));
    pass->work = 2.0 * blocks;
    pass->bytes_read = pass->bytes_written = plane_bytes(&axis->blocks.plane);
    pass_view(pass, &axis->blocks);
    pass_int(pass, (int32_t)blocks);
}

/* Results of one store. Of integers a vector of the device's: 4 on Mali, since 16 would leave it
 * one thread where 4 leave two (one for sums of 64 bits, whose registers come in pairs; only u16
 * and i16 in windows of more than 2^16 samples have them). Of floats as many as a window's parts
 * allow, up to 16, on Mali too, though that is one thread there: the middle of the windows is
 * summed once for all of them, and with 4 in place of 16 a window of 200 samples would take four
 * times the loads. */
static uint32_t results_at_once(const struct axis *axis)
{
    if (axis->sum != SAMPLE_F32)
        return pass_vector_length(axis->task->plan->profile, axis->to.plane.type,
                                  axis->to.plane.type);
    uint32_t results = 16;
    while (results > axis->side + 1)
        results /= 2;
    return results;
}

/* Results of each work-item: many, so that beginning a window is a small part of the work, unless
 * the device then had too few work-items. */
static uint32_t band_of(const struct axis *axis)
{
    uint32_t least = results_at_once(axis), band = axis->sum == SAMPLE_F32 ? least : 128;
    double items = 1024.0 * axis->task->plan->profile->units;
    while (band > least && (double)axis->lanes * axis->step * axis->results / band < items)
        band /= 2;
    return band < least ? least : band;
}

static struct pass *begin_windows(struct axis *axis, bool means)
{
    const struct plane *to = &axis->to.plane;
    uint32_t band = band_of(axis), at_once = results_at_once(axis);
    size_t bytes = at_once * sample_size(to->type);
    /* Stores are wide where all rows of the results are aligned for them. */
    bool wide = axis->step == 1 && to->offset % bytes == 0 && to->stride % bytes == 0;
    if (axis->side > 2 * axis->block)
        add_blocks(axis, axis->length, false);
    struct pass *pass =
        begin(axis, "windows", FORM_SCALAR, (axis->results + band - 1) / band * axis->step);
    define_types(pass, axis, true);
    pass_define(pass, "BLOCK", "%u", axis->block);
    pass_define(pass, "HAS_BLOCKS", "%d", axis->blocks.operand != 0);
    pass_define(pass, "RESULTS", "%u", at_once);
    pass_define(pass, "WIDE", "%d", wide);
    if (means)
        pass_define(pass, "MEANS", "1");
    double begins = axis->sum == SAMPLE_F32 ? (double)band / at_once : 1;
    double start = axis->blocks.operand ? 2.0 * axis->block + axis->side / axis->block : axis->side;
    pass->work = 16.0 * band + 4 * begins * start;
    pass->bytes_read = plane_bytes(&axis->from.plane) + plane_bytes(&axis->blocks.plane);
    pass->bytes_written = plane_bytes(to);
    if (!axis->blocks.operand)
        axis->blocks = axis->from; /* not used */
    add_source(pass, axis);
    pass_view(pass, &axis->to);
    pass_ints(pass, axis->length, axis->results, axis->before, axis->side - 1 - axis->before,
              stage_border(axis->task->border), band);
    return pass;
}

/* The narrowest type that can hold sums of a column. */
static enum sample_type column_type(const struct box_task *task)
{
    enum sample_type type = task->in.plane.type;
    if (type == SAMPLE_F32)
        return SAMPLE_F32;
    if (sample_min(type) < 0)
        return -sample_min(type) * task->height <= 32768 ? SAMPLE_I16 : SAMPLE_I32;
    return sample_max(type) * task->height <= 65535 ? SAMPLE_U16 : SAMPLE_I32;
}

void box_add_sums(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct stage_window reach = box_reach_of(task);
    struct box_divider divider =
        box_divider_general((unsigned)sample_size(in->type) * 8, task->width * task->height);
    bool floats = in->type == SAMPLE_F32;
    struct axis down = {.task = task,
                        .from = task->in,
                        .to = box_scratch(task, &task->memory->half, out->height,
                                          in->width * in->channels, 1, column_type(task)),
                        .sum = floats ? SAMPLE_F32 : SAMPLE_I32,
                        .lanes = in->width * in->channels,
                        .step = 1,
                        .length = in->height,
                        .block = floats ? 16 : 32,
                        .before = reach.top,
                        .results = out->height,
                        .side = task->height};
    begin_windows(&down, false);
    struct axis along = {.task = task,
                         .from = down.to,
                         .to = task->out,
                         .sum = floats                   ? SAMPLE_F32
                                : divider.sum_bits == 64 ? SAMPLE_F64
                                                         : SAMPLE_I32,
                         .lanes = out->height,
                         .step = in->channels,
                         .length = in->width,
                         .block = floats ? 16 : 32,
                         .before = reach.left,
                         .results = out->width,
                         .side = task->width};
    struct pass *pass = begin_windows(&along, true);
    pass_define(pass, "ALPHA", "%u", plane_has_alpha(in) ? in->channels : 0);
    pass_view(pass, &task->in);
    box_add_centre(pass, task);
    if (floats)
        pass_float(pass, (float)task->width * (float)task->height);
    else
        box_add_divider(pass, task, &divider);
}

/* For each position the sum of all positions before it; one more than there are positions. */
static void add_prefix(struct axis *axis)
{
    add_blocks(axis, axis->length + 1, true);
    struct pass *pass = begin(axis, "prefix", FORM_SCALAR, axis->blocks.plane.height);
    define_types(pass, axis, true);
    pass_define(pass, "BLOCK", "%u", axis->block);
    pass_define(pass, "RESULTS", "%u", (unsigned)(16 / sample_size(axis->sum)));
    pass_define(pass, "WIDE", "%d", axis->step == 1 && pass_is_aligned(&axis->to.plane));
    pass->work = 8.0 * axis->block;
    pass->bytes_read = plane_bytes(&axis->from.plane) + plane_bytes(&axis->blocks.plane);
    pass->bytes_written = plane_bytes(&axis->to.plane);
    add_source(pass, axis);
    pass_view(pass, &axis->to);
    pass_int(pass, (int32_t)axis->length);
}

static void add_table_sums(const struct box_task *task, unsigned bits, const struct view *table)
{
    const struct plane *in = &task->in.plane;
    enum sample_type sum = bits == 64 ? SAMPLE_F64 : SAMPLE_I32;
    struct axis down = {.task = task,
                        .from = task->in,
                        .to = box_scratch(task, &task->memory->half, in->height + 1,
                                          in->width * in->channels, 1, sum),
                        .sum = sum,
                        .lanes = in->width * in->channels,
                        .step = 1,
                        .length = in->height,
                        .block = 32};
    add_prefix(&down);
    struct axis along = {.task = task,
                         .from = down.to,
                         .to = *table,
                         .sum = sum,
                         .lanes = in->height + 1,
                         .step = in->channels,
                         .length = in->width,
                         .block = 32};
    add_prefix(&along);
}

static const char *sum_name(unsigned bits)
{
    return bits == 64 ? "ulong" : bits == 32 ? "uint" : "ushort";
}

static void define_table_types(struct pass *pass, const struct box_task *task, unsigned bits)
{
    pass_define_type(pass, "SRC", task->in.plane.type);
    pass_define(pass, "SUM", "%s", sum_name(bits));
    pass_name(pass, sum_name(bits));
    pass_channels(pass, task->in.plane.channels, task->in.plane.channels);
    pass_name(pass, kernel_form_name(pass->form));
}

/* On CPUs: sums along rows, then down columns, some columns for each work-item. */
static void add_table_rows(const struct box_task *task, const struct view *table)
{
    const struct plane *in = &task->in.plane;
    uint32_t samples = (in->width + 1) * in->channels;
    struct pass *pass = pass_begin(task->plan, "box_table", "rows", FORM_ROWS, PASS_WHOLE_ROW,
                                   in->width * in->channels, in->height + 1);
    define_table_types(pass, task, 32);
    pass->work = 4;
    pass_views(pass, &task->in, table);
    pass = pass_begin(task->plan, "box_table", "down", FORM_ROWS, TABLE_COLUMNS, samples, 1);
    define_table_types(pass, task, 32);
    pass->work = 2.0 * in->height;
    pass->bytes_read = pass->bytes_written = plane_bytes(&table->plane);
    pass_view(pass, table);
    pass_int(pass, (int32_t)in->height);
}

void box_make_table(const struct box_task *task, const struct view *table)
{
    if (task->plan->profile->form == FORM_ROWS)
        add_table_rows(task, table);
    else if (box_suits_corners(task, table))
        box_add_corners(task, table);
    else
        add_table_sums(task, table->plane.type == SAMPLE_F64 ? 64 : 32, table);
}

static uint64_t entries_of(const struct plane *in)
{
    return (uint64_t)(in->height + 1) * ((uint64_t)(in->width + 1) * in->channels + FRAME_ALIGNMENT);
}

bool box_table_fits(const struct plane *in)
{
    return entries_of(in) <= INT32_MAX;
}

bool box_suits_table(const struct box_task *task)
{
    const struct plane *in = &task->in.plane;
    return task->by_table && in->type != SAMPLE_F32 && box_table_fits(in) &&
           entries_of(in) * task->table_bits / 8 <= task->plan->profile->max_allocation;
}

struct view box_add_table(const struct box_task *task, struct scratch *memory)
{
    const struct plane *in = &task->in.plane;
    struct view table = box_scratch(task, memory, in->width + 1, in->height + 1, in->channels,
                                    task->table_bits == 64 ? SAMPLE_F64 : SAMPLE_I32);
    box_make_table(task, &table);
    return table;
}

/* The least float that is not below 1/area, if with sums of bytes the product, truncated, is always
 * the quotient; otherwise 0. Sums are below 2^24, so they are floats. Where a sum is q · area or
 * more, the product is not below q, since q is a float. Where it is less than (q + 1) · area, and so
 * at least 1 less, the product before rounding is at most (q + 1 - 1/area) · (1 + e), and below
 * q + 1 after rounding if that is below (q + 1) · (1 - 2^-24); q + 1 is at most 256. */
static float quick_factor(enum sample_type type, uint32_t area)
{
    float quick = (float)(1.0 / area);
    if (quick < 1.0 / area)
        quick = nextafterf(quick, 1);
    double e = (double)quick * area - 1;
    bool exact = sample_size(type) == 1 && area < 1 << 16 && 256 * (e + 0x1p-24) < 1.0 / area;
    return exact ? quick : 0;
}

/* On CPUs nothing of the table is kept but what a row needs: see cl/box/box_table.cl. */
void box_add_sliding(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct stage_window reach = box_reach_of(task);
    unsigned bits = (unsigned)sample_size(in->type) * 8;
    uint32_t area = task->width * task->height;
    struct box_divider divider = box_divider_general(bits, area);
    struct box_divider narrow = box_divider_choose(bits, area);
    bool fits = narrow.kind == BOX_DIVIDE_SHORT; /* sums are of 16 bits */
    unsigned sum_bits = fits ? 16 : divider.sum_bits;
    double row_work = 24.0 * out->width * out->channels, start_rows = 8 + task->height / 8.0;
    struct stage_bands bands = bands_cut(task->plan->profile, out, 1, row_work, start_rows);
    char is[32];
    uint64_t item = stage_round_up(
        (in->width + 1) * in->channels * (sum_bits / 8 + sample_size(in->type)), 128);
    stage_plan_memory(task->plan, &task->memory->own, bands.count * item);
    struct pass *pass =
        pass_begin(task->plan, "box_table", "sliding", FORM_ROWS, 1, 1, bands.count);
    define_table_types(pass, task, sum_bits);
    pass_define(pass, "WINDOW_SUM", "%s", sum_name(divider.sum_bits));
    snprintf(is, sizeof is, "SUM_IS_%s", sum_name(sum_bits));
    pass_define(pass, is, "1");
    pass->work = row_work * (bands.rows + start_rows);
    pass_views(pass, &task->in, &task->out);
    pass_buffer(pass, task->memory->own.operand);
    pass_set_rows(pass, bands.rows, (int32_t)reach.top, (int32_t)reach.bottom, task->border, item);
    pass_int(pass, (int32_t)item);
    box_add_window(pass, task, bands.rows);
    box_add_divider(pass, task, &divider);
    pass_float(pass, quick_factor(in->type, area));
    pass_uint(pass, narrow.multiplier);
    pass_int(pass, narrow.shift);
}

void box_add_lookup(const struct box_task *task, const struct view *table)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct box_divider divider =
        box_divider_general((unsigned)sample_size(in->type) * 8, task->width * task->height);
    bool four = task->plan->profile->takes_columns && sample_size(in->type) == 1 &&
                task->table_bits == 32 && pass_is_aligned(in) && pass_is_aligned(out) &&
                !(plane_has_alpha(in) && task->border == BORDER_CROP);
    struct pass *pass = pass_begin(task->plan, "box_table", "lookup", FORM_SCALAR, four ? 4 : 0,
                                   out->width * out->channels, out->height);
    define_table_types(pass, task, task->table_bits);
    pass_define(pass, "WINDOW_SUM", "%s", sum_name(divider.sum_bits));
    pass->work = 24;
    pass->bytes_read = plane_bytes(&table->plane);
    pass->bytes_written = plane_bytes(out);
    pass_view(pass, &task->in);
    pass_view(pass, table);
    pass_view(pass, &task->out);
    box_add_window(pass, task, 1);
    box_add_divider(pass, task, &divider);
}
