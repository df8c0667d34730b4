/* Conversions of f16 (IEEE 754: sign, 5 bits of exponent with 15 added, 10 of fraction), given as its bits, for devices
 * without fp16; defined where they are used, for its LANES. f32 has 8 bits of exponent with 127 added, 23 of fraction.
 *
 * float_of_half is exact. half_of_float rounds to nearest, with ties to even: below 2^-14, f16 is whole 2^-24ths, to which
 * the sum with 1/2 rounds; otherwise half of what is dropped is added, less one bit unless what is kept is odd, and a carry
 * goes into the exponent. NaN becomes 0x7e00. */
#define DEFINE_FLOAT_OF_HALF                                                                       \
    inline V(float) FN(float_of_half)(V(ushort) half_bits)                                         \
    {                                                                                              \
        V(uint) bits = CONVERT(uint, half_bits), size = bits & 0x7fffu, wide = size << 13;         \
        V(uint) small = CAT(as_uint, LANES)(CONVERT(float, size) * 5.9604644775390625e-8f);        \
        V(uint) result = size < (V(uint))0x400u ? small : wide + 0x38000000u;                      \
        result = size < (V(uint))0x7c00u ? result : wide | 0x7f800000u;                            \
        return CAT(as_float, LANES)(result | (bits & 0x8000u) << 16);                              \
    }
#define DEFINE_HALF_OF_FLOAT                                                                       \
    inline V(ushort) FN(half_of_float)(V(float) v)                                                 \
    {                                                                                              \
        V(uint) bits = CAT(as_uint, LANES)(v), size = bits & 0x7fffffffu;                          \
        V(uint) small = CAT(as_uint, LANES)(CAT(as_float, LANES)(size) + 0.5f) - 0x3f000000u;      \
        V(uint) result = (size + (size >> 13 & 1u) + 0xfffu - 0x38000000u) >> 13;                  \
        result = size < (V(uint))0x38800000u ? small : result;                                     \
        result = size < (V(uint))0x47800000u ? result : (V(uint))0x7c00u;                          \
        result = size > (V(uint))0x7f800000u ? (V(uint))0x7e00u : result;                          \
        return CONVERT(ushort, result | (bits >> 16 & 0x8000u));                                   \
    }
