/* A picture with before_x more columns and before_y more rows in front of it, and as many behind as the grid has: what stands outside,
 * for wavelet modes in which that is not a sample of the picture but a sum of up to three, w[0] · x[at[0]] + … along
 * each direction:
 *     smooth         a straight line through the last two samples
 *     antisymmetric  the mirrored signal, its sign changed at each turn, the last sample first
 *     antireflect    the signal turned about its last sample: 2 · last − mirrored
 * A signal of one sample goes on with that sample, or, with antisymmetric, with changing signs.
 *
 * WORK is the type of the result. C is the number of its channels, CH that of the source; if they differ, the source's
 * last channel is alpha. */

#define SMOOTH        0
#define ANTISYMMETRIC 1

struct FN(sum) {
    int at[3];
    WORK w[3];
};

/* What stands at position i of a signal of n samples. */
inline struct FN(sum) FN(outside)(int i, int n, int mode)
{
    struct FN(sum) s = {{i, 0, n - 1}, {1, 0, 0}};
    if (i >= 0 && i < n)
        return s;
    s.at[0] = 0;
    if (mode == ANTISYMMETRIC) {
        int turn = i < 0 ? (i + 1) / n - 1 : i / n, along = i - turn * n;
        s.at[0] = turn & 1 ? n - 1 - along : along;
        s.w[0] = turn & 1 ? -1 : 1;
    } else if (n > 1 && mode == SMOOTH) {
        int far = i < 0 ? -i : i - (n - 1), last = i < 0 ? 0 : n - 1;
        s.at[0] = last;
        s.w[0] = 1 + far;
        s.at[1] = i < 0 ? 1 : n - 2;
        s.w[1] = -far;
    } else if (n > 1) {
        int period = 2 * (n - 1), turn = i < 0 ? (i + 1) / period - 1 : i / period, along = i - turn * period;
        s.at[0] = along < n ? along : period - along;
        s.w[0] = along < n ? 1 : -1;
        s.w[1] = -2 * turn;
        s.w[2] = 2 * turn + (along < n ? 0 : 2);
    }
    return s;
}

/* The grid counts samples and rows of the result. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, out), int before_x, int before_y,
                     int width, int height, int mode)
{
    POSITION(x, y)
    struct FN(sum) down = FN(outside)(y - before_y, height, mode);
    bool inside = y >= before_y && y - before_y < height;
    for (int end = SPAN_END(x); x < end; x++) {
        int column = x / C - before_x, c = x % C;
        if (inside && column >= 0 && column < width) {
            ROW(out, y)[x] = (WORK)ROW(src, down.at[0])[column * CH + c];
            continue;
        }
        struct FN(sum) along = FN(outside)(column, width, mode);
        WORK v = 0;
        for (int i = 0; i < 3; i++) {
            __global const SRC *row = ROW(src, down.at[i]);
            WORK of_row = 0;
            for (int k = 0; k < 3; k++)
                of_row += along.w[k] * (WORK)row[along.at[k] * CH + c];
            v += down.w[i] * of_row;
        }
        ROW(out, y)[x] = v;
    }
}
