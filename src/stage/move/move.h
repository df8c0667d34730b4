/* Passes that move pixels without computing. Their kernels see pixels as units of 1, 2, 4 or 8
 * bytes, as large as sizes and strides allow: three bytes are three units, four bytes are one. */
#ifndef SLUICE_STAGE_MOVE_H
#define SLUICE_STAGE_MOVE_H

#include "stage/pass.h"

#define MOVE_BACKGROUND (-1) /* used instead of an enum border */

struct move_view {
    unsigned operand;
    struct plane plane;
};

/* Where a plane's pixels go in a plane of the same channels and type: cut off, mirrored, or with
 * something around them. */
struct move {
    struct move_view in, out;
    int32_t left, top;       /* position of the input's corner in the output */
    bool mirror_x, mirror_y; /* exchange left and right, top and bottom; with mirror_x the input
                                must fill the output */
    int border;              /* what is around it: an enum border, or MOVE_BACKGROUND */
    double background[PLANE_CHANNELS_MAX]; /* by channel, in range of the type */
};

void move_add(struct stage_plan *plan, const struct move *move);

/* The size of units for these planes, in bytes. */
uint32_t move_unit(const struct move_view *in, const struct move_view *out);

/* Begins a pass of cl/SOURCE.cl whose first arguments are the two planes, counted in units. Defines
 * UNIT, the type; UNITS, how many make a pixel; and UNIT_BYTES. `span` and the grid as for
 * pass_begin. */
struct pass *move_begin(struct stage_plan *plan, const char *source, enum kernel_form form,
                        uint32_t span, const struct move_view *in, const struct move_view *out,
                        uint32_t grid_width, uint32_t grid_height);

#endif
