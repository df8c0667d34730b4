/* crop by its definition: the samples of the rectangle, one by one. */
#include "stage/move/crop.h"
#include "stage/stage.h"

int crop_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *plane = &out->frame.planes[i];
        size_t size = sample_size(plane->type);
        uint32_t left, top;
        int result = crop_place(config, &in->frame.planes[i], &left, &top, fault);
        if (result != 0)
            return result;
        for (uint32_t y = 0; y < plane->height; y++) {
            const uint8_t *from = picture_row(in, i, top + y);
            uint8_t *to = picture_row(out, i, y);
            for (uint32_t x = 0; x < plane->width * plane->channels; x++)
                sample_store(plane->type, to + x * size,
                             sample_load(plane->type, from + (left * plane->channels + x) * size));
        }
    }
    return 0;
}
