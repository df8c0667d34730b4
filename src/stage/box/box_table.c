/* box by summed-area tables: see cl/box/box_table.cl. */
#include <stdio.h>

#include "stage/box/box_internal.h"

static const char *sum_name(unsigned bits)
{
    return bits == 64 ? "ulong" : "uint";
}

static void define_types(struct pass *pass, const struct box_task *task, unsigned bits)
{
    pass_define_type(pass, "SRC", task->in.plane.type);
    pass_define(pass, "SUM", "%s", sum_name(bits));
    pass_name(pass, sum_name(bits));
    pass_channels(pass, task->in.plane.channels, task->in.plane.channels);
    pass_name(pass, kernel_form_name(pass->form));
}

static void add_table_rows(const struct box_task *task, unsigned bits, const struct box_view *table)
{
    const struct plane *in = &task->in.plane;
    double row_work = 8.0 * in->width * in->channels;
    uint32_t band = box_rows_of_band(task->plan->profile, in->height, row_work, 4);
    struct box_view carry = box_add_carry(task, bits, band);
    struct pass *pass = pass_begin(task->plan, "box_table", "table", FORM_ROWS, 1, 1,
                                   (in->height + band - 1) / band);
    define_types(pass, task, bits);
    pass->work = row_work * band;
    pass->bytes_read = plane_bytes(in) + plane_bytes(&carry.plane);
    pass->bytes_written = plane_bytes(&table->plane);
    pass_plane_at(pass, task->in.operand, in);
    pass_plane_at(pass, carry.operand, &carry.plane);
    pass_plane_at(pass, table->operand, &table->plane);
    pass_ints(pass, in->width, in->height, band);
}

bool box_add_table(const struct box_task *task, unsigned *memory, unsigned bits,
                   struct box_view *table)
{
    const struct plane *in = &task->in.plane;
    const struct device_profile *profile = task->plan->profile;
    uint64_t entries =
        (uint64_t)(in->height + 1) * ((uint64_t)(in->width + 1) * in->channels + FRAME_ALIGNMENT);
    if (entries > INT32_MAX || entries * bits / 8 > profile->max_allocation)
        return false;
    *table = box_scratch(task, memory, in->width + 1, in->height + 1, in->channels,
                         bits == 64 ? SAMPLE_F64 : SAMPLE_I32);
    if (profile->form == FORM_ROWS)
        add_table_rows(task, bits, table);
    else
        box_add_table_sums(task, bits, table);
    return true;
}

void box_add_lookup(const struct box_task *task, unsigned bits, const struct box_view *table)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    bool rows = task->plan->profile->form == FORM_ROWS;
    struct box_divider divider =
        box_divider_general((unsigned)sample_size(in->type) * 8, task->width * task->height);
    double row_work = 24.0 * out->width * out->channels;
    uint32_t band = rows ? box_rows_of_band(task->plan->profile, out->height, row_work, 1) : 1;
    uint32_t bands = (out->height + band - 1) / band;
    struct pass *pass = rows ? pass_begin(task->plan, "box_table", "lookup", FORM_ROWS, 1, 1, bands)
                             : pass_begin(task->plan, "box_table", "lookup", FORM_SCALAR, 0,
                                          out->width * out->channels, out->height);
    define_types(pass, task, bits);
    pass_define(pass, "WINDOW_SUM", "%s", sum_name(divider.sum_bits));
    pass->work = rows ? row_work * band : 24;
    pass->bytes_read = plane_bytes(&table->plane);
    pass->bytes_written = plane_bytes(out);
    pass_plane_at(pass, task->in.operand, in);
    pass_plane_at(pass, table->operand, &table->plane);
    pass_plane_at(pass, task->out.operand, out);
    if (rows) {
        stage_plan_memory(task->plan, &task->memory->own,
                          (uint64_t)bands * (in->width + 1) * in->channels * bits / 8);
        pass_buffer(pass, task->memory->own);
    }
    box_add_window(pass, task, band);
    box_add_divider(pass, task, &divider);
}
