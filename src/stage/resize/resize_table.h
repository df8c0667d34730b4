/* The table that kernels of resize read: for each axis of a plan, from which samples each sample of
 * the result is computed, and with which weights. One table for all planes, because a frame may
 * have planes of many sizes. */
#ifndef SLUICE_STAGE_RESIZE_RESIZE_TABLE_H
#define SLUICE_STAGE_RESIZE_RESIZE_TABLE_H

#include "stage/resize/resize.h"

struct resize_table {
    int32_t *words; /* owned: free() */
    size_t count, room;
    bool out_of_memory;
};

/* Tables have entries for a multiple of these; those behind the last sample repeat it. */
#define RESIZE_AT_ONCE 8

/* An axis in the table: from word `at` on, `n` first samples; then, with `taps` for each, what the
 * functions below describe. */
struct resize_part {
    uint32_t at, n, taps;
};

/* After the first samples: n counts of samples, then n rows of weights in f32. */
struct resize_part resize_table_real(struct resize_table *table, const struct resize_taps *taps);

/* The same with weights in 16-bit integers. With `pairs` everything counts pairs of samples: a pair
 * begins at an even sample, and missing weights are 0. */
struct resize_part resize_table_fixed(struct resize_table *table, const struct resize_taps *taps,
                                      bool pairs);

/* Neighbouring results that are computed together, from samples of which the first one is a
 * multiple of `multiple`. `alone`: result 0 is the last one of the first group. Of that, and of the
 * last group, results may be missing. */
struct resize_groups {
    uint32_t results, multiple;
    bool alone;
};

uint32_t resize_groups_count(const struct resize_taps *taps, const struct resize_groups *groups);

/* The most samples that a group needs. */
uint32_t resize_groups_longest(const struct resize_taps *taps, const struct resize_groups *groups);

/* For groups of 1 or 2 results, in steps of four samples, `steps` for each of n: the 16-bit weights
 * of the first step for all n, four for each result; then those of the next step. All steps end at
 * sample `end` or before it, unless they are longer than that. */
struct resize_part resize_table_steps(struct resize_table *table, const struct resize_taps *taps,
                                      const struct resize_groups *groups, uint32_t steps,
                                      uint32_t end);

/* The weights as matrices (stage/weighted.h), for each `results` neighbouring results, a multiple of
 * 16. After n first samples, which are multiples of 16 if `along`, up to a multiple of 4 words: for
 * each of n, and of `taps` times 32 source samples, a matrix for each 16 results. Along rows steps
 * come in pairs, whose samples a work-item loads together. */
struct resize_part resize_table_matrices(struct resize_table *table, const struct resize_taps *taps,
                                         uint32_t results, bool along);

/* Its `taps`. */
uint32_t resize_table_matrix_steps(const struct resize_taps *taps, uint32_t results, bool along);

/* The source samples of results i to i + results - 1, as far as there are such, from `first` on. */
uint32_t resize_table_stretch(const struct resize_taps *taps, uint32_t i, uint32_t results,
                              uint32_t *first);

/* Adds first samples only; returns the index of their first word. */
uint32_t resize_table_firsts(struct resize_table *table, const struct resize_taps *taps);

#endif
