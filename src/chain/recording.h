/* A plan made ready on a device, and run there any number of times. */
#ifndef SLUICE_CHAIN_RECORDING_H
#define SLUICE_CHAIN_RECORDING_H

#include "chain/plan.h"
#include "device/batch.h"

struct recording;

/* Builds or finds the program, creates kernels, uploads tables. Plan and device must outlive it. */
int recording_create(struct recording **recording, const struct plan *plan, struct device *device,
                     struct fault *fault);

/* The same, with programs as `use` says. With PROGRAM_FOUND, *recording is NULL where one is not
 * there. */
int recording_create_as(struct recording **recording, const struct plan *plan,
                        struct device *device, enum program_use use, struct fault *fault);
void recording_destroy(struct recording **recording);

/* One launch of a run. */
struct launch_report {
    size_t step;                /* of the plan */
    const char *kernel;         /* lives as long as the recording */
    uint64_t queued, wait, run; /* nanoseconds, by the device's clock */
};

struct recording_run {
    struct device_buffer *out; /* holds the result, mapped; the caller releases it */
    const uint8_t *data;       /* the output frame's memory, until `out` is released */
    size_t n_launches;
    struct launch_report *launches; /* owned; of the last iteration */
    struct device_traffic traffic;  /* of the whole run */
    struct device_batch *batch;     /* between start and wait, as are the next two */
    struct device_buffer **slots;
    double recorded; /* work that the batch has */
};

/* Puts the chain's launches on the picture in `in` into the device's queue; `in` is a mapped or
 * wrapped buffer of at least plan->in.size bytes laid out as plan->in. A wrapped one needs a plan
 * made with keep_input. `in` is consumed, also on failure. Iterations above 1 need a plan made with
 * keep_input. Several threads may run one recording at a time, and one thread may start several
 * runs before it waits for the first. */
int recording_start(struct recording *recording, struct device_buffer **in, unsigned iterations,
                    struct recording_run *run, struct fault *fault);

/* Waits for what was started. After it `data` is the result. */
int recording_wait(struct recording *recording, struct recording_run *run, struct fault *fault);

/* Both. */
int recording_run(struct recording *recording, struct device_buffer **in, unsigned iterations,
                  struct recording_run *run, struct fault *fault);

/* In whatever state the run is; what was started and not waited for is waited for. */
void recording_run_finish(struct recording *recording, struct recording_run *run);

/* After a run: puts the program into the binary cache. */
int recording_store(struct recording *recording, struct fault *fault);

#endif
