/* toyerode by its definition: the least of nine samples of one channel. */
#include <math.h>

#include "stage/stage.h"
#include "stage/toyerode.h"

static double at(const struct picture *in, size_t index, int64_t x, int64_t y, uint32_t channel,
                 enum border border)
{
    const struct plane *plane = &in->frame.planes[index];
    x = border_index(x, plane->width, border);
    y = border_index(y, plane->height, border);
    if (x < 0 || y < 0)
        return 0;
    const uint8_t *row = picture_row(in, index, (uint32_t)y);
    return sample_load(plane->type,
                       row + ((size_t)x * plane->channels + channel) * sample_size(plane->type));
}

int toyerode_reference(const void *config_, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    const struct toyerode_config *config = config_;
    (void)fault;
    for (size_t p = 0; p < in->frame.n_planes; p++) {
        const struct plane *plane = &in->frame.planes[p];
        for (uint32_t y = 0; y < plane->height; y++)
            for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
                uint32_t x = i / plane->channels, channel = i % plane->channels;
                double least = INFINITY;
                for (int k = 0; k < 9; k++)
                    least = fmin(least, at(in, p, (int64_t)x + k % 3 - 1, (int64_t)y + k / 3 - 1,
                                           channel, config->border));
                sample_store(plane->type, picture_row(out, p, y) + i * sample_size(plane->type),
                             least);
            }
    }
    return 0;
}
