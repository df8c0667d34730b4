/* A recording: a plan made ready for a device, with kernels and tables, to be run any number of
 * times. */
#ifndef SLUICE_CHAIN_RECORDING_H
#define SLUICE_CHAIN_RECORDING_H

#include "chain/plan.h"
#include "device/batch.h"

struct recording;

/* Builds or finds programs, creates kernels, and uploads tables. Plan and device must outlive the
 * recording. */
int recording_create(struct recording **recording, const struct plan *plan, struct device *device,
                     struct fault *fault);

/* The same, with programs as `use` says. With PROGRAM_FOUND, *recording becomes NULL when a program
 * does not exist. */
int recording_create_as(struct recording **recording, const struct plan *plan,
                        struct device *device, enum program_use use, struct fault *fault);
void recording_destroy(struct recording **recording);

/* One launch of a run. */
struct launch_report {
    size_t step;                /* index in the plan */
    const char *kernel;         /* valid as long as the recording */
    const char *place;          /* the pass's; valid as long as the plan */
    uint64_t queued, wait, run; /* nanoseconds, by the device's clock */
};

/* While a run is open, rows of the input go into the window `in`, and those of each result come out
 * of its sink. */
struct recording_run {
    struct window *in;
    struct window_sink *sinks; /* one for each result */
    const uint8_t *data; /* the samples of the first result's frame, valid until the run is
                            finished; of others recording_result tells */
    size_t n_launches;
    struct launch_report *launches; /* owned; of the last iteration; where plan->by_rows is set, all
                                       launches of a pass are one */
    struct device_traffic traffic;  /* of the whole run */
    struct device_batch *batch;     /* between start and wait */
    struct device_buffer **slots;   /* after that only those with results, mapped */
    uint8_t **mapped;               /* the samples in them */
    struct window *windows;         /* of the input, and of what each step gives */
    struct window *scratch;         /* the same, of the scratch frames of each step */
    uint32_t *progress;             /* rows of its grid for which each pass has been launched */
    const struct pass **marks;      /* whose launches the batch has */
    size_t n_marks;
    unsigned group;                         /* of the steps that run now */
    size_t step;                            /* index of the one that is being recorded */
    int64_t shifts[OPERAND_TABLE];          /* device_arg.shift, by operand */
    bool begun, ended; /* something has been submitted; all has been launched */
    bool moved;        /* something was launched by the last call of recording_submit */
    unsigned iterations;
    double recorded; /* work that the batch contains, in scalar operations */
};

/* Opens a run with an input, and a result, in buffers of the pool. The planes of the input are
 * written, or its rows put into run->in, as they come; recording_submit starts what can be computed
 * of them, and recording_wait waits for that, until run->ended is set. Between submit and wait
 * other threads may write rows of `in` and take rows of results, on native; otherwise their memory
 * is the device's then. A plan of whole frames is submitted once. */
int recording_open(struct recording *recording, struct recording_run *run, struct fault *fault);
int recording_submit(struct recording *recording, unsigned iterations, struct recording_run *run,
                     struct fault *fault);

/* Starts a run: submits the launches for the picture in `in`, a mapped or wrapped buffer of at
 * least plan->in.size bytes laid out as plan->in. The only result goes into `out`, a wrapped or
 * imported buffer, which needs a plan made with plan_options.out; NULL: into one of the pool. Both
 * are consumed, also after a fault. A wrapped `in`, and more than one iteration, need keep_input.
 * Several threads may use a recording at once, and a thread may start several runs before it waits
 * for the first. */
int recording_start(struct recording *recording, struct device_buffer **in,
                    struct device_buffer **out, unsigned iterations, struct recording_run *run,
                    struct fault *fault);

/* Waits for a run, or for what has been submitted of it. When it has ended, the results are there.
 */
int recording_wait(struct recording *recording, struct recording_run *run, struct fault *fault);

/* The samples of a result's frame, valid until the run is finished. */
const uint8_t *recording_result(const struct recording *recording, const struct recording_run *run,
                                size_t result);

/* Start and wait, with a result in a buffer of the pool. */
int recording_run(struct recording *recording, struct device_buffer **in, unsigned iterations,
                  struct recording_run *run, struct fault *fault);

/* Frees a run in any state, waiting for it if it was started. */
void recording_run_finish(struct recording *recording, struct recording_run *run);

/* After a run: writes the programs to the binary cache. */
int recording_store(struct recording *recording, struct fault *fault);

#endif
