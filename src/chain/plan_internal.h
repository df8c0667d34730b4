/* Shared by plan.c, programs.c, fuse*.c and source.c alone. Fusing: several steps of a plan as one pass.
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

/* What a fused pass's kernel is made of, besides its own template. */
struct fused {
    unsigned n_parts;
    struct pass
        *parts; /* owned; instances that stand in front of the template, named KERNEL_f0 … */
    struct text defines; /* for the template, one a line, besides the pass's own */
    bool has_then;       /* among them what it stores: OUT, THEN and THEN_PARAMETERS */
    bool by_rows;        /* there is no template: parts are called in turn, a row at a time */
};

/* Takes NULL; clears the pointer. */
void fused_destroy(struct fused **fused);

/* Joins steps where that is known to gain. The step that ends a group has the pass; those before it
 * have none and are `merged`. */
int plan_fuse(struct plan *plan, struct fault *fault);

/* stage_plan_finish, of passes that may be fused. */
void plan_work_finish(struct stage_plan *work);

/* The rest is shared by the files of fusing alone. */

/* Steps first … last of a plan, as one. */
struct fuse_group {
    struct plan *plan;
    size_t first, last;
};

/* An empty part behind those that there are; NULL: no memory. */
struct pass *fused_add_part(struct fused *fused);

/* Whether the step is per-pixel on samples that runs take. */
bool fuse_is_pixel(const struct plan_step *step);

/* The steps' name in reports, "invert+threshold", or with another sign between the names. */
void fuse_label(const struct fuse_group *group, char sign, char *label, size_t size);

/* Tries to make one pass of each plane of per-pixel steps, or of as many of them as go together, to
 * which group->last is set. *done tells whether it did. */
int fuse_pixels(struct fuse_group *group, bool *done, struct fault *fault);

/* The same of a step that is not per-pixel and those behind it that are: its kernel takes them in.
 */
int fuse_then(struct fuse_group *group, bool *done, struct fault *fault);

/* Gives `work` to the group's last step and takes the others' away. */
void fuse_commit(const struct fuse_group *group, struct stage_plan *work);

/* Tries to make one pass of the group's kernels, called in turn. *done tells whether it did. */
int fuse_lines(const struct fuse_group *group, bool *done, struct fault *fault);

#endif
