/* crop, flip and pad by their definitions: pixel by pixel. */
#include <string.h>

#include "stage/common.h"
#include "stage/move/move.h"

/* The pixel of the input, a plane like `in`, that stands at (*x, *y) of the result. */
typedef void source_pixel(const void *config, const struct plane *in, uint32_t *x, uint32_t *y);

static int each_pixel(const void *config, const struct picture *in, struct picture *out,
                      source_pixel *find)
{
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *plane = &out->frame.planes[i];
        size_t pixel = plane->channels * sample_size(plane->type);
        for (uint32_t n = 0; n < plane->width * plane->height; n++) {
            uint32_t x = n % plane->width, y = n / plane->width;
            uint8_t *to = (uint8_t *)picture_row(out, i, y) + x * pixel;
            find(config, &in->frame.planes[i], &x, &y);
            memcpy(to, (uint8_t *)picture_row(in, i, y) + x * pixel, pixel);
        }
    }
    return 0;
}

static void in_rectangle(const void *config, const struct plane *in, uint32_t *x, uint32_t *y)
{
    uint32_t left = 0, top = 0;
    crop_place(config, in, &left, &top,
               NULL); /* shape() has refused a rectangle beyond the plane */
    *x += left;
    *y += top;
}

int crop_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    return each_pixel(config, in, out, in_rectangle);
}

static void mirrored(const void *config_, const struct plane *in, uint32_t *x, uint32_t *y)
{
    const struct flip_config *config = config_;
    if (config->axis == FLIP_X)
        *x = in->width - 1 - *x;
    else
        *y = in->height - 1 - *y;
}

int flip_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    return each_pixel(config, in, out, mirrored);
}

int pad_reference(const void *config_, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    const struct pad_config *config = config_;
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *from = &in->frame.planes[i], *plane = &out->frame.planes[i];
        double background[PLANE_CHANNELS_MAX];
        int result = stage_background("pad", &config->background, plane, background, fault);
        if (result != 0)
            return result;
        for (struct sample_at s = {0}; plane_each(plane, &s);) {
            int64_t left = s.x - config->left, top = s.y - config->top;
            bool inside = left >= 0 && top >= 0 && left < from->width && top < from->height;
            double v = inside || config->border != MOVE_BACKGROUND
                           ? picture_sample(in, i, left, top, s.c, (enum border)config->border)
                           : background[s.c];
            picture_set(out, i, &s, v);
        }
    }
    return 0;
}
