/* clahe: tables computed by hand for pictures of one tile and of few pixels, and device against
 * reference. tests/peers compares it with OpenCV. */
#include "harness.h"

#include "base/fault.h"

#define ROW_OF(arguments, type, width, channels, ...)                                              \
    do {                                                                                           \
        static const double both[2][(width) * (channels)] = __VA_ARGS__;                           \
        harness_vector("clahe" arguments, type, width, 1, channels, both[0], type, width, 1,       \
                       channels, both[1], 0);                                                      \
    } while (0)

/* Of one tile without a limit every value becomes its share of the pixels up to it: 255 · n / N. */
static void test_one_tile(void **state)
{
    (void)state;
    ROW_OF(":1x1:0", SAMPLE_U8, 1, 1, {{0}, {255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 1, 1, {{77}, {255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 1, {{10, 20}, {128, 255}}); /* 127.5 */
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 1, {{20, 10}, {255, 128}});
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 1, {{9, 9}, {255, 255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 3, 1, {{5, 0, 255}, {170, 85, 255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 4, 1,
           {{1, 2, 3, 4}, {64, 128, 191, 255}}); /* 63.75, 127.5, 191.25 */
    ROW_OF(":1x1:0", SAMPLE_U8, 4, 1, {{1, 1, 1, 4}, {191, 191, 191, 255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 5, 1, {{9, 7, 5, 3, 1}, {255, 204, 153, 102, 51}});
    ROW_OF(":1x1:0", SAMPLE_U16, 1, 1, {{1000}, {65535}});
    ROW_OF(":1x1:0", SAMPLE_U16, 2, 1, {{1000, 60000}, {32768, 65535}}); /* 32767.5 */
    ROW_OF(":1x1:0", SAMPLE_U16, 3, 1, {{70, 60, 50}, {65535, 43690, 21845}});
    ROW_OF(":1x1:0", SAMPLE_U16, 5, 1, {{3, 3, 2, 2, 1}, {65535, 65535, 39321, 39321, 13107}});
}

/* With a limit of 1 what is above it goes, one each, to every step-th value: of 2 pixels of one
 * value 1 goes to value 0 (step 256); of 4, 3 go to 0, 85 and 170 (step 85); of 5, 4 to 0, 64, 128
 * and 192. */
static void test_limit(void **state)
{
    (void)state;
    ROW_OF(":1x1", SAMPLE_U8, 1, 1, {{77}, {255}});                /* nothing is above */
    ROW_OF(":1x1", SAMPLE_U8, 2, 1, {{9, 9}, {255, 255}});         /* 1 at 0, 1 at 9 */
    ROW_OF(":1x1", SAMPLE_U8, 2, 1, {{0, 0}, {255, 255}});         /* both at 0 */
    ROW_OF(":1x1", SAMPLE_U8, 3, 1, {{9, 9, 4}, {255, 255, 170}}); /* 0, 4, 9 */
    ROW_OF(":1x1", SAMPLE_U8, 3, 1, {{9, 9, 0}, {255, 255, 170}}); /* 0 twice, 9 */
    ROW_OF(":1x1", SAMPLE_U8, 4, 1,
           {{9, 9, 9, 9}, {128, 128, 128, 128}}); /* 0, 9 of 0, 9, 85, 170 */
    ROW_OF(":1x1", SAMPLE_U8, 4, 1, {{90, 90, 90, 90}, {191, 191, 191, 191}}); /* 0, 85, 90 */
    ROW_OF(":1x1", SAMPLE_U8, 4, 1, {{250, 250, 250, 250}, {255, 255, 255, 255}});
    ROW_OF(":1x1", SAMPLE_U8, 5, 1,
           {{100, 100, 100, 100, 100}, {153, 153, 153, 153, 153}});             /* 0, 64, 100 */
    ROW_OF(":1x1:1000", SAMPLE_U8, 4, 1, {{9, 9, 9, 9}, {255, 255, 255, 255}}); /* up to 15 */
    ROW_OF(":1x1", SAMPLE_U16, 2, 1, {{9, 9}, {65535, 65535}});
    ROW_OF(":1x1", SAMPLE_U16, 4, 1, {{9, 9, 9, 9}, {32768, 32768, 32768, 32768}}); /* 32767.5 */
}

/* Tiles of one pixel have 255 for it and what is above, and each pixel lies in the middle of its
 * own. Of 3 pixels, which 2 does not divide, tiles are 2 wide (and 2 high): the right one has the
 * third and, mirrored, the second. Pixel 2 lies half way between their middles. */
static void test_tiles(void **state)
{
    (void)state;
    ROW_OF(":2x1:0", SAMPLE_U8, 2, 1, {{10, 20}, {255, 255}});
    ROW_OF(":4x1:0", SAMPLE_U8, 4, 1, {{10, 20, 30, 40}, {255, 255, 255, 255}});
    ROW_OF(":2x1:0", SAMPLE_U8, 3, 1, {{10, 20, 30}, {128, 255, 255}});
    ROW_OF(":2x1:0", SAMPLE_U8, 3, 1, {{30, 20, 10}, {255, 128, 64}}); /* (0 + 128) / 2 */
}

/* Tiles 2x1 on 4 pixels of one row divide: 2 wide, 1 high. Tables: left 0 below 10, 128 below 20,
 * then 255; right 0 below 30, 128 below 40, 255. Pixel x looks at (x + 0)/2 − 1/2 = −1/2, 0,
 * 1/2, 1. */
static void test_mixed(void **state)
{
    (void)state;
    ROW_OF(":2x1:0", SAMPLE_U8, 4, 1,
           {{10, 20, 30, 40}, {128, 255, 192, 255}}); /* (255 + 128) / 2 = 191.5 */
    ROW_OF(":2x1:0", SAMPLE_U8, 4, 1, {{30, 40, 10, 20}, {128, 255, 64, 255}}); /* (0 + 128) / 2 */
    ROW_OF(":2x1:0", SAMPLE_U16, 4, 1,
           {{10, 20, 30, 40}, {32768, 65535, 49152, 65535}}); /* 49151.5 */
}

static void test_colours(void **state)
{
    (void)state;
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 2, {{10, 7, 20, 250}, {128, 7, 255, 250}});
    /* Luma 18.15 and 118.15 become 128 and 255. */
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 3,
           {{10, 20, 30, 110, 120, 130}, {120, 130, 140, 247, 255, 255}});
    ROW_OF(":1x1:0", SAMPLE_U8, 2, 4,
           {{10, 20, 30, 1, 110, 120, 130, 2}, {120, 130, 140, 1, 247, 255, 255, 2}});
    ROW_OF(":1x1:0", SAMPLE_U16, 1, 3, {{100, 100, 100}, {65535, 65535, 65535}});
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("clahe", SAMPLE_U8, channels);
        harness_few("clahe:3x5:clip=4", SAMPLE_U8, channels);
        harness_check("clahe:2x3", SAMPLE_U8, 301, 211, channels, HARNESS_RANDOM);
    }
    harness_few("clahe:2x2", SAMPLE_U16, 1);
    harness_few("clahe:3x1:clip=0", SAMPLE_U16, 3);
    harness_few("clahe:1x2", SAMPLE_U16, 4);
    harness_check("clahe:64x64", SAMPLE_U8, 300, 211, 1, HARNESS_RAMP);
    harness_check("clahe:4x4:1.5", SAMPLE_U16, 300, 211, 1, HARNESS_RAMP);
    /* Tiles so large that bytes are counted in pairs, at last with more alike than 16 bits hold. */
    harness_check("clahe:2x1", SAMPLE_U8, 701, 511, 1, HARNESS_RANDOM);
    harness_check("clahe:1x1", SAMPLE_U8, 701, 511, 1, HARNESS_RAMP);
    harness_check("gain:0,clahe:1x1:clip=0", SAMPLE_U8, 701, 511, 1, HARNESS_RAMP);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("clahe", SAMPLE_F32, 3, 3, 1, FAULT_SHAPE, "convert:type=u16");
    harness_refuses("clahe:8", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "tiles=8");
    harness_refuses("clahe:0x1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "from 1x1");
    harness_refuses("clahe:65x1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "64x64");
    harness_refuses("clahe:clip=-1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "clip");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tile), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_tiles),    cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
