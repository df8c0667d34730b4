/* Parameters of the stage normalize. */
#ifndef SLUICE_STAGE_TONE_NORMALIZE_H
#define SLUICE_STAGE_TONE_NORMALIZE_H

#include "stage/stage.h"

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

/* The definition, in plain C. */
stage_reference normalize_reference;

#endif
