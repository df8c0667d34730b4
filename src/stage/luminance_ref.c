/* luminance by its definition: u8 and u16 by (r·R + g·G + b·B + 32768) >> 16, f32 by the same
 * weights. */
#include "stage/common.h"
#include "stage/luminance.h"

double luminance_sum(enum sample_type type, const double rgb[3], const uint32_t weights[3])
{
    if (type == SAMPLE_F32) {
        float red = (float)rgb[0] * ((float)weights[0] / 65536);
        float green = (float)rgb[1] * ((float)weights[1] / 65536);
        float blue = (float)rgb[2] * ((float)weights[2] / 65536);
        return red + green + blue;
    }
    uint64_t sum = 32768;
    for (int i = 0; i < 3; i++)
        sum += (uint64_t)rgb[i] * weights[i];
    return (double)(sum >> 16);
}

double luminance_of(const struct stage_place *place, const uint32_t weights[3])
{
    double rgb[3];
    if (place->from->channels < 3)
        return stage_channel(place, 0);
    for (uint32_t c = 0; c < 3; c++)
        rgb[c] = stage_channel(place, c);
    return luminance_sum(place->from->type, rgb, weights);
}

double luminance_at(const void *config, const struct stage_place *place)
{
    uint32_t weights[3];
    luminance_weights(config, weights);
    return luminance_of(place, weights);
}
