#include "harness.h"

#include "base/fault.h"

static void test_by_hand(void **state)
{
    static const double in[12] = {9, 8, 7, 6, 5, 9, 9, 9, 9, 9, 9, 3};
    static const double edge[12] = {5, 5, 6, 6, 5, 5, 3, 3, 5, 5, 3, 3};
    static const double zero[12] = {0, 0, 0, 0, 0, 5, 3, 0, 0, 0, 0, 0};
    (void)state;
    harness_vector("toyerode", SAMPLE_U8, 4, 3, 1, in, SAMPLE_U8, 4, 3, 1, edge, 0);
    harness_vector("toyerode:zero", SAMPLE_I16, 4, 3, 1, in, SAMPLE_I16, 4, 3, 1, zero, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_I16, SAMPLE_I32, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_few("toyerode:reflect", types[t], channels);
    harness_few("invert,toyerode,threshold:100", SAMPLE_U8, 1);
    harness_few("luminance,toyerode:wrap,invert", SAMPLE_U8, 3);
    harness_refuses("toyerode", SAMPLE_F64, 4, 4, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_reference),
    };
    return HARNESS_MAIN(tests);
}
