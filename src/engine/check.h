/* The self-check: what a device computes against what the references define, on small pictures. */
#ifndef SLUICE_ENGINE_CHECK_H
#define SLUICE_ENGINE_CHECK_H

#include "chain/plan.h"
#include "codec/codec.h"
#include "device/program.h"

/* How a chain is compiled to be checked. */
struct check_how {
    bool generic;
    enum program_use use;
};

/* Runs the chain on a picture of noise of that shape, on device and reference, unless that is known
 * to agree. `format` NULL: the frame stays as it is. FAULT_VERIFY: they differ; the text names the
 * first stage after which they do. FAULT_SHAPE: the chain cannot take it. */
int check_chain(struct device *device, const struct check_how *how, const struct chain *chain,
                const struct format *format, const struct plane *plane, struct fault *fault);

/* On a picture of 8-bit RGB. A chain that takes none is not tried: the first real job will tell. */
int check_colour(struct device *device, const struct check_how *how, const struct chain *chain,
                 struct fault *fault);

#endif
