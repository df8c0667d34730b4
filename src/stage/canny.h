/* Parameters of the stage canny. docs/stages/canny.md has the definition. */
#ifndef SLUICE_STAGE_CANNY_H
#define SLUICE_STAGE_CANNY_H

#include "stage/stage.h"

#define CANNY_TANGENT 13573 /* tan(π/8) in 2^15ths */

enum canny_norm {
    CANNY_L1, /* |dx| + |dy| */
    CANNY_L2, /* dx² + dy², which thresholds are squared for */
};

struct canny_config {
    double low, high;
    int norm; /* enum canny_norm */
};

/* The whole numbers above which a magnitude is weak and strong. */
void canny_limits(const struct canny_config *config, uint64_t *low, uint64_t *high);

stage_reference canny_reference;

#endif
