/* sobel by its definition, one sample after the other, in integers as wide as it takes. */
#include "stage/sobel/sobel.h"

#include <math.h>
#include <stdlib.h>

#include "base/ratio.h"
#include "image/border.h"

struct gradient {
    float dx, dy;
};

struct window {
    const struct picture *picture;
    size_t plane;
    int64_t x, y; /* of the centre */
    uint32_t channel;
    enum border border;
};

static float at(const struct window *w, int dx, int dy)
{
    return (float)picture_sample(w->picture, w->plane, w->x + dx, w->y + dy, w->channel, w->border);
}

/* Exact for 8 and 16 bits; for f32 the order of the sums is part of the definition. */
static struct gradient gradient_of(const struct window *w)
{
    float nw = at(w, -1, -1), n = at(w, 0, -1), ne = at(w, 1, -1), west = at(w, -1, 0),
          east = at(w, 1, 0), sw = at(w, -1, 1), s = at(w, 0, 1), se = at(w, 1, 1);
    return (struct gradient){ne - nw + 2 * (east - west) + se - sw,
                             nw + 2 * n + ne - sw - 2 * s - se};
}

/* The largest m with m = 0 or (2m−1)²·q² <= 4·p²·n, for scale p/q: floor(scale·sqrt(n) + 1/2). */
static int64_t scaled_root(struct ratio scale, uint64_t n, int64_t largest)
{
    unsigned __int128 right = (unsigned __int128)4 * (uint64_t)scale.p * (uint64_t)scale.p * n;
    int64_t low = 0, high = largest; /* low fulfils it, everything above high does not matter */
    while (low < high) {
        int64_t m = low + (high - low + 1) / 2;
        unsigned __int128 left = (unsigned __int128)(2 * m - 1) * (uint64_t)scale.q;
        if (left * left <= right)
            low = m;
        else
            high = m - 1;
    }
    return low;
}

static int64_t floor_root(int64_t n)
{
    int64_t m = (int64_t)sqrt((double)n);
    while (m * m > n)
        m--;
    while ((m + 1) * (m + 1) <= n)
        m++;
    return m;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static double integer_result(const struct sobel_config *config, struct gradient g,
                             enum sample_type type)
{
    struct ratio scale = ratio_from_real(config->scale);
    int64_t dx = (int64_t)g.dx, dy = (int64_t)g.dy, largest = (int64_t)sample_max(type);
    switch (config->out) {
    case SOBEL_MAGNITUDE:
        return (double)scaled_root(scale, (uint64_t)(dx * dx + dy * dy), largest);
    case SOBEL_L1: {
        __int128 sum = llabs(dx) + llabs(dy);
        return (double)least((int64_t)((2 * sum * scale.p + scale.q) / (2 * scale.q)), largest);
    }
    case SOBEL_SAMPLE:
        dx >>= 3;
        dy >>= 3;
        return (double)least(floor_root(dx * dx + dy * dy), largest);
    case SOBEL_DY:
        return (double)(dy >> 3);
    default:
        return (double)(dx >> 3);
    }
}

static double float_result(const struct sobel_config *config, struct gradient g)
{
    switch (config->out) {
    case SOBEL_MAGNITUDE:
        return (float)config->scale * sqrtf(g.dx * g.dx + g.dy * g.dy);
    case SOBEL_L1:
        return (float)config->scale * (fabsf(g.dx) + fabsf(g.dy));
    case SOBEL_DY:
        return g.dy;
    default:
        return g.dx;
    }
}

static void compute(const struct sobel_config *config, struct window *w, enum sobel_out part,
                    struct picture *out, size_t plane)
{
    const struct plane *from = &w->picture->frame.planes[w->plane], *to = &out->frame.planes[plane];
    struct sobel_config one = *config;
    bool alpha = plane_has_alpha(from) && from->channels == to->channels;
    int origin = config->border == BORDER_CROP;
    one.out = (int)part;
    for (struct sample_at s = {0}; plane_each(to, &s);) {
        w->x = (int64_t)s.x + origin;
        w->y = (int64_t)s.y + origin;
        w->channel = s.c;
        struct gradient g = gradient_of(w);
        double v = alpha && s.alpha                ? at(w, 0, 0)
                   : sample_is_integer(from->type) ? integer_result(&one, g, to->type)
                                                   : float_result(&one, g);
        picture_set(out, plane, &s, v);
    }
}

int sobel_reference(const void *config_, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    const struct sobel_config *config = config_;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        struct window w = {.picture = in, .plane = i, .border = config->border};
        if (config->out == SOBEL_BOTH) {
            compute(config, &w, SOBEL_DX, out, 2 * i);
            compute(config, &w, SOBEL_DY, out, 2 * i + 1);
        } else {
            compute(config, &w, config->out, out, i);
        }
    }
    return 0;
}
