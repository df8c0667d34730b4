/* convert by its definition. Samples first get the new type: sat(rne(v)) for integers, of floats
 * whose white is 1 sat(rne(v · max)) where they are unsigned, f64 rounded to f32 first; with scale
 * or zero sat(rne(v / scale) + zero), divided in f32; else the nearest f32 or f16; alpha like the
 * rest. Then grey becomes three colours, or colours their luma (bt601); alpha is dropped, or is
 * white. Then channels are put below each other. */
#include <math.h>

#include "stage/common.h"
#include "stage/convert.h"

static double convert(const struct convert_config *config, const struct plane *in, double v)
{
    enum sample_type to = convert_type(config, in);
    if (config->quantizes) {
        float steps = (float)v / (float)config->scale;
        return (double)sample_saturate(to, rint((double)steps) + (double)config->zero);
    }
    if (to == in->type || to == SAMPLE_F16) /* sample_store rounds */
        return v;
    if (convert_scales(config, in))
        v = (float)v * sample_max(to);
    return sample_is_integer(to) ? (double)sample_saturate(to, v) : (double)(float)v;
}

static double luma(enum sample_type type, const double rgb[3])
{
    static const uint32_t weights[3] = {19595, 38470, 7471};
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

/* Channel c, of so many, of a pixel with these values. */
static double channel(const struct plane *from, const struct plane *to, uint32_t channels,
                      const double v[4], uint32_t c)
{
    if (channels == from->channels)
        return v[c];
    if (c == 3)
        return from->channels == 2 ? v[1] : plane_white(to);
    if (channels == 1 && from->channels > 2)
        return luma(to->type, v);
    return v[from->channels > 2 ? c : 0];
}

int convert_reference(const void *config_, const struct picture *in, struct picture *out,
                      struct fault *fault)
{
    const struct convert_config *config = config_;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *from = &in->frame.planes[i], *to = &out->frame.planes[i];
        size_t in_size = sample_size(from->type), out_size = sample_size(to->type);
        uint32_t channels =
            config->channels == CONVERT_SAME ? from->channels : (uint32_t)config->channels;
        for (uint32_t y = 0; y < from->height; y++) {
            const uint8_t *source = picture_row(in, i, y);
            for (uint32_t x = 0; x < from->width; x++) {
                double v[4];
                for (uint32_t c = 0; c < from->channels; c++) {
                    v[c] = sample_load(from->type, source + (x * from->channels + c) * in_size);
                    v[c] = convert(config, from, v[c]);
                }
                for (uint32_t c = 0; c < channels; c++) {
                    bool planar = config->planar == 1;
                    uint8_t *target = picture_row(out, i, planar ? c * from->height + y : y);
                    sample_store(to->type, target + (planar ? x : x * channels + c) * out_size,
                                 channel(from, to, channels, v, c));
                }
            }
        }
    }
    return 0;
}
