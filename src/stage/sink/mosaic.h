/* The internal stage mosaic: arranges the planes of a wavelet transform as one picture, for formats
 * that cannot hold several planes. LL is at the top left, divided by its gain for a constant
 * picture; around it, level by level, HL on the right, LH below, and HH in the corner. It is not
 * for chains; a plan ends with it if the format needs it (chain/plan.h).
 *
 * The origins of a frame tell what its planes are. Only transforms whose bands have as many samples
 * as the picture make mosaics: dwt in the modes jpeg2000 and periodization. Other planes stay as
 * they are.
 */
#ifndef SLUICE_STAGE_SINK_MOSAIC_H
#define SLUICE_STAGE_SINK_MOSAIC_H

#include "stage/stage.h"

struct mosaic_config {
    double gain; /* for details: middle of the range + gain · c */
};

/* Where a plane of the input goes: a rectangle in a plane of the output. If the rectangle is larger
 * than the plane (odd sizes under periodization), the rest is filled as for coefficients of 0. */
struct mosaic_cell {
    size_t target; /* index of the plane in the output */
    uint32_t x, y, width, height;
    bool copy;              /* samples stay as they are; otherwise they become … */
    float factor;           /* … sat(rne(factor · c)) … */
    enum sample_type range; /* … of this type … */
    int32_t middle;         /* … plus this */
};

extern const struct stage stage_mosaic;

/* True when some planes of the frame form a mosaic. */
bool mosaic_applies(const struct frame *frame);

/* Sets a cell for each plane of `in`, and adds the resulting planes to the empty frame `out`.
 * `cells` and `out` may be NULL. */
int mosaic_layout(const struct mosaic_config *config, const struct frame *in, size_t alignment,
                  struct mosaic_cell *cells, struct frame *out, struct fault *fault);

/* The definition, in plain C. */
stage_reference mosaic_reference;

#endif
