/* Stencils of 8-bit samples on GPUs: two samples in a 32-bit word (cl/packed.cl), or columns in
 * floats (cl/columns.cl). */
#ifndef SLUICE_STAGE_PACKED_H
#define SLUICE_STAGE_PACKED_H

#include "base/text.h"
#include "stage/common.h"

/* Whether one of these kernels can take the planes: 8-bit samples, aligned rows, as many samples
 * out as in. cl/packed.cl takes one channel and windows that reach at most 8 samples to either
 * side; cl/columns.cl takes no alpha, and at most 4 samples to either side, counting those of other
 * channels, and its results may be f32. */
bool packed_suits(const struct device_profile *profile, const struct plane *in,
                  const struct plane *out, const struct stage_window *window);

/* A plane as one whose pixels are single samples. */
struct plane packed_samples(const struct plane *plane);

/* What computes a stage's windows: its templates in front of cl/packed.cl and of cl/columns.cl
 * (NULL: none). Kernels are called packed_NAME and columns_NAME. */
struct packed_stage {
    const char *name, *words, *columns;
};

extern const struct packed_stage fir_packed_stage;

/* Begins the pass. A work-item computes a block of several rows: in each row `words` (2 or 4) words
 * of cl/packed.cl, or one of cl/columns.cl. The caller defines PLANES and OUTPUTS with
 * packed_outputs. */
struct pass *packed_begin(struct stage_plan *plan, const struct packed_stage *stage,
                          const struct plane *in, const struct stage_window *window, unsigned words);

/* Defines the planes that come out: dst, or dst and dst2. */
void packed_outputs(struct pass *pass, unsigned planes);

/* Rows that a work-item computes. In cl/packed.cl 8 rows would cost more in registers and code than
 * they save in loads. */
#define PACKED_ROWS 4

/* Adds T(row, …, k) for the coefficient k to a text, at `offset` samples of a channel from the
 * window's middle, in the form that the device's kernel takes. Nothing is added for k = 0. */
void packed_add_tap(struct text *text, const struct device_profile *profile, unsigned channels,
                    unsigned row, int offset, int64_t k);

/* Where cl/packed.cl has the samples at `offset` from its even or odd results: in vector e, o (even
 * and odd samples) or p, q (the same, one lane further), and in words AT_m2 … AT_2. */
void packed_lane(int offset, bool odd, const char **vector, const char **words);

/* The kernel's name for the word at a place from -2 to 2, where 0 is the result's first word: AT_m2
 * … AT_2. */
const char *packed_word(int place);

#endif
