/* equalize by its definition: luma or samples counted one by one, and each through the formula. */
#include "stage/tone/equalize.h"

#include <stdlib.h>

static uint32_t sample(const struct plane *plane, const uint8_t *row, uint32_t x, uint32_t c)
{
    size_t index = (size_t)x * plane->channels + c;
    return (uint32_t)sample_load(plane->type, row + index * sample_size(plane->type));
}

/* The luma of a pixel; grey as it is. */
static uint32_t tone(const struct plane *plane, const uint8_t *row, uint32_t x)
{
    if (plane->channels < 3)
        return sample(plane, row, x, 0);
    return (sample(plane, row, x, 0) * 19595 + sample(plane, row, x, 1) * 38470 +
            sample(plane, row, x, 2) * 7471 + 32768) >>
           16;
}

static void spread(const struct picture *in, size_t index, const uint64_t *counts, uint32_t bins,
                   struct picture *out)
{
    const struct plane *plane = &in->frame.planes[index];
    uint32_t colours = plane->channels - (plane_has_alpha(plane) ? 1 : 0), first = 0;
    while (counts[first] == 0)
        first++;
    uint64_t least = counts[first], rest = counts[bins - 1] - least;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *row = picture_row(in, index, y);
        uint8_t *to = picture_row(out, index, y);
        for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
            uint32_t x = i / plane->channels, v = tone(plane, row, x);
            double value = sample(plane, row, x, i % plane->channels);
            if (i % plane->channels < colours && rest > 0) {
                uint64_t above = counts[v] - least;
                double become = (double)((2 * above * (bins - 1) + rest) / (2 * rest));
                value = (double)sample_saturate(plane->type, value + become - v);
            }
            sample_store(plane->type, to + i * sample_size(plane->type), value);
        }
    }
}

int equalize_reference(const void *config, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        uint32_t bins = (uint32_t)sample_max(plane->type) + 1;
        uint64_t *counts = calloc(bins, sizeof *counts);
        if (!counts)
            return fault_set(fault, FAULT_MEMORY, "no memory for counts");
        for (uint32_t y = 0; y < plane->height; y++)
            for (uint32_t x = 0; x < plane->width; x++)
                counts[tone(plane, picture_row(in, i, y), x)]++;
        for (uint32_t v = 1; v < bins; v++) /* counts[v] becomes the number of pixels up to v */
            counts[v] += counts[v - 1];
        spread(in, i, counts, bins, out);
        free(counts);
    }
    return 0;
}
