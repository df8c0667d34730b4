/* How cl/box/box.cl and the other kernels of box divide sums by the window's area. */
#ifndef SLUICE_STAGE_BOX_DIVIDE_H
#define SLUICE_STAGE_BOX_DIVIDE_H

#include <stdbool.h>
#include <stdint.h>

/* A way to compute floor(t / area) for every t that can be a sum of `area` samples plus area/2. */
struct box_divider {
    enum {
        BOX_DIVIDE_SHORT,   /* (t · multiplier) >> (16 + drop); sums of 16 bits */
        BOX_DIVIDE_HIGH,    /* (t · multiplier) >> (32 + drop) */
        BOX_DIVIDE_CORRECT, /* trunc((float)t · factor), or one more, as the remainder tells */
        BOX_DIVIDE_REST, /* for a sum that changes from row to row: quotient and rest, in 16 bits,
                            change with it */
    } kind;
    unsigned sum_bits; /* bits that hold every t: 16, 32 or 64 */
    uint32_t area, multiplier;
    int drop; /* further bits of the product that are left out */
    float factor;
    uint32_t raised; /* for REST: areas that are added before the division */
    bool saturates;  /* numerators may exceed 16 bits */
};

/* The cheapest way for samples of 8 or 16 bits; and the one that works for every area. */
struct box_divider box_divider_choose(unsigned sample_bits, uint32_t area);
struct box_divider box_divider_general(unsigned sample_bits, uint32_t area);

/* The cheapest way if the sums of windows of width × height samples are updated from row to row. */
struct box_divider box_divider_following(unsigned sample_bits, uint32_t width, uint32_t height);

/* A multiplier of 32 bits by which the quotient of every t is (t · multiplier) >> shift; false:
 * there is none. And that of 8-bit samples by which it is the last byte of a 32-bit product. */
bool box_divide_by(unsigned sample_bits, uint32_t area, unsigned shift, uint32_t *multiplier);
bool box_divide_by_byte(uint32_t area, uint32_t *multiplier);

#endif
