/* box by sums along columns, then along rows, on GPUs (cl/box/box_sums.cl). */
#include <stdio.h>

#include "stage/box/box_internal.h"

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

static struct pass *begin(const struct axis *axis, const char *kernel, uint32_t grid_height)
{
    struct pass *pass =
        pass_begin(axis->task->plan, "box_sums", kernel, FORM_SCALAR, 0, axis->lanes, grid_height);
    const char *sum = type_name(axis->sum, false);
    char is[32];
    snprintf(pass->name, sizeof pass->name, "box_%s", kernel);
    snprintf(is, sizeof is, "ACC_IS_%s", sum);
    pass_define(pass, "ACC", "%s", sum);
    pass_define(pass, is, "1");
    pass_define(pass, "STEP", "%u", axis->step);
    if (axis->step > 1)
        pass_name(pass, "channels");
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

/* Sums of blocks of positions. */
static void add_blocks(struct axis *axis)
{
    uint32_t blocks = (axis->length + axis->block - 1) / axis->block;
    axis->blocks = box_scratch(axis->task, &axis->task->memory->blocks, axis->lanes,
                               blocks * axis->step, 1, axis->sum);
    struct pass *pass = begin(axis, "blocks", blocks * axis->step);
    define_types(pass, axis, false);
    pass_name(pass, kernel_form_name(FORM_SCALAR));
    pass->work = 2.0 * axis->block;
    pass->bytes_read = plane_bytes(&axis->from.plane);
    pass->bytes_written = plane_bytes(&axis->blocks.plane);
    add_source(pass, axis);
    pass_ints(pass, axis->length, axis->block);
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
        add_blocks(axis);
    struct pass *pass = begin(axis, "windows", (axis->results + band - 1) / band * axis->step);
    define_types(pass, axis, true);
    pass_define(pass, "BLOCK", "%u", axis->block);
    pass_define(pass, "HAS_BLOCKS", "%d", axis->blocks.operand != 0);
    pass_define(pass, "RESULTS", "%u", at_once);
    pass_define(pass, "WIDE", "%d", wide);
    if (means) {
        pass_define(pass, "MEANS", "1");
        pass_name(pass, "means");
    }
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
    struct box_divider divider = box_divider_of(task);
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
