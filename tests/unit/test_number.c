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
    (void)state;
    assert_true(number_parse_unit(NUMBER_SIZE, "64MiB", 5, false, &v) && v == 64u << 20);
    assert_true(number_parse_unit(NUMBER_SIZE, "1.5kB", 5, false, &v) && v == 1500);
    assert_false(number_parse_unit(NUMBER_SIZE, "64", 2, false, &v));
    assert_true(number_parse_unit(NUMBER_SIZE, "64", 2, true, &v) && v == 64);
    assert_false(number_parse_unit(NUMBER_SIZE, "64mib", 5, true, &v));
    assert_false(number_parse_unit(NUMBER_SIZE, "-1B", 3, true, &v));
    assert_true(number_parse_unit(NUMBER_DURATION, "200ms", 5, false, &v) && v == 200000000);
    assert_true(number_parse_unit(NUMBER_DURATION, "2min", 4, false, &v) && v == 120000000000);
    assert_true(number_parse_unit(NUMBER_PIXELS, "100MP", 5, false, &v) && v == 100000000);
    assert_false(number_parse_unit(NUMBER_PIXELS, "100000GP", 8, false, &v) && v > INT64_MAX);
    assert_true(number_parse_unit(NUMBER_SIZE, "1.5GiB", 6, false, &v) && v == 3u << 29);
}

/* Exact in at most four digits where there is such a unit, in the one with the shortest text. */
static void test_printed(void **state)
{
    static const struct {
        uint64_t value;
        const char *size, *duration, *pixels;
    } rows[] = {
        {0, "0B", "0s", "0P"},
        {1000, "1kB", "1us", "1kP"},
        {1023, "1023B", "1023ns", "1023P"},
        {1536, "1.5KiB", "1536ns", "1536P"},
        {12345, "12.06KiB", "12.35us", "12.35kP"},
        {1 << 20, "1MiB", "1.049ms", "1.049MP"},
        {100000000, "100MB", "100ms", "100MP"},
        {223739496, "213.4MiB", "223.7ms", "223.7MP"},
        {3360000000, "3.36GB", "3.36s", "3.36GP"},
        {UINT64_C(60) * 1000000000, "60GB", "1min", "60GP"},
        {UINT64_C(90) * 1000000000, "90GB", "90s", "90GP"},
        {UINT64_C(7200) * 1000000000, "7.2TB", "2h", "7200GP"},
        {UINT64_C(86400) * 1000000000, "86.4TB", "1d", "86400GP"},
        {UINT64_C(83456789012), "77.73GiB", "83.46s", "83.46GP"},
        {UINT64_C(1000000000000000), "1000TB", "11.57d", "1000000GP"},
        {UINT64_C(1) << 50, "1024TiB", "13.03d", "1125900GP"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(number_size(rows[i].value), rows[i].size);
        assert_string_equal(number_duration(rows[i].value), rows[i].duration);
        assert_string_equal(number_pixels(rows[i].value), rows[i].pixels);
    }
}

/* What no text of ours may hold again: seven digits in a row. */
static void test_printed_is_short(void **state)
{
    (void)state;
    for (uint64_t v = 1; v < UINT64_C(1) << 53; v += v / 7 + 1) {
        assert_true(strspn(number_size(v), "0123456789") <= 4);
        assert_true(strspn(number_duration(v), "0123456789") <= 4);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    assert_string_equal(number_range(NUMBER_SIZE, 1 << 20, 1e12), "from 1MiB to 1TB");
    assert_string_equal(number_range(NUMBER_DURATION, 0, 60e9), "from 0s to 1min");
    assert_string_equal(number_range(NUMBER_PIXELS, 1, 500e6), "from 1P to 500MP");
    assert_string_equal(number_range(NUMBER_PLAIN, -999999999, 0.5), "from -999999999 to 0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_format_reads_back),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_printed_is_short),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
