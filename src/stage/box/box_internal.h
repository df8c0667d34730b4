/* Shared by the files of the stage box alone: one run of the filter over one plane, as passes. */
#ifndef SLUICE_STAGE_BOX_INTERNAL_H
#define SLUICE_STAGE_BOX_INTERNAL_H

#include "stage/box/box.h"
#include "stage/box/box_divide.h"
#include "stage/common.h"

struct box_task {
    struct stage_plan *plan;
    struct box_memory *memory;
    struct view in, out;
    uint32_t width, height; /* of the window */
    enum border border;
    const struct box_compare *compare; /* NULL: means are stored */
    const struct view *table;          /* of the input, which windows share; NULL: there is none */
    bool by_table;                     /* the chain asks for sums from a table */
};

/* How far a window reaches from pixel (x, y) of the result. With BORDER_CROP the window begins
 * there. */
struct stage_window box_reach_of(const struct box_task *task);

/* A plane of that size and type in scratch memory, which is reused for later planes. */
struct view box_scratch(const struct box_task *task, struct scratch *memory, uint32_t width,
                        uint32_t height, uint32_t channels, enum sample_type type);

/* The way to divide the windows' sums that works for every area. */
struct box_divider box_divider_of(const struct box_task *task);

/* The lower bound of samples, with the opposite sign: 128 for i8, 0 for u8. */
uint32_t box_lowest(enum sample_type type);

/* Adds the position in the source of pixel (0, 0) of the result. */
void box_add_centre(struct pass *pass, const struct box_task *task);

/* Adds arguments of kernels that compute whole windows: sizes of the planes, `band`, the window and
 * its border. */
void box_add_reach(struct pass *pass, const struct box_task *task, uint32_t band);

/* The same, and the window's centre. */
void box_add_window(struct pass *pass, const struct box_task *task, uint32_t band);

/* Adds the arguments and definitions by which kernels divide sums of signed samples: area, factor,
 * and what makes every sum positive; in 32 or 64 bits. */
void box_add_divider(struct pass *pass, const struct box_task *task,
                     const struct box_divider *divider);

/* For CPUs, in rows form. */
void box_add_rows(const struct box_task *task);

/* Small windows of bytes: with two samples in a word, and down columns as those of fir. */
bool box_suits_packed(const struct box_task *task);
void box_add_packed(const struct box_task *task);
bool box_suits_fir(const struct box_task *task);
void box_add_fir(const struct box_task *task);

/* For GPUs with few registers and no fast local memory: 8 bits. */
bool box_suits_columns(const struct box_task *task);
void box_add_columns(const struct box_task *task);

/* For GPUs with local memory. */
bool box_suits_wide(const struct box_task *task);
void box_add_wide(const struct box_task *task);

/* For GPUs: sums along one axis, then along the other. */
void box_add_sums(const struct box_task *task);

/* Whether kernels can index the entries of a plane's table. */
bool box_table_fits(const struct plane *in);

/* Makes the summed-area table of task->in in *table, which is one larger in both directions; the
 * same in scratch memory. */
void box_make_table(const struct box_task *task, const struct view *table);
struct view box_add_table(const struct box_task *task, struct scratch *memory);

/* For GPUs: whether the chain asks for means from a table, one is no larger than a buffer may be,
 * and the window's sum fits an entry; and adds them. */
bool box_suits_table(const struct box_task *task);
void box_add_lookup(const struct box_task *task);

#endif
