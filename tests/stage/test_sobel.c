#include "harness.h"

#include <stdio.h>

#include "base/fault.h"

/* The one position of a 3×3 picture whose window lies inside; expected values by hand from
 * dX = ne − nw + 2(e − w) + se − sw and dY = nw + 2n + ne − sw − 2s − se. */
static void window(const char *args, enum sample_type type, const double in[9],
                   enum sample_type out_type, double expected)
{
    char chain[128];
    snprintf(chain, sizeof chain, "sobel:border=crop%s%s", args[0] ? ":" : "", args);
    harness_vector(chain, type, 3, 3, 1, in, out_type, 1, 1, 1, &expected,
                   out_type == SAMPLE_F32 ? 1e-4 : 0);
}

static const double right8[9] = {0, 0, 8, 0, 0, 8, 0, 0, 8};         /* dX 32, dY 0 */
static const double bottom10[9] = {0, 0, 0, 0, 0, 0, 10, 10, 10};    /* dX 0, dY −40 */
static const double corner100[9] = {0, 0, 0, 0, 0, 0, 0, 0, 100};    /* dX 100, dY −100 */
static const double right255[9] = {0, 0, 255, 0, 0, 255, 0, 0, 255}; /* dX 1020 */
static const double left255[9] = {255, 0, 0, 255, 0, 0, 255, 0, 0};  /* dX −1020 */
static const double nw255[9] = {255, 0, 0, 0, 0, 0, 0, 0, 0};        /* dX −255, dY 255 */
static const double six_eight[9] = {0, 4, 0, 0, 0, 3, 0, 0, 0};      /* dX 6, dY 8: length 10 */
static const double east2[9] = {0, 0, 0, 0, 0, 2, 0, 0, 0};          /* dX 4 */
static const double east1[9] = {0, 0, 0, 0, 0, 1, 0, 0, 0};          /* dX 2 */

static void test_magnitude(void **state)
{
    (void)state;
    window("", SAMPLE_U8, right8, SAMPLE_U8, 4);
    window("", SAMPLE_U8, bottom10, SAMPLE_U8, 5);
    window("", SAMPLE_U8, corner100, SAMPLE_U8, 18); /* 17.678 + 0.5 */
    window("", SAMPLE_U8, right255, SAMPLE_U8, 128); /* 127.5 + 0.5 */
    window("", SAMPLE_U8, nw255, SAMPLE_U8, 45);     /* 45.078 + 0.5 */
    window("", SAMPLE_U8, east2, SAMPLE_U8, 1);      /* (8·1 − 4)² = 16 = dX² */
    window("", SAMPLE_U8, east1, SAMPLE_U8, 0);
    window("", SAMPLE_I8, right8, SAMPLE_I8, 4);
}

static void test_scale_is_the_decimal_written(void **state)
{
    (void)state; /* the length is 10, so scale s gives floor(10·s + 1/2) */
    window("scale=0.05", SAMPLE_U8, six_eight, SAMPLE_U8, 1);
    window("scale=0.15", SAMPLE_U8, six_eight, SAMPLE_U8, 2);
    window("scale=0.35", SAMPLE_U8, six_eight, SAMPLE_U8, 4);
    window("scale=0.95", SAMPLE_U8, six_eight, SAMPLE_U8, 10);
    window("scale=0.9499999", SAMPLE_U8, six_eight, SAMPLE_U8, 9);
    window("scale=1", SAMPLE_U8, right255, SAMPLE_U8, 255);
    window("scale=1000", SAMPLE_U8, right255, SAMPLE_U8, 255);
    window("l1:scale=0.25", SAMPLE_U8, six_eight, SAMPLE_U8, 4); /* 14·0.25 = 3.5 */
}

static void test_l1(void **state)
{
    (void)state;
    window("l1", SAMPLE_U8, right8, SAMPLE_U8, 4);
    window("l1", SAMPLE_U8, corner100, SAMPLE_U8, 25); /* 25.5 */
    window("l1", SAMPLE_U8, nw255, SAMPLE_U8, 64);     /* 64.25 */
    window("out=l1:scale=1", SAMPLE_U8, nw255, SAMPLE_U8, 255);
}

static void test_parts(void **state)
{
    (void)state;
    window("dx", SAMPLE_U8, right8, SAMPLE_I8, 4);
    window("dx", SAMPLE_U8, right255, SAMPLE_I8, 127);
    window("dx", SAMPLE_U8, left255, SAMPLE_I8, -128); /* −127.5, downwards */
    window("dy", SAMPLE_U8, corner100, SAMPLE_I8, -13);
    window("dy", SAMPLE_U8, bottom10, SAMPLE_I8, -5);
    window("both", SAMPLE_U8, corner100, SAMPLE_I8, 12);
}

static void test_sample(void **state)
{
    (void)state;
    window("sample", SAMPLE_U8, corner100, SAMPLE_U8, 17); /* sqrt(12² + 13²) = 17.69 */
    window("sample", SAMPLE_U8, nw255, SAMPLE_U8, 44);     /* sqrt(32² + 31²) = 44.55 */
    window("sample", SAMPLE_U8, right255, SAMPLE_U8, 127);
    window("sample", SAMPLE_U8, left255, SAMPLE_U8, 128);
}

static void test_u16(void **state)
{
    static const double right[9] = {0, 0, 65535, 0, 0, 65535, 0, 0, 65535}; /* dX 262140 */
    static const double left[9] = {65535, 0, 0, 65535, 0, 0, 65535, 0, 0};
    static const double corner[9] = {0, 0, 0, 0, 0, 0, 0, 0, 65535};
    (void)state;
    window("", SAMPLE_U16, right, SAMPLE_U16, 32768);  /* 32767.5 + 0.5 */
    window("", SAMPLE_U16, corner, SAMPLE_U16, 11585); /* 11585.06 + 0.5 */
    window("scale=1", SAMPLE_U16, right, SAMPLE_U16, 65535);
    window("dx", SAMPLE_U16, right, SAMPLE_I16, 32767);
    window("dx", SAMPLE_U16, left, SAMPLE_I16, -32768);
    window("sample", SAMPLE_U16, left, SAMPLE_U16, 32768);
}

static void test_f32(void **state)
{
    static const double in[9] = {0, 0, 0, 0, 0, 0.5, 0, 0, 0}; /* dX 1 */
    (void)state;
    window("", SAMPLE_F32, in, SAMPLE_F32, 0.125);
    window("dx", SAMPLE_F32, in, SAMPLE_F32, 1);
    window("dy", SAMPLE_F32, corner100, SAMPLE_F32, -100);
    window("l1:scale=2", SAMPLE_F32, corner100, SAMPLE_F32, 400);
}

static void test_borders(void **state)
{
    static const double in[2] = {0, 8};
    static const double edge[2] = {4, 4}, none[2] = {0, 0}, zero[2] = {2, 0};
    static const double rgba[4] = {9, 10, 11, 77}, only_alpha[4] = {0, 0, 0, 77};
    (void)state;
    harness_vector("sobel", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, edge, 0);
    harness_vector("sobel:border=symmetric", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, edge, 0);
    harness_vector("sobel:border=reflect", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, none, 0);
    harness_vector("sobel:border=wrap", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, none, 0);
    harness_vector("sobel:border=zero", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, zero, 0);
    harness_vector("sobel", SAMPLE_U8, 1, 1, 4, rgba, SAMPLE_U8, 1, 1, 4, only_alpha, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_sweep("sobel", types[t], channels);
    harness_sweep("sobel", SAMPLE_I8, 1);
    harness_sweep("sobel", SAMPLE_I16, 3);
}

static void test_outputs_against_reference(void **state)
{
    static const char *const chains[] = {"sobel:l1",     "sobel:both",      "sobel:dy",
                                         "sobel:sample", "sobel:scale=0.7", "sobel:l1:scale=3.3"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_few(chains[i], SAMPLE_U8, 1);
        harness_few(chains[i], SAMPLE_U16, 4);
    }
    harness_few("sobel:both", SAMPLE_F32, 2);
    harness_few("sobel:l1", SAMPLE_F32, 3);
}

static void test_borders_against_reference(void **state)
{
    static const char *const chains[] = {"sobel:border=reflect", "sobel:border=symmetric",
                                         "sobel:border=wrap", "sobel:border=zero",
                                         "sobel:border=crop"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_sweep(chains[i], SAMPLE_U8, 1);
        harness_few(chains[i], SAMPLE_U8, 3);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    harness_sweep("sobel:kernel=vector", SAMPLE_U8, 1);
    harness_sweep("sobel:kernel=scalar", SAMPLE_U8, 1);
    harness_few("sobel:kernel=vector:border=zero", SAMPLE_U8, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("sobel:border=crop", SAMPLE_U8, 2, 9, 1, FAULT_SHAPE, "leaves nothing");
    harness_refuses("sobel", SAMPLE_I32, 9, 9, 1, FAULT_SHAPE, "convert");
    harness_refuses("sobel:sample", SAMPLE_F32, 9, 9, 1, FAULT_SHAPE, "f32");
    harness_refuses("sobel:scale=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "0.001");
    harness_refuses("sobel:border=mirorr", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "mirror");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_magnitude),
        cmocka_unit_test(test_scale_is_the_decimal_written),
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_u16),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_outputs_against_reference),
        cmocka_unit_test(test_borders_against_reference),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
