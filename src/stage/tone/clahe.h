/* Parameters of the stage clahe, and how it cuts a plane into tiles. */
#ifndef SLUICE_STAGE_TONE_CLAHE_H
#define SLUICE_STAGE_TONE_CLAHE_H

#include "stage/stage.h"

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

/* The definition, in plain C. */
stage_reference clahe_reference;

#endif
