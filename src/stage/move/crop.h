/* Parameters of the stage crop: a rectangle of the picture. */
#ifndef SLUICE_STAGE_CROP_H
#define SLUICE_STAGE_CROP_H

#include "base/fault.h"
#include "image/frame.h"
#include <stdint.h>

struct crop_config {
    int64_t x, y, w, h;
    int gravity; /* enum crop_gravity; CROP_AT: by x and y */
};

/* In rows of three: gravity % 3 is 0 on the left, 1 in the middle, 2 on the right; gravity / 3 the
 * same from the top. */
enum crop_gravity {
    CROP_NORTHWEST,
    CROP_NORTH,
    CROP_NORTHEAST,
    CROP_WEST,
    CROP_CENTRE,
    CROP_EAST,
    CROP_SOUTHWEST,
    CROP_SOUTH,
    CROP_SOUTHEAST,
    CROP_AT,
};

/* The first pixel of the rectangle in a plane; FAULT_SHAPE if the rectangle is not inside the
 * plane. */
int crop_place(const struct crop_config *config, const struct plane *plane, uint32_t *x,
               uint32_t *y, struct fault *fault);

/* The definition, in plain C. */
int crop_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
