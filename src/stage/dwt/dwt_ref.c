/* The definition of the transform: cdf97 and cdf53 by the lifting steps of ISO/IEC 15444-1 annex F,
 * other wavelets by the sums in src/stage/dwt/wavelet.h. In double, except for the reversible
 * transform. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/dwt/dwt.h"
#include "stage/dwt/wavelet.h"

/* Adds factor times the sum of its neighbours to every second sample, from `from` on. */
static void lift(double *x, long n, long from, double factor)
{
    for (long i = from; i < n; i += 2)
        x[i] += factor * (wavelet_sample(x, 1, n, i - 1, WAVELET_JPEG2000, 2) +
                          wavelet_sample(x, 1, n, i + 1, WAVELET_JPEG2000, 2));
}

/* ISO/IEC 15444-1, F.3.8.2 and table F.4; F.3.8.1 without rounding for cdf53. */
static void lift_all(const struct dwt_config *config, double *x, long n)
{
    const double k = 1.230174104914001;
    if (config->precision == DWT_REVERSIBLE) {
        for (long i = 1; i < n; i += 2)
            x[i] -= floor((wavelet_sample(x, 1, n, i - 1, WAVELET_JPEG2000, 2) +
                           wavelet_sample(x, 1, n, i + 1, WAVELET_JPEG2000, 2)) /
                          2);
        for (long i = 0; i < n; i += 2)
            x[i] += floor((wavelet_sample(x, 1, n, i - 1, WAVELET_JPEG2000, 2) +
                           wavelet_sample(x, 1, n, i + 1, WAVELET_JPEG2000, 2) + 2) /
                          4);
    } else if (config->wavelet == WAVELET_CDF53) {
        lift(x, n, 1, -0.5);
        lift(x, n, 0, 0.25);
    } else {
        lift(x, n, 1, -1.586134342059924);
        lift(x, n, 0, -0.052980118572961);
        lift(x, n, 1, 0.882911075530934);
        lift(x, n, 0, 0.443506852043971);
        for (long i = 0; i < n; i++)
            x[i] *= i % 2 ? k : 1 / k;
    }
}

/* The two bands of the stationary transform, whose taps lie `gap` samples apart. */
static void analyse_all(const struct dwt_config *config, const double *x, long n, long gap,
                        double *low, double *high)
{
    struct wavelet_filters f;
    double factor = config->norm ? sqrt(0.5) : 1;
    wavelet_filters(config->wavelet, &f);
    for (long i = 0; i < n; i++) {
        low[i] = high[i] = 0;
        for (long j = 0; j < (long)f.length; j++) {
            double v = wavelet_sample(x, 1, n, i + gap * ((long)f.length / 2 - j), WAVELET_PERIODIC, 2);
            low[i] += f.dec_lo[j] * factor * v;
            high[i] += f.dec_hi[j] * factor * v;
        }
    }
}

/* Splits one signal into its two bands; overwrites x. */
static void analyse(const struct dwt_config *config, double *x, long n, long gap, double *low,
                    uint32_t n_low, double *high, uint32_t n_high)
{
    if (config->stationary) {
        analyse_all(config, x, n, gap, low, high);
        return;
    }
    if (config->mode == WAVELET_JPEG2000) {
        if (n > 1)
            lift_all(config, x, n);
        for (long i = 0; i < n; i++)
            *(i % 2 ? &high[i / 2] : &low[i / 2]) = x[i];
        return;
    }
    struct wavelet_filters f;
    wavelet_filters(config->wavelet, &f);
    long start = config->mode == WAVELET_PERIODIZATION ? f.length / 2 : 1;
    for (uint32_t i = 0; i < n_low; i++) {
        low[i] = 0;
        for (long j = 0; j < (long)f.length; j++)
            low[i] += f.dec_lo[j] * wavelet_sample(x, 1, n, 2 * (long)i + start - j, config->mode, 2);
    }
    for (uint32_t i = 0; i < n_high; i++) {
        high[i] = 0;
        for (long j = 0; j < (long)f.length; j++)
            high[i] += f.dec_hi[j] * wavelet_sample(x, 1, n, 2 * (long)i + start - j, config->mode, 2);
    }
}

/* Memory of one level: the signal, the columns' bands, and a row or column with its bands. */
struct work {
    double *signal, *columns, *line, *low, *high;
};

static void finish_work(struct work *w)
{
    free(w->signal);
    free(w->columns);
    free(w->line);
    free(w->low);
    free(w->high);
}

static int make_work(const struct dwt_level *l, struct work *w, struct fault *fault)
{
    uint32_t rows = l->low_height + l->high_height, columns = l->low_width + l->high_width;
    size_t longest = (size_t)l->width + l->height + rows + columns;
    *w = (struct work){malloc((size_t)(l->width + columns) * (l->height + rows) * sizeof(double)),
                       malloc((size_t)l->width * rows * sizeof(double)),
                       malloc(longest * sizeof(double)), malloc(longest * sizeof(double)),
                       malloc(longest * sizeof(double))};
    if (w->signal && w->columns && w->line && w->low && w->high)
        return 0;
    finish_work(w);
    return fault_set(fault, FAULT_MEMORY, "no memory for a reference");
}

/* Columns first: then all low rows are above all high rows. */
static void analyse_columns(const struct dwt_config *config, const struct dwt_level *l, long gap,
                            struct work *w)
{
    if (config->axis == DWT_X) {
        memcpy(w->columns, w->signal, (size_t)l->width * l->height * sizeof(double));
        return;
    }
    for (size_t x = 0; x < l->width; x++) {
        for (size_t y = 0; y < l->height; y++)
            w->line[y] = w->signal[y * l->width + x];
        analyse(config, w->line, l->height, gap, w->low, l->low_height, w->high, l->high_height);
        for (size_t y = 0; y < l->low_height; y++)
            w->columns[y * l->width + x] = w->low[y];
        for (size_t y = 0; y < l->high_height; y++)
            w->columns[(l->low_height + y) * l->width + x] = w->high[y];
    }
}

static void store_row(struct picture *out, size_t first, int plane, uint32_t y, uint32_t channel,
                      const double *row)
{
    if (plane < 0)
        return;
    const struct plane *p = &out->frame.planes[first + (size_t)plane];
    uint8_t *to = picture_row(out, first + (size_t)plane, y);
    for (uint32_t x = 0; x < p->width; x++)
        sample_store(p->type, to + (x * p->channels + channel) * sample_size(p->type), row[x]);
}

/* Leaves the LL band in w->signal for the next level. */
static void analyse_rows(const struct dwt_config *config, const struct dwt_level *l, long gap,
                         uint32_t channel, struct work *w, struct picture *out, size_t first)
{
    for (uint32_t y = 0; y < l->low_height + l->high_height; y++) {
        bool is_low = y < l->low_height;
        uint32_t row = is_low ? y : y - l->low_height;
        memcpy(w->line, w->columns + (size_t)y * l->width, l->width * sizeof(double));
        if (config->axis == DWT_Y)
            memcpy(w->low, w->line, l->width * sizeof(double));
        else
            analyse(config, w->line, l->width, gap, w->low, l->low_width, w->high, l->high_width);
        store_row(out, first, l->plane[is_low ? DWT_LL : DWT_LH], row, channel, w->low);
        store_row(out, first, l->plane[is_low ? DWT_HL : DWT_HH], row, channel, w->high);
        if (is_low)
            memcpy(w->signal + (size_t)y * l->low_width, w->low, l->low_width * sizeof(double));
    }
}

static void load_channel(const struct picture *in, size_t index, uint32_t channel, double *to)
{
    const struct plane *p = &in->frame.planes[index];
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            *to++ = sample_load(p->type, (const uint8_t *)picture_row(in, index, y) +
                                             (x * p->channels + channel) * sample_size(p->type));
}

static int analyse_channel(const struct dwt_config *config, const struct dwt_layout *layout,
                           const struct picture *in, size_t index, uint32_t channel,
                           struct picture *out, size_t first, struct fault *fault)
{
    struct work w, next;
    int result = make_work(&layout->levels[0], &w, fault);
    if (result != 0)
        return result;
    load_channel(in, index, channel, w.signal);
    for (unsigned i = 0; i < layout->n_levels && result == 0; i++) {
        const struct dwt_level *l = &layout->levels[i];
        long gap = 1L << i; /* of the stationary transform */
        analyse_columns(config, l, gap, &w);
        analyse_rows(config, l, gap, channel, &w, out, first);
        if (i + 1 == layout->n_levels)
            break;
        result = make_work(&layout->levels[i + 1], &next, fault);
        if (result != 0)
            break;
        memcpy(next.signal, w.signal, (size_t)l->low_width * l->low_height * sizeof(double));
        finish_work(&w);
        w = next;
    }
    finish_work(&w);
    return result;
}

int dwt_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    size_t first = 0;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        struct dwt_layout layout;
        dwt_layout_of(config, &in->frame.planes[i], &layout);
        for (uint32_t c = 0; c < layout.channels; c++) {
            int result = analyse_channel(config, &layout, in, i, c, out, first, fault);
            if (result != 0)
                return result;
        }
        first += layout.n_planes;
    }
    return 0;
}
