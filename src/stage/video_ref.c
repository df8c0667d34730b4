/* video by its definition (video.h), a pixel at a time. */
#include "stage/video.h"

static uint8_t limit(int32_t fixed)
{
    int32_t v = (fixed + 32768) >> 16;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static uint8_t byte_at(const struct picture *in, size_t plane, uint32_t x, uint32_t y)
{
    return ((const uint8_t *)picture_row(in, plane, y))[x];
}

/* Y, Cb and Cr of a pixel. */
static void fetch(const struct picture *in, enum video_format format, uint32_t x, uint32_t y,
                  int ycc[3])
{
    uint32_t pair = x / 2;
    switch (format) {
    case VIDEO_NV12:
    case VIDEO_NV21:
        ycc[0] = byte_at(in, 0, x, y);
        ycc[1] = byte_at(in, 1, 2 * pair + (format == VIDEO_NV21), y / 2);
        ycc[2] = byte_at(in, 1, 2 * pair + (format == VIDEO_NV12), y / 2);
        break;
    case VIDEO_I420:
        ycc[0] = byte_at(in, 0, x, y);
        ycc[1] = byte_at(in, 1, pair, y / 2);
        ycc[2] = byte_at(in, 2, pair, y / 2);
        break;
    default: { /* two pixels are Y Cb Y Cr, or Cb Y Cr Y */
        uint32_t luma = format == VIDEO_YUY2 ? 0 : 1;
        ycc[0] = byte_at(in, 0, 4 * pair + luma + 2 * (x % 2), y);
        ycc[1] = byte_at(in, 0, 4 * pair + 1 - luma, y);
        ycc[2] = byte_at(in, 0, 4 * pair + 3 - luma, y);
    }
    }
}

static void to_rgb(const struct video_factors *f, const int ycc[3], uint8_t *rgb)
{
    int32_t y = (ycc[0] - f->y_zero) * f->y, cb = ycc[1] - 128, cr = ycc[2] - 128;
    rgb[0] = limit(y + f->cr_to_r * cr);
    rgb[1] = limit(y - f->cb_to_g * cb - f->cr_to_g * cr);
    rgb[2] = limit(y + f->cb_to_b * cb);
}

/* Bytes that are there, in the order red, green, blue, alpha. */
static void reorder(const struct picture *in, enum video_format format, uint32_t x, uint32_t y,
                    uint8_t *to, uint32_t channels)
{
    bool blue_first = format == VIDEO_BGR || format == VIDEO_BGRX || format == VIDEO_BGRA;
    uint32_t bytes = in->frame.planes[0].channels;
    for (uint32_t c = 0; c < channels; c++)
        to[c] = byte_at(in, 0, x * bytes + (blue_first && c < 3 ? 2 - c : c), y);
}

int video_reference(const void *config_, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    const struct video_config *config = config_;
    struct video_factors factors = video_factors(&config->video);
    enum video_format format = config->video.format;
    const struct plane *plane = &out->frame.planes[0];
    for (uint32_t y = 0; y < plane->height; y++)
        for (uint32_t x = 0; x < plane->width; x++) {
            uint8_t *to = (uint8_t *)picture_row(out, 0, y) + x * (size_t)plane->channels;
            int ycc[3] = {0};
            if (video_is_ycbcr(format))
                fetch(in, format, x, y, ycc);
            if (config->luma)
                *to = limit((ycc[0] - factors.y_zero) * factors.y);
            else if (video_is_ycbcr(format))
                to_rgb(&factors, ycc, to);
            else
                reorder(in, format, x, y, to, plane->channels);
        }
    return 0;
}
