/* The small pieces of base/: faults, text, nearest words, ratios, hash. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/ratio.h"
#include "base/text.h"

static void test_first_fault_wins(void **state)
{
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(fault_set(&fault, FAULT_DATA, "first %d", 1), FAULT_DATA);
    assert_int_equal(fault_set(&fault, FAULT_IO, "second"), FAULT_DATA);
    assert_string_equal(fault.text, "first 1");
    assert_int_equal(fault.position, -1);
    assert_int_equal(fault_set(NULL, FAULT_IO, "nobody listens"), FAULT_IO);
    fault_clear(&fault);
    assert_int_equal(fault_set_at(&fault, FAULT_CHAIN, 7, 3, "here"), FAULT_CHAIN);
    assert_int_equal(fault.position, 7);
}

static void test_fault_codes(void **state)
{
    (void)state;
    for (int code = 0; code < FAULT_CODES; code++) {
        assert_non_null(fault_name(code));
        assert_int_equal(fault_by_name(fault_name(code)), code);
    }
    assert_int_equal(fault_exit_status(FAULT_NONE), 0);
    assert_int_equal(fault_exit_status(FAULT_CHAIN), 64);
    assert_int_equal(fault_exit_status(FAULT_TRUNCATED), 65);
    assert_int_equal(fault_exit_status(FAULT_NO_INPUT), 66);
    assert_int_equal(fault_exit_status(FAULT_NO_DEVICE), 69);
    assert_int_equal(fault_exit_status(FAULT_VERIFY), 70);
    assert_int_equal(fault_exit_status(FAULT_CREATE), 73);
    assert_int_equal(fault_exit_status(FAULT_IO), 74);
    assert_int_equal(fault_exit_status(FAULT_BUSY), 75);
    assert_int_equal(fault_exit_status(FAULT_PERMISSION), 77);
    assert_int_equal(fault_exit_status(FAULT_CONFIG), 78);
    assert_true(fault_is_temporary(FAULT_NO_SPACE));
    assert_false(fault_is_temporary(FAULT_DATA));
}

static void test_fault_errno(void **state)
{
    struct fault fault = FAULT_INIT;
    (void)state;
    errno = ENOSPC;
    assert_int_equal(fault_set_errno(&fault, FAULT_IO, "write"), FAULT_NO_SPACE);
    assert_non_null(strstr(fault.text, "write: No space"));
}

static void test_texts_equal(void **state)
{
    char a[] = "a", again[] = "a";
    (void)state;
    assert_true(texts_equal(NULL, NULL));
    assert_true(texts_equal(a, a));
    assert_true(texts_equal(a, again));
    assert_false(texts_equal(a, NULL));
    assert_false(texts_equal(NULL, ""));
    assert_false(texts_equal(a, "ab"));
}

static void test_text_grows(void **state)
{
    struct text text = {0};
    (void)state;
    assert_string_equal(text_string(&text), "");
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%d,", i);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_false(text.failed);
    assert_int_equal(strlen(text_string(&text)), text.length);
    text_finish(&text);
}

static const char *nearest_of(const char *word)
{
    static const char *const words[] = {"luminance", "sobel", "box", "threshold", "fir"};
    struct nearest nearest = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nearest_offer(&nearest, word, strlen(word), words[i]);
    return nearest.best;
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("sobell"), "sobel");
    assert_string_equal(nearest_of("sboel"), "sobel");
    assert_string_equal(nearest_of("luminnce"), "luminance");
    assert_string_equal(nearest_of("treshold"), "threshold");
    struct nearest nearest = {0};
    assert_string_equal(nearest_ask(&nearest, ""), "");
    nearest_offer(&nearest, "dvice", 5, "device");
    assert_string_equal(nearest_ask(&nearest, "--"), "; did you mean '--device'?");
    assert_null(nearest_of("gaussian"));
    assert_null(nearest_of(""));
}

static void check_ratio(double value, int64_t p, int64_t q)
{
    struct ratio r = ratio_from_real(value);
    if (r.p != p || r.q != q)
        fail_msg("%.17g is %lld/%lld, expected %lld/%lld", value, (long long)r.p, (long long)r.q,
                 (long long)p, (long long)q);
}

static void test_ratios(void **state)
{
    (void)state;
    check_ratio(0, 0, 1);
    check_ratio(0.125, 1, 8);
    check_ratio(0.1, 1, 10);
    check_ratio(-1.5, -3, 2);
    check_ratio(1000, 1000, 1);
    check_ratio(999.99, 99999, 100);
    check_ratio(0.35, 7, 20);
    check_ratio(0.001, 1, 1000);
    check_ratio(9.99999999, 999999999, 100000000);
    check_ratio(10, 10, 1);
    check_ratio(1.000000001, 1000000001, 1000000000);
    check_ratio(-12345.678901234, -12345678901234 / 2, 500000000);
    check_ratio(123456789.1, 1234567891, 10);
    check_ratio(999999999, 999999999, 1);
    check_ratio(0.1 + 0.2, 3, 10);
    check_ratio(1e-9, 1, 1000000000);
}

static void test_hash(void **state)
{
    (void)state; /* published values of FNV-1a, 64 bit */
    assert_true(hash_bytes(HASH_INIT, "", 0) == 0xcbf29ce484222325u);
    assert_true(hash_bytes(HASH_INIT, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(hash_bytes(HASH_INIT, "foobar", 6) == 0x85944171f73967e8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_fault_wins), cmocka_unit_test(test_fault_codes),
        cmocka_unit_test(test_fault_errno),      cmocka_unit_test(test_texts_equal),
        cmocka_unit_test(test_text_grows),       cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_ratios),           cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
