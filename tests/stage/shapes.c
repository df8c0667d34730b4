#include "shapes.h"

#include <stdio.h>

static const char *name;
static const struct vector *vectors;
static size_t n_vectors;

/* The stage with these arguments; until the next call. */
static const char *chain(const char *arguments)
{
    static char text[80];
    snprintf(text, sizeof text, "%s:%s", name, arguments);
    return text;
}

static void test_vectors(void **state)
{
    (void)state;
    vectors_check(name, vectors, n_vectors);
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t t = 0; t < 3; t++) {
            harness_sweep(chain("3"), types[t], channels);
            harness_few(chain("6:5"), types[t], channels);
        }
}

static void test_borders(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        char arguments[40];
        snprintf(arguments, sizeof arguments, "4:7:border=%s", borders[b]);
        harness_few(chain(arguments), types[b % 3], 1 + (uint32_t)b % 4);
        harness_check(chain(arguments), SAMPLE_U8, 61, 37, 3, HARNESS_EXTREMES);
        harness_check(chain(arguments), SAMPLE_U16, 15, 13, 1, HARNESS_RANDOM);
        /* Larger than the first window of GPUs, even and odd, and at last than the picture: no larger
         * than it must be, because references look at each sample of each window. */
        snprintf(arguments, sizeof arguments, "31:75:border=%s", borders[b]);
        harness_check(chain(arguments), SAMPLE_U8, 50, 79, 1 + (uint32_t)b % 4, HARNESS_RANDOM);
        snprintf(arguments, sizeof arguments, "80:12:border=%s", borders[b]);
        harness_check(chain(arguments), SAMPLE_U8, 197, 21, 1, HARNESS_RAMP);
        if (b < 5)
            harness_check(chain(arguments), SAMPLE_U8, 13, 5, 4 - (uint32_t)b % 4, HARNESS_RANDOM);
    }
}

/* Windows of many sizes, some larger than the picture, and more columns and rows than one work-item
 * takes. */
static void test_sizes(void **state)
{
    char fused[80];
    static const char *const windows[] = {"1:2",   "2:1",   "5:17", "16:4",
                                          "17:64", "31:31", "65:3", "300:70"};
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        bool largest = i + 1 == sizeof windows / sizeof *windows;
        harness_check(chain(windows[i]), types[i % 3], largest ? 29 : 61, largest ? 23 : 43,
                      1 + (uint32_t)i % 4, HARNESS_RANDOM);
    }
    /* Up to what a kernel of GPUs takes in one direction, and blocks of 8 rows and parts of them.
     */
    harness_check(chain("10:9"), SAMPLE_U8, 130, 43, 1, HARNESS_RANDOM);
    harness_check(chain("11:14"), SAMPLE_U8, 61, 43, 3, HARNESS_RANDOM);
    harness_check(chain("33:33:border=reflect"), SAMPLE_U8, 130, 40, 1, HARNESS_RANDOM);
    harness_check(chain("17:8:border=zero"), SAMPLE_U8, 61, 43, 2, HARNESS_RAMP);
    harness_check(chain("4095:3"), SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check(chain("3:4095:border=wrap"), SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check(chain("3"), SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
    harness_check(chain("7:3"), SAMPLE_U8, 1500, 70, 3, HARNESS_RANDOM);
    harness_check(chain("5:30"), SAMPLE_U16, 700, 150, 1, HARNESS_RAMP);
    /* Windows whose first steps CPUs take in registers: of one or two rows, since the least of
     * many random samples is nearly always 0. */
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_check(chain("17:1"), SAMPLE_U8, 130, 4, channels, HARNESS_RANDOM);
        harness_check(chain("31:1:border=reflect"), SAMPLE_U8, 197, 4, channels, HARNESS_RANDOM);
        harness_check(chain("70:2:border=crop"), SAMPLE_U8, 261, 5, channels, HARNESS_RANDOM);
    }
    snprintf(fused, sizeof fused, "crop:0:3:20:6,%s:2,invert", name);
    harness_few(fused, SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses(name, SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width=W or radius=R");
    harness_refuses(chain("0"), SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width");
    harness_refuses(chain("4096"), SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "4095");
    harness_refuses(chain("3:radius=1"), SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "either");
    harness_refuses(chain("5:border=crop"), SAMPLE_U8, 4, 30, 1, FAULT_SHAPE, "5");
    harness_refuses(chain("3"), SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
}

int shapes_main(int argc, char **argv, const char *stage, const struct vector *of_stage, size_t n)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_borders),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    name = stage;
    vectors = of_stage;
    n_vectors = n;
    return HARNESS_MAIN(tests);
}
