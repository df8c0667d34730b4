/* pad by its definition: sample by sample. */
#include "stage/move/pad.h"

#include "image/border.h"
#include "stage/common.h"
#include "stage/move/move.h"

/* The sample at `x`, `y` from the input's corner. */
static double sample_at(const struct pad_config *config, const struct picture *in, size_t index,
                        int64_t x, int64_t y, uint32_t channel, const double background[])
{
    const struct plane *plane = &in->frame.planes[index];
    if (x < 0 || y < 0 || x >= plane->width || y >= plane->height) {
        if (config->border == MOVE_BACKGROUND)
            return background[channel];
        x = border_index(x, plane->width, (enum border)config->border);
        y = border_index(y, plane->height, (enum border)config->border);
        if (x < 0 || y < 0)
            return 0;
    }
    const uint8_t *row = picture_row(in, index, (uint32_t)y);
    return sample_load(plane->type,
                       row + ((size_t)x * plane->channels + channel) * sample_size(plane->type));
}

int pad_reference(const void *config_, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    const struct pad_config *config = config_;
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *plane = &out->frame.planes[i];
        double background[PLANE_CHANNELS_MAX];
        int result = stage_background("pad", &config->background, plane, background, fault);
        if (result != 0)
            return result;
        for (uint32_t y = 0; y < plane->height; y++) {
            uint8_t *row = picture_row(out, i, y);
            for (uint32_t n = 0; n < plane->width * plane->channels; n++)
                sample_store(plane->type, row + n * sample_size(plane->type),
                             sample_at(config, in, i, n / plane->channels - config->left,
                                       y - config->top, n % plane->channels, background));
        }
    }
    return 0;
}
