#include "stage/move/move.h"

#include <stdio.h>
#include <string.h>

static uint32_t pixel_bytes(const struct plane *plane)
{
    return plane->channels * (uint32_t)sample_size(plane->type);
}

uint32_t move_unit(const struct view *in, const struct view *out)
{
    size_t places =
        in->plane.offset | in->plane.stride | out->plane.offset | out->plane.stride;
    uint32_t unit = 8;
    while (pixel_bytes(&in->plane) % unit != 0)
        unit /= 2;
    return places % unit == 0 ? unit : (uint32_t)sample_size(in->plane.type);
}

struct pass *move_begin(struct stage_plan *plan, const char *source, enum kernel_form form,
                        uint32_t span, const struct view *in, const struct view *out,
                        uint32_t grid_width, uint32_t grid_height)
{
    static const char *const types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    uint32_t unit = move_unit(in, out), units = pixel_bytes(&in->plane) / unit;
    const struct view *views[] = {in, out};
    struct pass *pass = pass_begin(plan, source, "", form, span, grid_width, grid_height);
    char name[24];
    snprintf(name, sizeof name, "%ux%u", units, 8 * unit);
    pass_name(pass, name);
    pass_name(pass, kernel_form_name(form));
    pass_define(pass, "UNIT", "%s", types[unit]);
    pass_define(pass, "UNITS", "%u", units);
    pass_define(pass, "UNIT_BYTES", "%u", unit);
    for (int i = 0; i < 2; i++)
        pass_view_units(pass, views[i], unit);
    pass->writes = out->operand;
    pass->work = units;
    pass->bytes_read = pass->bytes_written = plane_bytes(&out->plane);
    return pass;
}

/* Adds the bytes of a background pixel, as four arguments of 8 bytes. */
static void pass_background(struct pass *pass, const struct plane *plane, const double values[])
{
    uint8_t bytes[8 * PLANE_CHANNELS_MAX] = {0};
    int64_t parts[PLANE_CHANNELS_MAX];
    for (uint32_t c = 0; c < plane->channels; c++)
        sample_store(plane->type, bytes + c * sample_size(plane->type), values[c]);
    memcpy(parts, bytes, sizeof parts);
    for (int i = 0; i < PLANE_CHANNELS_MAX; i++)
        pass_long(pass, parts[i]);
}

void move_add(struct stage_plan *plan, unsigned plane, const struct move *move)
{
    const struct view from =
        move->from ? *move->from : (struct view){OPERAND_IN, plan->in->planes[plane]};
    const struct view to = {OPERAND_OUT, plan->out->planes[plane]};
    const struct plane *in = &from.plane, *out = &to.plane;
    uint32_t unit = move_unit(&from, &to), units = pixel_bytes(out) / unit;
    enum kernel_form form = pass_form_for(plan->profile, in, out);
    uint32_t span = form == FORM_VECTOR ? 16 / unit : 0;
    if (move->mirror_x) {
        uint32_t bytes = pixel_bytes(out), vector = bytes % 3 == 0 ? 12 : 16;
        bool wide = form == FORM_VECTOR && plan->profile->packs_bytes && bytes <= vector;
        form = form == FORM_VECTOR && !wide ? FORM_SCALAR : form;
        struct pass *pass = move_begin(plan, "mirror", form, wide ? vector / bytes : 0, &from, &to,
                                       out->width, out->height);
        pass_ints(pass, in->height, move->mirror_y);
        pass_set_rows(pass, !move->mirror_y, 0, 0, BORDER_EDGE, 0);
        return;
    }
    struct pass *pass =
        move_begin(plan, "move", form, span, &from, &to, out->width * units, out->height);
    pass_ints(pass, in->width, in->height, move->left, move->top, move->mirror_y, move->border);
    pass_background(pass, out, move->background);
    bool repeats = move->border == MOVE_BACKGROUND || move->border == BORDER_EDGE ||
                   move->border == BORDER_ZERO;
    if (!move->mirror_y && repeats)
        pass_set_rows(pass, 1, move->top, -move->top, move->border, 0);
}
