/* The programs and kernels of a plan. A device whose kernels were compiled with sluice has no
 * programs.
 *
 * A plan has one program with all its kernels, which is faster to load than several and has nothing
 * else. A generic plan (profile->generic) has a program for each kernel: chains of different users
 * then share kernels, however the chains are put together. */
#ifndef SLUICE_CHAIN_PROGRAMS_H
#define SLUICE_CHAIN_PROGRAMS_H

#include "chain/plan.h"
#include "device/program.h"

struct plan_programs {
    size_t n_programs;
    struct device_program **programs;     /* NULL without programs */
    const struct device_kernel **kernels; /* one for each pass, in the order of steps and passes */
};

/* Finds or makes the programs, as `use` says. `*found`: with PROGRAM_FOUND, whether all of them
 * exist; otherwise true on success. plan_programs_put must follow, also after a fault. */
int plan_programs_get(struct plan_programs *programs, const struct plan *plan,
                      struct device *device, enum program_use use, bool *found,
                      struct fault *fault);
void plan_programs_put(struct plan_programs *programs, struct device *device);

/* Writes the programs to the binary cache. */
int plan_programs_store(const struct plan_programs *programs, struct device *device,
                        struct fault *fault);

#endif
