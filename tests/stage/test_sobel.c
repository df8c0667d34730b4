#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"

/* The one position of a 3×3 picture whose window lies inside; expected values by hand from
 * dX = ne − nw + 2(e − w) + se − sw and dY = nw + 2n + ne − sw − 2s − se. */
static void window(const char *args, enum sample_type type, const double in[9],
                   enum sample_type out_type, double expected)
{
    char chain[128];
    snprintf(chain, sizeof chain, "sobel:border=crop%s%s", args[0] ? ":" : "", args);
    harness_vector(chain, type, 3, 3, 1, in, out_type, 1, 1, 1, &expected,
                   out_type == SAMPLE_F32 ? 1e-4 : 0);
}

static const double right8[9] = {0, 0, 8, 0, 0, 8, 0, 0, 8};         /* dX 32, dY 0 */
static const double bottom10[9] = {0, 0, 0, 0, 0, 0, 10, 10, 10};    /* dX 0, dY −40 */
static const double corner100[9] = {0, 0, 0, 0, 0, 0, 0, 0, 100};    /* dX 100, dY −100 */
static const double right255[9] = {0, 0, 255, 0, 0, 255, 0, 0, 255}; /* dX 1020 */
static const double left255[9] = {255, 0, 0, 255, 0, 0, 255, 0, 0};  /* dX −1020 */
static const double nw255[9] = {255, 0, 0, 0, 0, 0, 0, 0, 0};        /* dX −255, dY 255 */
static const double six_eight[9] = {0, 4, 0, 0, 0, 3, 0, 0, 0};      /* dX 6, dY 8: length 10 */
static const double east2[9] = {0, 0, 0, 0, 0, 2, 0, 0, 0};          /* dX 4 */
static const double east1[9] = {0, 0, 0, 0, 0, 1, 0, 0, 0};          /* dX 2 */

static void test_magnitude(void **state)
{
    (void)state;
    window("", SAMPLE_U8, right8, SAMPLE_U8, 4);
    window("", SAMPLE_U8, bottom10, SAMPLE_U8, 5);
    window("", SAMPLE_U8, corner100, SAMPLE_U8, 18); /* 17.678 + 0.5 */
    window("", SAMPLE_U8, right255, SAMPLE_U8, 128); /* 127.5 + 0.5 */
    window("", SAMPLE_U8, nw255, SAMPLE_U8, 45);     /* 45.078 + 0.5 */
    window("", SAMPLE_U8, east2, SAMPLE_U8, 1);      /* (8·1 − 4)² = 16 = dX² */
    window("", SAMPLE_U8, east1, SAMPLE_U8, 0);
    window("", SAMPLE_I8, right8, SAMPLE_I8, 4);
}

static void test_scale_is_the_decimal_written(void **state)
{
    (void)state; /* the length is 10, so scale s gives floor(10·s + 1/2) */
    window("scale=0.05", SAMPLE_U8, six_eight, SAMPLE_U8, 1);
    window("scale=0.15", SAMPLE_U8, six_eight, SAMPLE_U8, 2);
    window("scale=0.35", SAMPLE_U8, six_eight, SAMPLE_U8, 4);
    window("scale=0.95", SAMPLE_U8, six_eight, SAMPLE_U8, 10);
    window("scale=0.9499999", SAMPLE_U8, six_eight, SAMPLE_U8, 9);
    window("scale=1", SAMPLE_U8, right255, SAMPLE_U8, 255);
    window("scale=1000", SAMPLE_U8, right255, SAMPLE_U8, 255);
    window("l1:scale=0.25", SAMPLE_U8, six_eight, SAMPLE_U8, 4); /* 14·0.25 = 3.5 */
}

/* Windows of bytes of which gradients dx >= dy >= 0 come: each gradient that a 3×3 window can have
 * whose corner in the north-east is as light as it can be. False: there is none. */
static bool window_of(int dx, int dy, uint8_t window[9])
{
    memset(window, 0, 9);
    int ne = dy < 255 ? dy : 255, se = dx > ne + 510 ? dx - ne - 510 : 0;
    int e = dx - ne - se, n = dy - ne + se;
    if (e % 2 != 0 || n % 2 != 0 || e > 510 || n > 510 || se > 255)
        return false;
    window[1] = (uint8_t)(n / 2), window[2] = (uint8_t)ne;
    window[5] = (uint8_t)(e / 2), window[8] = (uint8_t)se;
    return true;
}

enum {
    SUMS = 2 * 1020 * 1020 + 1,
    TILES = 24,
    SIDE = 3 * TILES
};

/* As the page has it, for a window around (x, y) of a picture of SIDE×SIDE samples. */
static double length_at(const double *in, int x, int y, double scale, bool l1)
{
    double s[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            int v = y + j - 1, u = x + i - 1;
            v = v < 0 ? 0 : v >= SIDE ? SIDE - 1 : v;
            u = u < 0 ? 0 : u >= SIDE ? SIDE - 1 : u;
            s[j][i] = in[v * SIDE + u];
        }
    double dx = s[0][2] - s[0][0] + 2 * (s[1][2] - s[1][0]) + s[2][2] - s[2][0];
    double dy = s[0][0] + 2 * s[0][1] + s[0][2] - s[2][0] - 2 * s[2][1] - s[2][2];
    return fmin(floor(scale * (l1 ? fabs(dx) + fabs(dy) : sqrt(dx * dx + dy * dy)) + 0.5), 255);
}

/* At powers of two, which have kernels without a table: the gradients whose lengths are nearest to
 * where the result changes, on either side. */
static void test_powers_of_two(void **state)
{
    (void)state;
    uint32_t *gradients = calloc(SUMS, sizeof *gradients); /* dx << 16 | dy, by dx² + dy² */
    double *in = calloc(SIDE * SIDE, sizeof *in), *expected = calloc(SIDE * SIDE, sizeof *expected);
    uint8_t window[9];
    assert_true(gradients && in && expected);
    for (int dx = 0; dx <= 1020; dx++)
        for (int dy = 0; dy <= dx; dy++)
            if (window_of(dx, dy, window))
                gradients[dx * dx + dy * dy] = (uint32_t)dx << 16 | (uint32_t)dy;
    for (int k = -4; k <= 9; k++) {
        double scale = ldexp(1, -k);
        int tile = 0;
        memset(in, 0, SIDE * SIDE * sizeof *in);
        for (int m = 1; m <= 256 && tile < TILES * TILES - 1; m++) {
            double change = (m - 0.5) / scale;
            double sum = ceil(change * change);
            if (sum > SUMS)
                break;
            int at = (int)sum;
            for (int step = -1; step <= 1; step += 2) {
                int n = step < 0 ? at - 1 : at;
                while (n > 0 && n < SUMS && gradients[n] == 0)
                    n += step;
                if (n <= 0 || n >= SUMS)
                    continue;
                window_of((int)(gradients[n] >> 16), (int)(gradients[n] & 0xffff), window);
                for (int i = 0; i < 9; i++)
                    in[(tile / TILES * 3 + i / 3) * SIDE + tile % TILES * 3 + i % 3] = window[i];
                tile++;
            }
        }
        for (int l1 = 0; l1 < 2; l1++) {
            char chain[64];
            snprintf(chain, sizeof chain, "sobel:%sscale=%.9g", l1 ? "l1:" : "", scale);
            for (int i = 0; i < SIDE * SIDE; i++)
                expected[i] = length_at(in, i % SIDE, i / SIDE, scale, l1);
            harness_vector(chain, SAMPLE_U8, SIDE, SIDE, 1, in, SAMPLE_U8, SIDE, SIDE, 1, expected,
                           0);
        }
    }
    free(gradients);
    free(in);
    free(expected);
}

static void test_l1(void **state)
{
    (void)state;
    window("l1", SAMPLE_U8, right8, SAMPLE_U8, 4);
    window("l1", SAMPLE_U8, corner100, SAMPLE_U8, 25); /* 25.5 */
    window("l1", SAMPLE_U8, nw255, SAMPLE_U8, 64);     /* 64.25 */
    window("out=l1:scale=1", SAMPLE_U8, nw255, SAMPLE_U8, 255);
}

static void test_parts(void **state)
{
    (void)state;
    window("dx", SAMPLE_U8, right8, SAMPLE_I8, 4);
    window("dx", SAMPLE_U8, right255, SAMPLE_I8, 127);
    window("dx", SAMPLE_U8, left255, SAMPLE_I8, -128); /* −127.5, downwards */
    window("dy", SAMPLE_U8, corner100, SAMPLE_I8, -13);
    window("dy", SAMPLE_U8, bottom10, SAMPLE_I8, -5);
    window("both", SAMPLE_U8, corner100, SAMPLE_I8, 12);
}

static void test_sample(void **state)
{
    (void)state;
    window("sample", SAMPLE_U8, corner100, SAMPLE_U8, 17); /* sqrt(12² + 13²) = 17.69 */
    window("sample", SAMPLE_U8, nw255, SAMPLE_U8, 44);     /* sqrt(32² + 31²) = 44.55 */
    window("sample", SAMPLE_U8, right255, SAMPLE_U8, 127);
    window("sample", SAMPLE_U8, left255, SAMPLE_U8, 128);
}

static void test_u16(void **state)
{
    static const double right[9] = {0, 0, 65535, 0, 0, 65535, 0, 0, 65535}; /* dX 262140 */
    static const double left[9] = {65535, 0, 0, 65535, 0, 0, 65535, 0, 0};
    static const double corner[9] = {0, 0, 0, 0, 0, 0, 0, 0, 65535};
    (void)state;
    window("", SAMPLE_U16, right, SAMPLE_U16, 32768);  /* 32767.5 + 0.5 */
    window("", SAMPLE_U16, corner, SAMPLE_U16, 11585); /* 11585.06 + 0.5 */
    window("scale=1", SAMPLE_U16, right, SAMPLE_U16, 65535);
    window("dx", SAMPLE_U16, right, SAMPLE_I16, 32767);
    window("dx", SAMPLE_U16, left, SAMPLE_I16, -32768);
    window("sample", SAMPLE_U16, left, SAMPLE_U16, 32768);
}

static void test_f32(void **state)
{
    static const double in[9] = {0, 0, 0, 0, 0, 0.5, 0, 0, 0}; /* dX 1 */
    (void)state;
    window("", SAMPLE_F32, in, SAMPLE_F32, 0.125);
    window("dx", SAMPLE_F32, in, SAMPLE_F32, 1);
    window("dy", SAMPLE_F32, corner100, SAMPLE_F32, -100);
    window("l1:scale=2", SAMPLE_F32, corner100, SAMPLE_F32, 400);
}

static void test_borders(void **state)
{
    static const double in[2] = {0, 8};
    static const double edge[2] = {4, 4}, none[2] = {0, 0}, zero[2] = {2, 0};
    static const double rgba[4] = {9, 10, 11, 77}, only_alpha[4] = {0, 0, 0, 77};
    (void)state;
    harness_vector("sobel", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, edge, 0);
    harness_vector("sobel:border=symmetric", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, edge, 0);
    harness_vector("sobel:border=reflect", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, none, 0);
    harness_vector("sobel:border=wrap", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, none, 0);
    harness_vector("sobel:border=zero", SAMPLE_U8, 2, 1, 1, in, SAMPLE_U8, 2, 1, 1, zero, 0);
    harness_vector("sobel", SAMPLE_U8, 1, 1, 4, rgba, SAMPLE_U8, 1, 1, 4, only_alpha, 0);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};
    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            harness_sweep("sobel", types[t], channels);
    harness_sweep("sobel", SAMPLE_I8, 1);
    harness_sweep("sobel", SAMPLE_I16, 3);
}

static void test_outputs_against_reference(void **state)
{
    static const char *const chains[] = {"sobel:l1",      "sobel:both",      "sobel:dy",
                                         "sobel:sample",  "sobel:scale=0.7", "sobel:l1:scale=3.3",
                                         "sobel:scale=1", "sobel:l1:scale=4"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_few(chains[i], SAMPLE_U8, 1);
        harness_few(chains[i], SAMPLE_U16, 4);
    }
    harness_few("sobel:scale=0.5", SAMPLE_I8, 3);
    harness_few("sobel:scale=16", SAMPLE_U16, 1);
    harness_few("sobel:scale=0.001953125", SAMPLE_U16, 1);
    harness_few("sobel:scale=2", SAMPLE_U8, 4);
    harness_few("sobel:scale=2:border=crop", SAMPLE_U8, 2);
    harness_few("sobel:both", SAMPLE_F32, 2);
    harness_few("sobel:l1", SAMPLE_F32, 3);
}

static void test_borders_against_reference(void **state)
{
    static const char *const chains[] = {"sobel:border=reflect", "sobel:border=symmetric",
                                         "sobel:border=wrap", "sobel:border=zero",
                                         "sobel:border=crop"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_sweep(chains[i], SAMPLE_U8, 1);
        harness_few(chains[i], SAMPLE_U8, 3);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("sobel:border=crop", SAMPLE_U8, 2, 9, 1, FAULT_SHAPE, "leaves nothing");
    harness_refuses("sobel", SAMPLE_I32, 9, 9, 1, FAULT_SHAPE, "convert");
    harness_refuses("sobel:sample", SAMPLE_F32, 9, 9, 1, FAULT_SHAPE, "f32");
    harness_refuses("sobel:scale=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "0.001");
    harness_refuses("sobel:border=mirorr", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "mirror");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_magnitude),
        cmocka_unit_test(test_scale_is_the_decimal_written),
        cmocka_unit_test(test_powers_of_two),
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_u16),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_outputs_against_reference),
        cmocka_unit_test(test_borders_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
