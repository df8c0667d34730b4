/* The table of formats: recognising a format by its bytes, and the options of reading and writing.
 * */
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../codec/decode.h"
#include "codec/output.h"

static void test_told_by_bytes(void **state)
{
    static const struct {
        const char *extension, *codec;
    } formats[] = {{".jpg", "jpeg"}, {".png", "png"},  {".bmp", "bmp"}, {".npy", "npy"},
                   {".npz", "npz"},  {".pbm", "pnm"},  {".pgm", "pnm"}, {".ppm", "pnm"},
                   {".tif", "tiff"}, {".webp", "webp"}};
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        struct decoder decoder;
        struct decode_options options = options_of(NULL);
        const struct codec_limits limits = {1 << 20, 1 << 26};
        struct fault fault = FAULT_INIT;
        s->make(&file, s->variant);
        assert_int_equal(decoder_open(&decoder, file.data, file.size, &options, &limits, &fault),
                         0);
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            if (strstr(s->name, formats[i].extension))
                assert_string_equal(decoder.codec->name, formats[i].codec);
        decoder_close(&decoder);
        file_finish(&file);
    }
}

static void check_unknown(const char *bytes, size_t size, int code, const char *says)
{
    struct file file = {0};
    file_put(&file, bytes, size);
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
}

static void test_unknown(void **state)
{
    (void)state;
    check_unknown("", 0, FAULT_EMPTY, "empty file");
    check_unknown("hello there", 11, FAULT_FORMAT, "begins with 'hello th'");
    check_unknown("GIF89a\1\2", 8, FAULT_FORMAT,
                  "'GIF89a..'; readable are png, npy, npz, jpeg, bmp, pnm");
    check_unknown("B", 1, FAULT_FORMAT, "unknown format");
    check_unknown("BMW is a car, not a picture", 27, FAULT_FORMAT, "unknown format");
    check_unknown("\x89PNG\n\x1A\n\0\0\0\0", 11, FAULT_FORMAT, "unknown format");
    check_unknown("\xFF\xD8 no marker", 11, FAULT_FORMAT, "unknown format");
    check_unknown("\x93NUMPX", 6, FAULT_FORMAT, "unknown format");
}

/* Formats that there is no codec for are called by their names, read and written. */
static void test_foreign(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } rows[] = {
#ifndef SLUICE_TIFF
        {"II*\0\10\0\0\0", 8, "unknown format: TIFF"},
        {"MM\0*\0\0\0\10", 8, "unknown format: TIFF"},
        {"II+\0\10\0\0\0", 8, "unknown format: TIFF"},
#endif
#ifndef SLUICE_WEBP
        {"RIFF\1\2\3\4WEBPVP8 ", 16, "unknown format: WebP"},
#endif
        {"RIFF\1\2\3\4AVI LIST", 16, "unknown format: AVI film"},
        {"\0\0\0\40ftypavif", 12, "unknown format: AVIF"},
        {"\0\0\0\40ftypheic", 12, "unknown format: HEIC"},
        {"\0\0\0\40ftypmif1", 12, "unknown format: HEIC"},
        {"\0\0\0\40ftypisom", 12, "unknown format: MP4"},
        {"GIF89a\1\2", 8, "unknown format: GIF"},
        {"%PDF-1.7", 8, "unknown format: PDF"},
        {"<!DOCTYPE html>", 15, "unknown format: HTML"},
        {"\0\0\0\14jP  \r\n\x87\n", 12, "unknown format: JPEG 2000"},
        {"\xFF\x0A\1\2", 4, "unknown format: JPEG XL"},
    };
    static const char *const words[][2] = {
#ifndef SLUICE_TIFF
        {"tiff", "TIFF"}, {"TIF", "TIFF"},
#endif
#ifndef SLUICE_WEBP
        {"webp", "WebP"},
#endif
        {"avif", "AVIF"}, {"heic", "HEIC"}, {"gif", "GIF"}, {"Jxl", "JPEG XL"}};
    char name[32];
    struct format format;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_unknown(rows[i].bytes, rows[i].size, FAULT_FORMAT, rows[i].says);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct fault fault = FAULT_INIT, of_name = FAULT_INIT;
        assert_int_equal(format_parse(&format, words[i][0], &fault), FAULT_USAGE);
        snprintf(name, sizeof name, "picture.%s", words[i][0]);
        assert_int_equal(format_for_name(&format, name, &of_name), FAULT_USAGE);
        for (const struct fault *f = &fault; f; f = f == &fault ? &of_name : NULL)
            if (!strstr(f->text, "sluice writes no ") || !strstr(f->text, words[i][1]) ||
                !strstr(f->text, "there are png, "))
                fail_msg("%s", f->text);
    }
    struct fault fault = FAULT_INIT;
    assert_int_equal(format_parse(&format, "JPGG", &fault), FAULT_USAGE);
    assert_non_null(strstr(fault.text, "did you mean 'jpg'"));
}

/* The beginning of a signature is a cut file, which may still be growing. */
static void test_signatures_alone(void **state)
{
    (void)state;
    check_unknown("\x89PNG", 4, FAULT_TRUNCATED, "truncated png");
    check_unknown("\x89PNG\r\n\x1A\n", 8, FAULT_TRUNCATED, "truncated png");
    check_unknown("\x93NUM", 4, FAULT_TRUNCATED, "truncated npy");
    check_unknown("\xFF\xD8", 2, FAULT_TRUNCATED, "truncated jpeg");
    check_unknown("\xFF\xD8\xFF", 3, FAULT_TRUNCATED, "truncated jpeg");
    check_unknown("BM", 2, FAULT_TRUNCATED, "truncated bmp");
}

static void check_options(const char *text, int code, const char *says)
{
    struct decode_options options;
    struct fault fault = FAULT_INIT;
    assert_int_equal(decode_options_parse(&options, text, "--input", &fault), code);
    if (!strstr(fault.text, says))
        fail_msg("'%s' lacks '%s'", fault.text, says);
}

static void test_decode_options(void **state)
{
    (void)state;
    struct decode_options options = options_of(NULL);
    assert_true(options.orient && !options.partial && options.raw == RAW_NONE);
    options = options_of("orient=0:partial=1");
    assert_true(!options.orient && options.partial);
    options = options_of("raw=nv12:w=640:h=480:stride=700");
    assert_true(options.raw == RAW_NV12 && options.w == 640 && options.h == 480 &&
                options.stride == 700);
    options = options_of("raw=nv12:640:360");
    assert_true(options.raw == RAW_NV12 && options.w == 640 && options.h == 360);
    options = options_of("nv12:640:360:768:partial=1");
    assert_true(options.raw == RAW_NV12 && options.h == 360 && options.stride == 768);
    options = options_of("partial=1:raw=gray8:h=2:3");
    assert_true(options.raw == RAW_GRAY8 && options.w == 3 && options.h == 2 && options.partial);
    check_options("raw=nv12", FAULT_USAGE, "--input: raw=nv12 needs w= and h=");
    check_options("raw=nv12:w=10", FAULT_USAGE, "needs w= and h=");
    check_options("w=10", FAULT_USAGE, "raw=");
    check_options("stride=10", FAULT_USAGE, "raw=");
    check_options("raw=i421:w=1:h=1", FAULT_CHAIN, "did you mean 'i420'");
    check_options("raw=gray8:w=0:h=1", FAULT_CHAIN, "w=0");
    check_options("raw=gray8:w=1:h=-1", FAULT_CHAIN, "h=-1");
    check_options("rotate=1", FAULT_CHAIN, "has no parameter 'rotate'");
}

static void test_writers(void **state)
{
    static const char *const names[][2] = {{"a.jpg", "jpeg"},  {"a.JPEG", "jpeg"},
                                           {"b.png", "png"},   {"c.bmp", "bmp"},
                                           {"c.dib", "bmp"},   {"d.pgm", "pnm"},
                                           {"e.npy", "npy"},   {"f.raw", "raw"},
                                           {"g.json", "json"}, {"h.safetensors", "safetensors"}};
    struct format format;
    struct fault fault = FAULT_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(format_for_name(&format, names[i][0], &fault), 0);
        assert_string_equal(format.codec->name, names[i][1]);
        format_finish(&format);
        assert_int_equal(format_parse(&format, names[i][1], &fault), 0);
        format_finish(&format);
    }
    assert_int_equal(format_parse(&format, "jpgg", &fault), FAULT_USAGE);
    assert_non_null(strstr(fault.text, "did you mean 'jpg'"));
    fault_clear(&fault);
    assert_int_equal(format_parse(&format, "png:level=10", &fault), FAULT_CHAIN);
    fault_clear(&fault);
    assert_int_equal(format_parse(&format, "npy:level=1", &fault), FAULT_CHAIN);
    assert_non_null(strstr(fault.text, "takes no parameters"));
}

/* A full disk ends an encoder early, with the disk's fault. */
static void check_full_disk(const char *format_text)
{
    struct picture picture = picture_of(2000, 500, 3, SAMPLE_U8);
    struct fault fault = FAULT_INIT;
    struct format format;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (uint32_t y = 0; y < 500; y++)
        for (uint32_t i = 0; i < 6000; i++)
            ((uint8_t *)picture_row(&picture, 0, y))[i] = (uint8_t)noise_sample(i, y, 0);
    assert_int_equal(format_parse(&format, format_text, &fault), 0);
    struct output *output = output_create(fd);
    assert_non_null(output);
    int result = format_encode(&format, &picture, 0, output, &fault);
    if (result == 0)
        result = output_flush(output, &fault);
    assert_int_equal(result, FAULT_NO_SPACE);
    assert_int_equal(output->written, 0);
    output_destroy(&output);
    format_finish(&format);
    picture_destroy(&picture);
    close(fd);
}

static void test_full_disk(void **state)
{
    (void)state;
    check_full_disk("jpg");
    check_full_disk("png");
    check_full_disk("bmp");
    check_full_disk("ppm");
    check_full_disk("npy");
    check_full_disk("json");
    check_full_disk("safetensors");
    check_full_disk("raw");
}

/* What a format makes of a frame of three planes: 2×2 grey, one pixel of f32, a tensor of f16. */
static void check_frame(const char *format, const char *expected, size_t size)
{
    static const uint8_t bytes[] = {1, 2, 255, 0};
    static const float reals[] = {0.5f, -1.25f, INFINITY};
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0};
    struct frame frame = {0};
    struct plane planes[] = {{.width = 2, .height = 2, .channels = 1, .type = SAMPLE_U8},
                             {"one", .width = 1, .height = 1, .channels = 3, .type = SAMPLE_F32},
                             {"deep", .width = 2, .height = 2, .channels = 1, .type = SAMPLE_F16}};
    struct picture picture;
    struct file file;
    planes[2].layers = 2;
    for (int i = 0; i < 3; i++)
        assert_true(frame_add_plane(&frame, &planes[i], FRAME_ALIGNMENT));
    assert_true(picture_create(&picture, &frame));
    for (uint32_t y = 0; y < 2; y++) {
        memcpy(picture_row(&picture, 0, y), bytes + 2 * y, 2);
        memcpy(picture_row(&picture, 2, y), halves + 2 * y, 4);
    }
    memcpy(picture_row(&picture, 1, 0), reals, sizeof reals);
    encode_picture(format, &picture, &file);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.data, expected, size);
    file_finish(&file);
    picture_destroy(&picture);
    frame_finish(&frame);
}

static void test_frames(void **state)
{
    static const char json[] = "{\"image\":[[1,2],[255,0]],\n\"one\":[0.5,-1.25,null],\n"
                               "\"deep\":[[[1,-2]],[[null,0]]]}\n";
    static const char tensors[] =
        "\xb8\0\0\0\0\0\0\0"
        "{\"image\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]},"
        "\"one\":{\"dtype\":\"F32\",\"shape\":[1,1,3],\"data_offsets\":[4,16]},"
        "\"deep\":{\"dtype\":\"F16\",\"shape\":[2,1,2],\"data_offsets\":[16,24]}}   "
        "\1\2\xff\0\0\0\0\x3f\0\0\xa0\xbf\0\0\x80\x7f\0\x3c\0\xc0\0\x7c\0\0";
    (void)state;
    check_frame("json", json, sizeof json - 1);
    check_frame("safetensors", tensors, sizeof tensors - 1);
}

enum mishap {
    BECOMES_SHORTER,
    CANNOT_BE_READ,
};

/* A file of which something happens to the rest when one row of it has been read. */
static void check_mishap(const char *format, enum mishap mishap)
{
    struct picture picture = picture_of(500, 300, 3, SAMPLE_U8);
    struct decode_options options = options_of(NULL);
    const struct codec_limits limits = {1 << 20, 1 << 26};
    struct file file;
    struct decoder decoder;
    struct fault fault = FAULT_INIT;
    for (size_t i = 0; i < picture.frame.size; i++)
        picture.data[i] = (uint8_t)(i * i >> 5); /* so that no format makes it much smaller */
    encode_picture(format, &picture, &file);
    int fd = memfd_create("input", MFD_CLOEXEC);
    assert_int_equal(pwrite(fd, file.data, file.size, 0), file.size);
    struct decoder_input input = input_of_file(fd, file.size);
    input.room = 256;
    if (strcmp(format, "raw") == 0)
        options = options_of("raw=rgb24:500:300");
    assert_int_equal(decoder_open_input(&decoder, &input, &options, &limits, &fault), 0);
    assert_true(decoder.codec->reads_pieces);
    assert_int_equal(decoder_rows(&decoder, &picture, 1, &fault), 0);
    if (mishap == BECOMES_SHORTER) /* at both ends of the file are rows that are not read yet */
        assert_int_equal(ftruncate(fd, (off_t)file.size / 4), 0);
    else
        assert_int_equal(dup3(open("/", O_RDONLY | O_CLOEXEC), fd, O_CLOEXEC), fd);
    assert_int_equal(decoder_rows(&decoder, &picture, 300, &fault),
                     mishap == BECOMES_SHORTER ? FAULT_TRUNCATED : FAULT_IO);
    decoder_close(&decoder);
    close(fd);
    file_finish(&file);
    picture_destroy(&picture);
}

static void test_mishaps(void **state)
{
    static const char *const formats[] = {"jpg",
                                          "png",
                                          "bmp",
                                          "ppm",
                                          "ppm:ascii=1",
                                          "npy",
                                          "raw",
#ifdef SLUICE_TIFF
                                          "tiff",
                                          "tiff:compression=none"
#endif
    };
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        check_mishap(formats[i], BECOMES_SHORTER);
        check_mishap(formats[i], CANNOT_BE_READ);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_by_bytes),  cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_foreign),        cmocka_unit_test(test_signatures_alone),
        cmocka_unit_test(test_decode_options), cmocka_unit_test(test_writers),
        cmocka_unit_test(test_full_disk),      cmocka_unit_test(test_mishaps),
        cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
