#include "test.h"

#include <string.h>

#include "../codec/decode.h"
#include "codec/orient.h"

/* Where the stored pixel (x, y) is seen, from the table of Exif 2.32 §4.6.4: which side row 0 is
 * on, and which column 0. */
static void place_of(unsigned orientation, uint32_t width, uint32_t height, uint32_t x, uint32_t y,
                     uint32_t *seen_x, uint32_t *seen_y)
{
    uint32_t right = width - 1 - x, up = height - 1 - y;
    const uint32_t places[9][2] = {{0},    {x, y},  {right, y},  {right, up}, {x, up},
                                   {y, x}, {up, x}, {up, right}, {y, right}};
    *seen_x = places[orientation][0];
    *seen_y = places[orientation][1];
}

static uint8_t byte_of(uint32_t x, uint32_t y, size_t byte)
{
    return (uint8_t)noise_sample(x, y, (uint32_t)byte);
}

static void fill_row(uint8_t *row, uint32_t width, uint32_t y, size_t pixel)
{
    for (uint32_t x = 0; x < width; x++)
        for (size_t b = 0; b < pixel; b++)
            row[x * pixel + b] = byte_of(x, y, b);
}

static void check(unsigned orientation, uint32_t width, uint32_t height, uint32_t channels,
                  enum sample_type type, bool whole)
{
    struct fault fault = FAULT_INIT;
    struct orient orient;
    bool transposed = orient_is_transposed(orientation);
    struct picture picture =
        picture_of(transposed ? height : width, transposed ? width : height, channels, type);
    size_t pixel = channels * sample_size(type);
    assert_int_equal(orient_begin(&orient, orientation, &picture, whole, &fault), 0);
    assert_int_equal(orient.width, width);
    assert_int_equal(orient.height, height);
    for (uint32_t y = 0; y < height; y++) {
        fill_row(orient_row(&orient, y), width, y, pixel);
        if (!whole)
            orient_done(&orient, y);
    }
    for (uint32_t y = 0; whole && y < height; y++)
        orient_done(&orient, y);
    orient_finish(&orient);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t seen_x, seen_y;
            place_of(orientation, width, height, x, y, &seen_x, &seen_y);
            const uint8_t *at = (uint8_t *)picture_row(&picture, 0, seen_y) + seen_x * pixel;
            for (size_t b = 0; b < pixel; b++)
                assert_int_equal(at[b], byte_of(x, y, b));
        }
    }
    picture_destroy(&picture);
}

static void check_sizes(uint32_t channels, enum sample_type type)
{
    static const uint32_t sizes[][2] = {{1, 1},  {1, 5},  {5, 1},    {2, 2},   {7, 3},
                                        {3, 64}, {5, 65}, {40, 127}, {33, 192}};
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check(orientation, sizes[i][0], sizes[i][1], channels, type, false);
            check(orientation, sizes[i][0], sizes[i][1], channels, type, true);
        }
    }
}

static void test_u8(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        check_sizes(channels, SAMPLE_U8);
}

static void test_u16(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        check_sizes(channels, SAMPLE_U16);
}

/* Memory is told before it is taken, and bounded but for pictures that are read in passes. */
static void test_memory(void **state)
{
    (void)state;
    for (unsigned orientation = 1; orientation <= 4; orientation++)
        assert_int_equal(orient_memory(orientation, 5000, 4000, 3, false), 0);
    assert_in_range(orient_memory(6, 5000, 4000, 3, false), 64 * 15000, 64 * 15200);
    assert_true(orient_memory(6, 5000, 4000, 3, true) >= UINT64_C(4000) * 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8),
        cmocka_unit_test(test_u16),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
