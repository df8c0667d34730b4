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

enum sobel_kernel {
    SOBEL_KERNEL_AUTO,
    SOBEL_KERNEL_VECTOR,
    SOBEL_KERNEL_SCALAR,
};

struct sobel_config {
    int out;      /* enum sobel_out */
    double scale; /* S, as the decimal that was written */
    int border;   /* enum border */
    int kernel;   /* enum sobel_kernel */
};

/* Adds the pass for GPUs that computes several rows at a time, if plane and results allow it;
 * otherwise returns false. `first` is the index of the resulting plane, `variant` the name of
 * config->out. */
bool sobel_add_packed(const struct sobel_config *config, struct stage_plan *plan, unsigned plane,
                      unsigned first, enum kernel_form form, const char *variant);

/* Adds the first arguments of each of its kernels (planes, size and border), and the bytes that
 * move. */
void sobel_pass_planes(const struct sobel_config *config, const struct stage_plan *plan,
                       struct pass *pass, unsigned plane, unsigned first);

/* The definition, in plain C. */
stage_reference sobel_reference;

#endif
