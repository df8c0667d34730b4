/* Verification of chains: what tolerances of several stages add up to, and that a wrong result is
 * found all the same. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "chain/reference.h"

static struct picture make_picture(uint32_t width, uint32_t height, enum sample_type type,
                                   double scale, uint32_t random)
{
    struct plane plane = {.width = width, .height = height, .channels = 1, .type = type};
    struct frame frame = {0};
    struct picture picture;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_true(picture_create(&picture, &frame));
    frame_finish(&frame);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            random = random * 1664525 + 1013904223;
            sample_store(type, (uint8_t *)picture_row(&picture, 0, y) + x * sample_size(type),
                         (random >> 24) * scale);
        }
    return picture;
}

/* Verifies the reference's own result with sample (x, y) moved by `off`. */
static int verify(const char *text, const struct picture *in, double off, uint32_t x, uint32_t y)
{
    struct chain chain;
    struct plan *plan = NULL;
    struct plan_options options = {.profile = device_profile_by_name("native")};
    struct picture out, moved;
    struct fault fault = FAULT_INIT;
    double largest;
    assert_int_equal(chain_parse(&chain, text, &fault), 0);
    assert_int_equal(plan_create(&plan, &chain, &in->frame, &options, &fault), 0);
    assert_int_equal(reference_run(plan, in, &out, &fault), 0);
    assert_int_equal(reference_run(plan, in, &moved, &fault), 0);
    const struct plane *p = &moved.frame.planes[0];
    uint8_t *at = (uint8_t *)picture_row(&moved, 0, y) + x * sample_size(p->type);
    sample_store(p->type, at, sample_load(p->type, at) + off);
    int result = reference_verify(plan, in, &out, &moved, &largest, &fault);
    picture_destroy(&out);
    picture_destroy(&moved);
    plan_destroy(&plan);
    chain_finish(&chain);
    return result;
}

/* Differences of samples that cancel: as wrong as the samples may be. */
static void test_what_adds_up(void **state)
{
    struct picture flat = make_picture(7, 5, SAMPLE_U8, 0, 1);
    (void)state;
    memset(flat.data, 200, flat.frame.size);
    assert_int_equal(
        verify("convert:type=f32,levels:10:300:gamma=1.1,sobel:out=dx", &flat, 1e-4, 3, 2), 0);
    assert_int_equal(
        verify("convert:type=f32,levels:0:255:high=1e6,sobel:out=dx", &flat, 0.5, 3, 2), 0);
    assert_int_equal(
        verify("convert:type=f32,gain:1000:0.3,levels:high=1e-3,abs", &flat, 1e-9, 0, 0), 0);
    picture_destroy(&flat);
}

/* A sample that is off by a thousandth of the samples, at several magnitudes; and a stage alone may
 * be off by its tolerance, no more. */
static void test_wrong_is_found(void **state)
{
    static const char *const chains[] = {
        "gain:2,sobel:out=dx", "levels:high=1000,gauss:1.5", "gain:0.5,resize:5:5:fit=exact",
        "invert,fir:laplacian:out=f32", "gain:3,box:radius=1,gain:0.1"};
    (void)state;
    for (int power = -3; power <= 6; power += 3) {
        double scale = pow(10, power);
        struct picture in = make_picture(9, 8, SAMPLE_F32, scale, 3);
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            double unit = strstr(chains[i], "levels")   ? 1000
                          : strstr(chains[i], "invert") ? 255 * (scale + 1)
                                                        : 255 * scale;
            unit = strstr(chains[i], "0.1") ? unit / 3 : unit;
            double least = fmax(unit * 2e-3, 1e-2); /* tolerances have an absolute part */
            if (verify(chains[i], &in, least, 2, 3) != FAULT_VERIFY)
                fail_msg("%s: %g in samples of %g is not found", chains[i], least, unit);
            assert_int_equal(verify(chains[i], &in, 0, 2, 3), 0);
        }
        assert_int_equal(verify("convert:type=f32", &in, scale, 1, 1), FAULT_VERIFY);
        assert_int_equal(verify("sobel:out=dx", &in, 10 * scale + 0.1, 1, 1), FAULT_VERIFY);
        picture_destroy(&in);
    }
}

/* Where a threshold follows, a sample near it may turn, and no other one. */
static void test_turns(void **state)
{
    struct picture in = make_picture(16, 16, SAMPLE_F32, 1, 5);
    (void)state;
    float near = 100.0f / 3.0f, far = 90;
    memcpy(picture_row(&in, 0, 0), &near, sizeof near);
    memcpy((uint8_t *)picture_row(&in, 0, 0) + 4, &far, sizeof far);
    const char *chain = "gain:3,threshold:100:low=0:high=255";
    assert_int_equal(verify(chain, &in, -255, 0, 0), 0);
    assert_int_equal(verify(chain, &in, -255, 1, 0), FAULT_VERIFY);
    picture_destroy(&in);
}

/* An antisymmetric picture has bands that are 0 but for rounding, deep down. A threshold found in them
 * is one in noise: each sample may be on either side. */
static void test_noise(void **state)
{
    struct picture in = make_picture(12, 2, SAMPLE_U8, 1, 9), out, turned;
    struct chain chain;
    struct plan *plan = NULL;
    struct plan_options options = {.profile = device_profile_by_name("native")};
    struct fault fault = FAULT_INIT;
    double largest;
    (void)state;
    assert_int_equal(
        chain_parse(&chain, "dwt:sym18:levels=6:mode=antisymmetric,threshold:otsu", &fault), 0);
    assert_int_equal(plan_create(&plan, &chain, &in.frame, &options, &fault), 0);
    assert_int_equal(reference_run(plan, &in, &out, &fault), 0);
    assert_int_equal(reference_run(plan, &in, &turned, &fault), 0);
    for (size_t i = 0; i < turned.frame.n_planes; i++) {
        const struct plane *p = &turned.frame.planes[i];
        for (uint32_t y = 0; y < p->height && strpbrk(p->name, "3456"); y++)
            for (uint32_t x = 0; x < p->width; x++) {
                uint8_t *at = (uint8_t *)picture_row(&turned, i, y) + x * sample_size(p->type);
                sample_store(p->type, at, 255 - sample_load(p->type, at));
            }
    }
    if (reference_verify(plan, &in, &out, &turned, &largest, &fault) != 0)
        fail_msg("%s", fault.text);
    picture_destroy(&in);
    picture_destroy(&out);
    picture_destroy(&turned);
    plan_destroy(&plan);
    chain_finish(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_adds_up),
        cmocka_unit_test(test_wrong_is_found),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
