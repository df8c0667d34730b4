/* Raw frames, such as cameras and pipes deliver: samples without a header, whose layout the options
 * of --input give. The encoder writes the plane's samples, rows packed, least significant byte
 * first.
 *
 * Frames of the video layouts are read as they lie, BT.601 of limited range; a plan's first step
 * makes the picture (stage/video.h). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/output.h"
#include "image/video.h"

/* Shared memory has whole pages, so up to a page of padding may follow the frame. */
#define MEMORY_PAGE 4096

static const struct layout {
    const char *name;
    uint32_t channels;
    enum sample_type type;
    enum video_format video; /* VIDEO_NONE: the samples are the picture's */
} layouts[] = {
    [RAW_GRAY8] = {"gray8", 1, SAMPLE_U8, VIDEO_NONE},
    [RAW_GRAY16] = {"gray16", 1, SAMPLE_U16, VIDEO_NONE},
    [RAW_RGB24] = {"rgb24", 3, SAMPLE_U8, VIDEO_NONE},
    [RAW_RGBA32] = {"rgba32", 4, SAMPLE_U8, VIDEO_NONE},
    [RAW_NV12] = {"nv12", 3, SAMPLE_U8, VIDEO_NV12},
    [RAW_YUYV] = {"yuyv", 3, SAMPLE_U8, VIDEO_YUY2},
    [RAW_NV16] = {"nv16", 3, SAMPLE_U8, VIDEO_NV16},
    [RAW_P010] = {"p010", 3, SAMPLE_U16, VIDEO_P010},
    [RAW_RAW10] = {"raw10", 1, SAMPLE_U16, VIDEO_RAW10},
    [RAW_RAW12] = {"raw12", 1, SAMPLE_U16, VIDEO_RAW12},
    [RAW_NV21] = {"nv21", 3, SAMPLE_U8, VIDEO_NV21},
    [RAW_I420] = {"i420", 3, SAMPLE_U8, VIDEO_I420},
    [RAW_UYVY] = {"uyvy", 3, SAMPLE_U8, VIDEO_UYVY},
    [RAW_BGR24] = {"bgr24", 3, SAMPLE_U8, VIDEO_BGR},
    [RAW_RGBX32] = {"rgbx32", 3, SAMPLE_U8, VIDEO_RGBX},
    [RAW_BGRX32] = {"bgrx32", 3, SAMPLE_U8, VIDEO_BGRX},
    [RAW_BGRA32] = {"bgra32", 4, SAMPLE_U8, VIDEO_BGRA},
};

/* Where the planes lie in the file, in bytes. */
struct raw_state {
    uint64_t offset[VIDEO_PLANES_MAX], stride[VIDEO_PLANES_MAX];
};

/* Lays the planes of the decoder's frame out; returns the frame's size without the padding behind
 * the last row, which may be missing; *padding is its size. Numbers are below 2^31 each, so
 * products fit. */
static uint64_t lay_out(struct decoder *d, uint64_t *padding)
{
    struct raw_state *s = d->state;
    uint64_t at = 0, end = 0;
    for (size_t i = 0; i < d->frame.n_planes; i++) {
        const struct plane *plane = &d->frame.planes[i];
        uint64_t row = plane_row_bytes(plane);
        s->offset[i] = at;
        s->stride[i] = d->options.stride ? (uint64_t)d->options.stride : row;
        if (d->options.stride && i > 0 && d->frame.video.format == VIDEO_I420)
            s->stride[i] = (s->stride[i] + 1) / 2; /* a plane of Cb, and one of Cr */
        end = at + s->stride[i] * (plane->height - 1) + row;
        at += s->stride[i] * plane->height;
        *padding = s->stride[i] - row;
    }
    return end;
}

/* The planes of a video frame in place of its picture's, which is within the limits. */
static int set_video(struct decoder *d, enum video_format format, struct fault *fault)
{
    struct video video = {format, (uint32_t)d->options.w, (uint32_t)d->options.h, VIDEO_BT601,
                          VIDEO_LIMITED};
    struct plane planes[VIDEO_PLANES_MAX];
    frame_finish(&d->frame);
    for (unsigned i = 0, n = video_planes(&video, planes); i < n; i++)
        if (!frame_add_plane(&d->frame, &planes[i], FRAME_ALIGNMENT))
            return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    d->frame.video = video;
    return 0;
}

static int open_raw(struct decoder *d, struct fault *fault)
{
    const struct decode_options *o = &d->options;
    const struct layout *layout = &layouts[o->raw];
    d->is_copy = true;
    d->whole = layout->video != VIDEO_NONE; /* it may have several planes */
    int result =
        decoder_set_plane(d, (uint64_t)o->w, (uint64_t)o->h, layout->channels, layout->type, fault);
    if (result == 0 && layout->video)
        result = set_video(d, layout->video, fault);
    if (result != 0)
        return result;
    uint64_t padding = 0, bytes = lay_out(d, &padding), least = 0;
    for (size_t i = 0; i < d->frame.n_planes; i++)
        if (plane_row_bytes(&d->frame.planes[i]) > least)
            least = plane_row_bytes(&d->frame.planes[i]);
    d->working_memory = input_memory(&d->input, least);
    if (o->stride && (uint64_t)o->stride < least)
        return fault_set(fault, FAULT_USAGE,
                         "--input: stride=%lld: rows of %s with w=%lld take %llu bytes at least",
                         (long long)o->stride, layout->name, (long long)o->w,
                         (unsigned long long)least);
    if (!o->partial && d->input.size < bytes)
        return fault_set(fault, FAULT_TRUNCATED,
                         "truncated raw: %llu bytes, where a frame of %lld×%lld %s takes %llu",
                         (unsigned long long)d->input.size, (long long)o->w, (long long)o->h,
                         layout->name, (unsigned long long)bytes);
    if (o->padded)
        return 0;
    uint64_t frames = (d->input.size + padding) / (bytes + padding);
    if (frames > 1)
        return fault_set(fault, FAULT_DATA,
                         "the file has %llu frames of %lld×%lld %s, and one is read: split -b "
                         "%llu makes a file of each",
                         (unsigned long long)frames, (long long)o->w, (long long)o->h, layout->name,
                         (unsigned long long)(bytes + padding));
    if (d->input.size >= bytes + padding + MEMORY_PAGE)
        return decoder_warn(d, fault, "%llu bytes follow the frame",
                            (unsigned long long)(d->input.size - bytes - padding));
    return 0;
}

/* How many rows of a plane the file has to their ends. */
static uint32_t rows_there(const struct decoder *d, size_t index)
{
    const struct raw_state *s = d->state;
    const struct plane *plane = &d->frame.planes[index];
    uint64_t first = s->offset[index] + plane_row_bytes(plane);
    if (d->input.size < first)
        return 0;
    uint64_t rows = (d->input.size - first) / s->stride[index] + 1;
    return rows < plane->height ? (uint32_t)rows : plane->height;
}

/* Black in a plane: of Y, of chroma, of both in turn, of colours or packed numbers. */
static void fill_row(const struct picture *into, size_t index, uint32_t y)
{
    const struct plane *plane = &into->frame.planes[index];
    enum video_format format = into->frame.video.format;
    bool no_luma = !video_is_ycbcr(format);
    size_t chroma = format == VIDEO_UYVY ? 0 : 1; /* of each two bytes of both */
    uint8_t *row = picture_row(into, index, y);
    for (size_t x = 0; x < (size_t)plane->width * plane->channels; x++) {
        bool grey = index > 0 || (plane->channels == 4 && x % 2 == chroma);
        int black = no_luma ? 0 : grey ? 128 : 16;
        if (plane->type == SAMPLE_U16) /* the upper bits, as those of 8 bits are */
            ((uint16_t *)row)[x] = (uint16_t)(black << 8);
        else
            row[x] = (uint8_t)black;
    }
}

static int read_raw(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    const struct raw_state *s = d->state;
    uint32_t whole = rows_there(d, 0);
    uint32_t each = 1;                               /* rows of Y that share one of chroma */
    for (size_t i = 1; i < d->frame.n_planes; i++) { /* rows without chroma are black */
        each = d->frame.planes[i].height < d->frame.planes[0].height ? 2 : 1;
        if (each * (uint64_t)rows_there(d, i) < whole)
            whole = each * rows_there(d, i);
    }
    for (size_t i = 0; i < into->frame.n_planes; i++) {
        const struct plane *plane = &into->frame.planes[i];
        size_t size = sample_size(plane->type);
        uint32_t there = i == 0 ? whole : (whole + each - 1) / each;
        uint32_t last = d->whole ? plane->height : end, rows = there < last ? there : last;
        for (uint32_t y = d->row; y < rows; y++) {
            size_t bytes = plane_row_bytes(plane), got;
            const uint8_t *from =
                input_see(&d->input, s->offset[i] + s->stride[i] * y, bytes, &got);
            if (got < bytes) /* the file has become shorter */
                return fault_set(fault, FAULT_TRUNCATED, "truncated raw");
            sample_copy(picture_row(into, i, y), from, bytes / size, size, HOST_IS_BIG_ENDIAN);
        }
        uint32_t y = rows > d->row ? rows : d->row;
        if (!d->frame.video.format)
            codec_blacken_rows(into, y, last);
        for (; y < last && d->frame.video.format; y++)
            fill_row(into, i, y);
    }
    return 0;
}

/* Rows of 16-bit samples must be aligned to samples and have this processor's byte order. */
static bool in_place_raw(const struct decoder *d, struct frame *frame)
{
    const struct raw_state *s = d->state;
    if (!frame_copy(frame, &d->frame))
        return false;
    bool fits = true;
    frame->size = 0;
    for (size_t i = 0; i < frame->n_planes; i++) {
        struct plane *plane = &frame->planes[i];
        size_t size = sample_size(plane->type);
        fits &= rows_there(d, i) == plane->height && s->stride[i] % size == 0 &&
                !(HOST_IS_BIG_ENDIAN && size > 1);
        plane->offset = s->offset[i];
        plane->stride = s->stride[i];
        frame->size = s->offset[i] + s->stride[i] * (plane->height - 1) + plane_row_bytes(plane);
    }
    if (!fits)
        frame_finish(frame);
    return fits;
}

static int encode_raw(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    output_rows(e->output, picture, e->plane, e->row, end, HOST_IS_BIG_ENDIAN);
    return 0;
}

static const char *const extensions[] = {"raw", NULL};

const struct codec codec_raw = {
    .name = "raw",
    .extensions = extensions,
    .media_type = "application/octet-stream",
    .reads_pieces = true,
    .state_size = sizeof(struct raw_state),
    .open = open_raw,
    .read = read_raw,
    .in_place = in_place_raw,
    .fit = fit_any,
    .encode = encode_raw,
};
