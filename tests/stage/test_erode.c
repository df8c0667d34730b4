/* erode: vectors computed from the definition by a program of its own, then device against reference. */
#include "harness.h"

#include <stdio.h>

struct vector {
    const char *arguments;
    enum sample_type type;
    uint32_t width, height, channels;
    unsigned modulus, gain;
    uint32_t out_width, out_height;
    const double *expected;
};

/* Of pictures whose channel c at (x, y) is (37x + 91y + 13xy + 57c) mod `modulus`, times `gain`, mod 65536. */
static const struct vector vectors[] = {
    {"3", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 35, 35, 0, 0, 37, 35, 35, 17, 17, 52, 35, 35, 17, 17, 52, 52, 65}},
    {"2:3", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 74, 35, 0, 0, 37, 52, 35, 17, 17, 52, 52, 35, 17, 17, 52, 52, 65}},
    {"4:1", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        0, 0, 0, 8917, 17834, 26751, 21931, 21931, 21931, 4595, 4595, 4595, 43862, 8692, 8692,
        8692, 8692, 23875}},
    {"3:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 35, 35, 0, 0, 37, 35, 35, 17, 17, 52, 35, 35, 17, 17, 52, 52, 65}},
    {"2:3:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 74, 35, 0, 0, 37, 52, 35, 17, 17, 52, 52, 35, 17, 17, 52, 52, 65}},
    {"4:1:border=reflect", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        0, 0, 0, 8917, 17834, 26751, 21931, 21931, 21931, 4595, 4595, 4595, 8692, 8692, 8692,
        8692, 8692, 23875}},
    {"3:border=symmetric", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 35, 35, 0, 0, 37, 35, 35, 17, 17, 52, 35, 35, 17, 17, 52, 52, 65}},
    {"2:3:border=symmetric", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 74, 35, 0, 0, 37, 52, 35, 17, 17, 52, 52, 35, 17, 17, 52, 52, 65}},
    {"4:1:border=symmetric", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        0, 0, 0, 8917, 17834, 26751, 21931, 21931, 21931, 4595, 4595, 4595, 43862, 8692, 8692,
        8692, 8692, 23875}},
    {"3:border=wrap", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 35, 0, 0, 0, 37, 35, 0, 17, 17, 52, 35, 17, 0, 0, 37, 52, 0}},
    {"2:3:border=wrap", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 74, 35, 0, 0, 37, 52, 35, 17, 17, 52, 52, 35, 0, 0, 37, 52, 65}},
    {"4:1:border=wrap", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        0, 0, 0, 8917, 17834, 0, 4595, 16645, 21931, 4595, 4595, 4595, 39058, 8692, 8692, 8692,
        8692, 23875}},
    {"3:border=zero", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 0, 0, 0, 0, 0, 37, 35, 0, 0, 17, 52, 35, 0, 0, 0, 0, 0, 0}},
    {"2:3:border=zero", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 0, 0, 0, 0, 0, 37, 52, 35, 0, 17, 52, 52, 35, 0, 0, 0, 0, 0}},
    {"4:1:border=zero", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        0, 0, 0, 8917, 17834, 0, 0, 0, 21931, 4595, 4595, 0, 0, 0, 8692, 8692, 8692, 0}},
    {"1", SAMPLE_U8, 4, 3, 1, 256, 1, 4, 3,
     (const double[]){
        0, 37, 74, 111, 91, 141, 191, 241, 182, 245, 52, 115}},
    {"3", SAMPLE_U8, 1, 1, 1, 256, 1, 1, 1,
     (const double[]){
        0}},
    {"radius=1", SAMPLE_U8, 4, 3, 1, 256, 1, 4, 3,
     (const double[]){
        0, 0, 37, 74, 0, 0, 37, 52, 91, 52, 52, 52}},
    {"radius=0", SAMPLE_U8, 3, 2, 3, 256, 1, 3, 2,
     (const double[]){
        0, 57, 114, 37, 94, 151, 74, 131, 188, 91, 148, 205, 141, 198, 255, 191, 248, 49}},
    {"5", SAMPLE_U8, 9, 1, 1, 256, 1, 9, 1,
     (const double[]){
        0, 0, 0, 37, 74, 3, 3, 3, 3}},
    {"5", SAMPLE_U8, 1, 9, 1, 256, 1, 1, 9,
     (const double[]){
        0, 0, 0, 17, 17, 17, 34, 34, 34}},
    {"1:4", SAMPLE_U8, 5, 6, 1, 256, 1, 5, 6,
     (const double[]){
        0, 37, 74, 111, 35, 0, 37, 52, 111, 35, 0, 37, 52, 111, 35, 17, 93, 30, 115, 35, 17, 45,
        30, 115, 65, 17, 45, 30, 119, 65}},
    {"2", SAMPLE_U8, 5, 4, 3, 256, 1, 5, 4,
     (const double[]){
        0, 57, 114, 0, 57, 114, 37, 94, 151, 74, 131, 188, 111, 168, 6, 0, 57, 114, 0, 57, 114,
        37, 94, 49, 74, 42, 49, 35, 42, 6, 91, 148, 40, 91, 46, 40, 52, 46, 49, 52, 42, 49, 35,
        42, 36, 17, 74, 40, 17, 46, 40, 52, 46, 27, 52, 46, 27, 65, 46, 36}},
    {"3", SAMPLE_U8, 4, 3, 2, 251, 1, 4, 3,
     (const double[]){
        0, 57, 0, 94, 37, 131, 74, 168, 0, 148, 0, 198, 37, 248, 57, 47, 91, 239, 57, 51, 57,
        114, 57, 177}},
    {"2:3", SAMPLE_U8, 3, 3, 4, 256, 1, 3, 3,
     (const double[]){
        0, 57, 114, 171, 0, 57, 114, 208, 37, 94, 49, 245, 0, 57, 40, 6, 0, 46, 40, 56, 37, 46,
        49, 106, 91, 148, 40, 97, 91, 46, 40, 160, 52, 46, 49, 223}},
    {"3:border=crop", SAMPLE_U8, 7, 6, 1, 256, 1, 5, 4,
     (const double[]){
        0, 37, 35, 35, 35, 17, 52, 35, 35, 35, 17, 30, 30, 41, 41, 17, 30, 30, 41, 41}},
    {"2:3:border=crop", SAMPLE_U8, 7, 6, 1, 256, 1, 6, 4,
     (const double[]){
        0, 37, 52, 35, 35, 48, 17, 52, 52, 35, 35, 48, 17, 30, 30, 65, 41, 41, 17, 30, 30, 65,
        41, 41}},
    {"2:border=crop", SAMPLE_U8, 6, 5, 4, 256, 1, 5, 4,
     (const double[]){
        0, 57, 114, 56, 37, 94, 49, 106, 74, 42, 49, 156, 35, 42, 6, 206, 35, 92, 6, 0, 91, 46,
        40, 160, 52, 46, 49, 223, 52, 42, 49, 30, 35, 42, 36, 93, 35, 42, 36, 156, 17, 46, 40, 8,
        52, 46, 27, 84, 52, 46, 27, 160, 65, 46, 36, 236, 65, 42, 36, 56, 17, 74, 55, 112, 30,
        87, 27, 201, 30, 46, 27, 34, 65, 9, 66, 123, 41, 9, 66, 212}},
    {"9:7:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"17:5:border=wrap", SAMPLE_U8, 7, 6, 1, 256, 1, 7, 6,
     (const double[]){
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 17, 17, 17, 17, 17,
        17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"3", SAMPLE_F32, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        0, 0, 37, 35, 35, 0, 0, 37, 35, 35, 17, 17, 52, 35, 35, 17, 17, 52, 52, 65}},
    {"2:5:border=zero", SAMPLE_F32, 4, 4, 2, 256, 1, 4, 4,
     (const double[]){
        0, 57, 0, 94, 0, 131, 0, 168, 0, 148, 0, 198, 0, 248, 0, 42, 0, 239, 0, 46, 0, 109, 0,
        172, 0, 74, 0, 150, 0, 226, 0, 46}},
    {"3", SAMPLE_U16, 5, 4, 3, 65536, 7919, 5, 4,
     (const double[]){
        0, 23490, 16121, 0, 23490, 16121, 2467, 566, 12303, 5201, 566, 12303, 7935, 566, 12303,
        0, 23490, 16121, 0, 6851, 16121, 2467, 566, 12303, 5201, 566, 12303, 7935, 566, 12303,
        2467, 3850, 24873, 2467, 3850, 8501, 2467, 566, 8501, 5201, 566, 8501, 7935, 566, 14236,
        11219, 3850, 24873, 11219, 3850, 8501, 11219, 3850, 8501, 14220, 6851, 8501, 28974,
        21605, 14236}},
    {"8:2", SAMPLE_U8, 6, 5, 1, 2, 255, 6, 5,
     (const double[]){
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
};

static void test_vectors(void **state)
{
    static double in[24 * 18];
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *v = &vectors[i];
        char chain[80];
        double *at = in;
        snprintf(chain, sizeof chain, "erode:%s", v->arguments);
        for (unsigned y = 0; y < v->height; y++)
            for (unsigned x = 0; x < v->width; x++)
                for (unsigned c = 0; c < v->channels; c++)
                    *at++ = (37 * x + 91 * y + 13 * x * y + 57 * c) % v->modulus * v->gain % 65536;
        harness_vector(chain, v->type, v->width, v->height, v->channels, in, v->type, v->out_width,
                       v->out_height, v->channels, v->expected, v->type == SAMPLE_F32 ? 1e-3 : 0);
    }
}

static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_F32};

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t t = 0; t < 3; t++) {
            harness_sweep("erode:3", types[t], channels);
            harness_few("erode:6:5", types[t], channels);
        }
}

static void test_borders(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        char chain[80];
        snprintf(chain, sizeof chain, "erode:4:7:border=%s", borders[b]);
        harness_few(chain, types[b % 3], 1 + (uint32_t)b % 4);
        harness_check(chain, SAMPLE_U8, 61, 37, 3, HARNESS_EXTREMES);
        harness_check(chain, SAMPLE_U16, 15, 13, 1, HARNESS_RANDOM);
    }
}

/* Windows of many sizes, some larger than the picture, and more columns and rows than one work-item
 * takes. */
static void test_sizes(void **state)
{
    static const char *const windows[] = {"1:2",   "2:1",   "5:17", "16:4",
                                          "17:64", "31:31", "65:3", "300:70"};
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        char chain[80];
        snprintf(chain, sizeof chain, "erode:%s", windows[i]);
        harness_check(chain, types[i % 3], 61, 43, 1 + (uint32_t)i % 4, HARNESS_RANDOM);
    }
    harness_check("erode:4095:3", SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check("erode:3:4095:border=wrap", SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check("erode:3", SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
    harness_check("erode:7:3", SAMPLE_U8, 1500, 70, 3, HARNESS_RANDOM);
    harness_check("erode:5:30", SAMPLE_U16, 700, 150, 1, HARNESS_RAMP);
    harness_few("crop:0:3:20:6,erode:2,invert", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("erode", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width=W or radius=R");
    harness_refuses("erode:0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width");
    harness_refuses("erode:4096", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "4095");
    harness_refuses("erode:3:radius=1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "either");
    harness_refuses("erode:5:border=crop", SAMPLE_U8, 4, 30, 1, FAULT_SHAPE, "5");
    harness_refuses("erode:3", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_borders),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
