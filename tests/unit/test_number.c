#include "test.h"

#include <string.h>

#include "base/number.h"

static void test_integers(void **state)
{
    int64_t v;
    (void)state;
    assert_true(number_parse_integer("42", 2, &v) && v == 42);
    assert_true(number_parse_integer("-7", 2, &v) && v == -7);
    assert_true(number_parse_integer("42x", 2, &v) && v == 42); /* only the first two bytes */
    assert_false(number_parse_integer("42x", 3, &v));
    assert_false(number_parse_integer("", 0, &v));
    assert_false(number_parse_integer("-", 1, &v));
    assert_false(number_parse_integer("+4", 2, &v));
    assert_false(number_parse_integer("99999999999999999999", 20, &v));
    assert_false(number_parse_integer("0x10", 4, &v));
}

static void test_reals(void **state)
{
    static const char *const bad[] = {"",  "3x", "nan",  "inf", "+1",    "1e+5", "0x1p3", ".",
                                      "-", "e5", "1..2", "--1", "1e400", " 1",   "1 "};
    double v;
    (void)state;
    assert_true(number_parse_real("0.125", 5, &v) && v == 0.125);
    assert_true(number_parse_real("-.5", 3, &v) && v == -0.5);
    assert_true(number_parse_real("5.", 2, &v) && v == 5);
    assert_true(number_parse_real("1e5", 3, &v) && v == 1e5);
    assert_true(number_parse_real("2E-3", 4, &v) && v == 2e-3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number_parse_real(bad[i], strlen(bad[i]), &v))
            fail_msg("'%s' was taken for a number", bad[i]);
}

static void test_format_reads_back(void **state)
{
    static const double values[] = {0, 1, -1, 0.1, 1.0 / 3, 1e20, -1e-20, 100000, 65535, 0.35};
    char text[NUMBER_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double v;
        number_format_real(values[i], text);
        assert_null(strchr(text, '+'));
        assert_true(number_parse_real(text, strlen(text), &v));
        assert_true(v == values[i]);
    }
    assert_string_equal(number_format_real(0.1, text), "0.1");
}

static void test_units(void **state)
{
    uint64_t v;
    char text[NUMBER_TEXT_MAX];
    (void)state;
    assert_true(number_parse_size("64MiB", 5, false, &v) && v == 64u << 20);
    assert_true(number_parse_size("1.5kB", 5, false, &v) && v == 1500);
    assert_false(number_parse_size("64", 2, false, &v));
    assert_true(number_parse_size("64", 2, true, &v) && v == 64);
    assert_false(number_parse_size("64mib", 5, true, &v));
    assert_false(number_parse_size("-1B", 3, true, &v));
    assert_true(number_parse_duration("200ms", 5, false, &v) && v == 200000000);
    assert_true(number_parse_duration("2min", 4, false, &v) && v == 120000000000);
    assert_true(number_parse_pixels("100MP", 5, false, &v) && v == 100000000);
    assert_false(number_parse_pixels("100000GP", 8, false, &v) && v > INT64_MAX);
    assert_string_equal(number_format_size(256u << 20, text), "256MiB");
    assert_string_equal(number_format_size(1000, text), "1kB");
    assert_string_equal(number_format_size(1023, text), "1023B");
    assert_string_equal(number_format_duration(60000000000, text), "1min");
    assert_string_equal(number_format_pixels(100000000, text), "100MP");
    assert_string_equal(number_format_size(0, text), "0B");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_format_reads_back),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
