/* normalize: black and white found by hand in small pictures, then device against reference. */
#include "harness.h"

#include <math.h>
#include <stdio.h>

/* One row, or `channels` to a pixel. */
#define ROW_OF(arguments, type, count, channels, tolerance, ...)                                   \
    do {                                                                                           \
        static const double both[2][count] = __VA_ARGS__;                                          \
        harness_vector("normalize" arguments, type, count / (channels), 1, channels, both[0],      \
                       type, count / (channels), 1, channels, both[1], tolerance);                 \
    } while (0)

static void test_u8(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_U8, 3, 1, 0, {{50, 100, 200}, {0, 85, 255}});
    ROW_OF("", SAMPLE_U8, 2, 1, 0, {{10, 11}, {0, 255}});
    ROW_OF("", SAMPLE_U8, 3, 1, 0, {{10, 11, 12}, {0, 128, 255}});      /* 127.5 */
    ROW_OF("", SAMPLE_U8, 4, 1, 0, {{0, 1, 9, 10}, {0, 26, 230, 255}}); /* 25.5, 229.5 */
    ROW_OF("", SAMPLE_U8, 4, 1, 0, {{0, 3, 7, 10}, {0, 76, 178, 255}}); /* 76.5, 178.5 */
    ROW_OF("", SAMPLE_U8, 3, 1, 0, {{0, 77, 255}, {0, 77, 255}});
    ROW_OF("", SAMPLE_U8, 1, 1, 0, {{7}, {7}});
    ROW_OF("", SAMPLE_U8, 3, 1, 0, {{7, 7, 7}, {7, 7, 7}});
    ROW_OF(":0", SAMPLE_U8, 3, 1, 0, {{250, 251, 255}, {0, 51, 255}});
    ROW_OF(":0", SAMPLE_U8, 3, 1, 0, {{0, 1, 5}, {0, 51, 255}});
    /* One of five may lie below, and one above: 10 and 250 do. */
    ROW_OF(":0.2", SAMPLE_U8, 5, 1, 0, {{10, 100, 110, 120, 250}, {0, 0, 128, 255, 255}});
    ROW_OF(":0.19", SAMPLE_U8, 5, 1, 0, {{10, 100, 110, 120, 250}, {0, 96, 106, 117, 255}});
    /* Two of five leave the one in the middle: black is white, and all stays. */
    ROW_OF(":0.4", SAMPLE_U8, 5, 1, 0, {{10, 100, 110, 120, 250}, {10, 100, 110, 120, 250}});
    ROW_OF(":clip=1", SAMPLE_U8, 3, 1, 0, {{1, 2, 3}, {1, 2, 3}});
    /* All colours have one black and one white; alpha does not count and stays. */
    ROW_OF("", SAMPLE_U8, 6, 3, 0, {{50, 60, 100, 70, 80, 90}, {0, 51, 255, 102, 153, 204}});
    ROW_OF("", SAMPLE_U8, 4, 2, 0, {{50, 0, 100, 255}, {0, 0, 255, 255}});
    ROW_OF("", SAMPLE_U8, 8, 4, 0,
           {{50, 60, 100, 9, 70, 80, 90, 200}, {0, 51, 255, 9, 102, 153, 204, 200}});
    ROW_OF(":0.25", SAMPLE_U8, 8, 2, 0,
           {{10, 1, 20, 2, 40, 3, 250, 4}, {0, 1, 0, 2, 255, 3, 255, 4}});
}

static void test_u16(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_U16, 3, 1, 0, {{1000, 1001, 1002}, {0, 32768, 65535}}); /* 32767.5 */
    ROW_OF("", SAMPLE_U16, 3, 1, 0, {{0, 40000, 65535}, {0, 40000, 65535}});
    ROW_OF("", SAMPLE_U16, 3, 1, 0, {{20000, 20000, 20000}, {20000, 20000, 20000}});
    ROW_OF("", SAMPLE_U16, 4, 1, 0, {{0, 1, 65533, 65534}, {0, 1, 65534, 65535}}); /* 1.00002 */
    ROW_OF("", SAMPLE_U16, 4, 1, 0,
           {{300, 10000, 30000, 60300}, {0, 10595, 32440, 65535}}); /* 10594.8, 32439.8 */
    ROW_OF(":0.2", SAMPLE_U16, 5, 1, 0,
           {{10, 1000, 1100, 1200, 60000}, {0, 0, 32768, 65535, 65535}});
    ROW_OF("", SAMPLE_U16, 6, 3, 0,
           {{1000, 1257, 1255, 1000, 1051, 1255}, {0, 65535, 64980 + 45, 0, 13005, 64980 + 45}});
}

static void test_f32(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_F32, 3, 1, 1e-5, {{-1, 0, 3}, {0, 63.75, 255}});
    ROW_OF("", SAMPLE_F32, 3, 1, 1e-5, {{5, 5, 5}, {5, 5, 5}});
    harness_white(1);
    ROW_OF("", SAMPLE_F32, 3, 1, 1e-5, {{100, 150, 300}, {0, 0.25, 1}});
    ROW_OF("", SAMPLE_F32, 4, 1, 1e-5, {{NAN, 0, 1, INFINITY}, {0, 0, 1, 1}});
    ROW_OF("", SAMPLE_F32, 2, 1, 1e-5, {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}});
    /* One of four may lie below and above. Bins are as wide as 1: edge 1 has one sample in front of
     * it, and edge 4 is the first with no more than one behind it, since 3 lies in the bin from 3
     * to 4. */
    ROW_OF(":0.25", SAMPLE_F32, 4, 1, 1e-5, {{0, 1, 3, 4096}, {0, 0, 2 / 3.0, 1}});
    ROW_OF(":0.25", SAMPLE_F32, 4, 1, 1e-5, {{0, 1.5, 2.5, 4096}, {0, 0.25, 0.75, 1}});
    ROW_OF("", SAMPLE_F32, 4, 2, 1e-5, {{1, 77, 3, -5}, {0, 77, 1, -5}});
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("normalize", SAMPLE_U8, channels);
        harness_few("normalize:0.1", SAMPLE_U8, channels);
        harness_few("normalize:0.03", SAMPLE_U16, channels);
        harness_few("normalize:0.05", SAMPLE_F32, channels);
    }
    harness_few("sobel:both,normalize", SAMPLE_U8, 1);
    harness_few("luminance,normalize,resize:by=0.5,invert", SAMPLE_U8, 3);
    harness_check("normalize", SAMPLE_U8, 300, 211, 3, HARNESS_RAMP);
    harness_check("normalize:0.01", SAMPLE_U16, 300, 211, 1, HARNESS_RAMP);
    harness_check("normalize:0.2", SAMPLE_F32, 300, 211, 1, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("normalize:-0.1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "clip");
    harness_refuses("normalize:1.5", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "clip");
    harness_refuses("normalize", SAMPLE_I32, 3, 3, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8),       cmocka_unit_test(test_u16),
        cmocka_unit_test(test_f32),      cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
