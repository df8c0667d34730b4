/* WebP, by libwebp: lossy and lossless pictures, with and without alpha. A file is a RIFF of chunks
 * (RFC 9649): the picture in "VP8 " or "VP8L", behind "VP8X" and with "ALPH" beside it where there
 * is more than that, and metadata in "ICCP", "EXIF" and "XMP ".
 *
 * The decoder is fed in pieces, so that the job's time is looked at, and what a cut file has is
 * kept. Rows go directly into the plane unless the orientation turns them. */
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/orient.h"
#include "codec/output.h"
#include "codec/webp_codes.h"

#define RIFF_HEADER  12 /* "RIFF", the size of what follows it, "WEBP" */
#define CHUNK_HEADER 8
#define PIECE        65536 /* bytes between two looks at the time */

/* Lossless data have a mark, 28 bits of size, one of alpha and 3 of version in front; those of
 * alpha a byte that says how they are stored. */
#define LOSSLESS_MARK   0x2F
#define LOSSLESS_HEADER 5
#define ALPHA_HEADER    1
#define ALPHA_METHOD    3
#define ALPHA_LOSSLESS  1

/* What libwebp takes for itself while it decodes, measured: tables, and for each column of 16 a
 * macroblock's state and a line of samples (lossy); all pixels as ARGB (lossless). Alpha has a byte
 * a pixel and, where it is compressed, as much again. The Huffman codes of what is lossless, alpha
 * included, are webp_codes.h's. */
#define FIXED_MEMORY    (1 << 20)
#define LOSSY_COLUMN    160
#define LOSSLESS_PIXEL  5
#define ALPHA_PIXEL     2
#define LOSSLESS_COLUMN 80

struct webp_state {
    WebPBitstreamFeatures features;
    unsigned orientation;
};

/* ---- reading ---- */

/* The next chunk at `*at`, cut at the end of the data; false at the end. */
static bool next_chunk(const uint8_t *data, size_t size, size_t *at, const uint8_t **head,
                       size_t *length)
{
    if (size - *at < CHUNK_HEADER)
        return false;
    *head = data + *at;
    size_t left = size - *at - CHUNK_HEADER, asked = load_le32(*head + 4);
    *length = asked < left ? asked : left;
    *at += CHUNK_HEADER + *length + (asked < left && asked % 2 == 1);
    return asked <= left;
}

static void read_metadata(struct decoder *d, struct webp_state *s)
{
    const uint8_t *head;
    size_t at = RIFF_HEADER, length;
    while (next_chunk(d->data, d->size, &at, &head, &length)) {
        const uint8_t *data = head + CHUNK_HEADER;
        if (memcmp(head, "EXIF", 4) == 0) {
            if (d->options.orient)
                s->orientation = exif_orientation(data, length);
            if (d->options.meta != METADATA_STRIP)
                metadata_set_exif(&d->metadata, data, length, d->options.orient);
        } else if (memcmp(head, "ICCP", 4) == 0 && d->options.meta != METADATA_STRIP) {
            metadata_set_icc(&d->metadata, data, length);
        } else if (memcmp(head, "XMP ", 4) == 0 && d->options.meta == METADATA_ALL) {
            metadata_set_xmp(&d->metadata, data, length);
        }
    }
}

/* Finds lossless data, from their first transform on: the picture's, or those of the last alpha in
 * front of a lossy one. NULL: there are none. Behind the header a lossless picture may also stand
 * without a chunk. */
static const uint8_t *find_lossless(const uint8_t *data, size_t size, size_t *left)
{
    const uint8_t *head, *alpha = NULL;
    size_t at = RIFF_HEADER, length, alpha_length = 0;
    *left = size - at - LOSSLESS_HEADER;
    if (data[at] == LOSSLESS_MARK)
        return data + at + LOSSLESS_HEADER;
    for (bool more = true; more && size - at > CHUNK_HEADER;) {
        more = next_chunk(data, size, &at, &head, &length);
        const uint8_t *body = head + CHUNK_HEADER;
        *left = length - LOSSLESS_HEADER;
        if (memcmp(head, "VP8L", 4) == 0)
            return length > LOSSLESS_HEADER ? body + LOSSLESS_HEADER : NULL;
        if (memcmp(head, "VP8 ", 4) == 0)
            break;
        if (memcmp(head, "ALPH", 4) == 0) {
            bool is_lossless = length > ALPHA_HEADER && (body[0] & ALPHA_METHOD) == ALPHA_LOSSLESS;
            alpha = is_lossless ? body + ALPHA_HEADER : NULL;
            alpha_length = length - ALPHA_HEADER;
        }
    }
    *left = alpha_length;
    return alpha;
}

static bool probe(const uint8_t *data, size_t size)
{
    size_t mark = size < 4 ? size : 4, kind = size < RIFF_HEADER ? size : RIFF_HEADER;
    return size >= 4 && memcmp(data, "RIFF", mark) == 0 &&
           (size <= 8 || memcmp(data + 8, "WEBP", kind - 8) == 0);
}

static int truncated(struct fault *fault)
{
    return fault_set(fault, FAULT_TRUNCATED,
                     "truncated webp: the file ends before its picture does");
}

static int damaged(VP8StatusCode status, struct fault *fault)
{
    switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
        return truncated(fault);
    case VP8_STATUS_OUT_OF_MEMORY:
        return fault_set(fault, FAULT_MEMORY, "no memory for a webp");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return fault_set(fault, FAULT_DATA, "damaged webp: a feature that libwebp does not know");
    default:
        return fault_set(fault, FAULT_DATA, "damaged webp: its data are invalid (libwebp: %d)",
                         (int)status);
    }
}

static int open_webp(struct decoder *d, struct fault *fault)
{
    struct webp_state *s = d->state;
    s->orientation = ORIENT_NONE;
    d->whole = true; /* libwebp writes rows when it likes */
    VP8StatusCode status = WebPGetFeatures(d->data, d->size, &s->features);
    if (status != VP8_STATUS_OK)
        return damaged(d->size < RIFF_HEADER + CHUNK_HEADER ? VP8_STATUS_NOT_ENOUGH_DATA : status,
                       fault);
    if (s->features.has_animation)
        return fault_set(fault, FAULT_FORMAT,
                         "an animated WebP; sluice reads single pictures: take a frame out of it "
                         "(webpmux -get frame 1)");
    read_metadata(d, s);
    uint64_t width = (uint64_t)s->features.width, height = (uint64_t)s->features.height;
    uint32_t channels = s->features.has_alpha ? 4 : 3;
    bool transposed = orient_is_transposed(s->orientation);
    d->working_memory = FIXED_MEMORY + orient_memory(s->orientation, (uint32_t)width,
                                                     (uint32_t)height, channels, true);
    if (s->features.format == 2)
        d->working_memory += LOSSLESS_PIXEL * width * height + LOSSLESS_COLUMN * width;
    else
        d->working_memory += LOSSY_COLUMN * width + (channels == 4) * ALPHA_PIXEL * width * height;
    int result = decoder_set_plane(d, transposed ? height : width, transposed ? width : height,
                                   channels, SAMPLE_U8, fault);
    size_t left;
    uint64_t codes = 0;
    const uint8_t *lossless = find_lossless(d->data, d->size, &left);
    if (result == 0 && lossless)
        result =
            webp_codes_memory(lossless, left, (uint32_t)width, (uint32_t)height, &codes, fault);
    d->working_memory += codes;
    return result;
}

/* Feeds the decoder; libwebp keeps the address and reads on where it stopped. The pixels may be
 * whole where the file is not. */
static int feed(const struct decoder *d, WebPIDecoder *decoder, struct fault *fault)
{
    VP8StatusCode status = VP8_STATUS_SUSPENDED;
    if (!d->options.partial && (uint64_t)load_le32(d->data + 4) + 8 > d->size)
        return truncated(fault);
    for (size_t size = 0; size < d->size && status == VP8_STATUS_SUSPENDED;) {
        if (deadline_check(fault) != 0)
            return FAULT_TIME;
        size = d->size - size > PIECE ? size + PIECE : d->size;
        status = WebPIUpdate(decoder, d->data, size);
    }
    return status == VP8_STATUS_OK ? 0 : damaged(status, fault);
}

static int read_webp(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct webp_state *s = d->state;
    struct orient place = {0};
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return fault_set(fault, FAULT_INTERNAL, "libwebp has another version than its header");
    uint32_t width = (uint32_t)s->features.width, height = (uint32_t)s->features.height;
    int result = orient_begin(&place, s->orientation, into, true, fault);
    if (result != 0)
        return result;
    size_t stride = place.block ? place.stride : into->frame.planes[0].stride;
    uint8_t *first = orient_row(&place, 0), *last_row = orient_row(&place, height - 1);
    config.options.flip = first > last_row;
    config.output.colorspace = s->features.has_alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = first < last_row ? first : last_row;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * (height - 1) + width * place.pixel;
    struct fault why = FAULT_INIT;
    int last = 0;
    WebPIDecoder *decoder = stride > INT32_MAX ? NULL : WebPIDecode(NULL, 0, &config);
    result =
        decoder ? feed(d, decoder, &why) : fault_set(&why, FAULT_MEMORY, "no memory for a webp");
    if (decoder && result == FAULT_TRUNCATED && d->options.partial) {
        WebPIDecGetRGB(decoder, &last, NULL, NULL, NULL);
        for (uint32_t y = (uint32_t)last; y < height; y++)
            memset(orient_row(&place, y), 0, width * place.pixel);
        result = 0;
    }
    for (uint32_t y = 0; result == 0 && y < height; y++)
        orient_done(&place, y);
    WebPIDelete(decoder);
    orient_finish(&place);
    return result ? fault_set(fault, why.code, "%s", why.text) : 0;
}

/* ---- writing ---- */

struct webp_config {
    struct picture_config picture;
    double quality;
    bool lossless;
    int64_t effort;
};

static int fit_webp(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->width > WEBP_MAX_DIMENSION || plane->height > WEBP_MAX_DIMENSION)
        return fault_set(fault, FAULT_SHAPE,
                         "webp holds at most %d pixels a side, not %u×%u; write png",
                         WEBP_MAX_DIMENSION, plane->width, plane->height);
    if (plane->channels == 2)
        plane->channels =
            4; /* the format has no grey; one channel is written as three equal ones */
    return fit_type("webp", FIT_8, plane, fault);
}

static int check_time(int percent, const WebPPicture *picture)
{
    return deadline_check(picture->user_data) == 0;
}

static void fill(WebPPicture *to, const struct picture *from, size_t index)
{
    const struct plane *plane = &from->frame.planes[index];
    uint32_t n = plane->channels, green = n > 1 ? 1 : 0, blue = n > 1 ? 2 : 0;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *p = picture_row(from, index, y);
        uint32_t *argb = to->argb + (size_t)y * (size_t)to->argb_stride;
        for (uint32_t x = 0; x < plane->width; x++, p += n)
            argb[x] = (n == 4 ? (uint32_t)p[3] : 255U) << 24 | (uint32_t)p[0] << 16 |
                      (uint32_t)p[green] << 8 | p[blue];
    }
}

/* Puts metadata around an encoded picture. */
static int write_with_metadata(const struct metadata *m, uint32_t channels, const WebPData *encoded,
                               struct output *output, struct fault *fault)
{
    struct metadata_block icc = metadata_profile(m, channels);
    const struct {
        const char *name;
        const struct metadata_block *block;
    } chunks[] = {{"ICCP", &icc}, {"EXIF", &m->exif}, {"XMP ", &m->xmp}};
    WebPMux *mux = WebPMuxCreate(encoded, 0);
    WebPData whole = {0};
    bool good = mux != NULL;
    for (size_t i = 0; i < 3; i++)
        if (good && chunks[i].block->data) {
            const WebPData data = {chunks[i].block->data, chunks[i].block->size};
            good = WebPMuxSetChunk(mux, chunks[i].name, &data, 0) == WEBP_MUX_OK;
        }
    good = good && WebPMuxAssemble(mux, &whole) == WEBP_MUX_OK;
    if (good)
        output_write(output, whole.bytes, whole.size);
    WebPDataClear(&whole);
    WebPMuxDelete(mux);
    return good ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a webp's metadata");
}

static int encode_webp(struct encoder *e, const struct picture *picture, uint32_t end,
                       struct fault *fault)
{
    const struct webp_config *c = e->config;
    const struct plane *plane = &picture->frame.planes[e->plane];
    struct output *output = e->output;
    const struct metadata *m = output->metadata;
    WebPConfig config;
    WebPPicture encoder;
    WebPMemoryWriter memory;
    struct fault late = FAULT_INIT;
    if (!WebPConfigInit(&config) || !WebPPictureInit(&encoder))
        return fault_set(fault, FAULT_INTERNAL, "libwebp has another version than its header");
    config.lossless = c->lossless;
    config.quality = (float)c->quality;
    config.method = (int)c->effort;
    config.exact = 1; /* colours where alpha is 0 are samples, too */
    WebPMemoryWriterInit(&memory);
    encoder.use_argb = 1;
    encoder.width = (int)plane->width;
    encoder.height = (int)plane->height;
    encoder.writer = WebPMemoryWrite;
    encoder.custom_ptr = &memory;
    encoder.progress_hook = check_time;
    encoder.user_data = &late;
    bool good = WebPPictureAlloc(&encoder);
    if (good)
        fill(&encoder, picture, e->plane);
    good = good && WebPEncode(&config, &encoder);
    int result = 0;
    if (late.code)
        result = fault_set(fault, late.code, "%s", late.text);
    else if (!good)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a webp (libwebp: %d)",
                           (int)encoder.error_code);
    const WebPData encoded = {memory.mem, memory.size};
    if (result == 0 && m && (m->exif.data || m->icc.data || m->xmp.data))
        result = write_with_metadata(m, plane->channels, &encoded, output, fault);
    else if (result == 0)
        output_write(output, memory.mem, memory.size);
    WebPPictureFree(&encoder);
    WebPMemoryWriterClear(&memory);
    if (result == 0 && output->fault.code)
        result = fault_set(fault, output->fault.code, "%s", output->fault.text);
    return result;
}

static const struct param params[] = {
    PARAM(REAL, "quality", offsetof(struct webp_config, quality),
          "of a lossy picture; of a lossless one, how hard it is tried to make it small",
          RANGE(0, 100), DEFAULT("80")),
    PARAM(FLAG, "lossless", offsetof(struct webp_config, lossless), "1 keeps every sample as it is",
          DEFAULT("0")),
    PARAM(INTEGER, "effort", offsetof(struct webp_config, effort),
          "of the encoder: 0 fast, 6 small", RANGE(0, 6), DEFAULT("2")),
    META_PARAM,
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"webp", NULL};

const struct codec codec_webp = {
    .name = "webp",
    .extensions = extensions,
    .media_type = "image/webp",
    .probe = probe,
    .state_size = sizeof(struct webp_state),
    .open = open_webp,
    .read = read_webp,
    .params = params,
    .config_size = sizeof(struct webp_config),
    .is_picture = true,
    .fit = fit_webp,
    .writes_whole = true,
    .encode = encode_webp,
};
