#include "harness.h"

#include "base/fault.h"

static void test_by_hand(void **state)
{
    static const double in[6] = {0, 1, 16, 51, 128, 255}, squares[6] = {0, 0, 1, 10, 64, 255};
    static const double real[4] = {-1, 0, 0.5, 2}, real_squares[4] = {0, 0, 0.25, 1};
    static const double grey[2] = {51, 77}, grey_out[2] = {10, 77};
    (void)state;
    harness_vector("toygamma:2", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 6, 1, 1, squares, 0);
    harness_vector("toygamma:2", SAMPLE_F32, 4, 1, 1, real, SAMPLE_F32, 4, 1, 1, real_squares,
                   1e-6);
    harness_vector("toygamma:2", SAMPLE_U8, 1, 1, 2, grey, SAMPLE_U8, 1, 1, 2, grey_out, 0);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_few("toygamma", SAMPLE_U8, channels);
        harness_few("toygamma:0.5", SAMPLE_F32, channels);
    }
    harness_few("invert,toygamma:3,threshold:100", SAMPLE_U8, 1);
    harness_refuses("toygamma", SAMPLE_I16, 4, 4, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_reference),
    };
    return HARNESS_MAIN(tests);
}
