#include "harness.h"

#include <math.h>
#include <stdio.h>

#include "base/fault.h"

static void one(const char *args, enum sample_type type, double in, double expected)
{
    char chain[96];
    snprintf(chain, sizeof chain, "threshold:%s", args);
    harness_vector(chain, type, 1, 1, 1, &in, type, 1, 1, 1, &expected, 0);
}

static void test_integers(void **state)
{
    (void)state;
    one("100", SAMPLE_U8, 99, 0);
    one("100", SAMPLE_U8, 100, 255);
    one("t=99.5", SAMPLE_U8, 99, 0);
    one("99.5", SAMPLE_U8, 100, 255);
    one("0", SAMPLE_U8, 0, 255);
    one("-7", SAMPLE_U8, 0, 255);
    one("255", SAMPLE_U8, 255, 255);
    one("255.001", SAMPLE_U8, 255, 0);
    one("1000", SAMPLE_U8, 255, 0);
    one("100:5:77", SAMPLE_U8, 99, 5);
    one("100:5:77", SAMPLE_U8, 101, 77);
    one("100:-5:777", SAMPLE_U8, 99, 0); /* limited to the type */
    one("100:-5:777", SAMPLE_U8, 101, 255);
    one("100:2.5:high=3.5", SAMPLE_U8, 1, 2); /* halves to the even number */
    one("100:2.5:high=3.5", SAMPLE_U8, 200, 4);
    one("100:low=200:high=max", SAMPLE_U8, 3, 200);
    one("-3", SAMPLE_I8, -4, 0);
    one("-3", SAMPLE_I8, -3, 127);
    one("-2.5:-128", SAMPLE_I8, -3, -128);
    one("30000", SAMPLE_U16, 30000, 65535);
    one("-1.5", SAMPLE_I16, -1, 32767);
    one("-1.5", SAMPLE_I16, -2, 0);
    one("2147483647", SAMPLE_I32, 2147483647, 2147483647);
    one("2147483647", SAMPLE_I32, 2147483646, 0);
    one("-2147483648", SAMPLE_I32, -2147483648.0, 2147483647);
    one("3e9", SAMPLE_I32, 2147483647, 0);
}

static void test_f32(void **state)
{
    (void)state;
    one("100", SAMPLE_F32, 100, 255); /* white, where nothing tells of it */
    harness_white(1);
    one("0.5", SAMPLE_F32, 0.5, 1);
    one("0.5", SAMPLE_F32, 0.49999997, 0);
    one("0.7", SAMPLE_F32, 0.7f, 1); /* the nearest f32 stands for 0.7 */
    one("-1:0.25:0.75", SAMPLE_F32, -2, 0.25);
    one("-1:0.25:0.75", SAMPLE_F32, INFINITY, 0.75);
    one("-1:0.25:0.75", SAMPLE_F32, NAN, 0.25);
    harness_white(0);
}

static void test_alpha(void **state)
{
    static const double grey[4] = {10, 20, 30, 1}, grey_out[4] = {0, 20, 255, 1};
    static const double rgba[4] = {10, 20, 30, 40}, rgba_out[4] = {0, 255, 255, 40};
    (void)state;
    harness_vector("threshold:15", SAMPLE_U8, 2, 1, 2, grey, SAMPLE_U8, 2, 1, 2, grey_out, 0);
    harness_vector("threshold:15", SAMPLE_U8, 1, 1, 4, rgba, SAMPLE_U8, 1, 1, 4, rgba_out, 0);
}

/* A row of samples, and the least of them that is high. */
static void row(enum sample_type type, uint32_t n, const double *in, double least_high)
{
    double out[16], high = type == SAMPLE_F32 ? 255 : -1;
    switch (type) {
    case SAMPLE_U8:
        high = 255;
        break;
    case SAMPLE_I8:
        high = 127;
        break;
    case SAMPLE_U16:
        high = 65535;
        break;
    case SAMPLE_I16:
        high = 32767;
        break;
    case SAMPLE_I32:
        high = 2147483647;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = in[i] >= least_high ? high : 0;
    harness_vector("threshold:otsu", type, n, 1, 1, in, type, n, 1, 1, out, 0);
}

/* Bins b and samples n0 and n1 with means m0 and m1 on either side of a split: n0·n1·(m1 − m0)². */
static void test_otsu_u8(void **state)
{
    static const double two[4] = {0, 255, 255, 0};
    static const double clusters[3] = {10, 0, 255};  /* 1·2·132.5² < 2·1·250² */
    static const double even[3] = {0, 100, 200};     /* bins 0, 128, 255: 2·191.5² > 2·191² */
    static const double tie[4] = {0, 127, 128, 255}; /* 3·170² at either end: the first */
    static const double close[3] = {100, 101, 100};
    static const double plain[3] = {7, 7, 7}, black[1] = {0};
    static const double heavy[8] = {3, 3, 3, 3, 3, 90, 200, 3}; /* 6·2·(190 − 0)² > 7·1·… */
    (void)state;
    row(SAMPLE_U8, 4, two, 1);
    row(SAMPLE_U8, 3, clusters, 255);
    row(SAMPLE_U8, 3, even, 100);
    row(SAMPLE_U8, 4, tie, 127);
    row(SAMPLE_U8, 3, close, 101);
    row(SAMPLE_U8, 3, plain, 7); /* one value: all of it is high */
    row(SAMPLE_U8, 1, black, 0);
    row(SAMPLE_U8, 8, heavy,
        90); /* bins 0, 113, 255: 12·184² = 406272 > 7·(255 − 16.1)² = 399377 */
}

/* Of a row that several work-groups share, all counts: without what is behind its first part 10
 * would be high. */
static void test_otsu_wide(void **state)
{
    static double in[9000], out[9000];
    (void)state;
    for (int i = 0; i < 9000; i++) {
        in[i] = i < 4096 ? i % 2 * 10 : 200;
        out[i] = i < 4096 ? 0 : 255;
    }
    harness_vector("threshold:otsu", SAMPLE_U8, 9000, 1, 1, in, SAMPLE_U8, 9000, 1, 1, out, 0);
}

static void test_otsu_types(void **state)
{
    static const double i8[4] = {-128, -127, 100, 127};
    static const double u16[4] = {0, 1000, 60000, 65535};
    static const double inside[3] = {1000, 1001, 2000}; /* bins 0, 0 and 255 */
    static const double i16[3] = {-32768, -30000, 32767};
    static const double i32[4] = {-2147483648.0, -5, 2147483000, 2147483647};
    static const double f32[4] = {-1.5, -1.25, 0.5, 1};
    static const double same[2] = {0.1f, 0.1f};
    static const double odd[6] = {NAN, -INFINITY, 1, 2, INFINITY, 2.5}; /* 1, 2 and 2.5 count */
    static const double none[2] = {INFINITY, -INFINITY};
    static const double far[3] = {-3e38f, 3e38f, 2e38f}; /* the range is beyond f32 */
    (void)state;
    row(SAMPLE_I8, 4, i8, 100);
    row(SAMPLE_U16, 4, u16, 60000);
    row(SAMPLE_U16, 3, inside, 2000);
    row(SAMPLE_I16, 3, i16, 32767);
    row(SAMPLE_I32, 4, i32, 2147483000); /* 2·2·(255 − 64)² beats 1·3·(212 − 0)² */
    row(SAMPLE_F32, 4, f32, 0.5);
    row(SAMPLE_F32, 2, same, 0.1f);
    row(SAMPLE_F32, 6, odd, 2);
    row(SAMPLE_F32, 2, none, 0); /* no finite sample: the threshold is 0 */
    row(SAMPLE_F32, 3, far, 2e38f);
}

/* All channels of a plane have one threshold; alpha does not count, and stays. */
static void test_otsu_channels(void **state)
{
    static const double rgb[6] = {0, 10, 20, 200, 30, 210};
    static const double rgb_out[6] = {0, 0, 0, 255, 0, 255};
    static const double grey[6] = {5, 255, 6, 255, 5, 0}, grey_out[6] = {9, 255, 70, 255, 9, 0};
    (void)state;
    harness_vector("threshold:otsu", SAMPLE_U8, 1, 2, 3, rgb, SAMPLE_U8, 1, 2, 3, rgb_out, 0);
    harness_vector("threshold:otsu:9:70", SAMPLE_U8, 3, 1, 2, grey, SAMPLE_U8, 3, 1, 2, grey_out,
                   0);
}

/* A row against means of 3 or 5 pixels a side, floor(sum / area + 1/2), edges repeated. */
static void test_local(void **state)
{
    static const double in[6] = {10, 10, 40, 10, 10, 90}; /* means 10, 20, 20, 20, 37, 63 */
    static const double at[6] = {255, 0, 255, 0, 0, 255}, below[6] = {255, 255, 255, 255, 0, 255};
    static const double above[6] = {0, 0, 255, 0, 0, 255}, crop[4] = {0, 1, 0, 0};
    static const double wide[6] = {0, 0, 255, 0, 0, 255}; /* 16, 16, 16, 32, 48, 58 */
    static const double square[9] = {9, 9, 9, 9, 8, 9, 9, 9, 9},
                        middle = 0;                                 /* 80 / 9 + 1/2 = 9.4 */
    static const double half[2] = {10, 11}, halves[2] = {255, 255}; /* 10.33, 10.67: 10 and 11 */
    static const double grey[6] = {10, 1, 40, 2, 10, 3}, grey_out[6] = {0, 1, 255, 2, 0, 3};
    static const double rgb[6] = {10, 50, 7, 20, 40, 7}, rgb_out[6] = {0, 255, 255, 255, 0, 255};
    (void)state;
    harness_vector("threshold:local:radius=1", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1, 1, at, 0);
    harness_vector("threshold:local:radius=1:offset=10", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1, 1,
                   below, 0);
    harness_vector("threshold:local:radius=1:offset=9.99", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1,
                   1, at, 0);
    harness_vector("threshold:local:radius=1:offset=-0.5", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1,
                   1, above, 0);
    harness_vector("threshold:local:radius=2", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1, 1, wide, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_U16, 2, 1, 1, half, SAMPLE_U16, 2, 1, 1,
                   (const double[2]){65535, 65535}, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_U8, 2, 1, 1, half, SAMPLE_U8, 2, 1, 1, halves,
                   0);
    harness_vector("threshold:local:radius=1:border=crop", SAMPLE_U8, 3, 3, 1, square, SAMPLE_U8, 1,
                   1, 1, &middle, 0);
    harness_vector(
        "threshold:local:radius=1:high=1:border=crop", SAMPLE_U8, 6, 3, 1,
        (const double[18]){10, 10, 40, 10, 10, 90, 10, 10, 40, 10, 10, 90, 10, 10, 40, 10, 10, 90},
        SAMPLE_U8, 4, 1, 1, crop, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_U8, 3, 1, 2, grey, SAMPLE_U8, 3, 1, 2,
                   grey_out, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_U8, 2, 1, 3, rgb, SAMPLE_U8, 2, 1, 3, rgb_out,
                   0);
    harness_vector("threshold:local:low=7:high=-7", SAMPLE_I8, 1, 1, 1, (const double[1]){-5},
                   SAMPLE_I8, 1, 1, 1, (const double[1]){-7}, 0);
    harness_sweep("threshold:local:radius=2:offset=3", SAMPLE_U8, 1);
    harness_few("threshold:local", SAMPLE_U8, 3);
    harness_few("threshold:local:radius=40:border=reflect", SAMPLE_U8, 4);
    harness_few("threshold:local:radius=3:border=zero:offset=-100", SAMPLE_U16, 1);
    harness_few("threshold:local:radius=1:border=crop", SAMPLE_I16, 2);
    harness_few("luminance,threshold:local:radius=5:offset=7,invert", SAMPLE_U8, 3);
    /* More columns than a work-group of box has, and offsets beyond any difference. */
    harness_check("threshold:local:low=10:high=20:radius=20:border=symmetric", SAMPLE_U8, 2300, 40,
                  1, HARNESS_RANDOM);
    harness_few("threshold:local:offset=255", SAMPLE_I8, 1);
    harness_few("threshold:local:low=-3:high=100:radius=9:offset=-300", SAMPLE_I8, 1);
    harness_few("threshold:local:radius=9:offset=1e9:border=zero", SAMPLE_U8, 1);
}

/* f32, whose white is 255 unless something else is known: in levels of 255 / 16384, exact on every
 * device, also where a region is even. */
static void test_local_f32(void **state)
{
    static const double in[6] = {10, 10, 40, 10, 10, 90}; /* means 10, 20, 20, 20, 36.67, 63.33 */
    static const double at[6] = {255, 0, 255, 0, 0, 255}, below[6] = {7, 7, 7, 7, 0.5, 7};
    static const double even[6] = {0.3, 0.3, 0.3, -1e9, -1e9, -1e9}, signs[6] = {1, 1, 1, -1, 1, 1};
    static const double beyond[3] = {NAN, INFINITY, 3}, parts[3] = {0, 255, 0};
    static const double grey[6] = {10, 0.5, 40, 0.25, 10, -3},
                        grey_out[6] = {0, 0.5, 255, 0.25, 0, -3};
    (void)state;
    harness_vector("threshold:local:radius=1", SAMPLE_F32, 6, 1, 1, in, SAMPLE_F32, 6, 1, 1, at, 0);
    harness_vector("threshold:local:radius=1:offset=10.01:low=0.5:high=7", SAMPLE_F32, 6, 1, 1, in,
                   SAMPLE_F32, 6, 1, 1, below, 0);
    harness_vector("threshold:local:radius=1:low=-1:high=1", SAMPLE_F32, 6, 1, 1, even, SAMPLE_F32,
                   6, 1, 1, signs, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_F32, 3, 1, 1, beyond, SAMPLE_F32, 3, 1, 1,
                   parts, 0);
    harness_vector("threshold:local:radius=1", SAMPLE_F32, 3, 1, 2, grey, SAMPLE_F32, 3, 1, 2,
                   grey_out, 0);
    harness_vector("threshold:local:radius=1:border=crop", SAMPLE_F32, 3, 3, 1,
                   (const double[9]){9, 9, 9, 9, 8, 9, 9, 9, 9}, SAMPLE_F32, 1, 1, 1,
                   (const double[1]){0}, 0);
    harness_sweep("threshold:local:radius=2:offset=3", SAMPLE_F32, 1);
    harness_few("threshold:local", SAMPLE_F32, 3);
    harness_few("threshold:local:radius=40:border=reflect:low=-1.5:high=0.25", SAMPLE_F32, 4);
    harness_few("threshold:local:radius=1:border=crop", SAMPLE_F32, 2);
    harness_few("convert:type=f32,threshold:local:radius=5:offset=7,invert", SAMPLE_U8, 3);
    harness_few("threshold:local:radius=9:offset=1e9:border=zero", SAMPLE_F32, 1);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_I8, SAMPLE_U16, SAMPLE_I16, SAMPLE_I32,
                                             SAMPLE_F32};
    (void)state;
    harness_sweep("threshold:100", SAMPLE_U8, 1);
    harness_sweep("threshold:100", SAMPLE_U8, 4);
    harness_sweep("threshold:-3:-1:0.5", SAMPLE_F32, 2);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        harness_few("threshold:-100.5:-50", types[t], 1);
}

static void test_otsu_against_reference(void **state)
{
    (void)state;
    harness_sweep("threshold:otsu", SAMPLE_U8, 1);
    harness_few("threshold:otsu", SAMPLE_U8, 2);
    harness_few("threshold:otsu", SAMPLE_I8, 3);
    harness_sweep("threshold:otsu", SAMPLE_U16, 3);
    harness_few("threshold:otsu", SAMPLE_I16, 1);
    harness_sweep("threshold:otsu", SAMPLE_I32, 1);
    harness_sweep("threshold:otsu", SAMPLE_F32, 1);
    harness_few("sobel:both,threshold:otsu", SAMPLE_F32,
                1); /* planes with thresholds of their own */
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("threshold", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "t is missing");
    harness_refuses("threshold:otso", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "did you mean 'otsu'");
    harness_refuses("threshold:3:low=max", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "a number");
    harness_refuses("threshold:3", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("threshold:otsu", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("threshold:local", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("threshold:local", SAMPLE_I32, 4, 4, 1, FAULT_SHAPE, "convert");
    harness_refuses("threshold:local:radius=0", SAMPLE_U8, 4, 4, 1, FAULT_CHAIN, "radius");
    harness_refuses("threshold:local:border=crop", SAMPLE_U8, 30, 31, 1, FAULT_SHAPE, "31×31");
    harness_refuses("threshold:otsu", SAMPLE_U8, 30000, 20000, 1, FAULT_LIMIT, "2^29");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_otsu_u8),
        cmocka_unit_test(test_otsu_wide),
        cmocka_unit_test(test_otsu_types),
        cmocka_unit_test(test_otsu_channels),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_local_f32),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_otsu_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
