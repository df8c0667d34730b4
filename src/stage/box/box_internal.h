/* Shared by the files of the stage box alone: one run of the filter over one plane, as passes. */
#ifndef SLUICE_STAGE_BOX_TASK_H
#define SLUICE_STAGE_BOX_TASK_H

#include "stage/box/box.h"
#include "stage/box/box_divide.h"
#include "stage/pass.h"

/* A plane within an operand's memory. */
struct box_view {
    unsigned operand;
    struct plane plane;
};

/* Scratch memory that the stage's passes share, one after the other; operands, 0 until needed. */
struct box_memory {
    unsigned turn[2];  /* results between passes */
    unsigned own;      /* memory of work-items */
    unsigned half;     /* sums along one axis */
    unsigned blocks;   /* sums of blocks of positions */
    unsigned table[2]; /* summed-area tables: of the input, and of results between passes */
    bool too_large;    /* some plane was more than kernels can index */
};

struct box_task {
    struct stage_plan *plan;
    struct box_memory *memory;
    struct box_view in, out;
    uint32_t width, height; /* of the window */
    enum border border;
};

/* How far a window reaches from its pixel (x, y) of the result; a cropped one begins there. */
struct box_reach {
    uint32_t left, right, top, bottom;
};

struct box_reach box_reach_of(const struct box_task *task);

/* A plane of that size and type in scratch memory, which later ones take over. */
struct box_view box_scratch(const struct box_task *task, unsigned *memory, uint32_t width,
                            uint32_t height, uint32_t channels, enum sample_type type);

/* What samples are below, at most: 128 for i8, 0 for u8. */
uint32_t box_lowest(enum sample_type type);

/* The border as kernels take it: a cropped window never sees one. */
int box_border(const struct box_task *task);

/* Where in the source the pixel (0, 0) of the result lies. */
void box_add_centre(struct pass *pass, const struct box_task *task);

/* Planes' sizes, `band`, the window, its border and the centre: the arguments of kernels that see a
 * window as a whole. */
void box_add_window(struct pass *pass, const struct box_task *task, uint32_t band);

/* The arguments and definitions that kernels need to divide sums of signed samples: area, factor
 * and what to add to make every sum positive, as 32 or 64 bits. */
void box_add_divider(struct pass *pass, const struct box_task *task,
                     const struct box_divider *divider);

/* Rows of a band: a few bands for each core, fewer where beginning one, which costs as much as
 * `start_rows`, would be more than a tenth of the work; but none so long that the cores' bands
 * together take longer than a launch should. */
uint32_t box_rows_of_band(const struct device_profile *profile, uint32_t rows, double row_work,
                          double start_rows);

/* In rows form, for CPUs. */
void box_add_rows(const struct box_task *task);

/* On GPUs with more bytes than instructions, small windows: false otherwise. */
bool box_add_packed(const struct box_task *task);

/* On GPUs with few registers and no such memory, one channel of 8 bits: false where it cannot be.
 */
bool box_add_columns(const struct box_task *task);

/* On GPUs with local memory, one channel of 8 bits: false where it cannot be. */
bool box_add_wide(const struct box_task *task);

/* On GPUs with local memory, where the window and the planes allow it: false otherwise. */
bool box_add_tile(const struct box_task *task);

/* By sums along one axis and then along the other, for GPUs. */
void box_add_sums(const struct box_task *task);

/* The summed-area table of task->in, for windows whose sums take `bits` bits; false when it would
 * be more than kernels can index, or one buffer can hold. */
bool box_add_table(const struct box_task *task, unsigned *memory, unsigned bits,
                   struct box_view *table);

/* The means from it. */
void box_add_lookup(const struct box_task *task, unsigned bits, const struct box_view *table);

/* In box_sums.c, the table on GPUs; and for CPUs the sums of all rows above each band of rows. */
void box_add_table_sums(const struct box_task *task, unsigned bits, const struct box_view *table);
struct box_view box_add_carry(const struct box_task *task, unsigned bits, uint32_t band);

#endif
