#include "harness.h"

#include <math.h>

#include "base/fault.h"

static void one(enum sample_type type, double in, double expected)
{
    harness_vector("abs", type, 1, 1, 1, &in, type, 1, 1, 1, &expected, 0);
}

static void test_i8(void **state)
{
    (void)state;
    one(SAMPLE_I8, -128, 127); /* 128 does not exist */
    one(SAMPLE_I8, -127, 127);
    one(SAMPLE_I8, -126, 126);
    one(SAMPLE_I8, -1, 1);
    one(SAMPLE_I8, 0, 0);
    one(SAMPLE_I8, 1, 1);
    one(SAMPLE_I8, 127, 127);
}

static void test_i16(void **state)
{
    (void)state;
    one(SAMPLE_I16, -32768, 32767);
    one(SAMPLE_I16, -32767, 32767);
    one(SAMPLE_I16, -256, 256);
    one(SAMPLE_I16, -1, 1);
    one(SAMPLE_I16, 0, 0);
    one(SAMPLE_I16, 32767, 32767);
}

static void test_i32(void **state)
{
    (void)state;
    one(SAMPLE_I32, -2147483648.0, 2147483647);
    one(SAMPLE_I32, -2147483647, 2147483647);
    one(SAMPLE_I32, -65536, 65536);
    one(SAMPLE_I32, -16777217, 16777217); /* no f32 in between */
    one(SAMPLE_I32, 5, 5);
    one(SAMPLE_I32, 2147483647, 2147483647);
}

static void test_floats(void **state)
{
    (void)state;
    one(SAMPLE_F32, -1.5, 1.5);
    one(SAMPLE_F32, 0.25, 0.25);
    one(SAMPLE_F32, -0.0, 0);
    one(SAMPLE_F32, -1e30f, 1e30f);
    one(SAMPLE_F32, -INFINITY, INFINITY);
    one(SAMPLE_F64, -1.1, 1.1);
    one(SAMPLE_F64, -1e300, 1e300);
    one(SAMPLE_F64, 3.25, 3.25);
    one(SAMPLE_F64, -INFINITY, INFINITY);
}

static void test_unsigned_and_alpha(void **state)
{
    static const double bytes[3] = {0, 200, 255}, words[3] = {0, 300, 65535};
    static const double grey[4] = {-5, -7, 9, -1}, grey_abs[4] = {5, -7, 9, -1};
    static const double rgba[4] = {-1, -2, -3, -4}, rgba_abs[4] = {1, 2, 3, -4};
    (void)state;
    harness_vector("abs", SAMPLE_U8, 3, 1, 1, bytes, SAMPLE_U8, 3, 1, 1, bytes, 0);
    harness_vector("abs", SAMPLE_U16, 1, 3, 1, words, SAMPLE_U16, 1, 3, 1, words, 0);
    harness_vector("abs", SAMPLE_I8, 2, 1, 2, grey, SAMPLE_I8, 2, 1, 2, grey_abs, 0);
    harness_vector("abs", SAMPLE_F32, 1, 1, 4, rgba, SAMPLE_F32, 1, 1, 4, rgba_abs, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_I8, SAMPLE_I16, SAMPLE_I32, SAMPLE_F32,
                                             SAMPLE_F64};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_sweep("abs", types[t], channels);
    harness_few("abs", SAMPLE_U8, 3);
    harness_few("abs", SAMPLE_U16, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("abs:1", SAMPLE_I8, 4, 4, 1, FAULT_CHAIN, "no parameters");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i8),
        cmocka_unit_test(test_i16),
        cmocka_unit_test(test_i32),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_unsigned_and_alpha),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
