/* Runs a chain by the plain C references: no OpenCL, one thread, slow. */
#ifndef SLUICE_CHAIN_REFERENCE_H
#define SLUICE_CHAIN_REFERENCE_H

#include "chain/plan.h"

/* Computes plan->out for the picture `in`, which is laid out as plan->in. The caller destroys `out`
 * with picture_destroy. */
int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault);

/* Compares the device's result with the reference's, within the sum of the steps' tolerances.
 * FAULT_VERIFY gives the first sample that differs, and how many differ. `largest` is the largest
 * difference found. */
int reference_compare(const struct plan *plan, const struct picture *reference,
                      const struct picture *device, double *largest, struct fault *fault);

#endif
