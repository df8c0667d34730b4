/* convert by its definition. Samples first get the new type: sat(rne(v)) for integers, of floats
 * whose white is 1 sat(rne(v · max)) where they are unsigned, f64 rounded to f32 first; with scale
 * or zero sat(rne(v / scale) + zero), divided in f32; else the nearest f32 or f16; alpha like the
 * rest. Then grey becomes three colours, or colours their luma (bt601); alpha is dropped, or is
 * white. Then channels are put below each other. */
#include <math.h>

#include "stage/common.h"
#include "stage/convert.h"
#include "stage/luminance.h"

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
    return stage_limited(to, v);
}

double convert_at(const void *config_, const struct stage_place *place)
{
    const struct convert_config *config = config_;
    const struct plane *from = place->from, *to = place->to;
    const bool planar = config->planar == 1;
    uint32_t channels =
        config->channels == CONVERT_SAME ? from->channels : (uint32_t)config->channels;
    uint32_t y = planar ? place->at.y % from->height : place->at.y;
    uint32_t c = planar ? place->at.y / from->height : place->at.c;
    double v[PLANE_CHANNELS_MAX];
    for (uint32_t i = 0; i < from->channels; i++) {
        v[i] = picture_sample(place->in, place->plane, place->at.x, y, i, BORDER_EDGE);
        v[i] = convert(config, from, v[i]);
    }
    if (channels == from->channels)
        return v[c];
    if (c == 3)
        return from->channels == 2 ? v[1] : plane_white(to);
    if (channels == 1 && from->channels > 2)
        return luminance_sum(to->type, v, luminance_standards[LUMINANCE_BT601]);
    return v[from->channels > 2 ? c : 0];
}
