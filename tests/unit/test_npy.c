#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/decode.h"
#include "codec/byte_order.h"

/* Element i of an array in C order, small enough for every type. */
static double value_of(size_t i)
{
    return (double)(i * 7 % 120);
}

/* Its bytes in a type given as numpy does. */
static void put_value(struct file *file, const char *descr, double value)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        int32_t i32;
        float f32;
        double f64;
        uint8_t bytes[8];
    } v = {0};
    size_t size = (size_t)(descr[2] - '0');
    switch (descr[1] << 4 | (int)size) {
    case 'u' << 4 | 1:
        v.u8 = (uint8_t)value;
        break;
    case 'i' << 4 | 1:
        v.i8 = (int8_t)value;
        break;
    case 'u' << 4 | 2:
        v.u16 = (uint16_t)value;
        break;
    case 'i' << 4 | 2:
        v.i16 = (int16_t)value;
        break;
    case 'i' << 4 | 4:
        v.i32 = (int32_t)value;
        break;
    case 'f' << 4 | 2:
        sample_store(SAMPLE_F16, &v.u16, value);
        break;
    case 'f' << 4 | 4:
        v.f32 = (float)value;
        break;
    default:
        v.f64 = value;
    }
    bool turn = (descr[0] == '>') != HOST_IS_BIG_ENDIAN;
    for (size_t i = 0; i < size; i++)
        file_put_u8(file, v.bytes[turn ? size - 1 - i : i]);
}

static double round_to_f16(double v)
{
    uint16_t bits;
    sample_store(SAMPLE_F16, &bits, v);
    return sample_load(SAMPLE_F16, &bits);
}

static void check(const char *descr, enum sample_type type, unsigned rank, const uint32_t shape[3],
                  bool fortran)
{
    struct file data = {0}, file = {0};
    struct decoded decoded;
    char dictionary[128], tuple[64];
    uint32_t h = rank == 1 ? 1 : shape[0], w = rank == 1 ? shape[0] : shape[1];
    uint32_t c = rank == 3 ? shape[2] : 1;
    snprintf(tuple, sizeof tuple,
             rank == 1   ? "(%u,)"
             : rank == 2 ? "(%u, %u)"
                         : "(%u, %u, %u)",
             shape[0], shape[1], shape[2]);
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
             descr, fortran ? "True" : "False", tuple);
    if (fortran) { /* the first index runs fastest */
        for (uint32_t k = 0; k < c; k++)
            for (uint32_t x = 0; x < w; x++)
                for (uint32_t y = 0; y < h; y++)
                    put_value(&data, descr, value_of(((size_t)y * w + x) * c + k));
    } else {
        for (size_t i = 0; i < (size_t)h * w * c; i++)
            put_value(&data, descr, value_of(i));
    }
    make_npy(&file, 1, dictionary, data.data, data.size);
    decode_good(&file, NULL, w, h, c, type, &decoded);
    for (size_t i = 0; i < (size_t)h * w * c; i++)
        assert_true(sample_load(type, decoded.samples + i * sample_size(type)) ==
                    (type == SAMPLE_F16 ? round_to_f16(value_of(i)) : value_of(i)));
    decoded_finish(&decoded);
    file_finish(&file);
    file_finish(&data);
}

static void test_types_orders_shapes(void **state)
{
    static const struct {
        const char *descr;
        enum sample_type type;
    } types[] = {
        {"|u1", SAMPLE_U8},  {"<u1", SAMPLE_U8},  {"|i1", SAMPLE_I8},  {"<u2", SAMPLE_U16},
        {">u2", SAMPLE_U16}, {"<i2", SAMPLE_I16}, {">i2", SAMPLE_I16}, {"<i4", SAMPLE_I32},
        {">i4", SAMPLE_I32}, {"<f4", SAMPLE_F32}, {">f4", SAMPLE_F32}, {"<f8", SAMPLE_F64},
        {">f8", SAMPLE_F64}, {"<f2", SAMPLE_F16}, {">f2", SAMPLE_F16},
    };
    static const struct {
        unsigned rank;
        uint32_t shape[3];
    } shapes[] = {{1, {7}},       {1, {1}},       {2, {1, 1}},     {2, {3, 5}},
                  {2, {130, 2}},  {3, {4, 3, 1}}, {3, {4, 3, 2}},  {3, {65, 3, 3}},
                  {3, {2, 2, 4}}, {2, {64, 64}},  {3, {1, 200, 3}}};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int fortran = 0; fortran < 2; fortran++)
                check(types[t].descr, types[t].type, shapes[s].rank, shapes[s].shape, fortran);
}

/* Headers that numpy accepts: any order of keys, either quote, no last comma, any blanks. */
static void test_headers(void **state)
{
    static const char *const good[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}",
        "{\"descr\": \"<u1\", \"fortran_order\": True, \"shape\": (2,3)}",
        "  {'descr':'=u1','fortran_order':False,'shape':( 2 , 3 , )}     ",
        "{'descr': '>u1',\n 'fortran_order': False,\n 'shape': (2, 3),\n}   \n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        for (unsigned major = 1; major <= 3; major++) {
            struct file file = {0};
            struct decoded decoded;
            make_npy(&file, major, good[i], "abcdef", 6);
            decode_good(&file, NULL, 3, 2, 1, SAMPLE_U8, &decoded);
            decoded_finish(&decoded);
            file_finish(&file);
        }
    }
}

static void check_header(const char *dictionary, int code, const char *says)
{
    struct file file = {0};
    make_npy(&file, 1, dictionary, "abcdefghijkl", 12);
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
}

#define REST ", 'fortran_order': False, 'shape': (2, 3)}"
#define TYPE "{'descr': '|u1', 'fortran_order': False, 'shape': "

static void test_bad_headers(void **state)
{
    (void)state;
    check_header("", FAULT_DATA, "no dictionary");
    check_header("[]", FAULT_DATA, "no dictionary");
    check_header("{", FAULT_DATA, "no key");
    check_header("{}", FAULT_DATA, "a key is missing");
    check_header("{'descr': '|u1', 'shape': (2, 3)}", FAULT_DATA, "a key is missing");
    check_header("{'descr': '|u1', 'descr': '|u1'" REST, FAULT_DATA, "second time");
    check_header("{'descr': '|u1', 'more': 1" REST, FAULT_DATA, "an unknown key");
    check_header("{'descr' '|u1'" REST, FAULT_DATA, "no key");
    check_header("{'descr: |u1" REST, FAULT_DATA, "no key");
    check_header("{'descr': |u1" REST, FAULT_DATA, "no type");
    check_header("{'descr': 'u1" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': '|\\x751'" REST, FAULT_DATA, "no type");
    check_header("{'descr': '|u1' 'fortran_order': False, 'shape': (2, 3)}", FAULT_DATA,
                 "no comma");
    check_header("{'descr': '|u1', 'fortran_order': false, 'shape': (2, 3)}", FAULT_DATA,
                 "neither True nor False");
    check_header("{'descr': '|u1'" REST " x", FAULT_DATA, "more than a dictionary");
    check_header(TYPE "2}", FAULT_DATA, "no shape");
    check_header(TYPE "(2)}", FAULT_DATA, "no comma");
    check_header(TYPE "(2 3)}", FAULT_DATA, "no comma");
    check_header(TYPE "(2,, 3)}", FAULT_DATA, "no number");
    check_header(TYPE "(-2, 3)}", FAULT_DATA, "no number");
    check_header(TYPE "(2, 3", FAULT_DATA, "no comma");
    check_header(TYPE "(2, 3.0)}", FAULT_DATA, "no comma");
    check_header(TYPE "(2, 99999999999999999999)}", FAULT_DATA, "no comma");
}

static void test_unsupported(void **state)
{
    (void)state;
    check_header("{'descr': '<u4'" REST, FAULT_FORMAT, "'<u4'; readable are u1");
    check_header("{'descr': '<i8'" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': '<c8'" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': '|b1'" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': '|O'" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': '<U10'" REST, FAULT_FORMAT, "unsupported npy");
    check_header("{'descr': [('x', '<f4')]" REST, FAULT_FORMAT, "records");
    check_header(TYPE "()}", FAULT_FORMAT, "a single number");
    check_header(TYPE "(1, 1, 1, 1)}", FAULT_FORMAT, "3 dimensions");
    check_header(TYPE "(1, 1, 5)}", FAULT_FORMAT, "5 channels");
    check_header(TYPE "(1, 1, 0)}", FAULT_FORMAT, "0 channels");
}

static void test_odd(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_npy(&file, 1, "{'descr': '|u2'" REST, "\1\2cdefghijkl", 12);
    decode_odd(&file, 3, 2, 1, SAMPLE_U16, "byte order", &decoded);
    assert_int_equal(((uint16_t *)decoded.samples)[0], 0x0201);
    decoded_finish(&decoded);
    file_finish(&file);
    make_npy(&file, 1, TYPE "(2L, 6L)}", "abcdefghijkl", 12);
    decode_odd(&file, 6, 2, 1, SAMPLE_U8, "Python 2", &decoded);
    assert_memory_equal(decoded.samples, "abcdefghijkl", 12);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_limits(void **state)
{
    struct file file = {0};
    (void)state;
    check_header(TYPE "(0, 3)}", FAULT_DATA, "a picture of");
    check_header(TYPE "(60000, 60000)}", FAULT_LIMIT, "--max-pixels");
    check_header(TYPE "(2147483648, 1)}", FAULT_LIMIT, "--max-pixels");
    check_header(TYPE "(1, 2147483647)}", FAULT_LIMIT, "--max-pixels");
    check_header(TYPE "(3, 5)}", FAULT_TRUNCATED, "truncated npy");
    make_npy(&file, 2, TYPE "(3, 4)}", "abcdefghijkl", 12);
    file.data[10] = 1; /* a header of 65 kB and more */
    decode_bad(&file, NULL, FAULT_DATA, "a header of");
    file.data[10] = 0;
    file.data[9] = 0xF0;
    decode_bad(&file, NULL, FAULT_TRUNCATED, "truncated npy");
    file.data[6] = 4;
    decode_bad(&file, NULL, FAULT_FORMAT, "version 4.0");
    file_finish(&file);
}

static void test_partial(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    struct decode_options partial = options_of("partial=1");
    (void)state;
    make_npy(&file, 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3)}",
             "\0\1\0\2\0\3\0\4\0", 9);
    decode_good(&file, &partial, 3, 2, 1, SAMPLE_U16, &decoded);
    static const uint16_t expected[] = {1, 2, 3, 4, 0, 0};
    assert_memory_equal(decoded.samples, expected, sizeof expected);
    decoded_finish(&decoded);
    file_finish(&file);
    make_npy(&file, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "abc", 3);
    decode_good(&file, &partial, 3, 2, 1, SAMPLE_U8, &decoded);
    assert_memory_equal(decoded.samples, "ac\0b\0\0", 6);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void check_written(enum sample_type type, uint32_t channels, const char *dictionary)
{
    struct picture picture = picture_of(3, 2, channels, type);
    size_t size = sample_size(type), row = 3 * channels;
    struct file file;
    for (uint32_t y = 0; y < 2; y++)
        for (size_t i = 0; i < row; i++)
            sample_store(type, (uint8_t *)picture_row(&picture, 0, y) + i * size,
                         value_of(y * row + i));
    encode_picture("npy", &picture, &file);
    size_t header = load_le16(file.data + 8);
    assert_memory_equal(file.data, "\x93NUMPY\1\0", 8);
    assert_int_equal((10 + header) % 64, 0);
    assert_memory_equal(file.data + 10, dictionary, strlen(dictionary));
    for (size_t i = 10 + strlen(dictionary); i < 10 + header - 1; i++)
        assert_int_equal(file.data[i], ' ');
    assert_int_equal(file.data[10 + header - 1], '\n');
    assert_int_equal(file.size, 10 + header + 2 * row * size);
    struct file expected = {0};
    char descr[4] = {'<', dictionary[12], dictionary[13], '\0'};
    for (size_t i = 0; i < 2 * row; i++)
        put_value(&expected, descr, value_of(i));
    assert_memory_equal(file.data + 10 + header, expected.data, expected.size);
    file_finish(&expected);
    file_finish(&file);
    picture_destroy(&picture);
}

static void test_written(void **state)
{
    (void)state;
    check_written(SAMPLE_U8, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }");
    check_written(SAMPLE_I8, 2, "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3, 2), }");
    check_written(SAMPLE_U16, 3, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3, 3), }");
    check_written(SAMPLE_I16, 4, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3, 4), }");
    check_written(SAMPLE_I32, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }");
    check_written(SAMPLE_F32, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    check_written(SAMPLE_F64, 3, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 3), }");
    check_written(SAMPLE_F16, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_orders_shapes),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
