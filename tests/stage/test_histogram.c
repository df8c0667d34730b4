/* histogram: counts by hand, then device against reference. */
#include "harness.h"

#include <math.h>
#include <stdio.h>

/* A row of pixels of as many channels, and the counts of its colours. */
#define ROW_OF(arguments, type, channels, colours, bins, in, ...)                                  \
    do {                                                                                           \
        static const double samples[] = {__VA_ARGS__}, given[] = UNPACK in;                        \
        harness_vector("histogram:bins=" #bins arguments, type,                                    \
                       sizeof given / sizeof *given / (channels), 1, channels, given, SAMPLE_I32,  \
                       bins, 1, colours, samples, 0);                                              \
    } while (0)
#define UNPACK(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void test_bytes(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_U8, 1, 1, 1, (1, 2, 3), 3);
    ROW_OF("", SAMPLE_U8, 1, 1, 2, (127, 128, 255), 1, 2);
    ROW_OF("", SAMPLE_U8, 1, 1, 2, (0, 1, 127), 3, 0);
    ROW_OF("", SAMPLE_U8, 1, 1, 4, (0, 63, 64, 127, 128, 191, 192, 255), 2, 2, 2, 2);
    ROW_OF("", SAMPLE_U8, 1, 1, 4, (70, 70, 70, 70, 70), 0, 5, 0, 0);
    ROW_OF("", SAMPLE_U8, 1, 1, 4, (255), 0, 0, 0, 1);
    ROW_OF("", SAMPLE_U8, 1, 1, 8, (31, 32, 223, 224), 1, 1, 0, 0, 0, 0, 1, 1);
    ROW_OF("", SAMPLE_U8, 1, 1, 16, (15, 16, 16, 17), 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
           0);
    /* Each colour for itself: the counts of a bin stand together. Alpha has none. */
    ROW_OF("", SAMPLE_U8, 3, 3, 2, (0, 200, 0, 1, 201, 255), 2, 0, 1, 0, 2, 1);
    ROW_OF("", SAMPLE_U8, 3, 3, 1, (0, 200, 0), 1, 1, 1);
    ROW_OF("", SAMPLE_U8, 4, 3, 2, (0, 200, 0, 9, 1, 201, 255, 255), 2, 0, 1, 0, 2, 1);
    ROW_OF("", SAMPLE_U8, 2, 1, 2, (0, 200, 129, 0, 130, 0), 1, 2);
    ROW_OF("", SAMPLE_U8, 2, 1, 1, (0, 200), 1);
}

static void test_words(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_U16, 1, 1, 2, (0, 32767, 32768, 65535), 2, 2);
    ROW_OF("", SAMPLE_U16, 1, 1, 4, (16383, 16384, 49152), 1, 1, 0, 1);
    ROW_OF("", SAMPLE_U16, 3, 3, 2, (0, 40000, 65535), 1, 0, 0, 0, 1, 1);
    ROW_OF("", SAMPLE_U16, 1, 1, 1, (9, 9), 2);
    ROW_OF("", SAMPLE_U16, 4, 3, 1, (9, 9, 9, 9), 1, 1, 1);
    ROW_OF("", SAMPLE_U16, 2, 1, 2, (9, 9, 50000, 9), 1, 1);
}

static void test_signed(void **state)
{
    (void)state;
    ROW_OF("", SAMPLE_I8, 1, 1, 2, (-128, -1, 0, 127), 2, 2);
    ROW_OF("", SAMPLE_I8, 3, 3, 1, (-128, -1, 0), 1, 1, 1);
    ROW_OF("", SAMPLE_I16, 1, 1, 4, (-32768, -16385, -16384, 0, 32767), 2, 1, 1, 1);
    ROW_OF("", SAMPLE_I16, 2, 1, 2, (-1, 0, 1, 0, 2, -5), 1, 2);
}

static void test_floats(void **state)
{
    (void)state;
    ROW_OF(":low=0:high=4", SAMPLE_F32, 1, 1, 4, (0, 0.5, 1, 3.99, 4), 2, 1, 0, 2);
    ROW_OF(":low=0:high=4", SAMPLE_F32, 1, 1, 4, (-0.01, 4.01, NAN, INFINITY, -INFINITY, 2), 0, 0,
           1, 0);
    ROW_OF(":low=-1:high=1", SAMPLE_F32, 1, 1, 2, (-1, -0.001, 0, 1), 2, 2);
    ROW_OF(":low=-1:high=1", SAMPLE_F32, 1, 1, 3, (-1, 0, 0.9), 1, 1, 1);
    ROW_OF("", SAMPLE_F32, 1, 1, 2, (0, 127, 128, 255), 2, 2);
    ROW_OF(":high=100", SAMPLE_F32, 1, 1, 5, (0, 20, 21, 99, 101), 1, 2, 0, 0, 1);
    ROW_OF(":high=2", SAMPLE_F32, 3, 3, 2, (0, 1, 2, 0.5, 3, 0.9), 2, 0, 1, 0, 1, 1);
    ROW_OF(":high=2", SAMPLE_F32, 4, 3, 2, (0, 1, 2, 7, 0.5, 3, 0.9, 0), 2, 0, 1, 0, 1, 1);
    ROW_OF(":high=2", SAMPLE_F32, 2, 1, 2, (0, 1, 2, 7), 1, 1);
    harness_white(1);
    ROW_OF("", SAMPLE_F32, 1, 1, 2, (0, 0.4, 0.5, 1), 2, 2);
    ROW_OF("", SAMPLE_F32, 1, 1, 1, (0, 0.4, 0.5, 1), 4);
}

static void test_regions(void **state)
{
    (void)state;
    static const double in[] = {0, 200, 1, 201, 202, 2}; /* two rows */
    static const double across[] = {1, 1, 2, 2}, down[] = {2, 1, 1, 2};
    harness_vector("histogram:bins=2:across=2", SAMPLE_U8, 3, 2, 1, in, SAMPLE_I32, 2, 2, 1, across,
                   0);
    harness_vector("histogram:bins=2:down=2", SAMPLE_U8, 3, 2, 1, in, SAMPLE_I32, 2, 2, 1, down, 0);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("histogram", SAMPLE_U8, channels);
        harness_few("histogram:bins=1024", SAMPLE_U16, channels);
        harness_few("histogram:bins=77:low=-1000:high=1000", SAMPLE_F32, channels);
    }
    harness_check("histogram:across=5:down=3:bins=32", SAMPLE_U8, 300, 211, 3, HARNESS_RANDOM);
    harness_check("histogram:bins=65536", SAMPLE_U16, 300, 211, 1, HARNESS_RAMP);
    harness_check("histogram:across=2:down=16", SAMPLE_F32, 65, 65, 4, HARNESS_EXTREMES);
    harness_check("histogram", SAMPLE_U8, 1025, 400, 1, HARNESS_EXTREMES);
    harness_check("histogram", SAMPLE_U8, 9001, 19, 1, HARNESS_RAMP); /* several work-groups a row */
    harness_check("histogram:bins=2048:down=2", SAMPLE_U16, 130, 77, 2, HARNESS_RANDOM);
    harness_check("histogram:bins=4096:low=-9:high=300", SAMPLE_F32, 130, 77, 1, HARNESS_RANDOM);
    harness_check("histogram:bins=512", SAMPLE_I16, 130, 77, 3, HARNESS_EXTREMES);
    harness_check("histogram:across=3", SAMPLE_I8, 130, 77, 4, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("histogram:bins=3", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE, "a power of two");
    harness_refuses("histogram:bins=512", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE, "at most 256");
    harness_refuses("histogram:bins=0", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "bins");
    harness_refuses("histogram:low=2:high=1", SAMPLE_F32, 3, 3, 1, FAULT_CHAIN, "not above");
    harness_refuses("histogram:down=4", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE, "1×4 regions");
    harness_refuses("histogram", SAMPLE_I32, 3, 3, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_signed),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
