/* Conversions of a double, given as its bits, for devices without fp64. float_of_f64: to f32, to nearest with ties
 * to even. saturate_f64: sat(rne(v)) for an integer type with the range low…high; NaN gives the least value. IEEE
 * 754: sign, 11 bits of exponent, 52 of fraction. */
inline float float_of_f64(ulong bits)
{
    uint sign = (uint)(bits >> 63) << 31;
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    ulong fraction = bits & 0xfffffffffffffUL;
    if (exponent == 1024)
        return as_float(sign | 0x7f800000u | (fraction ? 0x400000u : 0u));
    if (exponent > 127)
        return as_float(sign | 0x7f800000u);
    if (exponent < -150)
        return as_float(sign);
    ulong significand = fraction | 0x10000000000000UL;
    int drop = exponent < -126 ? 29 - 126 - exponent : 29; /* subnormals keep fewer bits */
    uint kept = (uint)(significand >> drop);
    ulong rest = significand & ((1UL << drop) - 1), half_way = 1UL << (drop - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1u));
    uint biased = exponent < -126 ? 0u : (uint)(exponent + 126) << 23; /* kept has bit 23 */
    return as_float(sign | (biased + kept));
}

inline int saturate_f64(ulong bits, int low, int high)
{
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    ulong fraction = bits & 0xfffffffffffffUL;
    bool negative = (bits >> 63) != 0;
    if (exponent == 1024 && fraction)
        return low;
    if (exponent > 31)
        return negative ? low : high;
    if (exponent < -1)
        return clamp(0, low, high);
    ulong significand = fraction | 0x10000000000000UL;
    int drop = 52 - exponent;
    ulong kept = significand >> drop, rest = significand & ((1UL << drop) - 1);
    ulong half_way = 1UL << (drop - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1UL));
    long v = negative ? -(long)kept : (long)kept;
    return (int)clamp(v, (long)low, (long)high);
}

/* The f32 that is nearest to 0 of the two around the number, with its last bit set if it is another number: rounded once
 * more to fewer bits, to nearest, it is what the number rounds to. Below 2^-126 it is 0. */
inline float odd_float_of_f64(ulong bits)
{
    uint sign = (uint)(bits >> 63) << 31;
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    ulong fraction = bits & 0xfffffffffffffUL;
    if (exponent > 127)
        return as_float(sign | 0x7f800000u | (exponent == 1024 && fraction ? 0x400000u : 0u));
    if (exponent < -126)
        return as_float(sign);
    uint kept = (uint)(fraction >> 29) | ((fraction & 0x1fffffffUL) != 0 ? 1u : 0u);
    return as_float(sign | (uint)(exponent + 127) << 23 | kept);
}
