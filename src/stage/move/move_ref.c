/* copy, crop, flip and pad by their definitions: pixel by pixel. */
#include <string.h>

#include "stage/common.h"
#include "stage/move/move.h"

int move_pixels(const void *config, const struct picture *in, struct picture *out,
                move_source *find)
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

static void in_place(const void *config, const struct plane *in, uint32_t *x, uint32_t *y)
{
}

int copy_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    return move_pixels(config, in, out, in_place);
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
    return move_pixels(config, in, out, in_rectangle);
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
    return move_pixels(config, in, out, mirrored);
}

double pad_at(const void *config_, const struct stage_place *place)
{
    const struct pad_config *config = config_;
    int64_t x = place->at.x - config->left, y = place->at.y - config->top;
    bool inside = x >= 0 && y >= 0 && x < place->from->width && y < place->from->height;
    double background[PLANE_CHANNELS_MAX];
    if (inside || config->border != MOVE_BACKGROUND)
        return picture_sample(place->in, place->plane, x, y, place->at.c,
                              (enum border)config->border);
    stage_background("pad", &config->background, place->to, background, NULL);
    return background[place->at.c];
}
