#include "stage/dwt/wavelet.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const struct param_choice wavelet_mode_choices[] = {
    {"jpeg2000", WAVELET_JPEG2000},
    {"periodization", WAVELET_PERIODIZATION},
    {"zero", WAVELET_ZERO},
    {"constant", WAVELET_CONSTANT},
    {"symmetric", WAVELET_SYMMETRIC},
    {"reflect", WAVELET_REFLECT},
    {"periodic", WAVELET_PERIODIC},
    {"smooth", WAVELET_SMOOTH},
    {"antisymmetric", WAVELET_ANTISYMMETRIC},
    {"antireflect", WAVELET_ANTIREFLECT},
    {NULL, 0},
};

/* The low-pass filters from their centre on; both are symmetric, and the high-pass filters are
 * these with every second sign changed. The 9/7 pair splits the half-band polynomial of order 8 at
 * its real root: 20y³ + 10y² + 4y + 1 (Cohen, Daubechies, Feauveau, Comm. Pure Appl. Math. 45,
 * 1992). */
static const double cdf97_analysis[] = {0.60294901823636035, 0.26686411844287495,
                                        -0.078223266528990263, -0.016864118442874954,
                                        0.026748757410810088};
static const double cdf97_synthesis[] = {1.1150870524570004, 0.59127176311425009,
                                         -0.057543526228500182, -0.091271763114250091};
static const double cdf53_analysis[] = {0.75, 0.25, -0.125};
static const double cdf53_synthesis[] = {1, 0.5};

/* A filter with the index of its first tap. */
struct centred {
    int first, count;
    double taps[WAVELET_TAPS_MAX];
};

bool wavelet_is_cdf(int wavelet)
{
    return wavelet == WAVELET_CDF97 || wavelet == WAVELET_CDF53;
}

bool wavelet_mode_grows(int mode)
{
    return mode == WAVELET_SMOOTH || mode == WAVELET_ANTIREFLECT;
}

bool wavelet_mode_sums(int mode)
{
    return mode == WAVELET_ANTISYMMETRIC || wavelet_mode_grows(mode);
}

double wavelet_sample(const double *x, long step, long n, long i, int mode, unsigned factor)
{
    long whole = (n + factor - 1) / factor * factor, period;
#define AT(index) x[(index) * step]
    switch (mode) {
    case WAVELET_ZERO:
        return i < 0 || i >= n ? 0 : AT(i);
    case WAVELET_CONSTANT:
        return AT(i < 0 ? 0 : i >= n ? n - 1 : i);
    case WAVELET_PERIODIC:
        return AT((i % n + n) % n);
    case WAVELET_PERIODIZATION:
        i = (i % whole + whole) % whole;
        return AT(i < n ? i : n - 1);
    case WAVELET_SYMMETRIC:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return AT(i < n ? i : 2 * n - 1 - i);
    case WAVELET_SMOOTH:
        if (n == 1)
            return AT(0);
        return i < 0    ? AT(0) - (double)i * (AT(0) - AT(1))
               : i >= n ? AT(n - 1) + (double)(i - n + 1) * (AT(n - 1) - AT(n - 2))
                        : AT(i);
    case WAVELET_ANTISYMMETRIC:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? AT(i) : -AT(2 * n - 1 - i);
    case WAVELET_ANTIREFLECT:
        if (n == 1)
            return AT(0);
        return i < 0    ? 2 * AT(0) - wavelet_sample(x, step, n, -i, mode, factor)
               : i >= n ? 2 * AT(n - 1) - wavelet_sample(x, step, n, 2 * (n - 1) - i, mode, factor)
                        : AT(i);
    default: /* whole-sample symmetric */
        if (n == 1)
            return AT(0);
        period = 2 * n - 2;
        i = (i % period + period) % period;
        return AT(i < n ? i : period - i);
    }
#undef AT
}

static bool is_one_of(int wavelet, const char *const *names)
{
    const char *name = param_choice_name(wavelet_choices, wavelet);
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

const char *wavelet_weakness(int wavelet, int mode, unsigned levels, bool is_single, bool is_u16)
{
    static const char *const near[] = {"dmey", NULL};
    static const char *const ill[] = {"bior3.1", "rbio3.1", NULL};
    static const char *const weak[] = {"rbio2.2", "rbio3.3", NULL};
    unsigned deepest = mode == WAVELET_SMOOTH        ? (is_u16 ? 1 : 5)
                       : mode == WAVELET_ANTIREFLECT ? (is_u16 ? 3 : 8)
                                                     : levels;
    if (is_one_of(wavelet, near))
        return "idwt gives samples back only nearly: dmey is an approximation with 62 taps, which "
               "does not reconstruct perfectly";
    if (is_single && is_one_of(wavelet, ill))
        return "in single precision, idwt may not give integers back exactly for this "
               "ill-conditioned wavelet; precision=double does";
    if (is_single && is_u16 && is_one_of(wavelet, weak))
        return "in single precision, idwt may not give u16 back exactly for this wavelet; "
               "precision=double does";
    if (is_single && levels > deepest)
        return "in single precision, idwt may not give integers back exactly for this mode at so "
               "many levels; precision=double does";
    return NULL;
}

/* rbio is bior with analysis and synthesis exchanged, and its filters run backwards. */
static void find_low(int wavelet, struct wavelet_filters *f)
{
    const char *name = param_choice_name(wavelet_choices, wavelet);
    char stored[16] = "db1";
    bool reversed = strncmp(name, "rbio", 4) == 0;
    if (wavelet != WAVELET_HAAR)
        strncpy(stored, name, sizeof stored - 1);
    if (reversed)
        memcpy(stored, "bior", 4);
    const struct wavelet_taps *t = wavelet_taps;
    while (t->name && strcmp(t->name, stored) != 0)
        t++;
    bool orthogonal = t->analysis == t->synthesis;
    f->length = t->length;
    for (unsigned k = 0; k < t->length; k++) {
        double forth = t->analysis[k], back = t->analysis[t->length - 1 - k];
        f->rec_lo[k] = reversed ? back : t->synthesis[k];
        f->dec_lo[k] = reversed ? t->synthesis[t->length - 1 - k] : orthogonal ? back : forth;
    }
}

void wavelet_filters(int wavelet, struct wavelet_filters *filters)
{
    *filters = (struct wavelet_filters){0};
    find_low(wavelet, filters);
    for (unsigned k = 0; k < filters->length; k++) {
        filters->dec_hi[k] = k % 2 ? filters->rec_lo[k] : -filters->rec_lo[k];
        filters->rec_hi[k] = k % 2 ? -filters->dec_lo[k] : filters->dec_lo[k];
    }
}

/* The symmetric filter whose taps from the centre on are `half`, moved by `shift`; every second
 * sign changed when `alternate`. */
static void unfold(const double *half, int reach, int shift, bool alternate, struct centred *filter)
{
    *filter = (struct centred){.first = shift - reach, .count = 2 * reach + 1};
    for (int k = -reach; k <= reach; k++)
        filter->taps[k + reach] = half[abs(k)] * (alternate && k % 2 != 0 ? -1 : 1);
}

/* Of the analysis: low[n] = Σ taps[i] · x[2n + first + i]; of the synthesis:
 * x[t] = Σ_n taps[t − 2n − first] · low[n] + …. Filters of PyWavelets' have even lengths. */
static void pair_of(int wavelet, int mode, bool synthesis, struct centred *low,
                    struct centred *high)
{
    if (wavelet_is_cdf(wavelet)) {
        bool is_97 = wavelet == WAVELET_CDF97;
        const double *halves[] = {is_97 ? cdf97_analysis : cdf53_analysis,
                                  is_97 ? cdf97_synthesis : cdf53_synthesis};
        const int reach[] = {is_97 ? 4 : 2, is_97 ? 3 : 1};
        unfold(halves[synthesis], reach[synthesis], 0, false, low);
        unfold(halves[!synthesis], reach[!synthesis], 1, true, high);
        return;
    }
    struct wavelet_filters f;
    wavelet_filters(wavelet, &f);
    int length = (int)f.length;
    low->count = high->count = length;
    low->first = high->first = mode == WAVELET_PERIODIZATION ? 1 - length / 2 : 2 - length;
    for (int k = 0; k < length; k++) {
        low->taps[k] = synthesis ? f.rec_lo[k] : f.dec_lo[length - 1 - k];
        high->taps[k] = synthesis ? f.rec_hi[k] : f.dec_hi[length - 1 - k];
    }
}

void wavelet_analysis(int wavelet, int mode, struct wavelet_analysis *window)
{
    struct centred low = {0}, high = {0};
    pair_of(wavelet, mode, false, &low, &high);
    int first = low.first < high.first ? low.first : high.first;
    int end = low.first + low.count > high.first + high.count ? low.first + low.count
                                                              : high.first + high.count;
    *window = (struct wavelet_analysis){.first = first, .count = (unsigned)(end - first + 1) & ~1u};
    for (int k = 0; k < low.count; k++)
        window->low[low.first - first + k] = low.taps[k];
    for (int k = 0; k < high.count; k++)
        window->high[high.first - first + k] = high.taps[k];
}

void wavelet_lifting(int wavelet, struct wavelet_lifting *lifting)
{
    static const struct wavelet_lifting cdf53 = {2, {-0.5, 0.25}, 1, 1};
    static const struct wavelet_lifting cdf97 = {
        4,
        {-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971},
        1 / 1.230174104914001,
        1.230174104914001};
    *lifting = wavelet == WAVELET_CDF97 ? cdf97 : cdf53;
}

static int floor_half(int v)
{
    return v >= 0 ? v / 2 : -((1 - v) / 2);
}

static void take_phases(const struct centred *f, const struct wavelet_synthesis *window,
                        double phases[2][WAVELET_TAPS_MAX])
{
    for (int p = 0; p < 2; p++)
        for (unsigned j = 0; j < window->count; j++) {
            int tap = p - 2 * (window->first + (int)j) - f->first;
            if (tap >= 0 && tap < f->count)
                phases[p][j] = f->taps[tap];
        }
}

/* Tap t − 2n − first of a filter, with t = 2m + p and n = m + q, exists for q from
 * ceil((p − first − count + 1) / 2) to floor((p − first) / 2). */
void wavelet_synthesis(int wavelet, int mode, struct wavelet_synthesis *window)
{
    struct centred pair[2] = {0};
    int first = 0, last = 0;
    pair_of(wavelet, mode, true, &pair[0], &pair[1]);
    for (int i = 0; i < 2; i++) {
        int begin = -floor_half(-(0 - pair[i].first - pair[i].count + 1));
        int end = floor_half(1 - pair[i].first);
        first = i == 0 || begin < first ? begin : first;
        last = i == 0 || end > last ? end : last;
    }
    *window = (struct wavelet_synthesis){.first = first, .count = (unsigned)(last - first + 1)};
    take_phases(&pair[0], window, window->low);
    take_phases(&pair[1], window, window->high);
}

void wavelet_lengths(int wavelet, int mode, uint32_t n, uint32_t *low, uint32_t *high)
{
    if (mode == WAVELET_JPEG2000) {
        *low = (n + 1) / 2;
        *high = n / 2;
    } else if (mode == WAVELET_PERIODIZATION) {
        *low = *high = (n + 1) / 2;
    } else {
        struct wavelet_filters f;
        wavelet_filters(wavelet, &f);
        *low = *high = (n + f.length - 1) / 2;
    }
}

static double norm_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* Plans need the same few numbers for each band, so they are computed once. Beyond 12 levels a norm
 * grows by a constant factor for each level, to more digits than a threshold has. */
enum {
    NORM_LEVELS = 12,
    NORM_TAPS = 9 /* of the longest filter of the two */
};
static double cdf_norms[2][2][NORM_LEVELS]; /* by wavelet, by low and high, from one level on */

/* One level up, every second place of a signal is filtered by `low`. */
static void fill_norms(const struct centred *v, const struct centred *low, double *norms)
{
    static double scratch[2][(size_t)2 * NORM_TAPS << NORM_LEVELS];
    double *a = scratch[0], *b = scratch[1];
    size_t n = (size_t)v->count;
    memcpy(a, v->taps, n * sizeof *a);
    norms[0] = norm_of(a, n);
    for (unsigned level = 1; level < NORM_LEVELS; level++) {
        double *raised = b;
        size_t count = 2 * n - 1 + (size_t)low->count - 1;
        memset(raised, 0, count * sizeof *raised);
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < low->count; k++)
                raised[2 * i + (size_t)k] += a[i] * low->taps[k];
        n = count;
        b = a;
        a = raised;
        norms[level] = norm_of(a, n);
    }
}

static void fill_cdf_norms(void)
{
    for (int wavelet = 0; wavelet < 2; wavelet++) {
        struct centred pair[2] = {0};
        pair_of(wavelet, WAVELET_JPEG2000, true, &pair[0], &pair[1]);
        fill_norms(&pair[0], &pair[0], cdf_norms[wavelet][0]);
        fill_norms(&pair[1], &pair[0], cdf_norms[wavelet][1]);
    }
}

static double norm_at(const double *norms, unsigned levels)
{
    double ratio = norms[NORM_LEVELS - 1] / norms[NORM_LEVELS - 2];
    return levels <= NORM_LEVELS ? norms[levels - 1]
                                 : norms[NORM_LEVELS - 1] * pow(ratio, levels - NORM_LEVELS);
}

void wavelet_cdf_norms(int wavelet, unsigned levels, double *low, double *high)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    _Static_assert(WAVELET_CDF97 < 2 && WAVELET_CDF53 < 2, "indices of cdf_norms");
    *low = *high = 1;
    if (levels == 0)
        return;
    pthread_once(&once, fill_cdf_norms);
    *low = norm_at(cdf_norms[wavelet][0], levels);
    *high = norm_at(cdf_norms[wavelet][1], levels);
}
