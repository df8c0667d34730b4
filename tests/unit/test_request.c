/* What clients of both sockets ask for: messages, queries and bodies. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/serve/request.h"

#define ALL "chain format input file failed state limit after"

static struct request request;
static struct fault fault;

static int query(const char *target, const char *names)
{
    request_finish(&request);
    fault = (struct fault)FAULT_INIT;
    return request_of_query(&request, target, names, &fault);
}

static int message(const char *text)
{
    request_finish(&request);
    fault = (struct fault)FAULT_INIT;
    return request_of_message(&request, text, strlen(text), &fault);
}

static int body(const char *target, const char *text)
{
    assert_int_equal(query(target, "file failed"), 0);
    return request_add_body(&request, text, strlen(text), "file failed", &fault);
}

static int done(void **state)
{
    (void)state;
    request_finish(&request);
    return 0;
}

static void expect_path(const char *target, const char *expected)
{
    char *path = request_path(target);
    if (expected)
        assert_string_equal(path, expected);
    else
        assert_null(path);
    free(path);
}

static void test_paths(void **state)
{
    (void)state;
    expect_path("/v1/process?chain=luminance", "/v1/process");
    expect_path("/%6civez", "/livez");
    expect_path("/a+b#c", "/a+b");
    expect_path("", "");
    expect_path("/%", NULL);
    expect_path("/%0", NULL);
    expect_path("/%00", NULL);
}

static void test_queries(void **state)
{
    (void)state;
    assert_int_equal(query("/p?chain=luminance,sobel&format=jpg:quality=80&input=", ALL), 0);
    assert_string_equal(request.chain, "luminance,sobel");
    assert_string_equal(request.format, "jpg:quality=80");
    assert_null(request.input);
    assert_int_equal(query("/p?chain=a%2cb+c%3D1&&#chain=x", ALL), 0);
    assert_string_equal(request.chain, "a,b c=1");
    assert_string_equal(request.format, "auto");
    assert_int_equal(query("/p?chain&format", ALL), 0);
    assert_string_equal(request.chain, "");
    assert_string_equal(request.format, "auto");
    assert_int_equal(query("/p?file=/%ff&failed=1", ALL), 0); /* names may have any bytes */
    assert_string_equal(request.file, "/\xff");
    assert_true(request.failed);
    assert_int_equal(query("/v1/files?state=failed&limit=7&after=0%3Afailed%3Aa", ALL), 0);
    assert_string_equal(request.after, "0:failed:a");
    assert_int_equal(request.limit, 7);
    assert_int_equal(query("/v1/files?state=&limit=many", ALL), 0); /* it is said with the limits */
    assert_null(request.state);
    assert_int_equal(request.limit, INT64_MAX);
    assert_int_equal(query("/livez", ""), 0);
}

static void test_refused_queries(void **state)
{
    static const char *const bad[] = {
        "/p?chian=x",           "/p?chain=a&chain=b", "/p?chain=%",  "/p?chain=%4",
        "/p?chain=%zz",         "/p?chain=%00",       "/p?%00=1",    "/p?=x",
        "/p?chain=%4&format=1", "/p?format=&format=", "/p?failed=2", "/p?file%20failed=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (query(bad[i], ALL) != FAULT_DATA)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(query("/p?after=x", "state limit"), FAULT_DATA);
    assert_string_equal(fault.text, "unknown parameter 'after'; there are: state limit");
    assert_int_equal(query("/p?after=x", "states limits afters"), FAULT_DATA);
    assert_int_equal(query("/livez?file", ""), FAULT_DATA);
    assert_string_equal(fault.text, "unknown parameter 'file'; there are: none");
}

/* A value that is too large, on both sockets. */
static void test_limits(void **state)
{
    static const struct {
        const char *name;
        size_t most;
        int code;
    } rows[] = {
        {"chain", 50000, FAULT_CHAIN}, {"format", 1000, FAULT_USAGE}, {"input", 1000, FAULT_USAGE}};
    static char text[50100], target[50200], json[50300];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t more = 0; more < 2; more++) {
            memset(text, 'a', rows[i].most + more);
            text[rows[i].most + more] = '\0';
            snprintf(target, sizeof target, "/p?%s=%s", rows[i].name, text);
            snprintf(json, sizeof json, "{\"id\":1,\"%s\":\"%s\"}", rows[i].name, text);
            assert_int_equal(query(target, ALL), more ? rows[i].code : 0);
            assert_int_equal(message(json), more ? FAULT_DATA : 0);
        }
    assert_string_equal(fault.text, "field 'input' has at most 1000 bytes");
}

static void test_messages(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"id\":-1}",
        "{\"id\":1,\"type\":\"what\"}",
        "{\"id\":1,\"chain\":1}",
        "{\"id\":1,\"file\":\"/a\"}",
        "{\"id\":1,\"id type\":1}",
        "{\"id\":1,\"chain\":\"a\",\"chain\":\"b\"}",
        "{\"id\":1,\"type\":\"why\"}",
        "{\"id\":1,\"type\":\"requeue\"}",
        "{\"id\":1,\"type\":\"requeue\",\"file\":\"/a\",\"failed\":true}",
        "{\"id\":1,\"type\":\"requeue\",\"failed\":false}",
        "{\"id\":1,\"type\":\"files\",\"limit\":0}",
        "{\"id\":1,\"type\":\"files\",\"limit\":\"7\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (message(bad[i]) != FAULT_DATA)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(message("{\"id\":7,\"chain\":\"sobel\",\"input\":\"\"}"), 0);
    assert_int_equal(request.kind, REQUEST_JOB);
    assert_int_equal(request.id, 7);
    assert_string_equal(request.chain, "sobel");
    assert_string_equal(request.format, "auto");
    assert_int_equal(message("{\"id\":8,\"type\":\"files\",\"limit\":9}"), 0);
    assert_int_equal(request.kind, REQUEST_FILES);
    assert_int_equal(request.limit, 9);
}

/* The query goes before the body. */
static void test_bodies(void **state)
{
    (void)state;
    assert_int_equal(body("/p", "{\"file\":\"/a\"}"), 0);
    assert_string_equal(request.file, "/a");
    assert_int_equal(body("/p?file=/b", "{\"file\":\"/a\"}"), 0);
    assert_string_equal(request.file, "/b");
    assert_int_equal(body("/p", "{\"failed\":true}"), 0);
    assert_true(request.failed);
    assert_int_equal(body("/p", "{\"failed\":1}"), FAULT_DATA);
    assert_int_equal(body("/p", "{\"id\":1}"), FAULT_DATA);
    assert_int_equal(body("/p", "[]"), FAULT_DATA);
    assert_int_equal(body("/p", "{"), FAULT_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test_teardown(test_queries, done),
        cmocka_unit_test_teardown(test_refused_queries, done),
        cmocka_unit_test_teardown(test_limits, done),
        cmocka_unit_test_teardown(test_messages, done),
        cmocka_unit_test_teardown(test_bodies, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
