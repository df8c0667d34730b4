/* colour: results computed by hand, halves that f32 would miss, and device against reference. */
#include "harness.h"

#include <stdio.h>

#include "base/fault.h"

static void pixel(const char *arguments, enum sample_type type, double r, double g, double b,
                  double red, double green, double blue)
{
    const double in[3] = {r, g, b}, out[3] = {red, green, blue};
    char chain[200];
    snprintf(chain, sizeof chain, "colour:%s", arguments);
    harness_vector(chain, type, 1, 1, 3, in, type, 1, 1, 3, out, 1e-5);
}

static void test_u8(void **state)
{
    (void)state;
    pixel("1_0_0/0_1_0/0_0_1", SAMPLE_U8, 10, 20, 30, 10, 20, 30);
    pixel("0_0_1/0_1_0/1_0_0", SAMPLE_U8, 10, 20, 30, 30, 20, 10);
    pixel("0_1_0/0_0_1/1_0_0", SAMPLE_U8, 1, 2, 255, 2, 255, 1);
    pixel("1_1_1/-1_0_0/1_-1_0", SAMPLE_U8, 100, 90, 80, 255, 0, 10);      /* 270, -100 */
    pixel("0.5_0_0/0_0.5_0/0_0_0.5", SAMPLE_U8, 1, 3, 5, 0, 2, 2);         /* .5, 1.5, 2.5 */
    pixel("0.1_0_0/0_0.1_0/0_0_0.1", SAMPLE_U8, 5, 15, 25, 0, 2, 2);       /* .5, 1.5, 2.5 */
    pixel("0.1_0.2_0.3/0.3_0.2_0.1/0_0_0", SAMPLE_U8, 5, 10, 20, 8, 6, 0); /* 8.5, 5.5 */
    pixel("0.7_0_0/0_0.7_0/0_0_0.7", SAMPLE_U8, 15, 25, 35, 10, 18, 24);   /* 10.5, 17.5, 24.5 */
    pixel("0.299_0.587_0.114/0.299_0.587_0.114/0.299_0.587_0.114", SAMPLE_U8, 200, 100, 50, 124,
          124, 124); /* 124.2 */
    pixel("0.393_0.769_0.189/0.349_0.686_0.168/0.272_0.534_0.131", SAMPLE_U8, 100, 50, 20, 82, 73,
          57);
    pixel("1_0_0/0_1_0/0_0_1:offset=5", SAMPLE_U8, 10, 253, 30, 15, 255, 35);
    pixel("1_0_0/0_1_0/0_0_1:offset=5_-20_0.5", SAMPLE_U8, 10, 10, 30, 15, 0, 30); /* 30.5 */
    pixel("1_0_0/0_1_0/0_0_1:offset=0.5_0.5_0.500000001", SAMPLE_U8, 10, 11, 10, 10, 12, 11);
    pixel("-1_0_0/0_-1_0/0_0_-1:offset=255", SAMPLE_U8, 10, 0, 255, 245, 255, 0);
    pixel("10000_-10000_0/0_10000_-9999/0_0_1", SAMPLE_U8, 200, 199, 199, 255, 199,
          199); /* 10000 */
    pixel("0_0_0/0_0_0/0_0_0:offset=7", SAMPLE_U8, 1, 2, 3, 7, 7, 7);
}

static void test_u16(void **state)
{
    (void)state;
    pixel("1_0_0/0_1_0/0_0_1", SAMPLE_U16, 65535, 256, 0, 65535, 256, 0);
    pixel("0.1_0.1_0.1/0.7_0_0/0_0_0.3", SAMPLE_U16, 65535, 65535, 65535, 19660, 45874, 19660);
    /* 19660.5, 45874.5, 19660.5 */
    pixel("0.3_0.3_0.3/0_1.1_0/0_0_0.9", SAMPLE_U16, 65535, 65535, 65535, 58982, 65535, 58982);
    /* 58981.5 */
    pixel("1.5_-0.5_0/0_1_0/0_0_1", SAMPLE_U16, 40001, 20000, 3, 50002, 20000, 3); /* 50001.5 */
    pixel("2_-1_0/0_2_-1/-1_0_2", SAMPLE_U16, 50000, 40000, 30000, 60000, 50000, 10000);
    pixel("100_-99_0/0_100_-99/-99_0_100", SAMPLE_U16, 60000, 60001, 59999, 59901, 60199, 59900);
    pixel("99.5_-99_0/0_1_0/0_0_1:offset=-0.5", SAMPLE_U16, 60001, 60000, 1, 30099, 60000, 0);
    /* 30099, 59999.5, .5 */
    pixel("8.1_-7.1_0/0_8.1_-7.1/-7.1_0_8.1", SAMPLE_U16, 50005, 50000, 50000, 50040, 50000, 49964);
    /* 50040.5, 49964.5 */
}

static void test_f32(void **state)
{
    (void)state;
    pixel("1_0_0/0_1_0/0_0_1", SAMPLE_F32, 0.25, -3, 1000, 0.25, -3, 1000);
    pixel("0.5_0.25_0/1_1_1/-1_0_0:offset=1", SAMPLE_F32, 4, 8, -2, 5, 11, -3);
    pixel("2_0_0/0_2_0/0_0_2:offset=0.5_1_2", SAMPLE_F32, 1, 2, 3, 2.5, 5, 8);
}

static void test_alpha(void **state)
{
    static const double in[8] = {10, 20, 30, 40, 1, 2, 3, 255},
                        out[8] = {30, 10, 20, 40, 3, 1, 2, 255};
    (void)state;
    harness_vector("colour:0_0_1/1_0_0/0_1_0", SAMPLE_U8, 2, 1, 4, in, SAMPLE_U8, 2, 1, 4, out, 0);
    harness_vector("colour:0_0_1/1_0_0/0_1_0", SAMPLE_U16, 2, 1, 4, in, SAMPLE_U16, 2, 1, 4, out,
                   0);
    harness_vector("colour:0_0_1/1_0_0/0_1_0", SAMPLE_F32, 2, 1, 4, in, SAMPLE_F32, 2, 1, 4, out,
                   0);
}

/* Rows that are like each other give the same; every half is met. */
static void test_all_values(void **state)
{
    static double in[256 * 3], out[256 * 3];
    (void)state;
    for (int v = 0; v < 256; v++) {
        int half = (5 * v - 300 * 0) / 10, rest = 5 * v % 10; /* 0.5 v */
        for (int c = 0; c < 3; c++) {
            in[3 * v + c] = v;
            out[3 * v + c] = half + (rest == 5 && half % 2 != 0);
        }
    }
    harness_vector("colour:0.2_0.2_0.1/0.3_0.3_-0.1/0.9_-0.7_0.3", SAMPLE_U8, 16, 16, 3, in,
                   SAMPLE_U8, 16, 16, 3, out, 0);
}

static void test_against_reference(void **state)
{
    static const char *const sepia = "colour:0.393_0.769_0.189/0.349_0.686_0.168/0.272_0.534_0.131";
    (void)state;
    for (uint32_t channels = 3; channels <= 4; channels++) {
        harness_sweep(sepia, SAMPLE_U8, channels);
        harness_sweep("colour:1.5_-0.25_-0.25/-0.25_1.5_-0.25/-0.25_-0.25_1.5:offset=-3.5_0_7",
                      SAMPLE_U16, channels);
        harness_few("colour:700.1_-699_0/0_20_-19.3/1_2_3:offset=1_2_3", SAMPLE_U8, channels);
        harness_few("colour:70.1_-69_0/0_20_-19.3/1_2_3", SAMPLE_U16, channels);
        harness_sweep(sepia, SAMPLE_F32, channels);
    }
}

/* In one kernel with others. */
static void test_joined(void **state)
{
    static const char *const chains[] = {
        "colour:0_0_1/0_1_0/1_0_0,invert",
        "gain:1.2,colour:0_0_1/0_1_0/1_0_0,levels:gamma=1.5,convert:f32",
        "colour:0.9_0.1_0/0_0.9_0.1/0.1_0_0.9,luminance,sobel",
        "convert:channels=3,colour:0.9_0.1_0/0_0.9_0.1/0.1_0_0.9,threshold:99",
    };
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        harness_few(chains[i], SAMPLE_U8, 3);
    harness_few(chains[3], SAMPLE_U8, 1);
    harness_few(chains[0], SAMPLE_U8, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("colour", SAMPLE_U8, 3, 3, 3, FAULT_CHAIN, "m is missing");
    harness_refuses("colour:1_0/0_1", SAMPLE_U8, 3, 3, 3, FAULT_CHAIN, "three rows of three");
    harness_refuses("colour:1_0_0/0_1_0/0_0_1:offset=1_2", SAMPLE_U8, 3, 3, 3, FAULT_CHAIN,
                    "2 values");
    harness_refuses("colour:1_0_0/0_1_0/0_0_20000", SAMPLE_U8, 3, 3, 3, FAULT_CHAIN, "10000");
    harness_refuses("colour:1_0_0/0_1_0/0_0_1", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE,
                    "convert:channels=3");
    harness_refuses("colour:1_0_0/0_1_0/0_0_1", SAMPLE_I16, 3, 3, 3, FAULT_SHAPE,
                    "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8),
        cmocka_unit_test(test_u16),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_all_values),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
