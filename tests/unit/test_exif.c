#include "test.h"

#include <string.h>

#include "../codec/files.h"
#include "codec/metadata.h"

static void test_every_orientation(void **state)
{
    (void)state;
    for (unsigned o = 0; o <= 10; o++) {
        for (int form = 0; form < 4; form++) {
            struct file exif = {0};
            make_exif(&exif, o, form & 1, form & 2);
            assert_int_equal(exif_orientation(exif.data, exif.size), o >= 1 && o <= 8 ? o : 1);
            file_finish(&exif);
        }
    }
}

/* By hand: "II", 42, IFD0 at 8, one entry. */
static void test_bytes(void **state)
{
    static const uint8_t little[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12,
                                     0x01, 3,   0,  1, 0, 0, 0, 6, 0, 0, 0};
    static const uint8_t big[] = {'M',  'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01,
                                  0x12, 0,   3, 0,  0, 0, 1, 0, 8, 0, 0};
    static const uint8_t as_long[] = {'M',  'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01,
                                      0x12, 0,   4, 0,  0, 0, 1, 0, 0, 0, 5};
    (void)state;
    assert_int_equal(exif_orientation(little, sizeof little), 6);
    assert_int_equal(exif_orientation(big, sizeof big), 8);
    assert_int_equal(exif_orientation(as_long, sizeof as_long), 5);
}

static void test_nonsense(void **state)
{
    static const uint8_t of_type_ascii[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12,
                                            0x01, 2,   0,  1, 0, 0, 0, 6, 0, 0, 0};
    static const uint8_t two_values[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12,
                                         0x01, 3,   0,  2, 0, 0, 0, 6, 0, 0, 0};
    static const uint8_t far_away[] = {'I', 'I', 42, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0};
    static const uint8_t at_the_end[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 0xFF, 0xFF};
    (void)state;
    assert_int_equal(exif_orientation(NULL, 0), 1);
    assert_int_equal(exif_orientation((const uint8_t *)"Exif\0\0II*\0", 10), 1);
    assert_int_equal(exif_orientation((const uint8_t *)"XX*\0\10\0\0\0\0\0", 10), 1);
    assert_int_equal(exif_orientation(of_type_ascii, sizeof of_type_ascii), 1);
    assert_int_equal(exif_orientation(two_values, sizeof two_values), 1);
    assert_int_equal(exif_orientation(far_away, sizeof far_away), 1);
    assert_int_equal(exif_orientation(at_the_end, sizeof at_the_end), 1);
}

/* Orientation 1, no second directory, and what it told of is gone: cut off at the end, zeros
 * elsewhere. */
static void test_cleaned(void **state)
{
    static const uint8_t block[] = {'I', 'I', 42, 0, 8, 0, 0,  0, 1, 0, 0x12, 1,   3,   0,  1, 0,
                                    0,   0,   6,  0, 0, 0, 28, 0, 0, 0, 'a',  'b', 2,   0,  1, 2,
                                    4,   0,   1,  0, 0, 0, 58, 0, 0, 0, 2,    2,   4,   0,  1, 0,
                                    0,   0,   4,  0, 0, 0, 0,  0, 0, 0, 't',  'h', 'u', 'm'};
    uint8_t data[sizeof block + 2];
    (void)state;
    for (int more = 0; more < 2; more++) {
        size_t size = sizeof block + (more ? 2 : 0);
        memset(data, 'x', sizeof data);
        memcpy(data, block, sizeof block);
        assert_true(exif_clean(data, &size, true));
        assert_int_equal(size, more ? sizeof block + 2 : 28);
        assert_int_equal(exif_orientation(data, size), 1);
        assert_memory_equal(data + 22, "\0\0\0\0ab", 6);
        for (size_t i = 28; i < size; i++)
            assert_int_equal(data[i], i < sizeof block ? 0 : 'x');
    }
    size_t size = sizeof block;
    memcpy(data, block, sizeof block);
    assert_true(exif_clean(data, &size, false));
    assert_int_equal(exif_orientation(data, size), 6);
}

/* Whatever the second directory says, what stands in front of it stays, and any bytes are safe. */
static void test_cleaned_nonsense(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 64; second++) {
        for (unsigned form = 0; form < 2; form++) {
            struct file exif = {0};
            make_exif(&exif, 5, form, false);
            size_t link = 8 + 2 + 24, size;
            for (size_t i = 0; i < 4; i++)
                exif.data[link + (form ? 3 - i : i)] = (uint8_t)(i == 0 ? second : 0);
            for (uint32_t seed = 0; seed < 40; seed++)
                file_put_u8(&exif, (seed * 2654435761u + second * 40503u) >> 13 & 255);
            size = exif.size;
            if (exif_clean(exif.data, &size, true)) {
                assert_true(size >= link + 4 && size <= exif.size);
                assert_int_equal(exif_orientation(exif.data, size), 1);
            }
            file_finish(&exif);
        }
    }
    for (size_t cut = 0; cut < 34; cut++) {
        struct file exif = {0};
        make_exif(&exif, 5, cut & 1, false);
        size_t size = cut;
        assert_false(exif_clean(exif.data, &size, true));
        file_finish(&exif);
    }
}

/* The directory may lie anywhere in the block; what is cut off is not read. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct file exif = {0};
        make_exif(&exif, 7, form & 1, form & 2);
        size_t whole = exif.size - 4; /* the next directory's offset does not matter */
        for (size_t size = 0; size <= exif.size; size++) {
            struct file exact = {0};
            file_put(&exact, exif.data, size);
            assert_int_equal(exif_orientation(exact.data, size), size < whole ? 1 : 7);
            file_finish(&exact);
        }
        file_finish(&exif);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_orientation), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_nonsense),          cmocka_unit_test(test_cleaned),
        cmocka_unit_test(test_cleaned_nonsense),  cmocka_unit_test(test_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
