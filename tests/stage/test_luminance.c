#include "harness.h"

#include "base/fault.h"

/* One pixel in, one sample out; each expected value computed by hand from the formula. */
static void pixel(const char *chain, enum sample_type type, double r, double g, double b,
                  double expected, double tolerance)
{
    const double in[3] = {r, g, b};
    harness_vector(chain, type, 1, 1, 3, in, type, 1, 1, 1, &expected, tolerance);
}

static void test_bt601(void **state)
{
    (void)state;
    pixel("luminance", SAMPLE_U8, 0, 0, 0, 0, 0);
    pixel("luminance", SAMPLE_U8, 255, 255, 255, 255, 0);
    pixel("luminance", SAMPLE_U8, 255, 0, 0, 76, 0);     /* 76.2446 */
    pixel("luminance", SAMPLE_U8, 0, 255, 0, 150, 0);    /* 149.6877 */
    pixel("luminance", SAMPLE_U8, 0, 0, 255, 29, 0);     /* 29.0696 */
    pixel("luminance", SAMPLE_U8, 10, 20, 30, 18, 0);    /* 18.1500 */
    pixel("luminance", SAMPLE_U8, 200, 100, 50, 124, 0); /* 124.2004 */
    pixel("luminance:bt601", SAMPLE_U8, 1, 2, 3, 2, 0);  /* 1.8150 */
    pixel("luminance:exact=1", SAMPLE_U8, 128, 128, 128, 128, 0);
    pixel("luminance", SAMPLE_U8, 254, 255, 253, 254, 0); /* 254.4730 */
}

static void test_bt709(void **state)
{
    (void)state;
    pixel("luminance:bt709", SAMPLE_U8, 255, 0, 0, 54, 0);  /* 54.2132 */
    pixel("luminance:bt709", SAMPLE_U8, 0, 255, 0, 182, 0); /* 182.3747 */
    pixel("luminance:bt709", SAMPLE_U8, 0, 0, 255, 18, 0);  /* 18.4122 */
    pixel("luminance:weights=bt709", SAMPLE_U8, 77, 77, 77, 77, 0);
    pixel("luminance:bt709", SAMPLE_U8, 10, 20, 30, 19, 0); /* 18.5961 */
}

static void test_bt2020(void **state)
{
    (void)state;
    pixel("luminance:bt2020", SAMPLE_U8, 255, 0, 0, 67, 0);  /* 66.9876 */
    pixel("luminance:bt2020", SAMPLE_U8, 0, 255, 0, 173, 0); /* 172.8913 */
    pixel("luminance:bt2020", SAMPLE_U8, 0, 0, 255, 15, 0);  /* 15.1205 */
    pixel("luminance:bt2020", SAMPLE_U8, 77, 77, 77, 77, 0);
    pixel("luminance:bt2020", SAMPLE_U8, 10, 20, 30, 18, 0); /* 17.9662 */
}

static void test_own_weights(void **state)
{
    (void)state;
    pixel("luminance:1_0_0", SAMPLE_U8, 9, 200, 200, 9, 0);
    pixel("luminance:0_0_1", SAMPLE_U8, 9, 8, 7, 7, 0);
    pixel("luminance:1_1_1", SAMPLE_U8, 30, 60, 90, 60, 0);
    pixel("luminance:1_1_1", SAMPLE_U8, 255, 255, 255, 255, 0);
    pixel("luminance:2_1_1", SAMPLE_U8, 100, 0, 0, 50, 0);
    pixel("luminance:0.5_0.25_0.25", SAMPLE_U8, 0, 100, 0, 25, 0);
    pixel("luminance:1_3_0", SAMPLE_U8, 10, 20, 0, 18, 0); /* 17.5 rounds up */
}

static void test_u16(void **state)
{
    (void)state;
    pixel("luminance", SAMPLE_U16, 65535, 65535, 65535, 65535, 0);
    pixel("luminance", SAMPLE_U16, 65535, 0, 0, 19595, 0);        /* 19594.701 */
    pixel("luminance", SAMPLE_U16, 0, 65535, 0, 38469, 0);        /* 38469.413 */
    pixel("luminance", SAMPLE_U16, 0, 0, 65535, 7471, 0);         /* 7470.886 */
    pixel("luminance", SAMPLE_U16, 1000, 2000, 3000, 1815, 0);    /* 1815.002 */
    pixel("luminance:bt709", SAMPLE_U16, 256, 512, 1024, 495, 0); /* 494.5459 */
}

static void test_f32(void **state)
{
    (void)state;
    pixel("luminance", SAMPLE_F32, 1, 1, 1, 1, 1e-6);
    pixel("luminance", SAMPLE_F32, 1, 0, 0, 0.2989960, 1e-6);
    pixel("luminance", SAMPLE_F32, 0, 1, 0, 0.5870056, 1e-6);
    pixel("luminance", SAMPLE_F32, -2, 0.5, 4, 0.1515045, 1e-6);
    pixel("luminance:bt709", SAMPLE_F32, 0, 0, 1000, 72.20459, 1e-4);
}

static void test_grey_and_alpha(void **state)
{
    static const double grey[4] = {1, 2, 3, 255};
    static const double grey_alpha[4] = {7, 255, 9, 0}, greys[2] = {7, 9};
    static const double rgba[8] = {255, 0, 0, 9, 0, 255, 0, 200}, mixed[2] = {76, 150};
    (void)state;
    harness_vector("luminance", SAMPLE_U8, 4, 1, 1, grey, SAMPLE_U8, 4, 1, 1, grey, 0);
    harness_vector("luminance", SAMPLE_U8, 2, 1, 2, grey_alpha, SAMPLE_U8, 2, 1, 1, greys, 0);
    harness_vector("luminance", SAMPLE_I16, 2, 1, 2, grey_alpha, SAMPLE_I16, 2, 1, 1, greys, 0);
    harness_vector("luminance", SAMPLE_U8, 2, 1, 4, rgba, SAMPLE_U8, 2, 1, 1, mixed, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_sweep("luminance", types[t], channels);
    harness_few("luminance", SAMPLE_F64, 2);
    harness_few("luminance", SAMPLE_I8, 2);
    harness_few("luminance:bt709", SAMPLE_U8, 3);
    harness_few("luminance:3_5_7", SAMPLE_U16, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("luminance:1_2", SAMPLE_U8, 4, 4, 3, FAULT_CHAIN, "three numbers");
    harness_refuses("luminance:0_0_0", SAMPLE_U8, 4, 4, 3, FAULT_CHAIN, "sum to 0");
    harness_refuses("luminance:-1_2_0", SAMPLE_U8, 4, 4, 3, FAULT_CHAIN, "weights");
    harness_refuses("luminance", SAMPLE_I16, 4, 4, 3, FAULT_SHAPE, "i16");
    harness_refuses("luminance:bt60", SAMPLE_U8, 4, 4, 3, FAULT_CHAIN, "did you mean 'bt601'");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bt601),
        cmocka_unit_test(test_bt709),
        cmocka_unit_test(test_bt2020),
        cmocka_unit_test(test_own_weights),
        cmocka_unit_test(test_u16),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_grey_and_alpha),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
