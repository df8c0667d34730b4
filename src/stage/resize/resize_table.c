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

uint32_t resize_table_step_count(const struct resize_taps *taps)
{
    return (taps->largest + 3 + 3) / 4;
}

struct resize_part resize_table_steps(struct resize_table *table, const struct resize_taps *taps,
                                      uint32_t steps, uint32_t room)
{
    uint32_t last = room >= 4 * steps ? (room - 4 * steps) / 4 * 4 : room;
    struct resize_part part = {.taps = steps, .n = stage_round_up(taps->n, RESIZE_AT_ONCE)};
    grow(table, (4 - table->count % 4) % 4); /* kernels load weights two words at a time */
    part.at = (uint32_t)table->count;
    int32_t *to = grow(table, (1 + 2 * (size_t)steps) * part.n);
    for (uint32_t i = 0; to && i < taps->n; i++) {
        const struct resize_tap *tap = &taps->at[i];
        uint32_t begin = tap->first / 4 * 4 < last ? tap->first / 4 * 4 : last;
        to[i] = (int32_t)begin;
        for (uint32_t k = 0, place = tap->first - begin; k < tap->count; k++, place++) {
            int32_t *step = to + part.n + 2 * ((size_t)(place / 4) * part.n + i);
            ((int16_t *)step)[place % 4] = tap->fixed[k];
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

uint32_t resize_table_pair_count(const struct resize_taps *taps, bool alone)
{
    return (taps->n + alone + 1) / 2;
}

/* The first result of pair i, and its first sample, a multiple of `multiple`; returns how many
 * samples the pair needs. Of the first pair and of the last one, a result may be missing. */
static uint32_t pair_stretch(const struct resize_taps *taps, bool alone, uint32_t i,
                             uint32_t multiple, uint32_t *result, uint32_t *first)
{
    *result = i == 0 ? 0 : 2 * i - alone;
    uint32_t count = resize_table_stretch(taps, *result, i == 0 ? 2 - alone : 2, first);
    count += *first % multiple;
    *first -= *first % multiple;
    return count;
}

uint32_t resize_table_pair_steps(const struct resize_taps *taps, uint32_t multiple, bool alone)
{
    uint32_t result, first, steps = 0;
    for (uint32_t i = 0; i < resize_table_pair_count(taps, alone); i++) {
        uint32_t own = (pair_stretch(taps, alone, i, multiple, &result, &first) + 3) / 4;
        steps = own > steps ? own : steps;
    }
    return steps;
}

struct resize_part resize_table_pairs(struct resize_table *table, const struct resize_taps *taps,
                                      uint32_t steps, uint32_t multiple, bool alone, uint32_t end)
{
    uint32_t last = (end - 4 * steps) / multiple * multiple;
    uint32_t pairs = resize_table_pair_count(taps, alone);
    /* weights lie at multiples of 16 bytes */
    struct resize_part part = {.taps = steps, .n = stage_round_up(pairs, 4)};
    grow(table, (4 - table->count % 4) % 4);
    part.at = (uint32_t)table->count;
    int32_t *to = grow(table, (1 + 4 * (size_t)steps) * part.n);
    for (uint32_t i = 0, k, first; to && i < pairs; i++) {
        pair_stretch(taps, alone, i, multiple, &k, &first);
        first = first < last ? first : last;
        to[i] = (int32_t)first;
        for (; k < taps->n && k + alone < 2 * i + 2; k++) {
            const struct resize_tap *tap = &taps->at[k];
            int32_t *step = to + part.n + 4 * (size_t)i + 2 * ((k + alone) % 2);
            for (uint32_t j = 0, place = tap->first - first; j < tap->count; j++, place++)
                ((int16_t *)(step + 4 * (size_t)part.n * (place / 4)))[place % 4] =
                    tap->fixed[j];
        }
    }
    return part;
}

/* The first source sample of `results` neighbours from result i on, and how many they need. */
static uint32_t stretch_of(const struct resize_taps *taps, uint32_t i, uint32_t results, bool along,
                           uint32_t *first)
{
    uint32_t count = resize_table_stretch(taps, i, results, first),
             before = along ? *first % 16 : 0;
    *first -= before;
    return count + before;
}

uint32_t resize_table_matrix_steps(const struct resize_taps *taps, uint32_t results, bool along)
{
    uint32_t most = 1, unit = along ? 64 : 32, first;
    for (uint32_t i = 0; i < taps->n; i += results) {
        uint32_t stretch = stretch_of(taps, i, results, along, &first);
        most = stretch > most ? stretch : most;
    }
    return (most + unit - 1) / unit * (unit / 32);
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
    uint32_t tiles = results / 16, begin;
    grow(table, (4 - table->count % 4) % 4);
    part.at = (uint32_t)table->count;
    size_t each = (size_t)part.taps * tiles * MATRIX_WORDS, firsts = (part.n + 3) / 4 * 4;
    int32_t *to = grow(table, firsts + part.n * each);
    for (uint32_t i = 0; to && i < taps->n; i++) {
        const struct resize_tap *tap = &taps->at[i];
        stretch_of(taps, i / results * results, results, along, &begin);
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
