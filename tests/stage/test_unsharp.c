/* unsharp: vectors computed from the definition with 50 digits by a program of its own, then device against
 * reference. */
#include "vectors.h"

#include <stdio.h>

static const struct vector vectors[] = {
    {"1", "u8 1x1", "0"},
    {"1.5:border=zero", "u8 1x1 %3 *100", "0"},
    {"0.5", "u8 1x6", "0, 91, 209, 0, 108, 209"},
    {"0.5", "u8 6x1", "0 37 74 111 148 189"},
    {"0.8", "u8 5x4", "0 9 48 97 170, 82 158 241 255 0, 234 255 0 83 226, 0 70 185 255 10"},
    {"0.7:amount=0.5", "u16 4x3 %65536 *241", "0 6121 14961 24626, 20645 35439 51621 65535, 44949 65535 0 21727"},
    {"0.8:border=reflect", "u8 5x4", "0 0 21 80 164, 68 154 238 255 0, 216 255 0 83 213, 0 48 195 255 0"},
    {"0.7:amount=0.5:border=reflect", "u16 4x3 %65536 *241", "0 3320 12094 22651, 19352 35313 51431 65535, 46056 65535 0 19555"},
    {"0.8:border=symmetric", "u8 5x4", "0 7 45 95 170, 81 158 241 255 0, 232 255 0 83 225, 0 68 186 255 6"},
    {"0.7:amount=0.5:border=symmetric", "u16 4x3 %65536 *241", "0 5999 14826 24526, 20586 35437 51621 65535, 44987 65535 0 21630"},
    {"0.8:border=wrap", "u8 5x4", "0 0 26 82 193, 78 156 239 255 0, 233 255 0 85 225, 0 81 205 255 16"},
    {"0.7:amount=0.5:border=wrap", "u16 4x3 %65536 *241", "0 2205 14413 26813, 18331 35332 51726 65535, 49471 65535 0 21353"},
    {"0.8:border=zero", "u8 5x4", "0 19 66 126 226, 104 161 243 255 0, 255 255 0 90 255, 0 95 226 255 56"},
    {"0.7:amount=0.5:border=zero", "u16 4x3 %65536 *241", "0 7116 17004 30235, 23193 35807 52029 65535, 53137 65535 1913 26770"},
    {"0.6:border=crop", "u8 7x6", "0 86 207, 198 255 1"},
    {"0.3:amount=2:border=crop", "u8 5x4x3", "141 200 255 193 252 45 245 38 97, 249 42 101 48 107 168 113 174 233"},
    {"0.4:amount=1.5:border=crop", "u16 6x5x2 %65536 *7919", "10569 6851 61988 46996"},
    {"1:amount=0.7", "u8 4x3x2 %251", "0 57 13 94 54 131 98 168, 81 148 155 198 230 248 255 47, 197 239 255 51 0 114 107 177"},
    {"1:amount=0.3", "u8 3x3x4", "0 44 105 171 27 86 150 208 69 127 197 245, 87 150 225 6 148 214 255 56 213 255 22 106, 189 255 "
     "21 97 255 18 97 160 32 102 175 223"},
    {"1.2:amount=0.5", "u8 4x3x3", "0 33 100 17 81 149 59 129 198 104 182 246, 84 152 241 153 228 255 222 255 0 255 0 63, 197 255 "
     "7 255 0 90 9 96 172 105 189 255"},
    {"5:amount=3", "u8 6x5", "0 0 2 126 253 255, 103 255 255 255 0 0, 255 255 0 145 255 255, 0 78 255 255 0 237, 141 255 0 167 255 "
     "0"},
    {"1:amount=1:threshold=4", "u8 5x4 %40", "0 51 40 36 32, 7 21 39 0 2, 22 0 35 2 47, 39 33 25 21 17"},
    {"1:amount=1.5:threshold=4.5", "u8 5x4 %40", "0 58 43 39 28, 11 21 43 0 0, 22 0 38 0 54, 42 29 25 21 17"},
    {"1:amount=0", "u8 5x4", "0 37 74 111 148, 91 141 191 241 35, 182 245 52 115 178, 17 93 169 245 65"},
    {"1:amount=-1", "u8 5x4", "46 72 102 123 126, 96 116 133 137 122, 116 135 145 145 127, 83 117 149 154 123"},
    {"1:amount=-0.5", "u8 5x4", "23 55 88 117 137, 93 129 162 189 79, 149 190 98 130 152, 50 105 159 199 94"},
    {"1:amount=0.5", "u8 6x4", "0 19 60 104 153 201, 89 153 220 255 0 55, 215 255 6 99 194 255, 0 81 179 255 25 137"},
    {"1:amount=1000", "u8 6x4", "0 0 0 0 255 255, 0 255 255 255 0 0, 255 255 0 0 255 255, 0 0 255 255 0 0"},
    {"1:amount=0.123456789", "u16 5x4 %65536 *241", "0 7891 17027 26470 36439, 21811 34783 47886 61379 1816, 45967 62530 5751 "
     "22917 40605, 0 17749 37449 57988 5994"},
    {"1:amount=100", "u16 5x4 %65536 *241", "0 0 0 0 65535, 0 65535 65535 65535 0, 65535 65535 0 0 65535, 0 0 65535 65535 0"},
    {"2.5:amount=0.1:threshold=500", "u16 5x4x3 %65536 *7919", "0 59245 51485 30735 21473 13564 64439 55737 47689 26027 17808 9648 "
     "59712 51856 43616, 65535 59058 51149 0 62471 54389 2179 65535 57601 5063 0 60751 7906 117 63825, 65535 58890 50842 39808 "
     "31391 23165 11975 3822 65535 56125 48221 39818 28101 20404 11997, 65535 58722 50562 8335 301 64065 21760 13877 5475 35042 "
     "27312 18919 48208 40610 32281"},
    {"1", "f32 5x4", "-46.28183 2.157496 45.9818 99.49933 170.2379, 85.81994 165.8283 249.3106 345.0857 -52.34008, 247.5946 "
     "355.3973 -40.66369 85.3495 228.7491, -49.13416 68.85816 189.2065 336.0979 6.562759"},
    {"0.6:amount=0.5:border=zero", "f32 4x3x2", "-9.274619 57 31.26831 94 70.69764 131 121.95 168, 94.65225 148 144.9755 198 "
     "209.433 248 283.5854 42, 212.4163 239 288.8577 46 30.76962 109 128.0996 172"},
    {"2:amount=2:border=wrap", "f32 3x3x3", "-224.9861 -111.1704 59.57073 -114.0504 -0.1249931 170.5064 -3.005028 110.8107 "
     "281.5518, 47.88005 161.6957 332.5466 197.8157 311.7411 482.4823 347.8611 461.6768 -135.4721, 320.856 434.7814 -162.3675 "
     "509.7916 -144.173 26.56816 -69.1628 44.76265 215.6136"},
    {"0.5:amount=1.5:border=crop", "f32 5x5", "-21.09876"},
    {"1:amount=1:threshold=60.5", "f32 5x4", "0 37 74 111 148, 91 141 191 345.0857 -52.34008, 247.5946 355.3973 -40.66369 115 178, "
     "-49.13416 93 169 336.0979 65"},
};

static void test_vectors(void **state)
{
    (void)state;
    vectors_check("unsharp", vectors, sizeof vectors / sizeof *vectors);
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t t = 0; t < 3; t++) {
            harness_sweep("unsharp:1.3:amount=0.7", types[t], channels);
            harness_few("unsharp:3:amount=500", types[t], channels); /* beyond what f32 holds */
        }
}

static void test_settings(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        char chain[80];
        snprintf(chain, sizeof chain, "unsharp:0.6:0.5:border=%s", borders[b]);
        harness_few(chain, types[b % 3], 1 + (uint32_t)b % 4);
        harness_check(chain, SAMPLE_U8, 61, 37, 3, HARNESS_EXTREMES);
        snprintf(chain, sizeof chain, "unsharp:0.6:99.5:border=%s", borders[b]);
        harness_check(chain, SAMPLE_U16, 41, 37, 2, HARNESS_RANDOM);
    }
    harness_few("unsharp:2:amount=-1", SAMPLE_U8, 1);
    harness_few("unsharp:2:amount=0", SAMPLE_U16, 3);
    harness_few("unsharp:2:threshold=20", SAMPLE_U8, 4);
    harness_few("unsharp:2:threshold=7.5:amount=0.1", SAMPLE_U16, 1);
    harness_check("unsharp:2", SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("unsharp", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sigma");
    harness_refuses("unsharp:0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "sigma");
    harness_refuses("unsharp:1:threshold=-1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "threshold");
    harness_refuses("unsharp:2:border=crop", SAMPLE_U8, 12, 30, 1, FAULT_SHAPE, "13");
    harness_refuses("unsharp:2", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),           cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_settings),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
