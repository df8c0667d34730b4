/* box on CPUs: one kernel that walks down bands of rows. */
#include <stdio.h>

#include "stage/box/box_internal.h"

static uint32_t up_to(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* The first arguments of both kernels. */
static void add_planes(struct pass *pass, const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    pass_channels(pass, in->channels, out->channels);
    pass_name(pass, "rows");
    pass_views(pass, &task->in, &task->out);
    pass_buffer(pass, task->memory->own);
}

/* Integers: see cl/box/box.cl. Beginning a band costs an eighth of a row's work for each row of the
 * window, and the sums of the first row. */
static void add_integers(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    size_t size = sample_size(in->type);
    struct box_divider divider =
        box_divider_following((unsigned)size * 8, task->width, task->height);
    double row_work = 24.0 * out->width * out->channels, start_rows = 16 + task->height / 8.0;
    uint32_t band = box_rows_of_band(task->plan->profile, out->height, row_work, start_rows);
    uint32_t bands = (out->height + band - 1) / band;
    /* lines of pads are longer, see cl/box/box.cl */
    uint32_t capacity = up_to(in->width * in->channels + 256, 128);
    stage_plan_memory(task->plan, &task->memory->own, (uint64_t)bands * capacity * (12 + 8 * size));

    struct pass *pass = pass_begin(task->plan, "box", "", FORM_ROWS, 1, 1, bands);
    pass_name(pass, sample_name(in->type));
    pass_define(pass, "SAMPLE_BITS", "%zu", size * 8);
    pass_define(pass, "FLIP", "%d", box_lowest(in->type) > 0);
    pass_define(pass, "SUM_BITS", "%u", divider.sum_bits);
    pass_define(pass, box_divider_name(&divider), "1");
    if (divider.saturates && divider.kind == BOX_DIVIDE_REST) {
        pass_define(pass, "SATURATES", "1");
        pass_name(pass, "saturating");
    }
    add_planes(pass, task);
    pass->work = row_work * (band + start_rows);
    pass_int(pass, (int32_t)capacity);
    box_add_window(pass, task, band);
    pass_uint(pass, divider.area);
    pass_uint(pass, divider.multiplier);
    pass_int(pass, divider.shift);
    pass_float(pass, divider.factor);
    pass_uint(pass, divider.raised);
}

/* f32: see cl/box/box_float.cl. Beginning a band costs a third of a row's work for each row of the
 * window. */
static void add_floats(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    /* Rows that share the middle part of their windows: few enough for a cache, and enough to make
     * few chunks. */
    uint32_t most = task->height > 1024 ? 64 : 32;
    uint32_t parts = (task->height + most) / most;
    uint32_t block = (task->height + 1) / parts;
    double row_work = 48.0 * out->width * out->channels, start_rows = 8 + task->height / 3.0;
    uint32_t band = box_rows_of_band(task->plan->profile, out->height, row_work, start_rows);
    band = up_to(band, block);
    uint32_t bands = (out->height + band - 1) / band;
    uint32_t pitch = up_to(in->width * in->channels + 32, 32);
    uint32_t bordered = up_to((out->width + task->width) * in->channels + 32, 32);
    uint32_t item = (block + parts + 3) * pitch + bordered;
    stage_plan_memory(task->plan, &task->memory->own, (uint64_t)bands * item * sizeof(float));

    struct pass *pass = pass_begin(task->plan, "box_float", "", FORM_ROWS, 1, 1, bands);
    snprintf(pass->name, sizeof pass->name, "box_f32");
    add_planes(pass, task);
    pass->work = row_work * (band + start_rows);
    pass_ints(pass, item, pitch);
    box_add_window(pass, task, band);
    pass_float(pass, (float)task->width * (float)task->height);
    pass_ints(pass, block, (int32_t)parts - 1, task->height + 1 - block * parts);
}

void box_add_rows(const struct box_task *task)
{
    if (task->in.plane.type == SAMPLE_F32)
        add_floats(task);
    else
        add_integers(task);
}
