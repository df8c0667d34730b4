/* The stage invert has no parameters. */
#ifndef SLUICE_STAGE_INVERT_H
#define SLUICE_STAGE_INVERT_H

#include "stage/stage.h"

/* The definition, in plain C. */
stage_sample invert_sample;

#endif
