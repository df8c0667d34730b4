/* The stage toyerode: a small window. */
#ifndef SLUICE_STAGE_TOYERODE_H
#define SLUICE_STAGE_TOYERODE_H

#include "stage/window.h"

/* The definition, in plain C. */
window_value toyerode_value;

#endif
