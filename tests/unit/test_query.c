#include "test.h"

#include <string.h>

#include "daemon/serve/query.h"

static struct query query;
static struct fault fault;

static int parse(const char *target)
{
    query_finish(&query);
    fault = (struct fault)FAULT_INIT;
    return query_parse(&query, target, &fault);
}

static int done(void **state)
{
    (void)state;
    query_finish(&query);
    return 0;
}

static void test_good(void **state)
{
    (void)state;
    assert_int_equal(parse("/v1/process?chain=luminance,sobel&format=jpg:quality=80&input="), 0);
    assert_string_equal(query.path, "/v1/process");
    assert_string_equal(query.chain, "luminance,sobel");
    assert_string_equal(query.format, "jpg:quality=80");
    assert_string_equal(query.input, "");
    assert_int_equal(parse("/%6civez"), 0);
    assert_string_equal(query.path, "/livez");
    assert_null(query.chain);
    assert_int_equal(parse("/p?chain=a%2cb+c%3D1&&#chain=x"), 0);
    assert_string_equal(query.chain, "a,b c=1");
    assert_int_equal(parse("/p?chain"), 0);
    assert_string_equal(query.chain, "");
    assert_int_equal(parse(""), 0);
    assert_string_equal(query.path, "");
    assert_int_equal(parse("/a+b"), 0);
    assert_string_equal(query.path, "/a+b");
}

static void test_allowed(void **state)
{
    (void)state;
    assert_int_equal(parse("/v1/files?state=failed&limit=7&after=0%3Afailed%3Aa"), 0);
    assert_string_equal(query.after, "0:failed:a");
    assert_int_equal(query_allows(&query, "state limit after file", &fault), 0);
    assert_int_equal(query_allows(&query, "state limit", &fault), FAULT_USAGE);
    assert_non_null(strstr(fault.text, "'after'"));
    fault = (struct fault)FAULT_INIT;
    assert_int_equal(query_allows(&query, "states limits after", &fault), FAULT_USAGE);
    assert_int_equal(parse("/livez?file"), 0);
    assert_int_equal(query_allows(&query, "", &fault), FAULT_USAGE);
    assert_int_equal(parse("/livez"), 0);
    fault = (struct fault)FAULT_INIT;
    assert_int_equal(query_allows(&query, "", &fault), 0);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "/p?chian=x",   "/p?chain=a&chain=b",
        "/p?chain=%",   "/p?chain=%4",
        "/p?chain=%zz", "/p?chain=%00",
        "/p?%00=1",     "/%",
        "/%0",          "/%00",
        "/p?=x",        "/p?chain=%4&format=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i]) != FAULT_USAGE)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(query.path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_good, done),
        cmocka_unit_test_teardown(test_allowed, done),
        cmocka_unit_test_teardown(test_refused, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
