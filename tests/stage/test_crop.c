/* crop: rectangles of small pictures, whose results are read off, and device against reference. */
#include "harness.h"

#include <stdio.h>

/* 5 by 4. */
static const double grid[20] = {0,  1,  2,  3,  4,  10, 11, 12, 13, 14,
                                20, 21, 22, 23, 24, 30, 31, 32, 33, 34};

#define GRID(arguments, w, h, ...)                                                                 \
    harness_vector("crop:" arguments, SAMPLE_U8, 5, 4, 1, grid, SAMPLE_U8, w, h, 1,                \
                   (const double[]){__VA_ARGS__}, 0)

static void test_places(void **state)
{
    (void)state;
    GRID("1:2:3:2", 3, 2, 21, 22, 23, 31, 32, 33);
    GRID("x=0:y=0:w=1:h=1", 1, 1, 0);
    GRID("w=2:h=2", 2, 2, 0, 1, 10, 11);
    GRID("x=3:w=2:h=2", 2, 2, 3, 4, 13, 14);
    GRID("y=3:w=2:h=1", 2, 1, 30, 31);
    GRID("4:3:1:1", 1, 1, 34);
    GRID("0:1:5:1", 5, 1, 10, 11, 12, 13, 14);
    GRID("2:0:1:4", 1, 4, 2, 12, 22, 32);
    harness_vector("crop:0:0:5:4", SAMPLE_U8, 5, 4, 1, grid, SAMPLE_U8, 5, 4, 1, grid, 0);
}

static void test_gravity(void **state)
{
    (void)state;
    GRID("gravity=centre:w=3:h=2", 3, 2, 11, 12, 13, 21, 22, 23);
    GRID("gravity=center:w=2:h=1", 2, 1, 11, 12); /* the half that is over lies behind */
    GRID("gravity=north:w=2:h=1", 2, 1, 1, 2);
    GRID("gravity=northeast:w=2:h=1", 2, 1, 3, 4);
    GRID("gravity=east:w=2:h=2", 2, 2, 13, 14, 23, 24);
    GRID("gravity=southeast:w=1:h=2", 1, 2, 24, 34);
    GRID("gravity=south:w=1:h=1", 1, 1, 32);
    GRID("gravity=southwest:w=2:h=1", 2, 1, 30, 31);
    GRID("gravity=west:w=1:h=3", 1, 3, 0, 10, 20);
    GRID("gravity=northwest:w=2:h=2", 2, 2, 0, 1, 10, 11);
    GRID("gravity=east:w=5:h=4", 5, 4, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 30,
         31, 32, 33, 34);
}

/* Every type and number of channels: pixels of 1 to 32 bytes, and nothing in them changes. */
static void test_pixels(void **state)
{
    static const double in[24] = {1,  -2, 3,  -4,  5,   -6, 7,  -8, 9,  -10, 11,  -12,
                                  13, 14, 15, 100, -99, 98, 97, 96, 95, 127, -128, 0};
    (void)state;
    for (int type = 0; type < SAMPLE_TYPES; type++) {
        double values[24];
        for (int i = 0; i < 24; i++)
            values[i] = sample_min((enum sample_type)type) < 0 || type >= SAMPLE_F32
                            ? in[i]
                            : in[i] + 128;
        harness_vector("crop:1:1:1:1", (enum sample_type)type, 3, 2, 4, values,
                       (enum sample_type)type, 1, 1, 4, values + 16, 0);
        harness_vector("crop:1:0:3:1", (enum sample_type)type, 4, 2, 3, values,
                       (enum sample_type)type, 3, 1, 3, values + 3, 0);
        harness_vector("crop:2:2:1:2", (enum sample_type)type, 3, 4, 2, values,
                       (enum sample_type)type, 1, 2, 2,
                       (const double[]){values[16], values[17], values[22], values[23]}, 0);
    }
}

/* On its own, in front of and behind other stages, which read and write where it says. */
static void test_against_reference(void **state)
{
    static const char *const chains[] = {
        "crop:1:2:7:5",
        "crop:gravity=southeast:w=33:h=9",
        "crop:16:0:16:1",
        "invert,crop:3:1:9:8,invert",
        "crop:3:1:9:8,sobel",
        "sobel,crop:5:5:20:3,threshold:90",
        "box:3,crop:gravity=centre:w=10:h=4,box:5",
        "crop:0:3:20:6,crop:7:1:6:4,invert",
        "fir:gaussian3,crop:32:2:8:8,fir:gaussian3",
        "crop:3:3:16:12,dwt:levels=2,idwt",
    };
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_few(chains[i], i % 2 ? SAMPLE_U16 : SAMPLE_U8, 1 + (uint32_t)i % 4);
        harness_check(chains[i], SAMPLE_U8, 61, 43, 1, HARNESS_RANDOM);
        harness_check(chains[i], SAMPLE_F32, 61, 43, 3, HARNESS_RANDOM);
    }
    harness_sweep("crop:gravity=south:w=3:h=2", SAMPLE_U8, 3);
    harness_sweep("crop:gravity=east:w=1:h=1", SAMPLE_F64, 2);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("crop:1:1:5:2", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "5×2 at x=1, y=1");
    harness_refuses("crop:1:1:5:2", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "picture, which is 5×4");
    harness_refuses("crop:0:3:1:2", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "outside");
    harness_refuses("crop:x=-1:w=2:h=2", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "outside");
    harness_refuses("crop:gravity=centre:w=6:h=1", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "outside");
    harness_refuses("crop:5:0:1:1", SAMPLE_U8, 5, 4, 1, FAULT_SHAPE, "outside");
    harness_refuses("crop:1:1", SAMPLE_U8, 5, 4, 1, FAULT_CHAIN, "w");
    harness_refuses("crop:w=2", SAMPLE_U8, 5, 4, 1, FAULT_CHAIN, "h");
    harness_refuses("crop:w=0:h=2", SAMPLE_U8, 5, 4, 1, FAULT_CHAIN, "1");
    harness_refuses("crop:x=1:w=2:h=2:gravity=north", SAMPLE_U8, 5, 4, 1, FAULT_CHAIN, "either");
    harness_refuses("crop:w=2:h=2:gravity=middle", SAMPLE_U8, 5, 4, 1, FAULT_CHAIN, "centre");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_gravity),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
