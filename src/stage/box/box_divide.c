/* Division by multiplication. With a shift of k bits and the multiplier m = ceil(2^k / area), which
 * is too large by e = m · area − 2^k, t · m / 2^k equals t / area + t · e / (area · 2^k). The
 * floors of both are equal as long as the second term is below 1 / area, that is t · e < 2^k
 * (Granlund and Montgomery, Division by invariant integers using multiplication, 1994). */
#include "stage/box/box_divide.h"

static uint64_t largest_sum(unsigned sample_bits, uint32_t area)
{
    return ((UINT64_C(1) << sample_bits) - 1) * area + area / 2;
}

/* ceil(2^shift / area), and whether it has 32 bits and is exact for all sums up to `largest`. */
static bool multiplier_of(uint32_t area, unsigned shift, uint64_t largest, uint32_t *multiplier)
{
    uint64_t power = UINT64_C(1) << shift, m = (power + area - 1) / area;
    *multiplier = (uint32_t)m;
    return m <= UINT32_MAX && (unsigned __int128)(m * area - power) * largest < power;
}

bool box_divide_by(unsigned sample_bits, uint32_t area, unsigned shift, uint32_t *multiplier)
{
    return multiplier_of(area, shift, largest_sum(sample_bits, area), multiplier);
}

/* The multiplier of `bits` bits with the largest shift that is exact for all sums up to `largest`.
 */
static bool find_multiplier(struct box_divider *divider, unsigned bits, uint64_t largest)
{
    for (int shift = (int)bits - 1; shift >= 0; shift--) {
        divider->drop = shift;
        if (multiplier_of(divider->area, bits + (unsigned)shift, largest, &divider->multiplier) &&
            (uint64_t)divider->multiplier >> bits == 0)
            return true;
    }
    return false;
}

/* The estimate's three roundings are off by at most 3 · 2^-24 of a quotient below 2^16; for sums of
 * 64 bits the estimate also leaves out the last 8 bits, 2^8 / area < 2^-8 of the quotient. A factor
 * that is 2^-21 too small is more than the former, so the estimate is right or one too small. */
struct box_divider box_divider_general(unsigned sample_bits, uint32_t area)
{
    unsigned sum_bits = largest_sum(sample_bits, area) >> 32 ? 64 : 32;
    double factor = (sum_bits == 64 ? 256.0 : 1.0) / area * (1 - 0x1p-21);
    return (struct box_divider){
        .kind = BOX_DIVIDE_CORRECT, .sum_bits = sum_bits, .area = area, .factor = (float)factor};
}

struct box_divider box_divider_choose(unsigned sample_bits, uint32_t area)
{
    struct box_divider d = box_divider_general(sample_bits, area);
    uint64_t largest = largest_sum(sample_bits, area);
    if (largest >> 16 == 0 && find_multiplier(&d, 16, largest)) {
        d.kind = BOX_DIVIDE_SHORT;
        d.sum_bits = 16;
    } else if (largest >> 32 == 0 && find_multiplier(&d, 32, largest)) {
        d.kind = BOX_DIVIDE_HIGH;
    }
    return d;
}

/* With t = q · area + r a sum that changes by at most c = 255 · width, and n = r + change + raised
 * · area, raised = ceil(255 / height) so that n >= 0, q changes by floor(n / area) − raised, and n
 * mod area is left. n may lie beyond 16 bits, as long as 2^16 − 1 in its place has the same
 * quotient: what is left is exact modulo 2^16. */
struct box_divider box_divider_following(unsigned sample_bits, uint32_t width, uint32_t height)
{
    uint64_t area = (uint64_t)width * height, raised = (255 + height - 1) / height;
    uint64_t least = raised * area + 255 * (uint64_t)width, largest = least + area - 1;
    struct box_divider chosen = box_divider_choose(sample_bits, (uint32_t)area), d = chosen;
    d.saturates = largest > UINT16_MAX;
    if (chosen.kind == BOX_DIVIDE_SHORT || sample_bits != 8 || least > UINT16_MAX ||
        (d.saturates && largest / area != UINT16_MAX / area) ||
        !find_multiplier(&d, 16, d.saturates ? UINT16_MAX : largest))
        return chosen;
    d.kind = BOX_DIVIDE_REST;
    d.sum_bits = 16;
    d.raised = (uint32_t)raised;
    return d;
}

bool box_divide_by_byte(uint32_t area, uint32_t *multiplier)
{
    return box_divide_by(8, area, 24, multiplier) && largest_sum(8, area) * *multiplier >> 32 == 0;
}
