/* Parameters of the stage box: the mean over a window, and the table that gives it. */
#ifndef SLUICE_STAGE_BOX_H
#define SLUICE_STAGE_BOX_H

#include "stage/stage.h"

#define BOX_SIDE_MAX 4095

enum box_method {
    BOX_AUTO,
    BOX_SEPARABLE, /* sums along columns, then along rows */
    BOX_SAT,       /* from a summed-area table */
};

struct box_config {
    struct param_integers width;  /* each width gives a plane */
    int64_t height;               /* 0: equal to the width */
    struct param_integers radius; /* width = 2 · radius + 1; complete() turns it into width */
    int method;                   /* enum box_method */
    int64_t passes;
    int border; /* enum border */
    bool table; /* the summed-area table is a plane, too; without a width the only one */
};

/* What a kernel may store in place of a mean: `high` where the sample is at least the mean plus
 * `least`, else `low`. */
struct box_compare {
    int32_t least, low, high;
};

/* Adds one pass from a plane of the plan's input to that of its output that compares samples with
 * their means over the config's window; false where no kernel does both at once. */
bool box_add_compare(struct stage_plan *plan, unsigned plane, const struct box_config *config,
                     const struct box_compare *compare);

/* So many results between passes have memory of their own where rows pass through. */
#define BOX_TURNS 5

/* Scratch memory that the stage's passes use one after the other. */
struct box_memory {
    struct scratch turn[BOX_TURNS]; /* results between two passes */
    struct scratch own;             /* for work-items */
    struct scratch half;            /* sums along one axis */
    struct scratch blocks;          /* sums of blocks of positions */
    struct scratch table[2]; /* summed-area tables: of the input, and of results between passes */
};

/* Adds the passes that compute the means over the config's one window. */
void box_add_means(struct stage_plan *plan, struct box_memory *memory,
                   const struct box_config *config, const struct view *in, const struct view *out);

extern const struct stage stage_box;

/* The definition, in plain C. */
stage_reference box_reference;

#endif
