/* Stages that change tones and colours: their parameters, and what their definitions share. */
#ifndef SLUICE_STAGE_TONE_H
#define SLUICE_STAGE_TONE_H

#include "stage/stage.h"

/* ---- clahe ---- */

#define CLAHE_TILES_MAX 64 /* in each direction */

struct clahe_config {
    char tiles[PARAM_WORD_MAX]; /* "8x8": across x down */
    double clip;                /* how often a value may be, as a multiple of the mean; 0: any */
};

struct clahe_tiles {
    uint32_t across, down;
    uint32_t width,
        height;    /* of one, in pixels; those at the right and below go beyond the plane */
    int32_t limit; /* counts of one value that a table is made of; INT32_MAX: all */
    float scale;   /* from counts to the type's range */
};

/* As OpenCV 4.x has it (modules/imgproc/src/clahe.cpp): where a side does not divide, both are made
 * longer, each up to the next multiple above. */
void clahe_cut(const struct clahe_config *config, const struct plane *plane,
               struct clahe_tiles *tiles);

/* ---- colour ---- */

struct colour_config {
    struct param_matrix m;      /* three rows, for red, green and blue of the result */
    struct param_matrix offset; /* one value, or one for each colour */
};

/* What is added to colour `row`. */
double colour_offset(const struct colour_config *config, unsigned row);

/* ---- levels ---- */

enum {
    LEVELS_MAX = 0 /* choice of white and high: the plane's white */
};

struct levels_config {
    double black;
    struct param_scalar white;
    double gamma, low;
    struct param_scalar high;
};

/* The four numbers for a plane's samples. For f32, black and white are rounded to f32. */
struct levels_range {
    double black, white, low, high;
};

struct levels_range levels_range(const struct levels_config *config, const struct plane *in);

/* low + (high − low)·clamp((v − black)/(white − black), 0, 1)^(1/gamma) in double, of samples of
 * the plane: not rounded. NaN counts as black. */
double levels_value(const struct levels_config *config, const struct plane *in, double v);

/* ---- normalize ---- */

#define NORMALIZE_BINS 4096 /* of f32 */

struct normalize_config {
    double clip; /* share of the samples that may be below black, and above white */
};

/* How many samples of a plane may be below black: the share `clip`, without alpha. */
int32_t normalize_share(const struct normalize_config *config, const struct plane *plane);

/* For references: how many samples of a plane there are of which values. */
struct tones {
    const struct picture *in;
    size_t plane;
    bool levels;        /* each value of the type has a bin; else they are as wide as each other, */
    double least, most; /* from the least sample to the greatest */
    uint32_t bins;      /* a power of two */
    uint64_t *counts;   /* of each, at first 0 */
};

/* Counts the finite samples but for alpha, and sets `least` and `most`. False: there are none. */
bool tones_count(struct tones *tones);

/* Where bin `i` begins. */
double tones_edge(const struct tones *tones, uint32_t i);

/* ---- definitions, in plain C ---- */

stage_reference clahe_reference, equalize_reference, normalize_reference;
stage_at colour_at;
stage_sample levels_sample;

#endif
