/* One level of cdf97 or cdf53 by lifting, for CPUs and pictures of one channel (ISO/IEC 15444-1 F.3.8). With x
 * mirrored at its ends, the two steps of the 5/3 filters (STEPS 2) are
 *     d[n] = x[2n + 1] + a · (x[2n] + x[2n + 2])      s[n] = x[2n] + b · (d[n − 1] + d[n])
 * and the 9/7 filters (STEPS 4) have two more:
 *     d'[n] = d[n] + c · (s[n] + s[n + 1])            s'[n] = s[n] + e · (d'[n − 1] + d'[n])
 * The low band is s times a factor, the high band d times another one. REVERSIBLE is the 5/3 in integers.
 *
 * A work-item goes down SPAN pairs of columns through `rows` rows of the bands, and reads each row once. What the steps
 * down the columns need from rows above is in private memory. Even columns are stored apart from odd ones, so that
 * neighbours in the steps along the row are adjacent. The steps start with zeros in place of unknown neighbours, so
 * early that the wrong results do not reach what is stored.
 *
 * `lift` holds a, b, c, e, the factor of the low band and that of the high band. */
#include <border.cl>
#include <processor.cl>

#define WORKS  CAT(WORK, 16)
#define EARLY (STEPS / 2) /* pairs in front of the first stored one that the steps need */
#define LINE  (SPAN + 48) /* room in pairs: SPAN and EARLY in whole vectors, and a vector in front */
typedef CAT(SRC, 16) __attribute__((aligned(SRC_SIZE))) FN(source16);
typedef ushort16 __attribute__((aligned(1))) FN(source_pairs);
typedef WORKS __attribute__((aligned(WORK_SIZE))) FN(work16);
#define AT_ANY(p)     (*(FN(work16) *)(p))

/* PoCL 3.1 does not define FP_FAST_FMAF for processors that have fma, but its compiler defines __FMA__. */
#if (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                                           \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA)) || defined(__FMA__)
#define BY_FMA
#endif
#include "dwt_lifting.cl"
#define DOWN WORKS
#include "dwt_down.cl"

/* Sixteen pairs of columns where the row ends. What is outside is fewer samples than a row has, unless the row is short.
 * (With border_index for all rows: a sixth of 9/7's time.) */
CALLED inline void FN(fetch_ends)(__global const SRC *restrict row, int p, int width, WORK *at)
{
    if (width < 64) {
        for (int k = 0; k < 32; k++)
            at[k] = (WORK)row[border_index(2 * p + k, width, BORDER_REFLECT)];
        return;
    }
    for (int k = 0; k < 32; k++) {
        int i = (int)abs(2 * p + k);
        at[k] = (WORK)row[min(i, 2 * (width - 1) - i)];
    }
}

/* Loads sixteen pairs of columns of a row, from pair `p` on; the row is mirrored at its ends. */
inline void FN(fetch)(__global const SRC *restrict row, int p, int width, WORKS *even, WORKS *odd)
{
    if (p >= 0 && 2 * p + 32 <= width) {
#ifdef SRC_IS_uchar /* pairs as words: a mask and a shift instead of shuffles */
        uint16 pairs = convert_uint16(*(__global const FN(source_pairs) *)(row + 2 * p));
        *even = CAT3(convert_, WORK, 16)(as_int16(pairs & 0xff));
        *odd = CAT3(convert_, WORK, 16)(as_int16(pairs >> 8));
        return;
#endif
        CAT(SRC, 16) a = *(__global const FN(source16) *)(row + 2 * p);
        CAT(SRC, 16) b = *(__global const FN(source16) *)(row + 2 * p + 16);
        *even = CAT3(convert_, WORK, 16)((CAT(SRC, 16))(a.even, b.even));
        *odd = CAT3(convert_, WORK, 16)((CAT(SRC, 16))(a.odd, b.odd));
        return;
    }
    WORK at[32];
    FN(fetch_ends)(row, p, width, at);
    WORKS a = AT_ANY(at), b = AT_ANY(at + 16);
    *even = (WORKS)(a.even, b.even);
    *odd = (WORKS)(a.odd, b.odd);
}

/* Of columns of the two kinds, even and odd: what the steps down need from the rows above; and two pairs of rows that are
 * filtered down: low, high, low, high. */
struct FN(above) {
    WORKS x[LINE / 16], d[LINE / 16], s[LINE / 16], d2[LINE / 16];
};
struct FN(made) {
    WORKS line[4][LINE / 16];
};

/* The steps down for four more rows: odd, even, odd, even. With STEPS 2 they complete the rows of the pairs that these end,
 * with STEPS 4 those of the pair before. Factors are applied later, along the row. */
inline void FN(down_four)(struct FN(above) *above, int i, WORKS o0, WORKS e0, WORKS o1, WORKS e1,
                          __global const WORK *lift, struct FN(made) *made)
{
    struct FN(factors) f = {lift[0], lift[1], lift[2], lift[3]};
    i /= 16;
    struct FN(column) own = {above->x[i], above->d[i], above->s[i], above->d2[i], 0, 0};
    FN(down)(&own, o0, e0, f);
    made->line[0][1 + i] = own.low, made->line[1][1 + i] = own.high;
    FN(down)(&own, o1, e1, f);
    made->line[2][1 + i] = own.low, made->line[3][1 + i] = own.high;
    above->x[i] = own.x, above->d[i] = own.d;
    if (STEPS == 4)
        above->s[i] = own.s, above->d2[i] = own.d2;
}

/* `v` moved up by one lane; lane 0 is the last lane of the vector before it. */
#define MOVED_UP(before, v) ((WORKS)((before).sf, (v).s01234567, (v).s89ab, (v).scd, (v).se))

/* Bands of pictures of more bytes than this are stored without filling the caches, so that the processor need not fetch
 * cache lines that are then overwritten completely (5/3: 1.58 → 1.20 ticks a pixel, 9/7: 1.62 → 1.52). */
#define PAST_CACHES   (8 << 20)
#define IS_ALIGNED(p) (((size_t)(p) & (sizeof(WORKS) - 1)) == 0)
inline void FN(store)(__global WORK *to, WORKS v, bool past)
{
    if (past)
        STORE_PAST(v, (__global WORKS *)to);
    else
        *(__global FN(work16) *)to = v;
}

/* The steps along a row of pairs: as down a column, with the lane to the left in place of the row above. The first
 * stored pair is number EARLY. `even` and `odd` have a vector in front of them. `past` is the number of bands, the high
 * one first, that are stored without filling the caches; the low one is read by the next level. */
inline void FN(along)(const WORK *even, const WORK *odd, __global const WORK *lift, WORK scale,
                      int past, int n_low, int n_high, __global WORK *low, __global WORK *high)
{
    WORK to_low = STEPS == 4 ? lift[4] * scale : 0, to_high = STEPS == 4 ? lift[5] * scale : 0;
    bool high_past = past > 0 && IS_ALIGNED(high), low_past = past > 1 && IS_ALIGNED(low);
    WORKS d_before = 0, s_before = 0, d2_before = 0;
    for (int i = -16; i < n_low; i += 16) {
        const WORK *e = even + i + STEPS - 1, *o = odd + i + STEPS - 1;
        WORKS x = AT_ANY(e);
        WORKS d = LIFT_ODD(AT_ANY(o), x, AT_ANY(e + 1), (WORKS)(lift[0])), d_left = MOVED_UP(d_before, d);
        WORKS s = LIFT_EVEN(x, d_left, d, (WORKS)(lift[1]));
        d_before = d;
        if (STEPS == 4) {
            WORKS s_left = MOVED_UP(s_before, s);
            d = LIFT_ODD(d_left, s_left, s, (WORKS)(lift[2]));
            s_before = s;
            s = to_low * LIFT_EVEN(s_left, MOVED_UP(d2_before, d), d, (WORKS)(lift[3]));
            d2_before = d;
            d = to_high * d;
        }
        if (i < 0)
            continue;
        if (i + 16 <= n_high) {
            FN(store)(low + i, s, low_past);
            FN(store)(high + i, d, high_past);
            continue;
        }
        WORK ls[16], hs[16];
        AT_ANY(ls) = s;
        AT_ANY(hs) = d;
        for (int k = 0; k < 16; k++) {
            if (i + k < n_low)
                low[i + k] = ls[k];
            if (i + k < n_high)
                high[i + k] = hs[k];
        }
    }
}

/* Row 2n + k of the picture. */
#define SOURCE(n, k) ROW(src, border_index(2 * (n) + (k), height, BORDER_REFLECT))

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh), __global const WORK *restrict lift,
                     int rows, int width, int height)
{
    POSITION(x, block)
    struct FN(above) above[2];
    struct FN(made) made[2];
    int n_low = SPAN_END(x) - x, n_high = min(n_low, width / 2 - x), n_pairs = n_low + STEPS;
    int past = width >= PAST_CACHES / (int)WORK_SIZE / height;
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
    for (int i = 0; i < n_pairs; i += 16) {
        WORKS x0, x1;
        FN(fetch)(SOURCE(y - EARLY, 0), x - EARLY + i, width, &x0, &x1);
        above[0].x[i / 16] = x0, above[1].x[i / 16] = x1;
        for (int k = 0; k < 2; k++)
            above[k].d[i / 16] = above[k].s[i / 16] = above[k].d2[i / 16] = 0;
    }
    for (int k = 0; k < 4; k++) /* the vectors in front of the lines; no stored sample depends on them */
        made[0].line[k][0] = made[1].line[k][0] = 0;
    for (int n = y - EARLY; n < y_end + EARLY - 1; n += 2) {
        __global const SRC *row[4] = {SOURCE(n, 1), SOURCE(n, 2), SOURCE(n, 3), SOURCE(n, 4)};
        for (int i = 0; i < n_pairs; i += 16) {
            WORKS v[4][2];
#pragma unroll
            for (int k = 0; k < 4; k++)
                FN(fetch)(row[k], x - EARLY + i, width, &v[k][0], &v[k][1]);
            FN(down_four)(&above[0], i, v[0][0], v[1][0], v[2][0], v[3][0], lift, &made[0]);
            FN(down_four)(&above[1], i, v[0][1], v[1][1], v[2][1], v[3][1], lift, &made[1]);
        }
        for (int k = 0; k < 4; k++) {
            int done = n - (EARLY - 1) + k / 2, high = k % 2;
            if (done < y || done >= y_end || (high && done >= height / 2))
                continue;
            FN(along)((const WORK *)(made[0].line[k] + 1), (const WORK *)(made[1].line[k] + 1), lift, lift[4 + high], past ? 1 + high : 0,
                      n_low, n_high,
                      (high ? ROW(lh, done) : ROW(ll, done)) + x,
                      (high ? ROW(hh, done) : ROW(hl, done)) + x);
        }
    }
}
