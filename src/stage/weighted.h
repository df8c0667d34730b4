/* What gauss, unsharp and resize share: the type between sums along rows and down columns
 * (cl/weighted.cl), and tables of weights for kernels that multiply matrices of bytes
 * (cl/matrix.cl). */
#ifndef SLUICE_STAGE_WEIGHTED_H
#define SLUICE_STAGE_WEIGHTED_H

#include "image/frame.h"
#include <stdint.h>

/* Samples of u8 or u16 become whole 64ths, in 16 or 32 bits; f32 stays. */
enum sample_type weighted_middle(enum sample_type type);

/* Words of a matrix of 16 rows and 32 columns of 16-bit weights: for each of 32 work-items four
 * words of lower bytes, then for each four of upper bytes. */
#define MATRIX_WORDS 256

/* Sets the weight at `row` and `column` of such a matrix, whose words are 0 at first. */
void matrix_set(uint32_t words[MATRIX_WORDS], uint32_t row, uint32_t column, int32_t weight);

/* The order in which columns of the result are rows of the weights along rows, so that a work-item
 * has four neighbours: the row for column 0 to 15. */
uint32_t matrix_row_of(uint32_t x);

/* The order in which rows of the source, 32 at a time, are columns of the weights down columns, so
 * that a work-item multiplies the sums along rows that it has. */
uint32_t matrix_column_of(uint32_t y);

#endif
