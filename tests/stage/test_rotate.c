/* rotate: small pictures, whose results are read off, and device against reference. */
#include "harness.h"

static void test_small(void **state)
{
    static const double in[6] = {1, 2, 3, 4, 5, 6}; /* 3 by 2 */
    static const double right[6] = {4, 1, 5, 2, 6, 3}, left[6] = {3, 6, 2, 5, 1, 4};
    static const double over[6] = {6, 5, 4, 3, 2, 1}, one[1] = {9};
    (void)state;
    harness_vector("rotate:90", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 2, 3, 1, right, 0);
    harness_vector("rotate:180", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, over, 0);
    harness_vector("rotate:angle=270", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 2, 3, 1, left, 0);
    harness_vector("rotate:90", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 1, 6, 1, in, 0);
    harness_vector("rotate:270", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 1, 6, 1, over, 0);
    harness_vector("rotate:90", SAMPLE_U8, 1, 6, 1, in, SAMPLE_U8, 6, 1, 1, over, 0);
    harness_vector("rotate:90", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 1, 1, 1, one, 0);
    harness_vector("rotate:90,rotate:270", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, in, 0);
    harness_vector("rotate:90,rotate:90", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, over, 0);
}

/* 3 by 2 pixels of one to four channels in every type. */
static void test_pixels(void **state)
{
    static const int right[6] = {3, 0, 4, 1, 5, 2}, left[6] = {2, 5, 1, 4, 0, 3};
    (void)state;
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        enum sample_type type = (enum sample_type)t;
        double offset = sample_is_integer(type) ? sample_min(type) : -20.5;
        for (uint32_t channels = 1; channels <= 4; channels++) {
            double in[24], r[24], l[24];
            for (uint32_t i = 0; i < 6 * channels; i++)
                in[i] = offset + i;
            for (uint32_t i = 0; i < 6 * channels; i++) {
                r[i] = in[(uint32_t)right[i / channels] * channels + i % channels];
                l[i] = in[(uint32_t)left[i / channels] * channels + i % channels];
            }
            harness_vector("rotate:90", type, 3, 2, channels, in, type, 2, 3, channels, r, 0);
            harness_vector("rotate:270", type, 3, 2, channels, in, type, 2, 3, channels, l, 0);
        }
    }
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32, SAMPLE_F64};
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("rotate:90", SAMPLE_U8, channels);
        harness_sweep("rotate:270", SAMPLE_U8, channels);
        harness_few("rotate:180", SAMPLE_U8, channels);
        for (int t = 1; t < 4; t++) {
            harness_few("rotate:90", types[t], channels);
            harness_few("rotate:270", types[t], channels);
        }
    }
    for (int t = 0; t < 4; t++) {
        harness_check("rotate:90", types[t], 133, 97, 1, HARNESS_RANDOM);
        harness_check("rotate:270", types[t], 64, 1100, 3, HARNESS_RANDOM);
    }
    harness_few("sobel:both,rotate:90,rotate:90,rotate:180", SAMPLE_U8, 1);
    harness_few("luminance,rotate:270,sobel", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("rotate", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "angle");
    harness_refuses("rotate:45", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "90, 180, 270");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
