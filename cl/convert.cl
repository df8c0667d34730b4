/* convert: sat(rne(v)) for integers, the nearest f32 else. f64 comes as its bits, one sample at a
 * time. */
inline V(DST) FN(convert_pixel)(V(SRC) v)
{
#if defined(SRC_IS_double) && defined(DST_IS_float)
    return float_of_f64(v);
#elif defined(SRC_IS_double)
    return (DST)saturate_f64(v, 0, DST_MAX);
#elif defined(DST_IS_float)
    return CONVERT(float, v);
#elif defined(SRC_IS_float)
    return WIDE_SATURATE(DST, v);
#else
    return CONVERT(DST, clamp(v, (V(SRC))(SRC)0, (V(SRC))(SRC)HIGHEST));
#endif
}
