/* luminance by its definition: u8 and u16 by (r·R + g·G + b·B + 32768) >> 16, f32 by the same
 * weights. */
#include "stage/luminance.h"

static double mix(const struct plane *plane, const uint8_t *pixel, const uint32_t weights[3])
{
    size_t size = sample_size(plane->type);
    if (plane->type == SAMPLE_F32) {
        const float *rgb = (const float *)pixel;
        float red = rgb[0] * ((float)weights[0] / 65536);
        float green = rgb[1] * ((float)weights[1] / 65536);
        float blue = rgb[2] * ((float)weights[2] / 65536);
        return red + green + blue;
    }
    uint64_t sum = 32768;
    for (int i = 0; i < 3; i++)
        sum += (uint64_t)sample_load(plane->type, pixel + i * size) * weights[i];
    return (double)(sum >> 16);
}

int luminance_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    uint32_t weights[3];
    luminance_weights(config, weights);
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        size_t pixel = sample_size(plane->type) * plane->channels;
        for (struct sample_at s = {0}; plane_each(&out->frame.planes[i], &s);) {
            const uint8_t *from = (const uint8_t *)picture_row(in, i, s.y) + s.x * pixel;
            picture_set(out, i, &s,
                        plane->channels > 2 ? mix(plane, from, weights)
                                            : sample_load(plane->type, from));
        }
    }
    return 0;
}
