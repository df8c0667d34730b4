/* dilate: vectors computed from the definition by a program of its own, then device against reference. */
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
        141, 191, 241, 241, 241, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:3", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 148, 245, 245, 241, 241, 178, 245, 245, 245, 245, 178, 245, 245, 245,
        245, 178}},
    {"4:1", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        17834, 26751, 35668, 44585, 44585, 44585, 46031, 58081, 58081, 58081, 58081, 16645,
        59045, 59045, 59045, 54241, 54241, 54241}},
    {"3:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 241, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:3:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 241, 245, 245, 241, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"4:1:border=reflect", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        17834, 26751, 35668, 44585, 44585, 44585, 46031, 58081, 58081, 58081, 58081, 58081,
        59045, 59045, 59045, 54241, 54241, 54241}},
    {"3:border=symmetric", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 241, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:3:border=symmetric", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 148, 245, 245, 241, 241, 178, 245, 245, 245, 245, 178, 245, 245, 245,
        245, 178}},
    {"4:1:border=symmetric", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        17834, 26751, 35668, 44585, 44585, 44585, 46031, 58081, 58081, 58081, 58081, 16645,
        59045, 59045, 59045, 54241, 54241, 54241}},
    {"3:border=wrap", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        148, 191, 245, 245, 245, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:3:border=wrap", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 245, 245, 148, 245, 245, 241, 241, 182, 245, 245, 245, 245, 182, 245, 245, 245,
        245, 182}},
    {"4:1:border=wrap", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        44585, 26751, 35668, 44585, 44585, 44585, 46031, 58081, 58081, 58081, 58081, 33981,
        59045, 59045, 59045, 54241, 54241, 59045}},
    {"3:border=zero", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 241, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:3:border=zero", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 148, 245, 245, 241, 241, 178, 245, 245, 245, 245, 178, 245, 245, 245,
        245, 178}},
    {"4:1:border=zero", SAMPLE_U16, 6, 3, 1, 65536, 241, 6, 3,
     (const double[]){
        17834, 26751, 35668, 44585, 44585, 44585, 46031, 58081, 58081, 58081, 58081, 16645,
        59045, 59045, 59045, 54241, 54241, 54241}},
    {"1", SAMPLE_U8, 4, 3, 1, 256, 1, 4, 3,
     (const double[]){
        0, 37, 74, 111, 91, 141, 191, 241, 182, 245, 52, 115}},
    {"3", SAMPLE_U8, 1, 1, 1, 256, 1, 1, 1,
     (const double[]){
        0}},
    {"radius=1", SAMPLE_U8, 4, 3, 1, 256, 1, 4, 3,
     (const double[]){
        141, 191, 241, 241, 245, 245, 245, 241, 245, 245, 245, 241}},
    {"radius=0", SAMPLE_U8, 3, 2, 3, 256, 1, 3, 2,
     (const double[]){
        0, 57, 114, 37, 94, 151, 74, 131, 188, 91, 148, 205, 141, 198, 255, 191, 248, 49}},
    {"5", SAMPLE_U8, 9, 1, 1, 256, 1, 9, 1,
     (const double[]){
        74, 111, 148, 185, 222, 222, 222, 222, 222}},
    {"5", SAMPLE_U8, 1, 9, 1, 256, 1, 1, 9,
     (const double[]){
        182, 182, 182, 199, 199, 199, 216, 216, 216}},
    {"1:4", SAMPLE_U8, 5, 6, 1, 256, 1, 5, 6,
     (const double[]){
        182, 245, 191, 241, 178, 182, 245, 191, 245, 178, 182, 245, 191, 245, 208, 199, 245, 169,
        249, 208, 199, 197, 169, 249, 208, 199, 197, 147, 249, 208}},
    {"2", SAMPLE_U8, 5, 4, 3, 256, 1, 5, 4,
     (const double[]){
        141, 198, 255, 191, 248, 255, 241, 248, 225, 241, 205, 225, 148, 205, 149, 245, 239, 255,
        245, 248, 255, 241, 248, 229, 241, 235, 229, 178, 235, 149, 245, 239, 207, 245, 226, 207,
        245, 226, 229, 245, 235, 229, 178, 235, 179, 93, 150, 207, 169, 226, 207, 245, 226, 103,
        245, 122, 179, 65, 122, 179}},
    {"3", SAMPLE_U8, 4, 3, 2, 251, 1, 4, 3,
     (const double[]){
        141, 57, 191, 94, 241, 131, 241, 168, 245, 148, 245, 198, 245, 248, 241, 47, 245, 239,
        245, 51, 245, 114, 241, 177}},
    {"2:3", SAMPLE_U8, 3, 3, 4, 256, 1, 3, 3,
     (const double[]){
        141, 198, 255, 171, 191, 248, 255, 208, 191, 248, 188, 245, 245, 239, 255, 6, 245, 248,
        255, 56, 191, 248, 188, 106, 245, 239, 255, 97, 245, 248, 255, 160, 191, 248, 166, 223}},
    {"3:border=crop", SAMPLE_U8, 7, 6, 1, 256, 1, 5, 4,
     (const double[]){
        245, 245, 241, 241, 241, 245, 245, 245, 245, 241, 245, 245, 245, 245, 241, 199, 249, 249,
        249, 217}},
    {"2:3:border=crop", SAMPLE_U8, 7, 6, 1, 256, 1, 6, 4,
     (const double[]){
        245, 245, 241, 241, 241, 241, 245, 245, 245, 245, 241, 241, 245, 245, 245, 245, 241, 241,
        199, 197, 249, 249, 208, 217}},
    {"2:border=crop", SAMPLE_U8, 6, 5, 4, 256, 1, 5, 4,
     (const double[]){
        141, 198, 255, 171, 191, 248, 255, 208, 241, 248, 225, 245, 241, 205, 225, 26, 185, 242,
        199, 63, 245, 239, 255, 6, 245, 248, 255, 56, 241, 248, 229, 106, 241, 235, 229, 156,
        241, 235, 199, 206, 245, 239, 207, 97, 245, 226, 207, 160, 245, 226, 229, 223, 245, 235,
        229, 30, 241, 235, 255, 93, 197, 254, 222, 188, 197, 254, 207, 8, 245, 226, 233, 84, 245,
        176, 233, 160, 208, 198, 255, 236}},
    {"9:7:border=reflect", SAMPLE_U8, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"17:5:border=wrap", SAMPLE_U8, 7, 6, 1, 256, 1, 7, 6,
     (const double[]){
        249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 245, 245, 245, 245,
        245, 245, 245, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249, 249,
        249, 249, 249, 249, 249, 249}},
    {"3", SAMPLE_F32, 5, 4, 1, 256, 1, 5, 4,
     (const double[]){
        141, 191, 241, 241, 241, 245, 245, 245, 241, 241, 245, 245, 245, 245, 245, 245, 245, 245,
        245, 245}},
    {"2:5:border=zero", SAMPLE_F32, 4, 4, 2, 256, 1, 4, 4,
     (const double[]){
        245, 57, 245, 94, 241, 131, 241, 168, 245, 148, 245, 198, 245, 248, 245, 42, 245, 239,
        245, 46, 245, 109, 245, 172, 245, 74, 245, 150, 245, 226, 245, 46}},
    {"3", SAMPLE_U16, 5, 4, 3, 65536, 7919, 5, 4,
     (const double[]){
        65269, 60634, 53265, 65269, 63368, 55999, 61718, 63368, 58733, 61718, 63368, 61467,
        57900, 50531, 61467, 65269, 60634, 53265, 65269, 63368, 65018, 61718, 63368, 65018,
        61718, 63368, 65018, 57900, 50531, 61467, 65269, 60634, 62017, 65269, 63368, 65018,
        54365, 63368, 65018, 54365, 63368, 65018, 54365, 46996, 61467, 65002, 57633, 62017,
        65002, 57633, 65018, 54365, 46996, 65018, 54365, 46996, 65018, 54365, 46996, 39627}},
    {"8:2", SAMPLE_U8, 6, 5, 1, 2, 255, 6, 5,
     (const double[]){
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}},
};

static void test_vectors(void **state)
{
    static double in[24 * 18];
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *v = &vectors[i];
        char chain[80];
        double *at = in;
        snprintf(chain, sizeof chain, "dilate:%s", v->arguments);
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
            harness_sweep("dilate:3", types[t], channels);
            harness_few("dilate:6:5", types[t], channels);
        }
}

static void test_borders(void **state)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    (void)state;
    for (size_t b = 0; b < 6; b++) {
        char chain[80];
        snprintf(chain, sizeof chain, "dilate:4:7:border=%s", borders[b]);
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
        snprintf(chain, sizeof chain, "dilate:%s", windows[i]);
        harness_check(chain, types[i % 3], 61, 43, 1 + (uint32_t)i % 4, HARNESS_RANDOM);
    }
    harness_check("dilate:4095:3", SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check("dilate:3:4095:border=wrap", SAMPLE_U8, 7, 5, 1, HARNESS_RANDOM);
    harness_check("dilate:3", SAMPLE_U8, 4500, 40, 1, HARNESS_RANDOM);
    harness_check("dilate:7:3", SAMPLE_U8, 1500, 70, 3, HARNESS_RANDOM);
    harness_check("dilate:5:30", SAMPLE_U16, 700, 150, 1, HARNESS_RAMP);
    harness_few("crop:0:3:20:6,dilate:2,invert", SAMPLE_U8, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("dilate", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width=W or radius=R");
    harness_refuses("dilate:0", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "width");
    harness_refuses("dilate:4096", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "4095");
    harness_refuses("dilate:3:radius=1", SAMPLE_U8, 9, 9, 1, FAULT_CHAIN, "either");
    harness_refuses("dilate:5:border=crop", SAMPLE_U8, 4, 30, 1, FAULT_SHAPE, "5");
    harness_refuses("dilate:3", SAMPLE_I16, 9, 9, 1, FAULT_SHAPE, "convert:type=f32");
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
