/* How cl/box.cl and its siblings divide sums by the window's area. */
#ifndef SLUICE_STAGE_BOX_DIVIDE_H
#define SLUICE_STAGE_BOX_DIVIDE_H

#include <stdint.h>

/* floor(t / area) for every t that a sum of `area` samples plus area/2 can be. */
struct box_divider {
    enum {
        BOX_DIVIDE_SHORT,   /* (t · multiplier) >> (16 + shift); sums of 16 bits */
        BOX_DIVIDE_HIGH,    /* (t · multiplier) >> (32 + shift) */
        BOX_DIVIDE_CORRECT, /* trunc((float)t · factor), or one more as the remainder says */
    } kind;
    unsigned sum_bits; /* that hold every t: 16, 32 or 64 */
    uint32_t area, multiplier;
    int shift;
    float factor;
};

/* The cheapest way for samples of 8 or 16 bits, and the one that is good for every area. */
struct box_divider box_divider_choose(unsigned sample_bits, uint32_t area);
struct box_divider box_divider_general(unsigned sample_bits, uint32_t area);

/* "DIVIDE_SHORT": what the kernels call the kind. */
const char *box_divider_name(const struct box_divider *divider);

#endif
