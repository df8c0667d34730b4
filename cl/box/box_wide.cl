/* box of integers with windows of any size, for GPUs with local memory (Mali has none: cl/box/box_sums.cl).
 *
 * A work-group computes a strip of columns down a band of rows. A work-item keeps the sums of the columns of a chunk, which
 * is 16 bytes, over the window's height in registers and slides them down: it adds a row that enters the window and
 * subtracts one that leaves it. The sums of ROWS rows go to local memory, together with the sum of each chunk, of its first
 * HEAD columns and of its first TAIL columns, for each channel. Then a work-item computes a chunk of results of each of the
 * rows. The sum of the first window is that of the chunks it spans, minus the head of the first chunk, plus the tail of the
 * chunk behind them; from there the window slides along. Neighbouring work-items have neighbouring chunks in device memory
 * and in local memory, so they access whole cache lines and different banks.
 *
 * The first window of item i begins at sample HEAD of chunk i and ends before sample TAIL of chunk i + CHUNKS. Sums of
 * chunks are kept by places: sample k of a chunk has place k % CH, and its channel depends on the chunk, too.
 *
 * With NARROW sums of columns of bytes have 16 bits, two in a word; otherwise 32. Signed samples become unsigned by adding
 * 128 or 32768 (FLIP). */
#include <edge.cl>
#include <memory.cl>
#include <quotient.cl>
#define CHUNK    (128 / SAMPLE_BITS) /* samples */
#define PER_WORD (32 / SAMPLE_BITS)
#define PARTS    (NARROW ? 2 : PER_WORD) /* vectors of sums: sample i is in vector i % PARTS */
#define FLIPPED   (FLIP * (SAMPLE_BITS == 8 ? 0x80808080u : 0x80008000u))
#define PART_MASK (SAMPLE_BITS == 16 ? 0xffffu : NARROW ? 0x00ff00ffu : 0xffu)
#define ALPHA_SAMPLES                                                                              \
    (SAMPLE_BITS == 8 ? (uint4)(CH == 2 ? 0xff00ff00u : 0xff000000u)                               \
     : CH == 2        ? (uint4)0xffff0000u                                                         \
                      : (uint4)(0u, 0xffff0000u, 0u, 0xffff0000u))

/* A vector with a number for each row of a turn; that of row k in such a variable. */
#define PER_ROW      CAT(uint, ROWS)
#define OF_ROW(v, k) ((uint *)&(v))[k]

/* The quotient of a sum that includes half of the area, by the numbers that the pass gives (src/stage/box/box_divide.h). */
inline uint FN(divided)(uint t NUMBERS)
{
#if defined(DROP)
    return mul_hi(t, multiplier) >> DROP;
#elif defined(DIVIDE_HIGH)
    return mul_hi(t, multiplier) >> drop;
#else
    return floor_quotient_uint(t, area, factor);
#endif
}

/* The samples of a chunk that are in vector k. */
INLINED uint4 FN(part)(uint4 chunk, int k)
{
    return chunk >> (uint)(SAMPLE_BITS * k) & PART_MASK;
}

/* The sum of sample i of a chunk, from its vectors. */
INLINED uint FN(lane)(const uint4 *sums, int i)
{
    uint4 v = sums[i % PARTS];
    int word = i / PER_WORD;
    uint w = word == 0 ? v.s0 : word == 1 ? v.s1 : word == 2 ? v.s2 : v.s3;
    return !NARROW ? w : i & 2 ? w >> 16 : w & 0xffffu;
}

/* The same of the tile, in its row k, of its sample `at`. */
inline uint FN(sum_of)(__local const uint4 *tile, int k, int at)
{
    at = clamp(at, 0, CHUNK * ITEMS - 1);
    __local const uint4 *v = tile + (k * PARTS + at % PARTS) * ITEMS + at / CHUNK;
    return NARROW ? ((__local const ushort *)v)[at % CHUNK / PARTS] : ((__local const uint *)v)[at % CHUNK / PARTS];
}

inline PER_ROW FN(sums_of)(__local const uint4 *tile, int at)
{
    PER_ROW sums;
    UNROLLED_ON_GPUS for (int k = 0; k < ROWS; k++)
        OF_ROW(sums, k) = FN(sum_of)(tile, k, at);
    return sums;
}

inline void FN(set_sum)(__local uint4 *tile, int k, int item, int i, uint sum)
{
    __local uint4 *v = tile + (k * PARTS + i % PARTS) * ITEMS + item;
    if (NARROW)
        ((__local ushort *)v)[i / PARTS] = (ushort)sum;
    else
        ((__local uint *)v)[i / PARTS] = sum;
}

/* Completes a chunk with columns outside of the row: writes their sums, which are those of columns inside, or zeros, and
 * the sums of the chunk. The totals go round: that of the next sample's place comes first. */
inline void FN(fill)(__local uint4 *tile, __local PER_ROW *totals, __local PER_ROW *heads, __local PER_ROW *tails, int item,
                     int first, int column, int width, int border, uint zeros)
{
    PER_ROW total[CH];
    UNROLLED_ON_GPUS for (int c = 0; c < CH; c++)
        total[c] = 0;
    ROLLED for (int i = 0; i < CHUNK; i++) {
        int at = edge_sample(column + i, width, CH, border);
        PER_ROW sums = zeros;
        if (at >= 0)
            sums = FN(sums_of)(tile, at - first);
        if (at < 0 || at != column + i) /* column -1 of zeros is -1, too */
            UNROLLED_ON_GPUS for (int k = 0; k < ROWS; k++)
                FN(set_sum)(tile, k, item, i, OF_ROW(sums, k));
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            if (i == HEAD)
                heads[(c + HEAD) % CH * ITEMS + item] = total[c];
            if (i == TAIL)
                tails[(c + TAIL) % CH * ITEMS + item] = total[c];
        }
        sums += total[0];
        UNROLLED_ON_GPUS for (int c = 0; c + 1 < CH; c++)
            total[c] = total[c + 1];
        total[CH - 1] = sums;
    }
    UNROLLED_ON_GPUS for (int c = 0; c < CH; c++)
        totals[(c + CHUNK) % CH * ITEMS + item] = total[c];
}

/* The chunk at sample x of a row that goes on with its other end. */
inline uint4 FN(wrapped)(__global const SRC *row, int x, int n)
{
    uint4 v = 0;
    int at = modulo(x, n);
    ROLLED for (int i = 0; i < CHUNK; i++, at = at + 1 < n ? at + 1 : 0)
        v = (uint4)(v.s012 >> SAMPLE_BITS | v.s123 << (32 - SAMPLE_BITS),
                    v.s3 >> SAMPLE_BITS | (uint)row[at] << (32 - SAMPLE_BITS));
    return v;
}

/* Where a work-item loads. Columns outside of the row get their sums from other columns, in local memory (FN(fill)). x is
 * clamped, so that all chunks are loaded from the row's memory, which is whole vectors. */
struct FN(place) {
    int x, column, n;
    bool outside;
};

INLINED uint4 FN(chunk)(__global const SRC *row, struct FN(place) place)
{
    if (WRAPS && place.outside)
        return FN(wrapped)(row, place.column, place.n) ^ FLIPPED;
    return *(__global const uint4 *)(row + place.x) ^ FLIPPED;
}

/* The chunk of line y, which may be a line of zeros. */
inline uint4 FN(bordered)(PLANE_IN(SRC, src), struct FN(place) place, int y, int height, int border)
{
    int row = border_index(y, height, border);
    uint4 v = FN(chunk)(ROW(src, max(row, 0)), place);
    return row < 0 ? (uint4)FLIPPED : v;
}
#define BORDERED(y) FN(bordered)(src_base, src_offset, src_stride, place, y, height, border)

/* The sums of a chunk for each place, of its first HEAD columns, and of its first TAIL columns. */
INLINED void FN(add_up)(const uint4 *sums, uint *total, uint *head, uint *tail)
{
    UNROLLED_ON_GPUS for (int c = 0; c < CH; c++)
        total[c] = head[c] = tail[c] = 0;
    UNROLLED_ON_GPUS for (int i = 0; i < CHUNK; i++) {
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            head[c] = i == HEAD ? total[c] : head[c];
            tail[c] = i == TAIL ? total[c] : tail[c];
        }
        total[i % CH] += FN(lane)(sums, i);
    }
}

/* Sample i of two chunks, one behind the other. */
INLINED uint FN(slid)(const uint4 *first, const uint4 *second, int i)
{
    return i < CHUNK ? FN(lane)(first, i) : FN(lane)(second, i - CHUNK);
}

/* The place that sample c of the first window of an item's chunk has j chunks further. */
#define PLACE_OF(c, j) (((c) + HEAD + (j) * (CH - CHUNK % CH)) % CH)

#ifdef COMPARES
/* Bytes of a word that are at least their means, by as much as the lanes of `begin` say; in these bit 14 tells. */
inline uint4 FN(compared)(uint4 v, uint4 mean, uint begin, uint low, uint other)
{
    uint4 even = (v & 0x00ff00ffu) + begin - (mean & 0x00ff00ffu);
    uint4 odd = (v >> 8 & 0x00ff00ffu) + begin - (mean >> 8 & 0x00ff00ffu);
    uint4 high = (even >> 14 & 0x00010001u) * 0xffu | (odd >> 14 & 0x00010001u) * 0xff00u;
    return low ^ (high & other);
}
#endif

/* Stores the first `count` samples of a chunk; `centre` has its alpha. */
inline void FN(put)(__global SRC *out, __global const SRC *centre, uint4 v, int count)
{
    if (ALPHA && count >= CHUNK) {
        const uint4 alpha = (uint4)(ALPHA_SAMPLES);
        uint4 own = (size_t)centre % 16 == 0 ? *(__global const uint4 *)centre : as_uint4(UNALIGNED_IN(ushort, 8, centre));
        v = (v & ~alpha) | (own & alpha);
    }
    if (count >= CHUNK) {
        *(__global uint4 *)out = v;
        return;
    }
    ROLLED for (int i = 0; i < count; i++) {
        out[i] = IS_ALPHA(ALPHA, i) ? centre[i] : (SRC)v.s0;
        v = (uint4)(v.s012 >> SAMPLE_BITS | v.s123 << (32 - SAMPLE_BITS), v.s3 >> SAMPLE_BITS);
    }
}

/* The grid counts work-items of strips in x and bands of `band` rows, a multiple of ROWS, in y. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int out_width, int out_height, int band, int left,
       int right, int top, int bottom, int border, int centre_x, int centre_y, uint half_area NUMBERS)
{
    __local uint4 tile[ROWS * PARTS * ITEMS];
    __local PER_ROW totals[CH * ITEMS], heads[CH * ITEMS], tails[CH * ITEMS];
    int item = (int)get_local_id(0), n = width * CH, out_n = out_width * CH;
    int out_x = ((int)get_group_id(0) * (ITEMS - CHUNKS - 1) + item) * CHUNK;
    int y = GRID_Y * band, y_end = min(y + band, out_height);
    bool results = item < ITEMS - CHUNKS - 1 && out_x < out_n;
    int column = out_x - left * CH - HEAD, first = column - CHUNK * item;
    struct FN(place) place = {clamp(column, 0, (n - 1) / CHUNK * CHUNK), column, n, column < 0 || column + CHUNK > n};
    bool any_outside = !WRAPS && (first < 0 || first + CHUNK * ITEMS > n);
    uint4 sums[PARTS];
    UNROLLED_ON_GPUS for (int p = 0; p < PARTS; p++)
        sums[p] = 0;
    for (int i = y - top, end = y + bottom + 1; i < end; i += 8) {
        if (i >= 0 && i + 8 <= min(end, height)) {
            uint4 in[8];
            UNROLLED_ON_GPUS for (int k = 0; k < 8; k++)
                in[k] = FN(chunk)(ROW(src, i + k), place);
            UNROLLED_ON_GPUS for (int k = 0; k < 8; k++)
                UNROLLED_ON_GPUS for (int p = 0; p < PARTS; p++)
                    sums[p] += FN(part)(in[k], p);
        } else {
            ROLLED for (int k = i; k < min(i + 8, end); k++) {
                uint4 in = BORDERED(k);
                UNROLLED_ON_GPUS for (int p = 0; p < PARTS; p++)
                    sums[p] += FN(part)(in, p);
            }
        }
    }
    for (; y < y_end; y += ROWS) {
        int from = y + bottom + 1, also = y - top;
        uint4 in[ROWS], out[ROWS];
        if (also >= 0 && from + ROWS <= height) {
            UNROLLED_ON_GPUS for (int k = 0; k < ROWS; k++)
                in[k] = FN(chunk)(ROW(src, from + k), place), out[k] = FN(chunk)(ROW(src, also + k), place);
        } else {
            UNROLLED_ON_GPUS for (int k = 0; k < ROWS; k++)
                in[k] = BORDERED(from + k), out[k] = BORDERED(also + k);
        }
        PER_ROW total[CH], head[CH], tail[CH];
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED_ON_GPUS for (int k = 0; k < ROWS; k++) {
            uint all[CH], before[CH], after[CH];
            FN(add_up)(sums, all, before, after);
            UNROLLED_ON_GPUS for (int c = 0; c < CH; c++)
                OF_ROW(total[c], k) = all[c], OF_ROW(head[c], k) = before[c], OF_ROW(tail[c], k) = after[c];
            UNROLLED_ON_GPUS for (int p = 0; p < PARTS; p++) {
                tile[(k * PARTS + p) * ITEMS + item] = sums[p];
                sums[p] += FN(part)(in[k], p) - FN(part)(out[k], p);
            }
        }
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            totals[c * ITEMS + item] = total[c];
            heads[c * ITEMS + item] = head[c];
            tails[c * ITEMS + item] = tail[c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (any_outside) {
            if (place.outside)
                FN(fill)(tile, totals, heads, tails, item, first, column, width, border,
                         (uint)(top + 1 + bottom) * (FLIP << (SAMPLE_BITS - 1)));
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (!results)
            continue;
        PER_ROW start[CH];
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            start[c] = half_area + tails[PLACE_OF(c, CHUNKS) * ITEMS + item + CHUNKS] - heads[PLACE_OF(c, 0) * ITEMS + item];
            for (int j = 0; j < CHUNKS; j++)
                start[c] += totals[PLACE_OF(c, j) * ITEMS + item + j];
        }
        /* Not unrolled: otherwise the sums of all rows would be in registers at once. */
        ROLLED for (int k = 0; k < ROWS && y + k < y_end; k++) {
            __local const uint4 *row = tile + k * PARTS * ITEMS + item;
            uint4 leaves[PARTS], leaves_next[PARTS], enters[PARTS], enters_next[PARTS];
            UNROLLED_ON_GPUS for (int p = 0; p < PARTS; p++) {
                leaves[p] = row[p * ITEMS], leaves_next[p] = row[p * ITEMS + 1];
                enters[p] = row[p * ITEMS + CHUNKS], enters_next[p] = row[p * ITEMS + CHUNKS + 1];
            }
            uint sum[CH], words[4] = {0, 0, 0, 0};
            UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
                sum[c] = start[c].s0;
                UNROLLED_ON_GPUS for (int i = 1; i < ROWS; i++)
                    OF_ROW(start[c], i - 1) = OF_ROW(start[c], i);
            }
            UNROLLED_ON_GPUS for (int i = 0; i < CHUNK; i++) {
                words[i / PER_WORD] |= FN(divided)(sum[i % CH] GIVEN) << SAMPLE_BITS * (i % PER_WORD);
                sum[i % CH] += FN(slid)(enters, enters_next, TAIL + i) - FN(slid)(leaves, leaves_next, HEAD + i);
            }
            uint4 v = (uint4)(words[0], words[1], words[2], words[3]);
#ifdef COMPARES
            v = FN(compared)(*(__global const uint4 *)(ROW(src, y + k) + out_x) ^ FLIPPED, v, begin, low, other);
#else
            v ^= FLIPPED;
#endif
            FN(put)(ROW(dst, y + k) + out_x, ROW(src, y + k + centre_y) + centre_x * CH + out_x, v, out_n - out_x);
        }
    }
}
