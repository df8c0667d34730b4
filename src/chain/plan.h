/* A plan: everything that a chain does to pictures of one shape on one class of device. Planning is
 * pure: it opens no device and runs nothing, so limits are known before memory is allocated. */
#ifndef SLUICE_CHAIN_PLAN_H
#define SLUICE_CHAIN_PLAN_H

#include "chain/chain.h"
#include "image/window.h"

struct plan_step {
    const struct stage *stage;
    const void *config;
    const char *name; /* of the stage that people know */
    const char *only; /* of a step of the chain: which planes it changes (stage/move/only.h); NULL:
                         all */
    void *own; /* the config of a step that the chain does not have: plan_destroy frees it */
    const struct frame *in; /* the output of step `before`, or the plan's input */
    size_t before;          /* which step that is, counted from 1; 0: it is the plan's input */
    unsigned n_readers;     /* steps that take this one's output, and results that are it */
    struct stage_plan work; /* without passes the input is passed on unchanged */
    struct frame out;
    /* indices of the memory that they use; equal when the step has no passes */
    unsigned in_slot, out_slot;
    bool merged;             /* a later step does its work (chain/fuse.c) */
    /* Steps of a group run at the same time, as rows come; those of the next one when all of them
     * have ended, and their memory is used again. */
    unsigned group;
    struct window_size held; /* of `out` */
    struct window_size held_scratch[STAGE_SCRATCH_MAX];
    /* what the passes read: `in`, or the input of the first step whose work they do */
    const struct frame *source;
    char label[64]; /* the stages whose work this is: "luminance+sobel" */
    unsigned scratch_slot[STAGE_SCRATCH_MAX];
};

/* A result of the chain, of which a tree (chain.h) has several. */
struct plan_result {
    const struct frame *frame; /* the output of step `step`, or the plan's input */
    size_t step;               /* counted from 1; 0: it is the plan's input */
    unsigned slot;
};

struct plan {
    struct frame in;
    const struct frame *out; /* the first result's frame, and … */
    struct window_size held; /* of `in` */
    bool by_rows;            /* of some frame only a part is held */
    uint32_t band_bytes;     /* about as much is worked on at a time; 0: rows do not pass through */
    unsigned n_groups;
    size_t n_steps;
    struct plan_step *steps; /* a step stands behind the one whose output it takes */
    unsigned n_slots;    /* buffers that a run needs; a buffer is used again once its frame is not
                            needed any more */
    uint64_t *slot_size; /* bytes */
    unsigned in_slot, out_slot;           /* … its slot */
    const struct device_profile *profile; /* NULL: planned for the references, without passes */
    struct device_profile own_profile;    /* `profile` points to it where bands are to be small */
    size_t n_results;
    struct plan_result *results;
    size_t n_chain_steps; /* of the steps those of the chain, … */
    size_t n_asked;       /* … and how many they would be if each result had its own */
    bool stored_luma;     /* of a video frame's samples Y alone is taken (stage/video.h) */
};

/* Called for each plane that comes out of the chain. Changes type and channels of `plane` to what
 * the output can hold, or refuses it. Changed planes are converted at the end of the plan. */
typedef int plan_fit(void *context, struct plane *plane, struct fault *fault);

/* What a result is written as. */
struct plan_target {
    plan_fit *fit; /* NULL: its planes stay as they are */
    void *context;
    double mosaic_gain; /* the planes of a transform become one picture (stage/sink/mosaic.h)
                           whose details are multiplied by this; 0: they stay planes */
};

struct plan_options {
    const struct device_profile *profile; /* NULL: for the references */
    size_t alignment;                     /* of rows between steps; 0: FRAME_ALIGNMENT */
    size_t guard;                         /* bytes left free before and after each frame (tests) */
    bool keep_input;                      /* the input's memory is not used again for results */
    bool keep_all;                        /* each frame has memory of its own (tests) */
    bool no_fuse;                         /* each step has its own kernels */
    bool rows_in;        /* rows of the input come in order: it need not be held as a whole */
    uint32_t rows_out;   /* rows of these results are taken in order: bit r is that of number r */
    bool strips; /* and OpenCL is to go by such rows, too, which has no room for whole planes */
    uint32_t band_bytes; /* of the rows that are worked on at a time; 0: 128 KiB (tests) */
    const struct plan_target *targets;    /* one for each result; NULL: all stay as they are */
    const struct frame *out; /* where the planes of the only result are to lie, in memory that is
                                nothing else's during a run; NULL: that is the plan's choice */
};

/* Makes a plan. The chain must outlive it; `in` is copied. FAULT_SHAPE, FAULT_LIMIT: this chain
 * cannot take this picture; of several results the fault names the one. */
int plan_create(struct plan **plan, const struct chain *chain, const struct frame *in,
                const struct plan_options *options, struct fault *fault);
void plan_destroy(struct plan **plan);

/* Fills step->work with the passes of this one step, for `profile`. */
int plan_step_passes(const struct plan_step *step, const struct device_profile *profile,
                     struct stage_plan *work, struct fault *fault);

/* The frame of a pass's operand, which must not be a table. */
const struct frame *plan_operand_frame(const struct plan_step *step, unsigned operand);

/* Whether a step's passes run whenever rows of what they read are there (pass.at_once); otherwise
 * the step runs when all of its input is there. */
bool plan_takes_rows(const struct plan_step *step);

/* The rows of a frame that one of such passes reads that it needs for rows first … end - 1 of its
 * grid, as what wrote them counts them. `end` may be behind the last one. */
void plan_rows_needed(const struct plan_step *step, const struct pass *pass, unsigned operand,
                      uint32_t first, uint32_t end, uint32_t *from, uint32_t *to);

/* The number of the step that has written the frame behind step `step`, both counted from 1; 0: it
 * is the plan's input. */
size_t plan_writer(const struct plan *plan, size_t step);

/* Whether such a frame is so large that it is worth not to hold it as a whole. */
bool plan_is_large(const struct frame *in);

/* About as many rows of a frame are worked on at a time. */
uint32_t plan_rows_of_band(const struct plan *plan, const struct frame *frame);

/* The most memory that a run holds at any time, input and output included; bytes. */
uint64_t plan_peak(const struct plan *plan);

/* How many rows of a pass's grid one launch may cover to stay below LAUNCH_SECONDS_MAX. */
uint32_t plan_rows_per_launch(const struct pass *pass, const struct device_profile *profile);
size_t plan_launches(const struct pass *pass, const struct device_profile *profile);
size_t plan_total_launches(const struct plan *plan);

/* Bytes that all passes read and write, counting each sample once. */
uint64_t plan_bytes_moved(const struct plan *plan);

#endif
