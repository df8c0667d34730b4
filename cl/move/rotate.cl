/* Rotates a plane by 90 degrees, clockwise or not: columns of the source become rows of the result. The grid counts
 * pixels of a row of the result in x, and blocks of BLOCK columns of the source in y, so that a work-item touches few
 * rows of either.
 *
 * If a pixel is one unit (src/stage/move/move.h), squares of N × N pixels are transposed in registers, on CPUs those of
 * a tile at a time. At an edge, on CPUs the last tile begins earlier and writes some pixels a second time; on GPUs, where
 * a work-item takes one square, pixels are copied one by one. */
#include <processor.cl>
#include <words.cl>

#pragma kernel tiles squares
/* One step of transposing, which puts the lanes of two vectors in turn; after log2 N of them rows are columns. */
inline void FN(round)(CAT(UNIT, N) *v)
{
    CAT(UNIT, N) w[N];
    UNROLLED for (int i = 0; i < N / 2; i++) {
        w[2 * i].even = v[i].lo, w[2 * i].odd = v[i + N / 2].lo;
        w[2 * i + 1].even = v[i].hi, w[2 * i + 1].odd = v[i + N / 2].hi;
    }
    UNROLLED for (int i = 0; i < N; i++)
        v[i] = w[i];
}
#pragma kernel threes
/* Turns 4 × 4 pixels of three bytes, with rows of three words. */
#define FIRST_PIXEL(v)  (v).s0
#define SECOND_PIXEL(v) permute((v).s0, (v).s1, 0x0543u)
#define THIRD_PIXEL(v)  permute((v).s1, (v).s2, 0x0432u)
#define FOURTH_PIXEL(v) ((v).s2 >> 8)
#define ROW_OF_PIXELS(a, b, c, d)                                                                  \
    (uint3)(permute(a, b, 0x4210u), permute(b, c, 0x5421u), permute(c, d, 0x6542u))
#define TURNED(PIXEL) ROW_OF_PIXELS(PIXEL(v0), PIXEL(v1), PIXEL(v2), PIXEL(v3))
#pragma kernel tiles
/* Turns a tile whose rows are as long as a line of the cache. Rows are gathered in arrays, so that each line of either
 * plane is touched once: where the stride is a power of 2, lines of one column displace each other. For the same reason
 * the next tile along the result's rows is fetched into the second cache; the first would not hold it. */
#define TILE (64 / UNIT_BYTES)
#ifdef NATIVE
#define FETCH_FAR(p) __builtin_prefetch((const void *)(size_t)(p), 0, 2)
#else
#define FETCH_FAR(p) FETCH_AHEAD(p)
#endif
typedef ulong8 __attribute__((aligned(UNIT_BYTES))) FN(tile_row);
inline void FN(turn_tile)(__global const UNIT *in, long in_step, __global UNIT *out, long out_step)
{
    CAT(UNIT, N) __attribute__((aligned(64))) tile[TILE][TILE / N], turned[TILE][TILE / N];
    CAT(UNIT, N) v[N];
    for (int i = 0; i < TILE; i++) {
        FETCH_FAR(in + (TILE + i) * in_step);
        *(ulong8 *)tile[i] = *(__global const FN(tile_row) *)(in + i * in_step);
    }
    for (int y = 0; y < TILE; y += N)
        for (int x = 0; x < TILE; x += N) {
            UNROLLED for (int i = 0; i < N; i++)
                v[i] = tile[y + i][x / N];
            UNROLLED for (int n = N; n > 1; n /= 2)
                FN(round)(v);
            UNROLLED for (int i = 0; i < N; i++)
                turned[x + i][y / N] = v[i];
        }
    for (int i = 0; i < TILE; i++) {
        FETCH_FAR(out + i * out_step + TILE);
        *(__global FN(tile_row) *)(out + i * out_step) = *(ulong8 *)turned[i];
    }
}
#pragma kernel
__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst), int width, int height,
                     int clockwise)
{
    int column = GRID_Y * BLOCK, end_column = min(column + BLOCK, width);
    int begin = SPAN_BEGIN;
    IN_GRID(begin, GRID_Y)
    int end = SPAN_END(begin);
#pragma kernel tiles
    if (width >= TILE && height >= TILE) {
        for (int x = begin; x < end; x += TILE) {
            int to = min(x, height - TILE);
            for (int c = column; c < end_column; c += TILE) {
                int left = min(c, width - TILE);
                __global const UNIT *in = ROW(src, clockwise ? height - 1 - to : to) + left;
                __global UNIT *out = ROW(dst, clockwise ? left : width - 1 - left) + to;
                FN(turn_tile)(in, (clockwise ? -1 : 1) * src_stride, out, (clockwise ? 1 : -1) * dst_stride);
            }
        }
        return;
    }
#pragma kernel threes
    if (column + N <= width && begin + N <= height) {
        int in_step = (clockwise ? -1 : 1) * src_stride, out_step = (clockwise ? 1 : -1) * dst_stride;
        __global const uchar *in = ROW(src, clockwise ? height - 1 - begin : begin) + 3 * column;
        __global uchar *out = ROW(dst, clockwise ? column : width - 1 - column) + 3 * begin;
        uint3 v0 = vload3(0, (__global const uint *)in), v1 = vload3(0, (__global const uint *)(in + in_step));
        uint3 v2 = vload3(0, (__global const uint *)(in + 2 * in_step)), v3 = vload3(0, (__global const uint *)(in + 3 * in_step));
        vstore3(TURNED(FIRST_PIXEL), 0, (__global uint *)out);
        vstore3(TURNED(SECOND_PIXEL), 0, (__global uint *)(out + out_step));
        vstore3(TURNED(THIRD_PIXEL), 0, (__global uint *)(out + 2 * out_step));
        vstore3(TURNED(FOURTH_PIXEL), 0, (__global uint *)(out + 3 * out_step));
        return;
    }
#pragma kernel squares
    if (column + N <= width && begin + N <= height) {
        __global const UNIT *in = ROW(src, clockwise ? height - 1 - begin : begin) + column;
        __global UNIT *out = ROW(dst, clockwise ? column : width - N - column) + begin;
        CAT(UNIT, N) v[N];
        UNROLLED for (int i = 0; i < N; i++)
            v[i] = *(__global const CAT(UNIT, N) *)(in + (clockwise ? -i : i) * src_stride);
        UNROLLED for (int n = N; n > 1; n /= 2)
            FN(round)(v);
        UNROLLED for (int i = 0; i < N; i++)
            *(__global CAT(UNIT, N) *)(out + (clockwise ? i : N - 1 - i) * dst_stride) = v[i];
        return;
    }
#pragma kernel
#pragma form ROWS
    /* Blocks of 16 × 16 pixels go through a small array, because rows whose stride is a power of 2 displace each other
     * in the cache. */
    for (; column < end_column; column += 16) {
        int columns = min(16, end_column - column);
        for (int x = begin; x < end; x += 16) {
            UNIT block[16 * 16 * UNITS];
            int rows = min(16, end - x);
            for (int i = 0; i < rows; i++) {
                __global const UNIT *in = ROW(src, clockwise ? height - 1 - x - i : x + i);
                for (int j = 0; j < columns; j++)
                    UNROLLED for (int unit = 0; unit < UNITS; unit++)
                        block[(j * 16 + i) * UNITS + unit] = in[(column + j) * UNITS + unit];
            }
            for (int j = 0; j < columns; j++) {
                int y = clockwise ? column + j : width - 1 - column - j;
                for (int k = 0; k < rows * UNITS; k++)
                    ROW(dst, y)[x * UNITS + k] = block[j * 16 * UNITS + k];
            }
        }
    }
#pragma form VECTOR SCALAR
    for (; column < end_column; column++)
        for (int x = begin; x < end; x++) {
            __global const UNIT *in =
                ROW(src, clockwise ? height - 1 - x : x) + column * UNITS;
            __global UNIT *out = ROW(dst, clockwise ? column : width - 1 - column) + x * UNITS;
            for (int unit = 0; unit < UNITS; unit++)
                out[unit] = in[unit];
        }
#pragma form
}
