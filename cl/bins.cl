/* What is counted, and where: for the engine that counts (cl/count.cl) and for kernels that make something of its counts.
 *
 * `state` begins with what is found; then come the sums of 256 bins each, a table that is made of the counts, and BINS
 * counts for each part. With LEVELS each value has a bin, from LEVEL_MIN on. Else bins lie between the least
 * sample and the greatest, `BETWEEN` of equal width; alpha, infinities and NaN do not count. */
#define FOUND       0 /* otsu: the threshold, as cl/threshold/threshold.cl takes it; normalize: black */
#define FOUND_LEAST 1 /* as keys */
#define FOUND_MOST  2
#define FOUND_WHITE 3
#define SUMS_AT     16
#define TABLE_AT    272
#define COUNTS_AT   (272 + BINS)

/* Keys are ints that compare like the samples. */
#ifdef SRC_IS_float
#define BETWEEN BINS
inline int FN(key)(float v)
{
    int bits = as_int(v);
    return bits ^ (bits >> 31 & 0x7fffffff);
}
#define VALUE_OF(key) as_float((key) ^ ((key) >> 31 & 0x7fffffff))
#define COUNTS(v)     (fabs(v) < INFINITY)

/* Edge i is least + i * width in f32, the last one (EDGE_AT) the greatest sample. The range may exceed f32. */
struct FN(bins) {
    float least, most, width, scaled, per_width;
};

inline struct FN(bins) FN(bins_of)(int least, int most)
{
    float low = VALUE_OF(least), high = VALUE_OF(most), scaled = low * (1.0f / BETWEEN);
    float width = high * (1.0f / BETWEEN) - scaled;
    struct FN(bins) bins = {low, high, width, scaled, (float)BETWEEN / width};
    if (!(width > 0.0f)) /* all guesses are the last bin */
        bins.scaled = -INFINITY, bins.per_width = 1.0f;
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

/* The last bin whose edge the sample reaches, wherever the guess begins. */
inline int FN(bin)(struct FN(bins) bins, float v)
{
    float guess = (v * (1.0f / BETWEEN) - bins.scaled) * bins.per_width;
    int b = guess > 0.0f ? (int)min(guess, BETWEEN - 1.0f) : 0;
    while (b < BETWEEN - 1 && v >= FN(edge)(bins, b + 1))
        b++;
    while (b > 0 && v < FN(edge)(bins, b))
        b--;
    return b;
}
#define EDGE_AT(bins, i) as_int((i) == BETWEEN ? bins.most : FN(edge)(bins, i))
#else
#define BETWEEN   256
#define COUNTS(v) true
inline int FN(key)(SRC v)
{
    return v;
}

/* Edge i is ceil(i * range / 256), computed without overflow, relative to the least sample. */
struct FN(bins) {
    uint least, range;
};

inline struct FN(bins) FN(bins_of)(int least, int most)
{
    struct FN(bins) bins = {(uint)least, (uint)most - (uint)least};
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
    int b = min((int)((float)distance * (256.0f / (float)max(bins.range, 1u))), 255); /* at most one off */
    b -= distance < FN(edge)(bins, b);
    return b + (b < 255 && distance >= FN(edge)(bins, b + 1));
}
#define EDGE_AT(bins, i) (int)(bins.least + FN(edge)(bins, i))
#endif
