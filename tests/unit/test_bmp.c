#include "test.h"

#include <string.h>

#include "../codec/decode.h"
#include "codec/byte_order.h"

/* Decodes and compares with samples written out by hand, top row first. */
static void check(const struct bmp_kind *kind, uint32_t channels, const uint8_t *expected)
{
    struct file file = {0};
    struct decoded decoded;
    make_bmp(&file, kind);
    decode_good(&file, NULL, kind->width, kind->height, channels, SAMPLE_U8, &decoded);
    for (uint32_t i = 0; i < kind->width * kind->height * channels; i++)
        if (decoded.samples[i] != expected[i])
            fail_msg("%u bits, header %u: sample %u is %u, not %u", kind->bits, kind->header, i,
                     decoded.samples[i], expected[i]);
    decoded_finish(&decoded);
    file_finish(&file);
}

/* The same with the palette's indices written out. */
static void check_palette(const struct bmp_kind *kind, const uint8_t *indices)
{
    uint8_t expected[3 * 256];
    for (uint32_t i = 0; i < kind->width * kind->height; i++)
        for (unsigned c = 0; c < 3; c++)
            expected[3 * i + c] = bmp_palette_colour(indices[i], c);
    check(kind, 3, expected);
}

static void test_palettes(void **state)
{
    static const uint8_t one[] = {0x80, 0x80, 0, 0, 0x7F, 0, 0, 0}; /* bottom row first */
    static const uint8_t as_one[] = {0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t four[] = {0x12, 0x30, 0, 0, 0xFE, 0xD0, 0, 0};
    static const uint8_t as_four[] = {15, 14, 13, 1, 2, 3};
    static const uint8_t eight[] = {1, 2, 3, 4, 5, 0, 0, 0, 250, 251, 252, 253, 254, 0, 0, 0};
    static const uint8_t as_eight[] = {250, 251, 252, 253, 254, 1, 2, 3, 4, 5};
    static const uint32_t headers[] = {12, 40, 52, 56, 64, 108, 124};
    (void)state;
    for (size_t h = 0; h < 7; h++) {
        check_palette(&(struct bmp_kind){headers[h], 1, 0, false, 9, 2, .colours = 2, .pixels = one,
                                         .n_pixels = sizeof one},
                      as_one);
        check_palette(&(struct bmp_kind){headers[h], 4, 0, false, 3, 2, .colours = 16,
                                         .pixels = four, .n_pixels = sizeof four},
                      as_four);
        check_palette(&(struct bmp_kind){headers[h], 8, 0, false, 5, 2, .colours = 256,
                                         .pixels = eight, .n_pixels = sizeof eight},
                      as_eight);
    }
}

static void test_top_down(void **state)
{
    static const uint8_t rows[] = {1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0};
    static const uint8_t expected[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    check_palette(&(struct bmp_kind){40, 8, 0, true, 2, 3, .colours = 7, .pixels = rows,
                                     .n_pixels = sizeof rows},
                  expected);
}

/* Every index its own grey: one channel, be the palette whole or not. All else is colour. */
static void test_grey(void **state)
{
    static const uint8_t rows[] = {3, 2, 1, 0, 0, 1, 2, 3};
    static const uint8_t expected[] = {0, 1, 2, 3, 3, 2, 1, 0};
    static const uint8_t four[] = {0x01, 0, 0, 0};
    static const uint8_t as_four[] = {0, 0, 0, 1, 1, 1};
    (void)state;
    check(&(struct bmp_kind){40, 8, 0, false, 4, 2, .colours = 256, .grey_palette = true,
                             .pixels = rows, .n_pixels = sizeof rows},
          1, expected);
    check(&(struct bmp_kind){12, 8, 0, false, 4, 2, .colours = 256, .grey_palette = true,
                             .pixels = rows, .n_pixels = sizeof rows},
          1, expected);
    check(&(struct bmp_kind){40, 8, 0, false, 4, 2, .colours = 4, .grey_palette = true,
                             .pixels = rows, .n_pixels = sizeof rows},
          1, expected);
    check(&(struct bmp_kind){40, 4, 0, false, 2, 1, .colours = 16, .grey_palette = true,
                             .pixels = four, .n_pixels = sizeof four},
          3, as_four);
}

static void test_colours(void **state)
{
    static const uint8_t bgr[] = {1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0};
    static const uint8_t as_bgr[] = {9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4};
    static const uint8_t bgrx[] = {1, 2, 3, 200, 4, 5, 6, 100};
    static const uint8_t as_bgrx[] = {3, 2, 1, 6, 5, 4};
    (void)state;
    check(&(struct bmp_kind){40, 24, 0, false, 2, 2, .pixels = bgr, .n_pixels = sizeof bgr}, 3,
          as_bgr);
    check(&(struct bmp_kind){12, 24, 0, false, 2, 2, .pixels = bgr, .n_pixels = sizeof bgr}, 3,
          as_bgr);
    check(&(struct bmp_kind){40, 32, 0, false, 2, 1, .pixels = bgrx, .n_pixels = 8}, 3, as_bgrx);
    /* V5 without masks in use: the fourth byte is still padding */
    check(&(struct bmp_kind){124, 32, 0, false, 2, 1, .masks = {0, 0, 0, 0xFF000000},
                             .pixels = bgrx, .n_pixels = 8},
          3, as_bgrx);
}

static void test_fields(void **state)
{
    /* 0x7FFF, 0x7C00, 0x0200, 0x0001: 5 bits each, n·255/31 rounded */
    static const uint8_t p555[] = {0xFF, 0x7F, 0x00, 0x7C, 0x00, 0x02, 0x01, 0x00};
    static const uint8_t as_555[] = {255, 255, 255, 255, 0, 0, 0, 132, 0, 0, 0, 8};
    /* 0xFFFF, 0xF800, 0x07E0, 0x0821 */
    static const uint8_t p565[] = {0xFF, 0xFF, 0x00, 0xF8, 0xE0, 0x07, 0x21, 0x08};
    static const uint8_t as_565[] = {255, 255, 255, 255, 0, 0, 0, 255, 0, 8, 4, 8};
    static const uint8_t rgba[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const uint8_t as_rgba[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const uint8_t as_rgb[] = {10, 20, 30, 50, 60, 70};
    /* 10 bits each, 2 of alpha: 1023, 512, 1, 2 → 255, 127.6, 0.2, 170 */
    static const uint8_t deep[] = {0x01, 0x00, 0xF8, 0xBF};
    static const uint8_t as_deep[] = {255, 128, 0, 170};
    static const uint8_t p1555[] = {0x00, 0x80, 0x1F, 0x00};
    static const uint8_t as_1555[] = {0, 0, 0, 255, 0, 0, 255, 0};
    static const uint32_t wide[] = {40, 52, 56, 108, 124};
    (void)state;
    check(&(struct bmp_kind){40, 16, 0, false, 4, 1, .pixels = p555, .n_pixels = 8}, 3, as_555);
    for (size_t h = 0; h < 5; h++) {
        check(&(struct bmp_kind){wide[h], 16, 3, false, 4, 1, .masks = {0xF800, 0x7E0, 0x1F},
                                 .pixels = p565, .n_pixels = 8},
              3, as_565);
        if (wide[h] != 52)
            check(&(struct bmp_kind){wide[h], 32, 6, false, 2, 1,
                                     .masks = {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, .pixels = rgba,
                                     .n_pixels = 8},
                  4, as_rgba);
    }
    check(&(struct bmp_kind){40, 32, 3, false, 2, 1, .masks = {0xFF, 0xFF00, 0xFF0000},
                             .pixels = rgba, .n_pixels = 8},
          3, as_rgb);
    check(&(struct bmp_kind){56, 32, 3, false, 1, 1,
                             .masks = {0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000}, .pixels = deep,
                             .n_pixels = 4},
          4, as_deep);
    check(&(struct bmp_kind){124, 16, 3, true, 2, 1, .masks = {0x7C00, 0x3E0, 0x1F, 0x8000},
                             .pixels = p1555, .n_pixels = 4},
          4, as_1555);
}

#define RLE(bits_, width_, height_, bytes)                                                         \
    (struct bmp_kind)                                                                              \
    {                                                                                              \
        40, bits_, (bits_) == 8 ? 1 : 2, false, width_, height_, .colours = 16, .pixels = bytes,   \
                                                                 .n_pixels = sizeof bytes          \
    }

static void test_rle8(void **state)
{
    /* Runs, ends of rows, an odd run one by one with its padding, a move, the end. Bottom first. */
    static const uint8_t bytes[] = {3, 1, 2, 2, 0, 0, 0, 3, 4, 5, 6, 0,
                                    2, 7, 0, 0, 0, 2, 2, 1, 1, 8, 0, 1};
    static const uint8_t expected[] = {0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 7, 7, 1, 1, 1, 2, 2};
    static const uint8_t empty[] = {0, 1};
    static const uint8_t zeros[6] = {0};
    (void)state;
    check_palette(&RLE(8, 5, 4, bytes), expected);
    check_palette(&RLE(8, 3, 2, empty), zeros);
}

static void test_rle4(void **state)
{
    static const uint8_t bytes[] = {5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0,
                                    0, 0,    0, 2, 1, 0, 2,    0x9A, 0,    1};
    static const uint8_t expected[] = {0, 9, 10, 0, 0, 3, 4, 5, 6, 7, 1, 2, 1, 2, 1};
    (void)state;
    check_palette(&RLE(4, 5, 3, bytes), expected);
}

static void check_bad(const struct bmp_kind *kind, int code, const char *says)
{
    struct file file = {0};
    make_bmp(&file, kind);
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
}

#define BLACK 255 /* among indices: none of the palette's */

static void check_odd(const struct bmp_kind *kind, const char *says, const uint8_t *indices)
{
    struct file file = {0};
    struct decoded decoded;
    make_bmp(&file, kind);
    decode_odd(&file, kind->width, kind->height, 3, SAMPLE_U8, says, &decoded);
    for (uint32_t i = 0; i < kind->width * kind->height; i++)
        for (unsigned c = 0; c < 3; c++)
            assert_int_equal(decoded.samples[3 * i + c],
                             indices[i] == BLACK ? 0 : bmp_palette_colour(indices[i], c));
    decoded_finish(&decoded);
    file_finish(&file);
}

/* What leaves the picture is left out; what follows is read. */
static void test_odd_rle(void **state)
{
    static const uint8_t long_run[] = {6, 1, 0, 0, 2, 2, 0, 1};
    static const uint8_t long_list[] = {0, 6, 1, 1, 1, 1, 1, 9, 0, 0, 2, 2, 0, 1};
    static const uint8_t above[] = {5, 1, 0, 0, 2, 2, 0, 0, 1, 9, 0, 1};
    static const uint8_t rows_end_above[] = {5, 1, 0, 0, 2, 2, 0, 0, 0, 0, 0, 1};
    static const uint8_t move_right[] = {1, 1, 0, 2, 5, 0, 1, 9, 0, 0, 2, 2, 0, 1};
    static const uint8_t move_up[] = {2, 1, 0, 2, 0, 3, 1, 9, 0, 1};
    static const uint8_t no_colour[] = {1, 16, 2, 1, 0, 1};
    static const uint8_t rows[] = {2, 2, 0, 0, 0, 1, 1, 1, 1, 1};
    static const uint8_t one[] = {2, 2, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t two[] = {0, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    static const uint8_t black[] = {0, 0, 0, 0, 0, BLACK, 1, 1, 0, 0};
    (void)state;
    check_odd(&RLE(8, 5, 2, long_run), "runs leave the picture", rows);
    check_odd(&RLE(8, 5, 2, long_list), "runs leave the picture", rows);
    check_odd(&RLE(8, 5, 2, above), "runs leave the picture", rows);
    check_odd(&RLE(8, 5, 2, rows_end_above), "runs leave the picture", rows);
    check_odd(&RLE(8, 5, 2, move_right), "runs leave the picture", one);
    check_odd(&RLE(8, 5, 2, move_up), "runs leave the picture", two);
    check_odd(&RLE(8, 5, 2, no_colour), "palette's 16 colours", black);
}

static void test_bad_rle(void **state)
{
    static const uint8_t no_end[] = {5, 1, 0, 0, 5, 1};
    static const uint8_t cut_list[] = {0, 4, 1, 1};
    static const uint8_t cut_move[] = {0, 2, 1};
    (void)state;
    check_bad(&RLE(8, 5, 2, no_end), FAULT_TRUNCATED, "truncated bmp");
    check_bad(&RLE(8, 5, 2, cut_list), FAULT_TRUNCATED, "truncated bmp");
    check_bad(&RLE(8, 5, 2, cut_move), FAULT_TRUNCATED, "truncated bmp");
}

/* A good file of 24 bits with one number of its header changed. */
static void check_changed(size_t at, uint32_t value, int code, const char *says)
{
    static const uint8_t pixels[16] = {0};
    struct file file = {0};
    make_bmp(&file, &(struct bmp_kind){40, 24, 0, false, 2, 2, .pixels = pixels, .n_pixels = 16});
    store_le32(file.data + at, value);
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
}

static void check_changed_is_odd(size_t at, uint32_t value, const char *says)
{
    static const uint8_t pixels[16] = {1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0};
    static const uint8_t expected[] = {9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4};
    struct file file = {0};
    struct decoded decoded;
    make_bmp(&file, &(struct bmp_kind){40, 24, 0, false, 2, 2, .pixels = pixels, .n_pixels = 16});
    store_le32(file.data + at, value);
    decode_odd(&file, 2, 2, 3, SAMPLE_U8, says, &decoded);
    assert_memory_equal(decoded.samples, expected, sizeof expected);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_bad_headers(void **state)
{
    (void)state;
    check_changed_is_odd(10, 53, "within the header");
    check_changed_is_odd(10, 0, "within the header");
    check_changed_is_odd(26, 2 | 24 << 16, "2 planes");
    check_changed_is_odd(26, 24 << 16, "0 planes");
    check_changed(10, 0xFFFFFFFF, FAULT_TRUNCATED, "truncated bmp");
    check_changed(14, 41, FAULT_FORMAT, "unknown format");
    check_changed(14, 124, FAULT_TRUNCATED, "truncated bmp");
    check_changed(18, 0, FAULT_DATA, "damaged bmp");
    check_changed(18, 0x80000000, FAULT_DATA, "damaged bmp");
    check_changed(18, 0x7FFFFFFF, FAULT_LIMIT, "--max-pixels");
    check_changed(22, 0, FAULT_DATA, "damaged bmp");
    check_changed(22, 0x80000000, FAULT_LIMIT, "--max-pixels"); /* −2^31 rows */
    check_changed(26, 1 | 2 << 16, FAULT_FORMAT, "2 bits");
    check_changed(30, 1, FAULT_FORMAT, "24 bits a pixel in compression 1");
    check_changed(30, 4, FAULT_FORMAT, "compression 4"); /* a JPEG within */
    check_changed(18, 3, FAULT_TRUNCATED, "truncated bmp");
}

static void test_bad_masks(void **state)
{
    static const uint8_t pixels[8] = {0};
    static const uint32_t bad[][4] = {
        {0xFF, 0xFF, 0xFF0000, 0},       /* shared bits */
        {0xF0F0, 0x0F00, 0xFF0000, 0},   /* gaps */
        {0xFF0000, 0xFF00, 0xFF, 0x1FF}, /* alpha over blue */
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bmp_kind kind = {108, 32, 3, false, 2, 1, .pixels = pixels, .n_pixels = 8};
        memcpy(kind.masks, bad[i], sizeof bad[i]);
        check_bad(&kind, FAULT_DATA, "damaged bmp: masks");
    }
    struct bmp_kind kind = {
        40, 16, 3, false, 2, 1, .masks = {0x1F0000, 0x7E0, 0x1F}, .pixels = pixels, .n_pixels = 8};
    check_bad(&kind, FAULT_DATA, "damaged bmp: masks");
}

static void test_palette_bounds(void **state)
{
    static const uint8_t rows[] = {0, 1, 2, 3};
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    struct bmp_kind kind = {40, 8, 0, false, 4, 1, .colours = 3, .pixels = rows, .n_pixels = 4};
    check_odd(&kind, "none of the palette's 3 colours", (uint8_t[]){0, 1, 2, BLACK});
    kind.colours = 4;
    make_bmp(&file, &kind);
    store_le32(file.data + 46, 70000); /* says more colours than a byte can name */
    decode_odd(&file, 4, 1, 3, SAMPLE_U8, "70000 colours, of which 8 bits can name 256", &decoded);
    decoded_finish(&decoded);
    store_le32(file.data + 46, 200); /* than there is room for */
    decode_odd(&file, 4, 1, 3, SAMPLE_U8, "200 colours, where there is room for 4", &decoded);
    decoded_finish(&decoded);
    store_le32(file.data + 46, 0); /* which stands for 256 */
    decode_odd(&file, 4, 1, 3, SAMPLE_U8, "256 colours, where there is room for 4", &decoded);
    decoded_finish(&decoded);
    store_le32(file.data + 10, 54); /* no room at all */
    decode_bad(&file, NULL, FAULT_DATA, "no palette");
    store_le32(file.data + 46, 4);
    store_le32(file.data + 10, 0); /* the pixels follow the palette */
    decode_odd(&file, 4, 1, 3, SAMPLE_U8, "within the header", &decoded);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(decoded.samples[3 * i], bmp_palette_colour(i, 0));
    decoded_finish(&decoded);
    file_finish(&file);
}

/* Rows come from the bottom: what a cut file lacks is the top. */
static void test_partial(void **state)
{
    static const uint8_t rows[] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    struct file file = {0};
    struct decoded decoded;
    struct decode_options partial = options_of("partial=1");
    (void)state;
    make_bmp(&file, &(struct bmp_kind){40, 8, 0, false, 4, 3, .colours = 256, .grey_palette = true,
                                       .pixels = rows, .n_pixels = sizeof rows});
    file.size -= 5;
    decode_bad(&file, NULL, FAULT_TRUNCATED, "truncated bmp");
    decode_good(&file, &partial, 4, 3, 1, SAMPLE_U8, &decoded);
    assert_memory_equal(decoded.samples, "\0\0\0\0\0\0\0\0\1\1\1\1", 12);
    decoded_finish(&decoded);
    file_finish(&file);
}

/* Byte for byte: header, palette or masks, rows from the bottom, padding. */
static void test_written(void **state)
{
    static const uint8_t grey_rows[] = {4, 5, 6, 0, 1, 2, 3, 0};
    static const uint8_t rgb_rows[] = {3, 2, 1, 0};
    static const uint8_t rgba_rows[] = {3, 2, 1, 4};
    struct file file;
    (void)state;
    struct picture picture = picture_of(3, 2, 1, SAMPLE_U8);
    memcpy(picture_row(&picture, 0, 0), "\1\2\3", 3);
    memcpy(picture_row(&picture, 0, 1), "\4\5\6", 3);
    encode_picture("bmp", &picture, &file);
    assert_int_equal(file.size, 14 + 40 + 1024 + 8);
    assert_int_equal(load_le32(file.data + 2), file.size);
    assert_int_equal(load_le32(file.data + 10), 1078);
    assert_int_equal(load_le32(file.data + 14), 40);
    assert_int_equal(load_le32(file.data + 22), 2);
    assert_int_equal(load_le16(file.data + 28), 8);
    assert_memory_equal(file.data + 54 + 4 * 200, "\xC8\xC8\xC8\0", 4);
    assert_memory_equal(file.data + 1078, grey_rows, 8);
    file_finish(&file);
    picture_destroy(&picture);
    for (uint32_t channels = 3; channels <= 4; channels++) {
        uint32_t header = channels == 3 ? 40 : 108;
        picture = picture_of(1, 1, channels, SAMPLE_U8);
        memcpy(picture_row(&picture, 0, 0), "\1\2\3\4", channels);
        encode_picture("bmp", &picture, &file);
        assert_int_equal(file.size, 14 + header + 4);
        assert_int_equal(load_le32(file.data + 14), header);
        assert_int_equal(load_le16(file.data + 28), 8 * channels);
        if (channels == 4)
            assert_memory_equal(file.data + 54,
                                "\0\0\xFF\0\0\xFF\0\0\xFF\0\0\0\0\0\0\xFF"
                                "BGRs",
                                20);
        assert_memory_equal(file.data + file.size - 4, channels == 3 ? rgb_rows : rgba_rows, 4);
        file_finish(&file);
        picture_destroy(&picture);
    }
}

static void test_round_trip(void **state)
{
    static const uint32_t widths[] = {1, 2, 3, 4, 5, 1023, 1024, 1025, 2050};
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        for (size_t w = 0; channels != 2 && w < sizeof widths / sizeof *widths; w++) {
            uint32_t row = widths[w] * channels;
            struct picture picture = picture_of(widths[w], 3, channels, SAMPLE_U8);
            struct file file;
            struct decoded decoded;
            for (uint32_t y = 0; y < 3; y++)
                for (uint32_t i = 0; i < row; i++)
                    ((uint8_t *)picture_row(&picture, 0, y))[i] = (uint8_t)noise_sample(i, y, 0);
            encode_picture("bmp", &picture, &file);
            decode_good(&file, NULL, widths[w], 3, channels, SAMPLE_U8, &decoded);
            for (uint32_t y = 0; y < 3; y++)
                assert_memory_equal(decoded.samples + y * row, picture_row(&picture, 0, y), row);
            decoded_finish(&decoded);
            file_finish(&file);
            picture_destroy(&picture);
        }
    }
}

static void test_fit(void **state)
{
    struct fault fault;
    struct plane plane = {.width = 5, .height = 1, .channels = 2, .type = SAMPLE_U16};
    (void)state;
    assert_int_equal(fit_plane("bmp", &plane, &fault), 0);
    assert_int_equal(plane.channels, 4); /* grey with alpha is spread */
    assert_int_equal(plane.type, SAMPLE_U8);
    plane.width = plane.height = 40000;
    assert_int_equal(fit_plane("bmp", &plane, &fault), FAULT_SHAPE);
    assert_non_null(strstr(fault.text, "4GiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_palettes),   cmocka_unit_test(test_top_down),
        cmocka_unit_test(test_grey),       cmocka_unit_test(test_colours),
        cmocka_unit_test(test_fields),     cmocka_unit_test(test_rle8),
        cmocka_unit_test(test_rle4),       cmocka_unit_test(test_odd_rle),
        cmocka_unit_test(test_bad_rle),    cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_bad_masks),  cmocka_unit_test(test_palette_bounds),
        cmocka_unit_test(test_partial),    cmocka_unit_test(test_written),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
