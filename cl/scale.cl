/* scale: v * gain + offset, with two roundings, in f32; for integers exactly (src/stage/scale.c), from
 * N = FACTOR * v, where INPUT limits v so that N fits; GENERIC, by arguments. */
#ifdef IN_F32
inline V(DST) FN(scale_pixel)(V(SRC) v, float gain, float offset)
{
    return WIDE_SATURATE(DST, CONVERT(float, v) * gain + offset);
}
#elif defined(GENERIC)
inline V(DST) FN(scale_pixel)(V(SRC) v, long factor, int first, int last, QUOTIENT_PARAMETERS)
{
    v = clamp(v, (V(SRC))((SRC)first), (V(SRC))((SRC)last));
    return EXACT_RESULT_BY((NUM)factor * WIDEN(v));
}
#else
inline V(DST) FN(scale_pixel)(V(SRC) v)
{
    v = INPUT(v);
#if NUM_BITS == 16 && !(LANES + 0) /* C multiplies shorts as ints, which the sum fits */
    NUM n = (NUM)((int)FACTOR * v + (int)OFFSET);
#else
    V(NUM) n = (NUM)FACTOR * WIDEN(v) + (NUM)OFFSET;
#endif
    return EXACT_RESULT(n);
}
#endif
