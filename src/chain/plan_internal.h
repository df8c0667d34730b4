/* Shared by plan.c, recording.c, fuse*.c and source.c alone. Fusing: several steps of a plan as one
 * pass.
 *
 * Where kernels are compiled when they are needed, they are made from the stages' own sources:
 * per-pixel stages in a row become one function of a sample, and those behind a luminance or a
 * stencil part of its last line (fuse_pixels.c). Where they were compiled with sluice, a stencil,
 * what stands in front of it and what follows are called in turn, row by row (fuse_lines.c).
 *
 * What a fused kernel computes is what the steps would: between two stages a sample has the type
 * that the first one gives, rounded and limited as that stage does. Pure, as all planning. */
#ifndef SLUICE_CHAIN_PLAN_INTERNAL_H
#define SLUICE_CHAIN_PLAN_INTERNAL_H

#include "base/text.h"
#include "chain/plan.h"

/* What a fused pass's kernel consists of, besides its template. */
struct fused {
    unsigned n_parts;
    struct pass *parts;  /* kernels and functions that stand in front of the template, named
                            KERNEL_f0 …; owned */
    struct text defines; /* further definitions for the template, one on each line */
    bool has_then;       /* `defines` contains OUT, THEN and THEN_PARAMETERS */
    bool by_rows;        /* there is no template: the parts are called in turn, row by row */
};

/* Takes NULL; clears the pointer. */
void fused_destroy(struct fused **fused);

/* Fuses steps where that is known to be faster. A group's last step gets the pass; the others have
 * none and are `merged`. */
int plan_fuse(struct plan *plan, struct fault *fault);

/* Fills `work` with the passes of the step behind `front` that do the work of both, if that step's
 * stage can (*done). */
int plan_step_takes(const struct plan_step *front, const struct device_profile *profile,
                    struct stage_plan *work, bool *done, struct fault *fault);

/* Says which rows the only pass of a step with `reach` needs, if it computes one for each row of
 * its grid. */
void plan_set_rows(const struct plan_step *step, struct pass *pass);

/* Chooses how much of each frame is held, and which steps run at the same time (plan_rows.c). */
void plan_hold_rows(struct plan *plan, const struct plan_options *options);

/* plan->band_bytes for such a plan. References take whole frames. */
uint32_t plan_band_bytes(const struct plan_options *options, const struct chain *chain,
                         const struct frame *in);

/* As stage_plan_finish, for passes that may be fused. */
void plan_work_finish(struct stage_plan *work);

/* The rest is shared by the files of fusing alone. */

/* Steps first … last of a plan, as one. */
struct fuse_group {
    struct plan *plan;
    size_t first, last;
};

/* Appends an empty part; NULL without memory. */
struct pass *fused_add_part(struct fused *fused);

/* Whether the step is per-pixel, on types that runs can take. */
bool fuse_is_pixel(const struct plan_step *step);

/* The group's name in reports, "invert+threshold"; `sign` stands between the names. */
void fuse_label(const struct fuse_group *group, char sign, char *label, size_t size);

/* Tries to make one pass for each plane of per-pixel steps, or of the first of them; sets
 * group->last. *done: whether it did. */
int fuse_pixels(struct fuse_group *group, bool *done, struct fault *fault);

/* Tries to add per-pixel steps to the kernel of the step before them. *done: whether it did. */
int fuse_then(struct fuse_group *group, bool *done, struct fault *fault);

/* What stands in front of a step, and its kernel takes in. */
struct fuse_front {
    const struct frame *in;  /* what the kernel takes for its input */
    const struct pass *grey; /* the pass that makes that of colours; NULL: it is the group's */
};

/* Tries to plan step `at` as one pass with what stands in front of it, and with the per-pixel steps
 * behind it up to the group's last one. *done: whether it did. */
int fuse_with_front(struct fuse_group *group, size_t at, const struct fuse_front *front, bool *done,
                    struct fault *fault);

/* Gives `work` to the group's last step, and removes the work of the others. */
void fuse_commit(const struct fuse_group *group, struct stage_plan *work);

/* Tries to make one pass in which the group's kernels are called in turn. *done: whether it did. */
int fuse_lines(const struct fuse_group *group, bool *done, struct fault *fault);

#endif
