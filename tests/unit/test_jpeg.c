#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/decode.h"
#include "codec/byte_order.h"

#include <jpeglib.h>

/* What libjpeg itself makes of a file, at 1/reduce of its sides. */
static uint8_t *reduced_decode(const struct file *file, J_COLOR_SPACE out, unsigned reduce,
                               int *channels)
{
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file->data, file->size);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = out;
    info.scale_denom = reduce;
    jpeg_start_decompress(&info);
    size_t row_size = info.output_width * (size_t)info.output_components;
    uint8_t *samples = malloc(row_size * info.output_height);
    assert_non_null(samples);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = samples + info.output_scanline * row_size;
        jpeg_read_scanlines(&info, &row, 1);
    }
    *channels = info.output_components;
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return samples;
}

static uint8_t *plain_decode(const struct file *file, J_COLOR_SPACE out, int *channels)
{
    return reduced_decode(file, out, 1, channels);
}

static void check_as_libjpeg(const struct jpeg_kind *kind, J_COLOR_SPACE out)
{
    struct file file = {0};
    struct decoded decoded;
    int channels;
    make_jpeg(&file, kind);
    uint8_t *expected = plain_decode(&file, out, &channels);
    decode_good(&file, NULL, kind->width, kind->height, (uint32_t)channels, SAMPLE_U8, &decoded);
    assert_false(decoded.stored_luma);
    assert_memory_equal(decoded.samples, expected, kind->width * kind->height * (size_t)channels);
    if (kind->colours != JPEG_YCC || kind->sampling == 1) {
        for (uint32_t i = 0; i < kind->width * kind->height * (uint32_t)channels; i++) {
            uint32_t x = i / (uint32_t)channels % kind->width;
            uint32_t y = i / (uint32_t)channels / kind->width;
            assert_in_range(decoded.samples[i] + 4, ramp_sample(x, y, i % (uint32_t)channels),
                            ramp_sample(x, y, i % (uint32_t)channels) + 8);
        }
    }
    free(expected);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_colours_and_processes(void **state)
{
    (void)state;
    for (int process = 0; process < 5; process++) {
        for (int sampling = 1; sampling <= 2; sampling++) {
            struct jpeg_kind kind = {.width = 45,
                                     .height = 37,
                                     .sampling = sampling,
                                     .progressive = process == 1 || process == 3,
                                     .arithmetic = process == 2 || process == 3,
                                     .restarts = process == 4};
            kind.colours = JPEG_YCC;
            check_as_libjpeg(&kind, JCS_RGB);
            kind.sampling = 1;
            kind.colours = JPEG_GREY;
            check_as_libjpeg(&kind, JCS_GRAYSCALE);
            kind.colours = JPEG_RGB;
            check_as_libjpeg(&kind, JCS_RGB);
        }
    }
    check_as_libjpeg(&(struct jpeg_kind){JPEG_YCC, 45, 37, .separate_scans = true}, JCS_RGB);
    check_as_libjpeg(&(struct jpeg_kind){JPEG_GREY, 1, 1}, JCS_GRAYSCALE);
    check_as_libjpeg(&(struct jpeg_kind){JPEG_YCC, 1, 300, .sampling = 1}, JCS_RGB);
}

/* With Adobe's marker the inks are inverted, without it they are as they are. */
static void check_inks(enum jpeg_colours colours, bool adobe)
{
    struct file file = {0};
    struct decoded decoded;
    struct jpeg_kind kind = {colours, 30, 20, .no_adobe = !adobe};
    int channels;
    make_jpeg(&file, &kind);
    uint8_t *inks = plain_decode(&file, JCS_CMYK, &channels);
    assert_int_equal(channels, 4);
    decode_good(&file, NULL, 30, 20, 3, SAMPLE_U8, &decoded);
    for (size_t i = 0; i < 30 * 20; i++) {
        for (int c = 0; c < 3; c++) {
            int ink = adobe ? inks[4 * i + (size_t)c] : 255 - inks[4 * i + (size_t)c];
            int black = adobe ? inks[4 * i + 3] : 255 - inks[4 * i + 3];
            assert_int_equal(decoded.samples[3 * i + (size_t)c], (int)(ink * black / 255.0 + 0.5));
        }
    }
    free(inks);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_inks(void **state)
{
    (void)state;
    check_inks(JPEG_CMYK, true);
    check_inks(JPEG_CMYK, false);
    check_inks(JPEG_YCCK, true);
}

static void check_luma(const struct jpeg_kind *kind, bool stored, uint32_t channels)
{
    struct file file = {0};
    struct decoded decoded;
    struct decode_options options = options_of(NULL);
    decode_less.luma = true;
    make_jpeg(&file, kind);
    decode_good(&file, &options, kind->width, kind->height, channels, SAMPLE_U8, &decoded);
    assert_int_equal(decoded.stored_luma, stored);
    if (channels == 1) {
        int n;
        uint8_t *expected = plain_decode(&file, JCS_GRAYSCALE, &n);
        assert_memory_equal(decoded.samples, expected, kind->width * kind->height);
        free(expected);
    }
    decode_less.luma = false;
    decoded_finish(&decoded);
    file_finish(&file);
}

/* The stored Y where there is one; grey is grey anyway; RGB and inks have none. */
static void test_luma(void **state)
{
    (void)state;
    check_luma(&(struct jpeg_kind){JPEG_YCC, 33, 21, .sampling = 2}, true, 1);
    check_luma(&(struct jpeg_kind){JPEG_YCC, 33, 21, .progressive = true}, true, 1);
    check_luma(&(struct jpeg_kind){JPEG_GREY, 33, 21}, false, 1);
    check_luma(&(struct jpeg_kind){JPEG_RGB, 33, 21}, false, 3);
    check_luma(&(struct jpeg_kind){JPEG_CMYK, 33, 21}, false, 3);
}

/* Pixel (x, y) as it is looked at, of a picture stored as w by h. */
static const uint8_t *turned_pixel(const uint8_t *stored, unsigned orientation, uint32_t w,
                                   uint32_t h, uint32_t channels, uint32_t x, uint32_t y)
{
    uint32_t from_x = orientation >= 5 ? y : x, from_y = orientation >= 5 ? x : y;
    if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        from_x = w - 1 - from_x;
    if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        from_y = h - 1 - from_y;
    return stored + channels * ((size_t)from_y * w + from_x);
}

static void test_orientation(void **state)
{
    (void)state;
    for (unsigned o = 1; o <= 8; o++) {
        struct file file = {0};
        struct decoded as_stored, turned;
        struct decode_options keep = options_of("orient=0");
        uint32_t w = 37, h = 150;
        bool swaps = o >= 5;
        make_jpeg(&file, &(struct jpeg_kind){JPEG_YCC, w, h, .orientation = o});
        decode_good(&file, &keep, w, h, 3, SAMPLE_U8, &as_stored);
        decode_good(&file, NULL, swaps ? h : w, swaps ? w : h, 3, SAMPLE_U8, &turned);
        for (uint32_t y = 0; y < turned.plane.height; y++)
            for (uint32_t x = 0; x < turned.plane.width; x++)
                assert_memory_equal(turned.samples + 3 * ((size_t)y * turned.plane.width + x),
                                    turned_pixel(as_stored.samples, o, w, h, 3, x, y), 3);
        decoded_finish(&as_stored);
        decoded_finish(&turned);
        file_finish(&file);
    }
}

/* What libjpeg gives at that part of its sides, turned; the plane knows the whole picture's. */
static void check_reduced(const struct jpeg_kind *kind, unsigned reduce, J_COLOR_SPACE out)
{
    struct file file = {0};
    struct decoded decoded;
    uint32_t w = (kind->width + reduce - 1) / reduce, h = (kind->height + reduce - 1) / reduce;
    bool swaps = kind->orientation >= 5;
    int channels;
    make_jpeg(&file, kind);
    uint8_t *expected = reduced_decode(&file, out, reduce, &channels);
    decode_less = (struct decode_less){.luma = out == JCS_GRAYSCALE, .reduce = reduce};
    decode_good(&file, NULL, swaps ? h : w, swaps ? w : h, (uint32_t)channels, SAMPLE_U8, &decoded);
    decode_less = (struct decode_less){0};
    assert_int_equal(decoded.plane.whole_width, swaps ? kind->height : kind->width);
    assert_int_equal(decoded.plane.whole_height, swaps ? kind->width : kind->height);
    assert_int_equal(decoded.plane.reduced, reduce);
    unsigned o = kind->orientation; /* the rounded-up edge is the left or the top in some of them */
    bool right = o == 2 || o == 3 || o == 6 || o == 7, bottom = o == 3 || o == 4 || o > 6;
    assert_int_equal(decoded.plane.whole_x,
                     right ? decoded.plane.width * reduce - decoded.plane.whole_width : 0);
    assert_int_equal(decoded.plane.whole_y,
                     bottom ? decoded.plane.height * reduce - decoded.plane.whole_height : 0);
    for (uint32_t i = 0; i < w * h; i++)
        assert_memory_equal(decoded.samples + i * (size_t)channels,
                            turned_pixel(expected, kind->orientation, w, h, (uint32_t)channels,
                                         i % decoded.plane.width, i / decoded.plane.width),
                            (size_t)channels);
    free(expected);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_reduced(void **state)
{
    (void)state;
    for (unsigned reduce = 2; reduce <= 8; reduce *= 2) {
        for (unsigned orientation = 1; orientation <= 8; orientation++) {
            struct jpeg_kind kind = {JPEG_YCC, 45, 37, .sampling = 1 + orientation % 2,
                                     .orientation = orientation};
            check_reduced(&kind, reduce, JCS_RGB);
            check_reduced(&kind, reduce, JCS_GRAYSCALE);
        }
        check_reduced(&(struct jpeg_kind){JPEG_GREY, 1, 1}, reduce, JCS_GRAYSCALE);
        check_reduced(&(struct jpeg_kind){JPEG_GREY, 300, 9, .progressive = true}, reduce,
                      JCS_GRAYSCALE);
        check_reduced(&(struct jpeg_kind){JPEG_RGB, 64, 65}, reduce, JCS_RGB);
    }
}

/* Whatever becomes of a file, two threads make the same of it as one. */
static void check_two_threads(const struct file *file, const char *text)
{
    struct decode_options one = options_of(text), two = one;
    struct decoded expected, decoded;
    struct fault why, fault;
    two.two_threads = true;
    int result = decode_file(file, &one, &expected, &why);
    assert_int_equal(decode_file(file, &two, &decoded, &fault), result);
    assert_string_equal(fault.text, why.text);
    assert_string_equal(decoded.warnings, expected.warnings);
    assert_int_equal(decoded.stored_luma, expected.stored_luma);
    if (result == 0) {
        const struct plane *plane = &expected.plane;
        assert_int_equal(decoded.plane.width, plane->width);
        assert_memory_equal(decoded.samples, expected.samples,
                            (size_t)plane->width * plane->height * plane->channels);
    }
    decoded_finish(&decoded);
    decoded_finish(&expected);
}

static void test_two_threads(void **state)
{
    (void)state;
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct file file = {0};
        struct jpeg_kind kind = {JPEG_YCC,
                                 1100,
                                 1001,
                                 .sampling = 1 + orientation % 2,
                                 .restarts = orientation % 4 < 2,
                                 .orientation = orientation};
        make_jpeg(&file, &kind);
        for (uint32_t reduce = 1; reduce <= 8; reduce *= 2) {
            decode_less = (struct decode_less){.luma = orientation > 6, .reduce = reduce};
            check_two_threads(&file, NULL);
        }
        decode_less = (struct decode_less){0};
        file_finish(&file);
    }
    for (int colours = JPEG_GREY; colours <= JPEG_YCCK; colours++) {
        struct file file = {0};
        make_jpeg(&file, &(struct jpeg_kind){colours, 65, 16500});
        check_two_threads(&file, NULL);
        file_finish(&file);
    }
}

/* Damage in either part, and an end in either. */
static void test_two_threads_damage(void **state)
{
    struct file file = {0};
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_YCC, 1100, 1001, .sampling = 2, .quality = 80});
    for (size_t at = file.size / 16; at < file.size; at += file.size / 8) {
        struct file cut = {file.data, at};
        uint8_t was = file.data[at];
        check_two_threads(&cut, NULL);
        check_two_threads(&cut, "partial=1");
        file.data[at] = 0xFF;
        check_two_threads(&file, NULL);
        check_two_threads(&file, "strict=1");
        file.data[at] = was;
    }
    file_finish(&file);
}

/* CMYK goes through a row of its own before it is placed. */
static void test_turned_inks(void **state)
{
    struct file file = {0};
    struct decoded as_stored, turned;
    struct decode_options keep = options_of("orient=0");
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_CMYK, 20, 10, .orientation = 3});
    decode_good(&file, &keep, 20, 10, 3, SAMPLE_U8, &as_stored);
    decode_good(&file, NULL, 20, 10, 3, SAMPLE_U8, &turned);
    for (size_t i = 0; i < 200; i++)
        assert_memory_equal(turned.samples + 3 * i, as_stored.samples + 3 * (199 - i), 3);
    decoded_finish(&as_stored);
    decoded_finish(&turned);
    file_finish(&file);
}

/* Whole rows stay what they are in the whole file; below the cut there is grey. */
static void test_partial(void **state)
{
    struct file file = {0}, cut;
    struct decoded whole, part;
    struct decode_options partial = options_of("partial=1");
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 200, 200});
    decode_good(&file, &partial, 200, 200, 1, SAMPLE_U8, &whole);
    cut = (struct file){file.data, file.size / 2};
    decode_bad(&cut, NULL, FAULT_TRUNCATED, "truncated jpeg");
    decode_good(&cut, &partial, 200, 200, 1, SAMPLE_U8, &part);
    size_t same = 0;
    while (same < 200 && memcmp(whole.samples + 200 * same, part.samples + 200 * same, 200) == 0)
        same++;
    assert_in_range(same, 60, 140);
    assert_memory_not_equal(whole.samples + 200 * 199, part.samples + 200 * 199, 200);
    decoded_finish(&part);

    cut.size = 100; /* within the tables: there is no picture yet */
    decode_bad(&cut, &partial, FAULT_TRUNCATED, "truncated jpeg");

    /* A writer that was cut short may still have put an EOI. */
    cut = (struct file){0};
    file_put(&cut, file.data, file.size / 2);
    file_put(&cut, "\xFF\xD9", 2);
    decode_bad(&cut, NULL, FAULT_TRUNCATED, "truncated jpeg");
    decode_good(&cut, &partial, 200, 200, 1, SAMPLE_U8, &part);
    assert_memory_equal(whole.samples, part.samples, 200 * 60);
    decoded_finish(&part);
    file_finish(&cut);
    decoded_finish(&whole);
    file_finish(&file);
}

/* A progressive file that is cut has all rows, less sharp; also where it is cut in a table. */
static void test_partial_progressive(void **state)
{
    struct file file = {0};
    struct decode_options partial = options_of("partial=1");
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_YCC, 64, 64, .progressive = true});
    size_t first_scan = 0;
    while (memcmp(file.data + first_scan, "\xFF\xDA", 2) != 0)
        first_scan++;
    for (size_t size = first_scan + 40; size < file.size; size++) {
        struct file cut = {file.data, size};
        struct decoded part;
        decode_good(&cut, &partial, 64, 64, 3, SAMPLE_U8, &part);
        decoded_finish(&part);
    }
    file_finish(&file);
}

/* A warning of libjpeg is one of ours, in its words, and an error with strict=1. */
static void test_damage(void **state)
{
    struct file file = {0}, other = {0};
    struct decoded good, odd;
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 64, 64, .restarts = true});
    size_t scan = 0;
    while (memcmp(file.data + scan, "\xFF\xDA", 2) != 0)
        scan++;
    file_put(&other, file.data, scan);
    file_put_text(&other, "junk");
    file_put(&other, file.data + scan, file.size - scan);
    decode_good(&file, NULL, 64, 64, 1, SAMPLE_U8, &good);
    assert_string_equal(good.warnings, "");
    decode_odd(&other, 64, 64, 1, SAMPLE_U8, "extraneous bytes before marker 0xda", &odd);
    assert_string_equal(odd.warnings,
                        "jpeg: Corrupt JPEG data: extraneous bytes before marker 0xda\n");
    assert_memory_equal(odd.samples, good.samples, 64 * 64);
    decoded_finish(&odd);
    decoded_finish(&good);
    file_finish(&other);
    size_t restart = scan;
    while (memcmp(file.data + restart, "\xFF\xD0", 2) != 0)
        restart++;
    file.data[restart + 1] = 0xD3;
    decode_odd(&file, 64, 64, 1, SAMPLE_U8, "marker", &odd);
    decoded_finish(&odd);
    struct decode_options partial = options_of("partial=1:strict=1");
    decode_bad(&file, &partial, FAULT_DATA, "marker"); /* damaged is not cut short */
    file_finish(&file);
}

/* The end comes before the picture's, whatever stands behind it: cut short, not odd. */
static void test_early_end_in_the_middle(void **state)
{
    struct file file = {0}, cut = {0};
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 200, 200});
    file_put(&cut, file.data, file.size / 2);
    file_put(&cut, "\xFF\xD9", 2);
    file_put_text(&cut, "something behind it");
    decode_bad(&cut, NULL, FAULT_TRUNCATED, "truncated jpeg");
    file_finish(&cut);
    file_finish(&file);
}

/* However much is odd, what is told of it stays short, and each thing is told once. */
static void test_many_warnings(void **state)
{
    struct file plain = {0}, file = {0};
    struct decoded decoded;
    size_t lines = 0, junk = 0;
    (void)state;
    make_jpeg(&plain, &(struct jpeg_kind){JPEG_GREY, 256, 256, .restarts = true});
    for (size_t at = 0; at < plain.size; at++) {
        if (plain.data[at] == 0xFF && at + 1 < plain.size && (plain.data[at + 1] & 0xF8) == 0xD0) {
            file_put(&file, "much that is none of a picture's coded data, ever longer", ++junk);
            if (junk % 9 == 0) /* and another marker than is due */
                plain.data[at + 1] ^= 1;
        }
        file_put(&file, plain.data + at, 1);
    }
    assert_in_range(junk, 2 * DECODER_WARNINGS_MAX, 56);
    decode_good(&file, NULL, 256, 256, 1, SAMPLE_U8, &decoded);
    for (const char *at = decoded.warnings; *at; at += strcspn(at, "\n") + 1)
        lines++;
    assert_int_equal(lines, DECODER_WARNINGS_MAX + 1);
    assert_non_null(strstr(decoded.warnings, " more\n"));
    decoded_finish(&decoded);
    file_finish(&file);
    file_finish(&plain);
}

static void replace_frame(struct file *file, uint8_t marker, uint8_t precision, uint32_t width,
                          uint32_t height)
{
    size_t at = 0;
    while (file->data[at] != 0xFF || file->data[at + 1] < 0xC0 || file->data[at + 1] > 0xC2)
        at++;
    file->data[at + 1] = marker;
    file->data[at + 4] = precision;
    file->data[at + 5] = (uint8_t)(height >> 8);
    file->data[at + 6] = (uint8_t)height;
    file->data[at + 7] = (uint8_t)(width >> 8);
    file->data[at + 8] = (uint8_t)width;
}

static void test_unsupported(void **state)
{
    struct file file = {0};
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 16, 16});
    replace_frame(&file, 0xC3, 8, 16, 16);
    decode_bad(&file, NULL, FAULT_FORMAT, "unsupported jpeg");
    file_finish(&file);
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 16, 16});
    replace_frame(&file, 0xC1, 12, 16, 16);
    decode_bad(&file, NULL, FAULT_FORMAT, "precision 12");
    file_finish(&file);
}

static void test_limits(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    struct fault fault;
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_YCC, 16, 16, .progressive = true});
    replace_frame(&file, 0xC2, 8, 65500, 65500);
    decode_bad(&file, NULL, FAULT_LIMIT, "--max-pixels");
    replace_frame(&file, 0xC2, 8, 65535, 65535);
    decode_bad(&file, NULL, FAULT_LIMIT, "65500");
    replace_frame(&file, 0xC2, 8, 0, 16);
    decode_bad(&file, NULL, FAULT_DATA, "damaged jpeg");
    /* All coefficients of a progressive picture: 2 bytes · 3 components · 16 megapixels. */
    const struct codec_limits limits = {1 << 24, 64 << 20};
    replace_frame(&file, 0xC2, 8, 4096, 4096);
    assert_int_equal(decode_within(&file, NULL, &limits, &decoded, &fault), FAULT_LIMIT);
    assert_non_null(strstr(fault.text, "--memory"));
    file_finish(&file);
}

/* libjpeg's own bound holds, whatever the environment says. */
static void test_environment(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_YCC, 300, 300, .progressive = true});
    setenv("JPEGMEM", "1", 1); /* kB */
    decode_good(&file, NULL, 300, 300, 3, SAMPLE_U8, &decoded);
    unsetenv("JPEGMEM");
    decoded_finish(&decoded);
    file_finish(&file);
}

/* Each scan costs the time of the whole picture. */
static void test_many_scans(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 40, 40, .extra_scans = 98});
    decode_good(&file, NULL, 40, 40, 1, SAMPLE_U8, &decoded);
    decoded_finish(&decoded);
    file_finish(&file);
    make_jpeg(&file, &(struct jpeg_kind){JPEG_GREY, 40, 40, .extra_scans = 99});
    decode_bad(&file, NULL, FAULT_LIMIT, "more than 100 scans");
    file_finish(&file);
}

static void fill_ramp(struct picture *picture)
{
    const struct plane *plane = &picture->frame.planes[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = picture_row(picture, 0, y);
        for (uint32_t i = 0; i < plane->width * plane->channels; i++)
            row[i] = ramp_sample(i / plane->channels, y, i % plane->channels);
    }
}

/* The marker segment's place, or 0. */
static size_t find_marker(const struct file *file, uint8_t marker)
{
    for (size_t at = 2; at + 4 <= file->size; at += 2 + load_be16(file->data + at + 2)) {
        if (file->data[at + 1] == marker)
            return at;
        if (file->data[at + 1] == 0xDA)
            break;
    }
    return 0;
}

static void check_written(const char *format, uint32_t channels, int tolerance, uint8_t frame,
                          uint8_t sampling)
{
    struct picture picture = picture_of(83, 41, channels, SAMPLE_U8);
    struct file file;
    struct decoded decoded;
    fill_ramp(&picture);
    encode_picture(format, &picture, &file);
    size_t at = find_marker(&file, frame);
    assert_true(at > 0);
    assert_int_equal(file.data[at + 11], sampling);
    decode_good(&file, NULL, 83, 41, channels, SAMPLE_U8, &decoded);
    for (uint32_t i = 0; tolerance < 255 && i < 83 * 41 * channels; i++) {
        int expected = ramp_sample(i / channels % 83, i / channels / 83, i % channels);
        assert_true(abs(decoded.samples[i] - expected) <= tolerance);
    }
    decoded_finish(&decoded);
    file_finish(&file);
    picture_destroy(&picture);
}

static void test_round_trip(void **state)
{
    (void)state;
    check_written("jpg", 1, 8, 0xC0, 0x11);
    check_written("jpg", 3, 16, 0xC0, 0x11);
    check_written("jpg:quality=100", 3, 4, 0xC0, 0x11);
    check_written("jpg:quality=100:progressive=1", 3, 4, 0xC2, 0x11);
    check_written("jpg:89", 3, 255, 0xC0, 0x22); /* colour at half the resolution */
    check_written("jpg:1", 1, 255, 0xC0, 0x11);
}

static void test_fit(void **state)
{
    struct fault fault;
    struct plane plane = {.width = 65500, .height = 1, .channels = 4, .type = SAMPLE_U16};
    (void)state;
    assert_int_equal(fit_plane("jpg", &plane, &fault), 0);
    assert_int_equal(plane.channels, 3);
    assert_int_equal(plane.type, SAMPLE_U8);
    plane.channels = 2;
    assert_int_equal(fit_plane("jpg", &plane, &fault), 0);
    assert_int_equal(plane.channels, 1);
    plane.width = 65501;
    assert_int_equal(fit_plane("jpg", &plane, &fault), FAULT_SHAPE);
    assert_non_null(strstr(fault.text, "65500"));
    assert_int_equal(fit_plane("jpg:0", &plane, &fault), FAULT_CHAIN);
    assert_int_equal(fit_plane("jpg:quality=101", &plane, &fault), FAULT_CHAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours_and_processes),
        cmocka_unit_test(test_inks),
        cmocka_unit_test(test_luma),
        cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_two_threads_damage),
        cmocka_unit_test(test_turned_inks),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_partial_progressive),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_early_end_in_the_middle),
        cmocka_unit_test(test_many_warnings),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_many_scans),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
