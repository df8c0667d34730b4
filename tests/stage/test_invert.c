#include "harness.h"

#include "base/fault.h"

static void one(enum sample_type type, double in, double expected)
{
    harness_vector("invert", type, 1, 1, 1, &in, type, 1, 1, 1, &expected, 0);
}

static void test_unsigned(void **state)
{
    (void)state;
    one(SAMPLE_U8, 0, 255);
    one(SAMPLE_U8, 1, 254);
    one(SAMPLE_U8, 100, 155);
    one(SAMPLE_U8, 127, 128);
    one(SAMPLE_U8, 128, 127);
    one(SAMPLE_U8, 255, 0);
    one(SAMPLE_U16, 0, 65535);
    one(SAMPLE_U16, 1000, 64535);
    one(SAMPLE_U16, 32768, 32767);
    one(SAMPLE_U16, 65535, 0);
}

static void test_signed(void **state)
{
    (void)state;
    one(SAMPLE_I8, 0, 127);
    one(SAMPLE_I8, 127, 0);
    one(SAMPLE_I8, 100, 27);
    one(SAMPLE_I8, -1, 127); /* 128 saturates */
    one(SAMPLE_I8, -128, 127);
    one(SAMPLE_I16, 0, 32767);
    one(SAMPLE_I16, 32767, 0);
    one(SAMPLE_I16, 258, 32509);
    one(SAMPLE_I16, -1, 32767);
    one(SAMPLE_I16, -32768, 32767);
    one(SAMPLE_I32, 0, 2147483647);
    one(SAMPLE_I32, 2147483647, 0);
    one(SAMPLE_I32, 16777217, 2130706430);
    one(SAMPLE_I32, -1, 2147483647);
    one(SAMPLE_I32, -2147483648.0, 2147483647);
}

static void test_f32(void **state)
{
    (void)state;
    one(SAMPLE_F32, 0, 255); /* where nothing tells of white */
    one(SAMPLE_F32, 100.5, 154.5);
    one(SAMPLE_F32, 300, -45);
    harness_white(65535);
    one(SAMPLE_F32, 35, 65500);
    harness_white(1);
    one(SAMPLE_F32, 0, 1);
    one(SAMPLE_F32, 1, 0);
    one(SAMPLE_F32, 0.25, 0.75);
    one(SAMPLE_F32, -3, 4);
    one(SAMPLE_F32, 100.5, -99.5);
    harness_white(0);
}

static void test_alpha(void **state)
{
    static const double grey[4] = {10, 20, 30, 40}, grey_out[4] = {245, 20, 225, 40};
    static const double rgba[8] = {0, 1, 2, 3, 252, 253, 254, 255};
    static const double rgba_out[8] = {255, 254, 253, 3, 3, 2, 1, 255};
    static const double rgb[3] = {0, 1, 2}, rgb_out[3] = {255, 254, 253};
    static const double real[2] = {54.5, 0.5}, real_out[2] = {200.5, 0.5};
    (void)state;
    harness_vector("invert", SAMPLE_U8, 2, 1, 2, grey, SAMPLE_U8, 2, 1, 2, grey_out, 0);
    harness_vector("invert", SAMPLE_U8, 1, 2, 4, rgba, SAMPLE_U8, 1, 2, 4, rgba_out, 0);
    harness_vector("invert", SAMPLE_U8, 1, 1, 3, rgb, SAMPLE_U8, 1, 1, 3, rgb_out, 0);
    harness_vector("invert", SAMPLE_F32, 1, 1, 2, real, SAMPLE_F32, 1, 1, 2, real_out, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8,  SAMPLE_I8,  SAMPLE_U16,
                                             SAMPLE_I16, SAMPLE_I32, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_sweep("invert", types[t], channels);
    harness_few("invert,invert", SAMPLE_U8, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("invert", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("invert:1", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "no parameters");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsigned),
        cmocka_unit_test(test_signed),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
