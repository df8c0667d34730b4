/* Parameters of the stage toyerode. */
#ifndef SLUICE_STAGE_TOYERODE_H
#define SLUICE_STAGE_TOYERODE_H

#include "base/fault.h"
#include "image/border.h"
#include "image/frame.h"

struct toyerode_config {
    enum border border;
};

/* The definition, in plain C. */
int toyerode_reference(const void *config, const struct picture *in, struct picture *out,
                       struct fault *fault);

#endif
