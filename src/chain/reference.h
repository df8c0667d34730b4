/* Runs a chain by the plain C references: no OpenCL, one thread, slow. */
#ifndef SLUICE_CHAIN_REFERENCE_H
#define SLUICE_CHAIN_REFERENCE_H

#include "chain/plan.h"

/* Computes the plan's results for the picture `in`, which is laid out as plan->in, into `out`,
 * which has room for plan->n_results pictures. The caller destroys them with picture_destroy. */
int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault);

/* Compares the device's results with the reference's, as many as the plan has, within the sum of
 * the steps' tolerances. FAULT_VERIFY gives the first sample that differs, and how many differ.
 * `largest` is the largest difference found. */
int reference_compare(const struct plan *plan, const struct picture *reference,
                      const struct picture *device, double *largest, struct fault *fault);

/* The same for results of the picture `in`. Where a stage works on what another computed, an error
 * within that one's tolerance may become any size: a difference of large samples is small, a curve
 * is steep, a threshold is all or nothing. So what lies beyond the sum is compared with how far the
 * references' own results spread, at each sample, when what enters and leaves each stage is off by
 * random parts of its tolerance. */
int reference_verify(const struct plan *plan, const struct picture *in,
                     const struct picture *reference, const struct picture *device, double *largest,
                     struct fault *fault);

#endif
