/* Plans: what a chain does to pictures of one shape on one class of device. Pure: planning opens
 * nothing and runs nothing, so limits are known before memory is taken. */
#ifndef SLUICE_CHAIN_PLAN_H
#define SLUICE_CHAIN_PLAN_H

#include "chain/chain.h"

struct plan_step {
    const struct stage *stage;
    const void *config;
    const struct frame *in; /* the output of the step before, or the plan's input */
    struct stage_plan work; /* no passes: what comes out is what goes in */
    struct frame out;
    unsigned in_slot, out_slot; /* memory; equal when the step has no passes */
    bool merged;                /* a step behind it does its work (chain/fuse.c) */
    const struct frame *source; /* what the passes read: `in`, or that of the first step whose work
                                   they do */
    char label[64];             /* the stages whose work this is: "luminance+sobel" */
    unsigned scratch_slot[STAGE_SCRATCH_MAX];
};

struct plan {
    struct frame in;
    const struct frame *out; /* of the last step, or `in` */
    size_t n_steps;
    struct plan_step *steps;
    unsigned n_slots;    /* buffers that a run needs; each is reused once its frame is done with */
    uint64_t *slot_size; /* bytes */
    unsigned in_slot, out_slot;
    const struct device_profile *profile; /* NULL: planned for the references, without passes */
    struct plane *sink_targets; /* owned: what the sink step, if any, makes of each plane */
    void *sink_config;
    void *mosaic_config; /* owned: of the mosaic step, if any */
};

/* Asked about each plane that comes out of the chain: changes type and channels of `plane` to what
 * the output can hold, or refuses. A plane that it changes gets a conversion at the plan's end. */
typedef int plan_fit(void *context, struct plane *plane, struct fault *fault);

struct plan_options {
    const struct device_profile *profile; /* NULL: for the references */
    size_t alignment;                     /* of rows between steps; 0: FRAME_ALIGNMENT */
    size_t guard;                         /* bytes left free before and after each frame (tests) */
    bool keep_input;                      /* the input's memory is not reused */
    bool keep_all;                        /* no memory is: each frame has its own (tests) */
    bool no_fuse;                         /* each step has its own kernels */
    plan_fit *fit;                        /* NULL: what comes out stays as it is */
    void *fit_context;
    double mosaic_gain; /* the planes of a transform become one picture (stage/mosaic.h), their
                           details times this; 0: they stay planes */
};

/* The chain must outlive the plan; `in` is copied. FAULT_SHAPE, FAULT_LIMIT: this chain cannot take
 * this picture. */
int plan_create(struct plan **plan, const struct chain *chain, const struct frame *in,
                const struct plan_options *options, struct fault *fault);
void plan_destroy(struct plan **plan);

/* Fills step->work with the passes of that one step, for `profile`. */
int plan_step_passes(const struct plan_step *step, const struct device_profile *profile,
                     struct stage_plan *work, struct fault *fault);

/* The frame that an operand of the step's passes is; no table. */
const struct frame *plan_operand_frame(const struct plan_step *step, unsigned operand);

/* Bytes that a run holds at its fullest, the input's and the output's among them. */
uint64_t plan_peak(const struct plan *plan);

/* Rows of a pass's grid that one launch covers, so that it stays below LAUNCH_SECONDS_MAX. */
uint32_t plan_rows_per_launch(const struct pass *pass, const struct device_profile *profile);
size_t plan_launches(const struct pass *pass, const struct device_profile *profile);
size_t plan_total_launches(const struct plan *plan);

/* Bytes that all passes read and write, each sample once. */
uint64_t plan_bytes_moved(const struct plan *plan);

#endif
