/* gauss: vectors computed from the definition with 50 digits by a program of its own, then device against
 * reference. */
#include "vectors.h"

#include <stdio.h>

static const struct vector vectors[] = {
    {"1", "u8 1x1", "0"},
    {"0.5", "u8 1x1x3", "0 57 114"},
    {"1.5:border=zero", "u8 1x1", "0"},
    {"0.3", "u8 5x1", "0 37 74 111 148"},
    {"0.5", "u8 1x6", "10, 91, 155, 44, 108, 189"},
    {"0.8", "u8 5x4", "36 65 100 125 126, 100 124 141 146 116, 130 148 143 147 130, 75 116 153 165 120"},
    {"2", "u8 3x2 %2 *255", "129 133 129, 171 173 171"},
    {"0.7", "u16 4x3 %65536 *241", "7087 14508 23580 31001, 24504 31066 34850 41412, 41688 42487 27373 28172"},
    {"0.8:border=reflect", "u8 5x4", "73 93 127 142 132, 114 128 144 150 136, 148 151 142 147 143, 128 138 143 153 147"},
    {"2:border=reflect", "u8 3x2 %2 *255", "191 191 191, 191 191 191"},
    {"0.7:border=reflect", "u16 4x3 %65536 *241", "14476 20111 29315 34950, 27089 31318 35230 39459, 39475 40012 31978 32516"},
    {"0.8:border=symmetric", "u8 5x4", "39 67 103 127 126, 101 124 141 147 118, 132 148 143 147 131, 80 118 152 164 124"},
    {"2:border=symmetric", "u8 3x2 %2 *255", "169 169 169, 171 171 171"},
    {"0.7:border=symmetric", "u16 4x3 %65536 *241", "7402 14753 23851 31201, 24621 31068 34852 41299, 41612 42380 27596 28365"},
    {"0.8:border=wrap", "u8 5x4", "66 83 122 140 103, 104 126 143 148 115, 131 147 141 145 131, 85 105 133 148 114"},
    {"2:border=wrap", "u8 3x2 %2 *255", "170 170 170, 170 170 170"},
    {"0.7:border=wrap", "u16 4x3 %65536 *241", "20391 22340 24676 26626, 29131 31279 34641 36789, 32644 34990 26573 28919"},
    {"0.8:border=zero", "u8 5x4", "27 55 82 96 70, 78 121 139 142 90, 100 143 139 140 99, 52 91 112 119 74"},
    {"2:border=zero", "u8 3x2 %2 *255", "31 35 31, 33 37 33"},
    {"0.7:border=zero", "u16 4x3 %65536 *241", "5593 12519 19495 19783, 19406 30330 34035 31612, 25312 32499 22250 18085"},
    {"0.6:border=crop", "u8 7x6", "123 144 149, 140 174 129"},
    {"0.3:border=crop", "u8 5x4x3", "141 197 253 190 246 51 239 44 100, 243 48 104 54 110 165 116 171 227"},
    {"0.4:border=crop", "u16 6x5x2 %65536 *7919", "16654 6851 49283 46996"},
    {"1.5:border=crop", "u8 11x12", "143, 146"},
    {"1", "u8 4x3x2 %251", "47 57 72 94 103 131 129 168, 105 148 121 198 135 248 152 47, 160 239 158 51 140 114 138 177"},
    {"1", "u8 3x3x4", "47 100 143 171 70 121 155 208 91 144 157 245, 104 143 140 6 118 144 147 56 119 158 139 106, 160 173 102 97 "
     "154 139 124 160 120 133 137 223"},
    {"1.2", "u8 4x3x3", "56 106 141 78 120 155 104 135 169 125 140 183, 105 141 134 117 138 146 129 138 158 142 135 170, 152 167 "
     "106 149 143 129 138 135 155 135 138 178"},
    {"5", "u8 6x5", "83 91 98 106 113 119, 87 93 99 105 111 116, 91 96 100 105 109 113, 94 98 101 104 107 109, 97 99 101 103 104 "
     "105"},
    {"3:radius=1:border=wrap", "u8 4x4", "106 89 143 127, 129 114 135 119, 152 132 165 145, 115 97 127 109"},
    {"1:radius=0", "u8 5x3", "0 37 74 111 148, 91 141 191 241 35, 182 245 52 115 178"},
    {"1e-06", "u8 4x2", "0 37 74 111, 91 141 191 241"},
    {"1000:radius=2", "u8 4x3", "71 88 105 121, 101 110 120 129, 130 132 135 137"},
    {"100", "u8 3x3", "77 77 77, 78 78 77, 78 78 78"},
    {"1", "u8 6x4 %2 *255", "110 150 157 161 168 208, 151 179 184 187 192 221, 167 191 195 198 202 226, 208 221 223 224 227 240"},
    {"1", "u16 5x4 %2 *65535", "28329 38525 40062 38525 28329, 38745 46086 47193 46086 38745, 42946 49136 50069 49136 42946, 53362 "
     "56698 57201 56698 53362"},
    {"2.5", "u16 5x4x3 %65536 *7919", "30176 47384 43926 32098 43661 41688 34511 40473 39891 37177 38310 38855 39778 37285 38621, "
     "34967 46321 44347 34848 42262 42025 35416 38771 39976 36656 36361 38556 38298 35134 37884, 39526 45066 44484 37643 40751 "
     "41956 36667 37141 39560 36770 34748 37716 37703 33619 36628, 43216 43807 44351 40061 39343 41539 38031 35798 38766 37426 "
     "33670 36538 37990 32905 35136"},
    {"1", "f32 5x4", "46.28183 71.8425 102.0182 122.5007 125.7621, 96.18006 116.1717 132.6894 136.9143 122.3401, 116.4054 134.6027 "
     "144.6637 144.6505 127.2509, 83.13416 117.1418 148.7935 153.9021 123.4372"},
    {"0.6:border=zero", "f32 4x3x2", "18.54924 57 48.46338 94 80.60472 131 89.09995 168, 83.6955 148 133.0489 198 154.1339 248 "
     "155.8292 42, 121.1674 239 157.2846 46 94.46077 109 88.80075 172"},
    {"2:border=wrap", "f32 3x3x3", "112.493 141.0852 141.2146 112.5252 141.0625 141.2468 112.5025 141.0947 141.2241, 112.56 "
     "141.1521 141.2267 112.5922 141.1294 141.2589 112.5695 141.1616 141.236, 112.572 141.1093 141.1837 112.6042 141.0865 141.2159 "
     "112.5814 141.1187 141.1932"},
    {"0.5:border=crop", "f32 5x5", "100.7325"},
};

static void test_vectors(void **state)
{
    (void)state;
    vectors_check("gauss", vectors, sizeof vectors / sizeof *vectors);
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t t = 0; t < 3; t++) {
            harness_sweep("gauss:1.3", types[t], channels);
            harness_few("gauss:4", types[t], channels);
        }
}

static void test_borders(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        char chain[80];
        snprintf(chain, sizeof chain, "gauss:2:border=%s", borders[b]);
        harness_few(chain, types[b % 3], 1 + (uint32_t)b % 4);
        harness_check(chain, SAMPLE_U8, 61, 37, 3, HARNESS_EXTREMES);
        harness_check(chain, SAMPLE_U16, 5, 3, 1, HARNESS_EXTREMES);
        snprintf(chain, sizeof chain, "gauss:0.3:border=%s", borders[b]);
        harness_check(chain, SAMPLE_U8, 40, 21, 4, HARNESS_RANDOM);
    }
}

/* Windows larger than the picture, and more columns and rows than one work-item takes. */
static void test_sizes(void **state)
{
    (void)state;
    harness_check("gauss:90", SAMPLE_U8, 37, 21, 1, HARNESS_RANDOM);
    harness_check("gauss:90:border=wrap", SAMPLE_U16, 7, 400, 1, HARNESS_EXTREMES);
    harness_check("gauss:1.5", SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
    harness_check("gauss:1.5", SAMPLE_U8, 1500, 70, 3, HARNESS_EXTREMES);
    harness_check("gauss:1.5", SAMPLE_U8, 200, 230, 1, HARNESS_RANDOM);
    harness_check("gauss:1.5", SAMPLE_U8, 200, 110, 3, HARNESS_RANDOM);
    harness_check("gauss:12", SAMPLE_U16, 1400, 50, 1, HARNESS_RANDOM);
    harness_check("gauss:3", SAMPLE_F32, 900, 120, 4, HARNESS_RAMP);
    harness_few("sobel:both,convert:type=f32,gauss:1", SAMPLE_U8, 1);
    harness_few("crop:0:3:20:6,gauss:1,invert", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("gauss", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sigma");
    harness_refuses("gauss:0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sigma");
    harness_refuses("gauss:-1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sigma");
    harness_refuses("gauss:1:radius=256", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "255");
    harness_refuses("gauss:2:border=crop", SAMPLE_U8, 12, 30, 1, FAULT_SHAPE, "13");
    harness_refuses("gauss:2", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_borders),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
