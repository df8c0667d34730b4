/* The definition of the transform and of its inverse: cdf97 and cdf53 by the lifting steps of
 * ISO/IEC 15444-1 annex F, other wavelets by the sums in src/stage/dwt/wavelet.h. In double, except
 * for the reversible transform. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/dwt/dwt.h"
#include "stage/dwt/idwt.h"
#include "stage/dwt/wavelet.h"

/* Adds factor times the sum of its neighbours to every second sample, from `from` on; if
 * `reversible` that in whole numbers, of even samples rounded to nearest. */
static void lift(double *x, long n, long from, double factor, double sign, bool reversible)
{
    for (long i = from; i < n; i += 2) {
        double v = factor * (wavelet_sample(x, 1, n, i - 1, WAVELET_JPEG2000, 2) +
                             wavelet_sample(x, 1, n, i + 1, WAVELET_JPEG2000, 2));
        if (reversible)
            v = from == 1 ? -floor(-v) : floor(v + 0.5);
        x[i] += sign * v;
    }
}

/* ISO/IEC 15444-1, F.3.8.2 and table F.4; F.3.8.1, without rounding unless it is reversible, for
 * cdf53. The inverse takes the steps back, last one first. */
static void lift_all(const struct dwt_config *config, double *x, long n, bool inverse)
{
    static const double cdf53[] = {-0.5, 0.25};
    static const double cdf97[] = {-1.586134342059924, -0.052980118572961, 0.882911075530934,
                                   0.443506852043971};
    const double k = inverse ? 1 / 1.230174104914001 : 1.230174104914001;
    bool is_97 = config->wavelet == WAVELET_CDF97;
    int n_steps = is_97 ? 4 : 2;
    for (long i = 0; i < n && is_97 && inverse; i++)
        x[i] *= i % 2 ? k : 1 / k;
    for (int i = 0; i < n_steps; i++) {
        int step = inverse ? n_steps - 1 - i : i;
        lift(x, n, step % 2 == 0, (is_97 ? cdf97 : cdf53)[step], inverse ? -1 : 1,
             config->precision == DWT_REVERSIBLE);
    }
    for (long i = 0; i < n && is_97 && !inverse; i++)
        x[i] *= i % 2 ? k : 1 / k;
}

/* How long a signal and its bands are; `stays`: it is its own low band. */
struct side {
    long n, low, high;
    bool stays;
};

/* Splits one signal into its two bands; overwrites x. Taps of the stationary transform lie `gap`
 * samples apart. */
static void analyse(const struct dwt_config *config, const struct side *side, long gap, double *x,
                    double *low, double *high)
{
    if (side->stays) {
        memcpy(low, x, (size_t)side->n * sizeof *x);
        return;
    }
    if (config->mode == WAVELET_JPEG2000) {
        if (side->n > 1)
            lift_all(config, x, side->n, false);
        for (long i = 0; i < side->n; i++)
            *(i % 2 ? &high[i / 2] : &low[i / 2]) = x[i];
        return;
    }
    struct wavelet_filters f;
    wavelet_filters(config->wavelet, &f);
    const int mode = config->stationary ? WAVELET_PERIODIC : config->mode;
    const bool all = config->stationary;
    const long start = all || mode == WAVELET_PERIODIZATION ? f.length / 2 : 1;
    const double factor = config->norm ? sqrt(0.5) : 1;
    for (long i = 0; i < side->low; i++) { /* there are as many high ones */
        low[i] = high[i] = 0;
        for (long j = 0; j < (long)f.length; j++) {
            long at = all ? i + gap * (start - j) : 2 * i + start - j;
            double v = wavelet_sample(x, 1, side->n, at, mode, 2);
            low[i] += f.dec_lo[j] * factor * v;
            high[i] += f.dec_hi[j] * factor * v;
        }
    }
}

/* x[0…n−1] from its bands. */
static void synthesise(const struct dwt_config *config, const struct side *side, long gap,
                       double *x, const double *low, const double *high)
{
    if (side->stays) {
        memcpy(x, low, (size_t)side->n * sizeof *x);
        return;
    }
    if (config->mode == WAVELET_JPEG2000) {
        for (long i = 0; i < side->n; i++)
            x[i] = i % 2 ? high[i / 2] : low[i / 2];
        if (side->n > 1)
            lift_all(config, x, side->n, true);
        return;
    }
    struct wavelet_filters f;
    wavelet_filters(config->wavelet, &f);
    const bool all = config->stationary, periodic = all || config->mode == WAVELET_PERIODIZATION;
    const long length = f.length, shift = periodic ? length / 2 - 1 : length - 2;
    const double factor = !all ? 1 : config->norm ? sqrt(0.5) : 0.5;
    for (long t = 0; t < side->n; t++) {
        x[t] = 0;
        for (long k = all ? 0 : (t + shift) % 2; k < length; k += all ? 1 : 2) {
            /* the half is exact: both are even or odd */
            long i = all ? t + gap * (shift - k) : (t + shift - k) / 2;
            i = periodic ? (i % side->low + side->low) % side->low : i;
            x[t] += factor * (f.rec_lo[k] * low[i] + f.rec_hi[k] * high[i]);
        }
    }
}

/* Memory for any level, of one channel: the signal; low rows and below them high ones; the bands,
 * of which low columns are on the left; and a line, its low band and, behind that, its high one. */
struct work {
    double *signal, *columns, *bands, *line;
};

static void finish_work(struct work *w)
{
    free(w->signal);
    free(w->columns);
    free(w->bands);
    free(w->line);
}

static int make_work(const struct dwt_layout *layout, struct work *w, struct fault *fault)
{
    size_t area = 1, longest = 1;
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        size_t width = (size_t)l->width + l->low_width + l->high_width;
        size_t height = (size_t)l->height + l->low_height + l->high_height;
        area = width * height > area ? width * height : area;
        longest = width + height > longest ? width + height : longest;
    }
    *w = (struct work){calloc(area, sizeof(double)), calloc(area, sizeof(double)),
                       calloc(area, sizeof(double)), calloc(longest, sizeof(double))};
    if (w->signal && w->columns && w->bands && w->line)
        return 0;
    finish_work(w);
    return fault_set(fault, FAULT_MEMORY, "no memory for a reference");
}

/* A level's direction, as lines of a plane: `n` of them lie `apart`, and their samples `step`. */
struct lines {
    size_t n, apart, step;
};

/* Signals into bands or, if `inverse`, bands into signals. */
static void filter(const struct dwt_config *config, const struct side *side, long gap, bool inverse,
                   double *signals, struct lines at, double *bands, struct lines bands_at,
                   double *line)
{
    double *low = line + side->n, *high = low + side->low;
    for (size_t i = 0; i < at.n; i++) {
        double *x = signals + i * at.apart, *both = bands + i * bands_at.apart;
        for (long k = 0; k < side->n && !inverse; k++)
            line[k] = x[(size_t)k * at.step];
        for (long k = 0; k < side->low + side->high && inverse; k++)
            low[k] = both[(size_t)k * bands_at.step];
        if (inverse)
            synthesise(config, side, gap, line, low, high);
        else
            analyse(config, side, gap, line, low, high);
        for (long k = 0; k < side->n && inverse; k++)
            x[(size_t)k * at.step] = line[k];
        for (long k = 0; k < side->low + side->high && !inverse; k++)
            both[(size_t)k * bands_at.step] = low[k];
    }
}

/* Level `i`: first down the columns, then along the rows, and the other way round. */
static void filter_level(const struct dwt_config *config, const struct dwt_layout *layout,
                         unsigned i, bool inverse, const struct work *w)
{
    const struct dwt_level *l = &layout->levels[i];
    long gap = 1L << i; /* of the stationary transform */
    struct side x = {l->width, l->low_width, l->high_width, config->axis == DWT_Y};
    struct side y = {l->height, l->low_height, l->high_height, config->axis == DWT_X};
    size_t rows = (size_t)(y.low + y.high), columns = (size_t)(x.low + x.high);
    for (int turn = 0; turn < 2; turn++)
        if ((turn == 0) == !inverse)
            filter(config, &y, gap, inverse, w->signal, (struct lines){l->width, 1, l->width},
                   w->columns, (struct lines){l->width, 1, l->width}, w->line);
        else
            filter(config, &x, gap, inverse, w->columns, (struct lines){rows, l->width, 1},
                   w->bands, (struct lines){rows, columns, 1}, w->line);
}

/* Copies one channel of the level's bands from their planes, or to them; LL also from or to the
 * signal of the level above, which is w->signal. */
static void move_bands(const struct dwt_level *l, const struct picture *picture, size_t first,
                       uint32_t channel, bool store, const struct work *w)
{
    size_t columns = l->low_width + l->high_width;
    for (int b = 0; b < DWT_BANDS; b++) {
        uint32_t width = b & DWT_HL ? l->high_width : l->low_width;
        uint32_t height = b & DWT_LH ? l->high_height : l->low_height;
        size_t plane = first + (size_t)(l->plane[b] < 0 ? 0 : l->plane[b]);
        double *corner =
            w->bands + (b & DWT_LH ? l->low_height * columns : 0) + (b & DWT_HL ? l->low_width : 0);
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                struct sample_at at = {x, y, channel};
                double *v = corner + y * columns + x, *low = w->signal + (size_t)y * width + x;
                if (l->plane[b] >= 0 && store)
                    picture_set(picture, plane, &at, *v);
                else if (l->plane[b] >= 0)
                    *v = picture_at(picture, plane, &at);
                else if (b == DWT_LL && !store)
                    *v = *low;
                if (b == DWT_LL && store)
                    *low = *v;
            }
    }
}

int dwt_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    size_t first = 0;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        struct dwt_layout layout;
        struct work w;
        dwt_layout_of(config, plane, &layout);
        int result = make_work(&layout, &w, fault);
        if (result != 0)
            return result;
        for (uint32_t c = 0; c < layout.channels; c++) {
            for (struct sample_at s = {.c = c}; s.y < plane->height; s.y++)
                for (s.x = 0; s.x < plane->width; s.x++)
                    w.signal[(size_t)s.y * plane->width + s.x] = picture_at(in, i, &s);
            for (unsigned level = 0; level < layout.n_levels; level++) {
                filter_level(config, &layout, level, false, &w);
                move_bands(&layout.levels[level], out, first, c, true, &w);
            }
        }
        finish_work(&w);
        first += layout.n_planes;
    }
    return 0;
}

/* One transform of a frame. */
static int invert(const struct idwt_config *config, const struct picture *in, size_t index,
                  struct picture *out, struct fault *fault)
{
    const struct plane *plane = &out->frame.planes[index];
    struct dwt_config dwt;
    struct dwt_layout layout;
    struct plane original;
    struct work w;
    int result = idwt_read(config, &in->frame, index, &dwt, &layout, &original, fault);
    if (result == 0)
        result = make_work(&layout, &w, fault);
    if (result != 0)
        return result;
    unsigned kept = idwt_kept(config, layout.n_levels);
    for (uint32_t c = 0; c < layout.channels; c++) {
        for (unsigned level = layout.n_levels; level-- > kept;) {
            move_bands(&layout.levels[level], in, 0, c, false, &w);
            filter_level(&dwt, &layout, level, true, &w);
        }
        for (struct sample_at s = {.c = c}; s.y < plane->height; s.y++)
            for (s.x = 0; s.x < plane->width; s.x++) {
                double v = w.signal[(size_t)s.y * plane->width + s.x] * idwt_scale(&dwt, kept);
                picture_set(out, index, &s, sample_limited(plane->type, v));
            }
    }
    finish_work(&w);
    return 0;
}

int idwt_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < idwt_count(&in->frame) && result == 0; i++)
        result = invert(config, in, i, out, fault);
    return result;
}
