#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/decode.h"

static void check(const char *options_text, bool luma, const void *bytes, size_t size,
                  uint32_t width, uint32_t height, uint32_t channels, enum sample_type type,
                  const void *expected)
{
    struct file file = {0};
    struct decoded decoded;
    struct decode_options options = options_of(options_text);
    decode_less.luma = luma;
    file_put(&file, bytes, size);
    decode_good(&file, &options, width, height, channels, type, &decoded);
    assert_memory_equal(decoded.samples, expected,
                        (size_t)width * height * channels * sample_size(type));
    decode_less.luma = false;
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_plain(void **state)
{
    static const uint16_t deep[] = {0x0201, 0x0403};
    (void)state;
    check("raw=gray8:w=3:h=2", false, "abcdef", 6, 3, 2, 1, SAMPLE_U8, "abcdef");
    check("raw=gray8:w=3:h=2:stride=5", false, "abc..def", 8, 3, 2, 1, SAMPLE_U8, "abcdef");
    check("raw=gray16:w=2:h=1", false, "\1\2\3\4", 4, 2, 1, 1, SAMPLE_U16, deep);
    check("raw=gray16:w=1:h=2:stride=3", false, "\1\2.\3\4", 5, 1, 2, 1, SAMPLE_U16, deep);
    check("raw=rgb24:w=1:h=2", false, "abcdef", 6, 1, 2, 3, SAMPLE_U8, "abcdef");
    check("raw=rgba32:w=1:h=2:stride=6", true, "abcd..efgh", 10, 1, 2, 4, SAMPLE_U8, "abcdefgh");
    check("raw=bgr24:w=1:h=2:stride=5", false, "abc..def", 8, 1, 2, 3, SAMPLE_U8, "cbafed");
    check("raw=rgbx32:w=2:h=1", false, "abc.def.", 8, 2, 1, 3, SAMPLE_U8, "abcdef");
    check("raw=bgrx32:w=2:h=1", false, "abc.def.", 8, 2, 1, 3, SAMPLE_U8, "cbafed");
    check("raw=bgra32:w=1:h=2", false, "abcdefgh", 8, 1, 2, 4, SAMPLE_U8, "cbadgfeh");
}

static int near(double v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (int)floor(v + 0.5);
}

static void test_luma(void **state)
{
    /* 3×3: rows of 3, then two rows of two pairs */
    static const uint8_t nv12[] = "abcdefghiUVUVUVUV";
    static const uint8_t apart[] = "abc.def.ghi.UVUVUVUV";
    (void)state;
    uint8_t grey[9]; /* of limited range: 16 is black, 235 white */
    for (int i = 0; i < 9; i++)
        grey[i] = (uint8_t)near(255 * ('a' + i - 16) / 219.0);
    check("raw=nv12:w=3:h=3", true, nv12, 17, 3, 3, 1, SAMPLE_U8, grey);
    check("raw=nv12:w=3:h=3:stride=4", true, apart, 20, 3, 3, 1, SAMPLE_U8, grey);
    check("raw=nv21:w=3:h=3", true, nv12, 17, 3, 3, 1, SAMPLE_U8, grey);
    check("raw=i420:w=3:h=3", true, nv12, 17, 3, 3, 1, SAMPLE_U8, grey);
    check("raw=i420:w=3:h=3:stride=5", true, "abc..def..ghi..UU.UU.VV.VV", 26, 3, 3, 1, SAMPLE_U8,
          grey);
    check("raw=uyvy:w=4:h=1", true, "UaVbUcVd", 8, 4, 1, 1, SAMPLE_U8, grey);
    check("raw=yuyv:w=4:h=1", true, "aUbVcUdV", 8, 4, 1, 1, SAMPLE_U8, grey);
    check("raw=yuyv:w=3:h=2:stride=10", true, "aUbVcU.V..dUeVfU.V", 18, 3, 2, 1, SAMPLE_U8, grey);
}

/* BT.601 in floating point, from its definition alone. */
static void rgb_of(int y, int cb, int cr, uint8_t *rgb)
{
    double luma = (y - 16) / 219.0, b = 2 * (1 - 0.114) * (cb - 128) / 224.0,
           r = 2 * (1 - 0.299) * (cr - 128) / 224.0;
    double red = luma + r, blue = luma + b;
    double green = (luma - 0.299 * red - 0.114 * blue) / 0.587;
    rgb[0] = (uint8_t)near(255 * red);
    rgb[1] = (uint8_t)near(255 * green);
    rgb[2] = (uint8_t)near(255 * blue);
}

static void test_colour_corners(void **state)
{
    static const uint8_t yuyv[] = {16, 128, 235, 128, 0, 128, 255, 128};
    static const uint8_t as_yuyv[] = {0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255};
    /* BT.601's own bars at full saturation: red 81 90 240, blue 41 240 110, green 145 54 34 */
    static const uint8_t bars[] = {81, 90, 81, 240, 41, 240, 41, 110, 145, 54, 145, 34};
    static const uint8_t as_bars[] = {254, 0, 0,   254, 0,   0, 0, 0,   255,
                                      0,   0, 255, 0,   255, 1, 0, 255, 1};
    (void)state;
    check("raw=yuyv:w=4:h=1", false, yuyv, 8, 4, 1, 3, SAMPLE_U8, as_yuyv);
    check("raw=yuyv:w=6:h=1", false, bars, 12, 6, 1, 3, SAMPLE_U8, as_bars);
    /* Those bars as planes of 2×2: red alone, then with Cr in front, then each chroma by itself. */
    static const uint8_t red[] = {254, 0, 0, 254, 0, 0, 254, 0, 0, 254, 0, 0};
    check("raw=nv12:w=2:h=2", false, "\x51\x51\x51\x51\x5a\xf0", 6, 2, 2, 3, SAMPLE_U8, red);
    check("raw=nv21:w=2:h=2", false, "\x51\x51\x51\x51\xf0\x5a", 6, 2, 2, 3, SAMPLE_U8, red);
    check("raw=i420:w=2:h=2", false, "\x51\x51\x51\x51\x5a\xf0", 6, 2, 2, 3, SAMPLE_U8, red);
    check("raw=uyvy:w=2:h=2", false, "\x5a\x51\xf0\x51\x5a\x51\xf0\x51", 8, 2, 2, 3, SAMPLE_U8,
          red);
    /* What is missing is black. */
    static const uint8_t half[] = {254, 0, 0, 254, 0, 0, 0, 0, 0, 0, 0, 0};
    check("raw=uyvy:w=2:h=2:partial=1", false, "\x5a\x51\xf0\x51", 4, 2, 2, 3, SAMPLE_U8, half);
    check("raw=i420:w=2:h=2:partial=1", false, "\x51\x51\x51\x51\x5a", 5, 2, 2, 3, SAMPLE_U8,
          (uint8_t[12]){0});
}

/* The integers never differ by more than one from the exact result, over all of Y, Cb, Cr in steps.
 */
static void test_colour_everywhere(void **state)
{
    static uint8_t bytes[4 * 52 * 52], expected[3];
    struct file file = {0};
    struct decode_options options = options_of("raw=yuyv:w=104:h=52");
    struct decoded decoded;
    (void)state;
    for (int y = 0; y < 256; y += 5) {
        for (int cb = 0; cb < 52; cb++) {
            for (int cr = 0; cr < 52; cr++) {
                uint8_t *at = bytes + 4 * (cb * 52 + cr);
                at[0] = at[2] = (uint8_t)y;
                at[1] = (uint8_t)(5 * cb);
                at[3] = (uint8_t)(5 * cr);
            }
        }
        file_put(&file, bytes, sizeof bytes);
        decode_good(&file, &options, 104, 52, 3, SAMPLE_U8, &decoded);
        for (int i = 0; i < 52 * 52; i++) {
            rgb_of(y, 5 * (i / 52), 5 * (i % 52), expected);
            for (int c = 0; c < 3; c++)
                assert_true(abs(decoded.samples[6 * i + c] - expected[c]) <= 1);
        }
        decoded_finish(&decoded);
        file_finish(&file);
    }
}

/* One pair of chroma for two by two pixels; the last column and row share with nobody. */
static void test_nv12_colour(void **state)
{
    static const uint8_t bytes[] = {100, 110, 120, 130, 140, 150, 160, 170, 180,
                                    60,  70,  80,  90,  160, 170, 180, 190};
    static const int pair_of[9] = {0, 0, 1, 0, 0, 1, 2, 2, 3};
    uint8_t expected[27];
    struct file file = {0};
    struct decode_options options = options_of("raw=nv12:w=3:h=3");
    struct decoded decoded;
    (void)state;
    file_put(&file, bytes, sizeof bytes);
    decode_good(&file, &options, 3, 3, 3, SAMPLE_U8, &decoded);
    assert_false(decoded.stored_luma);
    for (int i = 0; i < 9; i++) {
        const uint8_t *pair = bytes + 9 + 2 * pair_of[i];
        rgb_of(bytes[i], pair[0], pair[1], expected + 3 * i);
    }
    for (int i = 0; i < 27; i++)
        assert_true(abs(decoded.samples[i] - expected[i]) <= 1);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void check_size(const char *options_text, size_t least)
{
    struct file file = {0};
    struct decode_options options = options_of(options_text);
    struct decoded decoded;
    struct fault fault;
    file_put_zeros(&file, least);
    assert_int_equal(decode_file(&file, &options, &decoded, &fault), 0);
    decoded_finish(&decoded);
    file.size--;
    decode_bad(&file, &options, FAULT_TRUNCATED, "truncated raw");
    options.partial = true;
    assert_int_equal(decode_file(&file, &options, &decoded, &fault), 0);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_sizes(void **state)
{
    (void)state;
    check_size("raw=gray8:w=5:h=3", 15);
    check_size("raw=gray8:w=5:h=3:stride=8", 21);
    check_size("raw=gray16:w=5:h=3", 30);
    check_size("raw=rgb24:w=5:h=3", 45);
    check_size("raw=rgba32:w=5:h=3", 60);
    check_size("raw=nv12:w=5:h=3", 15 + 12);
    check_size("raw=nv12:w=4:h=4", 24);
    check_size("raw=nv12:w=4:h=4:stride=6", 24 + 6 + 4);
    check_size("raw=yuyv:w=5:h=3", 36);
    check_size("raw=yuyv:w=1:h=1", 4);
}

static void bad(const char *options_text, int code, const char *says)
{
    struct file file = {0};
    struct decode_options options = options_of(options_text);
    file_put_zeros(&file, 100);
    decode_bad(&file, &options, code, says);
    file_finish(&file);
}

static void test_bad(void **state)
{
    (void)state;
    bad("raw=gray16:w=5:h=3:stride=9", FAULT_USAGE, "take 10 bytes");
    bad("raw=nv12:w=5:h=3:stride=5", FAULT_USAGE, "take 6 bytes");
    bad("raw=yuyv:w=5:h=3:stride=10", FAULT_USAGE, "take 12 bytes");
    bad("raw=gray8:w=2147483647:h=2147483647", FAULT_LIMIT, "--max-pixels");
    bad("raw=gray8:w=1:h=1000000:stride=2147483647", FAULT_TRUNCATED, "truncated raw");
}

/* Two frames and more are not read as one; padding behind the last row may be there or not. */
static void test_several_frames(void **state)
{
    (void)state;
    bad("raw=gray8:w=10:h=5", FAULT_DATA, "2 frames of 10×5 gray8");
    bad("raw=gray8:w=10:h=3", FAULT_DATA, "3 frames of 10×3 gray8");
    bad("raw=nv12:w=4:h=4", FAULT_DATA, "4 frames of 4×4 nv12");
    bad("raw=nv12:w=4:h=4", FAULT_DATA, "split -b 24 ");
    bad("raw=gray8:w=17:h=2:stride=20", FAULT_DATA, "2 frames of 17×2 gray8");
    bad("raw=gray8:w=3:h=3:stride=17", FAULT_DATA, "split -b 51 "); /* 2·51 − 14 is less than 100 */
}

static void test_odd(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    struct decode_options options = options_of("raw=gray8:100:100");
    (void)state;
    file_put_zeros(&file, 10000 + 4096);
    decode_good(&file, &options, 100, 100, 1, SAMPLE_U8, &decoded);
    assert_string_equal(decoded.warnings, "raw: 4096 bytes follow the frame\n");
    decoded_finish(&decoded);
    options.strict = true;
    decode_bad(&file, &options, FAULT_DATA, "4096 bytes follow the frame");
    file.size--; /* shared memory comes in pages */
    decode_good(&file, &options, 100, 100, 1, SAMPLE_U8, &decoded);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_written(void **state)
{
    struct picture picture = picture_of(3, 2, 1, SAMPLE_I16);
    static const int16_t rows[] = {1, -2, 0x1234, 4, 5, 6};
    static const uint8_t expected[] = {1, 0, 0xFE, 0xFF, 0x34, 0x12, 4, 0, 5, 0, 6, 0};
    struct file file;
    (void)state;
    memcpy(picture_row(&picture, 0, 0), rows, 6);
    memcpy(picture_row(&picture, 0, 1), rows + 3, 6);
    encode_picture("raw", &picture, &file);
    assert_int_equal(file.size, sizeof expected);
    assert_memory_equal(file.data, expected, sizeof expected);
    file_finish(&file);
    picture_destroy(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_luma),
        cmocka_unit_test(test_colour_corners),
        cmocka_unit_test(test_colour_everywhere),
        cmocka_unit_test(test_nv12_colour),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_several_frames),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
