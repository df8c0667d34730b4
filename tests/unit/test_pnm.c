#include "test.h"

#include <stdio.h>
#include <string.h>

#include "../codec/decode.h"

static struct file file_of(const char *text, size_t size)
{
    struct file file = {0};
    file_put(&file, text, size);
    return file;
}

#define FILE_OF(text) file_of(text, sizeof text - 1)

static void check(struct file file, uint32_t width, uint32_t height, uint32_t channels,
                  enum sample_type type, const void *expected)
{
    struct decoded decoded;
    decode_good(&file, NULL, width, height, channels, type, &decoded);
    assert_memory_equal(decoded.samples, expected,
                        (size_t)width * height * channels * sample_size(type));
    decoded_finish(&decoded);
    file_finish(&file);
}

static void bad(struct file file, int code, const char *says)
{
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
}

static void test_bitmaps(void **state)
{
    static const uint8_t five[] = {0, 255, 0, 255, 255, 0}; /* 1 is black */
    static const uint8_t nine[] = {0,   255, 255, 255, 255, 255, 255, 0,   0,
                                   255, 255, 255, 255, 255, 255, 255, 255, 255};
    (void)state;
    check(FILE_OF("P1\n3 2\n1 0 1\n001"), 3, 2, 1, SAMPLE_U8, five);
    check(FILE_OF("P1 # comment\n#another\n3 2 #third\r1\t01001"), 3, 2, 1, SAMPLE_U8, five);
    check(FILE_OF("P4 9 2\n\x81\x80\x00\x7F"), 9, 2, 1, SAMPLE_U8, nine);
}

static void test_grey_and_colour(void **state)
{
    static const uint8_t grey[] = {0, 1, 127, 255};
    static const uint16_t deep[] = {0, 1, 0x1234, 65535};
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    check(FILE_OF("P2\n2 2\n255\n0 1\n127 255\n"), 2, 2, 1, SAMPLE_U8, grey);
    check(FILE_OF("P5\n2 2\n255\n\0\1\x7F\xFF"), 2, 2, 1, SAMPLE_U8, grey);
    check(FILE_OF("P5\n2 2\n65535\n\0\0\0\1\x12\x34\xFF\xFF"), 2, 2, 1, SAMPLE_U16, deep);
    check(FILE_OF("P2\n2 2\n65535\n0 1 4660 65535"), 2, 2, 1, SAMPLE_U16, deep);
    check(FILE_OF("P3\n2 1\n255\n1 2 3 4 5 6"), 2, 1, 3, SAMPLE_U8, rgb);
    check(FILE_OF("P6\n# made by hand\n2 1\n# yes\n255\n\1\2\3\4\5\6"), 2, 1, 3, SAMPLE_U8, rgb);
}

/* rne(v · full / maxval): ties to even. */
static void test_maxval(void **state)
{
    static const uint8_t of_3[] = {0, 85, 170, 255};
    static const uint8_t of_2[] = {0, 128, 255};  /* 127.5 */
    static const uint8_t of_6[] = {42, 128, 212}; /* 42.5, 127.5, 212.5 */
    static const uint16_t of_1000[] = {0, 66, 65535};
    (void)state;
    check(FILE_OF("P5 4 1 3\n\0\1\2\3"), 4, 1, 1, SAMPLE_U8, of_3);
    check(FILE_OF("P2 3 1 2\n0 1 2"), 3, 1, 1, SAMPLE_U8, of_2);
    check(FILE_OF("P6 1 1 6\n\1\3\5"), 1, 1, 3, SAMPLE_U8, of_6);
    check(FILE_OF("P5 3 1 1000\n\0\0\0\1\3\xE8"), 3, 1, 1, SAMPLE_U16, of_1000);
}

static void test_bad(void **state)
{
    (void)state;
    bad(FILE_OF("P5\n"), FAULT_TRUNCATED, "truncated pnm");
    bad(FILE_OF("P5\n2 2\n255\nabc"), FAULT_TRUNCATED, "truncated pnm");
    bad(FILE_OF("P5\n2 2\n255"), FAULT_TRUNCATED, "truncated pnm");
    bad(FILE_OF("P2\n2 2\n255\n1 2 3"), FAULT_TRUNCATED, "truncated pnm");
    bad(FILE_OF("P5\n2 2\n0\nabcd"), FAULT_DATA, "maxval is 0");
    bad(FILE_OF("P5\n2 2\n65536\nabcd"), FAULT_DATA, "above 65535");
    bad(FILE_OF("P5\n-2 2\n255\nabcd"), FAULT_DATA, "number is missing");
    bad(FILE_OF("P5\n2 2\n255xabcd"), FAULT_DATA, "no blank");
    bad(FILE_OF("P1\n2 1\n1 2"), FAULT_DATA, "neither 0 nor 1");
    bad(FILE_OF("P2\n2 1\n255\n1 x"), FAULT_DATA, "number is missing");
    bad(FILE_OF("P5\n0 3\n255\n"), FAULT_DATA, "a picture of");
    bad(FILE_OF("P5\n60000 60000\n255\n"), FAULT_LIMIT, "--max-pixels");
    bad(FILE_OF("P5\n99999999999999999999 1\n255\n"), FAULT_DATA, "above");
    bad(FILE_OF("P7\nWIDTH 1\n"), FAULT_FORMAT, "unknown format");
}

static void odd(struct file file, const char *says, uint8_t first, uint8_t second)
{
    struct decoded decoded;
    decode_odd(&file, 2, 1, 1, SAMPLE_U8, says, &decoded);
    assert_int_equal(decoded.samples[0], first);
    assert_int_equal(decoded.samples[1], second);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_odd(void **state)
{
    (void)state;
    odd(FILE_OF("P2\n2 1\n7\n7 8"), "samples above maxval 7", 255, 255);
    odd(FILE_OF("P5\n2 1\n7\n\0\x8"), "samples above maxval 7", 0, 255);
    odd(FILE_OF("P5\n2 1\n255#last words\n\1\2"), "a comment stands where the header ends", 1, 2);
    bad(FILE_OF("P5\n2 1\n255#last words"), FAULT_TRUNCATED, "truncated pnm");
}

static void test_partial(void **state)
{
    struct file file = FILE_OF("P5\n2 3\n255\nabc");
    struct decoded decoded;
    struct decode_options partial = options_of("partial=1");
    (void)state;
    decode_good(&file, &partial, 2, 3, 1, SAMPLE_U8, &decoded);
    assert_memory_equal(decoded.samples, "ab\0\0\0\0", 6);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void check_written(const char *format, const struct picture *picture, const char *expected,
                          size_t size)
{
    struct file file;
    encode_picture(format, picture, &file);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.data, expected, size);
    file_finish(&file);
}

static void test_written(void **state)
{
    (void)state;
    struct picture picture = picture_of(2, 2, 1, SAMPLE_U8);
    memcpy(picture_row(&picture, 0, 0), "ab", 2);
    memcpy(picture_row(&picture, 0, 1), "cd", 2);
    check_written("pgm", &picture, "P5\n2 2\n255\nabcd", 15);
    check_written("pgm:ascii=1", &picture, "P2\n2 2\n255\n97 98\n99 100\n", 24);
    picture_destroy(&picture);
    picture = picture_of(1, 1, 3, SAMPLE_U16);
    static const uint16_t deep[] = {1, 0x1234, 65535};
    memcpy(picture_row(&picture, 0, 0), deep, sizeof deep);
    check_written("ppm", &picture, "P6\n1 1\n65535\n\0\1\x12\x34\xFF\xFF", 19);
    check_written("pnm:1", &picture, "P3\n1 1\n65535\n1 4660 65535\n", 26);
    picture_destroy(&picture);
}

static void test_lines_are_short(void **state)
{
    struct picture picture = picture_of(100, 1, 1, SAMPLE_U8);
    struct file file;
    struct decoded decoded;
    size_t line = 0;
    (void)state;
    memset(picture_row(&picture, 0, 0), 200, 100);
    encode_picture("pgm:ascii=1", &picture, &file);
    for (size_t i = 0; i < file.size; i++) {
        line = file.data[i] == '\n' ? 0 : line + 1;
        assert_in_range(line, 0, 70);
    }
    decode_good(&file, NULL, 100, 1, 1, SAMPLE_U8, &decoded);
    assert_int_equal(decoded.samples[99], 200);
    decoded_finish(&decoded);
    file_finish(&file);
    picture_destroy(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bitmaps), cmocka_unit_test(test_grey_and_colour),
        cmocka_unit_test(test_maxval),  cmocka_unit_test(test_bad),
        cmocka_unit_test(test_odd),     cmocka_unit_test(test_partial),
        cmocka_unit_test(test_written), cmocka_unit_test(test_lines_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
