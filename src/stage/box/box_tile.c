/* box of integers on GPUs with local memory: see cl/box/box_tile.cl. */
#include <stdio.h>

#include "stage/box/box_internal.h"

enum {
    ITEMS = 128,
    ROWS_AT_ONCE = 16,
    STRETCHES = ITEMS / ROWS_AT_ONCE, /* of a row of a strip */
};

/* How a plane is divided into tiles, and the types that the kernel uses. */
struct tiling {
    uint32_t size;    /* bytes of a sample */
    bool narrow;      /* sums of columns fit into 16 bits */
    uint32_t samples; /* of a row of the tile */
    uint32_t stretch; /* results of a work-item in a row; 0: the window is too wide */
    uint32_t band;    /* rows of a work-group */
};

static struct tiling tiling_of(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct tiling t = {.size = (uint32_t)sample_size(in->type)};
    t.narrow = t.size == 1 && task->height * 255 <= 65535;
    t.samples = t.narrow ? 1020 : 508;
    uint32_t unit = 16 / t.size * (in->channels == 3 ? 3 : 1);
    uint32_t beside = task->width * in->channels + 8;
    if (beside + STRETCHES * unit > t.samples)
        return t;
    t.stretch = (t.samples - beside) / STRETCHES / unit * unit;
    /* Twice as many work-groups as a unit of the device runs at once, so that none works alone for
     * long. (H200, 8192², radius 4 and 100: 108 and 211 µs with bands of 48 rows, 155 and 230 with
     * 192, 291 and 410 with 512. Rows that two bands read come from caches.) */
    uint32_t strips =
        (out->width * in->channels + STRETCHES * t.stretch - 1) / STRETCHES / t.stretch;
    uint64_t groups = 13 * task->plan->profile->units;
    uint64_t rows = (uint64_t)strips * out->height / groups;
    t.band = rows < ROWS_AT_ONCE ? ROWS_AT_ONCE : rows > 256 ? 256 : (uint32_t)rows;
    t.band = (t.band + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE * ROWS_AT_ONCE;
    return t;
}

static void add_divider(struct pass *pass, const struct box_divider *divider, uint32_t size)
{
    uint32_t multiplier;
    pass_uint(pass, divider->area / 2);
    if (size == 1 && box_divide_by_byte(divider->area, &multiplier)) {
        pass_define(pass, "DIVIDE_BYTE", "1");
        pass_uint(pass, multiplier);
        pass_numbers(pass, "uint multiplier", "multiplier");
    } else if (divider->kind == BOX_DIVIDE_CORRECT) {
        pass_uint(pass, divider->area);
        pass_float(pass, divider->factor);
        pass_numbers(pass, "uint area, float factor", "area, factor");
    } else {
        bool is_short = divider->kind == BOX_DIVIDE_SHORT;
        pass_define(pass, "DIVIDE_HIGH", "1");
        pass_uint(pass, is_short ? divider->multiplier << 16 : divider->multiplier);
        pass_int(pass, divider->shift);
        pass_numbers(pass, "uint multiplier, int drop", "multiplier, drop");
    }
}

bool box_add_tile(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    /* The kernel contains the window's position among quads, and how to divide by its area. */
    if (task->plan->profile->generic || task->plan->profile->local_memory < 32768 ||
        !sample_is_integer(in->type) || !pass_is_aligned(in) || !pass_is_aligned(out))
        return false;
    struct tiling t = tiling_of(task);
    struct box_divider divider = box_divider_choose(t.size * 8, task->width * task->height);
    if (t.stretch == 0 || divider.sum_bits == 64)
        return false;

    struct box_reach reach = box_reach_of(task);
    uint32_t strips =
        (out->width * in->channels + STRETCHES * t.stretch - 1) / STRETCHES / t.stretch;
    struct pass *pass = pass_begin(task->plan, "box_tile", "", FORM_SCALAR, 1, strips * ITEMS,
                                   (out->height + t.band - 1) / t.band);
    pass->group[0] = ITEMS;
    pass->group[1] = 1;
    pass_name(pass, sample_name(in->type));
    pass_channels(pass, in->channels, out->channels);
    pass_define(pass, "SAMPLE_BITS", "%u", t.size * 8);
    pass_define(pass, "FLIP", "%d", box_lowest(in->type) > 0);
    pass_define(pass, "NARROW", "%d", t.narrow);
    pass_define(pass, "BEHIND", "%u", (4 - reach.left * in->channels % 4) % 4);
    pass_define(pass, "AHEAD", "%u", (reach.right + 1) * in->channels % 4);
    pass->work = 16.0 * t.stretch / ROWS_AT_ONCE * (t.band + task->height);
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(out);
    pass_plane_at(pass, task->in.operand, in);
    pass_plane_at(pass, task->out.operand, out);
    box_add_window(pass, task, t.band);
    pass_int(pass, (int32_t)t.stretch);
    add_divider(pass, &divider, t.size);
    return true;
}
