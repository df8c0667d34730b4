#include "stage/resize/resize_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stage/weighted.h"

/* The weights of one sample, while the table is made. */
struct row {
    double *weights;
    int32_t *fixed;
};

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

static uint32_t padded_count(const struct resize_axis *axis)
{
    return (axis->count + RESIZE_AT_ONCE - 1) / RESIZE_AT_ONCE * RESIZE_AT_ONCE;
}

/* The sample of the result that entry i of a table is for. */
static uint32_t sample_of(const struct resize_axis *axis, uint32_t i)
{
    return axis->begin + (i < axis->count ? i : axis->count - 1);
}

uint32_t resize_table_largest(const struct resize_axis *axis)
{
    uint32_t first, largest = 1;
    for (uint32_t i = 0; i < axis->count; i++) {
        uint32_t count = resize_support(axis, axis->begin + i, &first);
        largest = count > largest ? count : largest;
    }
    return largest;
}

/* Adds first samples and counts, and room for `words` words of weights each; NULL without memory.
 */
static int32_t *add_axis(struct resize_table *table, const struct resize_axis *axis, size_t words,
                         struct resize_part *part, struct row *row)
{
    uint32_t largest = resize_table_largest(axis);
    part->at = (uint32_t)table->count;
    part->n = padded_count(axis);
    *row = (struct row){malloc(largest * sizeof(double)), malloc(largest * sizeof(int32_t))};
    int32_t *to = grow(table, (2 + words) * part->n);
    table->out_of_memory |= !row->weights || !row->fixed;
    if (table->out_of_memory)
        return NULL;
    for (uint32_t i = 0; i < part->n; i++)
        to[part->n + i] = (int32_t)resize_support(axis, sample_of(axis, i), (uint32_t *)&to[i]);
    return to;
}

static void row_finish(struct row *row)
{
    free(row->weights);
    free(row->fixed);
}

struct resize_part resize_table_real(struct resize_table *table, const struct resize_axis *axis)
{
    struct resize_part part = {.taps = resize_table_largest(axis)};
    struct row row;
    uint32_t first;
    int32_t *to = add_axis(table, axis, part.taps, &part, &row);
    for (uint32_t i = 0; to && i < part.n; i++) {
        uint32_t count = resize_weights(axis, sample_of(axis, i), &first, row.weights);
        float *weights = (float *)(to + 2 * (size_t)part.n) + (size_t)part.taps * i;
        for (uint32_t k = 0; k < count; k++)
            weights[k] = (float)row.weights[k];
    }
    row_finish(&row);
    return part;
}

struct resize_part resize_table_fixed(struct resize_table *table, const struct resize_axis *axis,
                                      bool pairs)
{
    uint32_t words = resize_table_largest(axis) / 2 + 1, first;
    struct resize_part part = {.taps = pairs ? words : 2 * words};
    struct row row;
    int32_t *to = add_axis(table, axis, words, &part, &row);
    for (uint32_t i = 0; to && i < part.n; i++) {
        uint32_t count = resize_weights(axis, sample_of(axis, i), &first, row.weights);
        uint32_t odd = pairs ? first % 2 : 0;
        int16_t *weights = (int16_t *)(to + 2 * (size_t)part.n + (size_t)words * i) + odd;
        resize_fixed_weights(row.weights, count, row.fixed);
        for (uint32_t k = 0; k < count; k++)
            weights[k] = (int16_t)row.fixed[k];
        if (pairs) {
            to[i] = (int32_t)(first / 2);
            to[part.n + i] = (int32_t)((odd + count + 1) / 2);
        }
    }
    row_finish(&row);
    return part;
}

uint32_t resize_table_step_count(const struct resize_axis *axis)
{
    return (resize_table_largest(axis) + 3 + 3) / 4;
}

struct resize_part resize_table_steps(struct resize_table *table, const struct resize_axis *axis,
                                      uint32_t steps, uint32_t room)
{
    uint32_t first, last = room >= 4 * steps ? (room - 4 * steps) / 4 * 4 : room;
    struct resize_part part = {.taps = steps, .n = padded_count(axis)};
    struct row row = {malloc(4 * (size_t)steps * sizeof(double)),
                      malloc(4 * (size_t)steps * sizeof(int32_t))};
    grow(table, (4 - table->count % 4) % 4); /* kernels load weights two words at a time */
    part.at = (uint32_t)table->count;
    int32_t *to = grow(table, (1 + 2 * (size_t)steps) * part.n);
    table->out_of_memory |= !row.weights || !row.fixed;
    for (uint32_t i = 0; !table->out_of_memory && i < axis->count; i++) {
        uint32_t count = resize_weights(axis, axis->begin + i, &first, row.weights);
        uint32_t begin = first / 4 * 4 < last ? first / 4 * 4 : last;
        resize_fixed_weights(row.weights, count, row.fixed);
        to[i] = (int32_t)begin;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t place = first - begin + k;
            int32_t *step = to + part.n + 2 * ((size_t)(place / 4) * part.n + i);
            ((int16_t *)step)[place % 4] = (int16_t)row.fixed[k];
        }
    }
    row_finish(&row);
    return part;
}

/* The results of pair i: of the first pair and of the last one, one may be missing. */
static void pair_results(const struct resize_axis *axis, bool alone, uint32_t i, uint32_t *begin,
                         uint32_t *end)
{
    *begin = i == 0 ? 0 : 2 * i - alone;
    *end = 2 * i + 2 - alone < axis->count ? 2 * i + 2 - alone : axis->count;
}

uint32_t resize_table_pair_count(const struct resize_axis *axis, bool alone)
{
    return (axis->count + alone + 1) / 2;
}

/* The support of pair i. */
static uint32_t pair_support(const struct resize_axis *axis, bool alone, uint32_t i,
                             uint32_t *first)
{
    uint32_t last, begin, end;
    pair_results(axis, alone, i, &begin, &end);
    resize_support(axis, axis->begin + begin, first);
    uint32_t count = resize_support(axis, axis->begin + end - 1, &last);
    return last + count - *first;
}

uint32_t resize_table_pair_steps(const struct resize_axis *axis, uint32_t multiple, bool alone)
{
    uint32_t first, steps = 0;
    for (uint32_t i = 0; i < resize_table_pair_count(axis, alone); i++) {
        uint32_t count = pair_support(axis, alone, i, &first) + first % multiple;
        steps = (count + 3) / 4 > steps ? (count + 3) / 4 : steps;
    }
    return steps;
}

/* Stores the weights of one result, whose pair begins at sample `begin`, from `step` on. */
static void store_steps(struct row *row, const struct resize_axis *axis, uint32_t i, uint32_t begin,
                        int32_t *step, size_t distance)
{
    uint32_t first, count = resize_weights(axis, axis->begin + i, &first, row->weights);
    resize_fixed_weights(row->weights, count, row->fixed);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t place = first - begin + k;
        ((int16_t *)(step + distance * (place / 4)))[place % 4] = (int16_t)row->fixed[k];
    }
}

struct resize_part resize_table_pairs(struct resize_table *table, const struct resize_axis *axis,
                                      uint32_t steps, uint32_t multiple, bool alone,
                                      uint32_t end)
{
    uint32_t first, last = (end - 4 * steps) / multiple * multiple;
    uint32_t largest = resize_table_largest(axis), pairs = resize_table_pair_count(axis, alone);
    struct resize_part part = {.taps = steps, .n = pairs};
    struct row row = {malloc(largest * sizeof(double)), malloc(largest * sizeof(int32_t))};
    part.n = (part.n + 3) / 4 * 4; /* weights lie at multiples of 16 bytes */
    grow(table, (4 - table->count % 4) % 4);
    part.at = (uint32_t)table->count;
    int32_t *to = grow(table, (1 + 4 * (size_t)steps) * part.n);
    table->out_of_memory |= !row.weights || !row.fixed;
    for (uint32_t i = 0; !table->out_of_memory && i < pairs; i++) {
        uint32_t begin, behind;
        pair_support(axis, alone, i, &first);
        first = first / multiple * multiple < last ? first / multiple * multiple : last;
        to[i] = (int32_t)first;
        int32_t *step = to + part.n + 4 * (size_t)i;
        pair_results(axis, alone, i, &begin, &behind);
        for (uint32_t k = begin; k < behind; k++)
            store_steps(&row, axis, k, first, step + 2 * ((k + alone) % 2), 4 * (size_t)part.n);
    }
    row_finish(&row);
    return part;
}

/* The first source sample of `results` neighbours from sample i on, and how many they need. */
static uint32_t stretch_of(const struct resize_axis *axis, uint32_t i, uint32_t results, bool along,
                           uint32_t *first)
{
    uint32_t last, end = i + results < axis->count ? i + results : axis->count;
    resize_support(axis, axis->begin + i, first);
    uint32_t count = resize_support(axis, axis->begin + end - 1, &last);
    *first = along ? *first / 16 * 16 : *first;
    return last + count - *first;
}

uint32_t resize_table_matrix_steps(const struct resize_axis *axis, uint32_t results, bool along)
{
    uint32_t most = 1, unit = along ? 64 : 32, first;
    for (uint32_t i = 0; i < axis->count; i += results) {
        uint32_t stretch = stretch_of(axis, i, results, along, &first);
        most = stretch > most ? stretch : most;
    }
    return (most + unit - 1) / unit * (unit / 32);
}

/* Sets the weights of result i of its matrices, whose first sample is `begin`. */
static void set_matrix_row(uint32_t *matrices, uint32_t tiles, uint32_t i, bool along, uint32_t at,
                           const int32_t *fixed, uint32_t count)
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

struct resize_part resize_table_matrices(struct resize_table *table, const struct resize_axis *axis,
                                         uint32_t results, bool along)
{
    struct resize_part part = {.n = (axis->count + results - 1) / results,
                               .taps = resize_table_matrix_steps(axis, results, along)};
    uint32_t largest = resize_table_largest(axis), tiles = results / 16, first, begin;
    struct row row = {malloc(largest * sizeof(double)), malloc(largest * sizeof(int32_t))};
    grow(table, (4 - table->count % 4) % 4);
    part.at = (uint32_t)table->count;
    size_t each = (size_t)part.taps * tiles * MATRIX_WORDS, firsts = (part.n + 3) / 4 * 4;
    int32_t *to = grow(table, firsts + part.n * each);
    table->out_of_memory |= !row.weights || !row.fixed;
    for (uint32_t i = 0; !table->out_of_memory && i < axis->count; i++) {
        stretch_of(axis, i / results * results, results, along, &begin);
        uint32_t count = resize_weights(axis, axis->begin + i, &first, row.weights);
        resize_fixed_weights(row.weights, count, row.fixed);
        to[i / results] = (int32_t)begin;
        set_matrix_row((uint32_t *)to + firsts + i / results * each, tiles, i % results, along,
                       first - begin, row.fixed, count);
    }
    row_finish(&row);
    return part;
}

uint32_t resize_table_firsts(struct resize_table *table, const struct resize_axis *axis)
{
    uint32_t at = (uint32_t)table->count;
    int32_t *to = grow(table, axis->count);
    for (uint32_t i = 0; to && i < axis->count; i++)
        resize_support(axis, axis->begin + i, (uint32_t *)&to[i]);
    return at;
}
