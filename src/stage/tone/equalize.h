/* The stage equalize, which has no parameters. */
#ifndef SLUICE_STAGE_TONE_EQUALIZE_H
#define SLUICE_STAGE_TONE_EQUALIZE_H

#include "stage/stage.h"

/* The definition, in plain C. */
stage_reference equalize_reference;

#endif
