/* threshold: v >= t ? high : low. Floats come as the bits of an int, as cl/otsu.cl leaves them. */
#ifdef SRC_IS_float
#define AS_SAMPLE(i) as_float(i)
#else
#define AS_SAMPLE(i) ((SRC)(i))
#endif

inline V(DST) FN(threshold_pixel)(V(SRC) v, int t, int low, int high)
{
    V(SRC) below = AS_SAMPLE(low), above = AS_SAMPLE(high);
    return v >= AS_SAMPLE(t) ? above : below;
}
