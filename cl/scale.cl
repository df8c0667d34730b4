/* scale: v * gain + offset, with two roundings, in f32; for integers exactly (src/stage/scale.c), from
 * N = FACTOR * v, where INPUT limits v so that N fits. */
#ifdef IN_F32
inline V(DST) FN(scale_pixel)(V(SRC) v, float gain, float offset)
{
    return WIDE_SATURATE(DST, CONVERT(float, v) * gain + offset);
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
