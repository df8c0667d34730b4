/* Parameters of the stage toyerode. */
#ifndef SLUICE_STAGE_TOYERODE_H
#define SLUICE_STAGE_TOYERODE_H

#include "stage/window.h"

struct toyerode_config {
    int border; /* enum border */
};

bool toyerode_window(const void *config, struct stage_window *window);

/* The definition, in plain C. */
stage_reference toyerode_reference;

#endif
