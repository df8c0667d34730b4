/* The table that kernels of resize read: for each axis of a plan, which samples those of the result
 * are computed from, and with which weights. One for all planes, because a frame may have planes of
 * many sizes. */
#ifndef SLUICE_STAGE_RESIZE_RESIZE_TABLE_H
#define SLUICE_STAGE_RESIZE_RESIZE_TABLE_H

#include "stage/resize/resize.h"

struct resize_table {
    int32_t *words; /* owned: free() */
    size_t count, room;
    bool out_of_memory;
};

/* An axis in the table: from word `at` on `n` first samples, and what the functions below say, with
 * `taps` for each. */
struct resize_part {
    uint32_t at, n, taps;
};

/* n counts of samples behind the first ones, then for each of n the weights, as f32. */
struct resize_part resize_table_real(struct resize_table *table, const struct resize_axis *axis);

/* The same in 16-bit integers. With `pairs`, all of it counts pairs of samples: they begin with an
 * even one, and weights of 0 fill them up. */
struct resize_part resize_table_fixed(struct resize_table *table, const struct resize_axis *axis,
                                      bool pairs);

/* In steps of four pixels, `steps` for each of n, which is a multiple of 4: the step's 16-bit
 * weights for all n, then those of the next. Firsts are multiples of 4, and where the `room` pixels
 * that may be read are as many as all steps, none begins so late that they would not do. */
struct resize_part resize_table_steps(struct resize_table *table, const struct resize_axis *axis,
                                      uint32_t steps, uint32_t room);

/* How many steps hold any of the axis's supports. */
uint32_t resize_table_step_count(const struct resize_axis *axis);

/* First samples only; returns the word that they begin with. */
uint32_t resize_table_firsts(struct resize_table *table, const struct resize_axis *axis);

#endif
