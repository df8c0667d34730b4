#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fault.h"
#include "harness.h"

static const char *plane;

static void vector(const char *chain, uint32_t width, uint32_t height, const double *in,
                   enum sample_type type, uint32_t out_width, uint32_t out_height,
                   const double *expected)
{
    const struct harness_plane planes[] = {
        {.name = plane, .width = out_width, .height = out_height, .samples = expected}, {0}};
    harness_planes(chain, SAMPLE_F32, width, height, 1, in, type, false, planes, 2e-4);
}

#define EXPECT(chain, w, h, in, ow, oh, ...)                                                       \
    vector(chain, w, h, in, SAMPLE_F32, ow, oh, (const double[]){__VA_ARGS__})

/* With haar, HH1 of the square a b / c d is (a − b − c + d) / 2, HL1 (a − b + c − d) / 2. Four
 * squares in a row with d alone: HH1 is half of it. */
#define FOUR(p, q, r, s)                                                                           \
    (const double[])                                                                               \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * (p), 0, 2 * (q), 0, 2 * (r), 0, 2 * (s)                     \
    }

static void fixed(void **state)
{
    (void)state;
    plane = "HH1";
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=3", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 0, 2, -5);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=2.9", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 3, 5,
           -8);
    /* 5 - 9/5, -8 + 9/8 */
    EXPECT("dwt:haar:levels=1,shrink:garrote:threshold=3", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 0, 3.2,
           -6.875);
    EXPECT("dwt:haar:levels=1,shrink:firm:threshold=3", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 0, 4, -8);
    EXPECT("dwt:haar:levels=1,shrink:firm:threshold=3:upper=1", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 0,
           5, -8);
    EXPECT("dwt:haar:levels=1,shrink:greater:threshold=2.9", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 3, 5,
           0);
    EXPECT("dwt:haar:levels=1,shrink:less:threshold=3.1", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 1, 3, 0,
           -8);
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=0", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 1, 3, 5, -8);
    plane = "HL1"; /* (0 − 0 + 0 − d) / 2 */
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=3", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 0, 0, -2, 5);
    plane = "LL1";
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=3", 8, 2, FOUR(1, 3, 5, -8), 4, 1, 1, 3, 5, -8);
    /* Levels: LL1 is 1 3 5 -8, one row: periodization repeats it, so HL2 is (1 − 3 + 1 − 3) / 2,
     * and HH2 0. */
    plane = "HL2";
    EXPECT("dwt:haar:levels=2,shrink:soft:threshold=1", 8, 2, FOUR(1, 3, 5, -8), 2, 1, -1, 12);
    EXPECT("dwt:haar:levels=2,shrink:soft:threshold=1:levels=1", 8, 2, FOUR(1, 3, 5, -8), 2, 1, -2,
           13);
    EXPECT("dwt:haar:levels=2,shrink:soft:threshold=1:levels=2", 8, 2, FOUR(1, 3, 5, -8), 2, 1, -1,
           12);
}

/* Each rule on either side of several thresholds, and at every sign. */
static void rules(void **state)
{
    (void)state;
    plane = "HH1";
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=1.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 0.5, -0.5,
           0, 0);
    EXPECT("dwt:haar:levels=1,shrink:soft:threshold=0.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 1.5, -1.5,
           0.5, -0.5);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=1.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 2, -2, 0,
           0);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=0.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 2, -2, 1,
           -1);
    /* 2 - 2.25 / 2; 2 - 0.25 / 2 and 1 - 0.25 */
    EXPECT("dwt:haar:levels=1,shrink:garrote:threshold=1.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 0.875,
           -0.875, 0, 0);
    EXPECT("dwt:haar:levels=1,shrink:garrote:threshold=0.5", 8, 2, FOUR(2, -2, 1, -1), 4, 1, 1.875,
           -1.875, 0.75, -0.75);
}

/* σ = median / 0.6745, T = σ·sqrt(2·ln 16) for 8×2 pixels: 2.354820045, so T = 3.491208369 for a
 * median of 1. */
static void universal(void **state)
{
    (void)state;
    plane = "HH1";
    /* magnitudes 0.5 0.8 1.2 9: median (0.8 + 1.2) / 2 = 1 */
    EXPECT("dwt:haar:levels=1,shrink", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, 5.508791631, 0, 0, 0);
    EXPECT("dwt:haar:levels=1,shrink:hard", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, 9, 0, 0, 0);
    /* 9 - 12.18853588 / 9 */
    EXPECT("dwt:haar:levels=1,shrink:garrote", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, 7.645718236, 0,
           0, 0);
    plane = "HL1";
    EXPECT("dwt:haar:levels=1,shrink", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, -5.508791631, 0, 0, 0);
    /* three: the middle one, 1; T = sqrt(2·ln 12) / 0.6745 = 3.305126475 */
    plane = "HH1";
    EXPECT("dwt:haar:levels=1,shrink", 6, 2,
           ((const double[]){0, 0, 0, 0, 0, 0, 0, 2, 0, 0.2, 0, -20}), 3, 1, 0, 0, -6.694873525);
    /* no noise, no change */
    EXPECT("dwt:haar:levels=1,shrink", 8, 2, FOUR(0, 0, 0, 7), 4, 1, 0, 0, 0, 7);
    /* one: itself, and T is above it: sqrt(2·ln 4) / 0.6745 = 2.4686 times */
    EXPECT("dwt:haar:levels=1,shrink", 2, 2, ((const double[]){0, 0, 0, 8}), 1, 1, 0);
}

/* σ²/sqrt(var − σ²) with var the mean of c². */
static void bayes(void **state)
{
    (void)state;
    plane = "HH1";
    /* median 1, σ² = 2.198042533; var = (81 + 0.64 + 1.44 + 0.25) / 4 = 20.8325;
     * T = 2.198042533 / sqrt(18.634457467) = 0.509187479 */
    EXPECT("dwt:haar:levels=1,shrink:threshold=bayes", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1,
           8.490812521, -0.290812521, 0.690812521, 0);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=bayes", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, 9,
           -0.8, 1.2, 0);
    /* all alike: var = 1 is below σ² = 2.198: nothing is left */
    EXPECT("dwt:haar:levels=1,shrink:threshold=bayes", 8, 2, FOUR(1, -1, 1, -1), 4, 1, 0, 0, 0, 0);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=bayes", 8, 2, FOUR(1, -1, 1, -1), 4, 1, 0, 0, 0,
           0);
    EXPECT("dwt:haar:levels=1,shrink:garrote:threshold=bayes", 8, 2, FOUR(1, -1, 1, -1), 4, 1, 0, 0,
           0, 0);
    EXPECT("dwt:haar:levels=1,shrink:threshold=bayes", 8, 2, FOUR(0, 0, 0, 7), 4, 1, 0, 0, 0, 7);
    plane = "HL1";
    EXPECT("dwt:haar:levels=1,shrink:threshold=bayes", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1,
           -8.490812521, 0.290812521, -0.690812521, 0);
}

/* Of 4 magnitudes steps are σ·sqrt(2·ln 4) / 256, and the weight is 262144 / ln 4 = 189097. With a
 * median of 1, σ = 1.482579689, a step is 0.009643192. (Worked out by a program of its own from the
 * formulas of docs/stages/shrink.md.) */
static void sure(void **state)
{
    (void)state;
    plane = "HH1";
    /* steps of 9 0.8 1.2 0.5: beyond all, 82, 124, 51; risk falls with each: k = 125, T = 1.205399 */
    EXPECT("dwt:haar:levels=1,shrink:threshold=sure", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1,
           7.794601019, 0, 0, 0);
    EXPECT("dwt:haar:levels=1,shrink:hard:threshold=sure", 8, 2, FOUR(9, -0.8, 1.2, 0.5), 4, 1, 9,
           0, 0, 0);
    /* no noise, no change; and one coefficient has no threshold but 0 */
    EXPECT("dwt:haar:levels=1,shrink:threshold=sure", 8, 2, FOUR(0, 0, 0, 7), 4, 1, 0, 0, 0, 7);
    EXPECT("dwt:haar:levels=1,shrink:threshold=sure", 2, 2, ((const double[]){0, 0, 0, 8}), 1, 1,
           4);
}

/* For cdf53 the synthesis filters are ½ 1 ½ and −⅛ −¼ ¾ −¼ −⅛: squared norms 1.5 and 0.71875. A row
 * of 5 has no vertical filters: HL1 is -5, 30 (test_dwt.c), and T = 10 becomes 10 / sqrt(0.71875).
 */
static void norms(void **state)
{
    static const double row[] = {10, 20, 40, 80, 60};
    (void)state;
    plane = "HL1";
    EXPECT("dwt:cdf53:levels=1,shrink:soft:threshold=10", 5, 1, row, 2, 1, 0, 18.204643);
    EXPECT("dwt:cdf53:levels=1,shrink:hard:threshold=4.2", 5, 1, row, 2, 1, -5, 30);
    EXPECT("dwt:cdf53:levels=1,shrink:hard:threshold=4.3", 5, 1, row, 2, 1, 0, 30);
    EXPECT("dwt:cdf53:levels=1,shrink", 5, 1, row, 2, 1, -5, 30); /* there is no HH1 */
    /* norms multiply: HL1 of the row twice is the same, T = 10 / sqrt(0.71875 · 1.5) = 9.63087 */
    static const double rows[] = {10, 20, 40, 80, 60, 10, 20, 40, 80, 60};
    EXPECT("dwt:cdf53:levels=1,shrink:soft:threshold=10", 5, 2, rows, 2, 1, 0, 20.36913);
    /* 9/7: the high synthesis filter's squared norm, from its taps, is 0.520218, its norm 0.721261
     */
    plane = "HH1";
    double spike[16 * 16] = {0};
    spike[9 * 16 + 9] = 100; /* HH1 there is 100 · 1.115087052² = 124.341914 */
    double expected[8 * 8] = {0};
    for (int y = 2; y < 7; y++)
        for (int x = 2; x < 7; x++) {
            static const double high[] = {
                0, 0, 0, -0.057543526228, 1.115087052457, -0.057543526228};
            double v = x < 6 && y < 6 ? 100 * high[x] * high[y] : 0;
            double t = 4 / 0.520218;
            expected[y * 8 + x] = fabs(v) > t ? copysign(fabs(v) - t, v) : 0;
        }
    vector("dwt:levels=1,shrink:threshold=4", 16, 16, spike, SAMPLE_F32, 8, 8, expected);
}

static void samples(void **state)
{
    (void)state;
    harness_sweep("dwt:db2:levels=2,shrink", SAMPLE_F32, 1);
    harness_sweep("dwt:levels=2,shrink:threshold=bayes", SAMPLE_F32, 1);
    harness_few("dwt:haar:levels=1,shrink:garrote:threshold=bayes", SAMPLE_U8, 3);
    harness_sweep("dwt:db2:levels=2,shrink:threshold=sure", SAMPLE_F32, 1);
    harness_few("dwt:levels=2,shrink:hard:threshold=sure", SAMPLE_U8, 3);
    harness_few("dwt:db2:levels=2:precision=double,shrink:threshold=sure", SAMPLE_U16, 1);
    harness_few("dwt:cdf53:levels=2:precision=reversible,shrink:threshold=sure", SAMPLE_U8, 1);
    harness_few("dwt:cdf53:levels=2:precision=reversible,shrink:threshold=40", SAMPLE_U8, 1);
    harness_few("dwt:cdf53:levels=2:precision=reversible,shrink", SAMPLE_U8, 1);
    harness_few("dwt:db2:levels=1:precision=double,shrink:hard", SAMPLE_U8, 1);
    harness_refuses("shrink", SAMPLE_U8, 8, 8, 1, FAULT_SHAPE, "dwt");
    harness_few("dwt:db2:levels=2:stationary=1,shrink:firm:threshold=bayes", SAMPLE_U8, 1);
    harness_few("dwt:haar:levels=2:stationary=1:norm=1,shrink", SAMPLE_U8, 3);
    harness_few("dwt:levels=2:axis=x,shrink:greater", SAMPLE_U8, 1);
    harness_few("dwt:db2:levels=2:axis=y:precision=double,shrink:firm:upper=3", SAMPLE_U8, 1);
    harness_few("dwt:cdf53:levels=2:precision=reversible,shrink:less:threshold=9", SAMPLE_U8, 1);
    harness_refuses("dwt,shrink:soft:upper=3", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "rule=firm");
    harness_refuses("dwt,shrink:threshold=-1", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "threshold");
    harness_refuses("dwt,shrink:levels=1.5", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "whole");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed),
        cmocka_unit_test(rules),
        cmocka_unit_test(universal),
        cmocka_unit_test(bayes),
        cmocka_unit_test(sure),
        cmocka_unit_test(norms),
        cmocka_unit_test(samples),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
