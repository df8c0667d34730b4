/* Stages whose results come from a small window, by one text of arithmetic for all forms:
 * cl/NAME.cl, which stands between cl/numbers.cl and cl/window.cl. */
#ifndef SLUICE_STAGE_WINDOW_H
#define SLUICE_STAGE_WINDOW_H

#include "stage/stage.h"

/* The types that such a text takes. */
#define WINDOW_TYPES                                                                               \
    (1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16 | 1u << SAMPLE_F32)

/* All numbers of the text are from `least` to `most` times the largest sample, which decides how
 * many bits they need: a sum of 16 samples is from 0 to 16. */
struct window_text {
    int least, most;
    double work; /* operations of a sample */
};

/* The passes() of such a stage with that window(), of at most 7 rows. */
int window_passes(const struct window_text *text,
                  bool (*window)(const void *config, struct stage_window *window),
                  const void *config, struct stage_plan *plan);

/* Defines the window for a pass of cl/samples.cl, whose arguments are width, height and border,
 * where the result begins in the source (x, y), and the number of channels. */
void window_define(struct pass *pass, const struct stage_window *window);

/* The reference of such a stage: each sample is what `function` makes of its window's, row after
 * row; rounded to nearest, and limited, where the result is an integer. Alpha is copied. Sums of
 * f32 depend on their order: the function has to add as the text does, the samples of a row, then
 * rows. */
int window_reference(bool (*window)(const void *config, struct stage_window *window),
                     const void *config, const struct picture *in, struct picture *out,
                     float (*function)(const float *samples));

#endif
