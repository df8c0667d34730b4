/* Exact integer results: sat(rne(N/D)) for whole numbers N that depend on samples and a constant D,
 * computed on the device in the narrowest unsigned integers that hold them.
 *
 * A kernel sums N + OFFSET modulo 2^bits, where OFFSET holds what N's constant part is and
 * ZERO · D, which makes the sum positive; the quotient is then rounded and ZERO taken off again.
 * ZERO is even, so ties stay even. EXACT_RESULT in cl/prelude.cl is the last part. */
#ifndef SLUICE_STAGE_QUOTIENT_H
#define SLUICE_STAGE_QUOTIENT_H

#include "image/sample.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 wide_int;

struct quotient {
    enum sample_type in, out;
    unsigned bits; /* of the unsigned type: 16, 32 or 64 */
    uint64_t divisor, zero, offset;
    bool limited; /* results can lie outside the range of `out` */
    uint64_t top; /* the largest sum that is divided, rounding included */
};

/* For numerators from `least` to `most`, to which `constant` is still added, and D = divisor > 0.
 * False when 64 bits do not hold them. */
bool quotient_plan(struct quotient *quotient, wide_int least, wide_int most, wide_int constant,
                   uint64_t divisor, enum sample_type in, enum sample_type out);

/* Writes the definitions that EXACT_RESULT asks for, and beside them WIDEN(v), a sample as V(NUM)
 * modulo 2^bits, and NUM_BITS; one a line. */
void quotient_define(const struct quotient *quotient, char *lines, size_t size);

/* For kernels that take all numbers as arguments, `QUOTIENT_PARAMETERS` in cl/prelude.cl: makes a
 * quotient of 16, 32 or 64 bits, no fewer than `least`, of the one planned. False where 63 bits do
 * not hold its numerators. */
#define QUOTIENT_NUMBERS 7
bool quotient_make_generic(struct quotient *quotient, unsigned least);
void quotient_define_generic(const struct quotient *quotient, char *lines, size_t size);
void quotient_numbers(const struct quotient *quotient, uint64_t numbers[QUOTIENT_NUMBERS]);

#endif
