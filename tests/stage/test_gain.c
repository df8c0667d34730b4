#include "harness.h"

#include <stdio.h>

#include "base/fault.h"

/* The expected values are the decimals' exact results, halves to the even number. */
static void one(const char *args, enum sample_type type, double in, double expected)
{
    char chain[96];
    snprintf(chain, sizeof chain, "gain:%s", args);
    harness_vector(chain, type, 1, 1, 1, &in, type, 1, 1, 1, &expected, 0);
}

static void test_u8(void **state)
{
    (void)state;
    one("2", SAMPLE_U8, 100, 200);
    one("2", SAMPLE_U8, 200, 255);
    one("0.5", SAMPLE_U8, 1, 0);          /* 0.5 */
    one("0.5", SAMPLE_U8, 3, 2);          /* 1.5 */
    one("0.5", SAMPLE_U8, 5, 2);          /* 2.5 */
    one("1.1", SAMPLE_U8, 5, 6);          /* 5.5 */
    one("1.1", SAMPLE_U8, 15, 16);        /* 16.5 */
    one("1.1", SAMPLE_U8, 55, 60);        /* 60.5; as doubles 60.50000000000001 */
    one("-0.5:10.25", SAMPLE_U8, 1, 10);  /* 9.75 */
    one("-0.5:10.25", SAMPLE_U8, 200, 0); /* −89.75 */
    one("0:12.5", SAMPLE_U8, 1, 12);
    one("0:-3", SAMPLE_U8, 200, 0);
    one("0.003921569", SAMPLE_U8, 128, 1);     /* 0.50196… */
    one("0.003921569", SAMPLE_U8, 127, 0);     /* 0.49803… */
    one("1.000000001:0.5", SAMPLE_U8, 50, 51); /* 50.50000005 */
    one("999999999:-999999999", SAMPLE_U8, 1, 0);
    one("999999999:-999999999", SAMPLE_U8, 2, 255);
}

static void test_i8(void **state)
{
    (void)state;
    one("0.5", SAMPLE_I8, -1, 0);  /* −0.5 */
    one("0.5", SAMPLE_I8, -3, -2); /* −1.5 */
    one("0.5", SAMPLE_I8, -5, -2); /* −2.5 */
    one("-1", SAMPLE_I8, -128, 127);
    one("0.3:-0.4", SAMPLE_I8, -7, -2);  /* −2.5 */
    one("0.3:-0.4", SAMPLE_I8, -11, -4); /* −3.7 */
}

static void test_16_bits(void **state)
{
    (void)state;
    one("0.5", SAMPLE_U16, 65535, 32768);            /* 32767.5 */
    one("0.5", SAMPLE_U16, 65533, 32766);            /* 32766.5 */
    one("1.1", SAMPLE_U16, 55555, 61110);            /* 61110.5 */
    one("1.00001", SAMPLE_U16, 50000, 50000);        /* 50000.5 */
    one("1.00001", SAMPLE_U16, 50001, 50002);        /* 50001.50001 */
    one("0.123456789:0.5", SAMPLE_U16, 40000, 4939); /* 4938.77156 */
    one("-0.5:0.5", SAMPLE_I16, 32766, -16382);      /* −16382.5 */
    one("-0.5:0.5", SAMPLE_I16, 32765, -16382);
    one("-0.5:0.5", SAMPLE_I16, 32764, -16382); /* −16381.5 */
}

static void test_i32(void **state)
{
    (void)state;
    one("0.5", SAMPLE_I32, 2147483647, 1073741824); /* 1073741823.5 */
    one("0.5", SAMPLE_I32, -2147483647, -1073741824);
    one("-1", SAMPLE_I32, -2147483648.0, 2147483647);
    one("1.00000001", SAMPLE_I32, 2000000000, 2000000020);
    one("1.000000001:0.5", SAMPLE_I32, 2000000000, 2000000002);          /* 2000000002.5 */
    one("-1.234567891:1000000.25", SAMPLE_I32, 1700000001, -2097765416); /* …415.684568 */
    one("1.999999999:-999999998.999999", SAMPLE_I32, 2147483647, 2147483647);
    one("123456.789:-0.000000001", SAMPLE_I32, 17, 2098765); /* 2098765.412999999 */
    one("123456.789:-0.000000001", SAMPLE_I32, -20000, -2147483648.0);
    one("1:999999999", SAMPLE_I32, 999999999, 1999999998);
}

static void test_f32(void **state)
{
    (void)state;
    one("2:1", SAMPLE_F32, 0.25, 1.5);
    one("0.1", SAMPLE_F32, 3, 0.3f); /* 0.1f·3 is 0.3000000045 */
    one("-1:1", SAMPLE_F32, 0.25, 0.75);
    one("1000:-0.5", SAMPLE_F32, 1000, 999999.5);
}

static void test_alpha(void **state)
{
    static const double in[4] = {10, 20, 30, 40}, grey[4] = {21, 20, 61, 40};
    static const double rgba[4] = {21, 41, 61, 40};
    (void)state;
    harness_vector("gain:2:1", SAMPLE_U8, 2, 1, 2, in, SAMPLE_U8, 2, 1, 2, grey, 0);
    harness_vector("gain:2:1", SAMPLE_U16, 1, 1, 4, in, SAMPLE_U16, 1, 1, 4, rgba, 0);
    harness_vector("gain", SAMPLE_U8, 1, 1, 4, in, SAMPLE_U8, 1, 1, 4, in, 0);
}

/* Each way that planning can choose (src/stage/gain.c). */
static void test_against_reference(void **state)
{
    (void)state;
    harness_sweep("gain:1.1:3", SAMPLE_U8, 1); /* in 16 bits */
    harness_sweep("gain:1.1:3", SAMPLE_U8, 4);
    harness_few("gain:-3.7:99.9", SAMPLE_I8, 2);
    harness_few("gain:1.2345:-7.5", SAMPLE_U8, 3); /* in f32, or in 32 bits */
    harness_few("gain:1.2345:-7.5", SAMPLE_I8, 1);
    harness_few("gain:1.2345:-7.5", SAMPLE_U16, 1);
    harness_few("gain:0.7:0.3", SAMPLE_U16, 2);
    harness_few("gain:0.7:0.3", SAMPLE_I16, 1);
    harness_few("gain:1000000.5:-12345678.9", SAMPLE_U8, 1); /* few samples do not saturate */
    harness_few("gain:-1000000.5:12345678.9", SAMPLE_I16, 1);
    harness_sweep("gain:0.7:0.3", SAMPLE_I32, 4); /* in 64 bits */
    harness_few("gain:-0.123456789:0.987654321", SAMPLE_I32, 3);
    harness_sweep("gain:0.7:0.3", SAMPLE_F32, 2);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("gain:2", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("gain:1e9", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "999999999");
    harness_refuses("gain:2x", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "a number");
    harness_refuses("gain:ofset=2", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "did you mean 'offset'");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8),
        cmocka_unit_test(test_i8),
        cmocka_unit_test(test_16_bits),
        cmocka_unit_test(test_i32),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
