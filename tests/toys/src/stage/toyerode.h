/* Parameters of the stage toyerode. */
#ifndef SLUICE_STAGE_TOYERODE_H
#define SLUICE_STAGE_TOYERODE_H

#include "stage/stage.h"

struct toyerode_config {
    int border; /* enum border */
};

/* The definition, in plain C. */
stage_reference toyerode_reference;

#endif
