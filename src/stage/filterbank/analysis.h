/* The stage analysis: its parameters are struct filterbank_config. */
#ifndef SLUICE_STAGE_FILTERBANK_ANALYSIS_H
#define SLUICE_STAGE_FILTERBANK_ANALYSIS_H

#include "stage/filterbank/filterbank.h"
#include "stage/stage.h"

/* Adds the launches that make plan->out from plan->in. */
int analysis_passes(const void *config, struct stage_plan *plan, struct fault *fault);

/* The definition, in plain C. */
stage_reference analysis_reference;

#endif
