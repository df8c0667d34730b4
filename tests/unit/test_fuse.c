/* Fused kernels in the forms for GPUs, run wherever there is a device: the same bytes as apart.
 * (cli/test_fuse.py has random chains in the device's own form.) */
#include "test.h"

#include <string.h>

#include "on_device.h"

static struct picture make_picture(uint32_t width, uint32_t height, uint32_t channels,
                                   enum sample_type type)
{
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct picture picture;
    uint32_t random = 7;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_true(picture_create(&picture, &frame));
    frame_finish(&frame);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width * channels; x++) {
            random = random * 1664525 + 1013904223;
            double v = random >> (type == SAMPLE_U16 ? 16 : 24);
            sample_store(type, (uint8_t *)picture_row(&picture, 0, y) + x * sample_size(type), v);
        }
    }
    return picture;
}

static bool is_same(const struct picture *a, const struct picture *b)
{
    const struct plane *p = &a->frame.planes[0], *q = &b->frame.planes[0];
    size_t row = (size_t)p->width * p->channels * sample_size(p->type);
    if (p->width != q->width || p->height != q->height || p->channels != q->channels ||
        p->type != q->type)
        return false;
    for (uint32_t y = 0; y < p->height; y++)
        if (memcmp(picture_row(a, 0, y), picture_row(b, 0, y), row) != 0)
            return false;
    return true;
}

static void check(const char *text, uint32_t channels, enum sample_type type, size_t expected)
{
    static const char *const classes[] = {"gpu", "mali"};
    struct chain chain;
    struct fault fault = FAULT_INIT;
    struct picture in = make_picture(67, 9, channels, type);
    assert_int_equal(chain_parse(&chain, text, &fault), 0);
    for (size_t i = 0; i < 2; i++) {
        struct plan_options options = {.profile = device_profile_by_name(classes[i])};
        size_t fused_launches, launches;
        struct picture fused = on_device_run(&chain, &in, &options, &fused_launches);
        options.no_fuse = true;
        struct picture apart = on_device_run(&chain, &in, &options, &launches);
        assert_int_equal(fused_launches, expected);
        assert_int_equal(launches, chain.n_steps);
        if (!is_same(&fused, &apart))
            fail_msg("%s on %s: other bytes than apart", text, classes[i]);
        picture_destroy(&fused);
        picture_destroy(&apart);
    }
    chain_finish(&chain);
    picture_destroy(&in);
}

static void test_forms_for_gpus(void **state)
{
    (void)state;
    if (!on_device_is_there())
        skip();
    check("luminance,gain:1.5:3,threshold:100", 3, SAMPLE_U8, 1);
    check("luminance,invert", 4, SAMPLE_F32, 1);
    check("sobel,threshold:20,invert", 3, SAMPLE_U8, 1);
    check("sobel,threshold:t=50:low=3:high=200", 1, SAMPLE_U8, 1);
    check("sobel:dx:border=crop,abs", 1, SAMPLE_U16, 1);
    check("fir:gaussian3,gain:0.7:3", 1, SAMPLE_U8, 1);
    check("fir:sample:border=wrap,threshold:t=50:low=3:high=200", 1, SAMPLE_U8, 1);
    check("fir:1_1_1_1_1_1_1_1_1_1_1/2_2_2_2_2_2_2_2_2_2_2/1_1_1_1_1_1_1_1_1_1_1,invert", 1,
          SAMPLE_U8, 1);
    check("fir:0.5_2_1:out=f32,gain:0.5:3", 4, SAMPLE_F32, 1); /* alpha is dropped on the way */
    check("invert,gain:1.5,threshold:100", 4, SAMPLE_U8, 1);
    check("convert:type=f32,gain:0.5,convert:type=u8", 1, SAMPLE_U16, 1);
}

/* What must not be: wider samples than the vectors hold, alpha that goes two ways. */
static void test_stay_apart(void **state)
{
    (void)state;
    if (!on_device_is_there())
        skip();
    check("sobel,convert:type=f32", 1, SAMPLE_U8, 2);
    check("invert,convert:type=u16", 4, SAMPLE_U8, 2);
    check("sobel,invert", 4, SAMPLE_U8, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_for_gpus),
        cmocka_unit_test(test_stay_apart),
    };
    return cmocka_run_group_tests(tests, on_device_setup, on_device_teardown);
}
