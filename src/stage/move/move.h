/* Passes that move pixels and compute nothing. What a pixel means does not matter to them: their
 * kernels see it as units of 1, 2, 4 or 8 bytes, as large and as few as sizes and strides allow.
 * Three bytes are three units, four are one. */
#ifndef SLUICE_STAGE_MOVE_H
#define SLUICE_STAGE_MOVE_H

#include "stage/pass.h"

#define MOVE_BACKGROUND (-1) /* in place of an enum border */

struct move_view {
    unsigned operand;
    struct plane plane;
};

/* A plane's pixels at another place of a plane of the same channels and type: cut off, mirrored, or
 * with something beside them. */
struct move {
    struct move_view in, out;
    int32_t left, top;       /* where the input's edges come to lie in the output */
    bool mirror_x, mirror_y; /* left and right, top and bottom change places; of mirror_x the input
                                fills the output */
    int border;              /* what is beside it: an enum border, or MOVE_BACKGROUND */
    double background[PLANE_CHANNELS_MAX]; /* by channel, in range of the type */
};

void move_add(struct stage_plan *plan, const struct move *move);

/* Bytes of the units that pixels of both planes are made of. */
uint32_t move_unit(const struct move_view *in, const struct move_view *out);

/* Begins a pass of cl/SOURCE.cl whose arguments begin with the two planes, counted in units. It
 * defines UNIT, the type, UNITS, how many make a pixel, and UNIT_BYTES. `span` and the grid as for
 * pass_begin. */
struct pass *move_begin(struct stage_plan *plan, const char *source, enum kernel_form form,
                        uint32_t span, const struct move_view *in, const struct move_view *out,
                        uint32_t grid_width, uint32_t grid_height);

#endif
