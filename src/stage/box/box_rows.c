/* box on CPUs: integers by a kernel that walks down bands of rows (cl/box/box.cl), f32 in strips
 * (cl/box/box_float.cl). */
#include <stdio.h>

#include "stage/box/box_internal.h"
#include "stage/strips.h"

/* Integers: see cl/box/box.cl. Beginning a band costs an eighth of a row's work for each row of the
 * window, and the sums of the first row. */
static void add_integers(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    size_t size = sample_size(in->type);
    static const char *const sums[] = {"ushort", "uint", "ulong"}; /* of 16, 32 and 64 bits */
    struct box_divider divider =
        box_divider_following((unsigned)size * 8, task->width, task->height);
    double row_work = 24.0 * out->width * out->channels, start_rows = 16 + task->height / 8.0;
    struct stage_bands bands = bands_cut(task->plan->profile, out, 1, row_work, start_rows);
    /* lines of pads are longer, see cl/box/box.cl */
    uint32_t capacity = stage_round_up(in->width * in->channels + 256, 128);
    uint64_t item = capacity * (12 + 8 * (uint64_t)size);
    stage_plan_memory(task->plan, &task->memory->own, bands.count * item);

    struct pass *pass = pass_begin(task->plan, "box", "", FORM_ROWS, 1, 1, bands.count);
    pass_name(pass, sample_name(in->type));
    pass_define(pass, "SAMPLE_BITS", "%zu", size * 8);
    pass_define(pass, "FLIP", "%d", box_lowest(in->type) > 0);
    pass_define(pass, "SUM_BITS", "%u", divider.sum_bits);
    pass_define(pass, "SUM", "%s", sums[divider.sum_bits / 32]);
    pass_define(pass, "TOTAL", "%s", sums[divider.sum_bits == 64 ? 2 : 1]);
    pass_define(pass, "DIVIDE_HIGH", "%d", divider.kind == BOX_DIVIDE_HIGH);
    pass_define(pass, "DIVIDE_REST", "%d", divider.kind == BOX_DIVIDE_REST);
    pass_define(pass, "SATURATES", "%d", divider.kind == BOX_DIVIDE_REST && divider.saturates);
    if (divider.saturates && divider.kind == BOX_DIVIDE_REST)
        pass_name(pass, "saturating");
    pass_channels(pass, in->channels, out->channels);
    pass_name(pass, "rows");
    pass_views(pass, &task->in, &task->out);
    pass_buffer(pass, task->memory->own.operand);
    struct stage_window reach = box_reach_of(task);
    pass_set_rows(pass, bands.rows, (int32_t)reach.top, (int32_t)reach.bottom, task->border, item);
    pass->work = row_work * (bands.rows + start_rows);
    pass_int(pass, (int32_t)capacity);
    box_add_window(pass, task, bands.rows);
    pass_uint(pass, divider.area);
    pass_uint(pass, divider.multiplier);
    pass_int(pass, divider.drop);
    pass_float(pass, divider.factor);
    pass_uint(pass, divider.raised);
}

/* f32: see cl/box/box_float.cl. Beginning a band costs a third of a row's work for each row of the
 * window. */
static void add_floats(const struct box_task *task)
{
    uint32_t w = task->width, h = task->height, channels = task->in.plane.channels;
    const struct stage_window window = {w / 2, w - 1 - w / 2, h / 2, h - 1 - h / 2, task->border};
    /* Rows that share the middle part of their windows: few enough for a cache, and enough to make
     * few chunks. */
    uint32_t parts = (h + (h > 1024 ? 64 : 32)) / (h > 1024 ? 64 : 32), block = (h + 1) / parts;
    uint32_t lines = block + parts + 5;
    /* What lies between two strips is seen by both of them, and worked on twice. */
    size_t bytes = lines * sizeof(float), apart = bytes * 4 * w * channels;
    struct strips_need need = {bytes, apart > STRIPS_SECOND_CACHE ? apart : STRIPS_SECOND_CACHE, 48,
                               8 + h / 3.0};
    struct strips strips = strips_cut(task->plan->profile, &task->out.plane, &need);
    strips.bands = bands_of(task->out.plane.height, stage_round_up(strips.bands.rows, block));
    struct pass *pass =
        strips_begin(task->plan, "box_float", "", &strips, &task->in, &task->out, &window,
                     &task->memory->own, (uint64_t)strips_line(&strips, &window, channels) * bytes);
    snprintf(pass->name, sizeof pass->name, "box_f32_rows");
    pass->work = need.work * strips.width * (strips.bands.rows + need.start_rows);
    pass_float(pass, (float)w * (float)h);
    pass_ints(pass, block, (int32_t)parts - 1, h + 1 - block * parts);
}

void box_add_rows(const struct box_task *task)
{
    if (task->in.plane.type == SAMPLE_F32)
        add_floats(task);
    else
        add_integers(task);
}
