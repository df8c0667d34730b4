/* gauss and unsharp on GPUs with local memory: a work-group sums a tile's rows along, into local
 * memory, and then down. A work-item takes four pixels of one channel at once, and down columns of four rows; each
 * sample that it looks at is weighted for all of these.
 *
 * The tile has `rows` rows, a multiple of 4, of BLOCKS times four pixels, which local memory has by channels. WEIGHTS
 * are those from distance 0 to RADIUS. They are part of the program, and loops over a window are unrolled, so that
 * weights are loaded from nowhere. */
#include <border.cl>
#include <in_words.cl>
#include <words.cl>
#include <types.cl>
#include "gauss_sharpen.cl"
#include "weighted.cl"
#define ITEMS 256
#define QUADS (BLOCKS * CH)
#define TAPS  (2 * RADIUS + 4)

/* Sums along a row: of bytes they are below 2^22, and behind 2^23 in a float's last bits, which needs no conversion. */
#ifdef SRC_IS_ushort
#define LINE_WEIGHT int
#else
#define LINE_WEIGHT float
#endif
#define LINE_START (IS_REAL(SRC) ? 0 : sizeof(SRC) == 1 ? 8388608.0f + 128.0f : 1 << 7)
inline V(LINE_WEIGHT) FN(add_along)(V(LINE_WEIGHT) sum, LINE_WEIGHT v, V(LINE_WEIGHT) w)
{
#ifdef SRC_IS_uchar
    return mad((V(float))v, w, sum);
#else
    return sum + (V(LINE_WEIGHT))v * w;
#endif
}

inline V(MIDDLE) FN(in_64ths)(V(LINE_WEIGHT) sum)
{
#if defined(SRC_IS_uchar)
    return CONVERT(MIDDLE, CAT(as_int, LANES)(sum) >> 8 & 0x7fff);
#elif defined(SRC_IS_ushort)
    return sum >> 8;
#else
    return sum;
#endif
}

__constant LINE_WEIGHT FN(line_weights)[] = {WEIGHTS};
__constant WORK FN(weights)[] = {WEIGHTS};

/* The weight of place i of a window, 0 behind its end. */
#define WEIGHT_OF(table, i)                                                                        \
    ((i) > 2 * RADIUS ? 0 : FN(table)[(i) < RADIUS ? RADIUS - (i) : (i) - RADIUS])

/* The sums along a row around four pixels, of which the first one's window begins at pixel `first`. */
inline V(MIDDLE) FN(along)(__global const SRC *row, int first, int width, int border)
{
    V(LINE_WEIGHT) sum = LINE_START, w = 0;
    if (first >= 0 && first + TAPS <= width) {
        row += first * CH;
#ifdef PHASE /* the first pixel is byte PHASE of a word */
        __global const uint *words = (__global const uint *)(row - PHASE);
#define SAMPLE_AT(i) byte_as_float(words[((i) + PHASE) / 4], ((i) + PHASE) % 4)
#else
#define SAMPLE_AT(i) (LINE_WEIGHT)row[(i) * CH]
#endif
        UNROLLED_ON_GPUS for (int i = 0; i < TAPS; i++) {
            w = (V(LINE_WEIGHT))(WEIGHT_OF(line_weights, i), w.s012);
            sum = FN(add_along)(sum, SAMPLE_AT(i), w);
        }
    } else {
        _Pragma("unroll 4")
        for (int i = 0; i < TAPS; i++) {
            int pixel = border_index(first + i, width, border);
            w = (V(LINE_WEIGHT))(WEIGHT_OF(line_weights, i), w.s012);
            if (pixel >= 0)
                sum = FN(add_along)(sum, (LINE_WEIGHT)row[pixel * CH], w);
        }
    }
    return FN(in_64ths)(sum);
}

/* Four pixels of a channel from `in` on, the last one over again where the row has no more. */
inline V(SRC) FN(pixels)(__global const SRC *in, int count)
{
    return (V(SRC))(in[0], in[(count > 1 ? 1 : 0) * CH], in[(count > 2 ? 2 : count - 1) * CH],
                    in[(count > 3 ? 3 : count - 1) * CH]);
}

inline void FN(put)(__global SRC *out, V(SRC) v, int count)
{
    if (CH == 1 && ALIGNED && count >= 4) {
#ifdef SRC_IS_uchar
        *(__global uint *)out = hidden(as_uint(v));
#else
        *(__global V(SRC) *)out = v;
#endif
        return;
    }
    UNROLLED_ON_GPUS for (int i = 0; i < 4; i++)
        if (i == 0 || i < count)
            out[i * CH] = ((SRC *)&v)[i];
}

/* The grid counts work-items of tiles in x, and tiles in y. The result's pixel (0, 0) is the source's
 * (`centre`, `centre`). */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int out_width, int out_height,
       int rows, int border, int centre NUMBERS)
{
    __local V(MIDDLE) tile[LINES * QUADS];
    int item = (int)get_local_id(0), begin = (int)get_group_id(0) * BLOCKS * 4, top = GRID_Y * rows;
    int lines = min(rows, out_height - top) + 2 * RADIUS;
    for (int i = item; i < lines * QUADS; i += ITEMS) {
        int line = i / QUADS, quad = i % QUADS, channel = quad % CH;
        int y = border_index(top + line - RADIUS + centre, height, border);
        int first = begin + quad / CH * 4 - RADIUS + centre;
        V(MIDDLE) v = 0;
        if (y >= 0)
            v = FN(along)(ROW(src, y) + channel, first, width, border);
        tile[i] = v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < rows / 4 * QUADS; i += ITEMS) {
        int quad = i % QUADS, channel = quad % CH, x = begin + quad / CH * 4, y = top + i / QUADS * 4;
        int count = out_width - x;
        if (count <= 0 || y >= out_height)
            continue;
        __local const V(MIDDLE) *at = tile + i / QUADS * 4 * QUADS + quad;
        V(WORK) high[4], low[4];
        WORK w[4] = {0, 0, 0, 0};
        UNROLLED_ON_GPUS for (int r = 0; r < 4; r++)
            high[r] = 0, low[r] = ROUNDING;
        UNROLLED_ON_GPUS for (int k = 0; k < TAPS; k++) {
            V(WORK) v = CONVERT(WORK, at[k * QUADS]);
            w[3] = w[2], w[2] = w[1], w[1] = w[0], w[0] = WEIGHT_OF(weights, k);
            UNROLLED_ON_GPUS for (int r = 0; r < 4; r++)
                ADD_ROW(high[r], low[r], v, w[r]);
        }
        UNROLLED_ON_GPUS for (int r = 0; r < 4 && y + r < out_height; r++) {
            V(SRC) out = FN(of_column)(high[r], low[r]), in = 0;
            if (SHARPENS || (ALPHA && channel == CH - 1))
                in = FN(pixels)(ROW(src, y + r + centre) + (x + centre) * CH + channel, count);
            out = ALPHA && channel == CH - 1 ? in : SHARPENED(in, out);
            FN(put)(ROW(dst, y + r) + x * CH + channel, out, count);
        }
    }
}
