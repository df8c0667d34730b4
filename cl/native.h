/* OpenCL C's types and built-in functions, as far as kernels in rows form use them, for compiling kernels as
 * functions of sluice itself: Clang does so with -x cl, but has no OpenCL library. This text stands in front of
 * cl/prelude.cl. A kernel that uses a built-in function that is missing here does not compile.
 *
 * A kernel becomes a function that a native_caller calls, which loops over rows and work-items; src/kernels/make_kernels.c
 * writes these in C. NATIVE tells kernels that they are compiled so. In front of this text stand the conversions between
 * types, convert_int16(v) and as_int16(v), which the same program lists. */
#define NATIVE

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;

#define INT_MAX  2147483647
#define INT_MIN  (-2147483647 - 1)
#define INFINITY __builtin_inff()

#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)));
#define VECTORS(type)   VECTOR(type, 2) VECTOR(type, 3) VECTOR(type, 4) VECTOR(type, 8) VECTOR(type, 16)
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint)
VECTORS(long) VECTORS(ulong) VECTORS(float) VECTORS(double)

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

#define SQRT_OF(type, T) BUILT_IN T sqrt(T v) { EACH_LANE(T, __builtin_sqrtf(v[k])); }
BUILT_IN float sqrt(float v) { return __builtin_sqrtf(v); }
BUILT_IN double sqrt(double v) { return __builtin_sqrt(v); }
EACH_WIDTH(SQRT_OF, float)
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

#include "native_wide.h"

#define atomic_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atomic_min(p, v) __atomic_fetch_min(p, v, __ATOMIC_RELAXED)
#define atomic_max(p, v) __atomic_fetch_max(p, v, __ATOMIC_RELAXED)

/* Borders are no part of the functions that ask for them: Clang would optimize each copy again. */
#define __kernel
#define inline      static inline
OUT_OF_LINE int border_index(int i, int n, int border);
OUT_OF_LINE int border_near(int i, int n, int border);
OUT_OF_LINE int border_run(int p, int end, int n, int border, int *first, int *step);
