/* video by its definition (video.h), a sample at a time. */
#include "stage/video.h"

/* Where a row has Y of pixel x, at y_at + x · y_step; and Cb and Cr of two pixels: in planes cb_in
 * and cr_in, at cb and cr behind so many times `pair`, a row of which is for so many of the
 * picture. */
static const struct {
    uint32_t y_at, y_step, cb_in, cr_in, pair, cb, cr, rows;
} places[VIDEO_FORMATS] = {
    [VIDEO_NV12] = {0, 1, 1, 1, 2, 0, 1, 2}, [VIDEO_NV21] = {0, 1, 1, 1, 2, 1, 0, 2},
    [VIDEO_NV16] = {0, 1, 1, 1, 2, 0, 1, 1}, [VIDEO_P010] = {0, 1, 1, 1, 2, 0, 1, 2},
    [VIDEO_I420] = {0, 1, 1, 2, 1, 0, 0, 2}, [VIDEO_YUY2] = {0, 2, 0, 0, 4, 1, 3, 1},
    [VIDEO_UYVY] = {1, 2, 0, 0, 4, 0, 2, 1},
};

static int number_at(const struct picture *in, enum video_format format, size_t plane, uint32_t x,
                     uint32_t y)
{
    const void *row = picture_row(in, plane, y);
    return video_has_10_bits(format) ? ((const uint16_t *)row)[x] >> 6 : ((const uint8_t *)row)[x];
}

/* The number of a pixel among packed ones. */
static int packed_at(const struct picture *in, enum video_format format, uint32_t x, uint32_t y)
{
    uint32_t of = format == VIDEO_RAW10 ? 4 : 2, bits = format == VIDEO_RAW10 ? 2 : 4;
    uint32_t group = x / of * (of + 1), k = x % of;
    int rest = number_at(in, format, 0, group + of, y);
    return number_at(in, format, 0, group + k, y) << bits | (rest >> bits * k & ((1 << bits) - 1));
}

/* Y alone, or red, green or blue. */
static double of_ycbcr(const struct video_config *config, const struct picture *in,
                       const struct sample_at *at)
{
    enum video_format format = config->video.format;
    struct video_factors f = video_factors(&config->video);
    bool is_10 = video_has_10_bits(format);
    uint32_t pair = at->x / 2 * places[format].pair, row = at->y / places[format].rows;
    int32_t zero = is_10 ? 512 : 128, most = is_10 ? 65535 : 255;
    int32_t y =
        number_at(in, format, 0, places[format].y_at + at->x * places[format].y_step, at->y);
    int32_t v = (y - f.y_zero) * f.y;
    if (!config->luma) {
        int32_t cb =
            number_at(in, format, places[format].cb_in, pair + places[format].cb, row) - zero;
        int32_t cr =
            number_at(in, format, places[format].cr_in, pair + places[format].cr, row) - zero;
        v += at->c == 0   ? f.cr_to_r * cr
             : at->c == 1 ? -f.cb_to_g * cb - f.cr_to_g * cr
                          : f.cb_to_b * cb;
    }
    v = is_10 ? (v + 4096) >> 13 : (v + 32768) >> 16;
    return v < 0 ? 0 : v > most ? most : v;
}

double video_at(const void *config_, const struct stage_place *place)
{
    const struct video_config *config = config_;
    const struct sample_at *at = &place->at;
    enum video_format format = config->video.format;
    if (video_is_ycbcr(format))
        return of_ycbcr(config, place->in, at);
    if (format == VIDEO_RAW10 || format == VIDEO_RAW12)
        return packed_at(place->in, format, at->x, at->y);
    /* bytes that are there, in the order red, green, blue, alpha */
    bool blue_first = format == VIDEO_BGR || format == VIDEO_BGRX || format == VIDEO_BGRA;
    return number_at(place->in, format, 0,
                     at->x * place->from->channels + (blue_first && at->c < 3 ? 2 - at->c : at->c),
                     at->y);
}
