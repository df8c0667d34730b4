#include "stage/quotient.h"

#include <inttypes.h>

bool quotient_plan(struct quotient *quotient, wide_int least, wide_int most, wide_int constant,
                   uint64_t divisor, enum sample_type in, enum sample_type out)
{
    wide_int d = divisor, min = (wide_int)sample_min(out), max = (wide_int)sample_max(out);
    least += constant;
    most += constant;
    wide_int zero = least < 0 ? (-least + d - 1) / d : 0;
    if (zero < -min) /* then the least result is not negative either */
        zero = -min;
    zero += zero % 2;
    wide_int top = most + zero * d + d / 2;
    if (top > UINT64_MAX || max + zero > INT64_MAX)
        return false;
    /* Products of 16-bit samples would overflow C's int. */
    bool fits_16 = top <= UINT16_MAX && sample_size(in) == 1;
    *quotient = (struct quotient){
        .in = in,
        .out = out,
        .bits = fits_16             ? 16
                : top <= UINT32_MAX ? 32
                                    : 64,
        .divisor = divisor,
        .zero = (uint64_t)zero,
        .offset = (uint64_t)(constant + zero * d),
        .limited = least < min * d || most > max * d,
        .top = (uint64_t)top,
    };
    return true;
}

static uint64_t all_ones(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* The range to which EXACT_RESULT limits quotients. */
static void limits(const struct quotient *q, uint64_t *low, uint64_t *high)
{
    *low = q->zero + (uint64_t)(int64_t)sample_min(q->out);
    *high = q->zero + (uint64_t)(int64_t)sample_max(q->out);
    if (*high > all_ones(q->bits))
        *high = all_ones(q->bits);
}

void quotient_define(const struct quotient *quotient, struct pass *pass, bool generic)
{
    const struct quotient *q = quotient;
    const char *suffix = q->bits == 64 ? "UL" : "u";
    uint64_t low, high;
    limits(q, &low, &high);
    if (generic)
        pass_define(pass, "GENERIC", "1");
    const char *num = q->bits == 16   ? "ushort"
                      : q->bits == 32 ? "uint"
                                      : "ulong",
               *with_sign = num + 1;
    pass_define(pass, "NUM", "%s", num);
    pass_define(pass, "NUM_BITS", "%u", q->bits);
    pass_define(pass, "VALUE", "%s", sample_min(q->out) < 0 ? with_sign : num);
    if (!generic) {
        pass_define(pass, "DIVISOR", "%" PRIu64 "%s", q->divisor, suffix);
        pass_define(pass, "ZERO", "%" PRIu64 "%s", q->zero, suffix);
        pass_define(pass, "OFFSET", "%" PRIu64 "%s", q->offset & all_ones(q->bits), suffix);
        if (q->limited)
            pass_define(pass, "LIMIT(q)",
                        "clamp(q, (V(NUM))(NUM)%" PRIu64 "%s, (V(NUM))(NUM)%" PRIu64 "%s)", low,
                        suffix, high, suffix);
        else
            pass_define(pass, "LIMIT(q)", "(q)");
    }
    if (sample_min(q->in) >= 0)
        pass_define(pass, "WIDEN(v)", "CONVERT(NUM, v)");
    else
        pass_define(pass, "WIDEN(v)", "CAT(as_%s, LANES)(CONVERT(%s, v))", num, with_sign);
    pass_define(pass, "EXACT_OF(n)",
                generic ? "EXACT_RESULT_BY(n)" : "EXACT_RESULT((n) + (NUM)OFFSET)");
}

bool quotient_make_generic(struct quotient *quotient, unsigned least)
{
    if (quotient->bits == 16 && quotient->divisor > UINT16_MAX)
        quotient->bits = 32;
    if (quotient->bits == 32 && quotient->top > INT32_MAX)
        quotient->bits = 64;
    if (quotient->bits < least)
        quotient->bits = least;
    return quotient->top <= INT64_MAX;
}

/* floor(n / d) for n < 2^(b-1), b = 32 or 64, is (n * m) >> (b - 1 + s) with s = ceil(log2 d) and
 * m = ceil(2^(b - 1 + s) / d), which is below 2^b: m * d exceeds 2^(b - 1 + s) by less than d <=
 * 2^s, so that n * m / 2^(b - 1 + s) exceeds n / d by less than 1/d (T. Granlund, P. Montgomery,
 * Division by invariant integers using multiplication, 1994, section 4). For b = 16 and any
 * n < 2^16 it is (h + ((n - h) >> min(s, 1))) >> max(s - 1, 0), where h is the upper half of
 * n * m and m = floor(2^16 * (2^s - d) / d) + 1 (there, figure 4.1). */
void quotient_numbers(const struct quotient *quotient, uint64_t numbers[QUOTIENT_NUMBERS])
{
    const struct quotient *q = quotient;
    unsigned shift = 0;
    while (shift < 63 && UINT64_C(1) << shift < q->divisor)
        shift++;
    unsigned __int128 power = (unsigned __int128)1 << (q->bits - 1 + shift);
    uint64_t rest = ((UINT64_C(1) << shift) - q->divisor) << 16; /* for 16 bits: d <= 2^16 */
    numbers[0] = q->offset & all_ones(q->bits);
    numbers[1] = q->divisor;
    numbers[2] =
        q->bits == 16 ? rest / q->divisor + 1 : (uint64_t)((power + q->divisor - 1) / q->divisor);
    numbers[3] = shift;
    numbers[4] = q->zero;
    limits(q, &numbers[5], &numbers[6]);
}
