/* video by its definition (video.h), a pixel at a time. */
#include "stage/video.h"

/* A sample of the picture. */
static void store(enum video_format format, uint8_t *row, size_t index, int32_t fixed)
{
    bool is_10 = video_has_10_bits(format);
    int32_t most = is_10 ? 65535 : 255, v = is_10 ? (fixed + 4096) >> 13 : (fixed + 32768) >> 16;
    v = v < 0 ? 0 : v > most ? most : v;
    if (is_10)
        ((uint16_t *)row)[index] = (uint16_t)v;
    else
        row[index] = (uint8_t)v;
}

static uint8_t byte_at(const struct picture *in, size_t plane, uint32_t x, uint32_t y)
{
    return ((const uint8_t *)picture_row(in, plane, y))[x];
}

static int ten_bits_at(const struct picture *in, size_t plane, uint32_t x, uint32_t y)
{
    return ((const uint16_t *)picture_row(in, plane, y))[x] >> 6;
}

/* The number of a pixel among packed ones. */
static uint16_t packed_at(const struct picture *in, enum video_format format, uint32_t x,
                          uint32_t y)
{
    uint32_t of = format == VIDEO_RAW10 ? 4 : 2, bits = format == VIDEO_RAW10 ? 2 : 4;
    uint32_t group = x / of * (of + 1), k = x % of;
    uint8_t rest = byte_at(in, 0, group + of, y);
    return (uint16_t)(byte_at(in, 0, group + k, y) << bits |
                      (rest >> bits * k & ((1 << bits) - 1)));
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
    case VIDEO_NV16:
        ycc[0] = byte_at(in, 0, x, y);
        ycc[1] = byte_at(in, 1, 2 * pair, y);
        ycc[2] = byte_at(in, 1, 2 * pair + 1, y);
        break;
    case VIDEO_P010:
        ycc[0] = ten_bits_at(in, 0, x, y);
        ycc[1] = ten_bits_at(in, 1, 2 * pair, y / 2);
        ycc[2] = ten_bits_at(in, 1, 2 * pair + 1, y / 2);
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

static void to_rgb(const struct video_factors *f, enum video_format format, const int ycc[3],
                   uint8_t *row, uint32_t x)
{
    int zero = video_has_10_bits(format) ? 512 : 128;
    int32_t y = (ycc[0] - f->y_zero) * f->y, cb = ycc[1] - zero, cr = ycc[2] - zero;
    store(format, row, 3 * (size_t)x, y + f->cr_to_r * cr);
    store(format, row, 3 * (size_t)x + 1, y - f->cb_to_g * cb - f->cr_to_g * cr);
    store(format, row, 3 * (size_t)x + 2, y + f->cb_to_b * cb);
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
            uint8_t *row = picture_row(out, 0, y);
            int ycc[3] = {0};
            if (video_is_ycbcr(format))
                fetch(in, format, x, y, ycc);
            if (config->luma)
                store(format, row, x, (ycc[0] - factors.y_zero) * factors.y);
            else if (video_is_ycbcr(format))
                to_rgb(&factors, format, ycc, row, x);
            else if (format == VIDEO_RAW10 || format == VIDEO_RAW12)
                ((uint16_t *)row)[x] = packed_at(in, format, x, y);
            else
                reorder(in, format, x, y, row + x * (size_t)plane->channels, plane->channels);
        }
    return 0;
}
