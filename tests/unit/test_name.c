#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

static void test_results(void **state)
{
    name_buffer name;
    (void)state;
    name_of_result(name, "a.jpg", 0, "", "png");
    assert_string_equal(name, "a.png");
    name_of_result(name, "a.jpg", 2, "dx", "png");
    assert_string_equal(name, "a-2.dx.png");
    name_of_result(name, "a.b.c.jpg", 0, "", "png");
    assert_string_equal(name, "a.b.c.png");
    name_of_result(name, "plain", 1, "", "png");
    assert_string_equal(name, "plain-1.png");
}

static void test_templates(void **state)
{
    struct name_parts parts = {"a.b.jpg", "fir:k=1_2/3", "png", "2026-05-01"};
    name_buffer name;
    (void)state;
    name_expand(name, "{stem}.{ext}", &parts);
    assert_string_equal(name, "a.b.png");
    name_expand(name, "{date}/{name}-{chain}.{ext}", &parts); /* no template may have the slash */
    assert_string_equal(name, "2026-05-01_a.b.jpg-fir:k=1_2_3.png");
    name_expand(name, "{ext}-{stem}{stem}.{ext}", &parts);
    assert_string_equal(name, "png-a.ba.b.png");
    parts.chain = ".hidden";
    name_expand(name, "{chain}.{ext}", &parts);
    assert_string_equal(name, "_hidden.png");
}

static void test_originals(void **state)
{
    name_buffer name;
    (void)state;
    name_of_original(name, "a.jpg", 0);
    assert_string_equal(name, "a.jpg");
    name_of_original(name, "a.jpg", 12);
    assert_string_equal(name, "a-12.jpg");
    name_of_reason(name, "a-12.jpg");
    assert_string_equal(name, "a-12.jpg.error.json");
}

static void test_planes(void **state)
{
    name_buffer name;
    char day[NAME_DAY_MAX];
    (void)state;
    name_of_plane(name, "a.png", 0, "");
    assert_string_equal(name, "a.png");
    name_of_plane(name, "a.b.png", 2, "dx");
    assert_string_equal(name, "a.b-2.dx.png");
    name_of_plane(name, "plain", 1, "dy");
    assert_string_equal(name, "plain-1.dy");
    name_today(day);
    assert_int_equal(strspn(day, "0123456789-"), 10);
    assert_int_equal(strlen(day), 10);
}

static void test_escaped(void **state)
{
    static const char *const rows[][2] = {{"", ""},
                                          {"a b~.jpg", "a b~.jpg"},
                                          {"a%b", "a%25b"},
                                          {"\xff\x80\n", "%FF%80%0A"},
                                          {"\xc3\xa9", "%C3%A9"}};
    char text[100], name[100];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        name_escape(rows[i][0], text, sizeof text);
        assert_string_equal(text, rows[i][1]);
        assert_true(name_unescape(text, name, sizeof name));
        assert_string_equal(name, rows[i][0]);
    }
    assert_false(name_unescape(NULL, name, sizeof name));
    assert_false(name_unescape("a%", name, sizeof name));
    assert_false(name_unescape("a%x0", name, sizeof name));
    assert_false(name_unescape("a%+5", name, sizeof name));
    assert_false(name_unescape("a%00b", name, sizeof name));
    snprintf(name, sizeof name, "%%41%%6a%%c3");
    assert_true(name_unescape(name, name, sizeof name));
    assert_string_equal(name, "Aj\xc3");
    assert_true(name_unescape("abc", name, 4));
    assert_false(name_unescape("abcd", name, 4));
}

static void test_paths(void **state)
{
    char path[PATH_MAX], original[NAME_BYTES + 1];
    name_buffer name;
    (void)state;
    name_number_path(path, "sub/er/a.jpg", 2);
    assert_string_equal(path, "sub/er/a-2.jpg");
    name_number_path(path, "a.jpg", 0);
    assert_string_equal(path, "a.jpg");
    name_reason_path(path, "sub/a.jpg");
    assert_string_equal(path, "sub/a.jpg.error.json");
    assert_int_equal(name_reason_stem(path), strlen("sub/a.jpg"));
    /* A name of 255 bytes loses 11 of them to the tail. */
    memset(original, 'x', NAME_BYTES);
    original[NAME_BYTES] = '\0';
    name_reason_path(path, original);
    assert_int_equal(strlen(path), 255);
    assert_int_equal(strspn(path, "x"), 244);
    name_of_reason(name, original);
    assert_string_equal(path, name);
    assert_true(name_is_reason(path));
    assert_false(name_is_reason(".error.json"));
    assert_false(name_is_reason("a"));
}

/* 254 bytes of two-byte characters: what is cut is cut between them. */
static void test_long_names(void **state)
{
    char original[NAME_BYTES + 1] = "";
    name_buffer name;
    (void)state;
    for (int i = 0; i < 127; i++)
        strcat(original, "\xc3\xa9");
    name_of_result(name, original, 0, "", "png"); /* 251 bytes are left: 125 characters */
    assert_int_equal(strlen(name), 254);
    assert_string_equal(name + 250, ".png");
    name_of_reason(name, original); /* 244 bytes are left */
    assert_int_equal(strlen(name), 255);
    assert_string_equal(name + 244, ".error.json");
}

static void test_temporaries(void **state)
{
    name_buffer name;
    (void)state;
    name_of_temporary(name, "a.png", "0123456789abcdef-00000001-0");
    assert_string_equal(name, ".a.png.0123456789abcdef-00000001-0.tmp");
    assert_true(name_is_temporary_of(name, "0123456789abcdef"));
    assert_false(name_is_temporary_of(name, "0123456789abcde0"));
    assert_false(name_is_temporary_of(name, "0123456789abcde")); /* a part of it */
    assert_false(name_is_temporary_of(name + 1, "0123456789abcdef"));
    assert_false(name_is_temporary_of(".a.png.0123456789abcdef-1", "0123456789abcdef"));
}

struct taken {
    unsigned below, questions;
};

static bool is_below(void *context, unsigned number)
{
    struct taken *taken = context;
    taken->questions++;
    return number < taken->below;
}

static void test_numbers(void **state)
{
    static const unsigned counts[] = {0, 1, 2, 3, 7, 8, 9, 1000, 9999};
    struct taken all = {UINT_MAX, 0};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct taken taken = {counts[i], 0};
        assert_int_equal(name_find_number(is_below, &taken), counts[i]);
        assert_true(taken.questions < 32);
    }
    assert_int_equal(name_find_number(is_below, &all), UINT_MAX);
}

static void test_ignored(void **state)
{
    static const char *const patterns[] = {"*.tmp", "*~", NULL};
    (void)state;
    assert_true(name_is_ignored(".sluice", patterns));
    assert_true(name_is_ignored("a.tmp", patterns));
    assert_true(name_is_ignored("a.jpg~", patterns));
    assert_false(name_is_ignored("a.jpg", patterns));
    assert_false(name_is_ignored("tmp", patterns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),    cmocka_unit_test(test_templates),
        cmocka_unit_test(test_planes),     cmocka_unit_test(test_originals),
        cmocka_unit_test(test_paths),      cmocka_unit_test(test_escaped),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_temporaries),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
