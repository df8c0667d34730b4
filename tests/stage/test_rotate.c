/* rotate: small pictures, whose results are read off, and device against reference. */
#include "vectors.h"

static void test_small(void **state)
{
    static const double in[6] = {1, 2, 3, 4, 5, 6}; /* 3 by 2 */
    static const double right[6] = {4, 1, 5, 2, 6, 3}, left[6] = {3, 6, 2, 5, 1, 4};
    static const double over[6] = {6, 5, 4, 3, 2, 1}, one[1] = {9};
    (void)state;
    harness_vector("rotate:90", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 2, 3, 1, right, 0);
    harness_vector("rotate:180", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, over, 0);
    harness_vector("rotate:angle=270", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 2, 3, 1, left, 0);
    harness_vector("rotate:90", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 1, 6, 1, in, 0);
    harness_vector("rotate:270", SAMPLE_U8, 6, 1, 1, in, SAMPLE_U8, 1, 6, 1, over, 0);
    harness_vector("rotate:90", SAMPLE_U8, 1, 6, 1, in, SAMPLE_U8, 6, 1, 1, over, 0);
    harness_vector("rotate:90", SAMPLE_U8, 1, 1, 1, one, SAMPLE_U8, 1, 1, 1, one, 0);
    harness_vector("rotate:90,rotate:270", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, in, 0);
    harness_vector("rotate:90,rotate:90", SAMPLE_U8, 3, 2, 1, in, SAMPLE_U8, 3, 2, 1, over, 0);
}

/* 3 by 2 pixels of one to four channels in every type. */
static void test_pixels(void **state)
{
    static const int right[6] = {3, 0, 4, 1, 5, 2}, left[6] = {2, 5, 1, 4, 0, 3};
    (void)state;
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        enum sample_type type = (enum sample_type)t;
        double offset = sample_is_integer(type) ? sample_min(type) : -20.5;
        for (uint32_t channels = 1; channels <= 4; channels++) {
            double in[24], r[24], l[24];
            for (uint32_t i = 0; i < 6 * channels; i++)
                in[i] = offset + i;
            for (uint32_t i = 0; i < 6 * channels; i++) {
                r[i] = in[(uint32_t)right[i / channels] * channels + i % channels];
                l[i] = in[(uint32_t)left[i / channels] * channels + i % channels];
            }
            harness_vector("rotate:90", type, 3, 2, channels, in, type, 2, 3, channels, r, 0);
            harness_vector("rotate:270", type, 3, 2, channels, in, type, 2, 3, channels, l, 0);
        }
    }
}

/* By other angles, computed from the definition by a program of its own. */
static const struct vector angles[] = {
    {"30", "u8 5x4", "0 1 0 9 0 0 0, 0 57 82 68 55 22 0, 13 172 193 173 168 130 55, 6 67 150 77 176 46 15, 0 19 112 201 148 78 0, "
     "0 0 0 67 48 2 0"},
    {"-30", "u8 5x4", "0 0 0 40 109 2 0, 0 8 49 127 120 33 0, 0 26 113 194 163 170 17, 6 86 180 105 145 158 24, 0 85 158 129 124 "
     "49 0, 0 1 13 25 0 0 0"},
    {"45:background=255", "u8 4x4x3", "255 255 255 255 255 255 161 183 205 160 181 203 255 255 255 255 255 255, 255 255 255 210 "
     "232 205 76 133 190 38 95 152 179 201 223 255 255 255, 170 192 205 153 193 64 181 137 167 143 200 156 92 144 184 199 221 242, "
     "167 189 210 91 130 183 145 100 131 133 164 119 210 81 121 205 218 240, 255 255 255 208 230 203 174 183 54 136 145 197 226 "
     "199 221 255 255 255, 255 255 255 255 255 255 249 182 195 247 180 202 255 255 255 255 255 255"},
    {"10:same:border=edge", "u8 6x5", "42 54 75 98 134 171, 132 162 173 223 91 117, 113 202 63 125 141 171, 72 122 173 206 107 "
     "186, 142 135 62 153 135 87"},
    {"90:same", "u8 5x4", "28 134 165 67 9, 66 140 157 111 28, 104 145 150 154 46, 78 151 142 134 65"},
    {"450:same", "u8 5x5", "108 17 182 91 0, 197 93 245 141 37, 30 169 52 191 74, 119 245 115 241 111, 208 65 178 35 148"},
    {"0", "u8 5x4", "0 37 74 111 148, 91 141 191 241 35, 182 245 52 115 178, 17 93 169 245 65"},
    {"12.5", "u16 5x4 %65536 *241", "246 792 6309 8087 6018 276, 7948 22341 27971 32376 32128 27293, 23454 47930 35962 37787 32817 "
     "3245, 195 22052 27980 30649 32506 12686, 1 3938 15701 35079 11133 1332"},
    {"12.5:filter=cubic", "f32 5x4", "0.23287 -4.47212 15.935 23.7007 18.8171 0.87519, 29.3493 90.8389 118.552 161.48 154.757 "
     "122.184, 94.7742 251.237 162.757 173.825 156.609 -1.61229, 3.87204 110.247 134.666 138.015 183.756 60.5807, 0.04654 12.9884 "
     "78.573 182.873 68.0919 6.29857"},
    {"200", "u8 5x4x4", "0 0 0 0 65 122 179 52 92 111 168 109 239 61 97 22 0 0 0 0 0 0 0 0 0 0 0 0, 0 0 0 0 130 187 97 76 149 112 "
     "135 136 205 107 86 123 164 221 39 39 22 79 136 30 17 74 131 9, 37 94 147 2 57 114 131 165 189 89 125 83 56 112 166 188 185 "
     "74 119 128 77 102 112 128 17 74 131 67, 147 204 8 22 104 121 104 101 204 89 111 123 179 234 75 101 205 109 154 89 180 237 44 "
     "67 165 222 49 1, 148 205 6 3 133 190 97 16 77 134 191 113 61 118 169 212 36 93 150 123 10 67 124 26 0 0 0 0, 0 0 0 0 0 0 0 0 "
     "0 0 0 0 43 100 157 33 9 66 123 88 0 57 114 38 0 0 0 0"},
    {"-0.5:filter=cubic", "u8 8x6", "0 0 17 32 65 97 131 51 0, 13 55 117 192 142 98 185 170 44, 75 209 168 151 141 140 110 125 91, "
     "47 157 140 143 149 169 192 91 14, 7 94 125 142 174 87 127 190 64, 88 181 99 136 199 154 92 157 121, 65 69 31 128 88 71 66 32 "
     "36"},
};

static void test_angles(void **state)
{
    static const char *const chains[] = {"rotate:30", "rotate:-100:filter=cubic", "rotate:179.9:same:border=wrap",
                                         "rotate:0.01:size=same", "rotate:90:same:border=edge"};
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};
    (void)state;
    vectors_check("rotate", angles, sizeof angles / sizeof *angles);
    for (int i = 0; i < 5; i++)
        for (int t = 0; t < 3; t++)
            harness_check(chains[i], types[t], 133, 97, 1 + (uint32_t)(i + t) % 4, HARNESS_RANDOM);
}

static void test_against_reference(void **state)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32, SAMPLE_F64};
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("rotate:90", SAMPLE_U8, channels);
        harness_sweep("rotate:270", SAMPLE_U8, channels);
        harness_few("rotate:180", SAMPLE_U8, channels);
        for (int t = 1; t < 4; t++) {
            harness_few("rotate:90", types[t], channels);
            harness_few("rotate:270", types[t], channels);
        }
    }
    for (int t = 0; t < 4; t++) {
        harness_check("rotate:90", types[t], 133, 97, 1, HARNESS_RANDOM);
        harness_check("rotate:270", types[t], 64, 1100, 3, HARNESS_RANDOM);
    }
    harness_few("sobel:both,rotate:90,rotate:90,rotate:180", SAMPLE_U8, 1);
    harness_few("luminance,rotate:270,sobel", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("rotate", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "angle");
    harness_refuses("rotate:x", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "90, 180, 270");
    harness_refuses("rotate:45", SAMPLE_I16, 3, 3, 1, FAULT_SHAPE, "convert");
    harness_refuses("rotate:5000", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "3600");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
