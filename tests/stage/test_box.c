#include "harness.h"
#include "programs.h"

#include <stdio.h>

#include "base/fault.h"

/* A hand-computed row, or where `height` says so a column, by each method. Means are
 * floor(sum/area + 1/2). */
static void line(const char *args, enum sample_type type, unsigned n, const double *in,
                 unsigned n_out, const double *expected)
{
    static const char *const methods[] = {"separable", "sat"};
    double tolerance = type == SAMPLE_F32 ? 1e-6 : 0;
    for (size_t i = 0; i < 2; i++) {
        char chain[128];
        snprintf(chain, sizeof chain, "box:%s:method=%s", args, methods[i]);
        harness_vector(chain, type, n, 1, 1, in, type, n_out, 1, 1, expected, tolerance);
    }
}

#define LINE(args, type, in, ...)                                                                  \
    do {                                                                                           \
        static const double expected_[] = {__VA_ARGS__};                                           \
        line(args, type, sizeof(in) / sizeof *(in), in, sizeof expected_ / sizeof *expected_,      \
             expected_);                                                                           \
    } while (0)

static const double five[5] = {0, 10, 20, 30, 41};
static const double three[3] = {10, 20, 60};

static void test_odd_windows(void **state)
{
    (void)state;
    LINE("width=1", SAMPLE_U8, five, 0, 10, 20, 30, 41);
    LINE("width=3:height=1", SAMPLE_U8, five, 3, 10, 20, 30, 37);   /* 10/3, 91/3, 112/3 */
    LINE("radius=1", SAMPLE_U8, five, 3, 10, 20, 30, 37);           /* three rows alike */
    LINE("3:1:border=reflect", SAMPLE_U8, five, 7, 10, 20, 30, 34); /* 20/3, 101/3 */
    LINE("3:1:border=wrap", SAMPLE_U8, five, 17, 10, 20, 30, 24);   /* 51/3, 71/3 */
    LINE("3:1:border=zero", SAMPLE_U8, five, 3, 10, 20, 30, 24);    /* 10/3, 71/3 */
    LINE("3:1:border=symmetric", SAMPLE_U8, five, 3, 10, 20, 30, 37);
    LINE("3:1:border=crop", SAMPLE_U8, five, 10, 20, 30);
    LINE("5:1", SAMPLE_U8, five, 6, 12, 20, 28, 35);                  /* 173/5 = 34.6 */
    LINE("5:1:border=symmetric", SAMPLE_U8, five, 8, 12, 20, 28, 32); /* 162/5 */
}

/* x − W/2 … x + W/2 − 1. */
static void test_even_windows(void **state)
{
    (void)state;
    LINE("2:1", SAMPLE_U8, five, 0, 5, 15, 25, 36); /* 71/2 = 35.5 goes up */
    LINE("4:1", SAMPLE_U8, five, 3, 8, 15, 25, 33); /* 10/4 and 30/4 go up; 132/4 */
    LINE("2:1:border=crop", SAMPLE_U8, five, 5, 15, 25, 36);
    LINE("4:1:border=crop", SAMPLE_U8, five, 15, 25); /* 101/4 */
}

static void test_windows_larger_than_the_picture(void **state)
{
    static const double one[1] = {200};
    static const double small[3] = {1, 2, 6};
    (void)state;
    LINE("9:1", SAMPLE_U8, small, 3, 3, 4);                     /* 25, 30, 35 ninths */
    LINE("9:1:border=reflect", SAMPLE_U8, small, 3, 3, 3);      /* 23, 24, 28 ninths */
    LINE("8:1:border=wrap", SAMPLE_U8, three, 31, 26, 33);      /* 250, 210, 260 eighths */
    LINE("8:1:border=symmetric", SAMPLE_U8, three, 38, 33, 26); /* 300, 260, 210 eighths */
    LINE("8:1:border=zero", SAMPLE_U8, three, 11, 11, 11);      /* 90 eighths */
    LINE("5:1:border=reflect", SAMPLE_U8, one, 200);
    LINE("5:border=zero", SAMPLE_U8, one, 8); /* 200/25 */
    LINE("4095:border=zero", SAMPLE_U8, one, 0);
    LINE("4095:4095", SAMPLE_U8, one, 200);
}

static void test_types(void **state)
{
    static const double bytes[5] = {-3, 0, 1, -128, 127};
    static const double words[3] = {-32768, -32768, 32767};
    static const double most[2] = {65535, 65534}, white[2] = {255, 254};
    static const double floats[3] = {1, 2, 4};
    (void)state;
    LINE("2:1", SAMPLE_I8, bytes, -3, -1, 1, -63, 0); /* −1.5, 0.5, −63.5 and −0.5 go up */
    LINE("3:1", SAMPLE_I16, words, -32768, -10923, 10922);         /* −32769/3, 32766/3 */
    LINE("2:1", SAMPLE_U16, most, 65535, 65535);                   /* 65534.5 */
    LINE("4095:4095:border=wrap", SAMPLE_U16, most, 65534, 65535); /* 2047 + 2048 of each */
    LINE("4095:4095:border=wrap", SAMPLE_U8, white, 254, 255);
    LINE("3:1", SAMPLE_F32, floats, 4 / 3.0, 7 / 3.0, 10 / 3.0);
    LINE("2:1:border=zero", SAMPLE_F32, floats, 0.5, 1.5, 3);
    LINE("4:2", SAMPLE_F32, floats, 1.25, 2, 2.75); /* 1 1 1 2, 1 1 2 4, 1 2 4 4 */
}

static void test_down_and_across(void **state)
{
    static const double spot[9] = {0, 0, 0, 0, 90, 0, 0, 0, 0};
    static const double all_10[9] = {10, 10, 10, 10, 10, 10, 10, 10, 10};
    static const double column[5] = {3, 10, 20, 30, 37}, even[5] = {0, 5, 15, 25, 36};
    static const double row[9] = {0, 0, 0, 30, 30, 30, 0, 0, 0};
    static const double high[9] = {0, 45, 0, 0, 45, 0, 0, 0, 0};
    static const double ten[1] = {10};
    (void)state;
    harness_vector("box:3", SAMPLE_U8, 3, 3, 1, spot, SAMPLE_U8, 3, 3, 1, all_10, 0);
    harness_vector("box:3:1", SAMPLE_U8, 3, 3, 1, spot, SAMPLE_U8, 3, 3, 1, row, 0);
    /* The even window of row y is y − 1 and y: 90 counts in rows 1 and 2. */
    harness_vector("box:1:2:border=zero", SAMPLE_U8, 3, 3, 1, high, SAMPLE_U8, 3, 3, 1,
                   (const double[9]){0, 23, 0, 0, 45, 0, 0, 23, 0}, 0);
    harness_vector("box:3:border=crop", SAMPLE_U8, 3, 3, 1, spot, SAMPLE_U8, 1, 1, 1, ten, 0);
    harness_vector("box:1:3", SAMPLE_U8, 1, 5, 1, five, SAMPLE_U8, 1, 5, 1, column, 0);
    harness_vector("box:1:2", SAMPLE_U8, 1, 5, 1, five, SAMPLE_U8, 1, 5, 1, even, 0);
    harness_vector("box:1:2:method=sat", SAMPLE_U8, 1, 5, 1, five, SAMPLE_U8, 1, 5, 1, even, 0);
}

static void test_channels(void **state)
{
    static const double rgb[6] = {10, 20, 30, 40, 51, 61}, rgb_3[6] = {20, 30, 40, 30, 41, 51};
    static const double rgba[8] = {10, 20, 30, 7, 40, 51, 61, 9};
    static const double rgba_3[8] = {20, 30, 40, 7, 30, 41, 51, 9};
    static const double grey[10] = {0, 1, 10, 2, 20, 3, 30, 4, 41, 5};
    static const double grey_3[10] = {3, 1, 10, 2, 20, 3, 30, 4, 37, 5};
    static const double grey_crop[4] = {15, 3, 25, 4}; /* alpha of the pixel at W/2 */
    static const char *const methods[] = {"separable", "sat"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char chain[64];
        snprintf(chain, sizeof chain, "box:3:1:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_U8, 2, 1, 3, rgb, SAMPLE_U8, 2, 1, 3, rgb_3, 0);
        harness_vector(chain, SAMPLE_U8, 2, 1, 4, rgba, SAMPLE_U8, 2, 1, 4, rgba_3, 0);
        harness_vector(chain, SAMPLE_U8, 5, 1, 2, grey, SAMPLE_U8, 5, 1, 2, grey_3, 0);
        harness_vector(chain, SAMPLE_U16, 5, 1, 2, grey, SAMPLE_U16, 5, 1, 2, grey_3, 0);
        snprintf(chain, sizeof chain, "box:4:1:border=crop:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_U8, 5, 1, 2, grey, SAMPLE_U8, 2, 1, 2, grey_crop, 0);
    }
}

static void test_passes(void **state)
{
    static const double nine[5] = {0, 0, 9, 0, 0}, odd[5] = {0, 0, 5, 0, 0};
    static const double rising[5] = {0, 9, 18, 27, 90};
    (void)state;
    LINE("3:1:passes=2", SAMPLE_U8, nine, 1, 2, 3, 2, 1);
    LINE("3:1:passes=2", SAMPLE_U8, odd, 1, 1, 2, 1, 1);     /* of 0 2 2 2 0, each pass rounds */
    LINE("3:1:passes=2:border=crop", SAMPLE_U8, rising, 24); /* of 9 18 45 */
    LINE("2:1:passes=3", SAMPLE_U8, nine, 0, 0, 2, 4, 4);    /* of 0 0 5 5 0 and 0 0 3 5 3 */
}

/* Of several widths, the first plane. */
static void test_widths(void **state)
{
    static const double b5[5] = {6, 12, 20, 28, 35}, b3[5] = {3, 10, 20, 30, 37};
    (void)state;
    harness_vector("box:width=3_5", SAMPLE_U8, 5, 1, 1, five, SAMPLE_U8, 5, 1, 1, b3, 0);
    harness_vector("box:width=5_3:height=1", SAMPLE_U8, 5, 1, 1, five, SAMPLE_U8, 5, 1, 1, b5, 0);
    harness_vector("box:radius=2_1", SAMPLE_U8, 5, 1, 1, five, SAMPLE_U8, 5, 1, 1, b5, 0);
}

/* A picture whose sample (x, y) is (37x + 91y + 13xy) mod `modulus`, times `gain`, plus `offset`.
 */
static const double *picture(unsigned width, unsigned height, unsigned modulus, unsigned gain,
                             int offset)
{
    static double samples[70 * 40];
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++)
            samples[y * width + x] =
                (int)((37 * x + 91 * y + 13 * x * y) % modulus * gain % 65536) + offset;
    return samples;
}

/* cv2.blur of OpenCV 4.6.0 with BORDER_REPLICATE, REFLECT_101, REFLECT and CONSTANT. */
static void test_against_opencv(void **state)
{
    static const double edge_5x3[84] = {
        55,  80,  96,  120, 144, 135, 125, 115, 105, 95,  111, 119, 104, 117, 123, 139, 137,
        136, 135, 134, 116, 114, 120, 116, 117, 138, 137, 149, 144, 139, 133, 145, 123, 118,
        117, 103, 114, 125, 135, 143, 133, 141, 132, 139, 130, 121, 113, 108, 110, 129, 132,
        136, 140, 143, 130, 134, 137, 124, 110, 95,  107, 117, 130, 130, 129, 146, 145, 128,
        145, 127, 106, 82,  87,  102, 123, 131, 139, 147, 156, 130, 138, 112, 98,  62};
    static const double reflect_7x5[84] = {
        141, 134, 142, 135, 137, 138, 140, 126, 128, 114, 115, 122, 142, 128, 129, 132, 136,
        140, 137, 119, 123, 111, 105, 113, 129, 123, 129, 130, 134, 131, 136, 126, 123, 117,
        114, 116, 147, 136, 140, 135, 138, 141, 144, 132, 128, 123, 127, 130, 129, 127, 136,
        134, 135, 136, 145, 139, 125, 123, 124, 130, 131, 123, 128, 131, 133, 142, 144, 138,
        125, 128, 126, 133, 124, 124, 130, 128, 132, 137, 141, 145, 128, 140, 139, 138};
    static const double symmetric_3x7[84] = {
        98,  110, 139, 132, 149, 142, 135, 127, 120, 113, 106, 105, 89,  103, 136, 132, 141,
        138, 134, 131, 115, 111, 108, 109, 95,  101, 130, 134, 150, 141, 133, 125, 117, 120,
        112, 107, 103, 105, 132, 135, 150, 141, 132, 135, 125, 128, 107, 96,  112, 109, 135,
        137, 151, 141, 130, 144, 134, 136, 101, 86,  118, 107, 129, 138, 160, 144, 129, 139,
        136, 145, 105, 83,  108, 101, 126, 139, 152, 140, 129, 142, 130, 143, 107, 88};
    static const double zero_9x1[84] = {
        41,  62,  86,  87,  91,  100, 108, 117, 104, 88,  67,  43,  78,  87,  102, 123, 149,
        142, 135, 128, 101, 97,  88,  73,  86,  113, 118, 130, 150, 156, 133, 139, 127, 107,
        80,  75,  65,  81,  105, 109, 122, 141, 132, 122, 95,  88,  72,  48,  74,  78,  93,
        117, 123, 126, 130, 134, 120, 97,  93,  78,  82,  104, 108, 124, 152, 140, 157, 145,
        117, 107, 85,  80,  61,  72,  96,  104, 124, 125, 127, 128, 114, 88,  77,  53};
    const double *in = picture(12, 7, 256, 1, 0);
    (void)state;
    harness_vector("box:5:3", SAMPLE_U8, 12, 7, 1, in, SAMPLE_U8, 12, 7, 1, edge_5x3, 0);
    harness_vector("box:5:3:method=sat", SAMPLE_U8, 12, 7, 1, in, SAMPLE_U8, 12, 7, 1, edge_5x3, 0);
    harness_vector("box:7:5:border=reflect", SAMPLE_U8, 12, 7, 1, in, SAMPLE_U8, 12, 7, 1,
                   reflect_7x5, 0);
    harness_vector("box:3:7:border=symmetric", SAMPLE_U8, 12, 7, 1, in, SAMPLE_U8, 12, 7, 1,
                   symmetric_3x7, 0);
    harness_vector("box:9:1:border=zero", SAMPLE_U8, 12, 7, 1, in, SAMPLE_U8, 12, 7, 1, zero_9x1,
                   0);
}

/* Sums of numpy's sliding_window_view over the bordered picture, in 64-bit integers. */
static void test_against_numpy(void **state)
{
    static const double wrap_6x4[84] = {
        94,  114, 112, 122, 134, 135, 147, 127, 128, 119, 107, 106, 100, 108, 117, 125, 138,
        130, 142, 134, 126, 117, 104, 113, 106, 113, 121, 128, 142, 135, 138, 130, 123, 115,
        102, 109, 119, 124, 129, 135, 140, 135, 140, 135, 130, 125, 119, 125, 122, 124, 127,
        141, 138, 135, 143, 140, 137, 124, 127, 129, 103, 114, 114, 126, 136, 135, 145, 134,
        134, 123, 112, 113, 98,  108, 108, 118, 129, 130, 141, 131, 131, 121, 110, 109};
    static const double signed_5x4[84] = {
        -7263, -4824, -2865, -92,  2680, 1574, 468,  -637, -1743, -2849, -890,  256,
        -3566, -2026, -834,  1302, 2145, 1696, 1246, 797,  -946,  -1395, -203,  44,
        -2546, -415,  272,   2100, 2635, 1877, 1120, 1655, -395,  -1153, -466,  -920,
        -324,  1302,  1746,  2302, 1564, 2120, 1383, 1938, 1201,  463,   -385,  -1344,
        605,   1726,  1928,  2504, 1787, 2362, 1645, 2221, 1504,  787,   -304,  -1769,
        -2344, -435,  817,   1413, 2009, 2605, 1908, 1211, 1807,  -183,  -1516, -3486,
        -2617, -1410, 630,   918,  1206, 2786, 3074, 777,  2357,  59,    -1779, -4450};
    static const double crop_65x38[18] = {33228, 33375, 33416, 33431, 33446, 33461,
                                          33231, 33354, 33371, 33388, 33405, 33422,
                                          32465, 32590, 32609, 32629, 32648, 32667};
    static const double crop_64x37[28] = {33283, 33446, 33442, 33522, 33518, 33515, 33511,
                                          33266, 33406, 33381, 33438, 33440, 33470, 33472,
                                          33220, 33366, 33346, 33409, 33417, 33425, 33433,
                                          32455, 32607, 32593, 32634, 32647, 32660, 32674};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static const char *const methods[] = {"separable", "sat"};
        char chain[80];
        snprintf(chain, sizeof chain, "box:6:4:border=wrap:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_U8, 12, 7, 1, picture(12, 7, 256, 1, 0), SAMPLE_U8, 12, 7, 1,
                       wrap_6x4, 0);
        snprintf(chain, sizeof chain, "box:5:4:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_I16, 12, 7, 1, picture(12, 7, 256, 101, -12000), SAMPLE_I16,
                       12, 7, 1, signed_5x4, 0);
        snprintf(chain, sizeof chain, "box:65:38:border=crop:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_U16, 70, 40, 1, picture(70, 40, 65536, 241, 0), SAMPLE_U16, 6,
                       3, 1, crop_65x38, 0);
        snprintf(chain, sizeof chain, "box:64:37:border=crop:method=%s", methods[i]);
        harness_vector(chain, SAMPLE_U16, 70, 40, 1, picture(70, 40, 65536, 241, 0), SAMPLE_U16, 7,
                       4, 1, crop_64x37, 0);
    }
}

/* From black rows to white ones and back, whose noise lets sums leave every rest: the largest
 * changes that there are. All columns are the same, so means are those of a column: floor(sum /
 * side + 1/2). */
static void test_steps(void **state)
{
    enum {
        WIDTH = 40,
        HEIGHT = 420
    };
    static const int sides[] = {17, 31, 93, 101, 104, 105};
    static double in[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int y = i / WIDTH, noise = y * y % 7 % 4;
        in[i] = y / 105 % 2 ? 255 - noise : noise;
    }
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        char chain[32];
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            int sum = 0;
            for (int k = 0; k < sides[s]; k++) {
                int y = i / WIDTH + k - sides[s] / 2;
                sum += (int)in[(y < 0 ? 0 : y < HEIGHT ? y : HEIGHT - 1) * WIDTH];
            }
            expected[i] = (2 * sum + sides[s]) / (2 * sides[s]);
        }
        snprintf(chain, sizeof chain, "box:%d", sides[s]);
        harness_vector(chain, SAMPLE_U8, WIDTH, HEIGHT, 1, in, SAMPLE_U8, WIDTH, HEIGHT, 1,
                       expected, 0);
    }
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_I8, SAMPLE_U16, SAMPLE_I16, SAMPLE_F32};
static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};

/* Every size, with windows that divide in each way there is (src/stage/box/box_divide.h). */
static void test_sizes_against_reference(void **state)
{
    static const char *const chains[] = {"box:radius=1", "box:16:5", "box:101:border=reflect",
                                         "box:4:301:border=wrap", "box:3:method=sat"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (size_t t = i % 2; t < 5; t += 2)
            harness_sweep(chains[i], types[t], 1 + (uint32_t)(i + t) % 4);
}

static void test_windows_against_reference(void **state)
{
    static const int widths[] = {1, 2, 3, 6, 15, 64, 301, 1001, 4095};
    static const char *const methods[] = {"auto", "sat"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        for (size_t w = 0; w < 9; w++) {
            char chain[100];
            size_t t = (b + w) % 5;
            snprintf(chain, sizeof chain, "box:%d:%d:border=%s:method=%s", widths[w],
                     widths[(w + b) % 9], borders[b], methods[w % 2]);
            harness_few(chain, types[t], 1 + (uint32_t)t % 4);
        }
    }
}

/* More rows than one work-item takes. */
static void test_bands_against_reference(void **state)
{
    static const char *const chains[] = {"box:5", "box:64:7:border=symmetric",
                                         "box:301:40:border=wrap", "box:9:method=sat",
                                         "box:3:31:border=crop"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        harness_check(chains[i], types[i], 40, 533, 1, HARNESS_RANDOM);
        harness_check(chains[i], SAMPLE_U8, 33, 260, 3, HARNESS_RAMP);
        harness_check(chains[i], SAMPLE_F32, 19, 300, 2, HARNESS_RANDOM);
    }
}

/* More columns than a work-group takes, and windows of as many rows as sums of 16 bits do not hold.
 */
static void test_strips_against_reference(void **state)
{
    (void)state;
    harness_check("box:31", SAMPLE_U8, 2100, 20, 1, HARNESS_RANDOM);
    harness_check("box:40:12:border=reflect", SAMPLE_I8, 4160, 9, 1, HARNESS_RANDOM);
    harness_check("box:301:5:border=symmetric", SAMPLE_U8, 2101, 7, 1, HARNESS_RANDOM);
    harness_check("box:9:301:border=zero", SAMPLE_I8, 1100, 9, 1, HARNESS_EXTREMES);
    harness_check("box:9:19:border=zero", SAMPLE_U8, 1100, 9, 1, HARNESS_RANDOM);
    harness_check("box:20:301:border=crop", SAMPLE_U8, 1100, 310, 1, HARNESS_RANDOM);
    harness_check("box:4:6:border=reflect", SAMPLE_U8, 75, 20, 1, HARNESS_RANDOM);
    harness_check("box:17:3", SAMPLE_U8, 75, 9, 1, HARNESS_RANDOM);
    harness_check("box:14:9:border=symmetric", SAMPLE_I8, 75, 20, 1, HARNESS_RANDOM);
}

static void test_planes_against_reference(void **state)
{
    (void)state;
    harness_few("box:3_9_27", SAMPLE_U8, 3);
    harness_few("box:27_4:border=reflect:passes=2", SAMPLE_U16, 1);
    harness_few("box:3_301:border=wrap", SAMPLE_I8, 4);
    harness_few("box:9_3:method=separable", SAMPLE_I16, 2);
    harness_few("box:5_2:border=crop", SAMPLE_U8, 1);
    harness_few("box:3_9", SAMPLE_F32, 1);
    harness_few("sobel:both,box:3_5", SAMPLE_U8, 1);
    harness_few("box:3:passes=4:border=zero", SAMPLE_U8, 4);
    harness_few("box:5:passes=3", SAMPLE_F32, 3);
}

/* Entry (x, y) is the sum of the samples above and left of it; the first row and column are 0. */
static void test_table(void **state)
{
    (void)state;
    const double in[] = {1, 2, 3, 4, 5, 6};
    const double table[] = {0, 0, 0, 0, 0, 1, 3, 6, 0, 5, 12, 21};
    harness_vector("box:table=1", SAMPLE_U8, 3, 2, 1, in, SAMPLE_I32, 4, 3, 1, table, 0);
    const double negative[] = {-32768, 32767, -3, 1000};
    const double sums[] = {0, 0, 0, 0, -32768, -1, 0, -32771, 996};
    harness_vector("box:table=1", SAMPLE_I16, 2, 2, 1, negative, SAMPLE_I32, 3, 3, 1, sums, 0);
    /* two channels, each with a table of its own */
    const double pairs[] = {1, 10, 2, 20, 3, 30, 4, 40};
    const double both[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 3, 30, 0, 0, 4, 40, 10, 100};
    harness_vector("box:table=1", SAMPLE_U16, 2, 2, 2, pairs, SAMPLE_I32, 3, 3, 2, both, 0);
    /* beside means it has a name */
    const struct harness_plane planes[] = {{.name = "table", 4, 3, .samples = table}, {0}};
    harness_planes("box:3:table=1", SAMPLE_U8, 3, 2, 1, in, SAMPLE_I32, false, planes, 0);
    const double means[] = {2, 3, 4, 3, 4, 5}; /* 21/9, 27/9, 33/9; 30/9, 36/9, 42/9 */
    const struct harness_plane beside[] = {{.name = "box3", 3, 2, .samples = means}, {0}};
    harness_planes("box:3:table=1", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, false, beside, 0);
    harness_few("box:table=1", SAMPLE_U8, 1);
    harness_few("box:table=1", SAMPLE_U8, 3);
    harness_few("box:table=1", SAMPLE_I8, 4);
    harness_few("box:table=1", SAMPLE_U16, 3);
    harness_few("box:table=1", SAMPLE_I16, 1);
    harness_few("box:3_9:method=sat:table=1", SAMPLE_U8, 4);
    harness_few("box:3:table=1", SAMPLE_U8, 3);
    harness_few("box:4:passes=2:border=crop:method=sat:table=1", SAMPLE_I16, 1);
    harness_few("sobel:both,box:3:table=1", SAMPLE_U8, 1);
    /* entries beyond 2^32, and windows whose sums take 64 bits beside the table of 32 */
    harness_check("box:table=1", SAMPLE_U16, 410, 330, 1, HARNESS_EXTREMES);
    harness_check("box:301_5:method=sat:table=1", SAMPLE_U16, 40, 31, 1, HARNESS_EXTREMES);
    harness_check("box:table=1", SAMPLE_U8, 90, 140, 3, HARNESS_RANDOM); /* several bands */
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("box:table=1:height=3", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "leave out height=");
    harness_refuses("box:table=1:passes=2", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "leave out passes=");
    harness_refuses("box:table=1:border=zero", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN,
                    "leave out border=");
    harness_refuses("box:table=1", SAMPLE_F32, 9, 9, 1, FAULT_SHAPE, "integers");
    harness_refuses("box:3:table=1", SAMPLE_F32, 9, 9, 1, FAULT_SHAPE, "integers");
    harness_refuses("box:table=1", SAMPLE_U8, 1 << 16, 1 << 15, 1, FAULT_LIMIT, "2^31");
    harness_refuses("box", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width=W");
    harness_refuses("box:width=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "4095");
    harness_refuses("box:width=4096", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "4095");
    harness_refuses("box:width=3:radius=1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "either");
    harness_refuses("box:width=3_5_3", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "twice");
    harness_refuses("box:3:passes=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "100");
    harness_refuses("box:3:method=sta", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sat");
    harness_refuses("box:10:1:border=crop", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE, "leaves nothing");
    harness_refuses("box:5:passes=3:border=crop", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE,
                    "leaves nothing");
    harness_refuses("box:3", SAMPLE_I32, 9, 9, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_windows),
        cmocka_unit_test(test_even_windows),
        cmocka_unit_test(test_windows_larger_than_the_picture),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_down_and_across),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_against_opencv),
        cmocka_unit_test(test_against_numpy),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_sizes_against_reference),
        cmocka_unit_test(test_windows_against_reference),
        cmocka_unit_test(test_bands_against_reference),
        cmocka_unit_test(test_strips_against_reference),
        cmocka_unit_test(test_planes_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
