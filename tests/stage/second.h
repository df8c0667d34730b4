/* Second pictures for the tests of subtract, difference, divide, mask and blend, by names that say
 * what they are: "u8-3-4x3" has three channels of u8 and 4 x 3 pixels. Channel c at (x, y) is (53x
 * + 29y + 7xy + 31c + 11) mod 256, of samples of 16 bits times 250, and of floats in quarters; of
 * i16 less 32000. Every fifth pixel is 0. */
#ifndef SLUICE_TESTS_STAGE_SECOND_H
#define SLUICE_TESTS_STAGE_SECOND_H

#include "vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct definitions pictures;

static double second_sample(enum sample_type type, uint32_t x, uint32_t y, uint32_t c)
{
    double v = (53 * x + 29 * y + 7 * x * y + 31 * c + 11) % 256;
    if ((x + 2 * y) % 5 == 4)
        return 0;
    return type == SAMPLE_F32  ? v / 4
           : type == SAMPLE_U8 ? v
                               : v * 250 - (type == SAMPLE_I16) * 32000;
}

static void define_second(enum sample_type type, uint32_t channels, uint32_t width, uint32_t height)
{
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct picture picture = {0};
    char name[64];
    snprintf(name, sizeof name, "%s-%u-%ux%u", sample_name(type), channels, width, height);
    struct definition_picture *second = definitions_add_picture(&pictures, name, name);
    assert_true(second && frame_add_plane(&frame, &plane, FRAME_ALIGNMENT) &&
                picture_create(&picture, &frame));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                sample_store(type,
                             (uint8_t *)picture_row(&picture, 0, y) +
                                 (x * channels + c) * sample_size(type),
                             second_sample(type, x, y, c));
    second->plane = picture.frame.planes[0];
    second->samples = picture.data;
    second->n_bytes = picture.frame.size;
    picture.data = NULL;
    picture_destroy(&picture);
    frame_finish(&frame);
}

static const enum sample_type second_types[] = {SAMPLE_U8, SAMPLE_U16, SAMPLE_I16, SAMPLE_F32};

static int second_setup(void **state)
{
    static const uint32_t sizes[][2] = {{4, 3}, {3, 2}, {133, 97}};
    for (int t = 0; t < 4; t++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (int s = 0; s < 3; s++)
                define_second(second_types[t], channels, sizes[s][0], sizes[s][1]);
    harness_define(&pictures);
    return harness_setup(state);
}

static int second_teardown(void **state)
{
    definitions_finish(&pictures);
    return harness_teardown(state);
}

/* Every kernel against the reference: a number over all sizes, and pictures of each number of
 * channels that suit; `more` are further parameters. */
static void second_check_all(const char *stage, const char *more)
{
    char chain[128];
    for (int t = 0; t < 4; t++) {
        for (uint32_t channels = 1; channels <= 4; channels++) {
            snprintf(chain, sizeof chain, "%s:%d%s", stage, t == 0 ? 77 : 3000, more);
            if (channels == 1)
                harness_sweep(chain, second_types[t], channels);
            else
                harness_few(chain, second_types[t], channels);
            for (uint32_t with = 1; with <= 4; with++) {
                bool masks = stage[0] == 'm';
                if (with > 2 && (masks || channels < 3))
                    continue;
                snprintf(chain, sizeof chain, "%s:@%s-%u-133x97%s", stage,
                         sample_name(second_types[t]), with, more);
                harness_check(chain, second_types[t], 133, 97, channels, HARNESS_RANDOM);
                harness_check(chain, second_types[t], 133, 97, channels, HARNESS_EXTREMES);
            }
        }
    }
}

/* What is tested of a stage. */
static struct second_test {
    const char *stage;
    const struct vector *vectors;
    size_t n_vectors;
    const char *more[2];     /* parameters, beside which every kernel is compared; NULL: none */
    const char *chain, *why; /* a chain that is refused for a picture of 4 x 3 in u8 and RGB */
    void (*also)(void);      /* compares chains of this stage alone; NULL: there are none */
} second_tested;

static void test_vectors(void **state)
{
    (void)state;
    vectors_check(second_tested.stage, second_tested.vectors, second_tested.n_vectors);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        if (second_tested.more[i])
            second_check_all(second_tested.stage, second_tested.more[i]);
    if (second_tested.also)
        second_tested.also();
}

static void second_refuses(const char *arguments, enum sample_type type, uint32_t width,
                           uint32_t channels, int code, const char *why)
{
    char chain[128];
    snprintf(chain, sizeof chain, "%s%s", second_tested.stage, arguments);
    harness_refuses(chain, type, width, 3, channels, code, why);
}

static void test_refusals(void **state)
{
    (void)state;
    second_refuses("", SAMPLE_U8, 3, 1, FAULT_CHAIN, "picture");
    second_refuses(":dark", SAMPLE_U8, 3, 1, FAULT_CHAIN, "is named @dark");
    second_refuses(":@dark", SAMPLE_U8, 3, 1, FAULT_CHAIN, "--define dark=FILE");
    second_refuses(":1e10", SAMPLE_U8, 3, 1, FAULT_CHAIN, "within 1000000000");
    if (strcmp(second_tested.stage, "blend") != 0)
        second_refuses(":@u8-3-4x3", SAMPLE_U8, 5, 3, FAULT_SHAPE, "is 4×3, and this one 5×3");
    second_refuses(":@u8-3-4x3", SAMPLE_U8, 4, 1, FAULT_SHAPE, "is RGB, and");
    second_refuses(":@u8-3-4x3", SAMPLE_I8, 4, 1, FAULT_SHAPE, "convert");
    if (second_tested.chain)
        harness_refuses(second_tested.chain, SAMPLE_U8, 4, 3, 3, FAULT_SHAPE, second_tested.why);
}

static int second_main(int argc, char **argv, const struct second_test *test)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    second_tested = *test;
    return HARNESS_MAIN_WITH(tests, second_setup, second_teardown);
}

#endif
