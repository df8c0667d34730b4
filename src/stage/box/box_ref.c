/* box by its definition, in doubles: sums of integers stay below 2^53, so they are exact. */
#include "stage/box/box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A window along one axis: result i is the sum of samples i − before … i + after. */
struct window {
    int64_t side, before;
    enum border border;
};

/* One channel while it is computed, in rows of the input's width. */
struct sums {
    uint32_t width, height;
    double *v, *half, *line;
};

static struct window window_of(int64_t side, enum border border)
{
    bool crop = border == BORDER_CROP;
    return (struct window){side, crop ? 0 : side / 2, crop ? BORDER_EDGE : border};
}

/* Sums along a line of n samples that lie `step` apart. Whole numbers are updated from window to
 * window; for others each window is summed by itself, so that no sample outside a window influences
 * its sum. */
static void sum_line(const double *in, double *out, size_t step, int64_t n, int64_t n_out,
                     struct window w, bool whole, double *bordered)
{
    for (int64_t i = 0; i < n_out + w.side - 1; i++) {
        int64_t at = border_index(i - w.before, n, w.border);
        bordered[i] = at < 0 ? 0 : in[(size_t)at * step];
    }
    double sum = 0;
    for (int64_t i = 0; i < n_out; i++) {
        bool afresh = i == 0 || !whole;
        sum = afresh ? 0 : sum + bordered[i + w.side - 1] - bordered[i - 1];
        for (int64_t k = 0; afresh && k < w.side; k++)
            sum += bordered[i + k];
        out[(size_t)i * step] = sum;
    }
}

static double mean(double sum, int64_t area, enum sample_type type)
{
    if (!sample_is_integer(type))
        return (float)(sum / (double)area);
    int64_t twice = 2 * (int64_t)sum + area, q = twice / (2 * area);
    return (double)(q * 2 * area > twice ? q - 1 : q);
}

static void load_channel(const struct picture *in, size_t plane, uint32_t channel, struct sums *s)
{
    const struct plane *p = &in->frame.planes[plane];
    size_t size = sample_size(p->type);
    for (uint32_t y = 0; y < s->height; y++) {
        const uint8_t *row = picture_row(in, plane, y);
        for (uint32_t x = 0; x < s->width; x++)
            s->v[(size_t)y * s->width + x] =
                sample_load(p->type, row + ((size_t)x * p->channels + channel) * size);
    }
}

/* One pass over one plane. */
static void filter(const struct picture *in, size_t from, struct picture *out, size_t to,
                   int64_t width, int64_t height, enum border border, struct sums *s)
{
    const struct plane *p = &in->frame.planes[from], *q = &out->frame.planes[to];
    size_t size = sample_size(q->type);
    uint32_t left = border == BORDER_CROP ? (uint32_t)width / 2 : 0;
    uint32_t top = border == BORDER_CROP ? (uint32_t)height / 2 : 0;
    struct window across = window_of(width, border), down = window_of(height, border);
    bool whole = sample_is_integer(q->type);
    s->width = p->width;
    s->height = p->height;
    for (uint32_t c = 0; c < q->channels; c++) {
        bool alpha = plane_has_alpha(q) && c == q->channels - 1;
        load_channel(in, from, c, s);
        for (uint32_t y = 0; y < s->height && !alpha; y++)
            sum_line(s->v + (size_t)y * s->width, s->half + (size_t)y * s->width, 1, s->width,
                     q->width, across, whole, s->line);
        for (uint32_t x = 0; x < q->width && !alpha; x++)
            sum_line(s->half + x, s->v + x, s->width, s->height, q->height, down, whole, s->line);
        for (uint32_t y = 0; y < q->height; y++) {
            const double *row = s->v + (size_t)(alpha ? y + top : y) * s->width;
            uint8_t *samples = picture_row(out, to, y);
            for (uint32_t x = 0; x < q->width; x++)
                sample_store(q->type, samples + ((size_t)x * q->channels + c) * size,
                             alpha ? row[x + left] : mean(row[x], width * height, q->type));
        }
    }
}

/* All passes from plane `from` to plane `to`, through pictures of that plane's size. */
static int filter_all(const struct box_config *config, int64_t width, const struct picture *in,
                      size_t from, struct picture *out, size_t to, struct sums *s)
{
    enum border border = (enum border)config->border;
    int64_t height = config->height ? config->height : width;
    struct picture before = *in, after = {0};
    for (int64_t pass = 1; pass < config->passes; pass++) {
        struct plane plane = before.frame.planes[from];
        struct frame frame = {0};
        plane.width -= border == BORDER_CROP ? (uint32_t)width - 1 : 0;
        plane.height -= border == BORDER_CROP ? (uint32_t)height - 1 : 0;
        bool made = frame_add_plane(&frame, &plane, FRAME_ALIGNMENT);
        made = made && picture_create(&after, &frame);
        frame_finish(&frame);
        if (made)
            filter(&before, from, &after, 0, width, height, border, s);
        if (before.data != in->data)
            picture_destroy(&before);
        if (!made)
            return FAULT_MEMORY;
        before = after;
        from = 0;
    }
    filter(&before, from, out, to, width, height, border, s);
    if (before.data != in->data)
        picture_destroy(&before);
    return 0;
}

/* Entry (x, y) is the sum of all samples above and left of it, modulo 2^32. */
static void make_table(const struct picture *in, size_t from, struct picture *out, size_t plane)
{
    const struct plane *p = &in->frame.planes[from], *q = &out->frame.planes[plane];
    size_t size = sample_size(p->type);
    uint32_t n = p->channels;
    memset(picture_row(out, plane, 0), 0, (size_t)q->width * n * sizeof(uint32_t));
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *row = picture_row(in, from, y);
        const uint32_t *above = picture_row(out, plane, y);
        uint32_t *to = picture_row(out, plane, y + 1);
        uint32_t sums[PLANE_CHANNELS_MAX] = {0};
        memset(to, 0, n * sizeof *to);
        for (uint32_t i = 0; i < p->width * n; i++) {
            sums[i % n] += (uint32_t)(int64_t)sample_load(p->type, row + i * size);
            to[n + i] = above[n + i] + sums[i % n];
        }
    }
}

int box_reference(const void *config_, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    const struct box_config *config = config_;
    int result = 0;
    unsigned count = config->width.count, planes = count + (config->table);
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++) {
        const struct plane *p = &in->frame.planes[i];
        size_t n = (size_t)p->width * p->height;
        size_t longest = (p->width > p->height ? p->width : p->height) + (size_t)BOX_SIDE_MAX;
        struct sums s = {.v = malloc(n * sizeof(double)),
                         .half = malloc(n * sizeof(double)),
                         .line = malloc(longest * sizeof(double))};
        bool made = s.v && s.half && s.line;
        for (unsigned w = 0; w < count && made && result == 0; w++)
            result = filter_all(config, config->width.v[w], in, i, out, i * planes + w, &s);
        if (config->table)
            make_table(in, i, out, i * planes + count);
        free(s.v);
        free(s.half);
        free(s.line);
        if (!made || result != 0)
            result = fault_set(fault, FAULT_MEMORY, "no memory for a picture of sums");
    }
    return result;
}
