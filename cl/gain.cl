/* gain: v * gain + offset. The kernel f32 rounds twice, words of bytes once, and has integers where either is exact; the
 * others compute integers exactly (src/stage/gain.c), from N = FACTOR * v, where INPUT clamps v so that N fits; in the kernel
 * `generic` the numbers are arguments. */
#include <quotient.cl>
#include <round.cl>
#include <in_words.cl>
#include <words.cl>
#pragma kernel f32
inline V(DST) FN(gain_pixel)(V(SRC) v, float gain, float offset)
{
#pragma form WORDS
    /* Conversions between bytes and floats only take permutations and additions (cl/prelude/words.cl). The limit of 255
     * comes last, where its constant stands beside ROUNDER in Mali's instructions. */
#define SCALED(w, k)   as_uint(fmin(fmax(fma(byte_as_float(w, k), gain, offset), 0.0f) + ROUNDER, ROUNDER + 255.0f))
#define SCALED_WORD(i) last_bytes(SCALED(w.s##i, 0), SCALED(w.s##i, 1), SCALED(w.s##i, 2), SCALED(w.s##i, 3))
    CAT(uint, IN_WORDS) w = AS_WORDS(v);
    return EACH_WORD(SCALED_WORD);
#pragma form SAMPLES
    return WIDE_SATURATE(DST, CONVERT(float, v) * gain + offset);
#pragma form
}
#pragma kernel generic
inline V(DST) FN(gain_pixel)(V(SRC) v, long factor, int first, int last, QUOTIENT_PARAMETERS)
{
    v = clamp(v, (V(SRC))((SRC)first), (V(SRC))((SRC)last));
    return EXACT_RESULT_BY((NUM)factor * WIDEN(v));
}
#pragma kernel unnamed
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
