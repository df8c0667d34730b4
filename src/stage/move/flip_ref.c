/* flip by its definition: pixel by pixel. */
#include "stage/move/flip.h"

#include <string.h>

#include "stage/stage.h"

int flip_reference(const void *config_, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    const struct flip_config *config = config_;
    (void)fault;
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *plane = &out->frame.planes[i];
        size_t pixel = plane->channels * sample_size(plane->type);
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                uint32_t from_x = config->axis == FLIP_X ? plane->width - 1 - x : x;
                uint32_t from_y = config->axis == FLIP_Y ? plane->height - 1 - y : y;
                memcpy((uint8_t *)picture_row(out, i, y) + x * pixel,
                       (uint8_t *)picture_row(in, i, from_y) + from_x * pixel, pixel);
            }
        }
    }
    return 0;
}
