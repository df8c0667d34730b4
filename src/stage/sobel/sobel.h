/* Parameters of the stage sobel. */
#ifndef SLUICE_STAGE_SOBEL_H
#define SLUICE_STAGE_SOBEL_H

#include "stage/stage.h"

enum sobel_out {
    SOBEL_MAGNITUDE, /* sat(floor(S·sqrt(dX² + dY²) + 0.5)) */
    SOBEL_L1,        /* sat(floor(S·(|dX| + |dY|) + 0.5)) */
    SOBEL_DX,        /* dX >> 3, signed */
    SOBEL_DY,        /* dY >> 3, signed */
    SOBEL_BOTH,      /* planes dx and dy */
    SOBEL_SAMPLE,    /* floor(sqrt((dX >> 3)² + (dY >> 3)²)), the picture of Arm's sample */
};

struct sobel_config {
    int out;      /* enum sobel_out */
    double scale; /* S, as the decimal that was written */
    int border;   /* enum border */
};

/* The definition, in plain C. */
stage_reference sobel_reference;

#endif
