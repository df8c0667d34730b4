/* Stencils of 8-bit samples on GPUs: two samples in a word (cl/packed.cl), or columns in floats
 * (cl/columns.cl). */
#ifndef SLUICE_STAGE_PACKED_H
#define SLUICE_STAGE_PACKED_H

#include "base/text.h"
#include "stage/pass.h"

/* A window as these kernels take it: samples beside, and rows above and below, its middle. */
struct packed_reach {
    unsigned left, right, top, bottom;
};

/* Whether one of the kernels takes planes like these: samples of 8 bits, aligned, as many out as
 * in. cl/packed.cl: one channel, and a window that reaches at most 8 samples to either side;
 * cl/columns.cl: no alpha, and at most 4 samples, those of other channels among them. */
bool packed_suits(const struct device_profile *profile, const struct plane *in,
                  const struct plane *out, const struct packed_reach *reach);

/* Begins its pass `variant` (sobel, fir, box) over rows of the plane. A work-item computes a block
 * of rows, in each of which it has `words` (2 or 4) words of cl/packed.cl, or one of
 * cl/columns.cl. */
struct pass *packed_begin(struct stage_plan *plan, const char *variant, const struct plane *in,
                          const struct packed_reach *reach, unsigned words);

/* Rows of results that a work-item computes. Of cl/packed.cl: with 8 more registers are taken, and
 * code, than what fewer loads save. */
#define PACKED_ROWS 4

/* Adds T(row, …, k) to a text for the coefficient k, `offset` samples of a channel from the
 * window's middle, as the pass's kernel takes it; nothing where k is 0. */
void packed_add_tap(struct text *text, const struct pass *pass, unsigned channels, unsigned row,
                    int offset, int64_t k);

/* Where the samples at `offset` from even results, or from odd ones, are found in cl/packed.cl: e,
 * o (even and odd samples) or p, q (the same a lane further), and AT_m2 … AT_2, which words of
 * it. */
void packed_lane(int offset, bool odd, const char **vector, const char **words);

/* What that kernel calls a word by its place, from -2 to 2, 0 being the result's first: AT_m2 …
 * AT_2. */
const char *packed_word(int place);

#endif
