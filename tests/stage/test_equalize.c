/* equalize: tables of small pictures worked out by hand, then device against reference. */
#include "harness.h"

#include <stdio.h>

#define ROW_OF(type, count, channels, ...)                                                         \
    do {                                                                                           \
        static const double both[2][count] = __VA_ARGS__;                                          \
        harness_vector("equalize", type, count / (channels), 1, channels, both[0], type,           \
                       count / (channels), 1, channels, both[1], 0);                               \
    } while (0)

static void test_grey(void **state)
{
    (void)state;
    ROW_OF(SAMPLE_U8, 1, 1, {{7}, {7}});
    ROW_OF(SAMPLE_U8, 3, 1, {{7, 7, 7}, {7, 7, 7}});
    ROW_OF(SAMPLE_U8, 1, 1, {{0}, {0}});
    ROW_OF(SAMPLE_U8, 2, 1, {{255, 255}, {255, 255}});
    ROW_OF(SAMPLE_U8, 2, 1, {{3, 4}, {0, 255}});
    ROW_OF(SAMPLE_U8, 2, 1, {{4, 3}, {255, 0}});
    ROW_OF(SAMPLE_U8, 3, 1, {{10, 20, 30}, {0, 128, 255}}); /* 127.5 */
    ROW_OF(SAMPLE_U8, 4, 1, {{10, 20, 30, 40}, {0, 85, 170, 255}});
    ROW_OF(SAMPLE_U8, 5, 1, {{1, 2, 3, 4, 5}, {0, 64, 128, 191, 255}}); /* 63.75, 127.5, 191.25 */
    ROW_OF(SAMPLE_U8, 4, 1, {{9, 9, 10, 10}, {0, 0, 255, 255}});
    ROW_OF(SAMPLE_U8, 4, 1, {{9, 10, 10, 200}, {0, 170, 170, 255}});
    ROW_OF(SAMPLE_U8, 5, 1, {{9, 9, 10, 200, 200}, {0, 0, 85, 255, 255}});
    ROW_OF(SAMPLE_U8, 6, 1, {{0, 0, 0, 1, 2, 255}, {0, 0, 0, 85, 170, 255}});
    ROW_OF(SAMPLE_U8, 7, 1,
           {{6, 5, 4, 3, 2, 1, 0}, {255, 213, 170, 128, 85, 43, 0}}); /* 212.5, 42.5: up */
    ROW_OF(
        SAMPLE_U8, 11, 1,
        {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {0, 26, 51, 77, 102, 128, 153, 179, 204, 230, 255}});
    ROW_OF(SAMPLE_U16, 1, 1, {{700}, {700}});
    ROW_OF(SAMPLE_U16, 2, 1, {{700, 701}, {0, 65535}});
    ROW_OF(SAMPLE_U16, 3, 1, {{255, 256, 257}, {0, 32768, 65535}}); /* 32767.5 */
    ROW_OF(SAMPLE_U16, 4, 1, {{0, 256, 512, 65535}, {0, 21845, 43690, 65535}});
    ROW_OF(SAMPLE_U16, 5, 1, {{60000, 1, 1, 60000, 30000}, {65535, 0, 0, 65535, 21845}});
    ROW_OF(SAMPLE_U16, 3, 1, {{65535, 65535, 65535}, {65535, 65535, 65535}});
}

/* Alpha counts for nothing, and stays. */
static void test_alpha(void **state)
{
    (void)state;
    ROW_OF(SAMPLE_U8, 6, 2, {{10, 1, 20, 2, 30, 3}, {0, 1, 128, 2, 255, 3}});
    ROW_OF(SAMPLE_U8, 4, 2, {{10, 200, 10, 100}, {10, 200, 10, 100}});
    ROW_OF(SAMPLE_U16, 4, 2, {{10, 200, 20, 100}, {0, 200, 65535, 100}});
    ROW_OF(SAMPLE_U8, 8, 4, {{10, 10, 10, 7, 20, 20, 20, 9}, {0, 0, 0, 7, 255, 255, 255, 9}});
}

/* Luma is (19595·red + 38470·green + 7471·blue)/65536. */
static void test_colours(void **state)
{
    (void)state;
    ROW_OF(SAMPLE_U8, 6, 3, {{10, 10, 10, 20, 20, 20}, {0, 0, 0, 255, 255, 255}});
    ROW_OF(SAMPLE_U8, 3, 3, {{10, 70, 200}, {10, 70, 200}});
    /* Lumas 76 and 150: changes of −76 and 105. */
    ROW_OF(SAMPLE_U8, 6, 3, {{255, 0, 0, 0, 255, 0}, {179, 0, 0, 105, 255, 105}});
    /* 29 and 226: −29 and 29. */
    ROW_OF(SAMPLE_U8, 6, 3, {{0, 0, 255, 255, 255, 0}, {0, 0, 226, 255, 255, 29}});
    /* 100, 110 and 120 become 0, 128 and 255. */
    ROW_OF(
        SAMPLE_U8, 9, 3,
        {{100, 100, 100, 110, 110, 110, 120, 120, 120}, {0, 0, 0, 128, 128, 128, 255, 255, 255}});
    /* The same luma, 76, of red and of grey: flat. */
    ROW_OF(SAMPLE_U8, 6, 3, {{255, 0, 0, 76, 76, 76}, {255, 0, 0, 76, 76, 76}});
    ROW_OF(SAMPLE_U16, 6, 3, {{1000, 1000, 1000, 999, 999, 999}, {65535, 65535, 65535, 0, 0, 0}});
    /* Lumas 19595 and 1000 of u16: 45940 and −1000. */
    ROW_OF(SAMPLE_U16, 6, 3, {{65535, 0, 0, 1000, 1000, 1000}, {65535, 45940, 45940, 0, 0, 0}});
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("equalize", SAMPLE_U8, channels);
        harness_few("equalize", SAMPLE_U16, channels);
        harness_check("equalize", SAMPLE_U16, 301, 207, channels, HARNESS_RAMP);
    }
    harness_few("sobel:both,equalize", SAMPLE_U8, 1);
    harness_few("luminance,equalize,resize:by=0.5,invert", SAMPLE_U8, 3);
    harness_check("equalize", SAMPLE_U8, 700, 1100, 1, HARNESS_RAMP);
    harness_check("equalize", SAMPLE_U8, 1027, 1100, 1, HARNESS_RANDOM); /* counted in pairs */
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("equalize", SAMPLE_F32, 3, 3, 1, FAULT_SHAPE, "convert:type=u16");
    harness_refuses("equalize", SAMPLE_I16, 3, 3, 1, FAULT_SHAPE, "convert:type=u16");
    harness_refuses("equalize:3", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "equalize");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),     cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
