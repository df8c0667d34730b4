#include "test.h"

#include <stdio.h>
#include <string.h>

#include "../codec/decode.h"

static void make_sample(const char *name, struct file *file)
{
    for (const struct sample_file *s = sample_files; s->name; s++)
        if (strcmp(s->name, name) == 0)
            s->make(file, s->variant);
    assert_non_null(file->data);
}

static void assert_plane(const struct plane *plane, const char *name, uint32_t width,
                         uint32_t height, uint32_t channels, enum sample_type type)
{
    assert_string_equal(plane->name, name);
    assert_int_equal(plane->width, width);
    assert_int_equal(plane->height, height);
    assert_int_equal(plane->channels, channels);
    assert_int_equal(plane->type, type);
}

/* The array b of the samples: '>i2', Fortran order, 3 rows of 2. */
static void assert_b(const struct decoded *decoded, size_t plane, unsigned variant)
{
    for (uint32_t x = 0; x < 2; x++) {
        for (uint32_t y = 0; y < 3; y++) {
            uint32_t at = 2 * (x * 3 + y);
            unsigned high = noise_sample(at, variant, 1) & 255;
            unsigned low = noise_sample(at + 1, variant, 1) & 255;
            const int16_t *row = picture_row(&decoded->picture, plane, y);
            assert_int_equal(row[x], (int16_t)(high << 8 | low));
        }
    }
}

/* Arrays without meta.json are planes under their names, in their order. */
static void test_savez(void **state)
{
    static const char *const names[] = {"savez.npz", "savez-small.npz"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct file file = {0};
        struct decoded decoded;
        make_sample(names[i], &file);
        decode_good(&file, NULL, 3, 1, 2, SAMPLE_U8, &decoded);
        assert_int_equal(decoded.picture.frame.n_planes, 2);
        assert_plane(&decoded.picture.frame.planes[0], "image", 3, 1, 2, SAMPLE_U8);
        assert_plane(&decoded.picture.frame.planes[1], "b", 2, 3, 1, SAMPLE_I16);
        assert_int_equal(decoded.picture.frame.n_origins, 0);
        for (uint32_t k = 0; k < 6; k++)
            assert_int_equal(decoded.samples[k], noise_sample(k, 2 + i, 1) & 255);
        assert_b(&decoded, 1, 2 + i);
        decoded_finish(&decoded);
        file_finish(&file);
    }
}

static void test_meta(void **state)
{
    struct file file = {0};
    struct decoded decoded;
    (void)state;
    make_sample("meta-small.npz", &file);
    decode_good(&file, NULL, 2, 3, 1, SAMPLE_I16, &decoded);
    const struct frame *frame = &decoded.picture.frame;
    assert_int_equal(frame->n_planes, 2);
    assert_plane(&frame->planes[0], "b", 2, 3, 1, SAMPLE_I16);
    assert_int_equal(frame->planes[0].zero_x, -1);
    assert_int_equal(frame->planes[0].zero_y, 4);
    assert_plane(&frame->planes[1], "", 3, 1, 2, SAMPLE_U8);
    assert_b(&decoded, 0, 7);
    assert_int_equal(frame->n_origins, 1);
    assert_string_equal(frame->origins[0].stage, "dwt");
    assert_string_equal(frame->origins[0].parameters, ":levels=1");
    assert_plane(&frame->origins[0].plane, "", 5, 7, 1, SAMPLE_U8);
    assert_int_equal(frame->origins[0].first, 0);
    assert_int_equal(frame->origins[0].count, 1);
    decoded_finish(&decoded);
    file_finish(&file);
}

/* An archive of one array of 2 rows of 3 called `member`, and of meta.json unless NULL. */
static void make_one(struct file *file, const char *member, const char *meta)
{
    struct file array = {0};
    make_npy(&array, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", "abcdef", 6);
    const struct zip_part parts[] = {{member, array.data, array.size},
                                     {"meta.json", meta, meta ? strlen(meta) : 0}};
    make_zip(file, parts, meta ? 2 : 1, false, false);
    file_finish(&array);
}

static void test_names(void **state)
{
    static const struct {
        const char *member, *name;
    } good[] = {{"image.npy", ""},
                {"arr_0.npy", "arr_0"},
                {"a.b-C.npy.npy", "a.b-C.npy"},
                {"exactly_thirty-one_characters__.npy", "exactly_thirty-one_characters__"}};
    static const char *const bad[] = {
        ".npy",   "../x.npy",   "a/b.npy",
        ".x.npy", "a b.npy",    "\xC3\xA4.npy",
        "dir/",   "readme.txt", "more_than_thirty-one_characters_.npy"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct file file = {0};
        struct decoded decoded;
        make_one(&file, good[i].member, NULL);
        decode_good(&file, NULL, 3, 2, 1, SAMPLE_U8, &decoded);
        assert_string_equal(decoded.plane.name, good[i].name);
        assert_memory_equal(decoded.samples, "abcdef", 6);
        decoded_finish(&decoded);
        file_finish(&file);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct file file = {0};
        make_one(&file, bad[i], NULL);
        decode_bad(&file, NULL, FAULT_FORMAT, "unsupported npz");
        file_finish(&file);
    }
}

#define PLANE(name, width, type)                                                                   \
    "{\"name\":" name ",\"width\":" width ",\"height\":2,\"channels\":1,\"type\":" type            \
    ",\"zero_x\":0,\"zero_y\":0}"
#define IMAGE        PLANE("\"\"", "3", "\"u8\"")
#define META(planes) "{\"version\":1,\"planes\":[" planes "],\"origins\":[]}"
#define ORIGINS(...) "{\"version\":1,\"planes\":[" IMAGE "],\"origins\":[" __VA_ARGS__ "]}"
#define ORIGIN(first, count)                                                                       \
    "{\"stage\":\"dwt\",\"parameters\":\"\",\"first\":" first ",\"count\":" count                  \
    ",\"plane\":" IMAGE "}"

#define OUTER_ORIGIN(depth, first, count)                                                          \
    "{\"stage\":\"dwt\",\"parameters\":\"\",\"plane\":" IMAGE ",\"first\":" first                  \
    ",\"count\":" count ",\"depth\":" depth "}"
#define OUTER(list)                                                                                \
    "{\"version\":1,\"planes\":[" IMAGE "],\"origins\":[" ORIGIN("0", "1") "],\"outer\":[" list "]}"

static void check_meta(const char *meta, int code, const char *says)
{
    struct file file = {0};
    struct decoded decoded;
    make_one(&file, "image.npy", meta);
    if (code == 0) {
        decode_good(&file, NULL, 3, 2, 1, SAMPLE_U8, &decoded);
        decoded_finish(&decoded);
    } else {
        decode_bad(&file, NULL, code, says);
    }
    file_finish(&file);
}

static void test_bad_meta(void **state)
{
    (void)state;
    check_meta(META(IMAGE), 0, "");
    check_meta("{\"version\":1,\"new\":[1],\"planes\":[" IMAGE "]}", 0, "");
    check_meta(META(PLANE("\"image\"", "3", "\"u8\"")), 0, "");
    check_meta(ORIGINS(ORIGIN("0", "1")), 0, "");
    check_meta("", FAULT_DATA, "meta.json, line 1");
    check_meta("{", FAULT_DATA, "meta.json, line 1");
    check_meta("[1]", FAULT_DATA, "no version");
    check_meta("{\"version\":\"1\"}", FAULT_DATA, "no version");
    check_meta("{\"version\":1,\"version\":1}", FAULT_DATA, "meta.json, line 1");
    check_meta("{\"version\":2,\"planes\":[]}", FAULT_FORMAT, "version 2; readable is version 1");
    check_meta("{\"version\":1}", FAULT_DATA, "no planes");
    check_meta(META(""), FAULT_DATA, "no planes");
    check_meta(META("7"), FAULT_DATA, "name");
    check_meta(META(PLANE("\"../x\"", "3", "\"u8\"")), FAULT_DATA, "name");
    check_meta(META(PLANE("\"a\\u0000\"", "3", "\"u8\"")), FAULT_DATA, "");
    check_meta(META(PLANE("null", "3", "\"u8\"")), FAULT_DATA, "name");
    check_meta(META(PLANE("\"\"", "0", "\"u8\"")), FAULT_DATA, "size");
    check_meta(META(PLANE("\"\"", "3.0", "\"u8\"")), FAULT_DATA, "size");
    check_meta(META(PLANE("\"\"", "2147483648", "\"u8\"")), FAULT_DATA, "size");
    check_meta(META(PLANE("\"\"", "2147483647", "\"u8\"")), FAULT_LIMIT, "--max-pixels");
    check_meta(META(PLANE("\"\"", "3", "\"u9\"")), FAULT_DATA, "type");
    check_meta(META(PLANE("\"\"", "3", "8")), FAULT_DATA, "type");
    check_meta(META(PLANE("\"\"", "2", "\"u8\"")), FAULT_DATA, "3×2×1 u8, meta.json says 2×2×1 u8");
    check_meta(META(PLANE("\"\"", "3", "\"i8\"")), FAULT_DATA, "says 3×2×1 i8");
    check_meta(META(PLANE("\"x\"", "3", "\"u8\"")), FAULT_DATA, "x.npy, which is not there");
    check_meta(META(IMAGE "," IMAGE), FAULT_DATA, "2 planes, 1 are there");
    check_meta(ORIGINS("7"), FAULT_DATA, "origin");
    check_meta(ORIGINS(ORIGIN("1", "1")), FAULT_DATA, "first and count");
    check_meta(ORIGINS(ORIGIN("0", "0")), FAULT_DATA, "first and count");
    check_meta(ORIGINS(ORIGIN("0", "2")), FAULT_DATA, "first and count");
    check_meta(ORIGINS(ORIGIN("-1", "1")), FAULT_DATA, "first and count");
    check_meta(ORIGINS(ORIGIN("0", "1") "," ORIGIN("0", "1")), FAULT_DATA, "overlap");
    check_meta(OUTER(ORIGIN("0", "1")), FAULT_DATA, "depth");
    check_meta(OUTER(OUTER_ORIGIN("2", "0", "1")), FAULT_DATA, "depth");
    check_meta(OUTER(OUTER_ORIGIN("1", "0", "2")), FAULT_DATA, "first and count");
    check_meta(OUTER(OUTER_ORIGIN("1", "0", "1") "," OUTER_ORIGIN("1", "0", "1")), FAULT_DATA,
               "overlap");
    check_meta(OUTER(OUTER_ORIGIN("1", "0", "1") "," OUTER_ORIGIN("3", "0", "1")), FAULT_DATA,
               "depth");
    check_meta(OUTER(OUTER_ORIGIN("1", "0", "1") "," OUTER_ORIGIN("2", "0", "2")), FAULT_DATA,
               "first and count");
}

static void test_twice(void **state)
{
    struct file file = {0}, array = {0};
    (void)state;
    make_npy(&array, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", "abcdef", 6);
    const char *meta = META(IMAGE "," IMAGE);
    const struct zip_part parts[] = {{"image.npy", array.data, array.size},
                                     {"image.npy", array.data, array.size},
                                     {"meta.json", meta, strlen(meta)}};
    make_zip(&file, parts, 2, false, false);
    decode_bad(&file, NULL, FAULT_DATA, "two arrays are called image.npy");
    file_finish(&file);
    make_zip(&file, parts, 3, false, false);
    decode_bad(&file, NULL, FAULT_DATA, "lists image.npy twice");
    file_finish(&file);
    file_finish(&array);
}

/* An archive that is whole, of an array that is not. */
static void check_array(const char *dictionary, size_t bytes, int code, const char *says)
{
    struct file file = {0}, array = {0};
    make_npy(&array, 1, dictionary, "abcdefghijkl", bytes);
    const struct zip_part part = {"a.npy", array.data, array.size};
    make_zip(&file, &part, 1, false, false);
    decode_bad(&file, NULL, code, says);
    file_finish(&file);
    file_finish(&array);
}

#define SHAPE(shape) "{'descr': '|u1', 'fortran_order': False, 'shape': " shape ", }"

static void test_bad_arrays(void **state)
{
    struct file file = {0};
    const struct zip_part text = {"a.npy", "hello, this is no array", 23}, none = {0};
    (void)state;
    check_array(SHAPE("(2, 3)"), 5, FAULT_DATA, "a.npy is shorter than its array");
    check_array(SHAPE("(0, 3)"), 0, FAULT_DATA, "a picture of");
    check_array(SHAPE("(60000, 60000)"), 6, FAULT_LIMIT, "--max-pixels");
    check_array(SHAPE("(1, 1, 5)"), 5, FAULT_FORMAT, "5 channels");
    check_array("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, FAULT_FORMAT,
                "npz, a.npy: unsupported npy: samples of type '<c8'");
    make_zip(&file, &text, 1, false, false);
    decode_bad(&file, NULL, FAULT_DATA, "npz, a.npy: damaged npy");
    file_finish(&file);
    make_zip(&file, &none, 0, false, false);
    decode_bad(&file, NULL, FAULT_DATA, "no array is in it");
    file_finish(&file);
}

static void check_odd(const struct zip_part *parts, size_t count, const char *says)
{
    struct file file = {0};
    struct decoded decoded;
    make_zip(&file, parts, count, false, false);
    decode_odd(&file, 3, 2, 1, SAMPLE_U8, says, &decoded);
    assert_memory_equal(decoded.samples, "abcdef", 6);
    decoded_finish(&decoded);
    file_finish(&file);
}

static void test_odd(void **state)
{
    struct file array = {0}, longer = {0};
    (void)state;
    make_npy(&array, 1, SHAPE("(2, 3)"), "abcdef", 6);
    make_npy(&longer, 1, SHAPE("(2, 3)"), "abcdefgh", 8);
    const struct zip_part parts[] = {{"image.npy", array.data, array.size},
                                     {"read\nme.txt", "hello", 5},
                                     {"meta.json", META(IMAGE), strlen(META(IMAGE))}};
    const struct zip_part one = {"image.npy", longer.data, longer.size};
    check_odd(parts, 2, "read?me.txt is passed over: it is no array");
    check_odd(parts, 3, "meta.json lists 1 planes, 2 are there");
    check_odd(&one, 1, "image.npy goes on behind its array");
    file_finish(&array);
    file_finish(&longer);
}

/* How many members there are is told before memory is taken for them. */
static void test_too_many(void **state)
{
    static struct zip_part parts[5000];
    static char names[5000][12];
    struct file file = {0};
    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(names[i], sizeof names[i], "%u.npy", i);
        parts[i] = (struct zip_part){names[i], "", 0};
    }
    make_zip(&file, parts, 5000, false, false);
    decode_bad(&file, NULL, FAULT_LIMIT, "more than 4097 members");
    file_finish(&file);
    /* A directory of one member whose end of 64 bits tells of 2^40. */
    make_zip(&file, parts, 1, false, false);
    struct file lying = {0};
    file_put(&lying, file.data, file.size - 22);
    uint32_t end = (uint32_t)lying.size;
    file_put_le32(&lying, 0x06064b50);
    file_put_le32(&lying, 44);
    file_put_zeros(&lying, 16);
    file_put_le32(&lying, 0);
    file_put_le32(&lying, 256);
    file_put_le32(&lying, 0);
    file_put_le32(&lying, 256);
    file_put_zeros(&lying, 16);
    file_put_le32(&lying, 0x07064b50);
    file_put_le32(&lying, 0);
    file_put_le32(&lying, end);
    file_put_le32(&lying, 0);
    file_put_le32(&lying, 1);
    file_put(&lying, file.data + file.size - 22, 22);
    decode_bad(&lying, NULL, FAULT_LIMIT, "more than 4097 members");
    file_finish(&lying);
    file_finish(&file);
}

/* A frame of every type, with an origin. */
static struct picture make_frame(void)
{
    struct frame frame = {0};
    struct picture picture;
    struct frame_origin origin = {.stage = "dwt",
                                  .parameters = ":wavelet=cdf97:levels=2:mode=jpeg2000",
                                  .plane = {.name = "dx",
                                            .width = 11,
                                            .height = 13,
                                            .channels = 3,
                                            .type = SAMPLE_U16,
                                            .zero_x = 7,
                                            .zero_y = -7},
                                  .first = 1,
                                  .count = SAMPLE_TYPES - 1};
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        struct plane plane = {.width = 3 + (uint32_t)t,
                              .height = 10 - (uint32_t)t,
                              .channels = 1 + (uint32_t)t % 4,
                              .type = t,
                              .zero_x = -t,
                              .zero_y = 1 << t};
        if (t > 0)
            snprintf(plane.name, sizeof plane.name, "p%d", t);
        if (t == SAMPLE_U16) { /* a tensor */
            plane.channels = 1;
            plane.layers = plane.height;
        }
        assert_true(frame_add_plane(&frame, &plane, 32));
    }
    assert_true(frame_add_origin(&frame, &origin));
    struct frame_origin outer = origin;
    outer.first = 0;
    outer.count = 1;
    assert_true(frame_add_outer(&frame, &outer, 1));
    assert_true(frame_add_outer(&frame, &outer, 2));
    assert_true(picture_create(&picture, &frame));
    frame_finish(&frame);
    for (size_t i = 0; i < picture.frame.n_planes; i++) {
        const struct plane *p = &picture.frame.planes[i];
        for (uint32_t y = 0; y < p->height; y++)
            for (uint32_t x = 0; x < p->width * p->channels; x++)
                sample_store(p->type,
                             (uint8_t *)picture_row(&picture, i, y) + x * sample_size(p->type),
                             noise_sample(x, y, (uint32_t)i) % 120);
    }
    return picture;
}

static void test_round_trip(void **state)
{
    static const char *const formats[] = {"npz", "npz:level=1", "npz:9"};
    struct picture picture = make_frame();
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        struct file file;
        struct decoded decoded;
        encode_picture(formats[f], &picture, &file);
        decode_good(&file, NULL, 3, 10, 1, SAMPLE_U8, &decoded);
        const struct frame *frame = &decoded.picture.frame;
        assert_true(frame_same_shape(frame, &picture.frame));
        for (size_t i = 0; i < frame->n_planes; i++) {
            const struct plane *p = &frame->planes[i];
            assert_int_equal(p->zero_x, picture.frame.planes[i].zero_x);
            assert_int_equal(p->zero_y, picture.frame.planes[i].zero_y);
            for (uint32_t y = 0; y < p->height; y++)
                assert_memory_equal(picture_row(&decoded.picture, i, y),
                                    picture_row(&picture, i, y),
                                    p->width * p->channels * sample_size(p->type));
        }
        assert_int_equal(frame->n_origins, 1);
        const struct frame_origin *a = &frame->origins[0], *b = &picture.frame.origins[0];
        assert_string_equal(a->stage, b->stage);
        assert_string_equal(a->parameters, b->parameters);
        assert_plane(&a->plane, "dx", 11, 13, 3, SAMPLE_U16);
        assert_int_equal(a->plane.zero_x, 7);
        assert_int_equal(a->plane.zero_y, -7);
        assert_int_equal(a->first, 1);
        assert_int_equal(a->count, SAMPLE_TYPES - 1);
        assert_int_equal(frame->n_outer, 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(frame->outer[i].depth, i + 1);
            assert_int_equal(frame->outer[i].count, 1);
            assert_string_equal(frame->outer[i].stage, b->stage);
        }
        decoded_finish(&decoded);
        file_finish(&file);
    }
    picture_destroy(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_savez),      cmocka_unit_test(test_meta),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_bad_meta),
        cmocka_unit_test(test_twice),      cmocka_unit_test(test_bad_arrays),
        cmocka_unit_test(test_odd),        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
