/* Parameters of the stage unsharp: sharper by what a blur takes away. docs/stages/unsharp.md has
 * the definition. */
#ifndef SLUICE_STAGE_UNSHARP_H
#define SLUICE_STAGE_UNSHARP_H

#include "base/ratio.h"
#include "stage/gauss/gauss.h"

struct gauss_sharpen {
    double amount, threshold;
    struct ratio exact; /* the amount as a fraction */
};

struct unsharp_config {
    struct gauss_config blur;
    struct gauss_sharpen sharpen;
};

/* What is added to an integer sample that is `d` more than the blurred one: rne(amount · d),
 * exactly, or 0 below the threshold. */
double gauss_change(const struct gauss_sharpen *sharpen, int64_t d);

/* The definition, in plain C. */
int unsharp_reference(const void *config, const struct picture *in, struct picture *out,
                      struct fault *fault);

#endif
