#include "stage/weighted.h"

enum sample_type weighted_middle(enum sample_type type)
{
    return type == SAMPLE_U8 ? SAMPLE_I16 : type == SAMPLE_U16 ? SAMPLE_I32 : SAMPLE_F32;
}

void matrix_set(uint32_t words[MATRIX_WORDS], uint32_t row, uint32_t column, int32_t weight)
{
    uint32_t item = row % 8 * 4 + column % 16 / 4;
    uint32_t *word = words + 4 * item + row / 8 + 2 * (column / 16);
    uint32_t shift = column % 4 * 8, bits = (uint32_t)weight;
    word[0] |= (bits & 255) << shift;
    word[MATRIX_WORDS / 2] |= (bits >> 8 & 255) << shift;
}

/* A work-item has columns 2k and 2k + 1 of two products: rows 2k and 2k + 1 of the weights, and the
 * same ones of the second half. */
uint32_t matrix_row_of(uint32_t x)
{
    return x / 4 * 2 + x % 2 + x % 4 / 2 * 8;
}

/* It has rows 2k and 2k + 1 of each eight: those of two eights become a word. */
uint32_t matrix_column_of(uint32_t y)
{
    return y / 16 * 16 + y % 8 / 2 * 4 + y % 16 / 8 * 2 + y % 2;
}
