/* fir by its definition. With whole samples and parameters the result is the whole number nearest
 * to the true quotient, ties to even. Otherwise it is f32: products and sums are rounded one by one
 * in the order of the rows, then comes a correctly rounded division, then the bias. Coefficients of
 * 0 are left out. */
#include "stage/fir/fir.h"

struct sums {
    const struct fir_window *window;
    const struct picture *picture;
    size_t plane;
    enum border border;
};

/* The sample under coefficient (i, j) of a window that begins at (x, y). */
static double under(const struct sums *s, int64_t x, int64_t y, uint32_t channel)
{
    return picture_sample(s->picture, s->plane, x, y, channel, s->border);
}

static double whole_result(const struct sums *s, int64_t x, int64_t y, uint32_t channel,
                           enum sample_type out)
{
    const struct fir_window *w = s->window;
    int64_t d = (int64_t)w->divisor, sum = (int64_t)w->bias * d;
    for (unsigned n = 0; n < w->columns * w->rows; n++)
        sum +=
            (int64_t)w->k[n] * (int64_t)under(s, x + n % w->columns, y + n / w->columns, channel);
    if (d < 0) {
        d = -d;
        sum = -sum;
    }
    int64_t down = sum / d - (sum % d < 0), rest = sum - down * d;
    if (rest > d - rest || (rest == d - rest && down % 2 != 0))
        down++;
    double v = (double)down;
    return v < sample_min(out) ? sample_min(out) : v > sample_max(out) ? sample_max(out) : v;
}

static double f32_result(const struct sums *s, int64_t x, int64_t y, uint32_t channel,
                         enum sample_type out)
{
    const struct fir_window *w = s->window;
    float sum = 0;
    for (unsigned n = 0; n < w->columns * w->rows; n++) {
        float k = (float)w->k[n];
        if (k == 0)
            continue;
        float product = k * (float)under(s, x + n % w->columns, y + n / w->columns, channel);
        sum += product;
    }
    float quotient = sum / (float)w->divisor;
    float v = quotient + (float)w->bias;
    return sample_limited(out, v);
}

static void compute(struct sums *s, struct picture *out)
{
    const struct plane *from = &s->picture->frame.planes[s->plane];
    const struct plane *to = &out->frame.planes[s->plane];
    bool crop = s->border == BORDER_CROP;
    bool alpha = plane_has_alpha(from) && from->channels == to->channels;
    bool whole = sample_is_integer(to->type) && fir_is_whole(s->window);
    int64_t middle_x = s->window->columns / 2, middle_y = s->window->rows / 2;
    for (struct sample_at at = {0}; plane_each(to, &at);) {
        int64_t x = at.x - (crop ? 0 : middle_x), y = at.y - (crop ? 0 : middle_y);
        double v;
        if (alpha && at.alpha)
            v = under(s, x + middle_x, y + middle_y, at.c);
        else if (whole)
            v = whole_result(s, x, y, at.c, to->type);
        else
            v = f32_result(s, x, y, at.c, to->type);
        picture_set(out, s->plane, &at, v);
    }
}

int fir_reference(const void *config_, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    const struct fir_config *config = config_;
    struct fir_window window;
    fir_window(config, &window);
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        struct sums sums = {&window, in, i, config->border};
        compute(&sums, out);
    }
    return 0;
}
