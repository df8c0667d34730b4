#include "harness.h"

#include <math.h>
#include <stdio.h>

#include "base/fault.h"

static void one(enum sample_type type, double in, enum sample_type to, double expected)
{
    static const char *const names[SAMPLE_TYPES] = {[SAMPLE_U8] = "u8",
                                                    [SAMPLE_I8] = "i8",
                                                    [SAMPLE_U16] = "u16",
                                                    [SAMPLE_F16] = "f16",
                                                    [SAMPLE_F32] = "f32"};
    char chain[32];
    snprintf(chain, sizeof chain, "convert:%s", names[to]);
    harness_vector(chain, type, 1, 1, 1, &in, to, 1, 1, 1, &expected, 0);
}

static void test_f32_to_integers(void **state)
{
    (void)state;
    one(SAMPLE_F32, 0.5, SAMPLE_U8, 0); /* halves go to the even number */
    one(SAMPLE_F32, 1.5, SAMPLE_U8, 2);
    one(SAMPLE_F32, 2.5, SAMPLE_U8, 2);
    one(SAMPLE_F32, 2.5000002, SAMPLE_U8, 3);
    one(SAMPLE_F32, 254.5, SAMPLE_U8, 254);
    one(SAMPLE_F32, 254.50002, SAMPLE_U8, 255);
    one(SAMPLE_F32, 255.5, SAMPLE_U8, 255);
    one(SAMPLE_F32, 1e30, SAMPLE_U8, 255);
    one(SAMPLE_F32, -0.5, SAMPLE_U8, 0);
    one(SAMPLE_F32, -1e30, SAMPLE_U8, 0);
    one(SAMPLE_F32, INFINITY, SAMPLE_U8, 255);
    one(SAMPLE_F32, -INFINITY, SAMPLE_U8, 0);
    one(SAMPLE_F32, NAN, SAMPLE_U8, 0); /* the least value */
    one(SAMPLE_F32, 65534.5, SAMPLE_U16, 65534);
    one(SAMPLE_F32, 65535.5, SAMPLE_U16, 65535);
    one(SAMPLE_F32, 40000.75, SAMPLE_U16, 40001);
}

static void test_between_integers(void **state)
{
    (void)state;
    one(SAMPLE_U16, 255, SAMPLE_U8, 255);
    one(SAMPLE_U16, 256, SAMPLE_U8, 255);
    one(SAMPLE_U16, 7, SAMPLE_U8, 7);
    one(SAMPLE_U8, 200, SAMPLE_U16, 200);
    one(SAMPLE_I8, -3, SAMPLE_U8, 0);
    one(SAMPLE_I8, 127, SAMPLE_U8, 127);
    one(SAMPLE_I8, -3, SAMPLE_U16, 0);
    one(SAMPLE_I16, 32767, SAMPLE_U16, 32767);
    one(SAMPLE_I16, 300, SAMPLE_U8, 255);
    one(SAMPLE_I16, -32768, SAMPLE_U8, 0);
    one(SAMPLE_I32, 70000, SAMPLE_U16, 65535);
    one(SAMPLE_I32, -70000, SAMPLE_U16, 0);
    one(SAMPLE_I32, 99, SAMPLE_U8, 99);
    one(SAMPLE_U8, 9, SAMPLE_U8, 9);
}

static void test_to_f32(void **state)
{
    (void)state;
    one(SAMPLE_U8, 255, SAMPLE_F32, 255);
    one(SAMPLE_U16, 65535, SAMPLE_F32, 65535);
    one(SAMPLE_I8, -128, SAMPLE_F32, -128);
    one(SAMPLE_I16, -32768, SAMPLE_F32, -32768);
    one(SAMPLE_I32, 16777216, SAMPLE_F32, 16777216);
    one(SAMPLE_I32, 16777217, SAMPLE_F32, 16777216); /* a half, to the even one */
    one(SAMPLE_I32, 16777219, SAMPLE_F32, 16777220);
    one(SAMPLE_I32, 2147483647, SAMPLE_F32, 2147483648.0);
}

/* f64 is taken apart as bits, so that devices without fp64 have it too. */
static void test_f64(void **state)
{
    (void)state;
    one(SAMPLE_F64, 0.5, SAMPLE_U8, 0);
    one(SAMPLE_F64, 1.5, SAMPLE_U8, 2);
    one(SAMPLE_F64, 0.50000000000000011, SAMPLE_U8, 1);
    one(SAMPLE_F64, 0.49999999999999994, SAMPLE_U8, 0);
    one(SAMPLE_F64, 254.50000000000003, SAMPLE_U8, 255);
    one(SAMPLE_F64, -1e300, SAMPLE_U8, 0);
    one(SAMPLE_F64, 1e300, SAMPLE_U16, 65535);
    one(SAMPLE_F64, 65534.50000000001, SAMPLE_U16, 65535);
    one(SAMPLE_F64, NAN, SAMPLE_U16, 0);
    one(SAMPLE_F64, INFINITY, SAMPLE_U16, 65535);
    one(SAMPLE_F64, 0.1, SAMPLE_F32, 0.1f);
    one(SAMPLE_F64, 1 + 0x1p-24, SAMPLE_F32, 1);             /* a half, to the even one */
    one(SAMPLE_F64, 1 + 0x1.8p-23, SAMPLE_F32, 1 + 0x1p-22); /* likewise, upwards */
    one(SAMPLE_F64, 1 + 0x1p-24 + 0x1p-50, SAMPLE_F32, 1 + 0x1p-23);
    one(SAMPLE_F64, 0x1.ffffffp127, SAMPLE_F32, INFINITY);
    one(SAMPLE_F64, -0x1.fffffep127, SAMPLE_F32, -0x1.fffffep127);
    one(SAMPLE_F64, 0x1.8p-149, SAMPLE_F32, 0x1p-148); /* among subnormal numbers */
    one(SAMPLE_F64, 0x1p-150, SAMPLE_F32, 0);
    one(SAMPLE_F64, -INFINITY, SAMPLE_F32, -INFINITY);
}

static void test_f16(void **state)
{
    (void)state;
    one(SAMPLE_F32, 1 + 0x1p-11, SAMPLE_F16, 1);            /* a half, to the even one */
    one(SAMPLE_F32, 1 + 0x1.8p-10, SAMPLE_F16, 1 + 0x1p-9); /* likewise, upwards */
    one(SAMPLE_F32, 1 + 0x1p-11 + 0x1p-23, SAMPLE_F16, 1 + 0x1p-10);
    one(SAMPLE_F32, 65519, SAMPLE_F16, 65504);
    one(SAMPLE_F32, 65520, SAMPLE_F16, INFINITY);
    one(SAMPLE_F32, -1e30, SAMPLE_F16, -INFINITY);
    one(SAMPLE_F32, 0x1.8p-24, SAMPLE_F16, 0x1p-23); /* among subnormal numbers */
    one(SAMPLE_F32, 0x1p-25, SAMPLE_F16, 0);
    one(SAMPLE_F32, 0x1.ffep-15, SAMPLE_F16, 0x1p-14);
    one(SAMPLE_F32, 0x1p-140, SAMPLE_F16, 0);
    one(SAMPLE_F64, 1 + 0x1p-11 + 0x1p-50, SAMPLE_F16, 1 + 0x1p-10); /* rounded once */
    one(SAMPLE_F64, 1 + 0x1p-11, SAMPLE_F16, 1);
    one(SAMPLE_F64, 1e300, SAMPLE_F16, INFINITY);
    one(SAMPLE_F64, 0x1p-25 + 0x1p-70, SAMPLE_F16, 0x1p-24);
    one(SAMPLE_U16, 2049, SAMPLE_F16, 2048);
    one(SAMPLE_U16, 2051, SAMPLE_F16, 2052);
    one(SAMPLE_U16, 65535, SAMPLE_F16, INFINITY);
    one(SAMPLE_I32, -2147483648.0, SAMPLE_F16, -INFINITY);
    one(SAMPLE_F16, 0x1p-24, SAMPLE_F32, 0x1p-24);
    one(SAMPLE_F16, -0x1.ff8p-15, SAMPLE_F32, -0x1.ff8p-15);
    one(SAMPLE_F16, 65504, SAMPLE_F32, 65504);
    one(SAMPLE_F16, -INFINITY, SAMPLE_F32, -INFINITY);
    one(SAMPLE_F16, NAN, SAMPLE_U8, 0);
    one(SAMPLE_F16, 2.5, SAMPLE_U8, 2);
    one(SAMPLE_F16, -200, SAMPLE_I8, -128);
    harness_refuses("invert", SAMPLE_F16, 4, 4, 1, FAULT_SHAPE,
                    "not f16; put convert:type=f32 in front");
    harness_refuses("dwt:cdf97", SAMPLE_F16, 4, 4, 1, FAULT_SHAPE, "convert:type=f32");
}

static void test_i8(void **state)
{
    (void)state;
    one(SAMPLE_U8, 200, SAMPLE_I8, 127);
    one(SAMPLE_I16, -200, SAMPLE_I8, -128);
    one(SAMPLE_I32, -3, SAMPLE_I8, -3);
    one(SAMPLE_F32, -2.5, SAMPLE_I8, -2);
    one(SAMPLE_F32, NAN, SAMPLE_I8, -128);
    one(SAMPLE_F64, -127.50000000000001, SAMPLE_I8, -128);
    harness_white(1);
    one(SAMPLE_F32, 1, SAMPLE_I8, 1); /* no share of white */
    harness_white(0);
}

/* sat(rne(v / scale) + zero) */
static void test_quantized(void **state)
{
    static const double in[] = {0, 1, 127.5, 254, 255, -1, -300, NAN, INFINITY, 1e30};
    static const double u8[] = {0, 2, 255, 255, 255, 0, 0, 0, 255, 255};
    static const double i8[] = {-128, -127, 0, 126, 127, -128, -128, -128, 127, 127};
    static const double thirds[] = {5, 5 + 3, 5 + 425, 5 + 847, 5 + 850, 2, 0, 0, 65535, 65535};
    static const double bytes[] = {0, 3, 5, 127, 128, 129, 131, 254, 255};
    static const double halved[] = {-64, -62, -62, 0, 0, 0, 2, 63, 64};
    (void)state;
    harness_vector("convert:u8:scale=0.5", SAMPLE_F32, 10, 1, 1, in, SAMPLE_U8, 10, 1, 1, u8, 0);
    harness_vector("convert:i8:zero=-128", SAMPLE_F32, 10, 1, 1, in, SAMPLE_I8, 10, 1, 1, i8, 0);
    harness_vector("convert:u16:scale=0.3:zero=5", SAMPLE_F32, 10, 1, 1, in, SAMPLE_U16, 10, 1, 1,
                   thirds, 0);
    harness_vector("convert:i8:scale=2:zero=-64", SAMPLE_U8, 9, 1, 1, bytes, SAMPLE_I8, 9, 1, 1,
                   halved, 0);
    harness_white(1); /* no share of it */
    harness_vector("convert:i8:zero=-128", SAMPLE_F32, 10, 1, 1, in, SAMPLE_I8, 10, 1, 1, i8, 0);
    harness_white(0);
    harness_refuses("convert:scale=2", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN,
                    "are of integers: say type=u8");
    harness_refuses("convert:f16:zero=2", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "are of integers");
    harness_refuses("convert:i8:scale=0", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "scale");
}

/* Channels below each other. */
static void test_planar(void **state)
{
    static const double in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const double by_3[] = {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12};
    static const double by_4[] = {1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12};
    static const double grey[] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
    (void)state;
    harness_vector("convert:layout=chw", SAMPLE_U8, 2, 2, 3, in, SAMPLE_U8, 2, 6, 1, by_3, 0);
    harness_vector("convert:f16:layout=chw", SAMPLE_U8, 3, 1, 4, in, SAMPLE_F16, 3, 4, 1, by_4, 0);
    harness_vector("convert:layout=chw", SAMPLE_F64, 1, 4, 3, in, SAMPLE_F64, 1, 12, 1, by_3, 0);
    harness_vector("convert:f32:3:chw", SAMPLE_U16, 3, 1, 1, in, SAMPLE_F32, 3, 3, 1, grey, 0);
    harness_vector("convert:layout=chw", SAMPLE_I8, 3, 4, 1, in, SAMPLE_I8, 3, 4, 1, in, 0);
    harness_refuses("convert:layout=chw,sobel", SAMPLE_U8, 4, 4, 3, FAULT_SHAPE,
                    "put it in front of convert:layout=chw");
    harness_refuses("convert:layout=chw,convert:channels=3", SAMPLE_U8, 4, 4, 3, FAULT_SHAPE,
                    "put it in front of");
    harness_few("convert:layout=chw,gain:2,convert:f16", SAMPLE_U8, 3);
}

/* Floats whose white is 1 are parts of it. */
static void test_parts_of_white(void **state)
{
    (void)state;
    harness_white(1);
    one(SAMPLE_F32, 0, SAMPLE_U8, 0);
    one(SAMPLE_F32, 1, SAMPLE_U8, 255);
    one(SAMPLE_F32, 0.5, SAMPLE_U8, 128);           /* 127.5, to the even one */
    one(SAMPLE_F32, 0.5 - 0x1p-25, SAMPLE_U8, 127); /* 127.49999, which f32 would round to 127.5 */
    one(SAMPLE_F32, 0.5 / 255, SAMPLE_U8, 1);       /* the nearest f32 is a little above 1/510 */
    one(SAMPLE_F32, 0.2, SAMPLE_U8, 51);
    one(SAMPLE_F32, 1.5, SAMPLE_U8, 255);
    one(SAMPLE_F32, -1, SAMPLE_U8, 0);
    one(SAMPLE_F32, NAN, SAMPLE_U8, 0);
    one(SAMPLE_F32, INFINITY, SAMPLE_U16, 65535);
    one(SAMPLE_F32, 0.5, SAMPLE_U16, 32768); /* 32767.5 */
    one(SAMPLE_F32, 0.5 - 0x1p-25, SAMPLE_U16, 32767);
    one(SAMPLE_F64, 0.25, SAMPLE_U8, 64); /* 63.75 */
    one(SAMPLE_F64, 1, SAMPLE_U16, 65535);
    one(SAMPLE_F64, 0.25, SAMPLE_F32, 0.25);
    harness_few("convert:u8", SAMPLE_F32, 3);
    harness_few("invert,convert:u16,levels:gamma=2", SAMPLE_F32, 1);
    harness_white(0);
    harness_few("convert:f32,invert", SAMPLE_U8, 3);
    harness_few("convert:f32,threshold:128,convert:u16,invert", SAMPLE_U16, 2);
}

/* Alpha has a value like any other channel. */
static void test_alpha(void **state)
{
    static const double in[4] = {1.5, 300, -2, 2.5}, out[4] = {2, 255, 0, 2};
    (void)state;
    harness_vector("convert:u8", SAMPLE_F32, 1, 1, 4, in, SAMPLE_U8, 1, 1, 4, out, 0);
    harness_vector("convert:u8", SAMPLE_F32, 2, 1, 2, in, SAMPLE_U8, 2, 1, 2, out, 0);
}

static void test_against_reference(void **state)
{
    static const char *const chains[] = {"convert:u8", "convert:u16", "convert:type=f32",
                                         "convert:i8", "convert:f16"};
    static const char *const few[] = {"convert:layout=chw", "convert:u8:scale=0.37:zero=11",
                                      "convert:i8:scale=12.3:zero=-5",
                                      "convert:u16:scale=0.001:zero=9:channels=4:layout=chw"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (int type = 0; type < SAMPLE_TYPES; type++)
            harness_sweep(chains[i], (enum sample_type)type, 1 + (uint32_t)type % 4);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        for (int type = 0; type < SAMPLE_TYPES; type++)
            harness_few(few[i], (enum sample_type)type, 1 + (uint32_t)(type + 1) % 4);
    harness_few("convert:f32,convert:u8", SAMPLE_U8, 3);
    harness_few("convert:u8,sobel", SAMPLE_U8, 1); /* a step without passes, then one with */
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("convert", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "type is missing");
    harness_refuses("convert:i6", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "did you mean");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32_to_integers),
        cmocka_unit_test(test_between_integers),
        cmocka_unit_test(test_to_f32),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_i8),
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_parts_of_white),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
