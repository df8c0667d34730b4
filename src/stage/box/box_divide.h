/* How cl/box/box.cl and its siblings divide sums by the window's area. */
#ifndef SLUICE_STAGE_BOX_DIVIDE_H
#define SLUICE_STAGE_BOX_DIVIDE_H

#include <stdbool.h>
#include <stdint.h>

/* floor(t / area) for every t that a sum of `area` samples plus area/2 can be. */
struct box_divider {
    enum {
        BOX_DIVIDE_SHORT,   /* (t · multiplier) >> (16 + shift); sums of 16 bits */
        BOX_DIVIDE_HIGH,    /* (t · multiplier) >> (32 + shift) */
        BOX_DIVIDE_CORRECT, /* trunc((float)t · factor), or one more as the remainder says */
        BOX_DIVIDE_REST, /* of a sum that changes: the quotient and the rest, of 16 bits, change */
    } kind;
    unsigned sum_bits; /* that hold every t: 16, 32 or 64 */
    uint32_t area, multiplier;
    int shift;
    float factor;
    uint32_t raised; /* of REST: areas that are added before the division */
    bool saturates;  /* its numerators may lie beyond 16 bits */
};

/* The cheapest way for samples of 8 or 16 bits, and the one that is good for every area. */
struct box_divider box_divider_choose(unsigned sample_bits, uint32_t area);
struct box_divider box_divider_general(unsigned sample_bits, uint32_t area);

/* The cheapest way where the sums of windows of width × height samples are followed from row to
 * row. */
struct box_divider box_divider_following(unsigned sample_bits, uint32_t width, uint32_t height);

/* A multiplier that leaves the quotient of every t for 8-bit samples in the last byte of a 32-bit
 * product; false where there is none. */
bool box_divide_by_byte(uint32_t area, uint32_t *multiplier);

/* "DIVIDE_SHORT": what the kernels call the kind. */
const char *box_divider_name(const struct box_divider *divider);

#endif
