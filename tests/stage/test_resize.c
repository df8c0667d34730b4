/* resize: vectors computed from the definition in exact fractions (lanczos3 with 60 digits) by a program of
 * its own, then device against reference. */
#include "vectors.h"

#include <stdio.h>

static const struct vector vectors[] = {
    {"w=3:filter=nearest:h=1:fit=exact", "u8 5x1", "0 74 148"},
    {"w=7:h=1:fit=exact:filter=nearest", "u8 3x1", "0 0 37 37 37 74 74"},
    {"w=2:h=3:fit=exact:filter=nearest", "u8 5x4x3", "37 94 151 111 168 225, 245 46 103 115 172 229, 93 150 207 245 46 103"},
    {"w=2:filter=area", "u8 8x1", "56 140"},
    {"w=3:h=1:fit=exact:filter=area", "u8 7x1", "26 111 196"},
    {"w=2:h=3:fit=exact:filter=area", "u8 5x4", "55 126, 156 138, 104 150"},
    {"w=7:h=1:fit=exact:filter=area", "u8 3x1", "0 0 37 37 37 74 74"},
    {"w=3:h=5:fit=exact:filter=area", "u8 7x2", "26 111 196, 26 111 196, 127 168 99, 127 168 99, 127 168 99"},
    {"w=4:filter=bilinear:h=1:fit=exact", "u8 8x1", "26 93 167 123"},
    {"w=7:h=1:fit=exact:filter=bilinear", "u8 3x1", "0 5 21 37 53 69 74"},
    {"w=3:h=7:fit=exact:filter=bilinear", "u8 5x4", "16 74 132, 50 116 129, 106 183 124, 161 150 137, 198 113 150, 107 148 145, 50 "
     "169 142"},
    {"w=4:h=1:fit=exact:filter=bicubic", "u8 9x1", "25 106 185 54"},
    {"w=9:h=1:fit=exact:filter=bicubic", "u8 4x1", "0 4 20 39 56 72 91 107 115"},
    {"w=8:h=3:fit=exact:filter=bicubic", "u8 5x6", "59 79 108 116 138 167 129 97, 94 134 177 126 126 179 148 117, 138 128 111 94 "
     "125 191 167 138"},
    {"w=3:h=1:fit=exact:filter=lanczos3", "u8 12x1", "70 136 83"},
    {"w=11:h=1:fit=exact:filter=lanczos3", "u8 5x1", "0 4 20 41 59 74 89 107 128 144 152"},
    {"w=6:h=5:fit=exact", "u8 24x18", "126 135 121 130 119 116, 135 151 137 161 135 121, 136 123 133 119 143 149, 118 117 125 117 "
     "138 127, 103 117 86 64 137 124"},
    {"w=4:h=9:fit=exact", "u8 11x4", "16 154 117 55, 43 149 123 66, 106 137 137 91, 160 129 147 117, 171 135 146 139, 163 144 140 "
     "150, 138 155 134 133, 108 165 127 105, 95 169 124 94"},
    {"w=9:h=2:fit=exact:filter=lanczos3", "u8 6x3 %2 *255", "89 192 245 116 181 246 117 170 255, 89 192 245 116 181 246 117 170 "
     "255"},
    {"w=1:h=3:fit=exact:filter=lanczos3", "u8 1x13", "86, 122, 141"},
    {"w=1:h=1:fit=exact", "u8 19x17", "129"},
    {"w=3:h=2:fit=exact", "u8 1x1x3", "0 57 114 0 57 114 0 57 114, 0 57 114 0 57 114 0 57 114"},
    {"w=4:h=3:fit=exact", "u8 13x10x3", "121 144 145 143 142 129 118 117 141 122 167 130, 128 137 116 149 117 149 144 131 136 121 "
     "152 120, 144 101 149 133 126 135 137 124 121 147 116 153"},
    {"w=5:h=4:fit=exact", "u8 2x3x3", "0 49 106 0 55 112 13 70 127 29 86 143 35 92 149, 46 101 178 54 112 186 73 139 205 92 166 "
     "224 99 176 231, 126 192 144 135 186 153 159 168 178 183 151 202 193 145 211, 180 255 25 191 230 36 219 141 63 246 52 91 255 "
     "18 101"},
    {"w=5:h=2:fit=exact", "u16 17x9 %65536 *241", "29458 34432 36558 35372 32463, 31542 34545 33621 34134 42603"},
    {"w=7:h=5:fit=exact", "u16 3x2 %65536 *7919", "0 0 13758 33672 51158 64481 65535, 1902 6366 16182 28998 43420 55486 60802, "
     "34170 30991 22581 16663 22999 31745 35074, 65535 55616 28980 4328 2578 8004 9346, 65535 64947 31404 0 0 0 0"},
    {"w=9:h=2:fit=exact:filter=lanczos3", "u16 6x3 %2 *65535", "22818 49225 62950 29821 46475 63129 30000 43725 65535, 22818 49225 "
     "62950 29821 46475 63129 30000 43725 65535"},
    {"w=2:h=2:fit=exact:filter=area", "u16 5x3x3 %65536 *241", "15279 29016 38384 30448 35448 44816, 39124 35386 27276 29366 34366 "
     "26256"},
    {"w=4:h=3:fit=exact", "f32 11x7", "108.447596 142.305653 136.000461 97.74554, 136.023923 146.188803 130.973506 137.135282, "
     "102.099497 146.985487 135.494849 146.076019"},
    {"w=3:h=4:fit=exact", "f32 2x2x3", "-10.388158 46.611842 103.611842 9.897059 66.897059 123.897059 30.182276 87.182276 "
     "144.182276, 16.238628 73.238628 130.238628 38.696429 95.696429 152.696429 61.154229 118.154229 175.154229, 69.037688 "
     "126.037688 183.037688 95.803571 152.803571 209.803571 122.569455 179.569455 236.569455, 95.664474 152.664474 209.664474 "
     "124.602941 181.602941 238.602941 153.541409 210.541409 267.541409"},
    {"w=3:h=2:fit=exact:filter=bilinear", "u8 7x5x2 %251", "126 143 138 146 140 145, 124 125 139 131 132 126"},
    {"w=3:h=2:fit=exact", "u8 9x8x4", "106 121 128 122 133 115 126 120 111 102 121 122, 116 103 115 116 165 88 126 108 138 105 131 "
     "131"},
    {"w=4:h=3:fit=exact", "u8 2x2x4", "0 53 110 179 8 65 122 189 29 86 143 211 38 95 152 221, 0 52 109 85 19 76 133 98 51 108 165 "
     "123 62 119 176 136, 0 0 0 0 255 255 255 6 180 237 255 35 169 226 255 50"},
    {"w=2:h=1:fit=exact:filter=area", "u16 6x3x2 %65536 *241", "30394 33155 32064 32895"},
    {"w=2:h=1:fit=exact:filter=area", "f32 5x2x4", "57.300892 114.300892 149.292782 123.3 121.634477 114.889864 124.490024 125.3"},
    {"4:4", "u8 12x9", "119 143 128 104, 123 145 140 118, 146 150 149 154"},
    {"6:3", "u8 12x9", "119 143 128 104, 123 145 140 118, 146 150 149 154"},
    {"h=3", "u8 12x9", "119 143 128 104, 123 145 140 118, 146 150 149 154"},
    {"40:40", "u8 5x3", "0 37 74 111 148, 91 141 191 241 35, 182 245 52 115 178"},
    {"7:9:enlarge=1", "u8 5x3", "0 13 42 68 93 129 157, 48 71 112 157 202 145 59, 128 165 180 147 197 153 73, 183 236 203 45 81 "
     "147 190"},
    {"5:5:fit=outside", "u8 12x9", "68 133 129 148 123 82 122, 145 155 148 138 130 157 65, 106 127 150 114 130 143 110, 115 108 "
     "192 143 158 148 106, 168 183 126 145 149 156 187"},
    {"by=0.3", "u8 15x11", "119 142 125 117 147, 129 150 146 136 155, 142 125 126 135 115"},
    {"by=1.5", "u8 3x3", "0 4 29 54 68, 25 40 69 105 125, 87 106 141 176 195, 150 180 213 146 98, 184 221 253 118 26"},
    {"by=0.01", "u8 15x11", "133"},
    {"4:4:fit=cover", "u8 12x7", "132 128 149 122, 155 148 136 133, 132 151 120 129, 97 182 125 150"},
    {"4:2:fit=cover", "u8 3x7", "182 245 52, 17 93 169"},
    {"6:5:fit=pad:background=9", "u8 12x6", "9 9 9 9 9 9, 87 137 137 139 98 108, 136 150 146 123 152 83, 110 145 135 128 151 122, "
     "9 9 9 9 9 9"},
    {"5:3:fit=pad:background=1_2_3", "u8 6x6x3", "1 2 3 87 131 164 138 147 149 134 163 93 1 2 3, 1 2 3 136 157 131 150 138 128 145 "
     "119 156 1 2 3, 1 2 3 110 133 117 144 129 115 141 125 145 1 2 3"},
    {"5:4:fit=pad", "u16 2x2 %65536 *241", "0 0 0 0 0, 0 0 8917 0 0, 0 21931 33981 0 0, 0 0 0 0 0"},
};

static void test_vectors(void **state)
{
    (void)state;
    vectors_check("resize", vectors, sizeof vectors / sizeof *vectors);
}

/* A ramp of 65535 steps over 6000 samples to a thousandth: weights of which most round to 1 or 2 in 2^14ths
 * lean to neither side. */
static void test_large_reduction(void **state)
{
    static const struct {
        const char *filter;
        double expected[6];
    } cases[] = {
        {"lanczos3", {5499, 16196, 27436, 38098, 49338, 60035}},
        {"bilinear", {6497, 16381, 27305, 38229, 49153, 59037}},
        {"area", {5456, 16381, 27305, 38229, 49153, 60078}},
    };
    static double ramp[6000];
    (void)state;
    for (unsigned x = 0; x < 6000; x++)
        ramp[x] = x * 65535 / 5999;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char chain[80];
        snprintf(chain, sizeof chain, "resize:6:1:fit=exact:filter=%s", cases[i].filter);
        harness_vector(chain, SAMPLE_U16, 6000, 1, 1, ramp, SAMPLE_U16, 6, 1, 1, cases[i].expected,
                       0);
        snprintf(chain, sizeof chain, "resize:1:6:fit=exact:filter=%s", cases[i].filter);
        harness_vector(chain, SAMPLE_U16, 1, 6000, 1, ramp, SAMPLE_U16, 1, 6, 1, cases[i].expected,
                       0);
    }
}

/* What only moves takes any type, and alpha has no weight there. */
static void test_moves(void **state)
{
    static const double in[6] = {-7, 0, 100, 101, -128, 127};
    static const double twice[12] = {-7, 0, -7, 0, 100, 101, 100, 101, -128, 127, -128, 127};
    static const double half[2] = {100, 101};
    static const enum sample_type types[] = {SAMPLE_I8, SAMPLE_I16, SAMPLE_I32, SAMPLE_F32,
                                             SAMPLE_F64};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        harness_vector("resize:by=2:filter=nearest", types[i], 3, 1, 2, in, types[i], 6, 2, 2,
                       (const double[24]){-7, 0, -7, 0, 100, 101, 100, 101, -128, 127, -128, 127,
                                          -7, 0, -7, 0, 100, 101, 100, 101, -128, 127, -128, 127},
                       0);
        harness_vector("resize:w=6:h=1:fit=exact:filter=area", types[i], 3, 1, 2, in, types[i], 6,
                       1, 2, twice, 0);
        harness_vector("resize:w=1:filter=nearest", types[i], 3, 1, 2, in, types[i], 1, 1, 2, half,
                       0);
        harness_vector("resize:9:9", types[i], 3, 1, 2, in, types[i], 3, 1, 2, in, 0);
    }
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

static void test_against_reference(void **state)
{
    static const char *const chains[] = {
        "resize:by=0.37",
        "resize:w=9:h=7:fit=exact",
        "resize:w=70:h=50:fit=exact:filter=bilinear",
        "resize:w=40:h=20:fit=outside:filter=area",
        "resize:w=30:h=30:fit=cover:filter=lanczos3:enlarge=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (size_t t = 0; t < 3; t++)
                if (i == 0)
                    harness_sweep(chains[i], types[t], channels);
                else
                    harness_few(chains[i], types[t], channels);
}

static void test_filters(void **state)
{
    static const char *const filters[] = {"nearest", "area", "bilinear", "bicubic", "lanczos3"};
    (void)state;
    for (size_t f = 0; f < 5; f++) {
        char chain[80];
        snprintf(chain, sizeof chain, "resize:by=0.6:filter=%s", filters[f]);
        harness_few(chain, types[f % 3], 1 + (uint32_t)f % 4);
        snprintf(chain, sizeof chain, "resize:by=2.3:filter=%s", filters[f]);
        harness_few(chain, types[(f + 1) % 3], 1 + (uint32_t)(f + 2) % 4);
        snprintf(chain, sizeof chain, "resize:20:90:fit=exact:filter=%s", filters[f]);
        harness_few(chain, SAMPLE_U8, f % 2 ? 3 : 1);
    }
}

static void test_fits(void **state)
{
    (void)state;
    harness_few("resize:33:21:fit=pad:background=7", SAMPLE_U8, 3);
    harness_few("resize:33:90:fit=pad:background=1.5:enlarge=1", SAMPLE_F32, 1);
    harness_few("resize:33:21:fit=pad:background=1_2_3_4", SAMPLE_U16, 4);
    harness_few("resize:5:90:fit=pad:filter=nearest", SAMPLE_I16, 2);
    harness_few("resize:5:90:fit=cover:filter=nearest:enlarge=1", SAMPLE_F64, 3);
    harness_few("sobel:both,resize:by=0.4:filter=nearest", SAMPLE_U8, 1);
    harness_few("box:3_9,resize:by=0.4", SAMPLE_U8, 3);
    harness_few("crop:0:3:20:6,crop:7:1:6:4,resize:9:9:enlarge=1", SAMPLE_U8, 3);
    harness_few("dwt:levels=8,resize:by=0.7", SAMPLE_F32, 1); /* planes of many sizes */
}

/* More rows and columns than one work-item takes. */
static void test_bands(void **state)
{
    (void)state;
    harness_check("resize:w=100:h=90:fit=exact", SAMPLE_U8, 700, 530, 3, HARNESS_RANDOM);
    harness_check("resize:w=19:h=300:fit=exact", SAMPLE_U8, 1033, 130, 1, HARNESS_EXTREMES);
    harness_check("resize:by=0.25", SAMPLE_U8, 301, 203, 1, HARNESS_EXTREMES);
    for (uint32_t width = 124; width <= 131; width++) { /* on Mali, pairs behind a first result that stands alone */
        harness_check("resize:by=0.5", SAMPLE_U8, width, 41, 1, HARNESS_RANDOM);
        harness_check("resize:by=0.5", SAMPLE_U8, width, 36, 3, HARNESS_EXTREMES);
    }
    harness_check("resize:w=33:h=17:fit=exact", SAMPLE_U16, 301, 200, 1, HARNESS_RANDOM);
    harness_check("resize:w=3:h=2:fit=exact", SAMPLE_F32, 900, 500, 1, HARNESS_RAMP);
    harness_check("resize:w=50:h=41:fit=exact", SAMPLE_U8, 301, 200, 4, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("resize", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "w=W, h=H or by=FACTOR");
    harness_refuses("resize:w=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "1");
    harness_refuses("resize:w=5:by=0.5", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "either");
    harness_refuses("resize:by=0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "by");
    harness_refuses("resize:w=5:fit=exact", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "both w and h");
    harness_refuses("resize:h=5:fit=cover", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "both w and h");
    harness_refuses("resize:by=0.5:fit=pad", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "both w and h");
    harness_refuses("resize:5:filter=lanczos", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "lanczos3");
    harness_refuses("resize:5:5:background=1_2_3_4_5", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "5 values");
    harness_refuses("resize:5:5:fit=pad:background=1_2_3", SAMPLE_U8, 9, 9, 1, FAULT_SHAPE,
                    "3 values");
    harness_refuses("resize:5", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
    harness_refuses("resize:5", SAMPLE_F64, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
    harness_refuses("resize:by=1000", SAMPLE_U8, 900, 900, 1, FAULT_LIMIT, "2^31");
    harness_refuses("resize:by=1000", SAMPLE_U8, 1001, 1, 1, FAULT_LIMIT, "1000000 pixels a side");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_large_reduction),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
