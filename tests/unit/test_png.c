#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../codec/decode.h"
#include "codec/byte_order.h"

#define GREY       0
#define RGB        2
#define PALETTE    3
#define GREY_ALPHA 4
#define RGBA       6

/* The file's own value, before it is widened. */
static unsigned stored(const struct png_kind *kind, uint32_t x, uint32_t y, unsigned c)
{
    unsigned v = noise_sample(x, y, c) >> (16 - kind->depth);
    return kind->colour_type == PALETTE && kind->palette_colours ? v % kind->palette_colours : v;
}

static unsigned colours_of_file(const struct png_kind *kind)
{
    return kind->colour_type == GREY || kind->colour_type == GREY_ALPHA ? 1 : 3;
}

/* Alpha of grey and RGB with tRNS: 0 where all channels are those of pixel (0, 0). */
static unsigned alpha_by_colour(const struct png_kind *kind, uint32_t x, uint32_t y, unsigned full)
{
    for (unsigned c = 0; c < colours_of_file(kind); c++)
        if (stored(kind, x, y, c) != stored(kind, 0, 0, c))
            return full;
    return 0;
}

static unsigned expected(const struct png_kind *kind, uint32_t x, uint32_t y, unsigned c)
{
    unsigned colours = colours_of_file(kind), full = kind->depth == 16 ? 65535 : 255;
    if (kind->colour_type == PALETTE) {
        unsigned i = stored(kind, x, y, 0);
        unsigned n = kind->palette_colours ? kind->palette_colours : 1u << kind->depth;
        return c < 3 ? png_palette_colour(i, c) : i < n / 2 ? png_palette_alpha(i) : 255;
    }
    if (c == colours && kind->transparent)
        return alpha_by_colour(kind, x, y, full);
    unsigned max = (1u << kind->depth) - 1;
    return stored(kind, x, y, c) * (full / max);
}

static uint32_t channels_of(const struct png_kind *kind)
{
    bool alpha = kind->transparent || kind->colour_type == GREY_ALPHA || kind->colour_type == RGBA;
    return colours_of_file(kind) + alpha;
}

static void check(const struct png_kind *kind)
{
    struct file file = {0};
    struct decoded decoded;
    uint32_t channels = channels_of(kind);
    make_png(&file, kind);
    decode_good(&file, NULL, kind->width, kind->height, channels,
                kind->depth == 16 ? SAMPLE_U16 : SAMPLE_U8, &decoded);
    for (uint32_t y = 0; y < kind->height; y++) {
        for (uint32_t x = 0; x < kind->width; x++) {
            for (uint32_t c = 0; c < channels; c++) {
                size_t i = ((size_t)y * kind->width + x) * channels + c;
                unsigned got =
                    kind->depth == 16 ? ((uint16_t *)decoded.samples)[i] : decoded.samples[i];
                if (got != expected(kind, x, y, c))
                    fail_msg("type %d depth %d: sample (%u, %u, %u) is %u, not %u",
                             kind->colour_type, kind->depth, x, y, c, got, expected(kind, x, y, c));
            }
        }
    }
    decoded_finish(&decoded);
    file_finish(&file);
}

/* Every colour type and depth of the standard, plain and interlaced, with and without tRNS. */
static void test_every_kind(void **state)
{
    static const int kinds[][2] = {
        {GREY, 1},    {GREY, 2},       {GREY, 4},        {GREY, 8},    {GREY, 16},
        {RGB, 8},     {RGB, 16},       {PALETTE, 1},     {PALETTE, 2}, {PALETTE, 4},
        {PALETTE, 8}, {GREY_ALPHA, 8}, {GREY_ALPHA, 16}, {RGBA, 8},    {RGBA, 16},
    };
    static const uint32_t sizes[][2] = {{1, 1}, {3, 2}, {8, 8}, {37, 19}};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int form = 0; form < 4; form++) {
            if ((form & 2) && kinds[k][0] >= GREY_ALPHA)
                continue; /* has alpha already */
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                check(&(struct png_kind){kinds[k][0], kinds[k][1], form & 1, form & 2, sizes[s][0],
                                         sizes[s][1]});
        }
    }
    check(&(struct png_kind){PALETTE, 8, false, false, 20, 20, .palette_colours = 3});
}

/* Each orientation against what the decoder gives with orient=0, turned here. */
static void check_orientation(const struct png_kind *kind)
{
    struct file file = {0};
    struct decoded as_stored, turned;
    struct decode_options keep = options_of("orient=0");
    bool swaps = kind->orientation >= 5;
    uint32_t w = kind->width, h = kind->height;
    make_png(&file, kind);
    decode_good(&file, &keep, w, h, 3, SAMPLE_U8, &as_stored);
    decode_good(&file, NULL, swaps ? h : w, swaps ? w : h, 3, SAMPLE_U8, &turned);
    for (uint32_t y = 0; y < turned.plane.height; y++) {
        for (uint32_t x = 0; x < turned.plane.width; x++) {
            uint32_t from_x = swaps ? y : x, from_y = swaps ? x : y;
            unsigned o = kind->orientation;
            if (o == 2 || o == 3 || o == 7 || o == 8)
                from_x = w - 1 - from_x;
            if (o == 3 || o == 4 || o == 6 || o == 7)
                from_y = h - 1 - from_y;
            assert_memory_equal(turned.samples + 3 * ((size_t)y * turned.plane.width + x),
                                as_stored.samples + 3 * ((size_t)from_y * w + from_x), 3);
        }
    }
    decoded_finish(&as_stored);
    decoded_finish(&turned);
    file_finish(&file);
}

static void test_orientation(void **state)
{
    (void)state;
    for (unsigned o = 1; o <= 8; o++) {
        check_orientation(&(struct png_kind){RGB, 8, false, false, 21, 83, .orientation = o});
        check_orientation(&(struct png_kind){RGB, 8, true, false, 21, 83, .orientation = o});
        check_orientation(
            &(struct png_kind){RGB, 8, false, false, 21, 8, .orientation = o, .exif_behind = true});
    }
}

/* What is there of a cut file stays, the rest is black. */
static void test_partial(void **state)
{
    struct file file = {0}, cut;
    struct decoded whole, part;
    struct decode_options partial = options_of("partial=1");
    (void)state;
    make_png(&file, &(struct png_kind){RGB, 8, false, false, 50, 60});
    decode_good(&file, NULL, 50, 60, 3, SAMPLE_U8, &whole);
    cut = (struct file){file.data, file.size * 2 / 3};
    decode_bad(&cut, NULL, FAULT_TRUNCATED, "truncated png");
    decode_good(&cut, &partial, 50, 60, 3, SAMPLE_U8, &part);
    size_t same = 0, row = 150;
    while (same < 60 && memcmp(whole.samples + same * row, part.samples + same * row, row) == 0)
        same++;
    assert_in_range(same, 30, 45);
    for (size_t i = same * row; i < 60 * row; i++)
        assert_int_equal(part.samples[i], 0);
    decoded_finish(&whole);
    decoded_finish(&part);
    file_finish(&file);
}

/* An early pass of an interlaced file covers the picture. */
static void test_partial_interlaced(void **state)
{
    struct file file = {0}, cut;
    struct decoded part;
    struct decode_options partial = options_of("partial=1");
    size_t black = 0;
    (void)state;
    make_png(&file, &(struct png_kind){RGB, 8, true, false, 64, 64});
    cut = (struct file){file.data, file.size / 3};
    decode_good(&cut, &partial, 64, 64, 3, SAMPLE_U8, &part);
    for (size_t i = 0; i < 64 * 64 * 3; i += 3)
        black += part.samples[i] == 0 && part.samples[i + 1] == 0 && part.samples[i + 2] == 0;
    assert_in_range(black, 0, 10);
    decoded_finish(&part);
    file_finish(&file);
}

static uint32_t crc_of(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int b = 0; b < 8; b++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

static void put_chunk(struct file *file, const char *name, const void *data, size_t size)
{
    file_put_be32(file, (uint32_t)size);
    size_t begin = file->size;
    file_put_text(file, name);
    file_put(file, data, size);
    file_put_be32(file, crc_of(file->data + begin, file->size - begin));
}

/* A header alone, of any size, and an IDAT that holds next to nothing. */
static void make_bomb(struct file *file, uint32_t width, uint32_t height, int depth)
{
    uint8_t header[13] = {[8] = (uint8_t)depth, [9] = RGBA};
    for (int i = 0; i < 4; i++) {
        header[i] = (uint8_t)(width >> (24 - 8 * i));
        header[4 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    file_put(file, "\x89PNG\r\n\x1A\n", 8);
    put_chunk(file, "IHDR", header, 13);
    put_chunk(file, "IDAT", "\x78\x01\1\0\0\xFF\xFF", 7);
    put_chunk(file, "IEND", NULL, 0);
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void test_limits(void **state)
{
    static const uint32_t sizes[][2] = {
        {60000, 60000}, {1, 0x7FFFFFFF}, {0x7FFFFFFF, 1}, {0x7FFFFFFF, 0x7FFFFFFF}};
    long before = peak_kib();
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (int depth = 8; depth <= 16; depth += 8) {
            struct file file = {0};
            make_bomb(&file, sizes[i][0], sizes[i][1], depth);
            decode_bad(&file, NULL, FAULT_LIMIT, "--max-pixels");
            file_finish(&file);
        }
    }
    assert_in_range(peak_kib() - before, 0, 8192);
    struct file file = {0};
    make_bomb(&file, 0, 5, 8);
    decode_bad(&file, NULL, FAULT_DATA, "width is zero");
    file_finish(&file);
    make_bomb(&file, 0x80000000, 5, 8);
    decode_bad(&file, NULL, FAULT_DATA, "damaged png");
    file_finish(&file);
}

/* An interlaced picture that is turned needs a second one; the limit is looked at first. */
static void test_memory_limit(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    struct fault fault;
    const struct codec_limits limits = {1 << 22, 400 << 10};
    (void)state;
    make_png(&file, &(struct png_kind){RGB, 8, true, false, 300, 400, .orientation = 6});
    assert_int_equal(decode_within(&file, NULL, &limits, &decoded, &fault), FAULT_LIMIT);
    assert_non_null(strstr(fault.text, "--memory"));
    file_finish(&file);
}

static size_t find_chunk(const struct file *file, const char *name)
{
    size_t at = 8;
    while (memcmp(file->data + at + 4, name, 4) != 0)
        at += 12 + load_be32(file->data + at);
    return at;
}

static void test_damage(void **state)
{
    struct file file = {0};
    (void)state;
    make_png(&file, &(struct png_kind){GREY, 8, false, false, 30, 30});
    size_t idat = find_chunk(&file, "IDAT"), end = find_chunk(&file, "IEND");
    file.data[idat + 20] ^= 1;
    decode_bad(&file, NULL, FAULT_DATA, "damaged png: IDAT: ");
    file.data[idat + 20] ^= 1;
    file.data[end - 1] ^= 1;
    decode_bad(&file, NULL, FAULT_DATA, "CRC");
    file.data[end - 1] ^= 1;
    file.size -= 12; /* no IEND */
    decode_bad(&file, NULL, FAULT_TRUNCATED, "truncated png");
    file_finish(&file);
}

/* What libpng warns of is read, and told in its words. */
static void test_odd(void **state)
{
    struct file file = {0}, odd = {0};
    struct decoded good, decoded;
    (void)state;
    make_png(&file, &(struct png_kind){GREY, 8, false, false, 30, 30});
    decode_good(&file, NULL, 30, 30, 1, SAMPLE_U8, &good);
    assert_string_equal(good.warnings, "");
    size_t idat = find_chunk(&file, "IDAT"), end = find_chunk(&file, "IEND");

    file_put(&odd, file.data, idat); /* tRNS of grey has 2 bytes */
    put_chunk(&odd, "tRNS", "\0\1\2", 3);
    file_put(&odd, file.data + idat, file.size - idat);
    decode_odd(&odd, 30, 30, 1, SAMPLE_U8, "tRNS: invalid", &decoded);
    assert_string_equal(decoded.warnings, "png: tRNS: invalid\n");
    assert_memory_equal(decoded.samples, good.samples, 900);
    decoded_finish(&decoded);
    file_finish(&odd);

    file_put(&odd, file.data, idat); /* an ancillary chunk with a wrong CRC */
    put_chunk(&odd, "tEXt", "Title\0moon", 10);
    odd.data[odd.size - 1] ^= 1;
    file_put(&odd, file.data + idat, file.size - idat);
    decode_odd(&odd, 30, 30, 1, SAMPLE_U8, "tEXt: CRC error", &decoded);
    decoded_finish(&decoded);
    file_finish(&odd);

    struct file padded = {0}; /* bytes behind the stream of an IDAT */
    file_put(&padded, file.data + idat + 8, load_be32(file.data + idat));
    file_put_text(&padded, "padding");
    file_put(&odd, file.data, idat);
    put_chunk(&odd, "IDAT", padded.data, padded.size);
    file_put(&odd, file.data + end, file.size - end);
    file_finish(&padded);
    decode_odd(&odd, 30, 30, 1, SAMPLE_U8, "IDAT: ", &decoded);
    assert_memory_equal(decoded.samples, good.samples, 900);
    decoded_finish(&decoded);
    file_finish(&odd);

    file_put(&odd, file.data, idat);
    put_chunk(&odd, "tRNS", "\0\1", 2);
    put_chunk(&odd, "tRNS", "\0\1", 2);
    file_put(&odd, file.data + idat, file.size - idat);
    decode_odd(&odd, 30, 30, 2, SAMPLE_U8, "tRNS: duplicate", &decoded);
    decoded_finish(&decoded);
    file_finish(&odd);
    decoded_finish(&good);
    file_finish(&file);
}

/* Text and profiles are passed over unread; a large one costs nothing. */
static void test_other_chunks(void **state)
{
    struct file file = {0}, more = {0};
    struct decoded decoded;
    uint8_t *text = calloc(1, 3 << 20);
    (void)state;
    make_png(&file, &(struct png_kind){GREY, 8, false, false, 3, 3});
    size_t idat = find_chunk(&file, "IDAT");
    file_put(&more, file.data, idat);
    put_chunk(&more, "tEXt", text, 3 << 20);
    put_chunk(&more, "iCCP", "name\0\0no profile", 16);
    put_chunk(&more, "gAMA", "\0\0\0\1", 4);
    put_chunk(&more, "prIv", "anything", 8);
    file_put(&more, file.data + idat, file.size - idat);
    file_put_text(&more, "what follows the end does not matter");
    decode_good(&more, NULL, 3, 3, 1, SAMPLE_U8, &decoded);
    decoded_finish(&decoded);
    file_finish(&more);
    file_finish(&file);
    free(text);
}

static void fill_noise(struct picture *picture)
{
    const struct plane *plane = &picture->frame.planes[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
            if (plane->type == SAMPLE_U16)
                ((uint16_t *)picture_row(picture, 0, y))[i] = noise_sample(i, y, 0);
            else
                ((uint8_t *)picture_row(picture, 0, y))[i] = (uint8_t)noise_sample(i, y, 0);
        }
    }
}

static void test_round_trip(void **state)
{
    static const char *const formats[] = {"png", "png:level=0", "png:level=4", "png:9"};
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        for (int deep = 0; deep < 2; deep++) {
            enum sample_type type = deep ? SAMPLE_U16 : SAMPLE_U8;
            struct picture picture = picture_of(19, 23, channels, type);
            size_t row = 19 * channels * sample_size(type);
            fill_noise(&picture);
            for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
                struct file file;
                struct decoded decoded;
                encode_picture(formats[f], &picture, &file);
                decode_good(&file, NULL, 19, 23, channels, type, &decoded);
                for (uint32_t y = 0; y < 23; y++)
                    assert_memory_equal(decoded.samples + y * row, picture_row(&picture, 0, y),
                                        row);
                decoded_finish(&decoded);
                file_finish(&file);
            }
            picture_destroy(&picture);
        }
    }
}

static void test_fit(void **state)
{
    static const enum sample_type becomes[SAMPLE_TYPES] = {
        [SAMPLE_U8] = SAMPLE_U8,   [SAMPLE_I8] = SAMPLE_U8,  [SAMPLE_U16] = SAMPLE_U16,
        [SAMPLE_I16] = SAMPLE_U16, [SAMPLE_F32] = SAMPLE_U8, [SAMPLE_F64] = SAMPLE_U8};
    struct fault fault;
    (void)state;
    for (int type = 0; type < SAMPLE_TYPES; type++) {
        struct plane plane = {.width = 3, .height = 3, .channels = 2, .type = type};
        if (type == SAMPLE_I32 || type == SAMPLE_F16) {
            assert_int_equal(fit_plane("png", &plane, &fault), FAULT_SHAPE);
            assert_non_null(strstr(fault.text, "convert"));
            continue;
        }
        assert_int_equal(fit_plane("png", &plane, &fault), 0);
        assert_int_equal(plane.type, becomes[type]);
        assert_int_equal(plane.channels, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits), /* first: it looks at the peak of memory */
        cmocka_unit_test(test_every_kind),   cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_partial),      cmocka_unit_test(test_partial_interlaced),
        cmocka_unit_test(test_memory_limit), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_odd),          cmocka_unit_test(test_other_chunks),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
