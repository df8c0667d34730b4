/* abs: of the least integer, which has no positive counterpart, the largest. f64 comes as its bits. */
inline V(DST) FN(abs_pixel)(V(SRC) v)
{
#if defined(SRC_IS_double)
    return v & 0x7fffffffffffffffUL;
#elif defined(SRC_IS_float)
    return fabs(v);
#elif defined(SRC_IS_uchar) || defined(SRC_IS_ushort)
    return v; /* needed only in frames with other planes that change */
#else
    V(SRC) bounded = max(v, (V(SRC))(SRC)-SRC_MAX);
    V(SRC) negated = -bounded;
    return max(bounded, negated);
#endif
}
