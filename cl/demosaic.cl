/* Colours out of a Bayer mosaic. What a pixel lacks is a sum in 16ths of those around it; beyond the edges the mosaic is
 * mirrored, which keeps the colours of rows and columns. Red is in rows whose parity is red_y, and in their columns whose
 * parity is red_x. */
#include <border.cl>
#include <memory.cl>

/* Of a pixel `c`: sums of its two neighbours along the row, of those in the column, of those that are two away, and of the
 * four at its corners, for values of any type. */
#ifdef MHC
#define CROSS(c, h1, v1, h2, v2, d)  (8 * (c) + 4 * ((h1) + (v1)) - 2 * ((h2) + (v2)))
#define ALONG(c, h1, v1, h2, v2, d)  (10 * (c) + 8 * (h1) - 2 * ((h2) + (d)) + (v2))
#define ACROSS(c, h1, v1, h2, v2, d) (10 * (c) + 8 * (v1) - 2 * ((v2) + (d)) + (h2))
#define CORNER(c, h1, v1, h2, v2, d) (12 * (c) + 4 * (d) - 3 * ((h2) + (v2)))
#else
#define CROSS(c, h1, v1, h2, v2, d)  (4 * ((h1) + (v1)))
#define ALONG(c, h1, v1, h2, v2, d)  (8 * (h1))
#define ACROSS(c, h1, v1, h2, v2, d) (8 * (v1))
#define CORNER(c, h1, v1, h2, v2, d) (4 * (d))
#endif
#define SAMPLE(v) CAT3(convert_, SRC, _sat)(v)
#pragma form ROWS
typedef SRC FN(pixels) __attribute__((ext_vector_type(48), aligned(sizeof(SRC))));
#pragma form

/* A pixel, wherever it is. `rows` are those around it. */
inline void FN(pixel)(__global const SRC *const *rows, __global SRC *out, int x, int width, int column, int row)
{
    int a = border_near(x - 2, width, BORDER_REFLECT), b = border_near(x - 1, width, BORDER_REFLECT);
    int d = border_near(x + 1, width, BORDER_REFLECT), e = border_near(x + 2, width, BORDER_REFLECT);
    int c = rows[2][x], h1 = rows[2][b] + rows[2][d], v1 = rows[1][x] + rows[3][x];
    int h2 = rows[2][a] + rows[2][e], v2 = rows[0][x] + rows[4][x];
    int corners = rows[1][b] + rows[1][d] + rows[3][b] + rows[3][d];
    int cross = (CROSS(c, h1, v1, h2, v2, corners) + 8) >> 4, corner = (CORNER(c, h1, v1, h2, v2, corners) + 8) >> 4;
    int along = (ALONG(c, h1, v1, h2, v2, corners) + 8) >> 4, across = (ACROSS(c, h1, v1, h2, v2, corners) + 8) >> 4;
    int green = column != row; /* its own colour */
    int first = green ? along : c, last = green ? across : corner; /* the row's colour, and that of the others */
    out[0] = SAMPLE(row ? last : first);
    out[1] = SAMPLE(green ? c : cross);
    out[2] = SAMPLE(row ? first : last);
}

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int red_x, int red_y)
{
    POSITION(x, y)
    __global SRC *out = ROW(dst, y);
    __global const SRC *rows[5];
    UNROLLED for (int k = 0; k < 5; k++)
        rows[k] = ROW(src, border_near(y - 2 + k, height, BORDER_REFLECT));
    int row = (y & 1) ^ red_y;
#pragma form ROWS
    int end = SPAN_END(x);
    while (x < end) {
        if (x < 2 || x + 18 > width || x + 16 > end) {
            FN(pixel)(rows, out + 3 * x, x, width, (x & 1) ^ red_x, row);
            x++;
            continue;
        }
#define INTS_AT(k, by) convert_int16(UNALIGNED_IN(SRC, 16, rows[k] + x + (by)))
        int16 c = INTS_AT(2, 0), h1 = INTS_AT(2, -1) + INTS_AT(2, 1), v1 = INTS_AT(1, 0) + INTS_AT(3, 0), h2 = INTS_AT(2, -2) + INTS_AT(2, 2);
        int16 v2 = INTS_AT(0, 0) + INTS_AT(4, 0), corners = INTS_AT(1, -1) + INTS_AT(1, 1) + INTS_AT(3, -1) + INTS_AT(3, 1);
        int16 cross = (CROSS(c, h1, v1, h2, v2, corners) + 8) >> 4, corner = (CORNER(c, h1, v1, h2, v2, corners) + 8) >> 4;
        int16 along = (ALONG(c, h1, v1, h2, v2, corners) + 8) >> 4, across = (ACROSS(c, h1, v1, h2, v2, corners) + 8) >> 4;
        int16 green = (((int16)(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1) ^ (x & 1) ^ red_x) != row);
        int16 first = (along & green) | (c & ~green), last = (across & green) | (corner & ~green);
        CAT(SRC, 16) r = CAT3(convert_, SRC, 16_sat)(row ? last : first), b = CAT3(convert_, SRC, 16_sat)(row ? first : last);
        CAT(SRC, 16) g = CAT3(convert_, SRC, 16_sat)((c & green) | (cross & ~green));
        *(__global FN(pixels) *)(out + 3 * x) = PIXELS_16(r, g, b);
        x += 16;
    }
#pragma form VECTOR SCALAR
    FN(pixel)(rows, out + 3 * x, x, width, (x & 1) ^ red_x, row);
#pragma form
}
