/* abs: of the least integer, which has no positive counterpart, the largest. f64 comes as its bits; the samples of
 * unsigned types are needed only in frames with other planes that change. */
#define BOUNDED    max(v, (V(SRC))(SRC)-SRC_MAX)
#define ABS_char   max(BOUNDED, (V(SRC))(-BOUNDED))
#define ABS_short  ABS_char
#define ABS_int    ABS_char
#define ABS_uchar  v
#define ABS_ushort v
#define ABS_float  fabs(v)
#define ABS_ulong  (v & 0x7fffffffffffffffUL)

inline V(DST) FN(abs_pixel)(V(SRC) v)
{
    return CAT3(ABS_, SRC, );
}
