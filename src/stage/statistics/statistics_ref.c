/* statistics and histogram by their definitions: for each region and colour its samples, one by
 * one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/statistics/statistics.h"

__extension__ typedef unsigned __int128 wide;

/* The double nearest to a / b, for b up to 2^62 and a quotient below 2^54: 55 digits, of which the
 * last one says whether more follow. */
static double quotient(wide a, uint64_t b)
{
    int power = 0;
    if (a == 0)
        return 0;
    for (; a < (wide)b << 54; power--)
        a *= 2;
    return ldexp((double)((uint64_t)(a / b) | (a % b != 0)), power);
}

/* The counts of what lies up to each value, of one colour in a region; false without memory. */
struct region {
    const struct picture *in;
    size_t index;
    uint32_t left, top, right, bottom, colour;
};

static double at(const struct region *r, uint32_t x, uint32_t y)
{
    return picture_sample(r->in, r->index, x, y, r->colour, BORDER_EDGE);
}

static struct region region_of(const struct picture *in, size_t index,
                               const struct regions *regions, uint32_t column, uint32_t row,
                               uint32_t colour)
{
    const struct plane *plane = &in->frame.planes[index];
    uint32_t across = (uint32_t)regions->across, down = (uint32_t)regions->down;
    return (struct region){.in = in,
                           .index = index,
                           .left = region_begin(column, across, plane->width),
                           .right = region_begin(column + 1, across, plane->width),
                           .top = region_begin(row, down, plane->height),
                           .bottom = region_begin(row + 1, down, plane->height),
                           .colour = colour};
}

/* How many samples are at most `v`. */
static uint64_t up_to(const uint64_t counts[65536], uint32_t v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i <= v; i++)
        n += counts[i];
    return n;
}

/* Count i is that of value least_value + i. */
static double number_of(const struct statistics_number *number, const uint64_t counts[65536],
                        int64_t least_value)
{
    uint64_t n = up_to(counts, 65535), below;
    int64_t sum = 0, least = 0, most = 65535, v = 0, t = number->value - least_value;
    wide squares = 0;
    while (counts[least] == 0)
        least++;
    while (counts[most] == 0)
        most--;
    for (int64_t i = 0; i < 65536; i++) {
        int64_t value = i + least_value;
        sum += (int64_t)counts[i] * value;
        squares += (wide)counts[i] * (wide)(value * value);
    }
    uint64_t size = (uint64_t)llabs(sum);
    switch (number->kind) {
    case STATISTICS_COUNT:
        return (double)n;
    case STATISTICS_LEAST:
        return (double)(least + least_value);
    case STATISTICS_MOST:
        return (double)(most + least_value);
    case STATISTICS_PERCENTILE:
        below = counts[0];
        while (below == 0 || below * (100 * STATISTICS_PARTS) < n * (uint64_t)number->value)
            below += counts[++v];
        return (double)(v + least_value);
    case STATISTICS_OVER:
        return (double)(t < 0 ? n : t > 65535 ? 0 : n - up_to(counts, (uint32_t)t));
    case STATISTICS_MEAN:
        return (sum < 0 ? -1 : 1) * quotient(size, n);
    case STATISTICS_DEVIATION:
        return sqrt(quotient(n * squares - (wide)size * size, n * n));
    }
    return 0;
}

int statistics_reference(const void *config_, const struct picture *in, struct picture *out,
                         struct fault *fault)
{
    const struct statistics_config *config = config_;
    struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX];
    unsigned n = statistics_numbers(config, numbers);
    uint64_t *counts = malloc(65536 * sizeof *counts);
    if (!counts)
        return fault_set(fault, FAULT_MEMORY, "no memory for counts");
    for (size_t k = 0; k < out->frame.n_planes; k++)
        for (struct sample_at s = {0}; plane_each(&out->frame.planes[k], &s);) {
            struct region r = region_of(in, k / n, &config->regions, s.x, s.y, s.c);
            int64_t least = (int64_t)sample_min(in->frame.planes[k / n].type);
            memset(counts, 0, 65536 * sizeof *counts);
            for (uint32_t y = r.top; y < r.bottom; y++)
                for (uint32_t x = r.left; x < r.right; x++)
                    counts[(int64_t)at(&r, x, y) - least]++;
            picture_set(out, k, &s, number_of(&numbers[k % n], counts, least));
        }
    free(counts);
    return 0;
}

/* The bin of a sample, -1 for one that does not count. */
static int64_t bin_of(const struct histogram_config *config, const struct plane *plane, double v)
{
    if (sample_is_integer(plane->type))
        return (int64_t)((v - sample_min(plane->type)) * (double)config->bins /
                         (sample_max(plane->type) - sample_min(plane->type) + 1));
    float from_low = (float)v - histogram_low(config);
    float t = from_low * histogram_scale(config, plane);
    if (!(t >= 0 && t <= (float)config->bins))
        return -1;
    return (int64_t)t < config->bins ? (int64_t)t : config->bins - 1;
}

int histogram_reference(const void *config_, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    const struct histogram_config *config = config_;
    for (size_t k = 0; k < in->frame.n_planes; k++) {
        const struct plane *plane = &out->frame.planes[k];
        uint32_t across = (uint32_t)config->regions.across;
        for (struct sample_at s = {0}; plane_each(plane, &s);)
            picture_set(out, k, &s, 0);
        for (uint32_t i = 0; i < plane->height * plane->channels; i++) {
            uint32_t index = i / plane->channels, colour = i % plane->channels;
            struct region r =
                region_of(in, k, &config->regions, index % across, index / across, colour);
            int32_t *row = picture_row(out, k, index);
            for (uint32_t y = r.top; y < r.bottom; y++)
                for (uint32_t x = r.left; x < r.right; x++) {
                    int64_t bin = bin_of(config, &in->frame.planes[k], at(&r, x, y));
                    if (bin >= 0)
                        row[(uint64_t)bin * plane->channels + colour]++;
                }
        }
    }
    return 0;
}
