/* median: vectors computed from the definition by a program of its own, all inputs of zeros and ones that a network
 * can tell apart, then device against reference. */
#include "vectors.h"

#include <stdio.h>
#include <stdlib.h>

static const struct vector vectors[] = {
    {"1", "u8 1x1", "0"},
    {"1", "u8 5x1", "0 37 74 111 148"},
    {"1", "u8 1x5", "0, 91, 91, 108, 108"},
    {"1", "u8 5x4", "37 74 111 111 148, 91 91 115 115 148, 93 141 169 169 115, 93 93 169 169 115"},
    {"1:border=reflect", "u8 5x4", "91 91 141 148 148, 141 91 115 115 115, 141 141 169 169 178, 182 169 115 115 115"},
    {"1:border=symmetric", "u8 5x4", "37 74 111 111 148, 91 91 115 115 148, 93 141 169 169 115, 93 93 169 169 115"},
    {"1:border=wrap", "u8 5x4", "65 91 141 148 91, 141 91 115 115 115, 93 141 169 169 115, 93 74 111 115 115"},
    {"1:border=zero", "u8 5x4", "0 37 74 74 0, 37 91 115 115 111, 91 141 169 169 65, 0 52 93 65 0"},
    {"1:border=crop", "u8 9x8", "91 115 115 148 148 135 135, 141 169 169 141 135 135 135, 108 119 119 141 141 130 113, 108 147 147 "
     "141 130 141 130, 108 123 123 123 130 130 145, 125 147 125 197 125 145 145"},
    {"1", "u8 4x3x2 %251", "37 57 74 94 111 131 111 168, 91 148 91 198 120 248 120 47, 182 239 182 51 141 114 120 177"},
    {"1", "u8 4x3x3", "37 94 151 74 131 151 111 131 188 111 168 188, 91 148 114 91 131 151 115 131 166 115 168 188, 182 198 103 "
     "182 148 103 141 109 166 115 172 166"},
    {"1:border=wrap", "u8 3x3x4", "91 131 151 171 91 131 151 208 91 131 151 245, 91 131 151 6 91 131 151 56 91 131 151 106, 91 131 "
     "151 97 91 131 151 160 91 131 151 223"},
    {"1", "u16 5x4 %65536 *7919", "2467 30859 27041 27041 27041, 39611 30859 27041 27041 28974, 64735 23239 14220 23239 28974, "
     "64735 23239 23239 35259 47279"},
    {"1:border=zero", "u16 3x3x3 %65536 *241", "0 0 0 8917 22654 27474 0 0 0, 8917 13737 20983 21931 31571 36166 8917 22429 20983, "
     "0 0 0 21931 22429 7969 0 0 0"},
    {"1", "f32 5x4", "37 74 111 111 148, 91 91 115 115 148, 93 141 169 169 115, 93 93 169 169 115"},
    {"1", "u8 6x5 %2 *255", "255 255 255 255 255 255, 255 255 255 255 255 255, 255 255 255 255 255 255, 255 255 255 255 255 255, "
     "255 255 255 255 255 255"},
    {"2", "u8 1x1", "0"},
    {"2", "u8 5x1", "0 37 74 111 148"},
    {"2", "u8 1x5", "0, 17, 91, 108, 108"},
    {"2", "u8 5x4", "52 74 111 115 148, 74 91 111 115 148, 91 93 111 115 115, 91 115 115 115 65"},
    {"2:border=reflect", "u8 5x4", "141 141 141 141 115, 141 141 115 141 169, 93 115 115 115 115, 141 141 141 169 169"},
    {"2:border=symmetric", "u8 5x4", "91 91 111 141 115, 74 91 111 115 115, 93 93 111 115 148, 141 141 141 141 169"},
    {"2:border=wrap", "u8 5x4", "115 115 115 115 115, 111 111 111 111 111, 111 111 111 111 111, 115 115 115 115 115"},
    {"2:border=zero", "u8 5x4", "0 0 37 0 0, 0 52 91 65 0, 0 52 91 65 0, 0 0 52 0 0"},
    {"2:border=crop", "u8 9x8", "115 141 135 135 135, 141 141 135 135 135, 123 141 130 130 141, 125 141 130 141 130"},
    {"2", "u8 4x3x2 %251", "57 57 74 94 111 131 111 168, 91 148 111 198 111 248 120 47, 182 239 120 51 120 114 120 177"},
    {"2", "u8 4x3x3", "52 94 114 74 131 151 111 131 188 111 168 225, 91 131 114 111 131 151 111 148 166 115 168 225, 182 148 103 "
     "115 148 114 115 168 166 115 168 225"},
    {"2:border=wrap", "u8 3x3x4", "141 131 151 171 91 148 151 208 141 148 151 245, 74 109 151 6 74 131 151 56 91 109 114 106, 91 "
     "131 151 97 91 131 151 160 91 131 151 223"},
    {"2", "u16 5x4 %65536 *7919", "30859 27041 30859 30859 54365, 30859 30859 30859 30859 35259, 61718 35259 30859 28974 35259, "
     "64735 35259 35259 28974 35259"},
    {"2:border=zero", "u16 3x3x3 %65536 *241", "0 0 0 0 0 0 0 0 0, 0 0 0 0 0 0 0 0 0, 0 0 0 0 0 0 0 0 0"},
    {"2", "f32 5x4", "52 74 111 115 148, 74 91 111 115 148, 91 93 111 115 115, 91 115 115 115 65"},
    {"2", "u8 6x5 %2 *255", "0 255 255 255 255 255, 255 255 255 255 255 255, 255 255 255 255 255 255, 255 255 255 255 255 255, 0 "
     "255 255 255 255 255"},
    {"3", "u8 1x1", "0"},
    {"3", "u8 5x1", "0 37 74 111 148"},
    {"3", "u8 1x5", "0, 17, 91, 108, 108"},
    {"3", "u8 5x4", "52 74 91 111 148, 74 74 91 111 115, 74 91 91 93 111, 91 91 91 93 93"},
    {"3:border=reflect", "u8 5x4", "141 141 141 141 141, 141 141 141 115 141, 141 141 141 141 141, 115 115 115 115 115"},
    {"3:border=symmetric", "u8 5x4", "111 111 111 115 115, 93 93 91 111 141, 93 93 111 115 115, 115 115 111 115 141"},
    {"3:border=wrap", "u8 5x4", "141 115 111 115 141, 115 115 111 93 111, 115 111 91 93 111, 115 115 111 111 115"},
    {"3:border=zero", "u8 5x4", "0 0 0 0 0, 0 0 0 0 0, 0 0 0 0 0, 0 0 0 0 0"},
    {"3:border=crop", "u8 9x8", "130 135 135, 130 141 135"},
    {"3", "u8 4x3x2 %251", "74 57 91 94 111 131 111 168, 91 148 111 198 111 248 111 47, 120 239 120 51 120 114 120 177"},
    {"3", "u8 4x3x3", "74 109 114 91 131 151 111 148 188 111 168 225, 91 131 114 111 148 151 111 168 166 111 168 225, 115 148 114 "
     "115 168 114 115 168 166 115 168 225"},
    {"3:border=wrap", "u8 3x3x4", "74 131 151 171 74 109 151 208 74 131 151 245, 91 148 151 6 141 148 151 56 91 148 151 106, 91 "
     "131 114 97 141 109 151 160 91 131 151 223"},
    {"3", "u16 5x4 %65536 *7919", "27041 30859 30859 35259 47279, 30859 30859 35259 35259 39611, 35259 35259 35259 35259 35259, "
     "61718 47279 39611 35259 35259"},
    {"3:border=zero", "u16 3x3x3 %65536 *241", "0 0 0 0 0 0 0 0 0, 0 0 0 0 0 0 0 0 0, 0 0 0 0 0 0 0 0 0"},
    {"3", "f32 5x4", "52 74 91 111 148, 74 74 91 111 115, 74 91 91 93 111, 91 91 91 93 93"},
    {"3", "u8 6x5 %2 *255", "0 0 255 255 255 255, 0 0 255 255 255 255, 0 0 255 255 255 255, 0 0 255 255 255 255, 0 0 255 255 255 "
     "255"},
};

static void test_vectors(void **state)
{
    (void)state;
    vectors_check("median", vectors, sizeof vectors / sizeof *vectors);
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

/* A network of comparators that is right for all inputs of zeros and ones is right for all others.
 * Windows begin with sorted columns, so it is how many ones each column has that counts: rows of
 * pixels whose columns are all of these, as one wide picture of which every (2R + 1)-th window is
 * looked at. */
static void check_network(unsigned radius)
{
    unsigned side = 2 * radius + 1, cases = 1;
    for (unsigned i = 0; i < side; i++)
        cases *= side + 1;
    for (unsigned begin = 0; begin < cases; begin += 8192) {
        unsigned n = cases - begin < 8192 ? cases - begin : 8192, width = n * side;
        double *in = calloc(width * side, sizeof *in), *out = calloc(width, sizeof *out);
        assert_true(in && out);
        char chain[64];
        unsigned *ones = calloc(width, sizeof *ones);
        assert_non_null(ones);
        for (unsigned k = 0; k < n; k++)
            for (unsigned i = 0, code = begin + k; i < side; i++, code /= side + 1)
                ones[k * side + i] = code % (side + 1);
        for (unsigned x = 0; x < width; x++)
            for (unsigned y = 0; y < ones[x]; y++)
                in[y * width + x] = 1;
        for (unsigned x = 0; x + side <= width; x++) {
            unsigned sum = 0;
            for (unsigned i = 0; i < side; i++)
                sum += ones[x + i];
            out[x] = sum > side * side / 2;
        }
        snprintf(chain, sizeof chain, "median:%u:border=crop", radius);
        harness_vector(chain, SAMPLE_U8, width, side, 1, in, SAMPLE_U8, width - side + 1, 1, 1, out,
                       0);
        free(in);
        free(out);
        free(ones);
    }
}

static void test_networks(void **state)
{
    (void)state;
    check_network(1);
    check_network(2);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (unsigned radius = 1; radius <= 3; radius++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (size_t t = 0; t < 3; t++) {
                char chain[32];
                snprintf(chain, sizeof chain, "median:%u", radius);
                if (radius == 1)
                    harness_sweep(chain, types[t], channels);
                else
                    harness_few(chain, types[t], channels);
            }
}

static void test_borders(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++)
        for (unsigned radius = 1; radius <= 3; radius++) {
            char chain[80];
            snprintf(chain, sizeof chain, "median:%u:border=%s", radius, borders[b]);
            harness_check(chain, types[b % 3], 61, 37, 1 + (uint32_t)b % 4, HARNESS_RANDOM);
            harness_check(chain, SAMPLE_U8, 40, 21, 3, HARNESS_EXTREMES);
            harness_check(chain, SAMPLE_U16, 5, 3, 1, HARNESS_RANDOM);
        }
}

/* More columns and rows than one work-item takes. */
static void test_sizes(void **state)
{
    (void)state;
    harness_check("median", SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
    harness_check("median:2", SAMPLE_U8, 1500, 70, 3, HARNESS_RANDOM);
    harness_check("median:3", SAMPLE_U16, 1400, 50, 1, HARNESS_RAMP);
    harness_check("median:2", SAMPLE_F32, 900, 120, 4, HARNESS_RAMP);
    harness_few("crop:0:3:20:6,median,invert", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("median:0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "radius");
    harness_refuses("median:4", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "3");
    harness_refuses("median:2:border=crop", SAMPLE_U8, 4, 30, 1, FAULT_SHAPE, "5");
    harness_refuses("median", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
