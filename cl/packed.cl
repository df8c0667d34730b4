/* A walker for GPUs on which arithmetic takes more time than memory: stencils of 8 bits, of one channel. A work-item
 * computes WORDS words (SPAN samples) in each of ROWS rows, from LINES lines, which it loads first. More rows save loads,
 * but need registers, so that fewer work-items run at once: 4 rows are best.
 *
 * Between cl/packed_words.cl and this file the stage's file has
 *
 *     struct FN(state)                     what it makes of all lines
 *     FN(begin)(&state, lines)             and how
 *     FN(row)(&state, lines, i, v GIVEN)   row i of the results, words of bytes, in v[0]; and in v[1], if there are two
 *                                          PLANES. Called for rows 0, 1 … in turn
 *
 * Loops are unrolled and these functions INLINED, because arrays lie in memory unless a compiler knows every index. */
#ifndef CH /* a row's samples are pixels of so many */
#define CH 1
#endif
#if SIDE == 1
#define BESIDE uint
#define LINE_OF(left, own, right) (uint8)(0u, left, own, right, 0u NOTHING)
#else
#define BESIDE uint2
#define LINE_OF(left, own, right) (uint8)(left, own, right NOTHING)
#endif

#define LINE_AT(k) PLACE(src, x, from + k)

/* Results are bytes, and so are those of stages that are fused behind (src/chain/fuse_pixels.c). */
#define STORED(v) CAT(as_uint, WORDS)(THEN(CAT3(as_, DST, LANES)(v)))

/* Word i of all lines, for work-items at the plane's edges. */
#define GATHER(i)                                                                                  \
    if (i >= 2 - SIDE && i < 2 + SIDE + WORDS) {                                                   \
        int first = x + 4 * i - 8;                                                                 \
        bool whole = first >= 0 && first + 4 <= width;                                             \
        int4 at = whole ? (int4)(first) : edge_samples(first, width / CH, CH, border);             \
        UNROLLED for (int k = 0; k < LINES; k++)                                                   \
            lines[k].s##i = FN(gather)(src_base, row[k], whole, at);                                 \
    }
#define NO_ROW 0xffffffffu
inline uint FN(gather)(__global const uchar *plane, uint row, bool whole, int4 at)
{
    if (row == NO_ROW)
        return 0;
    return whole ? *(__global const uint *)(plane + row + at.s0) : edge_gather(plane + row, at);
}

/* Stores SPAN samples, of which `count` are in the row. */
inline void FN(put)(__global uchar *at, OWN v, int count)
{
    if (count >= SPAN) {
        *(__global OWN *)at = v;
        return;
    }
    ROLLED for (int i = 0; i < count; i++)
    {
        at[i] = (uchar)v.x;
        v.x = i % 4 < 3 ? v.x >> 8 : v.y;
#if WORDS == 4
        if (i % 4 == 3)
            v.yz = v.zw;
#endif
    }
}

/* Computes and stores row i of the ROWS. (Not in a loop: some compilers unroll it after they have looked for arrays.) */
#if PLANES == 2
#define PUT_SECOND(i) FN(put)((__global uchar *)PLACE(dst2, x, y + i), v[1], width - x);
#else
#define PUT_SECOND(i)
#endif
#define STEP(i)                                                                                    \
    if (y + i < height) {                                                                          \
        OWN v[PLANES];                                                                             \
        FN(row)(&state, lines, i, v GIVEN);                                                        \
        FN(put)((__global uchar *)PLACE(dst, x, y + i), STORED(v[0]), width - x);                     \
        PUT_SECOND(i)                                                                              \
    }

/* The grid counts samples in x, and in y blocks of ROWS rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height, int border NUMBERS THEN_PARAMETERS)
{
    int y = GRID_Y * ROWS, x = SPAN_BEGIN, from = y - TOP;
    IN_GRID(x, GRID_Y)
    uint8 lines[LINES];
    if (from >= 0 && from + LINES <= height && x >= 4 * SIDE && x + SPAN + 4 * SIDE <= width) {
        OWN own[LINES]; /* all loads before anything else, because each has a long latency */
        BESIDE left[LINES], right[LINES];
        UNROLLED for (int k = 0; k < LINES; k++)
        {
            own[k] = *(__global const OWN *)LINE_AT(k);
            left[k] = *(__global const BESIDE *)(LINE_AT(k) - 4 * SIDE);
            right[k] = *(__global const BESIDE *)(LINE_AT(k) + SPAN);
        }
        UNROLLED for (int k = 0; k < LINES; k++)
            lines[k] = LINE_OF(left[k], own[k], right[k]);
    } else {
        /* They load word i of all lines together, and if it is outside compute the columns of its samples once for all
         * lines. (Computed for each line, by unrolled code, this was 7 % of all instructions, and displaced the other code
         * from the caches.) */
        uint row[LINES]; /* where the lines begin in the plane's memory: 32 bits take fewer registers than addresses */
        UNROLLED for (int k = 0; k < LINES; k++)
        {
            int y = border_index(from + k, height, border);
            row[k] = y < 0 ? NO_ROW : (uint)(src_offset + y * src_stride);
            lines[k] = 0;
        }
        GATHER(0) GATHER(1) GATHER(2) GATHER(3) GATHER(4) GATHER(5) GATHER(6) GATHER(7)
    }
    struct FN(state) state;
    FN(begin)(&state, lines);
    STEP(0) STEP(1) STEP(2) STEP(3)
}
