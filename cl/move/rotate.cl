/* Rotates a plane by 90 degrees, clockwise or not: columns of the source become rows of the result. The grid counts
 * pixels of a row of the result in x, and blocks of BLOCK columns of the source in y, so that a work-item touches few
 * rows of either.
 *
 * If a pixel is one unit (src/stage/move/move.h), squares of N × N pixels are transposed in registers. At an edge, on
 * CPUs the last square begins earlier and writes some pixels a second time; on GPUs pixels are copied one by one. */
#if defined(__clang__) || defined(HAS_PTX) /* others need not have _Pragma */
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED
#endif

#if N > 1
#ifdef FORM_ROWS
typedef CAT(UNIT, N) __attribute__((aligned(UNIT_BYTES))) FN(vector);
#else
typedef CAT(UNIT, N) FN(vector);
#endif

/* Interleaves the lanes of two vectors: of their first halves, and of their second halves. */
#if N == 4
#define FIRST_TURNS(a, b) (CAT(UNIT, N))((a).s0, (b).s0, (a).s1, (b).s1)
#define LAST_TURNS(a, b)  (CAT(UNIT, N))((a).s2, (b).s2, (a).s3, (b).s3)
#elif N == 8
#define FIRST_TURNS(a, b)                                                                          \
    (CAT(UNIT, N))((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3)
#define LAST_TURNS(a, b)                                                                           \
    (CAT(UNIT, N))((a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#else
#define FIRST_TURNS(a, b)                                                                          \
    (CAT(UNIT, N))((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3, (a).s4, (b).s4, \
                   (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#define LAST_TURNS(a, b)                                                                           \
    (CAT(UNIT, N))((a).s8, (b).s8, (a).s9, (b).s9, (a).sa, (b).sa, (a).sb, (b).sb, (a).sc, (b).sc, \
                   (a).sd, (b).sd, (a).se, (b).se, (a).sf, (b).sf)
#endif

/* One step of transposing; after log2 N of them rows are columns. */
inline void FN(round)(CAT(UNIT, N) *v)
{
    CAT(UNIT, N) w[N];
    UNROLLED for (int i = 0; i < N / 2; i++) {
        w[2 * i] = FIRST_TURNS(v[i], v[i + N / 2]);
        w[2 * i + 1] = LAST_TURNS(v[i], v[i + N / 2]);
    }
    UNROLLED for (int i = 0; i < N; i++)
        v[i] = w[i];
}
#endif

__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst), int width, int height,
                     int clockwise)
{
    int column = GRID_Y * BLOCK, end_column = min(column + BLOCK, width);
    int begin = SPAN_BEGIN;
    if (GRID_Y >= grid_y_end || begin >= grid_width)
        return;
    int end = SPAN_END(begin);
#if N > 1
#ifdef FORM_ROWS
    bool squares = width >= N && height >= N;
#else
    bool squares = column + N <= width && begin + N <= height;
#endif
    if (squares) {
        for (; column < end_column; column += N) {
            int left = min(column, width - N), top = clockwise ? left : width - N - left;
            for (int x = begin; x < end; x += N) {
                int to = min(x, height - N);
                __global const UNIT *in = ROW(src, clockwise ? height - 1 - to : to) + left;
                __global UNIT *out = ROW(dst, top) + to;
                CAT(UNIT, N) v[N];
                UNROLLED for (int i = 0; i < N; i++)
                    v[i] = *(__global const FN(vector) *)(in + (clockwise ? -i : i) * src_stride);
                UNROLLED for (int n = N; n > 1; n /= 2)
                    FN(round)(v);
                UNROLLED for (int i = 0; i < N; i++)
                    *(__global FN(vector) *)(out + (clockwise ? i : N - 1 - i) * dst_stride) = v[i];
            }
        }
        return;
    }
#endif
#ifdef FORM_ROWS
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
#else
    for (; column < end_column; column++)
        for (int x = begin; x < end; x++) {
            __global const UNIT *in =
                ROW(src, clockwise ? height - 1 - x : x) + column * UNITS;
            __global UNIT *out = ROW(dst, clockwise ? column : width - 1 - column) + x * UNITS;
            for (int unit = 0; unit < UNITS; unit++)
                out[unit] = in[unit];
        }
#endif
}
