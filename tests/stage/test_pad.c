/* pad: small pictures, whose results are read off; those with borders as numpy.pad gives them; and
 * device against reference. */
#include "harness.h"

#include <stdio.h>

static const double line[3] = {1, 2, 3};

#define LINE(arguments, width, ...)                                                                \
    harness_vector("pad:" arguments, SAMPLE_U8, 3, 1, 1, line, SAMPLE_U8, width, 1, 1,             \
                   (const double[]){__VA_ARGS__}, 0)

static void test_lines(void **state)
{
    (void)state;
    LINE("2", 5, 0, 0, 1, 2, 3);
    LINE("right=2", 5, 1, 2, 3, 0, 0);
    LINE("1:2:background=9", 6, 9, 1, 2, 3, 9, 9);
    LINE("1:1:background=300", 5, 255, 1, 2, 3, 255); /* clamped */
    LINE("1:1:background=2.5", 5, 2, 1, 2, 3, 2);     /* to even */
    LINE("0:0", 3, 1, 2, 3);
    LINE("2:2:border=edge", 7, 1, 1, 1, 2, 3, 3, 3);
    LINE("2:2:border=reflect", 7, 3, 2, 1, 2, 3, 2, 1);
    LINE("2:2:border=symmetric", 7, 2, 1, 1, 2, 3, 3, 2);
    LINE("2:2:border=wrap", 7, 2, 3, 1, 2, 3, 1, 2);
    LINE("2:2:border=zero:background=7", 7, 0, 0, 1, 2, 3, 0, 0);
    /* further than the picture is wide */
    LINE("7:0:border=edge", 10, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3);
    LINE("7:1:border=reflect", 11, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2);
    LINE("7:1:border=symmetric", 11, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3);
    LINE("7:1:border=wrap", 11, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1);
}

/* Aliases, rows, both directions, one pixel. */
static void test_squares(void **state)
{
    static const double in[4] = {1, 2, 3, 4}, one[1] = {5};
    (void)state;
    harness_vector("pad:top=1:bottom=1", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 2, 4, 1,
                   (const double[]){0, 0, 1, 2, 3, 4, 0, 0}, 0);
    harness_vector("pad:1:0:0:1:background=8", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 3, 3, 1,
                   (const double[]){8, 1, 2, 8, 3, 4, 8, 8, 8}, 0);
    harness_vector("pad:1:1:1:1:border=mirror", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 4, 4, 1,
                   (const double[]){4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3, 2, 1, 2, 1}, 0);
    harness_vector("pad:1:1:1:1:border=periodic", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 4, 4, 1,
                   (const double[]){4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3, 2, 1, 2, 1}, 0);
    harness_vector("pad:1:1:1:1:border=replicate", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 4, 4, 1,
                   (const double[]){1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}, 0);
    harness_vector("pad:1:1:1:1:border=constant", SAMPLE_U8, 2, 2, 1, in, SAMPLE_U8, 4, 4, 1,
                   (const double[]){0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}, 0);
    harness_vector("pad:1:1:1:1:border=reflect", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 3, 3, 1,
                   (const double[]){5, 5, 5, 5, 5, 5, 5, 5, 5}, 0);
    harness_vector("pad:1:1:0:0:border=wrap", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 3, 1, 1,
                   (const double[]){5, 5, 5}, 0);
}

/* Backgrounds by channel, in types of every size. */
static void test_pixels(void **state)
{
    (void)state;
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        enum sample_type type = (enum sample_type)t;
        harness_vector("pad:1:background=9", type, 1, 1, 2, (const double[]){1, 2}, type, 2, 1, 2,
                       (const double[]){9, 9, 1, 2}, 0);
        harness_vector("pad:right=1:background=7_8_9", type, 1, 1, 3, (const double[]){1, 2, 3},
                       type, 2, 1, 3, (const double[]){1, 2, 3, 7, 8, 9}, 0);
        harness_vector("pad:top=1:background=6_7_8_9", type, 1, 1, 4, (const double[]){1, 2, 3, 4},
                       type, 1, 2, 4, (const double[]){6, 7, 8, 9, 1, 2, 3, 4}, 0);
        harness_vector("pad:1:border=edge", type, 1, 1, 4, (const double[]){1, 2, 3, 4}, type, 2,
                       1, 4, (const double[]){1, 2, 3, 4, 1, 2, 3, 4}, 0);
    }
    harness_vector("pad:1:background=-2.5", SAMPLE_F32, 1, 1, 1, line, SAMPLE_F32, 2, 1, 1,
                   (const double[]){-2.5, 1}, 0);
    harness_vector("pad:1:background=-1e6", SAMPLE_I16, 1, 1, 1, line, SAMPLE_I16, 2, 1, 1,
                   (const double[]){-32768, 1}, 0);
}

static void test_against_reference(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero"};
    (void)state;
    for (size_t b = 0; b < 5; b++) {
        char chain[80];
        snprintf(chain, sizeof chain, "pad:3:40:2:50:border=%s", borders[b]);
        harness_few(chain, SAMPLE_U8, 1 + (uint32_t)b % 4);
        harness_few(chain, SAMPLE_U16, 3);
        harness_few(chain, SAMPLE_F64, 1 + (uint32_t)b % 2);
    }
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("pad:3:5:1:2:background=17", SAMPLE_U8, channels);
        harness_few("pad:16:16:1:2:background=17", SAMPLE_F32, channels);
        harness_few("pad:16:1:0:2:background=17", SAMPLE_I16, channels);
    }
    harness_few("pad:4:4:4:4:border=reflect,sobel,crop:gravity=centre:w=1:h=1", SAMPLE_U8, 1);
    harness_few("sobel:both,pad:1:2:3:4", SAMPLE_U8, 1);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("pad:-1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "0");
    harness_refuses("pad:1:border=crop", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "edge");
    harness_refuses("pad:1:background=1_2_3_4_5", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "5 values");
    harness_refuses("pad:1:background=1_2", SAMPLE_U8, 3, 3, 3, FAULT_SHAPE, "2 values");
    harness_refuses("pad:1000000:0:1000000", SAMPLE_U8, 3, 3, 3, FAULT_LIMIT, "2^31");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
