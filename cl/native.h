/* OpenCL C's types and built-in functions, as far as kernels in rows form use them, for compiling kernels as
 * functions of sluice itself: Clang does so with -x cl, but has no OpenCL library. This text stands in front of
 * cl/prelude.cl. A kernel that uses a built-in function that is missing here does not compile.
 *
 * A kernel becomes a function that its native_function calls, which loops over rows and work-items and is written by
 * src/kernels/make_kernels.c. NATIVE tells kernels that they are compiled so. */
#define NATIVE

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;

/* A kernel's argument: union native_arg of src/device/native/kernels.h. */
typedef union {
    int i;
    uint u;
    float f;
    long l;
    double d;
    __global void *p;
} native_arg;

#define INT_MAX  2147483647
#define INT_MIN  (-2147483647 - 1)
#define INFINITY __builtin_inff()

#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)));
#define VECTORS(type)   VECTOR(type, 2) VECTOR(type, 3) VECTOR(type, 4) VECTOR(type, 8) VECTOR(type, 16)
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint)
VECTORS(long) VECTORS(ulong) VECTORS(float) VECTORS(double)

#define convert_char(v)      ((char)(v))
#define convert_uchar(v)     ((uchar)(v))
#define convert_short(v)     ((short)(v))
#define convert_ushort(v)    ((ushort)(v))
#define convert_int(v)       ((int)(v))
#define convert_uint(v)      ((uint)(v))
#define convert_long(v)      ((long)(v))
#define convert_ulong(v)     ((ulong)(v))
#define convert_float(v)     ((float)(v))
#define convert_double(v)    ((double)(v))
#define convert_char4(v)     __builtin_convertvector(v, char4)
#define convert_char8(v)     __builtin_convertvector(v, char8)
#define convert_char16(v)    __builtin_convertvector(v, char16)
#define convert_uchar4(v)    __builtin_convertvector(v, uchar4)
#define convert_uchar8(v)    __builtin_convertvector(v, uchar8)
#define convert_uchar16(v)   __builtin_convertvector(v, uchar16)
#define convert_short4(v)    __builtin_convertvector(v, short4)
#define convert_short8(v)    __builtin_convertvector(v, short8)
#define convert_short16(v)   __builtin_convertvector(v, short16)
#define convert_ushort4(v)   __builtin_convertvector(v, ushort4)
#define convert_ushort8(v)   __builtin_convertvector(v, ushort8)
#define convert_ushort16(v)  __builtin_convertvector(v, ushort16)
#define convert_int4(v)      __builtin_convertvector(v, int4)
#define convert_int8(v)      __builtin_convertvector(v, int8)
#define convert_int16(v)     __builtin_convertvector(v, int16)
#define convert_uint4(v)     __builtin_convertvector(v, uint4)
#define convert_uint8(v)     __builtin_convertvector(v, uint8)
#define convert_uint16(v)    __builtin_convertvector(v, uint16)
#define convert_long4(v)     __builtin_convertvector(v, long4)
#define convert_long8(v)     __builtin_convertvector(v, long8)
#define convert_long16(v)    __builtin_convertvector(v, long16)
#define convert_ulong4(v)    __builtin_convertvector(v, ulong4)
#define convert_ulong8(v)    __builtin_convertvector(v, ulong8)
#define convert_ulong16(v)   __builtin_convertvector(v, ulong16)
#define convert_float4(v)    __builtin_convertvector(v, float4)
#define convert_float8(v)    __builtin_convertvector(v, float8)
#define convert_float16(v)   __builtin_convertvector(v, float16)
#define convert_double4(v)   __builtin_convertvector(v, double4)
#define convert_double8(v)   __builtin_convertvector(v, double8)
#define convert_double16(v)  __builtin_convertvector(v, double16)

#define as_int(v)            __builtin_astype(v, int)
#define as_uint(v)           __builtin_astype(v, uint)
#define as_long(v)           __builtin_astype(v, long)
#define as_ulong(v)          __builtin_astype(v, ulong)
#define as_float(v)          __builtin_astype(v, float)
#define as_double(v)         __builtin_astype(v, double)
#define as_float4(v)         __builtin_astype(v, float4)
#define as_float8(v)         __builtin_astype(v, float8)
#define as_float16(v)        __builtin_astype(v, float16)
#define as_char4(v)          __builtin_astype(v, char4)
#define as_char8(v)          __builtin_astype(v, char8)
#define as_char16(v)         __builtin_astype(v, char16)
#define as_uchar4(v)         __builtin_astype(v, uchar4)
#define as_uchar8(v)         __builtin_astype(v, uchar8)
#define as_uchar16(v)        __builtin_astype(v, uchar16)
#define as_short2(v)         __builtin_astype(v, short2)
#define as_short4(v)         __builtin_astype(v, short4)
#define as_short8(v)         __builtin_astype(v, short8)
#define as_short16(v)        __builtin_astype(v, short16)
#define as_ushort4(v)        __builtin_astype(v, ushort4)
#define as_ushort8(v)        __builtin_astype(v, ushort8)
#define as_ushort16(v)       __builtin_astype(v, ushort16)
#define as_int4(v)           __builtin_astype(v, int4)
#define as_int8(v)           __builtin_astype(v, int8)
#define as_int16(v)          __builtin_astype(v, int16)
#define as_uint4(v)          __builtin_astype(v, uint4)
#define as_uint8(v)          __builtin_astype(v, uint8)
#define as_uint16(v)         __builtin_astype(v, uint16)
#define as_long4(v)          __builtin_astype(v, long4)
#define as_long8(v)          __builtin_astype(v, long8)
#define as_long16(v)         __builtin_astype(v, long16)
#define as_ulong4(v)         __builtin_astype(v, ulong4)
#define as_ulong8(v)         __builtin_astype(v, ulong8)
#define as_ulong16(v)        __builtin_astype(v, ulong16)

/* Built-in functions are overloaded by the types of their arguments. */
#define BUILT_IN static inline __attribute__((overloadable, always_inline))
#define OUT_OF_LINE static __attribute__((noinline))
#define EACH_WHOLE(f)  f(char) f(uchar) f(short) f(ushort) f(int) f(uint) f(long) f(ulong)
#define EACH_WIDTH(f, type) f(type, type##4) f(type, type##8) f(type, type##16)
#define EACH_LANE(T, value)                                                                        \
    T r;                                                                                           \
    _Pragma("clang loop unroll(full)")                                                             \
    for (int k = 0; k < (int)(sizeof(T) / sizeof(r.s0)); k++)                                      \
        r[k] = (value);                                                                            \
    return r

#define ORDER(T)                                                                                   \
    BUILT_IN T min(T a, T b) { return __builtin_elementwise_min(a, b); }                           \
    BUILT_IN T max(T a, T b) { return __builtin_elementwise_max(a, b); }                           \
    BUILT_IN T clamp(T v, T low, T high) { return min(max(v, low), high); }
#define ORDER_WIDE(type, T) ORDER(T)
#define ORDER_ALL(type)     ORDER(type) EACH_WIDTH(ORDER_WIDE, type)
EACH_WHOLE(ORDER_ALL)
ORDER(float)

/* If `a` is NaN the result must be b. Kernels never pass NaN as b. */
#ifdef __aarch64__
#define FLOAT_MIN(a, b) __builtin_elementwise_min(a, b)
#define FLOAT_MAX(a, b) __builtin_elementwise_max(a, b)
#else /* one instruction of SSE */
#define FLOAT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FLOAT_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define FLOATS(T)                                                                                  \
    BUILT_IN T fmin(T a, T b) { return FLOAT_MIN(a, b); }                                          \
    BUILT_IN T fmax(T a, T b) { return FLOAT_MAX(a, b); }                                          \
    BUILT_IN T fabs(T v) { return __builtin_elementwise_abs(v); }
#define FLOATS_WIDE(type, T)                                                                       \
    FLOATS(T)                                                                                      \
    BUILT_IN T fmin(T a, type b) { return fmin(a, (T)b); }                                         \
    BUILT_IN T fmax(T a, type b) { return fmax(a, (T)b); }
FLOATS(float) EACH_WIDTH(FLOATS_WIDE, float)
BUILT_IN double fabs(double v) { return __builtin_fabs(v); }

#define ABSOLUTE(T, U) BUILT_IN U abs(T v) { return __builtin_astype(__builtin_elementwise_abs(v), U); }
ABSOLUTE(int, uint) ABSOLUTE(int4, uint4) ABSOLUTE(int8, uint8) ABSOLUTE(int16, uint16)

#define ROOT(type, T) BUILT_IN T sqrt(T v) { EACH_LANE(T, __builtin_sqrtf(v[k])); }
BUILT_IN float sqrt(float v) { return __builtin_sqrtf(v); }
BUILT_IN double sqrt(double v) { return __builtin_sqrt(v); }
EACH_WIDTH(ROOT, float)
#define POWER(type, T) BUILT_IN T pow(T v, T e) { EACH_LANE(T, __builtin_powf(v[k], e[k])); }
BUILT_IN float pow(float v, float e) { return __builtin_powf(v, e); }
EACH_WIDTH(POWER, float)
BUILT_IN float rint(float v) { return __builtin_rintf(v); }
BUILT_IN double rint(double v) { return __builtin_rint(v); }
BUILT_IN float floor(float v) { return __builtin_floorf(v); }
BUILT_IN double floor(double v) { return __builtin_floor(v); }
BUILT_IN float copysign(float v, float sign) { return __builtin_copysignf(v, sign); }
BUILT_IN double copysign(double v, double sign) { return __builtin_copysign(v, sign); }

/* fma rounds once if the processor has an instruction for that; otherwise it would be a library call for each
 * lane. */
#if defined(__FMA__) || defined(__aarch64__)
BUILT_IN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BUILT_IN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#define FUSED(type, T)                                                                             \
    BUILT_IN T fma(T a, T b, T c)                                                                  \
    {                                                                                              \
        _Pragma("clang fp contract(on)") return a * b + c;                                         \
    }
EACH_WIDTH(FUSED, float) EACH_WIDTH(FUSED, double)
#else
/* The product of two floats is exact as a double. Those of doubles are rounded twice here, which makes no
 * difference to any kernel's result. */
BUILT_IN float fma(float a, float b, float c) { return (float)((double)a * b + c); }
BUILT_IN double fma(double a, double b, double c) { return a * b + c; }
#define BY_DOUBLES(type, T)                                                                        \
    BUILT_IN T fma(T a, T b, T c) { EACH_LANE(T, fma(a[k], b[k], c[k])); }
EACH_WIDTH(BY_DOUBLES, float) EACH_WIDTH(BY_DOUBLES, double)
#endif

BUILT_IN uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
BUILT_IN ulong mul_hi(ulong a, ulong b) { return (ulong)((unsigned __int128)a * b >> 64); }
#define HIGH_32(n)                                                                                 \
    BUILT_IN uint##n mul_hi(uint##n a, uint##n b)                                                  \
    {                                                                                              \
        return convert_uint##n(convert_ulong##n(a) * convert_ulong##n(b) >> 32UL);                 \
    }
#define HIGH_64(n)                                                                                 \
    BUILT_IN ulong##n mul_hi(ulong##n a, ulong##n b)                                               \
    {                                                                                              \
        ulong##n low = (a & 0xffffffffUL) * (b & 0xffffffffUL), first = (a >> 32UL) * (b & 0xffffffffUL); \
        ulong##n second = (a & 0xffffffffUL) * (b >> 32UL) + (low >> 32UL);                        \
        second += first & 0xffffffffUL;                                                            \
        return (a >> 32UL) * (b >> 32UL) + (first >> 32UL) + (second >> 32UL);                     \
    }
HIGH_32(4) HIGH_32(8) HIGH_32(16) HIGH_64(4) HIGH_64(8) HIGH_64(16)

BUILT_IN uint8 rotate(uint8 v, uint8 n) { return v << n | v >> (32u - n); }

/* Conversions that clamp to the type's range; _rte rounds to nearest, ties to even. */
#define SATURATED(T, low, high)                                                                    \
    BUILT_IN T convert_##T##_sat(int v) { return (T)clamp(v, (int)(low), (int)(high)); }           \
    BUILT_IN T convert_##T##_sat_rte(double v)                                                     \
    {                                                                                              \
        v = rint(v);                                                                               \
        return v > (double)(low) ? v < (double)(high) ? (T)v : (T)(high) : (T)(low);               \
    }                                                                                              \
    BUILT_IN T##8 convert_##T##8_sat(int8 v)                                                       \
    {                                                                                              \
        return convert_##T##8(clamp(v, (int8)(low), (int8)(high)));                                \
    }                                                                                              \
    BUILT_IN T##16 convert_##T##16_sat(int16 v)                                                    \
    {                                                                                              \
        return convert_##T##16(clamp(v, (int16)(low), (int16)(high)));                             \
    }                                                                                              \
    BUILT_IN T##16 convert_##T##16_sat_rte(double16 v) { EACH_LANE(T##16, convert_##T##_sat_rte(v[k])); }
SATURATED(char, -128, 127) SATURATED(uchar, 0, 255) SATURATED(short, -32768, 32767)
SATURATED(ushort, 0, 65535) SATURATED(int, INT_MIN, INT_MAX)

/* vload and vstore accept addresses that are aligned to a sample only. */
#define WIDE_ACCESS(space, type, n)                                                                \
    BUILT_IN type##n vload##n(size_t i, space const type *p) { return ((space const any_##type##n *)p)[i]; } \
    BUILT_IN void vstore##n(type##n v, size_t i, space type *p) { ((space any_##type##n *)p)[i] = v; }
#define ANY_ADDRESS(type, n)                                                                       \
    typedef type##n __attribute__((aligned(sizeof(type)))) any_##type##n;                          \
    WIDE_ACCESS(__private, type, n) WIDE_ACCESS(__global, type, n)
#define STORES(type)                                                                               \
    ANY_ADDRESS(type, 4) ANY_ADDRESS(type, 8) ANY_ADDRESS(type, 16)                                \
    BUILT_IN void vstore3(type##3 v, size_t i, __global type *p)                                   \
    {                                                                                              \
        p += 3 * i;                                                                                \
        p[0] = v.s0, p[1] = v.s1, p[2] = v.s2;                                                     \
    }
STORES(char) STORES(uchar) STORES(short) STORES(ushort) STORES(int) STORES(float) STORES(double)

/* fir computes 32 samples in 16 bits at once, and per-pixel stages take 32 bytes (`wide` in src/stage/pass.h): what
 * they use of such vectors, here and in cl/prelude.cl. */
VECTOR(char, 32) VECTOR(uchar, 32) VECTOR(short, 32) VECTOR(ushort, 32) VECTOR(uint, 32)
ORDER(short32) ORDER(ushort32)
typedef char32 __attribute__((aligned(1))) unaligned_char_32;
typedef uchar32 __attribute__((aligned(1))) unaligned_uchar_32;
#define convert_char32(v)     __builtin_convertvector(v, char32)
#define convert_uchar32(v)    __builtin_convertvector(v, uchar32)
#define convert_short32(v)    __builtin_convertvector(v, short32)
#define convert_ushort32(v)   __builtin_convertvector(v, ushort32)
#define convert_uint32(v)     __builtin_convertvector(v, uint32)
#define as_short32(v)         __builtin_astype(v, short32)
#define as_ushort32(v)        __builtin_astype(v, ushort32)
#define FIRST_32(v)           (v).s0
#define TAKE_ALPHA_32_2(v, a) (v).odd = (a).odd
#define TAKE_ALPHA_32_4(v, a) (v).odd.odd = (a).odd.odd

/* For fir: samples 2n and 2n + 1 multiplied with the first and the second byte of `pair`, which has both twice, and
 * added. The sums must fit 16 bits with a sign. One instruction of x86; arm64 has none for it. */
#ifdef __SSSE3__
#define PAIR_SAMPLES    64
VECTOR(uchar, 64)
typedef uchar64 __attribute__((aligned(1))) unaligned_uchar_64;
#define as_uchar64(v)   __builtin_astype(v, uchar64)
#if defined(__AVX512BW__)
typedef char __attribute__((vector_size(64))) pair_bytes;
#define ADD_PAIRS       __builtin_ia32_pmaddubsw512
#elif defined(__AVX2__)
typedef char __attribute__((vector_size(32))) pair_bytes;
#define ADD_PAIRS       __builtin_ia32_pmaddubsw256
#else
typedef char __attribute__((vector_size(16))) pair_bytes;
#define ADD_PAIRS       __builtin_ia32_pmaddubsw128
#endif
union pair_vector {
    uchar64 samples;
    uint16 words;
    ushort32 sums;
    pair_bytes bytes[64 / sizeof(pair_bytes)];
};
BUILT_IN ushort32 pair_sums(uchar64 v, int pair)
{
    union pair_vector a, b;
    a.samples = v;
    b.words = (uint16)(uint)pair;
    _Pragma("clang loop unroll(full)")
    for (int k = 0; k < (int)(64 / sizeof(pair_bytes)); k++)
        a.bytes[k] = __builtin_astype(ADD_PAIRS(a.bytes[k], b.bytes[k]), pair_bytes);
    return a.sums;
}
#endif

/* Each lane of v looked up in a table; a table of 256 bytes lies in registers where that is faster, and 32 of them are
 * looked up at once. */
#define LOOK_UP_IN(type, index)                                                                    \
    BUILT_IN type##16 look_up(__global const type *t, index##16 v) { EACH_LANE(type##16, t[v[k]]); }
LOOK_UP_IN(ushort, ushort) LOOK_UP_IN(int, uint)
#if defined(__AVX512BW__)
/* The table as 128 words of two bytes; each permutation selects out of 64. (Bytes cannot be selected at this level.) */
typedef short __attribute__((vector_size(64))) table_part;
typedef table_part __attribute__((aligned(1))) any_table_part;
BUILT_IN uchar32 look_up(__global const uchar *t, uchar32 v)
{
    __global const any_table_part *part = (__global const any_table_part *)t;
    ushort32 wide = convert_ushort32(v);
    table_part at = __builtin_astype(wide >> (ushort32)(1), table_part);
    ushort32 low = __builtin_astype(__builtin_ia32_vpermi2varhi512(part[0], at, part[1]), ushort32);
    ushort32 high = __builtin_astype(__builtin_ia32_vpermi2varhi512(part[2], at, part[3]), ushort32);
    ushort32 pair = wide > (ushort32)(127) ? high : low;
    return convert_uchar32(pair >> ((wide & (ushort32)(1)) << (ushort32)(3)));
}
#elif defined(__AVX2__)
/* The table as 16 rows of 16 bytes: a vector holds rows k and k + 8, of which the upper four bits choose one. */
typedef char __attribute__((vector_size(32))) table_part;
BUILT_IN uchar16 look_up(__global const uchar *t, uchar16 v)
{
    uchar32 found = 0, upper, lower, part;
    lower.lo = lower.hi = v & (uchar16)(15);
    upper.lo = v >> (uchar16)(4);
    upper.hi = upper.lo ^ (uchar16)(8);
    _Pragma("clang loop unroll(full)")
    for (int k = 0; k < 8; k++) {
        part.lo = vload16(k, t);
        part.hi = vload16(k + 8, t);
        table_part row = __builtin_ia32_pshufb256(__builtin_astype(part, table_part), __builtin_astype(lower, table_part));
        found |= __builtin_astype(row, uchar32) & __builtin_astype(upper == (uchar32)(k), uchar32);
    }
    return found.lo | found.hi;
}
#else
LOOK_UP_IN(uchar, uchar)
#endif
#ifndef __AVX512BW__
BUILT_IN uchar32 look_up(__global const uchar *t, uchar32 v)
{
    uchar32 found;
    found.lo = look_up(t, v.lo);
    found.hi = look_up(t, v.hi);
    return found;
}
#endif

/* Bytes counted in pairs: half as many additions in memory, which are what counting waits for. A table of pairs has
 * 65536 counts, which processors of this level hold in their second cache; two tables in turn, so that pairs that are
 * alike do not wait for each other. PAIRS_FROM: so many bytes take as long as the tables themselves. */
#if defined(__AVX512BW__)
#define PAIRS_FROM 65536
#define PAIRS_ROOM (4 * 65535 & ~7) /* bytes of which no count exceeds its 16 bits */
struct pair_counts {
    ushort n[2][65536] __attribute__((aligned(64)));
    int room;
};
typedef ulong __attribute__((aligned(1))) any_ulong;

OUT_OF_LINE void pairs_begin(struct pair_counts *pairs)
{
    for (int i = 0; i < 65536; i++)
        pairs->n[0][i] = pairs->n[1][i] = 0;
    pairs->room = PAIRS_ROOM;
}

/* Adds what was counted to the counts of single bytes. */
__attribute__((min_vector_width(512))) OUT_OF_LINE void pairs_add(const struct pair_counts *pairs, int *counts)
{
    uint16 firsts[16]; /* of 32 values each two, the even ones and the odd ones */
    for (int k = 0; k < 16; k++)
        firsts[k] = 0;
    for (int second = 0; second < 256; second++) {
        uint16 sum = 0;
        _Pragma("clang loop unroll(full)")
        for (int k = 0; k < 8; k++) {
            uint16 a = *(const uint16 *)&pairs->n[0][second * 256 + 32 * k];
            uint16 b = *(const uint16 *)&pairs->n[1][second * 256 + 32 * k];
            uint16 even = (a & 0xffffu) + (b & 0xffffu), odd = (a >> 16u) + (b >> 16u);
            firsts[2 * k] += even, firsts[2 * k + 1] += odd;
            sum += even + odd;
        }
        for (int k = 0; k < 16; k++)
            counts[second] += sum[k];
    }
    for (int v = 0; v < 256; v++)
        counts[v] += firsts[v / 32 * 2 + v % 2][v % 32 / 2];
}

/* Counts n bytes, a multiple of eight, and fetches those that lie `ahead` bytes behind each. */
BUILT_IN void pairs_count(struct pair_counts *pairs, __global const uchar *in, int n, int ahead, int *counts)
{
    for (int x = 0; x < n;) {
        if (pairs->room == 0) {
            pairs_add(pairs, counts);
            pairs_begin(pairs);
        }
        int end = min(x + pairs->room, n);
        pairs->room -= end - x;
        for (; x < end; x += 8) {
            ulong v = *(__global const any_ulong *)(in + x);
            __builtin_prefetch((const void *)(size_t)(in + x + ahead));
            pairs->n[0][v & 65535]++, pairs->n[1][v >> 16 & 65535]++;
            pairs->n[0][v >> 32 & 65535]++, pairs->n[1][v >> 48]++;
        }
    }
}
#endif

#define atomic_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atomic_min(p, v) __atomic_fetch_min(p, v, __ATOMIC_RELAXED)
#define atomic_max(p, v) __atomic_fetch_max(p, v, __ATOMIC_RELAXED)

/* A kernel is not part of the function that calls it, nor are borders of the functions that ask for them: Clang would
 * optimize each copy again, which takes a third of all its time. */
#define __kernel    OUT_OF_LINE
#define inline      static inline
OUT_OF_LINE int border_index(int i, int n, int border);
OUT_OF_LINE int border_near(int i, int n, int border);
OUT_OF_LINE int border_run(int p, int end, int n, int border, int *first, int *step);
