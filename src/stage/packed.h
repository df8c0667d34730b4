/* Stencils of u8 with two samples in a word, for GPUs: cl/packed.cl. */
#ifndef SLUICE_STAGE_PACKED_H
#define SLUICE_STAGE_PACKED_H

#include "stage/pass.h"

/* A window as that kernel takes it: samples beside, and rows above and below, its middle. */
struct packed_reach {
    unsigned left, right, top, bottom;
};

/* Whether the kernel takes planes like these: samples of 8 bits, one channel, aligned, for a device
 * that moves 16 bytes at once, and a window that reaches at most 8 samples to either side. */
bool packed_suits(const struct device_profile *profile, const struct plane *in,
                  const struct plane *out, const struct packed_reach *reach);

/* Rows of results that a work-item computes: with 8 more registers are taken, and code, than what
 * fewer loads save. */
#define PACKED_ROWS 4

/* Begins its pass `variant` (sobel, fir, box) over rows of the plane, of which a work-item computes
 * PACKED_ROWS with `words` (2 or 4) words in each. */
struct pass *packed_begin(struct stage_plan *plan, const char *variant, const struct plane *in,
                          const struct packed_reach *reach, unsigned words);

/* Where the samples at `offset` from even results, or from odd ones, are found: e, o (even and odd
 * samples) or p, q (the same a lane further), and AT_m2 … AT_2, which words of it. */
void packed_lane(int offset, bool odd, const char **vector, const char **words);

/* What the kernel calls a word by its place, from -2 to 2, 0 being the result's first: AT_m2 …
 * AT_2. */
const char *packed_word(int place);

#endif
