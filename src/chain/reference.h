/* A chain run by the plain C references: no OpenCL, one thread, slow and sure. */
#ifndef SLUICE_CHAIN_REFERENCE_H
#define SLUICE_CHAIN_REFERENCE_H

#include "chain/plan.h"

/* Computes what plan->out is for the picture `in`, laid out as plan->in. The caller ends `out` with
 * picture_destroy. */
int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault);

/* Compares a device's result with the reference, sample by sample, within the tolerance that the
 * plan's steps add up to. FAULT_VERIFY tells the first sample that differs and how many do;
 * `largest` is the largest difference that was met, within the tolerance or beyond it. */
int reference_compare(const struct plan *plan, const struct picture *reference,
                      const struct picture *device, double *largest, struct fault *fault);

#endif
