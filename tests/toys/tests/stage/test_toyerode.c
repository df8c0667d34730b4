#include "harness.h"

static void test_by_hand(void **state)
{
    static const double in[12] = {9, 8, 7, 6, 5, 9, 9, 9, 9, 9, 9, 3};
    static const double edge[12] = {5, 6, 6, 3, 5, 5, 5, 3, 5, 3, 3, 3};
    static const double zero[12] = {0};
    (void)state;
    harness_vector("toyerode", SAMPLE_U8, 4, 3, 1, in, SAMPLE_U8, 4, 3, 1, edge, 0);
    harness_vector("toyerode:zero", SAMPLE_I16, 4, 3, 1, in, SAMPLE_I16, 4, 3, 1, zero, 0);
}

static void test_against_reference(void **state)
{
    (void)state;
    harness_window("toyerode");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_reference),
    };
    return HARNESS_MAIN(tests);
}
