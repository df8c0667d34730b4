/* Counters, and the text that Prometheus reads: written out by hand after its format's description.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "daemon/work/metrics.h"
#include "worker/message.h"

static void test_text(void **state)
{
    struct metrics *m = metrics_create();
    struct text text = {0};
    (void)state;
    metrics_count_job(m, "watch", "luminance,sobel", "done");
    metrics_count_job(m, "watch", "luminance,sobel", "done");
    metrics_count_job(m, "watch", "luminance,sobel", "failed");
    metrics_add(m, METRIC_DEVICE_FALLBACK, "reason=\"error\"", 1);
    metrics_set(m, METRIC_QUEUE_JOBS, NULL, 7);
    metrics_set(m, METRIC_QUEUE_JOBS, NULL, 3);
    metrics_print(m, &text);
    const char *printed = text_string(&text);
    static const char jobs[] =
        "# HELP sluice_jobs_total Jobs that have ended.\n"
        "# TYPE sluice_jobs_total counter\n"
        "sluice_jobs_total{source=\"watch\",chain=\"luminance,sobel\",result=\"done\"} 2\n"
        "sluice_jobs_total{source=\"watch\",chain=\"luminance,sobel\",result=\"failed\"} 1\n"
        "# HELP sluice_results_total Results of jobs that are done; of one picture there may be several.\n"
        "# TYPE sluice_results_total counter\n"
        "sluice_results_total{source=\"watch\",chain=\"luminance,sobel\"} 2\n"
        "# HELP sluice_job_duration_seconds Time of a job in the worker.\n";
    assert_non_null(strstr(printed, jobs));
    assert_non_null(strstr(printed, "# HELP sluice_queue_jobs Jobs that are held now.\n"
                                    "# TYPE sluice_queue_jobs gauge\n"
                                    "sluice_queue_jobs 3\n"));
    assert_non_null(strstr(printed, "\n# TYPE sluice_device_fallback_total counter\n"
                                    "sluice_device_fallback_total{reason=\"error\"} 1\n"));
    /* What was not counted yet is there as zero; what has labels by name alone. */
    assert_non_null(strstr(printed, "\nsluice_kernel_builds_total 0\n"));
    assert_non_null(strstr(printed, "\nsluice_job_duration_seconds_count 0\n"));
    assert_non_null(strstr(printed, "\n# TYPE sluice_worker_ends_total counter\n# HELP "));
    assert_null(strstr(printed, "\nsluice_worker_ends_total"));
    text_finish(&text);
    metrics_destroy(&m);
    assert_null(m);
}

/* Escapes are those of the format: backslash, quote, newline; and no byte that is no UTF-8. */
static void test_labels(void **state)
{
    struct metrics *m = metrics_create();
    struct text labels = {0}, text = {0};
    (void)state;
    metrics_label(&labels, "dir", "a\"b\\c\nd\xff");
    metrics_label(&labels, "state", "done");
    assert_string_equal(text_string(&labels), "dir=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\",state=\"done\"");
    metrics_set(m, METRIC_FILES, text_string(&labels), 4);
    assert_true(metrics_value(m, METRIC_FILES, text_string(&labels)) == 4);
    metrics_clear(m, METRIC_FILES);
    metrics_print(m, &text);
    assert_null(strstr(text_string(&text), "\nsluice_files"));
    text_finish(&labels);
    text_finish(&text);
    metrics_destroy(&m);
}

/* A worker's `done` with this report. */
static void count(struct metrics *m, const char *report)
{
    char json[1000];
    struct message message;
    struct fault fault = FAULT_INIT;
    int length =
        snprintf(json, sizeof json,
                 "{\"type\": \"done\", \"id\": 1, \"result\": \"ok\", \"report\": %s}", report);
    assert_int_equal(message_decode(&message, json, (size_t)length, &fault), 0);
    metrics_count_report(m, &message);
    message_finish(&message);
}

static void test_stages(void **state)
{
    struct metrics *m = metrics_create();
    (void)state;
    count(m, "{\"in\": {\"width\": 4, \"height\": 3}, \"stages\": ["
             "{\"stage\": \"luminance+sobel\", \"run_s\": 0.002}, "
             "{\"stage\": \"sobel\", \"run_s\": 0.005}]}");
    count(m, "{\"in\": null, \"stages\": [{\"stage\": \"sobel\", \"run_s\": 0.001}]}");
    static const char *const wrong[] = {
        "7",
        "[7]",
        "[{\"stage\": \"so\\\"bel\", \"run_s\": 1}]",
        "[{\"stage\": \"\", \"run_s\": 1}]",
        "[{\"stage\": 7, \"run_s\": 1}]",
        "[{\"run_s\": 1}]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char report[100];
        snprintf(report, sizeof report, "{\"stages\": %s}", wrong[i]);
        count(m, report);
    }
    assert_float_equal(metrics_value(m, METRIC_STAGE_DURATION, "stage=\"luminance+sobel\""), 0.002,
                       1e-12);
    assert_float_equal(metrics_value(m, METRIC_STAGE_DURATION, "stage=\"sobel\""), 0.006, 1e-12);
    assert_float_equal(metrics_value(m, METRIC_PIXELS, NULL), 12.0, 1e-12);
    metrics_destroy(&m);
}

static void test_histogram(void **state)
{
    struct metrics *m = metrics_create();
    struct text text = {0};
    (void)state;
    metrics_add(m, METRIC_JOB_DURATION, NULL, 0.004);
    metrics_add(m, METRIC_JOB_DURATION, NULL, 0.005); /* a bound belongs to its bucket */
    metrics_add(m, METRIC_JOB_DURATION, NULL, 0.75);
    metrics_add(m, METRIC_JOB_DURATION, NULL, 100);
    metrics_print(m, &text);
    const char *printed = text_string(&text);
    assert_non_null(strstr(printed, "_seconds_bucket{le=\"0.005\"} 2\n"));
    assert_non_null(strstr(printed, "_seconds_bucket{le=\"0.5\"} 2\n"));
    assert_non_null(strstr(printed, "_seconds_bucket{le=\"1\"} 3\n"));
    assert_non_null(strstr(printed, "_seconds_bucket{le=\"60\"} 3\n"));
    assert_non_null(strstr(printed, "_seconds_bucket{le=\"+Inf\"} 4\n"));
    assert_non_null(strstr(printed, "_seconds_sum 100.759\n"));
    assert_non_null(strstr(printed, "_seconds_count 4\n"));
    text_finish(&text);
    metrics_destroy(&m);
}

static void test_report(void **state)
{
    struct metrics *m = metrics_create();
    (void)state;
    for (int i = 0; i < 2; i++)
        count(m, "{\"bytes_in\": 1000, \"bytes_copied\": 300, \"bytes_out\": 50, "
                 "\"device_s\": 2.0, \"crossings_in\": 1, \"crossings_out\": 2}");
    metrics_count_report(m, NULL);
    assert_float_equal(metrics_value(m, METRIC_BYTES_READ, NULL), 2000, 0);
    assert_float_equal(metrics_value(m, METRIC_BYTES_WRITTEN, NULL), 100, 0);
    assert_float_equal(metrics_value(m, METRIC_BYTES_COPIED, NULL), 600, 0);
    assert_float_equal(metrics_value(m, METRIC_CROSSINGS, "direction=\"in\""), 2, 0);
    assert_float_equal(metrics_value(m, METRIC_CROSSINGS, "direction=\"out\""), 4, 0);
    assert_float_equal(metrics_value(m, METRIC_SPAN_DURATION, "span=\"device\""), 4, 1e-9);
    metrics_destroy(&m);
}

/* Whatever chains requests may name. */
static void test_bounded(void **state)
{
    struct metrics *m = metrics_create();
    char chain[300];
    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(chain, sizeof chain, "box:radius=%d", i);
        metrics_count_job(m, "http", chain, "done");
    }
    memset(chain, 'a', sizeof chain - 1);
    chain[sizeof chain - 1] = '\0';
    metrics_count_job(m, "http", chain, "done");
    metrics_count_job(m, "http", "a\"b", "done");
    for (int i = 0; i < 200; i++) {
        snprintf(chain, sizeof chain, "{\"stages\": [{\"stage\": \"a%d+b\", \"run_s\": 1}]}", i);
        count(m, chain);
    }
    assert_float_equal(metrics_value(m, METRIC_STAGE_DURATION, "stage=\"other\""), 200, 0);
    double others =
        metrics_value(m, METRIC_JOBS, "source=\"http\",chain=\"other\",result=\"done\"");
    assert_true(others > 4000 && others < 5000);
    metrics_add(m, METRIC_WORKER_STARTS, NULL, 1); /* there is room for what matters */
    assert_float_equal(metrics_value(m, METRIC_WORKER_STARTS, NULL), 1, 0);
    metrics_add(NULL, METRIC_WORKER_STARTS, NULL, 1);
    metrics_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_labels),
        cmocka_unit_test(test_stages), cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_report), cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
