/* gauss and unsharp on CPUs (behind cl/strips.cl): each row of the source is summed along itself into a ring of
 * lines, and as soon as the window's last line is there, a row of the result is the sum down these.
 *
 * Both sums take the two samples at one distance together, whose weights are alike. `table` holds the weights from
 * distance 0 on, in 2^14ths or as f32, with zeros up to an even count. TABLE or REAL: unsharp, by a table of the
 * changes or in f32. */
#define UNROLLED _Pragma("unroll")
#define DISTANCES 258

#if defined(SRC_IS_uchar)
#define MIDDLE  short
#define WEIGHT  short
#elif defined(SRC_IS_ushort)
#define MIDDLE  int
#define WEIGHT  short
#else
#define MIDDLE  float
#define WEIGHT  float
#endif

/* The sum of 16 bits' numbers a and b times the pair of weights, for each of 16 lanes; and what it comes to, shifted. */
#ifdef SRC_IS_uchar
#if defined(__AVX2__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_pmaddwd256) && __has_builtin(__builtin_ia32_packssdw256)
#define HAS_PAIRS
#endif
#endif
#ifdef HAS_PAIRS
/* One instruction multiplies and adds pairs; lanes are as the instructions that make and part them want them. */
typedef short __attribute__((vector_size(32))) FN(shorts);
typedef int __attribute__((vector_size(32))) FN(ints);
#define TIMES(a, w)                                                                                \
    __builtin_astype(__builtin_ia32_pmaddwd256(__builtin_astype(a, FN(shorts)),                    \
                                               __builtin_astype((int8)(w), FN(shorts))), int8)
#define SUM(half)      int8 s0 = (half), s1 = (half)
#define ADD(a, b, w)                                                                               \
    s0 += TIMES(((short16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3,                         \
                           a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb)), *(__global const int *)(w)); \
    s1 += TIMES(((short16)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7,                         \
                           a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)), *(__global const int *)(w));
#define SHIFTED(bits)                                                                              \
    __builtin_astype(__builtin_ia32_packssdw256(__builtin_astype(s0 >> (bits), FN(ints)),          \
                                                __builtin_astype(s1 >> (bits), FN(ints))), short16)
#else
#define SUM(half)     int16 s = (half)
#define ADD(a, b, w)                                                                               \
    s += convert_int16(a) * (int16)((w)[0]) + convert_int16(b) * (int16)((w)[1]);
#define SHIFTED(bits) convert_short16(s >> (bits))
#endif
#define SUM_ACROSS       SUM(1 << 7)
#define SUM_DOWN         SUM(1 << 19)
#define WIDEN_ACROSS(p)  convert_short16(UNALIGNED_IN(uchar, 16, p))
#define WIDEN_DOWN(p)    UNALIGNED_IN(short, 16, p)
#define ADD_ACROSS       ADD
#define ADD_DOWN         ADD
#define RESULT_ACROSS    SHIFTED(8)
#define RESULT_DOWN      convert_uchar16(SHIFTED(20))
#define WIDE             short16

#elif defined(SRC_IS_ushort)
/* Sums down do not fit 32 bits: one is 4096 * h + l. */
#define SUM_ACROSS       int16 s = 1 << 7
#define WIDEN_ACROSS(p)  convert_int16(UNALIGNED_IN(ushort, 16, p))
#define ADD_ACROSS(a, b, w) s += a * (int16)((w)[0]) + b * (int16)((w)[1]);
#define RESULT_ACROSS    (s >> 8)
#define SUM_DOWN         int16 h = 0, l = 1 << 19
#define WIDEN_DOWN(p)    UNALIGNED_IN(int, 16, p)
#define ADD_DOWN(a, b, w)                                                                          \
    h += (a >> 12) * (int16)((w)[0]) + (b >> 12) * (int16)((w)[1]);                             \
    l += (a & 4095) * (int16)((w)[0]) + (b & 4095) * (int16)((w)[1]);
#define RESULT_DOWN      convert_ushort16((h + (l >> 12)) >> 8)
#define WIDE             int16

#else
#define SUM_ACROSS       float16 s = 0
#define WIDEN_ACROSS(p)  UNALIGNED_IN(float, 16, p)
#define ADD_ACROSS(a, b, w)                                                                        \
    s += a * (float16)((w)[0]);                                                                    \
    s += b * (float16)((w)[1]);
#define RESULT_ACROSS    s
#define SUM_DOWN         SUM_ACROSS
#define WIDEN_DOWN       WIDEN_ACROSS
#define ADD_DOWN         ADD_ACROSS
#define RESULT_DOWN      s
#define WIDE             float16
#endif

/* Sixteen sums around `at`, of what lies low[i] and high[i] samples from there, i being the distance. */
#define DEFINE_SUM(name, from, to, SUM_, WIDEN, ADD_, RESULT)                                      \
    inline CAT(to, 16) FN(name)(__global const from *at, const int *low, const int *high,          \
                                __global const WEIGHT *table, int pairs)                           \
    {                                                                                              \
        SUM_;                                                                                      \
        WIDE a = WIDEN(at + low[0]), b = WIDEN(at + low[1]) + WIDEN(at + high[1]);                 \
        ADD_(a, b, table)                                                                          \
        for (int i = 1; i < pairs; i++) {                                                          \
            a = WIDEN(at + low[2 * i]) + WIDEN(at + high[2 * i]);                                  \
            b = WIDEN(at + low[2 * i + 1]) + WIDEN(at + high[2 * i + 1]);                          \
            ADD_(a, b, table + 2 * i)                                                              \
        }                                                                                          \
        return RESULT;                                                                             \
    }
DEFINE_SUM(across, SRC, MIDDLE, SUM_ACROSS, WIDEN_ACROSS, ADD_ACROSS, RESULT_ACROSS)
DEFINE_SUM(down, MIDDLE, SRC, SUM_DOWN, WIDEN_DOWN, ADD_DOWN, RESULT_DOWN)

#if defined(TABLE)
#define SHARPEN_PARAMETERS , __global const int *restrict changes
#define SHARPEN(in, out)   out = FN(sharpen)(in, out, changes)
inline CAT(SRC, 16) FN(sharpen)(CAT(SRC, 16) in, CAT(SRC, 16) blurred,
                                __global const int *restrict changes)
{
    int v[16];
    int16 d = convert_int16(in) - convert_int16(blurred);
    uint16 size = abs(d);
    vstore16(as_int16(size), 0, v);
    for (int i = 0; i < 16; i++)
        v[i] = changes[v[i]];
    int16 sign = d >> 31;
    return CAT3(convert_, SRC, 16_sat)(convert_int16(in) + ((vload16(0, v) ^ sign) - sign));
}
#elif defined(REAL)
#define SHARPEN_PARAMETERS , float amount, float threshold
#define SHARPEN(in, out)   out = FN(sharpen)(in, out, amount, threshold)
inline CAT(SRC, 16) FN(sharpen)(CAT(SRC, 16) in, CAT(SRC, 16) blurred, float amount,
                                float threshold)
{
    float16 v = convert_float16(in), d = v - convert_float16(blurred);
    float16 change = d * amount;
#ifndef SRC_IS_float
    change = RNE(change);
#endif
    v += fabs(d) >= (float16)threshold ? change : (float16)0;
#ifdef SRC_IS_float
    return v;
#else
    return CAT3(convert_, SRC, 16)(convert_int16(CAT(RANGE_, SRC)(v)));
#endif
}
#else
#define SHARPEN_PARAMETERS
#define SHARPEN(in, out)
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS,
                     __global const WEIGHT *restrict table SHARPEN_PARAMETERS)
{
    if (GRID_Y >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
    int lines = top + bottom + 1, pairs = top / 2 + 1, pitch = strip + 64, count = STRIP_COUNT;
    int padded = (count + 15) & ~15, wide = (left + right) * channels, last = STRIP_ROW_END - 1 + centre_y + bottom;
    __global MIDDLE *ring = (__global MIDDLE *)STRIP_MEMORY;
    __global SRC *pad = (__global SRC *)(ring + lines * pitch);
    int low[DISTANCES], high[DISTANCES];
    for (int row = STRIP_ROW + centre_y - top, slot = 0; row <= last; row++, slot++) {
        slot = slot == lines ? 0 : slot;
        struct FN(line) in = STRIP_LINE(row, count + wide, padded + wide, 16 + wide, pad);
        __global MIDDLE *to = ring + slot * pitch;
        for (int i = 0; i < 2 * pairs; i++) {
            low[i] = (left - min(i, left)) * channels;
            high[i] = (left + min(i, left)) * channels;
        }
        for (int x = 0; x < padded; x += 16)
            UNALIGNED_OUT(MIDDLE, 16, to + x) = FN(across)(STRIP_AT(in, x, 16 + wide), low, high, table, pairs);
        int y = row - centre_y - bottom;
        if (y < STRIP_ROW)
            continue;
        for (int i = 0; i < 2 * pairs; i++) {
            int below = slot + 1 + top - min(i, top), above = slot + 1 + top + min(i, top);
            low[i] = (below >= lines ? below - lines : below) * pitch;
            high[i] = (above >= lines ? above - lines : above) * pitch;
        }
        __global SRC *out = ROW(dst, y) + STRIP_BEGIN;
        __global const SRC *centre = ROW(src, y + centre_y) + centre_x * channels + STRIP_BEGIN;
        int x = 0;
        for (; x + 16 <= count; x += 16) {
            CAT(SRC, 16) v = FN(down)(ring + x, low, high, table, pairs);
            SHARPEN(UNALIGNED_IN(SRC, 16, centre + x), v);
            UNALIGNED_OUT(SRC, 16, out + x) = v;
        }
        if (x < count) {
            SRC samples[16]; /* an initialiser is run too late by PoCL 3.1 */
            for (int i = 0; i < 16; i++)
                samples[i] = x + i < count ? centre[x + i] : 0;
            CAT(SRC, 16) v = FN(down)(ring + x, low, high, table, pairs);
            SHARPEN(*(const UNALIGNED(SRC, 16) *)samples, v);
            *(UNALIGNED(SRC, 16) *)samples = v;
            for (int i = 0; i < count - x; i++)
                out[x + i] = samples[i];
        }
        STRIP_ALPHA(out, y, count)
    }
}
