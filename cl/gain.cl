/* gain: v * gain + offset. In f32 with two roundings; for integers exactly (src/stage/gain.c), from N = FACTOR * v,
 * where INPUT clamps v so that N fits. With GENERIC the numbers are arguments. */
#include <quotient.cl>
#include <round.cl>
#include <in_words.cl>
#include <words.cl>
#if defined(IN_WORDS) && defined(GAIN)
/* Bytes: f32 gives exact results, too, and conversions between bytes and floats only take permutations and
 * additions (cl/prelude.cl). */
#define SCALED(k)                                                                                  \
    as_uint(fmin(fmax(byte_as_float(w, k) * gain + offset, 0.0f), 255.0f) + 12582912.0f)
inline uint FN(scaled_word)(uint w, float gain, float offset)
{
    return last_bytes(SCALED(0), SCALED(1), SCALED(2), SCALED(3));
}

inline V(DST) FN(gain_pixel)(V(SRC) v GAIN_PARAMETERS)
{
    CAT(uint, IN_WORDS) w = AS_WORDS(v);
    w.s0 = FN(scaled_word)(w.s0, GAIN, ADDED);
    w.s1 = FN(scaled_word)(w.s1, GAIN, ADDED);
#if IN_WORDS == 4
    w.s2 = FN(scaled_word)(w.s2, GAIN, ADDED);
    w.s3 = FN(scaled_word)(w.s3, GAIN, ADDED);
#endif
    return AS_BYTES(w);
}
#elif defined(IN_F32)
inline V(DST) FN(gain_pixel)(V(SRC) v, float gain, float offset)
{
    return WIDE_SATURATE(DST, CONVERT(float, v) * gain + offset);
}
#elif defined(GENERIC)
inline V(DST) FN(gain_pixel)(V(SRC) v, long factor, int first, int last, QUOTIENT_PARAMETERS)
{
    v = clamp(v, (V(SRC))((SRC)first), (V(SRC))((SRC)last));
    return EXACT_RESULT_BY((NUM)factor * WIDEN(v));
}
#else
inline V(DST) FN(gain_pixel)(V(SRC) v)
{
    v = INPUT(v);
#if NUM_BITS == 16 && !(LANES + 0) /* C multiplies shorts as ints: convert the sum back */
    NUM n = (NUM)((int)FACTOR * v + (int)OFFSET);
#else
    V(NUM) n = (NUM)FACTOR * WIDEN(v) + (NUM)OFFSET;
#endif
    return EXACT_RESULT(n);
}
#endif
