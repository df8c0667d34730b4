#include "harness.h"
#include "programs.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"

/* The one position of a 3×3 picture whose window lies inside. */
static void window(const char *k, enum sample_type type, const double in[9],
                   enum sample_type out_type, double expected)
{
    char chain[128];
    snprintf(chain, sizeof chain, "fir:%s:border=crop", k);
    harness_vector(chain, type, 3, 3, 1, in, out_type, 1, 1, 1, &expected, 0);
}

/* A row of samples, and what comes out of it. */
static void row(const char *args, enum sample_type type, uint32_t n, const double *in,
                const double *expected)
{
    char chain[128];
    snprintf(chain, sizeof chain, "fir:%s", args);
    harness_vector(chain, type, n, 1, 1, in, type, n, 1, 1, expected, 0);
}

static const double white[9] = {255, 255, 255, 255, 255, 255, 255, 255, 255};
static const double middle100[9] = {0, 0, 0, 0, 100, 0, 0, 0, 0};
static const double cross[9] = {9, 10, 9, 10, 20, 10, 9, 10, 9};

static void test_names(void **state)
{
    static const double last[9] = {0, 0, 0, 0, 0, 0, 0, 0, 255};
    static const double half[9] = {0, 0, 8, 0, 0, 0, 0, 0, 2};   /* 6·8 + 40·2 = 128 */
    static const double halves[9] = {0, 0, 4, 0, 0, 0, 0, 0, 9}; /* 6·4 + 40·9 = 384 */
    static const double corner[9] = {100, 0, 0, 0, 0, 0, 0, 0, 50};
    static const double word[9] = {65535, 65535, 65535, 65535, 65535, 65535, 65535, 65535, 65535};
    (void)state;
    window("sample", SAMPLE_U8, white, SAMPLE_U8, 158);    /* 159·255/256 = 158.4 */
    window("sample", SAMPLE_U8, middle100, SAMPLE_U8, 12); /* 3000/256 = 11.7 */
    window("sample", SAMPLE_U8, last, SAMPLE_U8, 40);      /* 10200/256 = 39.8 */
    window("sample", SAMPLE_U8, half, SAMPLE_U8, 0);       /* 0.5 */
    window("sample", SAMPLE_U8, halves, SAMPLE_U8, 2);     /* 1.5 */
    window("sample", SAMPLE_U16, word, SAMPLE_U16, 40703); /* 159·65535/256 = 40703.4 */
    window("gaussian3", SAMPLE_U8, white, SAMPLE_U8, 255);
    window("gaussian3", SAMPLE_U8, middle100, SAMPLE_U8, 25);
    window("gaussian3", SAMPLE_U8, cross, SAMPLE_U8, 12); /* (80 + 2·40 + 4·9)/16 = 12.25 */
    window("sharpen", SAMPLE_U8, middle100, SAMPLE_U8, 255);
    window("sharpen", SAMPLE_U8, cross, SAMPLE_U8, 60);
    window("laplacian", SAMPLE_I8, cross, SAMPLE_I8, -40);
    window("laplacian", SAMPLE_I8, middle100, SAMPLE_I8, -128);
    window("emboss", SAMPLE_U8, corner, SAMPLE_U8, 0); /* −200 + 100 */
    window("emboss", SAMPLE_U8, cross, SAMPLE_U8, 20); /* −18 − 20 + 20 + 20 + 18 */
    window("identity:border=edge:out=f32,fir:1_1_1/1_1_1/1_1_1", SAMPLE_U8, white, SAMPLE_F32, 255);
}

static void test_single(void **state)
{
    static const double in[4] = {1, 3, 5, 200};
    static const double by2[4] = {0, 2, 2, 100}, times2[4] = {2, 6, 10, 255};
    static const double inverted[4] = {254, 252, 250, 55}, by25[4] = {0, 1, 2, 80};
    static const double big[4] = {2, 4, 6, 201}, tenth[4] = {0, 0, 0, 20};
    (void)state;
    row("identity", SAMPLE_U8, 4, in, in);
    row("3", SAMPLE_U8, 4, in, in);  /* the divisor is 3 too */
    row("-7", SAMPLE_U8, 4, in, in); /* and −7 */
    row("1:divisor=2", SAMPLE_U8, 4, in, by2);
    row("2:1", SAMPLE_U8, 4, in, times2);
    row("1:divisor=-1:bias=255", SAMPLE_U8, 4, in, inverted);
    row("1:2.5", SAMPLE_U8, 4, in, by25); /* 0.4, 1.2, 2 in f32 */
    row("1000000000:1000000000:1", SAMPLE_U8, 4, in, big);
    row("0.1:1", SAMPLE_U8, 4, in, tenth); /* 0.5 of f32's 0.1·5 goes to 0 */
}

static void test_floats(void **state)
{
    static const double in[3] = {1, 2, 2}, sum[3] = {4.5, 5.5, 6.5}, third = 5.0f / 3.0f;
    static const double rgba[8] = {1, 2, 3, 9, 5, 6, 7, 9}, rgb[6] = {0.5, 1, 1.5, 2.5, 3, 3.5};
    static const double fraction = 158.37890625;
    (void)state;
    row("1_1_1:divisor=1:bias=0.5", SAMPLE_F32, 3, in, sum);
    harness_vector("fir:1_1_1:border=crop:out=f32", SAMPLE_U8, 3, 1, 1, in, SAMPLE_F32, 1, 1, 1,
                   &third, 0);
    harness_vector("fir:sample:border=crop:out=f32", SAMPLE_U8, 3, 3, 1, white, SAMPLE_F32, 1, 1, 1,
                   &fraction, 0);
    harness_vector("fir:1:2:out=f32", SAMPLE_U8, 2, 1, 4, rgba, SAMPLE_F32, 2, 1, 3, rgb, 0);
}

/* A coefficient of 1 two places to the left shows what stands there. */
static void test_borders(void **state)
{
    static const double in[3] = {1, 2, 3}, edge[3] = {1, 1, 1}, reflect[3] = {3, 2, 1};
    static const double symmetric[3] = {2, 1, 1}, wrap[3] = {2, 3, 1}, zero[3] = {0, 0, 1};
    static const double one = 7, five[5] = {4, 5, 6, 7, 8}, first = 4;
    static const double far[2] = {1, 2}, far_wrap[2] = {2, 1}, far_reflect[2] = {2, 1};
    static const char *const left7 = "1_0_0_0_0_0_0_0_0_0_0_0_0_0_0";
    char chain[64];
    (void)state;
    row("1_0_0_0_0", SAMPLE_U8, 3, in, edge);
    row("1_0_0_0_0:border=reflect", SAMPLE_U8, 3, in, reflect);
    row("1_0_0_0_0:border=symmetric", SAMPLE_U8, 3, in, symmetric);
    row("1_0_0_0_0:border=wrap", SAMPLE_U8, 3, in, wrap);
    row("1_0_0_0_0:border=zero", SAMPLE_U8, 3, in, zero);
    harness_vector("fir:1_0_0_0_0:border=crop", SAMPLE_U8, 5, 1, 1, five, SAMPLE_U8, 1, 1, 1,
                   &first, 0);
    harness_vector("fir:1_0_0_0_0", SAMPLE_U8, 1, 1, 1, &one, SAMPLE_U8, 1, 1, 1, &one, 0);
    snprintf(chain, sizeof chain, "%s:border=wrap", left7); /* seven to the left of two */
    row(chain, SAMPLE_U8, 2, far, far_wrap);
    snprintf(chain, sizeof chain, "%s:border=mirror", left7);
    row(chain, SAMPLE_U8, 2, far, far_reflect);
}

static void test_alpha(void **state)
{
    static const double in[8] = {10, 20, 30, 99, 16, 26, 36, 1};
    static const double out[8] = {12, 22, 32, 99, 14, 24, 34, 1};
    static const double cut[12] = {10, 5, 16, 6, 22, 7}, cut_out[2] = {16, 6};
    (void)state;
    harness_vector("fir:1_1_1", SAMPLE_U8, 2, 1, 4, in, SAMPLE_U8, 2, 1, 4, out, 0);
    harness_vector("fir:1_1_1:border=crop", SAMPLE_U8, 3, 1, 2, cut, SAMPLE_U8, 1, 1, 2, cut_out,
                   0);
}

static void test_types(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        harness_sweep("fir:sample", SAMPLE_U8, channels);
    harness_sweep("fir:gaussian5", SAMPLE_U16, 1);
    harness_few("fir:emboss", SAMPLE_I8, 3);
    harness_few("fir:-3_5_7:divisor=6:bias=-2", SAMPLE_I16, 4);
    harness_sweep("fir:3_-7_11/5_13_-2/1_9_4:divisor=36", SAMPLE_U8, 1);
    harness_few("fir:30000_-7_11/5_13_-2/1_9_40000:divisor=7777", SAMPLE_U16, 3);
    harness_few("fir:300000_-7_11/5_13_-2/1_9_40000:divisor=77777", SAMPLE_U16, 1); /* 64 bits */
}

static void test_f32(void **state)
{
    static const char *const k = "fir:0.1_-0.25_0.3/0.5_1.5_0.7/0.1_0.2_0.9:bias=0.3";
    (void)state;
    harness_sweep(k, SAMPLE_F32, 1);
    for (uint32_t channels = 2; channels <= 4; channels++)
        harness_few(k, SAMPLE_F32, channels);
    harness_sweep(k, SAMPLE_U8, 1);
    harness_few(k, SAMPLE_I16, 4);
    harness_few("fir:gaussian5", SAMPLE_F32, 3);
    harness_few("fir:1_2_3:out=f32", SAMPLE_U8, 2);
    harness_few("fir:1_2_3:out=f32", SAMPLE_F32, 4);
    harness_few("fir:1_2_3:divisor=7:border=crop:out=f32", SAMPLE_I8, 4);
}

static void test_borders_against_reference(void **state)
{
    static const char *const borders[] = {"reflect", "symmetric", "wrap", "zero", "crop"};
    char chain[128];
    (void)state;
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        snprintf(chain, sizeof chain, "fir:gaussian5:border=%s", borders[i]);
        harness_sweep(chain, SAMPLE_U8, 1);
        harness_few(chain, SAMPLE_U8, 4);
        snprintf(chain, sizeof chain, "fir:1_2_3_4_5_6_7_8_9:divisor=10:border=%s", borders[i]);
        harness_few(chain, SAMPLE_F32, 3);
    }
}

/* A chain of a window whose coefficients are 1 2 3 … 7 0 1 2 …, looped over where it is wide. */
static const char *wide_chain(unsigned columns, unsigned rows, const char *args)
{
    static char chain[8192];
    snprintf(chain, sizeof chain, "fir:");
    for (unsigned i = 0; i < columns * rows; i++)
        snprintf(chain + strlen(chain), sizeof chain - strlen(chain), "%s%u",
                 i == 0             ? ""
                 : i % columns == 0 ? "/"
                                    : "_",
                 (i + 1) % 8);
    snprintf(chain + strlen(chain), sizeof chain - strlen(chain), "%s", args);
    return chain;
}

static void wide(unsigned columns, unsigned rows, const char *args, enum sample_type type,
                 uint32_t channels, bool sweep)
{
    const char *chain = wide_chain(columns, rows, args);
    (sweep ? harness_sweep : harness_few)(chain, type, channels);
}

static void test_wide(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        wide(9, 3, "", SAMPLE_U8, channels, true);
        wide(11, 5, ":divisor=0.7", SAMPLE_F32, channels, channels == 1);
    }
    wide(7, 7, "", SAMPLE_U8, 1, false);
    wide(13, 9, ":border=zero", SAMPLE_U16, 1, false);
    wide(13, 9, ":border=crop", SAMPLE_I16, 3, false);
    wide(1, 31, ":border=wrap", SAMPLE_U8, 2, false);
    wide(31, 1, ":border=reflect", SAMPLE_U8, 3, false);
    wide(31, 31, "", SAMPLE_U8, 1, false);
    wide(31, 31, ":out=f32", SAMPLE_U8, 4, false);
    wide(9, 9, ":divisor=1000000000:bias=3", SAMPLE_U16, 4, false); /* 64 bits */
    harness_few("fir:0_0_0:bias=5", SAMPLE_U8, 1);
}

/* A chain of a window that is the product of a column and a row, with coefficients of -3 to 4 times
 * `by` and zeros at the ends, summed along rows and then down columns. */
static const char *apart_chain(unsigned columns, unsigned rows, int by, const char *args)
{
    static char chain[40000];
    size_t at = (size_t)snprintf(chain, sizeof chain, "fir:");
    for (unsigned j = 0; j < rows; j++)
        for (unsigned i = 0; i < columns; i++) {
            int across = i == 0 ? 0 : (int)(i * 5 % 8) - 3,
                down = j == 1 ? 0 : (int)(j * 3 % 7) - 2;
            at += (size_t)snprintf(chain + at, sizeof chain - at, "%s%d",
                                   i > 0   ? "_"
                                   : j > 0 ? "/"
                                           : "",
                                   across * down * by);
        }
    snprintf(chain + at, sizeof chain - at, "%s", args);
    return chain;
}

static void test_apart(void **state)
{
    static const char *const borders[] = {"reflect", "symmetric", "wrap", "zero", "crop"};
    char args[64];
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        harness_sweep(apart_chain(9, 9, 1, ":divisor=7:bias=9"), SAMPLE_U8, channels);
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        snprintf(args, sizeof args, ":divisor=-20:border=%s", borders[i]);
        harness_few(apart_chain(13, 9, 1, args), SAMPLE_U8, 1);
        harness_few(apart_chain(9, 11, 1, args), SAMPLE_I16, 4);
    }
    harness_few(apart_chain(11, 13, 1, ""), SAMPLE_I8, 3);
    harness_few(apart_chain(15, 9, 3, ":divisor=100"), SAMPLE_U16, 1);
    harness_few(apart_chain(15, 9, 3, ":divisor=100"), SAMPLE_U16, 2);
    harness_few(apart_chain(9, 9, 2000000, ":divisor=1000000000:bias=100"), SAMPLE_U8,
                1); /* 64 bits */
    harness_few(apart_chain(9, 9, 20000000, ":divisor=1000000000:bias=7"), SAMPLE_U16, 4);
    harness_few(apart_chain(31, 31, 1, ""), SAMPLE_U8, 3);
    harness_check(apart_chain(63, 63, 1, ":divisor=3000"), SAMPLE_U8, 200, 70, 1, HARNESS_RANDOM);
    harness_check(apart_chain(63, 63, 1, ":divisor=3000"), SAMPLE_U8, 5, 3, 3, HARNESS_EXTREMES);
    harness_check(apart_chain(9, 63, 1, ":divisor=999"), SAMPLE_U8, 3, 90, 4, HARNESS_EXTREMES);
    harness_split(apart_chain(17, 17, 1, ""), SAMPLE_U8, 130, 75, 1, 10);
    harness_few(apart_chain(9, 9, 1, ":out=f32"), SAMPLE_U8, 1); /* in one step */
    harness_few(apart_chain(9, 9, 1, ""), SAMPLE_F32, 3);
    harness_few(wide_chain(63, 1, ""), SAMPLE_U8, 1);
    harness_check(wide_chain(63, 63, ""), SAMPLE_U8, 70, 11, 1, HARNESS_RANDOM);
}

/* Rows on either side of a launch's end come out as if there were none. */
static void test_launches(void **state)
{
    (void)state;
    harness_split(wide_chain(31, 31, ""), SAMPLE_U8, 130, 75, 1, 10);
    harness_split(wide_chain(31, 31, ":border=wrap"), SAMPLE_F32, 40, 33, 3, 1);
    harness_split("fir:sample:border=zero", SAMPLE_U8, 257, 65, 1, 7);
}

static void check_bytes(const char *window, uint32_t width, uint32_t height,
                        enum harness_pattern pattern)
{
    char chain[150];
    snprintf(chain, sizeof chain, "fir:%s", window);
    harness_check(chain, SAMPLE_U8, width, height, 1, pattern);
}

/* What native computes with products added in pairs, at the limits of a pair and beyond them. */
static void test_pairs(void **state)
{
    static const char *const windows[] = {
        "127_1_0/-128_0_0/0_0_0:divisor=64",
        "0_1_127/0_0_-128/0_0_0:divisor=64",
        "0_0_0/-1_-127_1/0_100_0:divisor=33:bias=9",
        "64_65_0/0_1_0/0_0_0", /* beyond */
        "0_0_0/0_-2_-127/0_100_0:divisor=129:bias=128",
        "0_128_0/1_0_0/-1_0_2",
        "1_2_3_4_5/-1_-2_-3_-4_-5/0_90_38_0_0/9_8_7_6_5/1_1_1_1_1:border=reflect",
        "1_2_3_4_3_2_1/0_0_0_-9_0_0_0/7_0_5_0_3_0_1/0_1_0_2_0_3_0/1_1_1_1_1_1_1/0_0_0_0_0_0_50/"
        "90_0_0_0_0_0_0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        check_bytes(windows[i], 300, 9, HARNESS_EXTREMES);
        check_bytes(windows[i], 133, 11, HARNESS_RANDOM);
    }
}

/* What GPUs compute with two samples in a word: each way to divide, limits on either side, windows
 * that are a column times a row and such that are not. */
static void test_bytes_against_reference(void **state)
{
    static const char *const windows[] = {
        "sharpen:border=reflect",
        "laplacian:bias=128",
        "emboss:border=symmetric",
        "1_1_1/1_1_1/1_1_1:border=zero",
        "1_2_3_4_5_4_3_2_1:divisor=25",
        "1/-2/3/9/3/-2/1:divisor=16:border=wrap",
        "1_0_-1/2_0_-2/1_0_-1:divisor=8:bias=100",
        "0_0_0/1_-2_1/2_-4_2:divisor=6:bias=-7",
    };
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        check_bytes(windows[i], 70, 13, HARNESS_RANDOM);
        check_bytes(windows[i], 64, 9, HARNESS_EXTREMES);
    }
}

/* A conversion to f32 and luminance in front, which kernels take in, and what comes behind. */
static void test_fronts(void **state)
{
    static const char *const rounded = "convert:type=f32,fir:0.1_-0.25_0.3/0.5_1.5_0.7/0.1_0.2_0.9"
                                       ":divisor=3:bias=0.3:border=zero";
    (void)state;
    harness_sweep("convert:type=f32,fir:sample", SAMPLE_U8, 1);
    harness_few("convert:type=f32,fir:sample:border=wrap,invert", SAMPLE_U8, 3);
    harness_few("convert:type=f32,fir:sample", SAMPLE_U8, 4);
    harness_few(rounded, SAMPLE_U8, 1);
    harness_few(rounded, SAMPLE_I8, 3);
    harness_few("convert:type=f32,fir:gaussian5:border=reflect,convert:type=u8", SAMPLE_U16, 1);
    harness_sweep("luminance,convert:type=f32,fir:sample", SAMPLE_U8, 3);
    harness_few("luminance,fir:gaussian5:border=symmetric,invert", SAMPLE_U8, 4);
    harness_few("luminance:1_2_1,fir:emboss:border=zero", SAMPLE_U8, 3);
    harness_few("luminance,convert:type=f32,fir:1_2_3_4_3_2_1", SAMPLE_U8, 3); /* wider */
    harness_few("luminance,sobel:out=both", SAMPLE_U8, 3);
    harness_few("luminance,median", SAMPLE_U8, 4);
    harness_few("luminance,erode:3", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("fir", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "k is missing");
    harness_refuses("fir:1_2", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "odd, from 1 to 63");
    harness_refuses("fir:1_2_3/4_5_6", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "2 rows");
    harness_refuses("fir:1_2_3/4_5", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "rows of one length");
    harness_refuses("fir:@edges", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "no kernel 'edges'");
    harness_refuses("fir:gausian3", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "did you mean 'gaussian3'");
    harness_refuses("fir:1_2_1:divisor=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "divisor");
    harness_refuses("fir:1e9_1_1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN,
                    "the sum of k is 1e+09, and a divisor");
    harness_refuses("fir:1e10", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "1000000000");
    harness_refuses("fir:gaussian5:border=crop", SAMPLE_U8, 9, 4, 1, FAULT_SHAPE, "leaves nothing");
    harness_refuses("fir:gaussian3", SAMPLE_I32, 9, 9, 1, FAULT_SHAPE, "convert");
    harness_refuses("fir:gaussian3", SAMPLE_F64, 9, 9, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_borders_against_reference),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_bytes_against_reference),
        cmocka_unit_test(test_fronts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
