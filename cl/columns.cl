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
 * RESULT may be floats, too, where DST is float.
 *
 * If all lines lie inside the plane the loop over rows is unrolled, because otherwise the values that it carries from
 * row to row would be copied twice in each iteration. At the plane's edges a loop that is not unrolled gathers the
 * samples.
 *
 * With COLOURS the source is the luminance of pixels of so many channels, which is computed as their rows are loaded:
 * that of 8 pixels, two in front of the own ones and two behind. */
#define LINES (ROWS + TOP + BOTTOM)

#if COLOURS
#define COLOUR_PARAMETERS , uint red, uint green, uint blue
#define COLOUR_ARGUMENTS  , red, green, blue
#define FRONT             (2 * COLOURS + (COLOURS == 3 ? 2 : 0)) /* bytes that are loaded in front of the own pixels */
#define SHARE(weight)     ((float)(weight)*0x1p-16f)

/* Luminance from a word's byte on, of which the next two may be in the next word. */
inline float FN(grey)(uint w, uint next, int byte COLOUR_PARAMETERS)
{
    float g = byte < 3 ? byte_as_float(w, byte + 1) : byte_as_float(next, 0);
    float b = byte < 2 ? byte_as_float(w, byte + 2) : byte_as_float(next, byte - 2);
    return luma_of_bytes(byte_as_float(w, byte), g, b, SHARE(red), SHARE(green), SHARE(blue));
}

inline float16 FN(line_at)(__global const uchar *at COLOUR_PARAMETERS)
{
    uint4 v = UNALIGNED_IN(uint, 4, at), w = UNALIGNED_IN(uint, 4, at + 16);
#define GREY(a, b, k) FN(grey)(a, b, k COLOUR_ARGUMENTS)
#if COLOURS == 3
    float4 before = (float4)(GREY(v.x, v.y, 2), GREY(v.y, v.z, 1), GREY(v.z, v.z, 0), GREY(v.z, v.w, 3));
    float4 behind = (float4)(GREY(v.w, w.x, 2), GREY(w.x, w.y, 1), GREY(w.y, w.y, 0), GREY(w.y, w.z, 3));
#else
    float4 before = lumas_of_rgba(v, SHARE(red), SHARE(green), SHARE(blue));
    float4 behind = lumas_of_rgba(w, SHARE(red), SHARE(green), SHARE(blue));
#endif
    return (float16)(0.0f, 0.0f, before, behind, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
}

/* The same where some of the pixels are outside and come from the border. */
inline float16 FN(gather)(PLANE_IN(uchar, src), int x, int y, int width, int height, int border COLOUR_PARAMETERS)
{
    int row = border_near(y, height, border), never = width >> 30; /* see edge.cl */
    __global const uchar *line = ROW(src, max(row, 0));
    float8 greys = 0;
    for (int i = x - 2; i < x + 6 + never && row >= 0; i++) {
        int column = border_near(i, width, border);
        __global const uchar *p = line + max(column, 0) * COLOURS;
        float grey = luma_of_bytes((float)p[0], (float)p[1], (float)p[2], SHARE(red), SHARE(green), SHARE(blue));
        greys = (float8)(greys.s1234, greys.s567, column < 0 ? 0.0f : grey);
    }
    return (float16)(0.0f, 0.0f, greys, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
}
#else
#define COLOURS 1
#define COLOUR_PARAMETERS
#define COLOUR_ARGUMENTS
#define FRONT 4

inline float16 FN(line_at)(__global const uchar *at)
{
    uint4 w = UNALIGNED_IN(uint, 4, at);
    return FN(line_of)(w);
}

/* The line around x, where some of the samples are outside and come from the border. */
inline float16 FN(gather)(PLANE_IN(uchar, src), int x, int y, int width, int height, int border)
{
    int row = border_near(y, height, border), n = width * CH, never = n >> 30; /* see edge.cl */
    __global const uchar *line = ROW(src, max(row, 0));
    uint4 words = 0;
    for (int i = x - 4; i < x + 8 + never && row >= 0; i += 4) {
        bool inside = i >= 0 && i + 4 <= n;
        uint w = inside ? *(__global const uint *)(line + i) : edge_word_near(line, i, width, CH, border, never);
        words = (uint4)(words.yz, w, 0u);
    }
    return FN(line_of)(words);
}
#endif

/* Stores 4 results at index `at` of a plane; PUT_SOME only those that are in the row. */
#ifdef DST_IS_float
#define THEN_RESULT        THEN(RESULT)
#define PUT_ALL(p, at, v)  *(__global V(OUT) *)(p##_base + (at)) = v;
#define PUT_SOME(p, at, v) FN(put_some)(p##_base + (at), v, min(grid_width - x, 4));
inline void FN(put_some)(__global OUT *to, V(OUT) v, int count)
{
    for (int i = 0; i < count; i++, v = v.s1230)
        to[i] = v.s0;
}
#else
#define THEN_RESULT       as_ushort2(THEN_WORD(as_uint(RESULT)))
#define PUT_ALL(p, at, v)  *(__global ushort2 *)(p##_base + (at)) = v;
#define PUT_SOME(p, at, v)                                                                         \
    edge_put_4((__global uchar *)p##_base + (at), as_uint(v), min(grid_width - x, 4));
#endif

#if PLANES == 2
#define GIVE(PUT)                                                                                  \
    PUT(dst, to, THEN_RESULT)                                           \
    PUT(dst2, to2, SECOND)                                                                         \
    to2 += (uint)dst2_stride;
#else
#define GIVE(PUT) PUT(dst, to, THEN_RESULT)
#endif

/* Takes the next line. From the last line of the first window on, each line completes a row (`gives`). */
#define STEP(line, gives, PUT)                                                                     \
    {                                                                                              \
        float16 v = line;                                                                          \
        ENTER(v)                                                                                   \
        if (gives) {                                                                               \
            GIVE(PUT)                                                                              \
            to += (uint)dst_stride;                                                                \
        }                                                                                          \
        LEAVE(v)                                                                                   \
    }
#define STEP_INSIDE(k)                                                                             \
    if (k < LINES) {                                                                               \
        STEP(FN(line_at)(src_base + in COLOUR_ARGUMENTS), k >= TOP + BOTTOM, PUT_ALL)               \
        in += (uint)src_stride;                                                                    \
    }

/* The grid counts a row's samples, and in y blocks of ROWS rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height,
                     int border NUMBERS COLOUR_PARAMETERS THEN_PARAMETERS)
{
    POSITION(x, block)
    int y = block * ROWS, from = y - TOP;
    /* Unsigned, so that an address is the base plus one sum of 32 bits. */
    uint in = (uint)(src_offset + from * src_stride + x * COLOURS - FRONT);
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
        STEP(FN(gather)(src_base, src_offset, src_stride, x, n, width, height, border COLOUR_ARGUMENTS),
             n >= y + BOTTOM, PUT_SOME)
    }
}
