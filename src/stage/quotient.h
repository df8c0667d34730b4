/* Exact integer results: sat(rne(N/D)), where N is a whole number that depends on samples, and D a
 * constant. The device computes in the narrowest unsigned integers that are large enough.
 *
 * A kernel sums N + OFFSET modulo 2^bits. OFFSET contains the constant part of N, and ZERO · D,
 * which makes the sum positive. The quotient is rounded, and ZERO is subtracted again. ZERO is
 * even, so ties stay even. EXACT_RESULT in cl/prelude/quotient.cl does the rounding and what
 * follows. */
#ifndef SLUICE_STAGE_QUOTIENT_H
#define SLUICE_STAGE_QUOTIENT_H

#include "stage/pass.h"

__extension__ typedef __int128 wide_int;

struct quotient {
    enum sample_type in, out;
    unsigned bits; /* of the unsigned type: 16, 32 or 64 */
    uint64_t divisor, zero, offset;
    bool limited; /* results may be outside the range of `out` */
    uint64_t top; /* the largest sum that is divided, including what is added for rounding */
};

/* Plans for numerators from `least` to `most`, to which the kernel adds `constant`, and D = divisor
 * > 0. Returns false when 64 bits are not enough. */
bool quotient_plan(struct quotient *quotient, wide_int least, wide_int most, wide_int constant,
                   uint64_t divisor, enum sample_type in, enum sample_type out);

/* Adds the definitions that EXACT_RESULT needs, and WIDEN(v), which makes V(NUM) of samples modulo
 * 2^bits, NUM_BITS, and EXACT_OF(n), the result for such a sum. `generic`: of a kernel that takes
 * the numbers as arguments (`QUOTIENT_PARAMETERS` in cl/prelude/quotient.cl). */
void quotient_define(const struct quotient *quotient, struct pass *pass, bool generic);

/* For such kernels: changes the planned quotient to one of 16, 32 or 64 bits, but at least
 * `least`. Returns false when 63 bits are not enough for its numerators. */
#define QUOTIENT_NUMBERS 7
bool quotient_make_generic(struct quotient *quotient, unsigned least);
void quotient_numbers(const struct quotient *quotient, uint64_t numbers[QUOTIENT_NUMBERS]);

#endif
