/* invert: max - v, where negative v give max itself; f32: 1 - v. */
inline V(DST) FN(invert_pixel)(V(SRC) v)
{
#if defined(IN_WORDS)
    return AS_BYTES(~AS_WORDS(v));
#elif defined(SRC_IS_float)
    return 1.0f - v;
#elif defined(SRC_IS_uchar) || defined(SRC_IS_ushort)
    return (SRC)SRC_MAX - v;
#else
    return (SRC)SRC_MAX - max(v, (V(SRC))(SRC)0);
#endif
}
