/* sat(rne(v)): converts a float to a type of samples, rounded to nearest with ties to even, and clamped; NaN gives
 * the least value. SATURATE is for one sample, WIDE_SATURATE for LANES, of types of at most 16 bits and float.
 * RNE rounds numbers of at most 2^22: the sum with 1.5 * 2^23 has no bits for a fraction. rint() does the same,
 * but PoCL 3.1 calls a library function for each lane. */
#define RNE(v)             (((v) + 12582912.0f) - 12582912.0f)
#define RANGE_uchar(v)     fmin(fmax(v, 0.0f), 255.0f)
#define RANGE_char(v)      fmin(fmax(v, -128.0f), 127.0f)
#define RANGE_ushort(v)    fmin(fmax(v, 0.0f), 65535.0f)
#define RANGE_short(v)     fmin(fmax(v, -32768.0f), 32767.0f)
#define SATURATE_uchar(v)  ((uchar)(int)RNE(RANGE_uchar(v)))
#define SATURATE_char(v)   ((char)(int)RNE(RANGE_char(v)))
#define SATURATE_ushort(v) ((ushort)(int)RNE(RANGE_ushort(v)))
#define SATURATE_short(v)  ((short)(int)RNE(RANGE_short(v)))
#define SATURATE_int(v)    saturate_int(v)
#define SATURATE_float(v)  (v)
#define SATURATE(type, v)  CAT(SATURATE_, type)(v)
#define WIDE_uchar(v)      CONVERT(uchar, CONVERT(int, RNE(RANGE_uchar(v))))
#define WIDE_char(v)       CONVERT(char, CONVERT(int, RNE(RANGE_char(v))))
#define WIDE_ushort(v)     CONVERT(ushort, CONVERT(int, RNE(RANGE_ushort(v))))
#define WIDE_short(v)      CONVERT(short, CONVERT(int, RNE(RANGE_short(v))))
#define WIDE_float(v)      (v)
#define WIDE_SATURATE(type, v) CAT(WIDE_, type)(v)

inline int saturate_int(float v)
{
    float r = rint(v); /* 2^31 is a float, 2^31 - 1 is not */
    return r >= 2147483648.0f ? 2147483647 : r > -2147483648.0f ? (int)r : (int)(-2147483647 - 1);
}

/* The same conversion from the type `work` of a sum: int, float or double. */
#define SATURATE_FROM(work, type, v) CAT(SATURATE_FROM_, work)(type, v)
#define SATURATE_FROM_int(type, v)    CAT3(convert_, type, _sat)(v)
#define SATURATE_FROM_float(type, v)  SATURATE(type, v)
#define SATURATE_FROM_double(type, v) CAT(DOUBLE_TO_, type)(v)
#define DOUBLE_TO_uchar(v)  convert_uchar_sat_rte(v)
#define DOUBLE_TO_char(v)   convert_char_sat_rte(v)
#define DOUBLE_TO_ushort(v) convert_ushort_sat_rte(v)
#define DOUBLE_TO_short(v)  convert_short_sat_rte(v)
#define DOUBLE_TO_int(v)    convert_int_sat_rte(v)
#define DOUBLE_TO_float(v)  ((float)(v))
#define DOUBLE_TO_double(v) (v)
