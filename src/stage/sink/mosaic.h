/* The internal stage mosaic: the planes of a wavelet transform put together as one picture, for
 * formats that hold no more. LL stands top left, divided by its gain for a constant picture; around
 * it level after level HL to the right, LH below, HH in the corner. No user writes it; a plan ends
 * with it where the format asks (chain/plan.h).
 *
 * A frame's origins tell what its planes are. Only transforms that do not expand make mosaics: dwt
 * in the modes jpeg2000 and periodization. Other planes stay as they are. */
#ifndef SLUICE_STAGE_SINK_MOSAIC_H
#define SLUICE_STAGE_SINK_MOSAIC_H

#include "stage/stage.h"

struct mosaic_config {
    double gain; /* of details: middle of the range + gain · c */
};

/* What becomes of one plane of the input: a rectangle of a plane of the output. Where the rectangle
 * is larger than the plane (odd sizes under periodization), the rest is as a coefficient of zero.
 */
struct mosaic_cell {
    size_t target; /* plane of the output */
    uint32_t x, y, width, height;
    bool copy;              /* samples are taken as they are; else they become … */
    float factor;           /* … sat(rne(factor · c)) … */
    enum sample_type range; /* … of this type … */
    int32_t middle;         /* … plus this */
};

extern const struct stage stage_mosaic;

/* True when some planes of the frame make a mosaic. */
bool mosaic_applies(const struct frame *frame);

/* Fills a cell for each plane of `in` and adds the planes that come out to the empty frame `out`,
 * unless NULL. `cells` may be NULL. */
int mosaic_layout(const struct mosaic_config *config, const struct frame *in, size_t alignment,
                  struct mosaic_cell *cells, struct frame *out, struct fault *fault);

/* The definition, in plain C. */
int mosaic_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
