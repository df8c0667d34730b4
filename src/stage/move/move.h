/* The stages copy, crop, flip and pad, and rotate by quarter turns (stage/warp/rotate.c), which move
 * pixels without computing. Their kernels see
 * pixels as units of 1, 2, 4 or 8 bytes: three bytes are three units, four bytes are one, unless a
 * plane lies where such units are not aligned; then a sample is a unit. */
#ifndef SLUICE_STAGE_MOVE_H
#define SLUICE_STAGE_MOVE_H

#include "stage/stage.h"

#define MOVE_BACKGROUND (-1) /* used instead of an enum border */

#define CROP_AT (-1) /* used instead of an enum gravity */

struct crop_config {
    int64_t x, y, w, h;
    int gravity; /* enum gravity; CROP_AT: by x and y */
};

/* The first pixel of the rectangle in a plane; FAULT_SHAPE if the rectangle is not inside the
 * plane. */
int crop_place(const struct crop_config *config, const struct plane *plane, uint32_t *x,
               uint32_t *y, struct fault *fault);

enum flip_axis {
    FLIP_X, /* left and right change places */
    FLIP_Y, /* top and bottom do */
};

struct flip_config {
    int axis;
};

struct pad_config {
    int64_t left, right, top, bottom;
    struct param_matrix background;
    int border; /* enum border, or MOVE_BACKGROUND */
};

/* Made into plans, not written in chains: a frame's samples in other memory. */
extern const struct stage stage_copy;

/* The definitions, in plain C. */
stage_reference copy_reference;
stage_reference crop_reference;
stage_reference flip_reference;
stage_at pad_at;

/* For such definitions: finds the pixel of the input, a plane like `in`, that stands at (*x, *y) of
 * the result; and takes each from there. */
typedef void move_source(const void *config, const struct plane *in, uint32_t *x, uint32_t *y);
int move_pixels(const void *config, const struct picture *in, struct picture *out,
                move_source *find);

/* Where a plane's pixels go in a plane of the same channels and type: cut off, mirrored, or with
 * something around them. */
struct move {
    const struct view *from; /* NULL: the plane of the plan's input */
    int32_t left, top;       /* position of its corner in the output */
    bool mirror_x, mirror_y; /* exchange left and right, top and bottom; with mirror_x the input
                                must fill the output */
    int border;              /* what is around it: an enum border, or MOVE_BACKGROUND */
    double background[PLANE_CHANNELS_MAX]; /* by channel, in range of the type */
};

/* Adds the pass for that plane of the plan's output. */
void move_add(struct stage_plan *plan, unsigned plane, const struct move *move);

/* The size of units for these planes, in bytes. */
uint32_t move_unit(const struct view *in, const struct view *out);

/* Begins a pass of cl/SOURCE.cl whose first arguments are the two planes, counted in units. Defines
 * UNIT, the type; UNITS, how many make a pixel; and UNIT_BYTES. `span` and the grid as for
 * pass_begin. */
struct pass *move_begin(struct stage_plan *plan, const char *source, enum kernel_form form,
                        uint32_t span, const struct view *in, const struct view *out,
                        uint32_t grid_width, uint32_t grid_height);

#endif
