#include "harness.h"

#include <math.h>
#include <stdio.h>

#include "banks.h"
#include "base/fault.h"
#include "chain/reference.h"

/* Planes and their zeros, worked out by a program of its own (Python and numpy) from the formulas
 * of docs/stages/synthesis.md. */
static void test_whole_haar_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {0, 3, 1, 4, 1, 5, 0};
    static const struct harness_plane planes[] = {
        {"", 7, 1, 1, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:haar:dims=1:border=zero,synthesis:crop=0", SAMPLE_U8, 5, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_haar_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {0, 3, 1, 4, 1, 5, 3};
    static const struct harness_plane planes[] = {
        {"", 7, 1, 1, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:haar:dims=1:border=cyclic,synthesis:crop=0", SAMPLE_U8, 5, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_legall53_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {0, 0, 0, 3, 1, 4, 1, 5, 0, 0, 0};
    static const struct harness_plane planes[] = {
        {"", 11, 1, 3, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:dims=1:border=zero,synthesis:crop=0", SAMPLE_U8, 5, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_legall53_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {0.875, 1.75, 5.375, 3, 1, 4, 1, 5, 3.375, 1.75, 0.875};
    static const struct harness_plane planes[] = {
        {"", 11, 1, 3, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:dims=1:border=cyclic,synthesis:crop=0", SAMPLE_U8, 5, 1, 1,
                   in, SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_cdf97_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {
        0, 0, 0, 5.149804194e-13, 1.684624662e-13, 1.603800426e-12, 4.655165142e-13, 3, 1,
        4, 1, 5, 4.653916141e-13, 2.197866888e-12, 1.685318551e-13, 8.326256351e-13, 0, 0,
        0};
    static const struct harness_plane planes[] = {
        {"", 19, 1, 7, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=zero,synthesis:crop=0", SAMPLE_U8, 5, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_cdf97_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {-0.09565470454,
                                -0.06030681135,
                                0.7857792187,
                                1.273363316,
                                4.445229178,
                                1.000568797,
                                5.000902188,
                                3,
                                1,
                                4,
                                1,
                                5,
                                2.909616232,
                                0.9430163226,
                                4.622279842,
                                2.127414465,
                                1.225102956,
                                -0.1050411787,
                                -0.1666094208};
    static const struct harness_plane planes[] = {
        {"", 19, 1, 7, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=cyclic,synthesis:crop=0", SAMPLE_U8, 5, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_legall53_2(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 10, 20, 30, 41, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 5, 250, 0, 9, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 77, 3, 128, 64,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,   0,
        0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct harness_plane planes[] = {
        {"", 19, 19, 7, 7, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:levels=2:dims=2,synthesis:crop=0", SAMPLE_U8, 4, 3, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_cdf97_1(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {0,
                                0,
                                9.895704385e-21,
                                6.238881615e-21,
                                -1.770411558e-20,
                                -9.164339831e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                5.818804786e-20,
                                -1.897016611e-20,
                                2.89334657e-20,
                                8.480983551e-21,
                                -1.828411385e-21,
                                -2.90010609e-21,
                                3.94665663e-21,
                                2.488224359e-21,
                                -4.477260814e-20,
                                -6.032557576e-20,
                                0,
                                0,
                                0,
                                0,
                                1.929292641e-13,
                                2.893938155e-13,
                                3.955088022e-13,
                                0,
                                -3.768317862e-20,
                                5.803776827e-20,
                                5.48061687e-20,
                                -1.820497937e-21,
                                -2.887554911e-21,
                                -5.415776578e-20,
                                -3.414450063e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                2.411563629e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                -1.193741838e-20,
                                -1.893434841e-20,
                                8.45257149e-20,
                                5.329041073e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                2.330809071e-12,
                                3.205000354e-12,
                                5.998938269e-12,
                                7.128326545e-12,
                                0,
                                0,
                                0,
                                0,
                                8.471267729e-21,
                                1.343654564e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                7.93647668e-13,
                                3.970167929e-11,
                                0,
                                1.429039616e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                7.352515703e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1.529415422e-11,
                                6.613983328e-12,
                                2.952915415e-11,
                                2.27402134e-11,
                                0,
                                0,
                                0,
                                0,
                                -5.143198774e-20,
                                -8.157827449e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1.534906711e-12,
                                7.668953741e-11,
                                0,
                                2.762470919e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1.929567617e-13,
                                1.877498157e-12,
                                3.571115625e-12,
                                7.831041371e-12,
                                1.264721661e-11,
                                10,
                                20,
                                30,
                                41,
                                1.078510892e-11,
                                1.574998465e-11,
                                4.860792324e-12,
                                6.704345412e-12,
                                2.89397846e-13,
                                3.955100136e-13,
                                0,
                                0,
                                2.411515432e-12,
                                7.939204849e-13,
                                3.978950502e-11,
                                1.535660488e-12,
                                7.811301606e-11,
                                5,
                                250,
                                1.528053725e-12,
                                9,
                                7.941702851e-13,
                                4.246192287e-11,
                                0,
                                3.84077492e-12,
                                0,
                                0,
                                0,
                                7.427808368e-13,
                                0,
                                1.346234235e-11,
                                1.092903545e-12,
                                4.394573594e-11,
                                1.108708958e-11,
                                77,
                                3,
                                128,
                                64,
                                5.149214388e-11,
                                2.01092476e-11,
                                2.106892438e-11,
                                1.019195839e-11,
                                1.234790048e-12,
                                6.174227796e-13,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1.529859301e-12,
                                7.668393577e-11,
                                0,
                                2.760535989e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                2.520930059e-11,
                                4.095716903e-12,
                                4.402541116e-11,
                                2.614141182e-11,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                7.940143037e-13,
                                3.969946993e-11,
                                0,
                                1.428192717e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1.232450421e-11,
                                6.696821055e-13,
                                2.061638016e-11,
                                1.055899164e-11,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                2.411871438e-12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                -2.246544428e-20,
                                -1.416363817e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                7.42775063e-13,
                                0,
                                1.234750323e-12,
                                6.173765912e-13,
                                0,
                                0,
                                0,
                                0,
                                4.284742309e-20,
                                6.796175629e-20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                4.991105292e-20,
                                7.916563508e-20};
    static const struct harness_plane planes[] = {
        {"", 17, 17, 7, 7, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:levels=1:dims=2,synthesis:crop=0", SAMPLE_U8, 4, 3, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_mixed_1(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {
        0, 0,  0,  0,  0,  0, 0, 0, 0,   0, 0, 0, 0, 0,  0, 0,   -4.440536491e-32,
        0, 10, 20, 30, 41, 0, 0, 5, 250, 0, 9, 0, 0, 77, 3, 128, 64,
        0, 0,  0,  0,  0,  0, 0, 0, 0,   0, 0, 0, 0, 0,  0, 0,   0,
        0, 0,  0};
    static const struct harness_plane planes[] = {
        {"", 6, 9, 0, 3, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:@mixed:levels=1:dims=2,synthesis:crop=0", SAMPLE_U8, 4, 3, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_dct3_2(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {1, 2, 0, 255, 9, 8, 100, 0, 0};
    static const struct harness_plane planes[] = {
        {"", 9, 1, 0, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:@dct3:levels=2:dims=1,synthesis:crop=0", SAMPLE_U8, 7, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_und_1(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {0, 1, 2, 0, 255, 9, 8, 100, 0};
    static const struct harness_plane planes[] = {
        {"", 9, 1, 1, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:@und:levels=1:dims=1,synthesis:crop=0", SAMPLE_U8, 7, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_whole_lossy_1(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {0, -1, 3, 3.75, -247, 506.5, 457.25, -100, 204, 183};
    static const struct harness_plane planes[] = {
        {"", 10, 1, 2, 0, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:@lossy:levels=1:dims=1,synthesis:crop=0", SAMPLE_U8, 7, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_partial(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {0, 0, 0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 142.5, 40, 0, 0,
                                0, 0, 40, 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,     0,  0, 0};
    static const struct harness_plane planes[] = {
        {"", 6, 6, 2, 2, p0},
        {0},
    };
    (void)state;
    harness_planes("analysis:haar:levels=3,synthesis:levels=2:crop=0", SAMPLE_U8, 4, 3, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

/* The other bands count as one zero sample each. */
static void test_missing_low(void **state)
{
    static const double in[] = {5, -3, 2};
    static const double p0[] = {0, 2.5, 5, 1, -3, -0.5, 2, 1};
    static const struct harness_plane planes[] = {
        {"", 8, 1, 2, 0, p0},
        {0},
    };
    (void)state;
    harness_name_input("a1_h0");
    harness_planes("synthesis:legall53:dims=1", SAMPLE_F32, 3, 1, 1, in, SAMPLE_F32, true, planes,
                   1e-3);
    harness_name_input("");
}

static void test_missing_high(void **state)
{
    static const double in[] = {5, -3, 2};
    static const double p0[] = {0,
                                0.1337437871,
                                0.08432059221,
                                -0.4713626049,
                                -1.384912948,
                                3.302912406,
                                -0.5,
                                -2.35640992,
                                0.3511847107,
                                1.574311623,
                                -0.5843205922,
                                -0.2366928053,
                                0.03372823689,
                                0.05349751482};
    static const struct harness_plane planes[] = {
        {"", 14, 1, 4, 0, p0},
        {0},
    };
    (void)state;
    harness_name_input("a1_h1");
    harness_planes("synthesis:cdf97:dims=1", SAMPLE_F32, 3, 1, 1, in, SAMPLE_F32, true, planes,
                   1e-3);
    harness_name_input("");
}

static void test_missing_2d(void **state)
{
    static const double in[] = {7, 200, 31, 90, 4, 255};
    static const double p0[] = {0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                -0.6187184335,
                                0,
                                0.6187184335,
                                -17.67766953,
                                0,
                                17.67766953,
                                -2.740038777,
                                0,
                                2.740038777,
                                -1.237436867,
                                0,
                                1.237436867,
                                -35.35533906,
                                0,
                                35.35533906,
                                -5.480077554,
                                0,
                                5.480077554,
                                -4.242640687,
                                0,
                                4.242640687,
                                105.7124638,
                                0,
                                -105.7124638,
                                -6.098795988,
                                0,
                                6.098795988,
                                -17.14733944,
                                0,
                                17.14733944,
                                -36.06244584,
                                0,
                                36.06244584,
                                -50.55813485,
                                0,
                                50.55813485,
                                47.1109893,
                                0,
                                -47.1109893,
                                -15.55634919,
                                0,
                                15.55634919,
                                132.4941331,
                                0,
                                -132.4941331,
                                -15.90990258,
                                0,
                                15.90990258,
                                -0.7071067812,
                                0,
                                0.7071067812,
                                -45.0780573,
                                0,
                                45.0780573,
                                -7.954951288,
                                0,
                                7.954951288,
                                -0.3535533906,
                                0,
                                0.3535533906,
                                -22.53902865,
                                0,
                                22.53902865};
    static const struct harness_plane planes[] = {
        {"", 9, 8, 0, 2, p0},
        {0},
    };
    (void)state;
    harness_name_input("a1_h1_v1");
    harness_planes("synthesis:@mixed", SAMPLE_F32, 3, 2, 1, in, SAMPLE_F32, true, planes, 1e-3);
    harness_name_input("");
}

static void test_missing_deep(void **state)
{
    static const double in[] = {5, -3, 2};
    static const double p0[] = {0, 0, 2.5, 2.5, -2.5, -2.5, -1.5, -1.5, 1.5, 1.5, 1, 1, -1, -1};
    static const struct harness_plane planes[] = {
        {"", 14, 1, 2, 0, p0},
        {0},
    };
    (void)state;
    harness_name_input("a2_h1");
    harness_planes("synthesis:haar:dims=1", SAMPLE_F32, 3, 1, 1, in, SAMPLE_F32, true, planes,
                   1e-3);
    harness_name_input("");
}

/* Integers come back, at every depth. */
static void round_trip(const char *words, enum sample_type type, uint32_t width, uint32_t height,
                       uint32_t channels)
{
    double samples[64 * 64];
    char chain[256];
    uint32_t random = width * 31 + height;
    assert_true(width * height * channels <= 64 * 64);
    for (uint32_t i = 0; i < width * height * channels; i++) {
        random = random * 1664525 + 1013904223;
        double part = (random >> 8) / 16777215.0;
        samples[i] = rint(sample_min(type) + part * (sample_max(type) - sample_min(type)));
    }
    snprintf(chain, sizeof chain, "analysis:%s,synthesis", words);
    harness_vector(chain, type, width, height, channels, samples, type, width, height, channels,
                   samples, 0);
}

static void test_depths(void **state)
{
    static const char *const names[] = {"legall53", "cdf97", "haar"};
    static const char *const borders[] = {"zero", "cyclic"};
    static const char *const precisions[] = {"single", "double"};
    char words[128];
    (void)state;
    for (int bank = 0; bank < 3; bank++)
        for (int border = 0; border < 2; border++)
            for (int precision = 0; precision < 2; precision++)
                for (int levels = 1; levels <= 11; levels += levels < 4 ? 1 : 7) {
                    snprintf(words, sizeof words, "%s:levels=%d:border=%s:precision=%s",
                             names[bank], levels, borders[border], precisions[precision]);
                    round_trip(words, SAMPLE_U8, 37, 21, 1);
                    round_trip(words, SAMPLE_U8, 64, 3, 1);
                    round_trip(words, SAMPLE_U16, 29, 33, 1);
                }
}

static void test_sizes(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 5}, {1, 61}, {61, 1}, {32, 33}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        round_trip("cdf97:levels=3", SAMPLE_U8, sizes[i][0], sizes[i][1], 1);
        round_trip("legall53:levels=4:border=cyclic", SAMPLE_U16, sizes[i][0], sizes[i][1], 1);
        round_trip("@mixed:levels=2", SAMPLE_U8, sizes[i][0], sizes[i][1], 1);
    }
}

static void test_types(void **state)
{
    (void)state;
    round_trip("cdf97:levels=2", SAMPLE_U8, 19, 17, 3);
    round_trip("cdf97:levels=2", SAMPLE_U16, 19, 17, 1);
    round_trip("cdf97:levels=2:border=cyclic", SAMPLE_I16, 19, 17, 3);
    round_trip("legall53", SAMPLE_I8, 19, 17, 1);
    round_trip("cdf97:levels=2:precision=double", SAMPLE_I32, 19, 17, 1);
    round_trip("@dct3:levels=2", SAMPLE_U8, 19, 17, 3);
    round_trip("@und:levels=2", SAMPLE_U8, 19, 17, 1);
    round_trip("@q:levels=3:border=cyclic", SAMPLE_U8, 19, 17, 1);
    round_trip("sequences=cdf97_legall53/cdf97/@dct3_@mixed", SAMPLE_U8, 19, 17, 1);
    round_trip("cdf97:levels=5:dims=1", SAMPLE_U8, 61, 3, 1);
    static const char *const borders[] = {"cyclic",    "periodization", "constant",
                                          "symmetric", "reflect",       "smooth",
                                          "antireflect", "antisymmetric"};
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        char words[80];
        snprintf(words, sizeof words, "sequence=@lifted_@dct3:border=%s", borders[i]);
        round_trip(words, SAMPLE_U8, 19, 17, 1);
    }
}

/* A band that is gone from a frame that says what it came from: as a band of zeros, for sizes one
 * zero sample. The first band alone gives a smooth picture. */
static void test_gone_from_origin(void **state)
{
    static const struct plan_options options = {0};
    struct frame in = {0};
    struct plane original = {.width = 6, .height = 1, .channels = 1, .type = SAMPLE_U8};
    struct plane low = {
        .name = "a1_h0", .width = 3, .height = 1, .channels = 1, .type = SAMPLE_F32};
    struct frame_origin origin = {
        .stage = "analysis", .parameters = ":bank=haar:dims=1", .plane = original, .count = 1};
    struct chain chain;
    struct plan *plan;
    struct picture from, to;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_true(frame_add_plane(&in, &low, FRAME_ALIGNMENT));
    assert_true(frame_add_origin(&in, &origin));
    assert_int_equal(chain_parse(&chain, "synthesis", &fault), 0);
    if (plan_create(&plan, &chain, &in, &options, &fault) != 0)
        fail_msg("%s", fault.text);
    assert_true(picture_create(&from, &in));
    for (int i = 0; i < 3; i++)
        ((float *)picture_row(&from, 0, 0))[i] = 141.42136f * (float)i;
    assert_int_equal(reference_run(plan, &from, &to, &fault), 0);
    const uint8_t expected[6] = {0, 0, 100, 100, 200, 200};
    assert_int_equal(to.frame.planes[0].width, 6);
    assert_memory_equal(picture_row(&to, 0, 0), expected, 6);
    picture_destroy(&from);
    picture_destroy(&to);
    plan_destroy(&plan);
    chain_finish(&chain);
    frame_finish(&in);
}

static void test_against_reference(void **state)
{
    (void)state;
    harness_few("analysis:cdf97:levels=2,synthesis:crop=0", SAMPLE_U8, 1);
    harness_few("analysis:cdf97:levels=2:border=cyclic,synthesis:crop=0", SAMPLE_F32, 3);
    harness_few("analysis:@mixed,gain:by=0.5,synthesis:crop=0", SAMPLE_F32, 1);
    harness_few("analysis:@dct3:levels=2,synthesis:levels=1:crop=0", SAMPLE_U8, 2);
    harness_few("analysis:legall53,synthesis:crop=0:precision=double", SAMPLE_U8, 1);
    harness_sweep("analysis:legall53:levels=2,synthesis", SAMPLE_U8, 1);
    harness_few("analysis:sequences=haar_cdf97/haar/@mixed,synthesis", SAMPLE_U8, 1);
    harness_few("analysis:@mixed:levels=2:border=periodization,synthesis", SAMPLE_U8, 1);
    harness_few("analysis:@dct3:levels=2:border=periodization,gain:0.5,synthesis:crop=0", SAMPLE_F32,
                3);
    harness_few("analysis:@lifted:levels=3:border=periodization:dims=1:precision=double,synthesis",
                SAMPLE_U16, 1);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("synthesis", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE, "put analysis in front");
    harness_refuses("synthesis:haar", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE, "put analysis in front");
    harness_refuses("analysis:haar,synthesis:levels=2", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE,
                    "but there are 1");
    harness_refuses("analysis:haar:precision=double,convert:type=f32,synthesis:precision=single",
                    SAMPLE_I32, 9, 9, 1, FAULT_SHAPE, "i32 samples need precision=double");
    harness_refuses("synthesis:@dct9", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "@dct3");
    harness_refuses("analysis:@lifted,synthesis:border=periodization", SAMPLE_U8, 9, 9, 1,
                    FAULT_SHAPE, "of a plane of 9×9 it would be 5×5");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_haar_zero),
        cmocka_unit_test(test_whole_haar_cyclic),
        cmocka_unit_test(test_whole_legall53_zero),
        cmocka_unit_test(test_whole_legall53_cyclic),
        cmocka_unit_test(test_whole_cdf97_zero),
        cmocka_unit_test(test_whole_cdf97_cyclic),
        cmocka_unit_test(test_whole_legall53_2),
        cmocka_unit_test(test_whole_cdf97_1),
        cmocka_unit_test(test_whole_mixed_1),
        cmocka_unit_test(test_whole_dct3_2),
        cmocka_unit_test(test_whole_und_1),
        cmocka_unit_test(test_whole_lossy_1),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_missing_low),
        cmocka_unit_test(test_missing_high),
        cmocka_unit_test(test_missing_2d),
        cmocka_unit_test(test_missing_deep),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_gone_from_origin),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN_WITH(tests, banks_setup, banks_teardown);
}
