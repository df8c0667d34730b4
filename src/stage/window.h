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

/* What a window's samples, row after row, give by the definition. Sums of f32 depend on their
 * order: it has to add as the text does, the samples of a row, then rows. */
typedef float window_value(const float *samples);

/* A stage with a window of constant size is this and its text: struct stage's `small_window`. */
struct small_window {
    struct stage_window window; /* how far it goes: 7 rows at most; border: the config's */
    struct window_text text;
    window_value *value;
};

/* The config of such a stage begins with this, and is no more if the table of its parameters is
 * this one; without a config its border is always BORDER_EDGE. */
struct window_config {
    int border; /* enum border */
};
extern const struct param window_params[];

/* What struct stage's functions are for such a stage (stage/stages.c). A result is rounded to
 * nearest, and limited, where it is an integer; alpha is copied. */
struct stage_window small_window_of(const struct stage *stage, const void *config);
int small_window_passes(const struct stage *stage, const void *config, struct stage_plan *plan,
                        struct fault *fault);
double small_window_at(const struct stage *stage, const void *config,
                       const struct stage_place *place);

/* The work for one plane, for stages that have other ways for other windows, or one window behind
 * another. */
struct window_task {
    struct stage_plan *plan;
    const struct window_text *text;
    const char *source; /* the file in cl/, without .cl */
    struct stage_window window;
    struct view in, out;
    unsigned plane; /* its index, where they are of the plan's own frames */
    bool single;    /* no vectors, whose registers do not hold the window */
};

/* Whether it is computed on bytes in words: a window of any number of rows, of up to 8 samples to
 * either side. */
bool window_takes_words(const struct window_task *task);

/* Adds its pass, to which the caller may add names and definitions: by the way that suits it, or
 * down columns (takes_columns, bytes: packed_suits), or in vectors and single samples. */
struct pass *window_add(const struct window_task *task);
struct pass *window_add_columns(const struct window_task *task);
struct pass *window_add_samples(const struct window_task *task);

/* Defines the window for a pass of cl/samples.cl, whose arguments are width, height and border,
 * where the result begins in the source (x, y), and the number of channels. */
void window_define(struct pass *pass, const struct stage_window *window);

#endif
