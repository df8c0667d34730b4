#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/serve/problem.h"

static void expect(enum fault_code code, const char *subject, const char *step, unsigned status,
                   const char *word)
{
    struct problem problem;
    struct fault fault = FAULT_INIT;
    fault_set_at(&fault, code, 3, 2, "why");
    problem_of_fault(&problem, &fault, subject, step);
    assert_int_equal(problem.status, status);
    assert_string_equal(problem.code, word);
    assert_int_equal(problem.position, subject ? 3 : -1);
}

static void test_table(void **state)
{
    (void)state;
    expect(FAULT_CHAIN, "chain", "plan", 400, "chain");
    expect(FAULT_USAGE, "format", "plan", 400, "usage");
    expect(FAULT_USAGE, "input", "plan", 400, "usage");
    expect(FAULT_FORMAT, NULL, "decode", 415, "format");
    expect(FAULT_FORMAT, NULL, "plan", 422, "format");
    expect(FAULT_DATA, NULL, "decode", 422, "data");
    expect(FAULT_TRUNCATED, NULL, "decode", 422, "truncated");
    expect(FAULT_EMPTY, NULL, "decode", 422, "empty");
    expect(FAULT_LIMIT, NULL, "decode", 422, "limit");
    expect(FAULT_SHAPE, NULL, "plan", 422, "shape");
    expect(FAULT_BUSY, NULL, NULL, 429, "busy");
    expect(FAULT_KERNELS, NULL, "plan", 429, "too-many-kernels");
    expect(FAULT_DEVICE, NULL, "device", 503, "device");
    expect(FAULT_MEMORY, NULL, "device", 503, "memory");
    expect(FAULT_TIME, NULL, NULL, 504, "job-time");
    expect(FAULT_CRASHED, NULL, NULL, 500, "crashed-worker");
    expect(FAULT_INTERNAL, NULL, NULL, 500, "internal");
    expect(FAULT_IO, NULL, NULL, 500, "io");
    expect(FAULT_NO_SPACE, NULL, "encode", 503, "no-space");
}

static void test_limits(void **state)
{
    struct problem problem;
    struct fault fault = FAULT_INIT;
    (void)state;
    fault_set(&fault, FAULT_LIMIT, "200 pixels; the limit is 100P (--max-pixels)");
    problem_of_fault(&problem, &fault, NULL, "decode");
    assert_string_equal(problem.limit, "max_pixels");
    assert_string_equal(problem.stage, "decode");
}

static void test_document(void **state)
{
    struct problem problem;
    (void)state;
    problem_set(&problem, 400, "chain", "a \"word\" and \xff");
    problem.position = 4;
    problem.length = 2;
    struct faults faults = {0};
    fault_set_at(faults_next(&faults), FAULT_CHAIN, 10, 6, "unknown stage");
    fault_set(faults_next(&faults), FAULT_CHAIN, "too \xff long");
    char *list = problem_print(&problem, &faults);
    assert_non_null(strstr(list, "\"errors\":[{\"detail\":\"unknown stage\",\"position\":10,"
                                 "\"length\":6},{\"detail\":\"too \xEF\xBF\xBD long\"}]"));
    free(list);
    char *text = problem_print(&problem, NULL);
    assert_string_equal(text, "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                              "\"code\":\"chain\",\"detail\":\"a \\\"word\\\" and \xef\xbf\xbd\","
                              "\"position\":4,\"length\":2}");
    free(text);
    problem_set(&problem, 429, "busy", "later");
    problem.retry_after = 7;
    problem.subject = "chain";
    problem.request_id = "a-1";
    text = problem_print(&problem, NULL);
    assert_non_null(
        strstr(text, "\"subject\":\"chain\",\"retry_after\":7,\"request_id\":\"a-1\"}"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
