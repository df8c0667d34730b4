#include "test.h"

#include <stdio.h>
#include <string.h>

#include <tiffio.h>

#include "../codec/decode.h"

/* What make_tiff's sample is worth in a plane of the file's kind. */
static double expected(const struct tiff_kind *k, enum sample_type type, uint32_t x, uint32_t y,
                       unsigned c)
{
    uint32_t noise = noise_sample(x, y, c);
    if (k->bits >= 32 || (k->bits == 16 && k->format == SAMPLEFORMAT_INT))
        return k->bits == 16 ? (double)(int16_t)noise : noise;
    uint32_t value = noise >> (16 - k->bits), most = (1U << k->bits) - 1;
    if (k->format == SAMPLEFORMAT_INT)
        return (int8_t)value;
    if (k->photometric == PHOTOMETRIC_MINISWHITE && c == 0)
        value = most - value;
    uint32_t white = type == SAMPLE_U8 ? 255 : 65535;
    return (double)(((uint64_t)value * white + most / 2) / most);
}

static void check(const struct tiff_kind *k, enum sample_type type)
{
    struct file file = {0};
    struct decoded decoded;
    make_tiff(&file, k);
    decode_good(&file, NULL, k->width, k->height, k->samples, type, &decoded);
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = 0; x < k->width; x++)
            for (unsigned c = 0; c < k->samples; c++) {
                size_t at = ((size_t)y * k->width + x) * k->samples + c;
                double got = sample_load(type, decoded.samples + at * sample_size(type));
                if (got != expected(k, type, x, y, c))
                    fail_msg("%u bits, %u samples, compression %u, tiles %u: (%u, %u) %u is %g",
                             k->bits, k->samples, k->compression, k->tile, x, y, c, got);
            }
    decoded_finish(&decoded);
    file_finish(&file);
}

/* Every type in strips and tiles, side by side and apart, either order of bytes, every compression.
 */
static void test_types(void **state)
{
    static const struct {
        unsigned bits, format;
        enum sample_type type;
    } types[] = {
        {1, 1, SAMPLE_U8},   {2, 1, SAMPLE_U8},   {3, 1, SAMPLE_U8},   {4, 1, SAMPLE_U8},
        {8, 1, SAMPLE_U8},   {10, 1, SAMPLE_U16}, {12, 1, SAMPLE_U16}, {16, 1, SAMPLE_U16},
        {8, 2, SAMPLE_I8},   {16, 2, SAMPLE_I16}, {32, 2, SAMPLE_I32}, {32, 3, SAMPLE_F32},
        {64, 3, SAMPLE_F64},
    };
    static const unsigned compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                            COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned how = 0; how < 4 * 2 * 2 * 2 * 4; how++) {
            struct tiff_kind k = {.width = 19,
                                  .height = 18,
                                  .samples = 1 + how % 4,
                                  .bits = types[t].bits,
                                  .format = types[t].format,
                                  .compression = compressions[how / 32],
                                  .tile = how / 4 % 2 ? 16 : 0,
                                  .rows = 5,
                                  .apart = how / 8 % 2,
                                  .big = how / 16 % 2,
                                  .big_endian = how / 8 % 2 != how / 4 % 2};
            k.photometric = k.samples > 2 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
            check(&k, types[t].type);
        }
}

static void test_white_is_zero(void **state)
{
    (void)state;
    check(&(struct tiff_kind){9, 5, 1, 1, .photometric = PHOTOMETRIC_MINISWHITE,
                              .compression = COMPRESSION_CCITTFAX4},
          SAMPLE_U8);
    check(&(struct tiff_kind){9, 5, 2, 8, .photometric = PHOTOMETRIC_MINISWHITE}, SAMPLE_U8);
    check(&(struct tiff_kind){9, 5, 1, 16, .photometric = PHOTOMETRIC_MINISWHITE}, SAMPLE_U16);
}

static void test_palette(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_tiff(&file, &(struct tiff_kind){5, 4, 1, 4, .photometric = PHOTOMETRIC_PALETTE});
    decode_good(&file, NULL, 5, 4, 3, SAMPLE_U8, &decoded);
    for (uint32_t i = 0; i < 20; i++)
        for (unsigned c = 0; c < 3; c++)
            assert_int_equal(decoded.samples[3 * i + c],
                             png_palette_colour(noise_sample(i % 5, i / 5, 0) >> 12, c));
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_inks(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_tiff(&file, &(struct tiff_kind){5, 4, 4, 8, .photometric = PHOTOMETRIC_SEPARATED});
    decode_good(&file, NULL, 5, 4, 3, SAMPLE_U8, &decoded);
    for (uint32_t i = 0; i < 20; i++)
        for (unsigned c = 0; c < 3; c++) {
            unsigned ink = noise_sample(i % 5, i / 5, c) >> 8,
                     black = noise_sample(i % 5, i / 5, 3) >> 8;
            assert_int_equal(decoded.samples[3 * i + c], ((255 - ink) * (255 - black) + 127) / 255);
        }
    decoded_finish(&decoded);
    file_finish(&file);
}

/* As shown: the pixel that Exif's numbers put at the top left. */
static void test_orientation(void **state)
{
    (void)state;
    for (unsigned o = 1; o <= 8; o++)
        for (unsigned tile = 0; tile <= 16; tile += 16) {
            struct file file = {0};
            struct decoded decoded;
            uint32_t w = 70, h = 66, x = o == 2 || o == 3 || o == 7 || o == 8 ? w - 1 : 0;
            uint32_t y = o == 3 || o == 4 || o == 6 || o == 7 ? h - 1 : 0;
            make_tiff(&file, &(struct tiff_kind){w, h, 3, 8, .photometric = PHOTOMETRIC_RGB,
                                                 .tile = tile, .orientation = o});
            decode_good(&file, NULL, o < 5 ? w : h, o < 5 ? h : w, 3, SAMPLE_U8, &decoded);
            assert_int_equal(decoded.samples[0], noise_sample(x, y, 0) >> 8);
            assert_int_equal(decoded.samples[2], noise_sample(x, y, 2) >> 8);
            decoded_finish(&decoded);
            file_finish(&file);
        }
}

static void test_pages(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    struct decode_options second = options_of("page=2"), all = options_of("pages=1"),
                          third = options_of("page=3");
    struct fault fault = FAULT_INIT;
    (void)state;
    make_tiff(&file,
              &(struct tiff_kind){3, 2, 1, 16, .photometric = PHOTOMETRIC_MINISBLACK, .pages = 2});
    decode_odd(&file, 3, 2, 1, SAMPLE_U16, "the first of several pages", &decoded);
    decoded_finish(&decoded);
    decode_good(&file, &second, 3, 2, 1, SAMPLE_U16, &decoded);
    assert_int_equal(((uint16_t *)(void *)decoded.samples)[0], noise_sample(0, 0, 1));
    decoded_finish(&decoded);
    decode_bad(&file, &third, FAULT_SHAPE, "has 2 pages");
    assert_int_equal(decode_file(&file, &all, &decoded, &fault), 0);
    assert_int_equal(decoded.picture.frame.n_planes, 2);
    assert_string_equal(decoded.picture.frame.planes[0].name, "first");
    assert_string_equal(decoded.picture.frame.planes[1].name, "page2"); /* "../x" is no name */
    assert_int_equal(*(uint16_t *)picture_row(&decoded.picture, 1, 0), noise_sample(0, 0, 1));
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_refused(void **state)
{
    static const struct {
        struct tiff_kind kind;
        const char *says;
    } kinds[] = {
        {{3, 2, 5, 8, .photometric = 2}, "5 samples a pixel"},
        {{3, 2, 1, 32, .format = 1, .photometric = 1}, "samples of 32 bits, unsigned"},
        {{3, 2, 1, 24, .format = 3, .photometric = 1}, "samples of 24 bits, floats"},
        {{3, 2, 4, 4, .photometric = 5}, "inks other than"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct file file = {0};
        make_tiff(&file, &kinds[i].kind);
        decode_bad(&file, NULL, FAULT_FORMAT, kinds[i].says);
        file_finish(&file);
    }
}

/* What is written is read again, every type with every number of channels. */
static void test_written(void **state)
{
    static const char *const formats[] = {"tiff", "tiff:compression=none", "tiff:compression=lzw",
                                          "tiff:compression=packbits", "tiff:level=9"};
    (void)state;
    for (int type = 0; type < SAMPLE_TYPES; type++)
        for (unsigned how = 0; how < 4 * 5; how++) {
            struct picture picture = picture_of(37, 21, 1 + how % 4, (enum sample_type)type);
            size_t row = 37 * (1 + how % 4) * sample_size((enum sample_type)type);
            struct file file = {0};
            struct decoded decoded;
            enum sample_type back = type == SAMPLE_F16 ? SAMPLE_F32 : (enum sample_type)type;
            for (uint32_t y = 0; y < 21; y++)
                for (size_t i = 0; i < row / sample_size((enum sample_type)type); i++)
                    sample_store((enum sample_type)type,
                                 (uint8_t *)picture_row(&picture, 0, y) +
                                     i * sample_size((enum sample_type)type),
                                 noise_sample((uint32_t)i, y, 0) % 120);
            picture.frame.planes[0].white = sample_is_integer((enum sample_type)type) ? 0 : 1000;
            encode_picture(formats[how / 4], &picture, &file);
            decode_good(&file, NULL, 37, 21, 1 + how % 4, back, &decoded);
            for (size_t i = 0; back != (enum sample_type)type && i < 37 * 21 * (1 + how % 4); i++)
                assert_true(
                    sample_load(back, decoded.samples + 4 * i) ==
                    sample_load(type, (uint8_t *)picture_row(&picture, 0, (uint32_t)(i * 2 / row)) +
                                          i * 2 % row));
            for (uint32_t y = 0; y < 21 && back == (enum sample_type)type; y++)
                assert_memory_equal(decoded.samples + y * row, picture_row(&picture, 0, y), row);
            if (!sample_is_integer((enum sample_type)type))
                assert_true(decoded.plane.white == 1000);
            decoded_finish(&decoded);
            file_finish(&file);
            picture_destroy(&picture);
        }
}

static void test_bitmap(void **state)
{
    struct picture picture = picture_of(19, 3, 1, SAMPLE_U8);
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    for (uint32_t i = 0; i < 19; i++)
        ((uint8_t *)picture_row(&picture, 0, 1))[i] = i % 3 ? 255 : 0;
    encode_picture("tiff:bits=1", &picture, &file);
    decode_good(&file, NULL, 19, 3, 1, SAMPLE_U8, &decoded);
    for (uint32_t y = 0; y < 3; y++)
        assert_memory_equal(decoded.samples + 19 * y, picture_row(&picture, 0, y), 19);
    decoded_finish(&decoded);
    file_finish(&file);
    picture_destroy(&picture);
}

/* A float of 16 bits, by hand: 1, -2, the largest, the least of all, infinity. */
static void test_float16(void **state)
{
    static const uint16_t halves[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x8400};
    static const float floats[] = {1, -2, 65504, 0x1p-24F, __builtin_inff(), -0x1p-14F};
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_tiff(&file, &(struct tiff_kind){6, 1, 1, 16, .format = SAMPLEFORMAT_IEEEFP,
                                         .photometric = PHOTOMETRIC_MINISBLACK});
    memcpy(file.data + 8, halves, sizeof halves); /* the only strip is behind the header */
    decode_good(&file, NULL, 6, 1, 1, SAMPLE_F32, &decoded);
    assert_memory_equal(decoded.samples, floats, sizeof floats);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_metadata(void **state)
{
    struct file file = {0};
    struct decoder decoder;
    struct fault fault = FAULT_INIT;
    struct decode_options options = options_of(NULL);
    const struct codec_limits limits = {1 << 16, 16 << 20};
    char text[32];
    (void)state;
    options.meta = METADATA_ALL;
    make_tiff(&file, &(struct tiff_kind){3, 4, 3, 8, .photometric = 2, .metadata = true,
                                         .orientation = 8});
    assert_int_equal(decoder_open(&decoder, file.data, file.size, &options, &limits, &fault), 0);
    const struct metadata *m = &decoder.metadata;
    assert_int_equal(m->icc.size, PROFILE_SIZE);
    assert_int_equal(m->xmp.size, 6);
    assert_int_equal(m->density_x, 300);
    assert_int_equal(m->density_y, 200);
    assert_int_equal(m->density_unit, DENSITY_INCH);
    assert_true(exif_text(m->exif.data, m->exif.size, TIFFTAG_MAKE, text, sizeof text));
    assert_string_equal(text, "a maker");
    assert_int_equal(exif_orientation(m->exif.data, m->exif.size), 1); /* applied */
    decoder_close(&decoder);
    file_finish(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_white_is_zero),
        cmocka_unit_test(test_palette),     cmocka_unit_test(test_inks),
        cmocka_unit_test(test_orientation), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_written),
        cmocka_unit_test(test_bitmap),      cmocka_unit_test(test_float16),
        cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
