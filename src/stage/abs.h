/* The stage abs has no parameters. */
#ifndef SLUICE_STAGE_ABS_H
#define SLUICE_STAGE_ABS_H

#include "stage/stage.h"

/* The definition, in plain C. */
stage_sample abs_sample;

#endif
