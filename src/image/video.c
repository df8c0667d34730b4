#include "image/video.h"

/* Of each plane: channels, and by how much columns and rows are fewer than the picture's. */
static const struct kind {
    unsigned n_planes;
    struct {
        uint32_t channels, columns, rows;
    } planes[VIDEO_PLANES_MAX];
    uint32_t channels; /* of the picture */
    enum sample_type type;
    uint32_t bytes; /* of a plane of bytes, so many for as many pixels as `columns`; 0: samples */
} kinds[VIDEO_FORMATS] = {
    [VIDEO_NV12] = {2, {{1, 1, 1}, {2, 2, 2}}, 3, SAMPLE_U8},
    [VIDEO_NV21] = {2, {{1, 1, 1}, {2, 2, 2}}, 3, SAMPLE_U8},
    [VIDEO_I420] = {3, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}, 3, SAMPLE_U8},
    [VIDEO_YUY2] = {1, {{4, 2, 1}}, 3, SAMPLE_U8},
    [VIDEO_UYVY] = {1, {{4, 2, 1}}, 3, SAMPLE_U8},
    [VIDEO_GRAY8] = {1, {{1, 1, 1}}, 1, SAMPLE_U8},
    [VIDEO_GRAY16_LE] = {1, {{1, 1, 1}}, 1, SAMPLE_U16},
    [VIDEO_RGB] = {1, {{3, 1, 1}}, 3, SAMPLE_U8},
    [VIDEO_BGR] = {1, {{3, 1, 1}}, 3, SAMPLE_U8},
    [VIDEO_RGBX] = {1, {{4, 1, 1}}, 3, SAMPLE_U8},
    [VIDEO_BGRX] = {1, {{4, 1, 1}}, 3, SAMPLE_U8},
    [VIDEO_RGBA] = {1, {{4, 1, 1}}, 4, SAMPLE_U8},
    [VIDEO_BGRA] = {1, {{4, 1, 1}}, 4, SAMPLE_U8},
    [VIDEO_NV16] = {2, {{1, 1, 1}, {2, 2, 1}}, 3, SAMPLE_U8},
    [VIDEO_P010] = {2, {{1, 1, 1}, {2, 2, 2}}, 3, SAMPLE_U16},
    [VIDEO_RAW10] = {1, {{1, 4, 1}}, 1, SAMPLE_U16, 5},
    [VIDEO_RAW12] = {1, {{1, 2, 1}}, 1, SAMPLE_U16, 3},
};

unsigned video_planes(const struct video *video, struct plane planes[VIDEO_PLANES_MAX])
{
    const struct kind *kind = &kinds[video->format];
    for (unsigned i = 0; i < kind->n_planes; i++) {
        uint32_t columns = kind->planes[i].columns, rows = kind->planes[i].rows;
        uint32_t groups = video->width / columns + (video->width % columns != 0);
        planes[i] = (struct plane){.width = kind->bytes ? groups * kind->bytes : groups,
                                   .height = video->height / rows + video->height % rows,
                                   .channels = kind->planes[i].channels,
                                   .type = kind->bytes ? SAMPLE_U8 : kind->type};
    }
    return kind->n_planes;
}

struct plane video_picture(const struct video *video)
{
    const struct kind *kind = &kinds[video->format];
    return (struct plane){.width = video->width,
                          .height = video->height,
                          .channels = kind->channels,
                          .type = kind->type};
}

bool video_is_ycbcr(enum video_format format)
{
    return (format >= VIDEO_NV12 && format <= VIDEO_UYVY) || format == VIDEO_NV16 ||
           format == VIDEO_P010;
}

bool video_has_10_bits(enum video_format format)
{
    return format == VIDEO_P010;
}

bool video_is_picture(enum video_format format)
{
    return format == VIDEO_GRAY8 || format == VIDEO_GRAY16_LE || format == VIDEO_RGB ||
           format == VIDEO_RGBA;
}
