/* Planes of dwt put together, by the reference and on the device, against numbers worked out by
 * hand. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "chain/reference.h"
#include "on_device.h"
#include "stage/sink/mosaic.h"

/* Planes of dwt, of a picture of that size; samples are counted on from plane to plane. */
struct band {
    const char *name;
    uint32_t width, height;
};

static struct picture make_bands(const struct band *bands, size_t count, enum sample_type type,
                                 enum sample_type from, uint32_t width, uint32_t height,
                                 const char *mode, const double *samples)
{
    struct frame frame = {0};
    struct frame_origin origin = {
        .stage = "dwt",
        .count = count,
        .plane = {.type = from, .width = width, .height = height, .channels = 1}};
    struct picture picture;
    snprintf(origin.parameters, sizeof origin.parameters, ":wavelet=%s:levels=%s:mode=%s",
             strcmp(mode, "jpeg2000") == 0 ? "cdf53" : "haar",
             strchr(bands[0].name, '2') ? "2" : "1", mode);
    for (size_t i = 0; i < count; i++) {
        struct plane plane = {
            .width = bands[i].width, .height = bands[i].height, .channels = 1, .type = type};
        snprintf(plane.name, sizeof plane.name, "%s", bands[i].name);
        assert_true(frame_add_plane(&frame, &plane, 32));
    }
    assert_true(frame_add_origin(&frame, &origin));
    assert_true(picture_create(&picture, &frame));
    frame_finish(&frame);
    for (size_t i = 0; i < count; i++)
        for (uint32_t y = 0; y < bands[i].height; y++)
            for (uint32_t x = 0; x < bands[i].width; x++)
                sample_store(type, (uint8_t *)picture_row(&picture, i, y) + x * sample_size(type),
                             *samples++);
    return picture;
}

static void assert_samples(const char *what, const struct picture *got, const double *expected)
{
    const struct plane *p = &got->frame.planes[0];
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            const uint8_t *row = picture_row(got, 0, y);
            double v = sample_load(p->type, row + x * sample_size(p->type));
            if (v != expected[y * p->width + x])
                fail_msg("%s: sample %u of row %u is %g, expected %g", what, x, y, v,
                         expected[y * p->width + x]);
        }
    }
}

static void run_on_device(const struct picture *in, const struct plan_options *options,
                          const double *expected)
{
    static const char *const classes[] = {"cpu", "gpu", "mali"};
    for (size_t i = 0; on_device_is_there() && i < 3; i++) {
        struct device_profile profile = *device_profile_by_name(classes[i]);
        struct plan_options own = *options;
        struct chain chain = {0};
        own.profile = &profile;
        profile.segment = 3; /* rows in several spans */
        struct picture got = on_device_run(&chain, in, &own, NULL);
        assert_samples(classes[i], &got, expected);
        picture_destroy(&got);
    }
}

/* The mosaic of `in` must be one plane of that shape and these samples. */
static void check(struct picture *in, double gain, uint32_t width, uint32_t height,
                  enum sample_type type, const double *expected)
{
    const struct plan_target target = {.mosaic_gain = gain};
    struct plan_options options = {.targets = &target};
    struct chain chain = {0};
    struct plan *plan;
    struct picture got;
    struct fault fault = FAULT_INIT;
    assert_int_equal(plan_create(&plan, &chain, &in->frame, &options, &fault), 0);
    assert_int_equal(plan->out->n_planes, 1);
    const struct plane *out = &plan->out->planes[0];
    assert_string_equal(out->name, "");
    assert_int_equal(out->width, width);
    assert_int_equal(out->height, height);
    assert_int_equal(out->type, type);
    assert_int_equal(reference_run(plan, in, &got, &fault), 0);
    assert_samples("reference", &got, expected);
    picture_destroy(&got);
    plan_destroy(&plan);
    run_on_device(in, &options, expected);
    picture_destroy(in);
}

static const struct band odd[] = {{"LL1", 2, 2}, {"HL1", 1, 2}, {"LH1", 2, 1}, {"HH1", 1, 1}};

/* 3×3 under jpeg2000: LL as it is, rounded to even; details around 128, clamped. */
static void test_jpeg2000(void **state)
{
    static const double in[] = {10.5, 11.5, -3, 300, 0.5, -200, 1.5, 127.4, 127.5};
    static const double out[] = {10, 12, 128, 0, 255, 0, 130, 255, 255};
    static const double twice[] = {10, 12, 129, 0, 255, 0, 131, 255, 255};
    (void)state;
    struct picture picture = make_bands(odd, 4, SAMPLE_F32, SAMPLE_U8, 3, 3, "jpeg2000", in);
    check(&picture, 1, 3, 3, SAMPLE_U8, out);
    picture = make_bands(odd, 4, SAMPLE_F32, SAMPLE_F32, 3, 3, "jpeg2000", in);
    check(&picture, 2, 3, 3, SAMPLE_U8, twice);
}

static void test_types(void **state)
{
    static const double in[] = {70000, 1234, 5, 6, -32768, 32767, 7, -8, 40000};
    static const double deep[] = {65535, 1234, 0, 5, 6, 65535, 32775, 32760, 65535};
    static const double in_8[] = {-128, 0, 127, -1, 1, 2, 3, 4, -5};
    static const double moved[] = {0, 128, 129, 255, 127, 130, 131, 132, 123};
    (void)state;
    struct picture picture = make_bands(odd, 4, SAMPLE_I32, SAMPLE_U16, 3, 3, "jpeg2000", in);
    check(&picture, 1, 3, 3, SAMPLE_U16, deep);
    picture = make_bands(odd, 4, SAMPLE_F64, SAMPLE_U16, 3, 3, "jpeg2000", in);
    check(&picture, 1, 3, 3, SAMPLE_U16, deep);
    picture = make_bands(odd, 4, SAMPLE_F32, SAMPLE_I8, 3, 3, "jpeg2000", in_8);
    check(&picture, 1, 3, 3, SAMPLE_U8, moved);
    static const double bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const double placed[] = {1, 2, 5, 3, 4, 6, 7, 8, 9};
    /* pictures already */
    picture = make_bands(odd, 4, SAMPLE_U8, SAMPLE_U8, 3, 3, "jpeg2000", bytes);
    check(&picture, 3, 3, 3, SAMPLE_U8, placed);
}

/* A row of 5 in two levels of periodization: 3 + 3, and of the 3, 2 + 2. LL2 has a gain of 4. What
 * the first level leaves beside its bands is as a coefficient of zero. */
static void test_periodization(void **state)
{
    static const struct band bands[] = {{"LL2", 2, 1}, {"HL2", 2, 1}, {"LH2", 2, 1}, {"HH2", 2, 1},
                                        {"HL1", 3, 1}, {"LH1", 3, 1}, {"HH1", 3, 1}};
    static const double in[] = {400, 42, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const double out[] = {100, 10,  129, 130, 135, 136, 137, 131, 132, 133, 134,
                                 128, 128, 128, 138, 139, 140, 128, 141, 142, 143};
    (void)state;
    struct picture picture = make_bands(bands, 7, SAMPLE_F32, SAMPLE_U8, 5, 1, "periodization", in);
    check(&picture, 1, 7, 3, SAMPLE_U8, out);
}

/* A column of one sample's width under jpeg2000 has no HL and no HH. */
static void test_thin(void **state)
{
    static const struct band bands[] = {{"LL2", 1, 1}, {"LH2", 1, 1}, {"LH1", 1, 2}};
    static const double in[] = {9, 1, 2, 3}, out[] = {9, 129, 130, 131};
    (void)state;
    struct picture picture = make_bands(bands, 3, SAMPLE_F32, SAMPLE_U8, 1, 4, "jpeg2000", in);
    check(&picture, 1, 1, 4, SAMPLE_U8, out);
}

static void check_apart(const struct band *bands, size_t count, uint32_t side, const char *mode)
{
    static const double in[100];
    struct picture picture = make_bands(bands, count, SAMPLE_F32, SAMPLE_U8, side, side, mode, in);
    assert_false(mosaic_applies(&picture.frame));
    picture_destroy(&picture);
}

/* Modes that expand, and frames that are not the whole of a transform, stay planes. */
static void test_apart(void **state)
{
    static const struct band even[] = {{"LL1", 2, 2}, {"HL1", 2, 2}, {"LH1", 2, 2}, {"HH1", 2, 2}};
    static const struct band no_hh[] = {{"LL1", 2, 2}, {"HL1", 2, 2}, {"LH1", 2, 2}};
    static const struct band no_level[] = {
        {"LL2", 2, 2}, {"HL2", 2, 2}, {"LH2", 2, 2}, {"HH2", 2, 2}, {"more", 1, 1}};
    static const struct band other_size[] = {
        {"LL1", 2, 2}, {"HL1", 2, 2}, {"LH1", 2, 2}, {"HH1", 2, 3}};
    static const struct band too_high[] = {
        {"LL1", 2, 2}, {"HL1", 2, 3}, {"LH1", 2, 2}, {"HH1", 2, 2}};
    static const struct band other_order[] = {
        {"LL1", 2, 2}, {"LH1", 2, 2}, {"HL1", 2, 2}, {"HH1", 2, 2}};
    static const struct band no_ll[] = {{"HL1", 2, 2}, {"LH1", 2, 2}, {"HH1", 2, 2}};
    (void)state;
    check_apart(even, 4, 4, "symmetric");
    check_apart(even, 4, 4, "");
    check_apart(no_hh, 3, 4, "jpeg2000");
    check_apart(no_level, 5, 8, "jpeg2000");
    check_apart(other_size, 4, 4, "jpeg2000");
    check_apart(too_high, 4, 4, "jpeg2000");
    check_apart(other_order, 4, 4, "jpeg2000");
    check_apart(no_ll, 3, 4, "jpeg2000");
}

/* Two transforms and a plane between them. */
static void test_several(void **state)
{
    static const double in[100];
    struct picture one = make_bands(odd, 4, SAMPLE_F32, SAMPLE_U8, 3, 3, "jpeg2000", in);
    struct frame frame = {0}, out = {0};
    struct mosaic_cell cells[9];
    struct mosaic_config config = {1};
    struct plane between = {
        .name = "b", .width = 5, .height = 6, .channels = 2, .type = SAMPLE_I32};
    struct frame_origin origin = one.frame.origins[0];
    struct fault fault = FAULT_INIT;
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        struct plane plane = i == 4 ? between : one.frame.planes[i < 4 ? i : i - 5];
        if (i > 4)
            snprintf(plane.name, sizeof plane.name, "dy.%s", odd[i - 5].name);
        assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    }
    assert_true(frame_add_origin(&frame, &origin));
    origin.first = 5;
    snprintf(origin.plane.name, sizeof origin.plane.name, "dy");
    assert_true(frame_add_origin(&frame, &origin));
    assert_int_equal(mosaic_layout(&config, &frame, FRAME_ALIGNMENT, cells, &out, &fault), 0);
    assert_int_equal(out.n_planes, 3);
    assert_string_equal(out.planes[1].name, "b");
    assert_int_equal(out.planes[1].type, SAMPLE_I32);
    assert_string_equal(out.planes[2].name, "dy");
    assert_int_equal(out.planes[2].width, 3);
    assert_int_equal(cells[3].target, 0);
    assert_int_equal(cells[4].target, 1);
    assert_true(cells[4].copy);
    assert_int_equal(cells[8].target, 2);
    assert_int_equal(cells[8].x, 2);
    frame_finish(&out);
    frame_finish(&frame);
    picture_destroy(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jpeg2000),      cmocka_unit_test(test_types),
        cmocka_unit_test(test_periodization), cmocka_unit_test(test_thin),
        cmocka_unit_test(test_apart),         cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests(tests, on_device_setup, on_device_teardown);
}
