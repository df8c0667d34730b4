/* box of 8 bits on GPUs with few registers: see cl/box/box_columns.cl. */
#include <math.h>
#include <stdio.h>

#include "stage/box/box_internal.h"

enum {
    CHUNK = 12, /* samples for each work-item */
    PART = 128, /* chunks of a row for which one work-item finds the first sums */
    BAND_MIN = 32,
    BAND_MAX = 256
};

/* 1/area as a float, a little too large if the area is even and ties must be rounded up. Returns
 * whether the quotients of all sums are then rounded correctly: a sum that is no tie is at least
 * 1/area, or half of that, away from one. */
static bool float_reciprocal(uint32_t area, float *reciprocal)
{
    float r = (float)(1.0 / area);
    if (area % 2 == 0)
        r = nextafterf(r, INFINITY);
    double off = fabs((double)r * area - 1), least = area % 2 ? 0.5 / area : 1.0 / area;
    *reciprocal = r;
    return area * 255.0 < 1 << 24 && 256 * off < least;
}

static struct pass *begin(const struct box_task *task, const char *kernel, uint32_t width,
                          uint32_t height, bool floats, enum sample_type start)
{
    struct stage_window reach = box_reach_of(task);
    uint32_t channels = task->in.plane.channels;
    struct pass *pass =
        pass_begin(task->plan, "box_columns", kernel, FORM_SCALAR, 1, width, height);
    pass_name(pass, sample_name(task->in.plane.type));
    pass_channels(pass, channels, channels);
    pass_define(pass, "FLIP", "%d", box_lowest(task->in.plane.type) > 0);
    pass_define(pass, "SUM", floats ? "float" : "uint");
    pass_define(pass, "START", start == SAMPLE_U16 ? "ushort" : "uint");
    pass_define(pass, "LEFT", "%u", (4 - reach.left * channels % 4) % 4);
    pass_define(pass, "RIGHT", "%u", (reach.right + 1) * channels % 4);
    return pass;
}

static void add_starts(const struct box_task *task, const struct view *starts, bool floats)
{
    const struct plane *in = &task->in.plane, *to = &starts->plane;
    struct stage_window reach = box_reach_of(task);
    uint32_t chunks = to->width;
    struct pass *pass =
        begin(task, "starts", in->height, (chunks + PART - 1) / PART, floats, to->type);
    pass->work = 2.0 * (CHUNK * PART + task->width);
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(to);
    pass_view(pass, &task->in);
    pass_view(pass, starts);
    pass_ints(pass, in->width, chunks, PART, reach.left, reach.right, stage_border(task->border));
}

bool box_suits_columns(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    const struct device_profile *profile = task->plan->profile;
    return profile->takes_columns && !profile->generic && sample_size(in->type) == 1 &&
           pass_form_for(profile, in, out) == FORM_VECTOR && box_divider_of(task).sum_bits < 64 &&
           !(plane_has_alpha(in) && task->border == BORDER_CROP);
}

void box_add_columns(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    const struct device_profile *profile = task->plan->profile;
    struct box_divider divider = box_divider_of(task);
    float reciprocal;
    bool floats = float_reciprocal(divider.area, &reciprocal);
    uint32_t chunks = (out->width * out->channels + CHUNK - 1) / CHUNK;
    uint64_t rows = (uint64_t)chunks * out->height / (1024 * (uint64_t)profile->units);
    uint32_t band = rows < BAND_MIN ? BAND_MIN : rows > BAND_MAX ? BAND_MAX : (uint32_t)rows;
    enum sample_type start = task->width * 255 <= UINT16_MAX ? SAMPLE_U16 : SAMPLE_I32;
    struct view starts = box_scratch(task, &task->memory->half, chunks, in->height,
                                     in->channels == 1 ? 1 : 4, start);
    add_starts(task, &starts, floats);
    struct pass *pass =
        begin(task, "means", chunks, (out->height + band - 1) / band, floats, start);
    pass->work = 4.0 * CHUNK * (2 * band + task->height);
    pass->bytes_read = plane_bytes(in) + plane_bytes(&starts.plane);
    pass->bytes_written = plane_bytes(out);
    pass_view(pass, &task->in);
    pass_view(pass, &starts);
    pass_view(pass, &task->out);
    box_add_reach(pass, task, band);
    pass_uint(pass, divider.area);
    pass_float(pass, floats ? reciprocal : divider.factor);
}
