/* The self-check: compares the device with the references on small pictures. */
#ifndef SLUICE_ENGINE_CHECK_H
#define SLUICE_ENGINE_CHECK_H

#include "chain/plan.h"
#include "codec/codec.h"
#include "device/program.h"

/* How a chain is compiled for its check. */
struct check_how {
    bool generic;
    enum program_use use;
};

/* Runs the chain on a noise picture of that shape on the device and by the references, unless it is
 * known that they agree. `format` NULL: the frame stays as it is. FAULT_VERIFY: they differ; the
 * text names the first stage after which they do. FAULT_SHAPE: the chain cannot take such a
 * picture. */
int check_chain(struct device *device, const struct check_how *how, const struct chain *chain,
                const struct format *format, const struct plane *plane, struct fault *fault);

/* The same on a picture of 8-bit RGB. A chain that takes none is left to its first real job. */
int check_colour(struct device *device, const struct check_how *how, const struct chain *chain,
                 struct fault *fault);

#endif
