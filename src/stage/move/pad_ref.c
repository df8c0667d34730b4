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
    bool outside = x < 0 || y < 0 || x >= plane->width || y >= plane->height;
    if (outside && config->border == MOVE_BACKGROUND)
        return background[channel];
    return picture_sample(in, index, x, y, channel, (enum border)config->border);
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
