#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "../codec/decode.h"

static void check_near(const struct decoded *decoded, uint32_t channels, int most)
{
    for (uint32_t y = 0; y < 30; y++)
        for (uint32_t x = 0; x < 40; x++)
            for (uint32_t c = 0; c < channels; c++) {
                int is = decoded->samples[(y * 40 + x) * channels + c], was = ramp_sample(x, y, c);
                if (abs(is - was) > most)
                    fail_msg("(%u, %u) %u is %d, not %d", x, y, c, is, was);
            }
}

static void test_kinds(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 4; how++) {
        struct file file = {0};
        struct decoded decoded;
        bool lossless = how % 2, alpha = how / 2;
        make_webp(&file, &(struct webp_kind){40, 30, lossless, alpha});
        decode_good(&file, NULL, 40, 30, alpha ? 4 : 3, SAMPLE_U8, &decoded);
        /* Colours of transparent pixels are not kept by the encoder that makes these files. */
        check_near(&decoded, alpha ? 4 : 3, lossless ? 0 : 48);
        decoded_finish(&decoded);
        file_finish(&file);
    }
}

static void test_orientation(void **state)
{
    (void)state;
    for (unsigned o = 1; o <= 8; o++) {
        struct file file = {0};
        struct decoded decoded;
        uint32_t w = 70, h = 66, x = o == 2 || o == 3 || o == 7 || o == 8 ? w - 1 : 0;
        uint32_t y = o == 3 || o == 4 || o == 6 || o == 7 ? h - 1 : 0;
        make_webp(&file, &(struct webp_kind){w, h, true, .orientation = o});
        decode_good(&file, NULL, o < 5 ? w : h, o < 5 ? h : w, 3, SAMPLE_U8, &decoded);
        for (unsigned c = 0; c < 3; c++)
            assert_int_equal(decoded.samples[c], ramp_sample(x, y, c));
        decoded_finish(&decoded);
        file_finish(&file);
    }
}

/* Without loss every sample comes back, those under transparent alpha, too; grey as three equal
 * colours. */
static void test_lossless(void **state)
{
    static const uint32_t kinds[] = {1, 3, 4}; /* a plan makes four channels of two */
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        uint32_t channels = kinds[k];
        struct picture picture = picture_of(37, 21, channels, SAMPLE_U8);
        struct file file = {0};
        struct decoded decoded;
        uint32_t n = channels, out = channels == 4 ? 4 : 3;
        for (uint32_t y = 0; y < 21; y++)
            for (uint32_t i = 0; i < 37 * n; i++)
                ((uint8_t *)picture_row(&picture, 0, y))[i] = (uint8_t)noise_sample(i, y, 0);
        encode_picture("webp:lossless=1", &picture, &file);
        decode_good(&file, NULL, 37, 21, out, SAMPLE_U8, &decoded);
        for (uint32_t y = 0; y < 21; y++)
            for (uint32_t x = 0; x < 37; x++)
                for (uint32_t c = 0; c < out; c++)
                    assert_int_equal(
                        decoded.samples[(y * 37 + x) * out + c],
                        ((uint8_t *)picture_row(&picture, 0, y))[x * n + (n > 1 ? c : 0)]);
        decoded_finish(&decoded);
        file_finish(&file);
        picture_destroy(&picture);
    }
}

static void test_fit(void **state)
{
    struct plane plane = {.width = 16384, .height = 1, .channels = 3, .type = SAMPLE_U8};
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(fit_plane("webp", &plane, &fault), FAULT_SHAPE);
    fault_clear(&fault);
    plane = (struct plane){.width = 16383, .height = 1, .channels = 2, .type = SAMPLE_U16};
    assert_int_equal(fit_plane("webp", &plane, &fault), 0);
    assert_int_equal(plane.channels, 4);
    assert_int_equal(plane.type, SAMPLE_U8);
}

/* Metadata of one format that have places in the others. */
static void test_metadata(void **state)
{
    struct file file = {0};
    struct decoder decoder;
    struct fault fault = FAULT_INIT;
    struct decode_options options = options_of(NULL);
    const struct codec_limits limits = {1 << 16, 16 << 20};
    (void)state;
    options.meta = METADATA_ALL;
    make_webp(&file, &(struct webp_kind){9, 5, true, .metadata = true, .orientation = 3});
    assert_int_equal(decoder_open(&decoder, file.data, file.size, &options, &limits, &fault), 0);
    assert_int_equal(decoder.metadata.icc.size, PROFILE_SIZE);
    assert_int_equal(decoder.metadata.xmp.size, 6);
    assert_int_equal(exif_orientation(decoder.metadata.exif.data, decoder.metadata.exif.size), 1);
    decoder_close(&decoder);
    file_finish(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_lossless), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
