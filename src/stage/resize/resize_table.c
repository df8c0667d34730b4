#include "stage/resize/resize_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/weighted.h"

/* Adds `count` words of zero; NULL without memory. */
static int32_t *grow(struct resize_table *table, size_t count)
{
    if (table->count + count > table->room) {
        size_t room = 2 * (table->count + count);
        int32_t *words = room < INT_MAX ? realloc(table->words, room * sizeof *words) : NULL;
        if (!words) {
            table->out_of_memory = true;
            return NULL;
        }
        table->words = words;
        table->room = room;
    }
    if (count == 0) /* there may be no memory yet */
        return table->words;
    int32_t *at = table->words + table->count;
    memset(at, 0, count * sizeof *at);
    table->count += count;
    return at;
}

/* The tap of entry i, of which the last one is repeated. */
static const struct resize_tap *tap_of(const struct resize_taps *taps, uint32_t i)
{
    return &taps->at[i < taps->n ? i : taps->n - 1];
}

/* Adds first samples and counts, and room for `words` words of weights each; NULL without memory.
 */
static int32_t *add_axis(struct resize_table *table, const struct resize_taps *taps, size_t words,
                         struct resize_part *part)
{
    part->at = (uint32_t)table->count;
    part->n = stage_round_up(taps->n, RESIZE_AT_ONCE);
    int32_t *to = grow(table, (2 + words) * part->n);
    for (uint32_t i = 0; to && i < part->n; i++) {
        to[i] = (int32_t)tap_of(taps, i)->first;
        to[part->n + i] = (int32_t)tap_of(taps, i)->count;
    }
    return to;
}

struct resize_part resize_table_real(struct resize_table *table, const struct resize_taps *taps)
{
    struct resize_part part = {.taps = taps->largest};
    int32_t *to = add_axis(table, taps, part.taps, &part);
    for (uint32_t i = 0; to && i < part.n; i++) {
        const struct resize_tap *tap = tap_of(taps, i);
        float *weights = (float *)(to + 2 * (size_t)part.n) + (size_t)part.taps * i;
        for (uint32_t k = 0; k < tap->count; k++)
            weights[k] = (float)tap->weights[k];
    }
    return part;
}

struct resize_part resize_table_fixed(struct resize_table *table, const struct resize_taps *taps,
                                      bool pairs)
{
    uint32_t words = taps->largest / 2 + 1;
    struct resize_part part = {.taps = pairs ? words : 2 * words};
    int32_t *to = add_axis(table, taps, words, &part);
    for (uint32_t i = 0; to && i < part.n; i++) {
        const struct resize_tap *tap = tap_of(taps, i);
        uint32_t odd = pairs ? tap->first % 2 : 0;
        int16_t *weights = (int16_t *)(to + 2 * (size_t)part.n + (size_t)words * i) + odd;
        for (uint32_t k = 0; k < tap->count; k++)
            weights[k] = tap->fixed[k];
        if (pairs) {
            to[i] = (int32_t)(tap->first / 2);
            to[part.n + i] = (int32_t)((odd + tap->count + 1) / 2);
        }
    }
    return part;
}

uint32_t resize_table_stretch(const struct resize_taps *taps, uint32_t i, uint32_t results,
                              uint32_t *first)
{
    const struct resize_tap *last = tap_of(taps, i + results - 1);
    *first = taps->at[i].first;
    return last->first + last->count - *first;
}

/* The first result of group i, and its first sample, a multiple of `multiple`; returns how many
 * samples the group needs. */
static uint32_t group_stretch(const struct resize_taps *taps, const struct resize_groups *groups,
                              uint32_t i, uint32_t *result, uint32_t *first)
{
    uint32_t results = groups->results - (i == 0 && groups->alone);
    *result = i == 0 ? 0 : groups->results * i - groups->alone;
    uint32_t count = resize_table_stretch(taps, *result, results, first);
    uint32_t before = *first % groups->multiple;
    *first -= before;
    return count + before;
}

uint32_t resize_groups_count(const struct resize_taps *taps, const struct resize_groups *groups)
{
    return (taps->n + groups->alone + groups->results - 1) / groups->results;
}

uint32_t resize_groups_longest(const struct resize_taps *taps, const struct resize_groups *groups)
{
    uint32_t result, first, longest = 0;
    for (uint32_t i = 0; i < resize_groups_count(taps, groups); i++) {
        uint32_t own = group_stretch(taps, groups, i, &result, &first);
        longest = own > longest ? own : longest;
    }
    return longest;
}

struct resize_part resize_table_steps(struct resize_table *table, const struct resize_taps *taps,
                                      const struct resize_groups *groups, uint32_t steps,
                                      uint32_t end)
{
    const uint32_t n = resize_groups_count(taps, groups), results = groups->results;
    uint32_t last = end < 4 * steps ? end : (end - 4 * steps) / groups->multiple * groups->multiple;
    struct resize_part part = {.taps = steps, .n = stage_round_up(n, RESIZE_AT_ONCE / results)};
    grow(table, (4 - table->count % 4) % 4); /* kernels load weights two or four words at a time */
    part.at = (uint32_t)table->count;
    int32_t *to = grow(table, (1 + 2 * (size_t)results * steps) * part.n);
    for (uint32_t i = 0, k, first; to && i < n; i++) {
        group_stretch(taps, groups, i, &k, &first);
        first = first < last ? first : last;
        to[i] = (int32_t)first;
        for (; k < taps->n && k + groups->alone < results * (i + 1); k++) {
            const struct resize_tap *tap = &taps->at[k];
            int32_t *step = to + part.n + 2 * ((size_t)results * i + (k + groups->alone) % results);
            for (uint32_t j = 0, place = tap->first - first; j < tap->count; j++, place++)
                ((int16_t *)(step + 2 * (size_t)results * part.n * (place / 4)))[place % 4] =
                    tap->fixed[j];
        }
    }
    return part;
}

/* Results whose weights are matrices together. */
static struct resize_groups groups_of_matrices(uint32_t results, bool along)
{
    return (struct resize_groups){results, along ? 16 : 1, false};
}

uint32_t resize_table_matrix_steps(const struct resize_taps *taps, uint32_t results, bool along)
{
    const struct resize_groups groups = groups_of_matrices(results, along);
    uint32_t unit = along ? 64 : 32;
    return (resize_groups_longest(taps, &groups) + unit - 1) / unit * (unit / 32);
}

/* Sets the weights of result i of its matrices, whose first sample is `begin`. */
static void set_matrix_row(uint32_t *matrices, uint32_t tiles, uint32_t i, bool along, uint32_t at,
                           const int16_t *fixed, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++, at++) {
        uint32_t step = at / 32, row = i % 16, column = matrix_column_of(at % 32);
        if (along) { /* a work-item loads 16 samples of 64: two words for each of two steps */
            step = at / 64 * 2 + at % 16 / 8;
            row = matrix_row_of(row);
            column = at % 8 / 4 * 16 + at % 64 / 16 * 4 + at % 4;
        }
        matrix_set(matrices + ((size_t)step * tiles + i / 16) * MATRIX_WORDS, row, column,
                   fixed[k]);
    }
}

struct resize_part resize_table_matrices(struct resize_table *table, const struct resize_taps *taps,
                                         uint32_t results, bool along)
{
    struct resize_part part = {.n = (taps->n + results - 1) / results,
                               .taps = resize_table_matrix_steps(taps, results, along)};
    const struct resize_groups groups = groups_of_matrices(results, along);
    uint32_t tiles = results / 16, result, begin;
    grow(table, (4 - table->count % 4) % 4);
    part.at = (uint32_t)table->count;
    size_t each = (size_t)part.taps * tiles * MATRIX_WORDS, firsts = (part.n + 3) / 4 * 4;
    int32_t *to = grow(table, firsts + part.n * each);
    for (uint32_t i = 0; to && i < taps->n; i++) {
        const struct resize_tap *tap = &taps->at[i];
        group_stretch(taps, &groups, i / results, &result, &begin);
        to[i / results] = (int32_t)begin;
        set_matrix_row((uint32_t *)to + firsts + i / results * each, tiles, i % results, along,
                       tap->first - begin, tap->fixed, tap->count);
    }
    return part;
}

uint32_t resize_table_firsts(struct resize_table *table, const struct resize_taps *taps)
{
    uint32_t at = (uint32_t)table->count;
    int32_t *to = grow(table, taps->n);
    for (uint32_t i = 0; to && i < taps->n; i++)
        to[i] = (int32_t)taps->at[i].first;
    return at;
}
