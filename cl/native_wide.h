/* Behind cl/native.h: what processors do better than OpenCL C has words for. Kernels ask for it by PAIR_SAMPLES,
 * PAIRS_FROM and look_up. */

/* For fir: samples 2n and 2n + 1 multiplied with the first and the second byte of `pair`, which has both twice, and
 * added. The sums must fit 16 bits with a sign. One instruction of x86; arm64 has none for it. */
#ifdef __SSSE3__
#define PAIR_SAMPLES    64
VECTOR(uchar, 64)
typedef uchar64 __attribute__((aligned(1))) unaligned_uchar_64;
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

/* Bytes counted in pairs (processors with AVX-512): counting waits for additions in memory, and a pair of neighbours
 * counted as one number of 16 bits is one addition in place of two. So that pairs that are alike do not wait for each
 * other, there are two tables, taken in turn; 65536 counts of 16 bits each, they still fit the second cache.
 *
 *     pairs_begin    clears both tables
 *     pairs_count    counts, and empties the tables into the counts of single bytes before one of theirs can overflow
 *     pairs_add      empties them: a pair counts for its first byte (its lower half) and for its second one
 *
 * PAIRS_FROM: so many bytes take as long as clearing and emptying the tables. */
#if defined(__AVX512BW__)
#define PAIRS_FROM 65536
#define PAIRS_ROOM (4 * 65535 & ~7) /* bytes that can be counted before a count may overflow: 65535 pairs in each table */
struct pair_counts {
    ushort n[2][65536] __attribute__((aligned(64)));
    int room; /* bytes until then */
};
typedef ulong __attribute__((aligned(1))) any_ulong;

OUT_OF_LINE void pairs_begin(struct pair_counts *pairs)
{
    for (int i = 0; i < 65536; i++)
        pairs->n[0][i] = pairs->n[1][i] = 0;
    pairs->room = PAIRS_ROOM;
}

/* A row of 256 counts has one second byte, so the row's sum is what that byte gets. Of the rows' sums, place by place,
 * the first bytes get theirs: the counts of an even and an odd first byte are the halves of a word. */
__attribute__((min_vector_width(512))) OUT_OF_LINE void pairs_add(const struct pair_counts *pairs, int *counts)
{
    uint16 firsts[16]; /* firsts[2k + i].sj: of first byte 32k + 2j + i */
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

/* Counts n bytes, a multiple of eight: in turns of as many as there is room for. Fetches what lies `ahead` bytes
 * behind. */
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

