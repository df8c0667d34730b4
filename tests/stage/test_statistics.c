/* statistics: numbers computed by hand, then device against reference. */
#include "harness.h"

#include <math.h>
#include <stdio.h>

#define SAMPLES(...)                                                                               \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* A plane of one row, of as many values as there are. */
#define NUMBER(name, ...)                                                                          \
    (const struct harness_plane)                                                                   \
    {                                                                                              \
        name, sizeof SAMPLES(__VA_ARGS__) / sizeof(double), 1, 0, 0, SAMPLES(__VA_ARGS__)          \
    }

static void check(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                  uint32_t channels, const double *in, enum sample_type out,
                  const struct harness_plane *expected)
{
    harness_planes(chain, type, width, height, channels, in, out, false, expected, 0);
}

#define EXPECT(...)                                                                                \
    (const struct harness_plane[])                                                                 \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static void test_numbers(void **state)
{
    const double six[] = {1, 2, 3, 4, 5, 200}, *in = six;
    (void)state;
    check(
        "statistics:over=2_4.5_200", SAMPLE_U8, 3, 2, 1, in, SAMPLE_I32,
        EXPECT(NUMBER("count", 6), NUMBER("over2", 4), NUMBER("over4.5", 2), NUMBER("over200", 0)));
    check("statistics:0_1_17_50_84_100", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8,
          EXPECT(NUMBER("min", 1), NUMBER("max", 200), NUMBER("p0", 1), NUMBER("p1", 1),
                 NUMBER("p17", 2), NUMBER("p50", 3), NUMBER("p84", 200), NUMBER("p100", 200)));
    /* A sixth of all is 16.666… percent. */
    check(
        "statistics:16.666_16.667_66.6_66.7", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8,
        EXPECT(NUMBER("p16.666", 1), NUMBER("p16.667", 2), NUMBER("p66.6", 4), NUMBER("p66.7", 5)));
    /* The sum is 215, that of the squares 40055: the variance is 6 · 40055 - 215² over 36. */
    check("statistics", SAMPLE_U8, 3, 2, 1, in, SAMPLE_F64,
          EXPECT(NUMBER("mean", 215 / 6.0), NUMBER("deviation", sqrt(194105 / 36.0))));
    check("statistics", SAMPLE_U8, 1, 1, 1, SAMPLES(77), SAMPLE_F64,
          EXPECT(NUMBER("mean", 77), NUMBER("deviation", 0)));
    check("statistics", SAMPLE_U8, 2, 1, 1, SAMPLES(0, 0), SAMPLE_F64,
          EXPECT(NUMBER("mean", 0), NUMBER("deviation", 0)));
    check("statistics", SAMPLE_U8, 2, 1, 1, SAMPLES(0, 255), SAMPLE_F64,
          EXPECT(NUMBER("mean", 127.5), NUMBER("deviation", 127.5)));
    check("statistics", SAMPLE_U16, 3, 1, 1, SAMPLES(0, 0, 65535), SAMPLE_F64,
          EXPECT(NUMBER("mean", 21845), NUMBER("deviation", sqrt(2 * 65535.0 * 65535.0 / 9))));
    check("statistics:over=255_256", SAMPLE_U16, 3, 1, 1, SAMPLES(255, 256, 257), SAMPLE_I32,
          EXPECT(NUMBER("over255", 2), NUMBER("over256", 1)));
    check("statistics:40", SAMPLE_U16, 3, 1, 1, SAMPLES(300, 256, 70), SAMPLE_U16,
          EXPECT(NUMBER("min", 70), NUMBER("max", 300), NUMBER("p40", 256)));
    /* Values below zero: the sum is -7, that of the squares 16453, the variance 6 · 16453 - 7² over 36. */
    const double below[] = {-128, -3, -2, -1, 0, 127};
    check("statistics:0_50_100:over=-2_-200", SAMPLE_I8, 3, 2, 1, below, SAMPLE_I8,
          EXPECT(NUMBER("min", -128), NUMBER("max", 127), NUMBER("p0", -128), NUMBER("p50", -2),
                 NUMBER("p100", 127)));
    check("statistics:over=-2_-200_3", SAMPLE_I8, 3, 2, 1, below, SAMPLE_I32,
          EXPECT(NUMBER("count", 6), NUMBER("over-2", 3), NUMBER("over-200", 6), NUMBER("over3", 1)));
    check("statistics", SAMPLE_I8, 3, 2, 1, below, SAMPLE_F64,
          EXPECT(NUMBER("mean", -7 / 6.0), NUMBER("deviation", sqrt((6 * 32527 - 49) / 36.0))));
    check("statistics", SAMPLE_I16, 3, 1, 1, SAMPLES(-32768, -32768, 32767), SAMPLE_F64,
          EXPECT(NUMBER("mean", -32769 / 3.0), NUMBER("deviation", sqrt(2 * 65535.0 * 65535.0 / 9))));
    /* Each colour has its own; alpha has none. */
    harness_vector("statistics", SAMPLE_U8, 2, 1, 4, SAMPLES(1, 60, 100, 9, 3, 80, 90, 8),
                   SAMPLE_I32, 1, 1, 3, SAMPLES(2, 2, 2), 0);
    harness_vector("statistics", SAMPLE_U8, 2, 1, 2, SAMPLES(10, 255, 20, 0), SAMPLE_I32, 1, 1, 1,
                   SAMPLES(2), 0);
    check("statistics:over=50", SAMPLE_U8, 2, 1, 3, SAMPLES(1, 60, 100, 3, 80, 90), SAMPLE_I32,
          (const struct harness_plane[]){{"over50", 1, 1, 0, 0, SAMPLES(0, 2, 2)}, {0}});
    check("statistics", SAMPLE_U8, 2, 1, 3, SAMPLES(1, 60, 100, 3, 80, 90), SAMPLE_F64,
          (const struct harness_plane[]){{"mean", 1, 1, 0, 0, SAMPLES(2, 70, 95)},
                                         {"deviation", 1, 1, 0, 0, SAMPLES(1, 10, 5)},
                                         {0}});
    /* Five columns in two regions: two, and three. */
    check("statistics:across=2:over=2", SAMPLE_U8, 5, 1, 1, SAMPLES(1, 2, 3, 4, 8), SAMPLE_I32,
          EXPECT(NUMBER("count", 2, 3), NUMBER("over2", 0, 3)));
    check("statistics:across=2", SAMPLE_U8, 5, 1, 1, SAMPLES(1, 2, 3, 4, 8), SAMPLE_F64,
          EXPECT(NUMBER("mean", 1.5, 5), NUMBER("deviation", 0.5, sqrt(14 / 3.0))));
    check("statistics:down=2", SAMPLE_U8, 2, 2, 1, SAMPLES(1, 2, 30, 40), SAMPLE_F64,
          (const struct harness_plane[]){{"mean", 1, 2, 0, 0, SAMPLES(1.5, 35)}, {0}});
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("statistics:over=9_99_200", SAMPLE_U8, channels);
        harness_few("statistics:percentiles=none", SAMPLE_U16, channels);
        harness_check("statistics:across=4:down=3", SAMPLE_U8, 300, 211, channels, HARNESS_RANDOM);
    }
    harness_check("statistics:0.001_1_99.999:over=700", SAMPLE_U16, 130, 77, 1, HARNESS_RANDOM);
    harness_check("statistics:across=2:down=2", SAMPLE_U16, 130, 77, 3, HARNESS_EXTREMES);
    harness_check("statistics:across=16:down=16", SAMPLE_U8, 33, 300, 1, HARNESS_RAMP);
    harness_check("statistics:over=-9_20000", SAMPLE_I16, 130, 77, 1, HARNESS_EXTREMES);
    harness_check("statistics:down=2:over=-9", SAMPLE_I8, 130, 77, 3, HARNESS_RANDOM);
    harness_check("statistics:across=2:down=2", SAMPLE_U8, 9001, 37, 1, HARNESS_RANDOM);
    harness_check("statistics", SAMPLE_U8, 700, 400, 1, HARNESS_EXTREMES);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("statistics", SAMPLE_F32, 3, 3, 1, FAULT_SHAPE, "convert");
    harness_refuses("statistics:across=4", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE, "4×1 regions");
    harness_refuses("statistics:across=17", SAMPLE_U8, 30, 3, 1, FAULT_CHAIN, "across");
    harness_refuses("statistics:50_50", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "p50 is asked for twice");
    harness_refuses("statistics:50.0001", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "three digits");
    harness_refuses("statistics:101", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "percentiles");
    harness_refuses("statistics:over=-32769", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "65535");
    harness_refuses("statistics:across=16:down=16", SAMPLE_U16, 99, 99, 3, FAULT_SHAPE,
                    "fewer regions");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
