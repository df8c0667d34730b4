/* The stage demosaic: colours out of a Bayer mosaic. docs/stages/demosaic.md has the definition. */
#ifndef SLUICE_STAGE_DEMOSAIC_H
#define SLUICE_STAGE_DEMOSAIC_H

#include "stage/stage.h"

enum demosaic_method {
    DEMOSAIC_MHC,
    DEMOSAIC_BILINEAR,
};

struct demosaic_config {
    int pattern; /* where red is in each square of four: x in bit 0, y in bit 1 */
    int method;  /* enum demosaic_method */
};

stage_at demosaic_at;

#endif
