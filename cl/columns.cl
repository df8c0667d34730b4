/* A walker for GPUs with few registers and without fast local memory (Mali): stencils of 8-bit samples. A work-item computes
 * 4 samples in each of ROWS rows, from the top down. It loads each line of the source once, these 4 samples and a word on
 * either side, and keeps in registers what several rows need.
 *
 * Between cl/columns_words.cl and this file the stage's file has
 *
 *     STATE            what is kept from line to line, declared
 *     ENTER(v)         takes line v into it
 *     RESULT, SECOND   the row that is then complete, as bytes; and that of the second plane, if there are two PLANES
 *     LEAVE(v)         makes ready for the next line
 *
 * If all lines lie inside the plane the loop over rows is unrolled, because otherwise the values that it carries from
 * row to row would be copied twice in each iteration. At the plane's edges a loop that is not unrolled gathers the
 * samples. */
#define LINES (ROWS + TOP + BOTTOM)

/* The words of a line around x, where some of the samples are outside and come from the border. */
inline uint4 FN(gather)(PLANE_IN(uchar, src), int x, int y, int width, int height, int border)
{
    int row = border_near(y, height, border), n = width * CH, never = n >> 30; /* see edge.cl */
    __global const uchar *line = ROW(src, max(row, 0));
    uint4 words = 0;
    for (int i = x - 4; i < x + 8 + never && row >= 0; i += 4) {
        bool inside = i >= 0 && i + 4 <= n;
        uint w = inside ? *(__global const uint *)(line + i) : edge_word_near(line, i, width, CH, border, never);
        words = (uint4)(words.yz, w, 0u);
    }
    return words;
}

/* Stores 4 results at index `at` of a plane; PUT_SOME only those that are in the row. */
#define PUT_ALL(p, at, v)  *(__global ushort2 *)(p##_base + (at)) = v;
#define PUT_SOME(p, at, v)                                                                         \
    edge_put_4((__global uchar *)p##_base + (at), as_uint(v), min(grid_width - x, 4));

#if PLANES == 2
#define GIVE(PUT)                                                                                  \
    PUT(dst, to, as_ushort2(THEN_WORD(as_uint(RESULT))))                                           \
    PUT(dst2, to2, SECOND)                                                                         \
    to2 += (uint)dst2_stride;
#else
#define GIVE(PUT) PUT(dst, to, as_ushort2(THEN_WORD(as_uint(RESULT))))
#endif

/* Takes the next line in w. From the last line of the first window on, each line completes a row (`gives`). */
#define STEP(gives, PUT)                                                                           \
    {                                                                                              \
        float16 v = (float16)(FN(samples)(w.x), FN(samples)(w.y), FN(samples)(w.z), (float4)(0.0f));                                                                    \
        ENTER(v)                                                                                   \
        if (gives) {                                                                               \
            GIVE(PUT)                                                                              \
            to += (uint)dst_stride;                                                                \
        }                                                                                          \
        LEAVE(v)                                                                                   \
    }
#define STEP_INSIDE(k)                                                                             \
    if (k < LINES) {                                                                               \
        uint4 w = UNALIGNED_IN(uint, 4, src_base + in);                                            \
        in += (uint)src_stride;                                                                    \
        STEP(k >= TOP + BOTTOM, PUT_ALL)                                                           \
    }

/* The grid counts a row's samples, and in y blocks of ROWS rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height,
                     int border NUMBERS THEN_PARAMETERS)
{
    POSITION(x, block)
    int y = block * ROWS, from = y - TOP;
    /* Unsigned, so that an address is the base plus one sum of 32 bits. */
    uint in = (uint)(src_offset + from * src_stride + x - 4);
    uint to = (uint)(dst_offset + y * dst_stride + x);
#if PLANES == 2
    uint to2 = (uint)(dst2_offset + y * dst2_stride + x);
#endif
    STATE
    if (x >= 4 && x + 12 <= grid_width && from >= 0 && from + LINES <= height) {
        STEP_INSIDE(0) STEP_INSIDE(1) STEP_INSIDE(2) STEP_INSIDE(3) STEP_INSIDE(4)
        STEP_INSIDE(5) STEP_INSIDE(6) STEP_INSIDE(7) STEP_INSIDE(8) STEP_INSIDE(9)
        STEP_INSIDE(10) STEP_INSIDE(11) STEP_INSIDE(12) STEP_INSIDE(13)
        return;
    }
    for (int n = from, end = min(from + LINES, height + BOTTOM); n < end; n++) {
        uint4 w = FN(gather)(src_base, src_offset, src_stride, x, n, width, height, border);
        STEP(n >= y + BOTTOM, PUT_SOME)
    }
}
