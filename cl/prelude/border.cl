/* Borders, numbered as enum border in src/image/border.h; crop has no outside. */
#define BORDER_EDGE      0
#define BORDER_REFLECT   1
#define BORDER_SYMMETRIC 2
#define BORDER_WRAP      3
#define BORDER_ZERO      4

inline int modulo(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

/* The index within 0…n-1 of the sample that the border repeats at i, however far outside; -1: a zero. */
inline int border_index(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == BORDER_EDGE)
        return i < 0 ? 0 : n - 1;
    if (border == BORDER_ZERO)
        return -1;
    if (border == BORDER_WRAP)
        return modulo(i, n);
    if (n == 1)
        return 0;
    int fold = border == BORDER_REFLECT ? 1 : 0;
    int r = modulo(i, 2 * n - 2 * fold);
    return r < n ? r : 2 * n - 1 - fold - r;
}

/* The same for i from -1 to n, which is enough for windows of 3×3, without border_index's divisions. (On Mali they
 * were more than half of sobel's instructions.) */
inline int border_beside(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == BORDER_ZERO)
        return -1;
    int fold = border == BORDER_REFLECT ? min(n - 1, 1) : 0;
    return (i < 0) == (border == BORDER_WRAP) ? n - 1 - fold : fold;
}

/* The same as border_index for any i, in a loop of one reflection or period after the other: cheap for i near the
 * plane. */
inline int border_near(int i, int n, int border)
{
    while ((uint)i >= (uint)n) {
        if (border == BORDER_ZERO)
            return -1;
        if (border == BORDER_EDGE || n == 1)
            return i < 0 ? 0 : n - 1;
        int fold = border == BORDER_REFLECT ? 1 : 0;
        if (border == BORDER_WRAP)
            i += i < 0 ? n : -n;
        else
            i = (i < 0 ? 0 : 2 * n) - 1 - i + (i < 0 ? fold : -fold);
    }
    return i;
}

/* The row of the source that ROW takes for row y of the bordered plane; -1: a row of zeros. In a ring, the line
 * that holds row y. Uses the kernel's `height` and `border`. */
#define SOURCE_Y(y) source_row(y, border_index(y, height, border), RING)
inline int source_row(int y, int row, int ring)
{
    return ring == 0 || row < 0 ? row : modulo(y, ring);
}

/* Describes a bordered line from position p on, up to `end` at most: for as many positions as it returns, the
 * sample at p + k has index *first + k * *step, or is zero if *first is -1. So code for edges can loop over
 * adjacent samples, too. */
inline int border_run(int p, int end, int n, int border, int *first, int *step)
{
    *first = p;
    *step = 1;
    if (p >= 0 && p < n)
        return min(end, n) - p;
    if (border == BORDER_ZERO || border == BORDER_EDGE || n == 1) {
        *first = border == BORDER_ZERO ? -1 : p < 0 ? 0 : n - 1;
        *step = 0;
        return (p < 0 ? min(end, 0) : end) - p;
    }
    int fold = border == BORDER_REFLECT ? 1 : 0;
    int period = border == BORDER_WRAP ? n : 2 * n - 2 * fold;
    int r = modulo(p, period);
    *first = r;
    if (r < n)
        return min(end - p, n - r);
    *first = 2 * n - 1 - fold - r;
    *step = -1;
    return min(end - p, period - r);
}

/* The number of positions after which a bordered line repeats; 0: it does not. */
inline int border_period(int n, int border)
{
    if (border == BORDER_ZERO || border == BORDER_EDGE || n == 1)
        return 0;
    return border == BORDER_WRAP ? n : border == BORDER_REFLECT ? 2 * n - 2 : 2 * n;
}

/* Sample c of the pixel at column i of row y, as border_index gave them: zero where one is -1. */
#define FETCH(p, i, ch, y, c) ((i) < 0 || (y) < 0 ? 0 : ROW(p, y)[(i) * (ch) + (c)])
