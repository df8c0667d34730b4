/* Shared by the files of the stage fir alone. */
#ifndef SLUICE_STAGE_FIR_PASSES_H
#define SLUICE_STAGE_FIR_PASSES_H

#include "stage/fir/fir.h"
#include "stage/pass.h"
#include "stage/quotient.h"

/* Adds the pass that computes with two samples in a word, if plane, window and device allow it;
 * otherwise returns false. All numbers are whole, the divisor is positive, and `quotient` is as
 * planned. */
bool fir_add_packed(struct stage_plan *plan, unsigned plane, const struct fir_window *window,
                    const struct quotient *quotient, int border);

#endif
