/* The way to every kernel of generic plans: chains of each stage with all its choices, and numbers
 * from all their range, planned for pictures of every type and number of channels. For the build,
 * which compiles what is found (make_kernels.c). */
#ifndef SLUICE_KERNELS_WALK_H
#define SLUICE_KERNELS_WALK_H

#include "chain/plan.h"

/* Told of each pass of each plan; `stage` is whose work it is. The pass is gone afterwards. */
typedef void walk_found(void *context, const struct stage *stage, const struct pass *pass);

/* Plans for `profile`, which is generic. False when memory is out. */
bool walk_plans(const struct device_profile *profile, walk_found *found, void *context);

#endif
