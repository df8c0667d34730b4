/* Passes that count a plane's samples by value, for stages that look for tones: all colours
 * together, or their luma (bt601), without alpha. cl/tone/histogram.cl and the stages' kernels read
 * the result in `state`. */
#ifndef SLUICE_STAGE_TONE_HISTOGRAM_H
#define SLUICE_STAGE_TONE_HISTOGRAM_H

#include "stage/pass.h"

/* Scratch memory for the histograms of any plane of the plan's input; an operand. */
unsigned histogram_state(struct stage_plan *plan);

/* Adds passes that count the samples of an input plane or, with `luma`, the luma of its pixels: u8
 * and u16 by value, f32 in 4096 bins of equal width from the least finite sample to the greatest.
 */
void histogram_add(struct stage_plan *plan, unsigned plane, unsigned state, bool luma);

/* Begins a pass of cl/tone/histogram.cl that makes something of such a plane's counts, and takes
 * 256 of them, or all, `groups` times. Its first argument is `state`. */
struct pass *histogram_pass(struct stage_plan *plan, const char *part, const struct plane *plane,
                            unsigned state, uint32_t groups);

#endif
