/* rotate by its definition: pixel by pixel. */
#include "stage/move/rotate.h"

#include <string.h>

#include "stage/stage.h"

int rotate_reference(const void *config_, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    const struct rotate_config *config = config_;
    (void)fault;
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *from = &in->frame.planes[i], *to = &out->frame.planes[i];
        size_t pixel = to->channels * sample_size(to->type);
        for (uint32_t y = 0; y < to->height; y++) {
            for (uint32_t x = 0; x < to->width; x++) {
                uint32_t sx, sy;
                if (config->angle == 90) {
                    sx = y;
                    sy = from->height - 1 - x;
                } else if (config->angle == 270) {
                    sx = from->width - 1 - y;
                    sy = x;
                } else {
                    sx = from->width - 1 - x;
                    sy = from->height - 1 - y;
                }
                memcpy((uint8_t *)picture_row(out, i, y) + x * pixel,
                       (uint8_t *)picture_row(in, i, sy) + sx * pixel, pixel);
            }
        }
    }
    return 0;
}
