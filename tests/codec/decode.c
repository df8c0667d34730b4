#include "decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "chain/reference.h"
#include "codec/output.h"

#define GUARD      96
#define GUARD_BYTE 0xA5

struct decode_less decode_less;

/* Lays the decoder's planes out with a guard before and after each and some samples between rows.
 */
static void lay_out(struct picture *picture, const struct frame *frame)
{
    size_t at = 0;
    assert_true(frame_copy(&picture->frame, frame));
    for (size_t i = 0; i < frame->n_planes; i++) {
        struct plane *plane = &picture->frame.planes[i];
        size_t size = sample_size(plane->type);
        plane->offset = at + GUARD;
        plane->stride = ((size_t)plane->width * plane->channels + 3) * size;
        at = plane->offset + plane->stride * plane->height + GUARD;
        at += (8 - at % 8) % 8; /* for samples of any size */
    }
    picture->frame.size = at;
    picture->data = malloc(picture->frame.size);
    assert_non_null(picture->data);
    memset(picture->data, GUARD_BYTE, picture->frame.size);
}

static void assert_untouched(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++)
        if (*from != GUARD_BYTE)
            fail_msg("a byte outside of the picture was written");
}

static void check_guards(const struct picture *picture)
{
    const uint8_t *end = picture->data; /* of what has been looked at */
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *plane = &picture->frame.planes[i];
        size_t row = (size_t)plane->width * plane->channels * sample_size(plane->type);
        for (uint32_t y = 0; y < plane->height; y++) {
            assert_untouched(end, picture_row(picture, i, y));
            end = (const uint8_t *)picture_row(picture, i, y) + row;
        }
    }
    assert_untouched(end, picture->data + picture->frame.size);
}

/* Makes a video frame the picture that a chain sees. */
static void see_video(struct picture *picture)
{
    static const struct plan_options options = {0};
    struct fault fault = FAULT_INIT;
    struct picture made;
    struct chain chain;
    struct plan *plan;
    if (!picture->frame.video.format)
        return;
    assert_int_equal(chain_parse(&chain, decode_less.luma ? "luminance" : "", &fault), 0);
    assert_int_equal(plan_create(&plan, &chain, &picture->frame, &options, &fault), 0);
    assert_int_equal(reference_run(plan, picture, &made, &fault), 0);
    plan_destroy(&plan);
    chain_finish(&chain);
    frame_finish(&picture->frame);
    free(picture->data);
    *picture = made;
}

static void take_samples(const struct picture *picture, struct decoded *decoded)
{
    struct frame frame = {0};
    for (size_t i = 0; i < picture->frame.n_planes; i++)
        assert_true(frame_add_plane(&frame, &picture->frame.planes[i],
                                    sample_size(picture->frame.planes[i].type)));
    assert_true(frame_copy_origins(&frame, &picture->frame));
    assert_true(picture_create(&decoded->picture, &frame));
    frame_finish(&frame);
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *plane = &decoded->picture.frame.planes[i];
        for (uint32_t y = 0; y < plane->height; y++)
            memcpy(picture_row(&decoded->picture, i, y), picture_row(picture, i, y), plane->stride);
    }
    decoded->plane = decoded->picture.frame.planes[0];
    decoded->samples = picture_row(&decoded->picture, 0, 0);
}

/* They are bounded, and fit a line of a log. */
static void take_warnings(const struct decoder *decoder, struct decoded *decoded)
{
    const char *text = text_string(&decoder->warnings);
    size_t lines = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1, lines++) {
        assert_in_range(strcspn(at, "\n"), 1, DECODER_WARNING_MAX - 1);
        for (const char *c = at; *c != '\n'; c++)
            assert_in_range(*c, ' ', '~');
    }
    assert_in_range(lines, 0, DECODER_WARNINGS_MAX + 1);
    snprintf(decoded->warnings, sizeof decoded->warnings, "%s", text);
}

/* Reads band by band: of one row, then of two, and so on, unless the decoder gives all at once.
 * Rows that have not been asked for are left alone. */
static int read_bands(struct decoder *decoder, struct picture *picture, struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[0];
    int result = 0;
    for (uint32_t band = 1; decoder->row < plane->height && result == 0; band++) {
        uint32_t left = plane->height - decoder->row;
        uint32_t end = decoder->whole || band > left ? plane->height : decoder->row + band;
        result = decoder_rows(decoder, picture, end, fault);
        for (uint32_t y = end; y < plane->height && !decoder->whole; y++)
            assert_untouched(picture_row(picture, 0, y),
                             (uint8_t *)picture_row(picture, 0, y) + plane_row_bytes(plane));
    }
    return result;
}

/* Where the decoder finds the bytes: by bands in a file, of which it sees a few at a time. */
static struct decoder_input input_of(const uint8_t *data, size_t size,
                                     const struct decode_options *options, bool by_bands, int *fd)
{
    struct decoder_input input = input_of_memory(data, size);
    const struct codec *codec = codec_of(&input, options);
    *fd = -1;
    if (!by_bands || !codec || !codec->reads_pieces)
        return input;
    *fd = memfd_create("input", MFD_CLOEXEC);
    assert_true(*fd >= 0);
    assert_int_equal(pwrite(*fd, data, size, 0), size);
    input = input_of_file(*fd, size);
    input.room = 16 + size % 1021;
    return input;
}

static int decode_once(const struct file *file, const struct decode_options *options,
                       const struct codec_limits *limits, bool by_bands, struct decoded *decoded,
                       struct fault *fault)
{
    struct decode_options defaults = options_of(NULL);
    struct decoder decoder;
    struct picture picture = {0};
    uint8_t *exact = malloc(file->size);
    assert_true(exact || file->size == 0);
    if (file->size)
        memcpy(exact, file->data, file->size);
    fault_clear(fault);
    *decoded = (struct decoded){0};
    int fd;
    options = options ? options : &defaults;
    struct decoder_input input = input_of(exact, file->size, options, by_bands, &fd);
    int result = decoder_open_input(&decoder, &input, options, limits, fault);
    if (result == 0 && (decode_less.luma || decode_less.reduce > 1))
        result = decoder_narrow(&decoder, decode_less.luma,
                                decode_less.reduce ? decode_less.reduce : 1, fault);
    if (result == 0) {
        decoded->stored_luma = decoder.stored_luma;
        lay_out(&picture, &decoder.frame);
        result = by_bands ? read_bands(&decoder, &picture, fault)
                          : decoder_read(&decoder, &picture, fault);
        check_guards(&picture);
        take_warnings(&decoder, decoded);
        if (result == 0)
            see_video(&picture);
        if (result == 0)
            take_samples(&picture, decoded);
        decoder_close(&decoder);
    }
    assert_int_equal(result, fault->code);
    picture_destroy(&picture);
    free(exact);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Every other time by bands. */
int decode_within(const struct file *file, const struct decode_options *options,
                  const struct codec_limits *limits, struct decoded *decoded, struct fault *fault)
{
    static bool by_bands;
    by_bands = !by_bands;
    return decode_once(file, options, limits, by_bands, decoded, fault);
}

static const struct codec_limits usual_limits = {1 << 22, 64 << 20};

int decode_file(const struct file *file, const struct decode_options *options,
                struct decoded *decoded, struct fault *fault)
{
    return decode_within(file, options, &usual_limits, decoded, fault);
}

/* Whatever is decoded, by bands it is the same: samples, warnings, faults. */
static int decode_both(const struct file *file, const struct decode_options *options,
                       struct decoded *decoded, struct fault *fault)
{
    struct decoded bands;
    struct fault why;
    int result = decode_once(file, options, &usual_limits, false, decoded, fault);
    assert_int_equal(decode_once(file, options, &usual_limits, true, &bands, &why), result);
    assert_string_equal(why.text, fault->text);
    assert_string_equal(bands.warnings, decoded->warnings);
    for (size_t i = 0; result == 0 && i < decoded->picture.frame.n_planes; i++)
        for (uint32_t y = 0; y < decoded->picture.frame.planes[i].height; y++)
            assert_memory_equal(picture_row(&bands.picture, i, y),
                                picture_row(&decoded->picture, i, y),
                                plane_row_bytes(&decoded->picture.frame.planes[i]));
    decoded_finish(&bands);
    return result;
}

void decoded_finish(struct decoded *decoded)
{
    picture_destroy(&decoded->picture);
    *decoded = (struct decoded){0};
}

void decode_good(const struct file *file, const struct decode_options *options, uint32_t width,
                 uint32_t height, uint32_t channels, enum sample_type type, struct decoded *decoded)
{
    struct fault fault;
    if (decode_both(file, options, decoded, &fault) != 0)
        fail_msg("%s", fault.text);
    assert_int_equal(decoded->plane.width, width);
    assert_int_equal(decoded->plane.height, height);
    assert_int_equal(decoded->plane.channels, channels);
    assert_int_equal(decoded->plane.type, type);
}

void decode_odd(const struct file *file, uint32_t width, uint32_t height, uint32_t channels,
                enum sample_type type, const char *says, struct decoded *decoded)
{
    struct decode_options strict = options_of("strict=1");
    decode_bad(file, &strict, FAULT_DATA, says);
    decode_good(file, NULL, width, height, channels, type, decoded);
    if (!strstr(decoded->warnings, says))
        fail_msg("warnings '%s', where '%s' was expected", decoded->warnings, says);
}

void decode_bad(const struct file *file, const struct decode_options *options, int code,
                const char *says)
{
    struct decoded decoded;
    struct fault fault;
    if (decode_both(file, options, &decoded, &fault) == 0)
        fail_msg("decoded, where '%s' was expected", says);
    if (fault.code != (enum fault_code)code || !strstr(fault.text, says))
        fail_msg("%s: '%s', where %s: '%s' was expected", fault_name(fault.code), fault.text,
                 fault_name((enum fault_code)code), says);
    decoded_finish(&decoded);
}

struct decode_options options_of(const char *text)
{
    struct decode_options options;
    struct fault fault = FAULT_INIT;
    if (decode_options_parse(&options, text, "--input", &fault) != 0)
        fail_msg("%s", fault.text);
    return options;
}

struct picture picture_of(uint32_t width, uint32_t height, uint32_t channels, enum sample_type type)
{
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct picture picture;
    assert_true(frame_add_plane(&frame, &plane, 32));
    assert_true(picture_create(&picture, &frame));
    frame_finish(&frame);
    return picture;
}

static void encode_bands(const struct format *format, const struct picture *picture,
                         struct output *output)
{
    uint32_t height = picture->frame.planes[0].height;
    struct fault fault = FAULT_INIT;
    struct encoder encoder;
    int result = encoder_open(&encoder, format, 0, output, &fault);
    for (uint32_t band = 1; encoder.row < height && result == 0; band++) {
        bool all = format->codec->writes_whole || picture->frame.n_planes > 1 ||
                   band > height - encoder.row;
        result = encoder_rows(&encoder, picture, all ? height : encoder.row + band, &fault);
    }
    encoder_close(&encoder);
    if (result != 0)
        fail_msg("%s", fault.text);
}

static void encode_once(const char *text, const struct picture *picture, bool by_bands,
                        struct file *file)
{
    struct fault fault = FAULT_INIT;
    struct format format;
    int fd = memfd_create("encoded", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(format_parse(&format, text, &fault), 0);
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        struct plane plane = picture->frame.planes[i];
        assert_int_equal(format_fit(&format, &plane, &fault), 0);
        assert_int_equal(plane.channels, picture->frame.planes[i].channels);
        assert_int_equal(plane.type, picture->frame.planes[i].type);
    }
    struct output *output = output_create(fd);
    assert_non_null(output);
    if (by_bands)
        encode_bands(&format, picture, output);
    else if (format_encode(&format, picture, 0, output, &fault) != 0)
        fail_msg("%s", fault.text);
    assert_int_equal(output_flush(output, &fault), 0);
    off_t size = lseek(fd, 0, SEEK_END);
    assert_int_equal(output->written, size);
    *file = (struct file){malloc((size_t)size + 1), (size_t)size};
    assert_non_null(file->data);
    assert_int_equal(pread(fd, file->data, file->size, 0), size);
    output_destroy(&output);
    format_finish(&format);
    close(fd);
}

/* By bands it is the same file. */
void encode_picture(const char *text, const struct picture *picture, struct file *file)
{
    struct file bands;
    encode_once(text, picture, false, file);
    encode_once(text, picture, true, &bands);
    assert_int_equal(bands.size, file->size);
    assert_memory_equal(bands.data, file->data, file->size);
    free(bands.data);
}

int fit_plane(const char *text, struct plane *plane, struct fault *fault)
{
    struct format format;
    fault_clear(fault);
    int result = format_parse(&format, text, fault);
    if (result == 0)
        result = format_fit(&format, plane, fault);
    format_finish(&format);
    return result;
}
