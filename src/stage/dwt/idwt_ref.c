/* The definition of the inverse: the lifting steps backwards, or the sums of
 * src/stage/dwt/wavelet.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/dwt/idwt.h"
#include "stage/dwt/wavelet.h"

/* Whole-sample symmetric. */
static double mirrored(const double *x, long n, long i)
{
    return x[i < 0 ? -i : i >= n ? 2 * n - 2 - i : i];
}

static void unlift(double *x, long n, long from, double factor)
{
    for (long i = from; i < n; i += 2)
        x[i] -= factor * (mirrored(x, n, i - 1) + mirrored(x, n, i + 1));
}

/* ISO/IEC 15444-1, F.3.8: what dwt_ref.c does, last step first. */
static void unlift_all(const struct dwt_config *config, double *x, long n)
{
    const double k = 1.230174104914001;
    if (config->precision == DWT_REVERSIBLE) {
        for (long i = 0; i < n; i += 2)
            x[i] -= floor((mirrored(x, n, i - 1) + mirrored(x, n, i + 1) + 2) / 4);
        for (long i = 1; i < n; i += 2)
            x[i] += floor((mirrored(x, n, i - 1) + mirrored(x, n, i + 1)) / 2);
    } else if (config->wavelet == WAVELET_CDF53) {
        unlift(x, n, 0, 0.25);
        unlift(x, n, 1, -0.5);
    } else {
        for (long i = 0; i < n; i++)
            x[i] *= i % 2 ? 1 / k : k;
        unlift(x, n, 0, 0.443506852043971);
        unlift(x, n, 1, 0.882911075530934);
        unlift(x, n, 0, -0.052980118572961);
        unlift(x, n, 1, -1.586134342059924);
    }
}

/* Of the stationary transform. */
static void synthesise_all(const struct dwt_config *config, const double *low, const double *high,
                           double *x, long n, long gap)
{
    struct wavelet_filters f;
    double factor = config->norm ? sqrt(0.5) : 0.5;
    wavelet_filters(config->wavelet, &f);
    for (long t = 0; t < n; t++) {
        x[t] = 0;
        for (long k = 0; k < (long)f.length; k++) {
            long i = (t + gap * ((long)f.length / 2 - 1 - k)) % n;
            i += i < 0 ? n : 0;
            x[t] += factor * (f.rec_lo[k] * low[i] + f.rec_hi[k] * high[i]);
        }
    }
}

/* x[0…n−1] from its bands. */
static void synthesise(const struct dwt_config *config, const double *low, long n_low,
                       const double *high, double *x, long n, long gap)
{
    if (config->stationary) {
        synthesise_all(config, low, high, x, n, gap);
        return;
    }
    if (config->mode == WAVELET_JPEG2000) {
        for (long i = 0; i < n; i++)
            x[i] = i % 2 ? high[i / 2] : low[i / 2];
        if (n > 1)
            unlift_all(config, x, n);
        return;
    }
    struct wavelet_filters f;
    wavelet_filters(config->wavelet, &f);
    bool periodic = config->mode == WAVELET_PERIODIZATION;
    long length = f.length, shift = periodic ? length / 2 - 1 : length - 2;
    for (long t = 0; t < n; t++) {
        x[t] = 0;
        for (long k = (t + shift) % 2; k < length; k += 2) {
            long i = (t + shift - k) / 2; /* exact: both are even or odd */
            i = periodic ? (i % n_low + n_low) % n_low : i;
            x[t] += f.rec_lo[k] * low[i] + f.rec_hi[k] * high[i];
        }
    }
}

/* Band planes and signals of one channel, as doubles. */
struct work {
    double *low, *rows, *signal, *line, *a, *b;
};

static void finish_work(struct work *w)
{
    free(w->low);
    free(w->rows);
    free(w->signal);
    free(w->line);
    free(w->a);
    free(w->b);
}

static int make_work(const struct dwt_layout *layout, struct work *w, struct fault *fault)
{
    size_t area = 0, longest = 0;
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        size_t width = (size_t)l->width + l->low_width + l->high_width;
        size_t height = (size_t)l->height + l->low_height + l->high_height;
        area = width * height > area ? width * height : area;
        longest = width + height > longest ? width + height : longest;
    }
    *w = (struct work){malloc(area * sizeof(double)),    malloc(area * sizeof(double)),
                       malloc(area * sizeof(double)),    malloc(longest * sizeof(double)),
                       malloc(longest * sizeof(double)), malloc(longest * sizeof(double))};
    if (w->low && w->rows && w->signal && w->line && w->a && w->b)
        return 0;
    finish_work(w);
    return fault_set(fault, FAULT_MEMORY, "no memory for a reference");
}

static void load_row(const struct picture *in, int plane, uint32_t y, uint32_t channel, double *to)
{
    if (plane < 0)
        return;
    const struct plane *p = &in->frame.planes[plane];
    const uint8_t *row = picture_row(in, (size_t)plane, y);
    for (uint32_t x = 0; x < p->width; x++)
        to[x] = sample_load(p->type, row + (x * p->channels + channel) * sample_size(p->type));
}

/* Rows first, into w->rows; LL comes from w->low unless it is a plane. */
static void synthesise_rows(const struct dwt_config *config, const struct dwt_level *l, long gap,
                            const struct picture *in, uint32_t channel, struct work *w)
{
    for (uint32_t y = 0; y < l->low_height + l->high_height; y++) {
        bool is_low = y < l->low_height;
        uint32_t row = is_low ? y : y - l->low_height;
        if (is_low && l->plane[DWT_LL] < 0)
            memcpy(w->a, w->low + (size_t)y * l->low_width, l->low_width * sizeof(double));
        else
            load_row(in, l->plane[is_low ? DWT_LL : DWT_LH], row, channel, w->a);
        load_row(in, l->plane[is_low ? DWT_HL : DWT_HH], row, channel, w->b);
        double *to = w->rows + (size_t)y * l->width;
        if (config->axis == DWT_Y)
            memcpy(to, w->a, l->width * sizeof(double));
        else
            synthesise(config, w->a, l->low_width, w->b, to, l->width, gap);
    }
}

static void synthesise_columns(const struct dwt_config *config, const struct dwt_level *l, long gap,
                               struct work *w)
{
    if (config->axis == DWT_X) {
        memcpy(w->signal, w->rows, (size_t)l->width * l->height * sizeof(double));
        return;
    }
    for (size_t x = 0; x < l->width; x++) {
        for (size_t y = 0; y < l->low_height; y++)
            w->a[y] = w->rows[y * l->width + x];
        for (size_t y = 0; y < l->high_height; y++)
            w->b[y] = w->rows[(l->low_height + y) * l->width + x];
        synthesise(config, w->a, l->low_height, w->b, w->line, l->height, gap);
        for (size_t y = 0; y < l->height; y++)
            w->signal[y * l->width + x] = w->line[y];
    }
}

static void store_channel(struct picture *out, size_t index, uint32_t channel, double scale,
                          const double *from)
{
    const struct plane *p = &out->frame.planes[index];
    for (uint32_t y = 0; y < p->height; y++) {
        uint8_t *row = picture_row(out, index, y);
        for (uint32_t x = 0; x < p->width; x++) {
            double v = *from++ * scale;
            if (sample_is_integer(p->type))
                v = (double)sample_saturate(p->type, v);
            sample_store(p->type, row + (x * p->channels + channel) * sample_size(p->type), v);
        }
    }
}

static int synthesise_channel(const struct dwt_config *config, const struct dwt_layout *layout,
                              unsigned kept, const struct picture *in, uint32_t channel,
                              struct picture *out, size_t index, struct fault *fault)
{
    struct work w;
    int result = make_work(layout, &w, fault);
    if (result != 0)
        return result;
    for (unsigned i = layout->n_levels; i-- > kept;) {
        long gap = 1L << i; /* of the stationary transform */
        synthesise_rows(config, &layout->levels[i], gap, in, channel, &w);
        synthesise_columns(config, &layout->levels[i], gap, &w);
        double *swap = w.low;
        w.low = w.signal;
        w.signal = swap;
    }
    store_channel(out, index, channel, idwt_scale(config, kept), w.low);
    finish_work(&w);
    return 0;
}

int idwt_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < idwt_count(&in->frame) && result == 0; i++) {
        struct dwt_config dwt;
        struct dwt_layout layout;
        struct plane original;
        result = idwt_read(config, &in->frame, i, &dwt, &layout, &original, fault);
        for (uint32_t c = 0; result == 0 && c < layout.channels; c++)
            result = synthesise_channel(&dwt, &layout, idwt_kept(config, layout.n_levels), in, c,
                                        out, i, fault);
    }
    return result;
}
