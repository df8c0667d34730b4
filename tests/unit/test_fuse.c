/* Fused kernels in the forms for GPUs, run wherever there is a device: the same bytes as apart.
 * (cli/test_fuse.py has random chains in the device's own form.) */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/recording.h"

static struct device *device;

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

/* The result's samples, row after row; owned by the caller. */
static uint8_t *run(const struct chain *chain, const struct picture *in,
                    const struct plan_options *options, size_t *size, size_t *launches)
{
    struct plan *plan;
    struct recording *recording;
    struct recording_run run;
    struct device_buffer *buffer = NULL;
    struct fault fault = FAULT_INIT;
    void *data;
    if (plan_create(&plan, chain, &in->frame, options, &fault) != 0 ||
        recording_create(&recording, plan, device, &fault) != 0 ||
        device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, &fault) != 0 ||
        device_buffer_map(device, buffer, in->frame.size, &data, &fault) != 0)
        fail_msg("%s", fault.text);
    memcpy(data, in->data, in->frame.size);
    if (recording_run(recording, &buffer, 1, &run, &fault) != 0)
        fail_msg("%s", fault.text);
    const struct plane *p = &plan->out->planes[0];
    size_t row = (size_t)p->width * p->channels * sample_size(p->type);
    uint8_t *samples = malloc(row * p->height + 1);
    assert_non_null(samples);
    for (uint32_t y = 0; y < p->height; y++)
        memcpy(samples + y * row, run.data + p->offset + y * p->stride, row);
    *size = row * p->height;
    *launches = run.n_launches;
    recording_run_finish(recording, &run);
    recording_destroy(&recording);
    plan_destroy(&plan);
    return samples;
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
        size_t fused_size, size, fused_launches, launches;
        uint8_t *fused = run(&chain, &in, &options, &fused_size, &fused_launches);
        options.no_fuse = true;
        uint8_t *apart = run(&chain, &in, &options, &size, &launches);
        assert_int_equal(fused_launches, expected);
        assert_int_equal(launches, chain.n_steps);
        assert_int_equal(fused_size, size);
        if (memcmp(fused, apart, size) != 0)
            fail_msg("%s on %s: other bytes than apart", text, classes[i]);
        free(fused);
        free(apart);
    }
    chain_finish(&chain);
    picture_destroy(&in);
}

static void test_forms_for_gpus(void **state)
{
    (void)state;
    if (!device)
        skip();
    check("luminance,scale:1.5:3,threshold:100", 3, SAMPLE_U8, 1);
    check("luminance,invert", 4, SAMPLE_F32, 1);
    check("sobel,threshold:20,invert", 3, SAMPLE_U8, 1);
    check("sobel:dx:border=crop,abs", 1, SAMPLE_U16, 1);
    check("fir:gaussian3,scale:0.7:3", 1, SAMPLE_U8, 1);
    check("fir:1_1_1_1_1_1_1_1_1_1_1/2_2_2_2_2_2_2_2_2_2_2/1_1_1_1_1_1_1_1_1_1_1,invert", 1,
          SAMPLE_U8, 1);
    check("fir:0.5_2_1:out=f32,scale:0.5:3", 4, SAMPLE_F32, 1); /* alpha is dropped on the way */
    check("invert,scale:1.5,threshold:100", 4, SAMPLE_U8, 1);
    check("convert:type=f32,scale:0.5,convert:type=u8", 1, SAMPLE_U16, 1);
}

/* What must not be: wider samples than the vectors hold, alpha that goes two ways. */
static void test_stay_apart(void **state)
{
    (void)state;
    if (!device)
        skip();
    check("sobel,convert:type=f32", 1, SAMPLE_U8, 2);
    check("invert,convert:type=u16", 4, SAMPLE_U8, 2);
    check("sobel,invert", 4, SAMPLE_U8, 2);
}

static int open_device(void **state)
{
    const struct device_info *list;
    size_t count;
    struct fault fault = FAULT_INIT;
    struct device_options options = {.platform_index = -1, .device_index = -1};
    (void)state;
    if (device_list(&list, &count, &fault) != 0 || count == 0 ||
        device_open(&device, &list[0], &options, &fault) != 0)
        printf("no device: %s\n", fault.text);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_close(&device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_for_gpus),
        cmocka_unit_test(test_stay_apart),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
