/* Layouts: the caller's description of a frame, as our frames, and back. */
#include <stdio.h>
#include <string.h>

#include "image/video.h"
#include "library/internal.h"

/* Offsets below this and strides of 31 bits cannot overflow when they are added up. */
#define OFFSET_MAX ((uint64_t)1 << 48)

_Static_assert(SLUICE_U8 == SAMPLE_U8 + 1 && SLUICE_F16 == SAMPLE_F16 + 1, "types");
_Static_assert((int)SLUICE_NV12 == VIDEO_NV12 && (int)SLUICE_BGRA == VIDEO_BGRA &&
                   (int)SLUICE_RAW12 == VIDEO_RAW12,
               "formats");
_Static_assert((int)SLUICE_BT709 == VIDEO_BT709 && (int)SLUICE_BT2020 == VIDEO_BT2020, "matrices");
_Static_assert((int)SLUICE_FULL == VIDEO_FULL, "ranges");
_Static_assert(sizeof(((struct sluice_plane *)NULL)->name) == PLANE_NAME_MAX, "names");

/* What a plane is, without where it lies. */
static int read_plane(const struct sluice_plane *from, size_t index, struct plane *plane,
                      struct sluice_error *error)
{
    if (from->width < 1 || from->height < 1 || from->width > INT32_MAX ||
        from->height > INT32_MAX || from->channels < 1 || from->channels > PLANE_CHANNELS_MAX ||
        from->type < SLUICE_U8 || from->type > SLUICE_F16)
        return library_error(error, SLUICE_E_USAGE,
                             "plane %zu: %u×%u pixels of %u channels of type %u: sides are 1 to "
                             "2147483647, channels 1 to %d, types 1 to %d",
                             index, from->width, from->height, from->channels, from->type,
                             PLANE_CHANNELS_MAX, SLUICE_F16);
    if (!(from->white >= 0 && from->white <= 1e30) || !memchr(from->name, 0, sizeof from->name))
        return library_error(error, SLUICE_E_USAGE,
                             "plane %zu: white is a number from 0 on, and a name ends with NUL",
                             index);
    if (from->layers > 0 && (from->channels != 1 || from->height % from->layers != 0))
        return library_error(
            error, SLUICE_E_USAGE,
            "plane %zu: %u layers in %u rows of %u channels: they have one channel, "
            "and equal heights",
            index, from->layers, from->height, from->channels);
    *plane = (struct plane){.width = from->width,
                            .height = from->height,
                            .channels = from->channels,
                            .type = (enum sample_type)(from->type - 1),
                            .layers = from->layers,
                            .white = from->white,
                            .zero_x = from->zero_x,
                            .zero_y = from->zero_y};
    memcpy(plane->name, from->name, sizeof plane->name);
    return 0;
}

/* Adds a plane that lies as the caller says. */
static int place_plane(struct frame *frame, struct plane *plane, size_t offset, size_t stride,
                       struct sluice_error *error)
{
    size_t row = plane_row_bytes(plane), sample = sample_size(plane->type), index = frame->n_planes;
    if (stride < row && !(plane->height == 1 && stride == 0))
        return library_error(error, SLUICE_E_USAGE,
                             "plane %zu: a stride of %zu bytes, where a row takes %zu", index,
                             stride, row);
    if (stride > INT32_MAX || offset > OFFSET_MAX)
        return library_error(
            error, SLUICE_E_LIMIT,
            "plane %zu: a stride of %zu and an offset of %zu bytes; the limits are "
            "2147483647 and 2^48",
            index, stride, offset);
    if (stride % sample != 0 || offset % sample != 0)
        return library_error(error, SLUICE_E_USAGE,
                             "plane %zu: offset %zu and stride %zu are no multiples of a sample's "
                             "%zu bytes",
                             index, offset, stride, sample);
    if (!frame_add_plane(frame, plane, sample))
        return library_error(error, SLUICE_E_MEMORY, "no memory for a frame of %zu planes",
                             index + 1);
    plane = &frame->planes[index];
    plane->offset = offset;
    plane->stride = stride ? stride : row;
    return 0;
}

/* The bytes from the beginning of the memory to the end of the last row of any plane. */
static size_t end_of(const struct frame *frame)
{
    size_t end = 0;
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *plane = &frame->planes[i];
        size_t last = plane->offset + plane->stride * (plane->height - 1) + plane_row_bytes(plane);
        end = last > end ? last : end;
    }
    return end;
}

static int check_video(const struct sluice_layout *own, struct sluice_error *error)
{
    if (own->format < 0 || own->format >= VIDEO_FORMATS || own->matrix < 0 ||
        own->matrix >= VIDEO_MATRICES || own->range < 0 || own->range >= VIDEO_RANGES)
        return library_error(error, SLUICE_E_USAGE,
                             "a layout of format %d, matrix %d and range %d, which there is not",
                             own->format, own->matrix, own->range);
    if (own->format != SLUICE_PLANES && (own->width < 1 || own->height < 1 ||
                                         own->width > INT32_MAX / 8 || own->height > INT32_MAX / 8))
        return library_error(error, SLUICE_E_USAGE, "a frame of %u×%u pixels: sides are 1 to %d",
                             own->width, own->height, INT32_MAX / 8);
    if (own->format == SLUICE_PLANES &&
        (!own->planes || own->n_planes < 1 || own->n_planes > FRAME_PLANES_MAX))
        return library_error(error, SLUICE_E_USAGE,
                             "a layout of %zu planes: there are 1 to %d, in an array of the "
                             "caller's",
                             own->planes ? own->n_planes : 0, FRAME_PLANES_MAX);
    return 0;
}

/* What the layout is of, without where it lies; `index` counts planes. 0: the plane is there. */
static struct video video_of(const struct sluice_layout *own)
{
    return (struct video){.format = (enum video_format)own->format,
                          .width = own->width,
                          .height = own->height,
                          .matrix = (enum video_matrix)own->matrix,
                          .range = (enum video_range)own->range};
}

int library_layout(const struct sluice_layout *layout, struct frame *frame,
                   struct sluice_error *error)
{
    struct sluice_layout own;
    struct plane planes[VIDEO_PLANES_MAX];
    *frame = (struct frame){0};
    library_take(&own, sizeof own, layout);
    int result = check_video(&own, error);
    if (result != 0)
        return result;
    if (own.format != SLUICE_PLANES) {
        frame->video = video_of(&own);
        unsigned n = video_planes(&frame->video, planes);
        for (unsigned i = 0; i < n && result == 0; i++)
            result = place_plane(frame, &planes[i], own.offset[i], own.stride[i], error);
    } else {
        for (size_t i = 0; i < own.n_planes && result == 0; i++) {
            result = read_plane(&own.planes[i], i, &planes[0], error);
            if (result == 0)
                result = place_plane(frame, &planes[0], own.planes[i].offset, own.planes[i].stride,
                                     error);
        }
    }
    frame->size = end_of(frame);
    if (result != 0)
        frame_finish(frame);
    return result;
}

size_t sluice_layout_bytes(const struct sluice_layout *layout)
{
    struct frame frame;
    if (library_layout(layout, &frame, NULL) != 0)
        return 0;
    size_t bytes = frame.size;
    frame_finish(&frame);
    return bytes;
}

size_t sluice_layout_fill(struct sluice_layout *layout, size_t alignment)
{
    struct sluice_layout own;
    struct plane planes[VIDEO_PLANES_MAX];
    size_t at = 0, n;
    library_take(&own, sizeof own, layout);
    if (alignment < 1 || (alignment & (alignment - 1)) != 0 || alignment > OFFSET_MAX ||
        check_video(&own, NULL) != 0)
        return 0;
    struct video video = video_of(&own);
    bool is_video = own.format != SLUICE_PLANES;
    n = is_video ? video_planes(&video, planes) : own.n_planes;
    for (size_t i = 0; i < n; i++) {
        struct plane *plane = &planes[is_video ? i : 0];
        if (!is_video && read_plane(&own.planes[i], i, plane, NULL) != 0)
            return 0;
        size_t sample = sample_size(plane->type), step = alignment > sample ? alignment : sample;
        size_t stride = (plane_row_bytes(plane) + step - 1) / step * step;
        at = (at + step - 1) / step * step;
        if (stride > INT32_MAX || at > OFFSET_MAX)
            return 0;
        *(is_video ? &own.offset[i] : &own.planes[i].offset) = at;
        *(is_video ? &own.stride[i] : &own.planes[i].stride) = stride;
        at += stride * plane->height;
    }
    library_give(layout, &own, sizeof own);
    return sluice_layout_bytes(layout);
}

void library_show(const struct frame *frame, struct sluice_layout *layout)
{
    struct sluice_layout own;
    library_take(&own, sizeof own, layout);
    for (size_t i = 0; i < frame->n_planes && i < own.n_planes && own.planes; i++) {
        const struct plane *from = &frame->planes[i];
        own.planes[i] = (struct sluice_plane){.width = from->width,
                                              .height = from->height,
                                              .channels = from->channels,
                                              .type = (uint32_t)from->type + 1,
                                              .layers = from->layers,
                                              .white = from->white,
                                              .offset = from->offset,
                                              .stride = from->stride,
                                              .zero_x = from->zero_x,
                                              .zero_y = from->zero_y};
        memcpy(own.planes[i].name, from->name, sizeof from->name);
    }
    own = (struct sluice_layout){.format = SLUICE_PLANES,
                                 .planes = own.planes,
                                 .n_planes = frame->n_planes,
                                 .width = frame->planes[0].width,
                                 .height = frame->planes[0].height};
    library_give(layout, &own, sizeof own);
}
