/* A file through the decoder of one format, FUZZ_CODEC: with the defaults, as a cut file whose luma
 * is asked for, and reduced; or a raw frame. The planes lie in a buffer of exactly their size, rows
 * packed, so that a sanitizer sees the first byte beside them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef SLUICE_WEBP
#include <webp/decode.h>
#endif

#include "codec/codec.h"
#include "codec/output.h"
#include "fuzz.h"

static const struct codec_limits limits = {.max_pixels = 1 << 18, .memory = 8 << 20};

/* Planes of many kinds fit a small file; only those that fit ordinary memory are read. */
#define FRAME_MAX (16u << 20)

/* By bands whose heights the file's bytes choose. */
static int read_bands(struct decoder *decoder, struct picture *picture, struct fault *fault)
{
    uint32_t height = picture->frame.planes[0].height;
    int result = 0;
    for (size_t i = 0; decoder->row < height && result == 0; i++) {
        uint32_t band = 1 + decoder->data[decoder->size - 1 - i % decoder->size] % 32;
        bool all = decoder->whole || band > height - decoder->row;
        result = decoder_rows(decoder, picture, all ? height : decoder->row + band, fault);
    }
    return result;
}

/* A file that is read in pieces, or memory for a codec that reads none. */
static struct decoder_input input_of(const struct decoder *d)
{
    static int fd = -1;
    if (!d->codec->reads_pieces)
        return input_of_memory(d->data, d->size);
    if (fd < 0)
        fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, d->data, d->size, 0) != (ssize_t)d->size)
        abort();
    struct decoder_input input = input_of_file(fd, d->size);
    input.room = 1 + d->data[d->size / 2] * 4;
    return input;
}

/* As a whole, and from a file, it is the same. But at the end of a piece libjpeg-turbo decodes in
 * another way, which warns of codes that do not exist, and where 0xFF are repeated goes on elsewhere
 * to look for a marker: of damaged JPEGs in pieces the warnings may be others. */
static void check_whole(const struct decoder *by_bands, bool luma, const struct picture *bands,
                        const struct fault *why)
{
    struct decoder decoder;
    struct fault fault = FAULT_INIT;
    struct picture picture = {.data = calloc(1, bands->frame.size)};
    struct decoder_input input = input_of(by_bands);
    bool same = strcmp(by_bands->codec->name, "jpeg") != 0 || input.room >= input.size;
    if (picture.data && frame_copy(&picture.frame, &bands->frame) &&
        decoder_open_input(&decoder, &input, &by_bands->options, &limits, &fault) == 0) {
        if (decoder_narrow(&decoder, luma, by_bands->reduced, &fault) == 0)
            decoder_read(&decoder, &picture, &fault);
        if (fault.code != why->code || strcmp(fault.text, why->text) != 0)
            fuzz_fail("by bands '%s', as a whole '%s'", why->text, fault.text);
        if (fault.code == 0 && memcmp(picture.data, bands->data, bands->frame.size) != 0)
            fuzz_fail("by bands the samples differ");
        if (same && strcmp(text_string(&decoder.warnings), text_string(&by_bands->warnings)) != 0)
            fuzz_fail("by bands the warnings are '%s', as a whole '%s'",
                      text_string(&by_bands->warnings), text_string(&decoder.warnings));
        decoder_close(&decoder);
    }
    picture_destroy(&picture);
}

static void read_into_exact(struct decoder *decoder, bool luma)
{
    struct fault fault = FAULT_INIT;
    struct picture picture = {0};
    size_t at = 0;
    if (frame_bytes(&decoder->frame) > FRAME_MAX || !frame_copy(&picture.frame, &decoder->frame))
        return;
    for (size_t i = 0; i < picture.frame.n_planes; i++) {
        struct plane *plane = &picture.frame.planes[i];
        size_t size = sample_size(plane->type);
        plane->offset = (at + size - 1) / size * size;
        plane->stride = (size_t)plane->width * plane->channels * size;
        at = plane->offset + plane->stride * plane->height;
    }
    picture.frame.size = at;
    picture.data = calloc(1, picture.frame.size);
    int result = picture.data ? read_bands(decoder, &picture, &fault) : FAULT_MEMORY;
    if (picture.data && !decoder->whole)
        check_whole(decoder, luma, &picture, &fault);
    if (result == 0) {
        uint8_t sum = 0; /* every sample was written: valgrind and MSan look here */
        for (size_t i = 0; i < picture.frame.n_planes; i++) {
            const uint8_t *bytes = (const uint8_t *)picture_row(&picture, i, 0);
            for (size_t k = 0, n = plane_bytes(&picture.frame.planes[i]); k < n; k++)
                sum ^= bytes[k];
        }
        if (sum == 1)
            fault_clear(&fault);
    }
    picture_destroy(&picture);
}

/* A small picture in each format that takes metadata over. */
static void write_metadata(const struct metadata *metadata)
{
    static const char *const formats[] = {"jpg",  "png:level=1", "png:level=6",
#ifdef SLUICE_TIFF
                                          "tiff",
#endif
#ifdef SLUICE_WEBP
                                          "webp",
#endif
    };
    const struct plane pixel = {.width = 1, .height = 1, .channels = 3};
    struct frame frame = {0};
    struct picture picture = {0};
    struct output *output = output_create(open("/dev/null", O_WRONLY | O_CLOEXEC));
    bool made = output && frame_add_plane(&frame, &pixel, 1) && picture_create(&picture, &frame);
    for (size_t i = 0; made && i < sizeof formats / sizeof *formats; i++) {
        struct format format;
        struct fault fault = FAULT_INIT;
        output->metadata = metadata;
        if (format_parse(&format, formats[i], &fault) != 0 ||
            format_encode(&format, &picture, 0, output, &fault) != 0)
            fuzz_fail("metadata keep a picture from being written: %s", fault.text);
        format_finish(&format);
    }
    if (output)
        close(output->fd);
    output_destroy(&output);
    picture_destroy(&picture);
    frame_finish(&frame);
}

static void check_origins(const struct frame *frame)
{
    for (size_t i = 0; i < frame->n_origins; i++)
        if (frame->origins[i].first + frame->origins[i].count > frame->n_planes)
            fuzz_fail("origin %zu is of planes that there are not", i);
}

/* What we call damaged before libwebp has seen it (codec/webp_codes.h), libwebp calls so, too. */
static void check_refused(const uint8_t *data, size_t size, const struct fault *fault)
{
#ifdef SLUICE_WEBP
    int width, height;
    if (strcmp(FUZZ_CODEC, "webp") != 0 || fault->code != FAULT_DATA)
        return;
    uint8_t *pixels = WebPDecodeRGBA(data, size, &width, &height);
    if (pixels)
        fuzz_fail("refused, and libwebp reads it: %s", fault->text);
    WebPFree(pixels);
#endif
}

static void decode(const uint8_t *data, size_t size, const struct decode_options *options,
                   bool luma, uint32_t reduce)
{
    struct decoder decoder;
    struct fault fault = FAULT_INIT;
    fuzz_begin(size);
    if (decoder_open(&decoder, data, size, options, &limits, &fault) != 0) {
        if (fault.code == FAULT_NONE || fault.text[0] == '\0')
            fuzz_fail("a failure does not say why");
        check_refused(data, size, &fault);
    } else {
        check_origins(&decoder.frame);
        if (decoder_narrow(&decoder, luma, reduce, &fault) == 0)
            read_into_exact(&decoder, luma);
        if (metadata_size(&decoder.metadata) > 0)
            write_metadata(&decoder.metadata);
        decoder_close(&decoder);
    }
    fuzz_end();
}

static void decode_raw(const uint8_t *data, size_t size)
{
    struct decode_options options = {.orient = true};
    if (size < 4)
        return;
    options.raw = RAW_GRAY8 + data[0] % (RAW_LAYOUTS - RAW_GRAY8);
    options.w = 1 + data[1];
    options.h = 1 + data[2];
    options.stride = data[3] < 64 ? 0 : 16 * data[3];
    decode(data + 4, size - 4, &options, data[3] & 1, 1);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct decode_options options = {.orient = true, .meta = METADATA_ALL};
    const struct codec *codec = codec_find(data, size);
    if (strcmp(FUZZ_CODEC, "raw") == 0) {
        decode_raw(data, size);
        return;
    }
    if (codec && strcmp(codec->name, FUZZ_CODEC) != 0)
        return; /* another target's */
    decode(data, size, &options, false, 1);
    decode(data, size, &options, false, 4);
    if (codec && codec->has_pages) {
        options.pages = true;
        decode(data, size, &options, false, 1);
        options.pages = false;
    }
    options.partial = true;
    decode(data, size, &options, true, 8);
}
