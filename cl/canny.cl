/* canny (J. Canny, A Computational Approach to Edge Detection, IEEE Trans. PAMI-8, 1986, pages 679 to 698), in five kernels.
 *
 * gradient  a number for each pixel: how large its gradient is, times 4, plus which neighbours it is compared with:
 *           0 those at the sides, 1 above and below, 2 upper left and lower right, 3 upper right and lower left
 * thin      a class for each pixel: NONE, or, if no such neighbour has a larger gradient, WEAK or STRONG. Then it is a
 *           tree of its own
 * join      pixels that touch become one tree
 * mark      the root of a tree with a strong pixel becomes strong
 * show      white where the root is strong
 *
 * `parents` has for each pixel that is not NONE another one of its tree, in front of it, or itself: then it is the root.
 * Trees are joined at their roots by atomic_min. Links only ever lead to the front, so there are no circles; and a work-item
 * waits for no other one: each turn of FN(join) has joined two trees, or goes on further in front. A root that is none
 * any more, because another work-item was faster, is told by what atomic_min returns, and then the trees of all three are
 * joined (D. Playne, K. Hawick, A New Algorithm for Parallel Connected-Component Labelling on GPUs, IEEE Trans. PDS 29,
 * 2018, pages 1217 to 1230). */
#define NONE   0
#define WEAK   1
#define STRONG 2

#pragma kernel gradient thin
/* Vectors at any address, on CPUs and Mali. Pixels whose neighbours lie in the plane are computed by vectors where there
 * are so many, others one by one. */
#if LANES + 0
#define ANY(type, name) typedef V(type) __attribute__((aligned(sizeof(type)))) name
ANY(MAGNITUDE, FN(numbers));
ANY(uchar, FN(classes));
#endif

#pragma kernel gradient
/* `flat` and `steep` are exact with the product's floor: it is a whole number for 0 alone, and a gradient of 0 is never an
 * edge. */
inline V(MAGNITUDE) FN(number)(V(DIFFERENCE) dx, V(DIFFERENCE) dy)
{
    V(DIFFERENCE) minus_dx = -dx, minus_dy = -dy;
    V(MAGNITUDE) ax = CONVERT(MAGNITUDE, max(dx, minus_dx)), ay = CONVERT(MAGNITUDE, max(dy, minus_dy));
    V(MAGNITUDE) three = 3, two = 2, one = 1, zero = 0;
#ifdef HALVES
    V(MAGNITUDE) tangent = CONVERT(MAGNITUDE, CONVERT(uint, ax * two) * (V(uint))(TANGENT) >> (V(uint))(16));
#else
    V(MAGNITUDE) tangent = ax * (V(MAGNITUDE))(TANGENT) >> (V(MAGNITUDE))(15);
#endif
#ifdef SQUARES
    V(MAGNITUDE) size = ax * ax + ay * ay;
#else
    V(MAGNITUDE) size = ax + ay;
#endif
    V(MAGNITUDE) line = (dx ^ dy) < (V(DIFFERENCE))(0) ? three : two;
    line = ay > tangent + ax * two ? one : ay <= tangent ? zero : line;
    return size * (V(MAGNITUDE))(4) + line;
}

/* The greatest of all colours' numbers, the first of equal ones, for a pixel in row b whose neighbours' samples begin at
 * left and right. */
inline MAGNITUDE FN(pixel)(__global const SRC *a, __global const SRC *b, __global const SRC *c, int left, int x, int right)
{
    MAGNITUDE best = 0;
    for (int k = 0; k < COLOURS; k++) {
        DIFFERENCE a0 = a[left + k], a2 = a[right + k], c0 = c[left + k], c2 = c[right + k];
        DIFFERENCE beside = (DIFFERENCE)b[right + k] - (DIFFERENCE)b[left + k];
        DIFFERENCE below = (DIFFERENCE)c[x + k] - (DIFFERENCE)a[x + k];
        MAGNITUDE own = FIRST(FN(number)((V(DIFFERENCE))((DIFFERENCE)(a2 - a0 + 2 * beside + c2 - c0)),
                                         (V(DIFFERENCE))((DIFFERENCE)(c0 - a0 + 2 * below + c2 - a2))));
        best = k == 0 || own >> 2 > best >> 2 ? own : best;
    }
    return best;
}

#if LANES + 0
ANY(SRC, FN(samples));
#define AROUND(p) CONVERT(DIFFERENCE, *(__global const FN(samples) *)(p))
/* The numbers of LANES samples, whatever colours they are. */
inline V(MAGNITUDE) FN(several)(__global const SRC *a, __global const SRC *b, __global const SRC *c)
{
    V(DIFFERENCE) a0 = AROUND(a - CH), a2 = AROUND(a + CH), c0 = AROUND(c - CH), c2 = AROUND(c + CH);
    V(DIFFERENCE) beside = AROUND(b + CH) - AROUND(b - CH), below = AROUND(c) - AROUND(a);
    return FN(number)(a2 - a0 + beside + beside + c2 - c0, c0 - a0 + below + below + c2 - a2);
}
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MAGNITUDE, dst), int width, int height)
{
    POSITION(x, y)
    __global const SRC *a = ROW(src, max(y - 1, 0)), *b = ROW(src, y), *c = ROW(src, min(y + 1, height - 1));
    __global MAGNITUDE *out = ROW(dst, y);
    int end = SPAN_END(x), inner = end, inner_end = end;
#if LANES + 0
    if (max(x, 1) + LANES <= min(end, width - 1)) {
        inner = max(x, 1), inner_end = min(end, width - 1);
        for (int next = inner; next < inner_end; next += LANES) {
            int at = min(next, inner_end - LANES);
#if CH == 1
            *(__global FN(numbers) *)(out + at) = FN(several)(a + at, b + at, c + at);
#else
            MAGNITUDE all[CH * LANES];
            for (int k = at * CH, n = 0; n < CH * LANES; k += LANES, n += LANES)
                *(FN(numbers) *)(all + n) = FN(several)(a + k, b + k, c + k);
            UNROLLED for (int i = 0; i < LANES; i++) {
                MAGNITUDE best = all[i * CH];
                for (int k = 1; k < COLOURS; k++)
                    best = all[i * CH + k] >> 2 > best >> 2 ? all[i * CH + k] : best;
                out[at + i] = best;
            }
#endif
        }
    }
#endif
    for (; x < end; x++) {
        x = x == inner ? inner_end : x;
        if (x < end)
            out[x] = FN(pixel)(a, b, c, max(x - 1, 0) * CH, x * CH, min(x + 1, width - 1) * CH);
    }
}
#pragma kernel thin
inline V(uchar) FN(kind)(V(MAGNITUDE) v, V(MAGNITUDE) before, V(MAGNITUDE) behind, LIMIT low, LIMIT high)
{
    V(MAGNITUDE) two = 2, one = 1, zero = 0, size = v >> two, equal = one - ((v & two) >> one);
    V(MAGNITUDE) weak = size > (V(MAGNITUDE))((MAGNITUDE)low) ? one : zero;
    weak = size > (before >> two) ? weak : zero;
    weak = size + equal > (behind >> two) ? weak : zero; /* of equal sides the first counts */
    return CONVERT(uchar, size > (V(MAGNITUDE))((MAGNITUDE)high) ? weak + weak : weak);
}

__kernel void KERNEL(GRID, PLANE_IN(MAGNITUDE, src), PLANE_OUT(uchar, dst), PLANE_OUT(int, parents), int width, int height,
                     LIMIT low, LIMIT high)
{
    POSITION(x, y)
    __global const MAGNITUDE *b = ROW(src, y), *a = ROW(src, max(y - 1, 0)), *c = ROW(src, min(y + 1, height - 1));
    __global uchar *out = ROW(dst, y);
    __global int *own = ROW(parents, y);
    int end = SPAN_END(x), inner = end, inner_end = end;
#if LANES + 0
    V(MAGNITUDE) three = 3, two = 2, one = 1, zero = 0;
    if (y > 0 && y < height - 1 && max(x, 1) + LANES <= min(end, width - 1)) {
        inner = max(x, 1), inner_end = min(end, width - 1);
        for (int next = inner; next < inner_end; next += LANES) {
            int at = min(next, inner_end - LANES);
#define AT(p) (*(__global const FN(numbers) *)((p) + at))
            V(MAGNITUDE) v = AT(b), line = v & three;
            V(MAGNITUDE) before = line == zero ? AT(b - 1) : line == one ? AT(a) : line == two ? AT(a - 1) : AT(a + 1);
            V(MAGNITUDE) behind = line == zero ? AT(b + 1) : line == one ? AT(c) : line == two ? AT(c + 1) : AT(c - 1);
            V(uchar) kind = FN(kind)(v, before, behind, low, high);
            *(__global FN(classes) *)(out + at) = kind;
#if LANES == 16
            ulong2 some = __builtin_astype(kind, ulong2);
            if ((some.x | some.y) == 0)
                continue;
#else
            if (as_uint(kind) == 0)
                continue;
#endif
            for (int i = at; i < at + LANES; i++)
                own[i] = y * parents_stride + i;
        }
    }
#endif
    for (; x < end; x++) {
        x = x == inner ? inner_end : x;
        if (x >= end)
            break;
        MAGNITUDE v = b[x];
        int line = (int)(v & 3), side = line == 1 ? 0 : line == 3 ? -1 : 1, row = line == 0 ? 0 : 1;
        int left = x - side, right = x + side;
        bool first = left >= 0 && left < width && y - row >= 0, last = right >= 0 && right < width && y + row < height;
        MAGNITUDE before = first ? (row ? a : b)[left] : 0, behind = last ? (row ? c : b)[right] : 0;
        uchar kind = FIRST(FN(kind)((V(MAGNITUDE))(v), (V(MAGNITUDE))(before), (V(MAGNITUDE))(behind), low, high));
        out[x] = kind;
        if (kind != NONE)
            own[x] = y * parents_stride + x;
    }
}
#pragma kernel join mark show
/* The root of a pixel's tree; on the way links become shorter. */
inline int FN(root)(volatile __global int *parents, int i)
{
    int parent = parents[i];
    while (parent != i) {
        int next = parents[parent];
        if (next != parent)
            parents[i] = next;
        i = parent, parent = next;
    }
    return i;
}

inline void FN(join)(volatile __global int *parents, int a, int b)
{
    while (true) {
        a = FN(root)(parents, a), b = FN(root)(parents, b);
        if (a == b)
            return;
        int front = min(a, b), back = max(a, b), was = atomic_min(parents + back, front);
        if (was == back)
            return;
        a = was, b = front;
    }
}

#pragma kernel join mark
#define SHOWN
#pragma kernel show
#define SHOWN , PLANE_OUT(uchar, dst)
#pragma kernel join mark show
__kernel void KERNEL(GRID, PLANE_OUT(uchar, classes), PLANE_OUT(int, parents) SHOWN)
{
    POSITION(x, y)
    __global uchar *own = ROW(classes, y);
    volatile __global int *links = parents_base + parents_offset;
    int end = SPAN_END(x);
    for (; x < end; x++) {
        if (x % 8 == 0 && x + 8 <= end && *(__global const ulong *)(own + x) == 0) {
#pragma kernel show
            __global uchar *to = ROW(dst, y) + x;
            if (((size_t)to & 7) == 0)
                *(__global ulong *)to = 0;
            else
                vstore8((uchar8)(0), 0, to);
#pragma kernel join mark show
            x += 7;
            continue;
        }
        int at = y * parents_stride + x, above = at - parents_stride;
#pragma kernel join
        if (own[x] == NONE)
            continue;
        bool left = x > 0 && own[max(x - 1, 0)] != NONE;
        if (y > 0) {
            __global const uchar *line = ROW(classes, y - 1);
            if (line[x] != NONE) { /* its neighbours, and the left one, are joined with it */
                FN(join)(links, at, above);
                continue;
            }
            if (x + 1 < grid_width && line[x + 1] != NONE)
                FN(join)(links, at, above + 1);
            if (!left && x > 0 && line[x - 1] != NONE)
                FN(join)(links, at, above - 1);
        }
        if (left)
            FN(join)(links, at, at - 1);
#pragma kernel mark show
        uchar kind = own[x];
#pragma kernel mark
        if (kind == STRONG) {
            int root = FN(root)(links, at);
            ROW(classes, root / parents_stride)[root % parents_stride] = STRONG;
        }
#pragma kernel show
        if (kind == WEAK) {
            int root = FN(root)(links, at);
            kind = ROW(classes, root / parents_stride)[root % parents_stride];
        }
        ROW(dst, y)[x] = kind == STRONG ? 255 : 0;
#pragma kernel join mark show
    }
}
