/* sat(rne(v)): converts a float to a type of samples, rounded to nearest with ties to even, and clamped; NaN gives
 * the least value. SATURATE is for one sample, WIDE_SATURATE for LANES, of types of at most 16 bits and float.
 * RNE rounds numbers of at most 2^22: the sum with 1.5 * 2^23 has no bits for a fraction. rint() does the same,
 * but PoCL 3.1 calls a library function for each lane. */
#define RNE(v) (((v) + 12582912.0f) - 12582912.0f)
#define LEAST_uchar  0.0f
#define MOST_uchar   255.0f
#define LEAST_char   -128.0f
#define MOST_char    127.0f
#define LEAST_ushort 0.0f
#define MOST_ushort  65535.0f
#define LEAST_short  -32768.0f
#define MOST_short   32767.0f
#define IN_RANGE(type, v) fmin(fmax(v, CAT(LEAST_, type)), CAT(MOST_, type))

inline int saturate_int(float v)
{
    float r = rint(v); /* 2^31 is a float, 2^31 - 1 is not */
    return r >= 2147483648.0f ? 2147483647 : r > -2147483648.0f ? (int)r : (int)(-2147483647 - 1);
}

/* KIND: what is to be done for a type. */
#define KIND_uchar  BY_RANGE
#define KIND_char   BY_RANGE
#define KIND_ushort BY_RANGE
#define KIND_short  BY_RANGE
#define KIND_int    BY_RINT
#define KIND_float  AS_IT_IS
#define KIND_double AS_IT_IS
#define SATURATE(type, v) CAT(SATURATE_, CAT(KIND_, type))(type, v)
#define SATURATE_BY_RANGE(type, v) ((type)(int)RNE(IN_RANGE(type, v)))
#define SATURATE_BY_RINT(type, v) saturate_int(v)
#define SATURATE_AS_IT_IS(type, v) (v)
#define WIDE_SATURATE(type, v) CAT(WIDE_SATURATE_, CAT(KIND_, type))(type, v)
#define WIDE_SATURATE_BY_RANGE(type, v) CONVERT(type, CONVERT(int, RNE(IN_RANGE(type, v))))
#define WIDE_SATURATE_AS_IT_IS(type, v) (v)

/* The same conversion from the type `work` of a sum: int, float or double. */
#define SATURATE_FROM(work, type, v) CAT(SATURATE_FROM_, work)(type, v)
#define SATURATE_FROM_int(type, v) CAT3(convert_, type, _sat)(v)
#define SATURATE_FROM_float(type, v) SATURATE(type, v)
#define SATURATE_FROM_double(type, v) CAT(FROM_DOUBLE_, CAT(KIND_, type))(type, v)
#define FROM_DOUBLE_BY_RANGE(type, v) CAT3(convert_, type, _sat_rte)(v)
#define FROM_DOUBLE_BY_RINT(type, v) convert_int_sat_rte(v)
#define FROM_DOUBLE_AS_IT_IS(type, v) ((type)(v))
