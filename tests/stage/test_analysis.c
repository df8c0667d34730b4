#include "harness.h"

#include <stdio.h>

#include "banks.h"
#include "base/fault.h"

/* Planes and their zeros, worked out by a program of its own (Python and numpy) from the formulas
 * of docs/stages/analysis.md. */
static void test_haar_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {2.828427125, 3.535533906, 3.535533906};
    static const double p1[] = {1.414213562, 2.121320344, 3.535533906};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:haar:dims=1:border=zero", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_haar_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {2.828427125, 3.535533906, 5.656854249};
    static const double p1[] = {1.414213562, 2.121320344, 1.414213562};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:haar:dims=1:border=cyclic", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_legall53_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {-0.375, 2, 2.5, 3.5, -0.625};
    static const double p1[] = {-1.5, -2.5, -3.5, -2.5};
    static const struct harness_plane planes[] = {
        {"a1_h0", 5, 1, 1, 0, p0},
        {"a1_h1", 4, 1, 1, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:dims=1:border=zero", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_legall53_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {2.5, 3.125, 2.5, 4.125, 1.75};
    static const double p1[] = {3, -2.5, -3.5, 0};
    static const struct harness_plane planes[] = {
        {"a1_h0", 5, 1, 1, 0, p0},
        {"a1_h1", 4, 1, 1, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:dims=1:border=cyclic", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32,
                   true, planes, 1e-3);
}

static void test_cdf97_zero(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {0.08024627223, -0.1445388884, 1.879697776, 2.319738178,
                                3.032098297,   -0.3009854214, 0.1337437871};
    static const double p1[] = {0.2738152893, -1.466271763, -2.625,
                                -3.990087052, -2.648815289, 0.4563588156};
    static const struct harness_plane planes[] = {
        {"a1_h0", 7, 1, 2, 0, p0},
        {"a1_h1", 6, 1, 2, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=zero", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_cdf97_cyclic(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const double p0[] = {2.087714839, 2.865115361, 3.095087385, 2.238322745,
                                3.71375967,  2.087714839, 2.865115361};
    static const double p1[] = {3.547630579,  3.378989394,    -2.821445868,
                                -4.071445868, -0.03372823688, 3.547630579};
    static const struct harness_plane planes[] = {
        {"a1_h0", 7, 1, 2, 0, p0},
        {"a1_h1", 6, 1, 2, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=cyclic", SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_picture_zero(void **state)
{
    static const double in[] = {7, 200, 31, 90, 4, 255};
    static const double p0[] = {0.109375, -6.421875, -9.046875, 0.484375, -3.46875,  47.6875,
                                99.53125, -10.875,   -2.703125, 2.734375, 36.203125, -7.484375};
    static const double p1[] = {0.4375,   -25.6875, -36.1875, 1.9375,
                                -10.8125, 10.9375,  144.8125, -29.9375};
    static const double p2[] = {0.4375, -22.625,  1.9375, -13.875, 93.625,
                                -43.5,  -10.8125, -64.75, -29.9375};
    static const double p3[] = {1.75, -90.5, 7.75, -43.25, -259, -119.75};
    static const struct harness_plane planes[] = {
        {"a1_h0_v0", 4, 3, 1, 1, p0},
        {"a1_h0_v1", 4, 2, 1, 1, p1},
        {"a1_h1_v0", 3, 3, 1, 1, p2},
        {"a1_h1_v1", 3, 2, 1, 1, p3},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:border=zero", SAMPLE_U8, 3, 2, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_one_sample_zero(void **state)
{
    static const double in[] = {100};
    static const double p0[] = {2.674875741, -7.822326653, 60.29490182, -7.822326653, 2.674875741};
    static const double p1[] = {9.127176311, -59.12717631, -59.12717631, 9.127176311};
    static const struct harness_plane planes[] = {
        {"a1_h0", 5, 1, 2, 0, p0},
        {"a1_h1", 4, 1, 2, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=zero", SAMPLE_U8, 1, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_picture_cyclic(void **state)
{
    static const double in[] = {7, 200, 31, 90, 4, 255};
    static const double p0[] = {100.4375, 67,       126.0625, 100.4375, 100.4375, 67,
                                126.0625, 100.4375, 100.4375, 67,       126.0625, 100.4375};
    static const double p1[] = {-108.625, 65.75,    153.875,  -108.625, -108.625, 65.75,
                                153.875,  -108.625, -108.625, 65.75,    153.875,  -108.625};
    static const double p2[] = {67.75, 6.25, -74, 67.75, 6.25, -74, 67.75, 6.25, -74};
    static const double p3[] = {280.5, -349.5, 69, 280.5, -349.5, 69, 280.5, -349.5, 69};
    static const struct harness_plane planes[] = {
        {"a1_h0_v0", 4, 3, 1, 1, p0},
        {"a1_h0_v1", 4, 3, 1, 1, p1},
        {"a1_h1_v0", 3, 3, 1, 1, p2},
        {"a1_h1_v1", 3, 3, 1, 1, p3},
        {0},
    };
    (void)state;
    harness_planes("analysis:legall53:border=cyclic", SAMPLE_U8, 3, 2, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_one_sample_cyclic(void **state)
{
    static const double in[] = {100};
    static const double p0[] = {100, 100, 100, 100, 100};
    static const double p1[] = {1.000017846e-10, 1.000017846e-10, 1.000017846e-10, 1.000017846e-10};
    static const struct harness_plane planes[] = {
        {"a1_h0", 5, 1, 2, 0, p0},
        {"a1_h1", 4, 1, 2, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:dims=1:border=cyclic", SAMPLE_U8, 1, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_levels(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {-112.5, 31, 40, 96};
    static const double p1[] = {-127.5, -10, 37, 32};
    static const double p2[] = {117.5, -1, 37, 32};
    static const double p3[] = {159.25};
    static const double p4[] = {23.25};
    static const double p5[] = {23.25};
    static const double p6[] = {79.25};
    static const struct harness_plane planes[] = {
        {"a1_h0_v1", 2, 2, 0, 0, p0}, {"a1_h1_v0", 2, 2, 0, 0, p1},
        {"a1_h1_v1", 2, 2, 0, 0, p2}, {"a2_h0_v0", 1, 1, 0, 0, p3},
        {"a2_h0_v1", 1, 1, 0, 0, p4}, {"a2_h1_v0", 1, 1, 0, 0, p5},
        {"a2_h1_v1", 1, 1, 0, 0, p6}, {0},
    };
    (void)state;
    harness_planes("analysis:haar:levels=2", SAMPLE_U8, 4, 3, 1, in, SAMPLE_F32, true, planes,
                   1e-3);
}

static void test_levels_double(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {-150.9492276, 128.8285802,  -17.2374295, 287.6687653,
                                -70.07652495, -35.55923553, -142.674928};
    static const double p1[] = {81.65087484, 25.81176126, 140.8173815, 17.40492875,
                                81.65087484, 25.81176126, 140.8173815, 17.40492875};
    static const double p2[] = {51.14454023, 101.7649151, -103.7300906, 26.45570145,
                                51.14454023, 101.7649151, -103.7300906, 26.45570145};
    static const struct harness_plane planes[] = {
        {"a1_h1", 7, 1, 2, 0, p0},
        {"a2_h0", 8, 1, 3, 0, p1},
        {"a2_h1", 8, 1, 3, 0, p2},
        {0},
    };
    (void)state;
    harness_planes("analysis:cdf97:levels=2:dims=1:precision=double:border=cyclic", SAMPLE_U8, 7, 1,
                   1, in, SAMPLE_F64, true, planes, 1e-7);
}

static void test_sequence(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {-0.7071067812, -180.3122292, 0.7071067812, 70.71067812};
    static const double p1[] = {-0.2651650429, 45.16644565, 71.50617325, 16.17506762};
    static const double p2[] = {-1.060660172, 173.2411614, 64.70027048};
    static const struct harness_plane planes[] = {
        {"a1_h1", 4, 1, 0, 0, p0},
        {"a2_h0", 4, 1, 1, 0, p1},
        {"a2_h1", 3, 1, 1, 0, p2},
        {0},
    };
    (void)state;
    harness_planes("analysis:sequence=haar_legall53:dims=1", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32,
                   true, planes, 1e-3);
}

static void test_sequences(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {-0.7071067812, -180.3122292, 0.7071067812, 70.71067812};
    static const double p1[] = {-0.2651650429, 45.16644565, 71.50617325, 16.17506762};
    static const double p2[] = {-1.060660172, 173.2411614, 64.70027048};
    static const double p3[] = {-0.7071067812, -180.3122292, 0.7071067812, 70.71067812};
    static const double p4[] = {129, 58.5};
    static const double p5[] = {-126, -41.5};
    static const double p6[] = {2.121320344, 180.3122292, 12.02081528, 70.71067812};
    static const double p7[] = {-0.7071067812, -180.3122292, 0.7071067812, 70.71067812};
    static const struct harness_plane planes[] = {
        {"s0_a1_h1", 4, 1, 0, 0, p0}, {"s0_a2_h0", 4, 1, 1, 0, p1}, {"s0_a2_h1", 3, 1, 1, 0, p2},
        {"s1_a1_h1", 4, 1, 0, 0, p3}, {"s1_a2_h0", 2, 1, 0, 0, p4}, {"s1_a2_h1", 2, 1, 0, 0, p5},
        {"s2_a1_h0", 4, 1, 0, 0, p6}, {"s2_a1_h1", 4, 1, 0, 0, p7}, {0},
    };
    (void)state;
    harness_planes("analysis:sequences=haar_legall53/haar_haar/haar:dims=1", SAMPLE_U8, 7, 1, 1, in,
                   SAMPLE_F32, true, planes, 1e-3);
}

static void test_dct3_zero(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {1.732050808, 157.0392732, 57.73502692};
    static const double p1[] = {0.7071067812, 174.655375, 70.71067812};
    static const double p2[] = {-1.224744871, 100.0208312, 40.82482905};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {"a1_h2", 3, 1, 0, 0, p2},
        {0},
    };
    (void)state;
    harness_planes("analysis:@dct3:dims=1:border=zero", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_dct3_cyclic(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {1.732050808, 157.0392732, 59.46707773};
    static const double p1[] = {0.7071067812, 174.655375, 69.29646456};
    static const double p2[] = {-1.224744871, 100.0208312, 40.82482905};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {"a1_h2", 3, 1, 0, 0, p2},
        {0},
    };
    (void)state;
    harness_planes("analysis:@dct3:dims=1:border=cyclic", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_mixed_zero(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {-4.330127019, -2.95892013, 47.77573478, 14.43375673,
                                122.5425946,  26.0529309,  -15.011107,  -4.618802154};
    static const double p1[] = {-17.32050808, -11.83568052, 69.85938257,
                                -25.11473671, -60.044428,   -18.47520861};
    static const double p2[] = {1.767766953,  -3.623922254, -5.214912511, 17.67766953,
                                -24.39518395, 31.9081935,   4.50780573,   -5.656854249};
    static const double p3[] = {7.071067812,  -14.49568901, 28.63782464,
                                -30.75914498, 18.03122292,  -22.627417};
    static const double p4[] = {0,           -2.092272489, -60.67590217, 10.20620726,
                                10.41033141, 18.42220411,  -10.15517623, -3.265986324};
    static const double p5[] = {0,           -8.369089955, -242.7036087, -17.75880064,
                                -40.6207049, -13.06394529};
    static const struct harness_plane planes[] = {
        {"a1_h0_v0", 2, 4, 0, 1, p0},
        {"a1_h0_v1", 2, 3, 0, 1, p1},
        {"a1_h1_v0", 2, 4, 0, 1, p2},
        {"a1_h1_v1", 2, 3, 0, 1, p3},
        {"a1_h2_v0", 2, 4, 0, 1, p4},
        {"a1_h2_v1", 2, 3, 0, 1, p5},
        {0},
    };
    (void)state;
    harness_planes("analysis:@mixed:dims=2:border=zero", SAMPLE_U8, 4, 3, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_mixed_cyclic(void **state)
{
    static const double in[] = {10, 20, 30, 41, 5, 250, 0, 9, 77, 3, 128, 64};
    static const double p0[] = {129.759473,  129.8316418, 59.39490894, 60.18876556,
                                112.7998088, 86.53037159, 129.759473,  129.8316418};
    static const double p1[] = {29.15618859, -13.56773133, 69.85938257,
                                90.35531713, -99.01557117, -76.7875858};
    static const double p2[] = {-3.623922254, -120.5617062, -14.67246571, -4.772970773,
                                -28.3726596,  12.90469876,  -3.623922254, -120.5617062};
    static const double p3[] = {-30.75914498, 120.9152596, 28.63782464,
                                -199.4041123, 2.121320344, 78.48885271};
    static const double p4[] = {-141.4070016, 73.89294057,  -15.10518675, 20.82066281,
                                35.67069438,  -11.83920042, -141.4070016, 73.89294057};
    static const double p5[] = {182.2828617, -94.71360339, -242.7036087,
                                111.043535,  60.42074699,  -16.32993162};
    static const struct harness_plane planes[] = {
        {"a1_h0_v0", 2, 4, 0, 1, p0},
        {"a1_h0_v1", 2, 3, 0, 1, p1},
        {"a1_h1_v0", 2, 4, 0, 1, p2},
        {"a1_h1_v1", 2, 3, 0, 1, p3},
        {"a1_h2_v0", 2, 4, 0, 1, p4},
        {"a1_h2_v1", 2, 3, 0, 1, p5},
        {0},
    };
    (void)state;
    harness_planes("analysis:@mixed:dims=2:border=cyclic", SAMPLE_U8, 4, 3, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_lossy_zero(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {4, 519, 208};
    static const double p1[] = {-1, -247, -100};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:@lossy:dims=1:border=zero", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_lossy_cyclic(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {104, 519, 209};
    static const double p1[] = {-1, -247, -98};
    static const struct harness_plane planes[] = {
        {"a1_h0", 3, 1, 0, 0, p0},
        {"a1_h1", 3, 1, 0, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:@lossy:dims=1:border=cyclic", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_und_zero(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {0.25, 1, 1.25, 64.25, 129.75, 70.25, 31.25, 52, 25};
    static const double p1[] = {-0.25, 0, 0.75, -64.25, 125.25, -61.25, -23.25, 48, -25};
    static const struct harness_plane planes[] = {
        {"a1_h0", 9, 1, 1, 0, p0},
        {"a1_h1", 9, 1, 1, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:@und:dims=1:border=zero", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

static void test_und_cyclic(void **state)
{
    static const double in[] = {1, 2, 0, 255, 9, 8, 100};
    static const double p0[] = {52.25, 26, 1.25, 64.25, 129.75, 70.25, 31.25, 52.25, 26};
    static const double p1[] = {47.75, -25, 0.75, -64.25, 125.25, -61.25, -23.25, 47.75, -25};
    static const struct harness_plane planes[] = {
        {"a1_h0", 9, 1, 1, 0, p0},
        {"a1_h1", 9, 1, 1, 0, p1},
        {0},
    };
    (void)state;
    harness_planes("analysis:@und:dims=1:border=cyclic", SAMPLE_U8, 7, 1, 1, in, SAMPLE_F32, true,
                   planes, 1e-3);
}

/* What stands behind 3 1 4 1 5 beside the 5: pairs' sums and differences by √½. */
static void test_borders(void **state)
{
    static const double in[] = {3, 1, 4, 1, 5};
    static const struct {
        const char *border;
        double next;
    } borders[] = {
        {"zero", 0},        {"cyclic", 3},        {"periodic", 3}, {"periodization", 5},
        {"constant", 5},    {"symmetric", 5},     {"reflect", 1},  {"smooth", 9},
        {"antireflect", 9}, {"antisymmetric", -5}};
    (void)state;
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        const double h = 0.70710678118654752, next = borders[i].next;
        const double p0[] = {4 * h, 5 * h, (5 + next) * h}, p1[] = {2 * h, 3 * h, (5 - next) * h};
        const struct harness_plane planes[] = {
            {"a1_h0", 3, 1, 0, 0, p0}, {"a1_h1", 3, 1, 0, 0, p1}, {0}};
        char chain[80];
        snprintf(chain, sizeof chain, "analysis:haar:dims=1:border=%s", borders[i].border);
        harness_planes(chain, SAMPLE_U8, 5, 1, 1, in, SAMPLE_F32, true, planes, 1e-3);
    }
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_few("analysis:cdf97", types[t], channels);
    harness_sweep("analysis:cdf97", SAMPLE_U8, 1);
    harness_sweep("analysis:legall53:levels=3:border=cyclic", SAMPLE_U8, 1);
    harness_few("analysis:haar", SAMPLE_I8, 1);
    harness_few("analysis:haar", SAMPLE_I16, 2);
}

static void test_banks_against_reference(void **state)
{
    static const char *const chains[] = {
        "analysis:legall53:levels=11",
        "analysis:cdf97:levels=11:border=cyclic",
        "analysis:cdf97:levels=5:dims=1",
        "analysis:@mixed:levels=2:border=cyclic",
        "analysis:@dct3:levels=2",
        "analysis:@lossy:border=cyclic",
        "analysis:@und:levels=2",
        "analysis:@q:levels=2",
        "analysis:@mixed:levels=2:border=periodization",
        "analysis:@dct3:levels=2:border=antisymmetric",
        "analysis:@lossy:border=antireflect",
        "analysis:@lifted:levels=2:border=smooth",
        "analysis:cdf97:levels=3:border=symmetric",
        "analysis:legall53:levels=2:border=reflect:dims=1",
        "analysis:@und:border=constant",
        "analysis:sequences=haar_cdf97_@dct3/haar_cdf97/haar_legall53/@lossy",
    };
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        harness_few(chains[i], SAMPLE_U8, 1);
    harness_few(chains[3], SAMPLE_F32, 3);
    harness_few("analysis:@lifted:border=antisymmetric", SAMPLE_U16, 4);
}

static void test_double_against_reference(void **state)
{
    (void)state;
    harness_few("analysis:cdf97:levels=3:precision=double", SAMPLE_U8, 1);
    harness_few("analysis:cdf97:border=cyclic:precision=double", SAMPLE_I32, 3);
    harness_few("analysis:@mixed:precision=double", SAMPLE_F64, 1);
    harness_few("analysis:@mixed:precision=double:border=smooth", SAMPLE_F64, 1);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("analysis", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "bank is missing");
    harness_refuses("analysis:legal53", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "'legall53'?");
    harness_refuses("analysis:@dct4", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "'dct3'?");
    harness_refuses("analysis:haar:sequence=haar_haar", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN,
                    "give one of them");
    harness_refuses("analysis:sequence=haar_:dims=1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "no bank");
    harness_refuses("analysis:sequence=haar/haar", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sequences");
    harness_refuses("analysis:sequence=haar_cdf97:levels=3", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN,
                    "as many levels as banks");
    harness_refuses("analysis:haar:levels=17", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "from 1 to 16");
    harness_refuses("analysis:haar", SAMPLE_F64, 9, 9, 1, FAULT_SHAPE, "precision=double");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_haar_zero),
        cmocka_unit_test(test_haar_cyclic),
        cmocka_unit_test(test_legall53_zero),
        cmocka_unit_test(test_legall53_cyclic),
        cmocka_unit_test(test_cdf97_zero),
        cmocka_unit_test(test_cdf97_cyclic),
        cmocka_unit_test(test_picture_zero),
        cmocka_unit_test(test_one_sample_zero),
        cmocka_unit_test(test_picture_cyclic),
        cmocka_unit_test(test_one_sample_cyclic),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_double),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_dct3_zero),
        cmocka_unit_test(test_dct3_cyclic),
        cmocka_unit_test(test_mixed_zero),
        cmocka_unit_test(test_mixed_cyclic),
        cmocka_unit_test(test_lossy_zero),
        cmocka_unit_test(test_lossy_cyclic),
        cmocka_unit_test(test_und_zero),
        cmocka_unit_test(test_und_cyclic),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_banks_against_reference),
        cmocka_unit_test(test_double_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN_WITH(tests, banks_setup, banks_teardown);
}
