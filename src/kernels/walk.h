/* Finds every kernel that generic plans can need, by making plans: of the chains that stages declare,
 * for pictures of every type and number of channels. make_kernels.c compiles what is found;
 * tests/unit/test_native.c looks whether random chains need others. */
#ifndef SLUICE_KERNELS_WALK_H
#define SLUICE_KERNELS_WALK_H

#include "chain/plan.h"

/* Called for each pass of each plan, with its stage. The pass is valid during the call; the same
 * kernel is found many times. */
typedef void walk_found(void *context, const struct stage *stage, const struct pass *pass);

/* Makes the plans for `profile`; only those of a generic one have all kernels that there are.
 * Fails when memory is out, or where a chain cannot be planned for any picture. */
int walk_plans(const struct device_profile *profile, walk_found *found, void *context,
               struct fault *fault);

#endif
