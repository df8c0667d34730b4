/* Otsu's threshold (IEEE Trans. SMC-9, 1979, pages 62 to 66) of a plane. Samples are counted in 256 bins of equal width
 * from the least value to the greatest; of the 255 ways to split the bins into two classes, the first one with the
 * greatest variance between the classes gives the threshold. Alpha, infinities and NaN do not count.
 *
 * `state` is a plane with rows of 256 ints. Its first row holds the results: the threshold (as
 * cl/threshold/threshold.cl takes it) and the range, as keys. The other rows are partial histograms. In the rows form a
 * work-item counts a whole band of rows in histograms of its own. In the other forms it counts a column of a band, or
 * SPAN = 16 columns, in a histogram that it shares with others. With LEVELS, for samples of 8 bits, histograms have a
 * place for each of the 256 values, from LEVEL_MIN on, and need no range.
 *
 * Everything is exact, and independent of the order in which work-items run: a sample's bin is found by comparing with
 * the bins' edges, and variances are compared as fractions of integers. */
#define FOUND_T     0
#define FOUND_LEAST 1
#define FOUND_MOST  2

/* Keys are ints that compare like the samples. */
#ifdef SRC_IS_float
inline int FN(key)(float v)
{
    int bits = as_int(v);
    return bits ^ (bits >> 31 & 0x7fffffff);
}
#define VALUE_OF(key) as_float((key) ^ ((key) >> 31 & 0x7fffffff))
#define COUNTS(v)     (fabs(v) < INFINITY)
#else
inline int FN(key)(SRC v)
{
    return v;
}
#define COUNTS(v) true
#endif

#if ALPHA
#define SKIPPED(x) IS_ALPHA(ALPHA, x)
#else
#define SKIPPED(x) false
#endif

/* The bins between two keys. Edge i of integers is ceil(i * range / 256), computed without overflow, relative to the
 * least value; of floats it is least + i * width, in f32. A sample is in the last bin whose edge it is not below; a
 * division only guesses that bin. */
struct FN(bins) {
#ifdef SRC_IS_float
    float least, scaled, width, per_width;
#else
    uint least, range;
    float per_width;
#endif
};

#ifdef SRC_IS_float
inline struct FN(bins) FN(bins_of)(int least, int most)
{
    float low = VALUE_OF(least), scaled = low * 0.00390625f;
    float width = VALUE_OF(most) * 0.00390625f - scaled; /* the range may exceed f32 */
    struct FN(bins) bins = {low, scaled, width, 256.0f / width};
    return bins;
}

inline bool FN(are_flat)(struct FN(bins) bins)
{
    return !(bins.width > 0.0f);
}

inline float FN(edge)(struct FN(bins) bins, int i)
{
    return bins.least + (float)i * bins.width;
}

inline int FN(bin)(struct FN(bins) bins, float v)
{
    float guess = (v * 0.00390625f - bins.scaled) * bins.per_width;
    int b = guess > 0.0f ? (int)min(guess, 255.0f) : 0;
    while (b < 255 && v >= FN(edge)(bins, b + 1))
        b++;
    while (b > 0 && v < FN(edge)(bins, b))
        b--;
    return b;
}
#define THRESHOLD_AT(bins, i) as_int(FN(edge)(bins, i))
#else
inline struct FN(bins) FN(bins_of)(int least, int most)
{
    uint range = (uint)most - (uint)least;
    struct FN(bins) bins = {(uint)least, range, 256.0f / (float)range};
    return bins;
}

inline bool FN(are_flat)(struct FN(bins) bins)
{
    return bins.range == 0;
}

inline uint FN(edge)(struct FN(bins) bins, int i)
{
    return (uint)i * (bins.range >> 8) + (((uint)i * (bins.range & 255u) + 255u) >> 8);
}

inline int FN(bin)(struct FN(bins) bins, int v)
{
    uint distance = (uint)v - bins.least;
    int b = min((int)((float)distance * bins.per_width), 255); /* at most one off */
    b -= distance < FN(edge)(bins, b);
    return b + (b < 255 && distance >= FN(edge)(bins, b + 1));
}
#define THRESHOLD_AT(bins, i) (int)(bins.least + FN(edge)(bins, i))
#endif

#if defined(KERNEL_clear)
__kernel void KERNEL(GRID, PLANE_OUT(int, state))
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    for (int end = SPAN_END(x); x < end; x++)
        ROW(state, y)[x] = y > 0 ? 0 : x == FOUND_LEAST ? INT_MAX : x == FOUND_MOST ? INT_MIN : 0;
}
#elif defined(KERNEL_range)
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height,
                     int parts)
{
    int band = GRID_Y;
    int begin = SPAN_BEGIN;
    if (band >= grid_y_end || begin >= grid_width)
        return;
    int least = INT_MAX, most = INT_MIN, end = SPAN_END(begin);
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < end; x++) {
            bool counts = !SKIPPED(x) && COUNTS(in[x]);
            int key = FN(key)(in[x]);
            least = min(least, counts ? key : INT_MAX);
            most = max(most, counts ? key : INT_MIN);
        }
    }
    if (least <= most) {
        atomic_min(ROW(state, 0) + FOUND_LEAST, least);
        atomic_max(ROW(state, 0) + FOUND_MOST, most);
    }
}
#elif defined(KERNEL_count)
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height,
                     int parts)
{
    int band = GRID_Y;
    int begin = SPAN_BEGIN;
    if (band >= grid_y_end || begin >= grid_width)
        return;
#if LEVELS
#define PLACE(v) ((v) - LEVEL_MIN)
#else
#define PLACE(v) FN(bin)(bins, v)
    int least = ROW(state, 0)[FOUND_LEAST], most = ROW(state, 0)[FOUND_MOST];
    struct FN(bins) bins = FN(bins_of)(least, most);
    if (least > most || FN(are_flat)(bins))
        return;
#endif
    int until = min(band * rows + rows, height);
#ifdef FORM_ROWS
    for (int y = band * rows; y < until; y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < SPAN_END(begin); x++)
            if (!SKIPPED(x) && COUNTS(in[x]))
                ROW(state, 1 + 4 * band + (x & 3))[PLACE(in[x])]++;
    }
#elif SPAN == 16
    /* As below, for levels, of which 16 are loaded at a time. */
    __global int *counts = ROW(state, 1 + band % parts);
    uint place = 0, run = 0;
#define COUNT(level)                                                                               \
    {                                                                                              \
        uint p = level;                                                                            \
        if (p != place && run > 0) {                                                               \
            atomic_add(counts + place, (int)run);                                                  \
            run = 0;                                                                               \
        }                                                                                          \
        place = p, run++;                                                                          \
    }
#define COUNT_WORD(w)                                                                              \
    COUNT((w) & 255u) COUNT((w) >> 8 & 255u) COUNT((w) >> 16 & 255u) COUNT((w) >> 24)
    for (int y = band * rows; y < until; y++) {
        __global const uchar *in = (__global const uchar *)ROW(src, y);
        if (begin + 16 <= grid_width) {
            uint4 v = *(__global const uint4 *)(in + begin) ^ (LEVEL_MIN == 0 ? 0u : 0x80808080u);
            COUNT_WORD(v.s0) COUNT_WORD(v.s1) COUNT_WORD(v.s2) COUNT_WORD(v.s3)
        } else {
            for (int x = begin; x < grid_width; x++)
                COUNT((uint)in[x] ^ (LEVEL_MIN == 0 ? 0u : 0x80u))
        }
    }
    if (run > 0)
        atomic_add(counts + place, (int)run);
#else
    /* Successive samples in the same bin are added together: in plain regions all work-items would add to few bins. */
    if (SKIPPED(begin))
        return;
    __global int *counts = ROW(state, 1 + band % parts);
    int place = 0, run = 0;
    for (int y = band * rows; y < until; y++) {
        SRC v = ROW(src, y)[begin];
        if (!COUNTS(v))
            continue;
        int p = PLACE(v);
        if (p != place && run > 0) {
            atomic_add(counts + place, run);
            run = 0;
        }
        place = p;
        run++;
    }
    if (run > 0)
        atomic_add(counts + place, run);
#endif
}
#elif defined(KERNEL_tally)
/* Counts levels on GPUs with local memory. Each 32 work-items of a group, which usually run in lockstep, share a
 * histogram in local memory; at the end the group adds them up. A work-item takes 16 samples of each row; four equal
 * ones, as in plain regions, are added at once. */
#define COPIES 8
__attribute__((reqd_work_group_size(32 * COPIES, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height, int parts, int width)
{
    __local int counts[COPIES * 256];
    int item = (int)get_local_id(0), x = SPAN_BEGIN * 16;
    __local int *own = counts + item / 32 * 256;
    for (int i = item; i < COPIES * 256; i += 32 * COPIES)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int packed_end = ALPHA ? 0 : width; /* in front of this samples are taken 16 at once */
    for (int y = GRID_Y * rows; y < min(GRID_Y * rows + rows, height); y++) {
        __global const uchar *in = (__global const uchar *)ROW(src, y);
        if (x + 16 <= packed_end) {
            uint4 v = *(__global const uint4 *)(in + x) ^ (LEVEL_MIN == 0 ? 0u : 0x80808080u);
            uint w[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; i++) {
                if (w[i] == (w[i] & 255u) * 0x01010101u) {
                    atomic_add(own + (w[i] & 255u), 4);
                    continue;
                }
                atomic_inc(own + (w[i] & 255u));
                atomic_inc(own + (w[i] >> 8 & 255u));
                atomic_inc(own + (w[i] >> 16 & 255u));
                atomic_inc(own + (w[i] >> 24));
            }
        } else {
            for (int i = x; i < min(x + 16, width); i++)
                if (!SKIPPED(i))
                    atomic_inc(own + (in[i] ^ (LEVEL_MIN == 0 ? 0 : 0x80)));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 256; i += 32 * COPIES) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += counts[c * 256 + i];
        if (sum > 0)
            atomic_add(ROW(state, 1) + i, sum);
    }
}
#elif defined(KERNEL_split)
/* a² * b, in three words of 64 bits. */
inline ulong4 FN(square_times)(ulong a, ulong b)
{
    ulong low = a * a, high = mul_hi(a, a);
    ulong carry = mul_hi(low, b), middle = high * b + carry;
    return (ulong4)(low * b, middle, mul_hi(high, b) + (middle < carry), 0);
}

inline bool FN(is_greater)(ulong4 a, ulong4 b)
{
    return a.z != b.z ? a.z > b.z : a.y != b.y ? a.y > b.y : a.x > b.x;
}

/* Adds the histograms up in the first of them. Returns the range of places that were counted, for levels. */
inline int2 FN(merge)(PLANE_OUT(int, state), int parts)
{
    int2 range = (int2)(INT_MAX, INT_MIN);
    for (int i = 0; i < 256; i++) {
        int count = 0;
        for (int p = 1; p <= parts; p++)
            count += ROW(state, p)[i];
        ROW(state, 1)[i] = count;
        if (count > 0)
            range = (int2)(min(range.x, i + LEVEL_MIN), i + LEVEL_MIN);
    }
    return range;
}

/* n is the number of samples and s the sum of their bins' numbers; n0 and s0 are those of the lower class, n1 and s1 of
 * the upper one. The variance between the classes is, up to a constant factor,
 * n0 * n1 * (s0 / n0 - s1 / n1)² = (s * n0 - s0 * n)² / (n0 * n1). The number of samples is limited
 * (src/stage/threshold.h) so that the difference fits 64 bits; computed modulo 2^64 it is right even where
 * the products overflow.
 *
 * This is a single work-item, so it does no harm that 64-bit numbers need many registers on Mali. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), int parts)
{
    if (GRID_Y >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
    __global int *found = ROW(state, 0), *counts = ROW(state, 1);
    int2 range = FN(merge)(state_base, state_offset, state_stride, parts);
#if LEVELS
#define BIN_AT(i) FN(bin)(bins, (i) + LEVEL_MIN)
#else
#define BIN_AT(i) (i)
    range = (int2)(found[FOUND_LEAST], found[FOUND_MOST]);
#endif
    struct FN(bins) bins = FN(bins_of)(range.x, range.y);
    int t = range.x > range.y ? 0 : THRESHOLD_AT(bins, 0);
    if (range.x <= range.y && !FN(are_flat)(bins)) {
        ulong n = 0, s = 0, n0 = 0, s0 = 0, best = 0, best_over = 1;
        for (int i = 0; i < 256; i++) {
            n += counts[i];
            s += counts[i] > 0 ? (ulong)counts[i] * BIN_AT(i) : 0;
        }
        for (int i = 0; i < 256; i++) {
            if (counts[i] == 0)
                continue; /* an empty bin: the same classes as before */
            int b = BIN_AT(i);
            n0 += counts[i];
            s0 += (ulong)counts[i] * b;
            if (n0 == n)
                break;
            ulong difference = s * n0 - s0 * n, over = n0 * (n - n0);
            if (FN(is_greater)(FN(square_times)(difference, best_over),
                               FN(square_times)(best, over))) {
                best = difference;
                best_over = over;
                t = THRESHOLD_AT(bins, b + 1);
            }
        }
    }
    found[FOUND_T] = t;
}
#endif
