/* Raw frames, such as cameras and pipes deliver: samples without a header, whose layout the options
 * of --input give. The encoder writes the plane's samples, rows packed, least significant byte
 * first.
 *
 * YCbCr of the video layouts becomes RGB by Rec. ITU-R BT.601-7 §2.5, 8-bit limited range (Y
 * 16…235, Cb and Cr 16…240 about 128, §2.5.3), with Kr = 0.299 and Kb = 0.114:
 *
 *     y = 255/219 · (Y − 16)
 *     R = y + 255/224 · 2·(1 − Kr)              · (Cr − 128)
 *     G = y − 255/224 · 2·(1 − Kb)·Kb/(1−Kr−Kb) · (Cb − 128)
 *           − 255/224 · 2·(1 − Kr)·Kr/(1−Kr−Kb) · (Cr − 128)
 *     B = y + 255/224 · 2·(1 − Kb)              · (Cb − 128)
 *
 * in integers with 16 fractional bits, rounded to nearest, clamped. Pixels that share a chroma
 * sample all use its value; there is no interpolation. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/output.h"

/* Shared memory has whole pages, so up to a page of padding may follow the frame. */
#define MEMORY_PAGE 4096

#define LUMA_GAIN 76309  /* 255/219 · 65536 */
#define CR_TO_R   104597 /* 255/224 · 1.402 · 65536 */
#define CB_TO_G   25675  /* 255/224 · 0.344136 · 65536 */
#define CR_TO_G   53279  /* 255/224 · 0.714136 · 65536 */
#define CB_TO_B   132201 /* 255/224 · 1.772 · 65536 */

static const struct layout {
    const char *name;
    uint32_t channels;
    enum sample_type type;
    bool video; /* YCbCr, in which two adjacent pixels share their chroma */
} layouts[] = {
    [RAW_GRAY8] = {"gray8", 1, SAMPLE_U8, false}, [RAW_GRAY16] = {"gray16", 1, SAMPLE_U16, false},
    [RAW_RGB24] = {"rgb24", 3, SAMPLE_U8, false}, [RAW_RGBA32] = {"rgba32", 4, SAMPLE_U8, false},
    [RAW_NV12] = {"nv12", 3, SAMPLE_U8, true},    [RAW_YUYV] = {"yuyv", 3, SAMPLE_U8, true},
};

/* The frame's layout, in bytes. */
struct raw_state {
    uint64_t row;           /* bytes of a row's samples; of luma for nv12 */
    uint64_t stride;        /* from row to row; of luma for nv12 */
    uint64_t chroma;        /* nv12: offset of the rows of CbCr pairs */
    uint64_t chroma_row;    /* nv12: bytes of such a row's samples */
    uint64_t chroma_stride; /* nv12: from one to the next */
};

static uint64_t even(uint64_t value)
{
    return (value + 1) & ~(uint64_t)1;
}

/* Sets the frame's layout; returns its size in bytes without the padding behind the last row, which
 * may be missing; *padding is its size. Numbers are below 2^31 each, so products fit. */
static uint64_t lay_out(const struct decode_options *o, struct raw_state *s, uint64_t *padding)
{
    uint64_t w = (uint64_t)o->w, h = (uint64_t)o->h;
    if (o->raw == RAW_NV12)
        s->row = w;
    else if (o->raw == RAW_YUYV)
        s->row = 2 * even(w);
    else
        s->row = w * layouts[o->raw].channels * sample_size(layouts[o->raw].type);
    s->stride = o->stride ? (uint64_t)o->stride : s->row;
    *padding = s->stride - s->row;
    if (o->raw != RAW_NV12)
        return s->stride * (h - 1) + s->row;
    s->chroma = s->stride * h;
    s->chroma_row = even(w);
    s->chroma_stride = o->stride ? (uint64_t)o->stride : s->chroma_row;
    *padding = s->chroma_stride - s->chroma_row;
    return s->chroma + s->chroma_stride * ((h + 1) / 2 - 1) + s->chroma_row;
}

static int open_raw(struct decoder *d, struct fault *fault)
{
    const struct decode_options *o = &d->options;
    const struct layout *layout = &layouts[o->raw];
    struct raw_state *state = d->state;
    d->is_copy = !layout->video;
    int result =
        decoder_set_plane(d, (uint64_t)o->w, (uint64_t)o->h, layout->channels, layout->type, fault);
    if (result != 0)
        return result;
    uint64_t padding, bytes = lay_out(o, state, &padding);
    uint64_t least = state->row > state->chroma_row ? state->row : state->chroma_row;
    if (o->stride && state->stride < least)
        return fault_set(fault, FAULT_USAGE,
                         "--input: stride=%lld: rows of %s with w=%lld take %llu bytes at least",
                         (long long)o->stride, layout->name, (long long)o->w,
                         (unsigned long long)least);
    if (!o->partial && d->size < bytes)
        return fault_set(fault, FAULT_TRUNCATED,
                         "truncated raw: %zu bytes, where a frame of %lld×%lld %s takes %llu",
                         d->size, (long long)o->w, (long long)o->h, layout->name,
                         (unsigned long long)bytes);
    if (o->padded)
        return 0;
    uint64_t frames = (d->size + padding) / (bytes + padding);
    if (frames > 1)
        return fault_set(fault, FAULT_DATA,
                         "the file has %llu frames of %lld×%lld %s, and one is read: split -b "
                         "%llu makes a file of each",
                         (unsigned long long)frames, (long long)o->w, (long long)o->h, layout->name,
                         (unsigned long long)(bytes + padding));
    if (d->size >= bytes + padding + MEMORY_PAGE)
        return decoder_warn(d, fault, "%llu bytes follow the frame",
                            (unsigned long long)(d->size - bytes - padding));
    return 0;
}

/* The video layouts hold luma by itself. */
static int narrow_raw(struct decoder *d, bool luma, uint32_t reduce, struct fault *fault)
{
    const struct decode_options *o = &d->options;
    if (!luma || !layouts[o->raw].video)
        return 0;
    d->stored_luma = true;
    d->is_copy = o->raw == RAW_NV12;
    frame_finish(&d->frame);
    return decoder_set_plane(d, (uint64_t)o->w, (uint64_t)o->h, 1, SAMPLE_U8, fault);
}

/* The row of `bytes` at offset `at`; NULL if the file ends before it does. */
static const uint8_t *row_at(const struct decoder *d, uint64_t at, uint64_t bytes)
{
    return at <= d->size && d->size - at >= bytes ? d->data + at : NULL;
}

static uint8_t clamp(int32_t fixed)
{
    int32_t v = (fixed + 32768) >> 16;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void video_to_rgb(int y, int cb, int cr, uint8_t *rgb)
{
    int32_t luma = (y - 16) * LUMA_GAIN;
    cb -= 128;
    cr -= 128;
    rgb[0] = clamp(luma + CR_TO_R * cr);
    rgb[1] = clamp(luma - CB_TO_G * cb - CR_TO_G * cr);
    rgb[2] = clamp(luma + CB_TO_B * cb);
}

static void read_nv12_row(const uint8_t *luma, const uint8_t *chroma, uint8_t *to, uint32_t width,
                          bool only_luma)
{
    if (only_luma) {
        memcpy(to, luma, width);
        return;
    }
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t *pair = chroma + (x & ~1u);
        video_to_rgb(luma[x], pair[0], pair[1], to + 3 * (size_t)x);
    }
}

/* Four bytes are two pixels: Y0 Cb Y1 Cr. */
static void read_yuyv_row(const uint8_t *from, uint8_t *to, uint32_t width, bool only_luma)
{
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t *four = from + 4 * (size_t)(x / 2);
        if (only_luma)
            to[x] = four[2 * (x & 1)];
        else
            video_to_rgb(four[2 * (x & 1)], four[1], four[3], to + 3 * (size_t)x);
    }
}

/* False if the file ends before the row does. */
static bool read_row(const struct decoder *d, uint32_t y, void *to)
{
    const struct raw_state *s = d->state;
    const struct plane *plane = &d->frame.planes[0];
    const uint8_t *from = row_at(d, s->stride * y, s->row), *chroma;
    if (!from)
        return false;
    switch (d->options.raw) {
    case RAW_NV12:
        chroma = row_at(d, s->chroma + s->chroma_stride * (y / 2), s->chroma_row);
        if (!chroma && !d->stored_luma)
            return false;
        read_nv12_row(from, chroma, to, plane->width, d->stored_luma);
        return true;
    case RAW_YUYV:
        read_yuyv_row(from, to, plane->width, d->stored_luma);
        return true;
    default:
        sample_copy(to, from, (size_t)plane->width * plane->channels, sample_size(plane->type),
                    HOST_IS_BIG_ENDIAN);
        return true;
    }
}

static int read_raw(struct decoder *d, struct picture *into, struct fault *fault)
{
    for (uint32_t y = 0; y < into->frame.planes[0].height; y++) {
        if (!read_row(d, y, picture_row(into, 0, y))) {
            codec_blacken_rows(into, y);
            break;
        }
    }
    return 0;
}

/* Rows of 16-bit samples must be aligned to samples and have this processor's byte order. */
static bool in_place_raw(const struct decoder *d, struct frame *frame)
{
    const struct raw_state *s = d->state;
    const struct plane *plane = &d->frame.planes[0];
    uint64_t size = s->stride * (plane->height - 1) + s->row;
    if (!d->is_copy || s->stride % sample_size(plane->type) != 0 || d->size < size ||
        (HOST_IS_BIG_ENDIAN && sample_size(plane->type) > 1))
        return false;
    if (!frame_copy(frame, &d->frame))
        return false;
    frame->planes[0].offset = 0;
    frame->planes[0].stride = s->stride;
    frame->size = size;
    return true;
}

static int encode_raw(const void *config, const struct picture *picture, size_t plane,
                      struct output *output, struct fault *fault)
{
    output_plane(output, picture, plane);
    return 0;
}

static const char *const extensions[] = {"raw", NULL};

const struct codec codec_raw = {
    .name = "raw",
    .extensions = extensions,
    .media_type = "application/octet-stream",
    .state_size = sizeof(struct raw_state),
    .open = open_raw,
    .narrow = narrow_raw,
    .read = read_raw,
    .in_place = in_place_raw,
    .fit = fit_any,
    .encode = encode_raw,
};
