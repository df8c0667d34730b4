/* flip: small pictures, whose results are read off, and device against reference. */
#include "harness.h"

static void test_lines(void **state)
{
    static const double line[5] = {1, 2, 3, 4, 5}, turned[5] = {5, 4, 3, 2, 1};
    static const double one[1] = {77};
    (void)state;
    harness_vector("flip:x", SAMPLE_U8, 5, 1, 1, line, SAMPLE_U8, 5, 1, 1, turned, 0);
    harness_vector("flip:y", SAMPLE_U8, 5, 1, 1, line, SAMPLE_U8, 5, 1, 1, line, 0);
    harness_vector("flip:axis=y", SAMPLE_U8, 1, 5, 1, line, SAMPLE_U8, 1, 5, 1, turned, 0);
    harness_vector("flip:axis=x", SAMPLE_U8, 1, 5, 1, line, SAMPLE_U8, 1, 5, 1, line, 0);
    harness_vector("flip:x", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 1, 1, 1, one, 0);
    harness_vector("flip:y", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 1, 1, 1, one, 0);
    harness_vector("flip:x,flip:x", SAMPLE_U8, 5, 1, 1, line, SAMPLE_U8, 5, 1, 1, line, 0);
}

/* 3 by 2 pixels of one to four channels in every type. */
static void test_pixels(void **state)
{
    (void)state;
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        enum sample_type type = (enum sample_type)t;
        double offset = sample_is_integer(type) ? sample_min(type) : -20.5;
        for (uint32_t channels = 1; channels <= 4; channels++) {
            double in[24], x[24], y[24];
            for (uint32_t i = 0; i < 6 * channels; i++) {
                uint32_t pixel = i / channels, column = pixel % 3, row = pixel / 3, c = i % channels;
                in[i] = offset + i;
                x[(row * 3 + 2 - column) * channels + c] = in[i];
                y[((1 - row) * 3 + column) * channels + c] = in[i];
            }
            harness_vector("flip:x", type, 3, 2, channels, in, type, 3, 2, channels, x, 0);
            harness_vector("flip:y", type, 3, 2, channels, in, type, 3, 2, channels, y, 0);
        }
    }
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("flip:x", SAMPLE_U8, channels);
        harness_sweep("flip:y", SAMPLE_U8, channels);
        harness_check("flip:x", SAMPLE_U8, 71, 5, channels, HARNESS_RANDOM);
        harness_few("flip:x", SAMPLE_I16, channels);
        harness_few("flip:x", SAMPLE_F32, channels);
        harness_few("flip:x", SAMPLE_F64, channels);
        harness_few("flip:y", SAMPLE_F64, channels);
    }
    harness_few("sobel:both,flip:x", SAMPLE_U8, 1);
    harness_few("invert,flip:y,invert", SAMPLE_U8, 3);
    harness_check("flip:x", SAMPLE_U8, 1000, 3, 1, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("flip", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "axis");
    harness_refuses("flip:z", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "x, y");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
