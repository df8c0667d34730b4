/* Samples, borders, frames. */
#include "test.h"

#include <math.h>

#include "image/border.h"
#include "image/frame.h"

static void test_saturate(void **state)
{
    (void)state;
    assert_int_equal(sample_saturate(SAMPLE_U8, 2.5), 2);
    assert_int_equal(sample_saturate(SAMPLE_U8, 3.5), 4);
    assert_int_equal(sample_saturate(SAMPLE_U8, -1), 0);
    assert_int_equal(sample_saturate(SAMPLE_U8, 255.6), 255);
    assert_int_equal(sample_saturate(SAMPLE_I8, -128.5), -128);
    assert_int_equal(sample_saturate(SAMPLE_I16, -1.5), -2);
    assert_int_equal(sample_saturate(SAMPLE_I32, 1e10), INT32_MAX);
    assert_int_equal(sample_saturate(SAMPLE_I8, NAN), -128);
    assert_int_equal(sample_saturate(SAMPLE_U16, INFINITY), 65535);
}

static void test_load_store(void **state)
{
    double buffer;
    (void)state;
    for (int type = 0; type < SAMPLE_TYPES; type++) {
        double v = sample_is_integer(type) ? sample_max(type) : 0.25;
        sample_store(type, &buffer, v);
        assert_true(sample_load(type, &buffer) == v);
    }
}

/* Every f16 is what it says, and halves go to the even one. */
static void test_f16(void **state)
{
    uint16_t bits, again;
    (void)state;
    for (unsigned i = 0; i < 1 << 16; i++) {
        bits = (uint16_t)i;
        double v = sample_load(SAMPLE_F16, &bits);
        sample_store(SAMPLE_F16, &again, v);
        assert_int_equal(again, isnan(v) ? (i & 0x8000) | 0x7e00 : i);
    }
    static const struct {
        double v;
        uint16_t bits;
    } known[] = {{1, 0x3c00},
                 {-2, 0xc000},
                 {65504, 0x7bff},
                 {65519.99, 0x7bff},
                 {65520, 0x7c00},
                 {1e300, 0x7c00},
                 {0x1p-24, 1},
                 {0x1p-25, 0},
                 {0x1.8p-24, 2},
                 {0x1p-14, 0x0400},
                 {0x1.ffbp-15, 0x03ff},
                 {0x1.ffcp-15, 0x0400},
                 {1 + 0x1p-11, 0x3c00},
                 {1 + 0x1.8p-10, 0x3c02},
                 {2 - 0x1p-12, 0x4000},
                 {-0.0, 0x8000},
                 {1 + 0x1p-11 + 0x1p-40, 0x3c01},
                 {-INFINITY, 0xfc00}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sample_store(SAMPLE_F16, &bits, known[i].v);
        assert_int_equal(bits, known[i].bits);
    }
}

/* What numpy.pad gives for [0 1 2 3], from index −6 to 9. */
static void test_borders(void **state)
{
    static const int8_t expected[][16] = {
        [BORDER_EDGE] = {0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3},
        [BORDER_REFLECT] = {0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3},
        [BORDER_SYMMETRIC] = {2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1},
        [BORDER_WRAP] = {2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1},
        [BORDER_ZERO] = {-1, -1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1, -1},
    };
    (void)state;
    for (int border = 0; border < BORDER_CROP; border++)
        for (int i = -6; i < 10; i++)
            assert_int_equal(border_index(i, 4, border), expected[border][i + 6]);
    for (int i = -3; i < 4; i++) { /* a side of one sample repeats it */
        assert_int_equal(border_index(i, 1, BORDER_REFLECT), 0);
        assert_int_equal(border_index(i, 1, BORDER_SYMMETRIC), 0);
        assert_int_equal(border_index(i, 1, BORDER_WRAP), 0);
    }
    assert_int_equal(border_index(INT64_C(-4000000001), 4, BORDER_WRAP), 3);
}

static void test_frames(void **state)
{
    struct frame frame = {0}, copy;
    struct plane plane = {.name = "a", .width = 5, .height = 3, .channels = 3, .type = SAMPLE_U16};
    (void)state;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_true(frame_add_plane(&frame, &plane, 2));
    assert_int_equal(frame.planes[0].stride, 128);
    assert_int_equal(frame.planes[1].stride, 30);
    assert_int_equal(frame.planes[1].offset, 384);
    assert_int_equal(frame.size, 384 + 90);
    assert_int_equal(frame_bytes(&frame), 180);
    struct frame_origin origin = {.stage = "dwt", .plane = plane, .count = 2};
    assert_true(frame_add_origin(&frame, &origin));
    assert_true(frame_add_outer(&frame, &origin, 3));
    assert_true(frame_copy(&copy, &frame));
    assert_int_equal(copy.n_origins, 1);
    assert_int_equal(copy.n_outer, 1);
    assert_int_equal(copy.outer[0].depth, 3);
    assert_string_equal(copy.origins[0].stage, "dwt");
    assert_true(frame_same_shape(&copy, &frame));
    copy.planes[1].type = SAMPLE_U8;
    assert_false(frame_same_shape(&copy, &frame));
    frame_finish(&copy);

    struct picture picture;
    assert_true(picture_create(&picture, &frame));
    assert_ptr_equal(picture_row(&picture, 1, 2), picture.data + 384 + 60);
    assert_int_equal((uintptr_t)picture.data % FRAME_ALIGNMENT, 0);
    picture_destroy(&picture);
    frame_finish(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saturate), cmocka_unit_test(test_load_store),
        cmocka_unit_test(test_f16),      cmocka_unit_test(test_borders),
        cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
