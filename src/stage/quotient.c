#include "stage/quotient.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_signed(enum sample_type type)
{
    return sample_min(type) < 0;
}

bool quotient_plan(struct quotient *quotient, wide_int least, wide_int most, wide_int constant,
                   uint64_t divisor, enum sample_type in, enum sample_type out)
{
    wide_int d = divisor, min = (wide_int)sample_min(out), max = (wide_int)sample_max(out);
    least += constant;
    most += constant;
    wide_int zero = least < 0 ? (-least + d - 1) / d : 0;
    if (zero < -min) /* the least result is not negative either */
        zero = -min;
    zero += zero % 2;
    wide_int top = most + zero * d + d / 2;
    if (top > UINT64_MAX || max + zero > INT64_MAX)
        return false;
    /* Products of 16-bit samples would not stay within C's int. */
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
    };
    return true;
}

static uint64_t all_ones(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

void quotient_define(const struct quotient *quotient, char *lines, size_t size)
{
    const struct quotient *q = quotient;
    const char *num = q->bits == 16 ? "ushort" : q->bits == 32 ? "uint" : "ulong";
    const char *value = is_signed(q->out) ? num + 1 : num; /* short, int, long */
    const char *suffix = q->bits == 64 ? "UL" : "u";
    char limit[128] = "(q)";
    uint64_t low = q->zero + (uint64_t)(int64_t)sample_min(q->out);
    uint64_t high = q->zero + (uint64_t)(int64_t)sample_max(q->out);
    if (high > all_ones(q->bits))
        high = all_ones(q->bits);
    if (q->limited)
        snprintf(limit, sizeof limit, "clamp(q, (NUM)%" PRIu64 "%s, (NUM)%" PRIu64 "%s)", low,
                 suffix, high, suffix);
    snprintf(lines, size,
             "NUM %s\nNUM_BITS %u\nVALUE %s\nDIVISOR %" PRIu64 "%s\nZERO %" PRIu64
             "%s\nOFFSET %" PRIu64 "%s\nLIMIT(q) %s\nWIDEN(v) %s\n",
             num, q->bits, value, q->divisor, suffix, q->zero, suffix,
             q->offset & all_ones(q->bits), suffix, limit,
             is_signed(q->in) ? q->bits == 16   ? "CAT(as_ushort, LANES)(CONVERT(short, v))"
                                : q->bits == 32 ? "CAT(as_uint, LANES)(CONVERT(int, v))"
                                                : "CAT(as_ulong, LANES)(CONVERT(long, v))"
                              : "CONVERT(NUM, v)");
}
