/* The kernels that a plan's passes are, and the programs that these are of. A device whose kernels
 * were compiled with sluice has no programs.
 *
 * A plan has one program with all its kernels: fewer to load, and nothing but what it needs. A
 * generic plan (profile->generic) has one for each kernel, since chains of other people share
 * kernels, not programs: however they are put together, there is one program a kernel. */
#ifndef SLUICE_CHAIN_PROGRAMS_H
#define SLUICE_CHAIN_PROGRAMS_H

#include "chain/plan.h"
#include "device/program.h"

struct plan_programs {
    size_t n_programs;
    struct device_program **programs;     /* NULL where there are none */
    const struct device_kernel **kernels; /* one a pass, in the order of steps and passes */
};

/* Finds or makes them as `use` says. With PROGRAM_FOUND, `*found` tells whether all are there; else
 * it is true on success. Ended by plan_programs_put, also after a fault. */
int plan_programs_get(struct plan_programs *programs, const struct plan *plan,
                      struct device *device, enum program_use use, bool *found,
                      struct fault *fault);
void plan_programs_put(struct plan_programs *programs, struct device *device);

/* Puts them into the binary cache. */
int plan_programs_store(const struct plan_programs *programs, struct device *device,
                        struct fault *fault);

#endif
