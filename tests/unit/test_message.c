#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/json_text.h"
#include "worker/message.h"

static int decode(const char *json)
{
    struct message message;
    struct fault fault = FAULT_INIT;
    int result = message_decode(&message, json, strlen(json), &fault);
    message_finish(&message);
    return result;
}

static void test_job(void **state)
{
    static const char json[] =
        "{\"id\": 7, \"chain\": \"sobel\", \"format\": \"png\", \"input\": \"partial=1\"}";
    struct message message;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(message_decode(&message, json, strlen(json), &fault), 0);
    assert_int_equal(message.kind, MESSAGE_JOB);
    assert_int_equal(message.id, 7);
    assert_string_equal(message.chain, "sobel");
    assert_string_equal(message.format, "png");
    assert_string_equal(message.input, "partial=1");
    message_finish(&message);
}

static void test_setup(void **state)
{
    static const char json[] =
        "{\"type\": \"setup\", \"device\": \"auto\", \"wipe\": 1, \"threads\": 6}";
    struct message message;
    struct fault fault = FAULT_INIT;
    struct text again = {0};
    (void)state;
    assert_int_equal(message_decode(&message, json, strlen(json), &fault), 0);
    assert_string_equal(message.device, "auto");
    assert_int_equal(message.threads, 6);
    assert_int_equal(message.wipe, 1);
    assert_int_equal(message_encode(&message, &again, &fault), 0);
    assert_non_null(strstr(text_string(&again), "\"wipe\":1"));
    text_finish(&again);
    message_finish(&message);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "7",
        "{",
        "{\"id\": 7}",
        "{\"id\": 7, \"chain\": \"\"}",
        "{\"id\": -1, \"chain\": \"\", \"format\": \"png\"}",
        "{\"id\": \"7\", \"chain\": \"\", \"format\": \"png\"}",
        "{\"id\": 7.5, \"chain\": \"\", \"format\": \"png\"}",
        "{\"id\": 7, \"id\": 8, \"chain\": \"\", \"format\": \"png\"}",
        "{\"id\": 7, \"chain\": \"\", \"format\": \"png\", \"more\": 1}",
        "{\"id\": 7, \"chain\": \"\", \"format\": \"png\", \"device\": \"cpu\"}",
        "{\"id\": 7, \"chain\": \"a\\u0000b\", \"format\": \"png\"}",
        "{\"id\": 7, \"chain\": \"\", \"format\": \"png\"} x",
        "{\"type\": \"nonsense\", \"id\": 7}",
        "{\"type\": \"setup\", \"device\": \"auto\", \"wipe\": 2, \"threads\": 6}",
        "{\"type\": \"setup\", \"device\": \"auto\"}",
        "{\"type\": \"setup\", \"device\": \"auto\", \"threads\": 6, \"memory\": 7}",
        "{\"type\": \"need-output\", \"id\": 7, \"plane\": \"../up\"}",
        "{\"type\": \"need-output\", \"id\": 7, \"plane\": \"\", \"result_of\": 16}",
        "{\"type\": \"need-output\", \"id\": 7, \"plane\": \"\", \"result_of\": -1}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"extension\": \"/x\"}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"extension\": \"..\"}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", "
        "\"extension\": \"aaaaaaaaaaaaaaaaaaaaa\"}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", "
        "\"planes\": [\"a\", \"b\", \"a\"]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\", \"a\"]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\", \"\"]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\"], \"results_of\": "
        "[1]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\", \"\"], "
        "\"results_of\": [0, 2]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\", \"\", \"\"], "
        "\"results_of\": [0, 1, 0]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"planes\": [\"\", \"\"], "
        "\"results_of\": [0, \"1\"]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"extension\": \"png;../x\"}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"report\": 7}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"report\": {\"read_s\": -1}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", "
        "\"report\": {\"stages\": [{\"run_s\": -0.1}]}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"report\": {\"warnings\": \"a\"}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"report\": {\"warnings\": [7]}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", \"report\": {\"warnings\": [\"\"]}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", "
        "\"report\": {\"warnings\": [\"a\\r\\nb\"]}}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"chain\", \"faults\": 1}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"chain\", \"faults\": [{}]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"chain\", \"faults\": [{\"result\": "
        "\"ok\", \"text\": \"\", \"position\": 0, \"length\": 1}]}",
        "{\"type\": \"done\", \"id\": 7, \"result\": \"chain\", \"faults\": [{\"result\": "
        "\"chain\", \"text\": \"\", \"position\": -2, \"length\": 1}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (decode(bad[i]) != FAULT_DATA)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(decode("{\"type\": \"done\", \"id\": 7, \"result\": \"ok\", "
                            "\"extension\": \"png\", \"planes\": [\"a\", \"b\"], "
                            "\"report\": {\"total_s\": 1, \"warnings\": [\"one\", \"two\"]}}"),
                     0);
}

/* The files of several results: each is one file, or has planes of names of its own. */
static void test_results(void **state)
{
    struct message sent, got;
    struct text json = {0};
    struct fault fault = FAULT_INIT;
    static const char *const planes[] = {"", "dx", "dy", "dx", ""};
    static const unsigned char of[] = {0, 1, 1, 2, 3};
    (void)state;
    message_init(&sent, MESSAGE_DONE);
    sent.id = 7;
    sent.result = "ok";
    sent.extension = "png;npy;npy;jpg";
    for (size_t i = 0; i < 5; i++) {
        sent.planes[i] = planes[i];
        sent.of[i] = of[i];
    }
    sent.n_planes = 5;
    assert_int_equal(message_encode(&sent, &json, &fault), 0);
    assert_int_equal(message_decode(&got, json.data, json.length, &fault), 0);
    assert_int_equal(got.n_planes, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(got.planes[i], planes[i]);
        assert_int_equal(got.of[i], of[i]);
    }
    assert_string_equal(got.extension, sent.extension);
    message_finish(&got);
    text_finish(&json);
}

/* Several faults travel; one that is told alone is the list's only one. */
static void test_faults(void **state)
{
    struct message sent, got;
    struct faults faults;
    struct text json = {0};
    struct fault fault = FAULT_INIT;
    (void)state;
    message_init(&sent, MESSAGE_DONE);
    sent.id = 7;
    fault_set_at(faults_next(&sent.faults), FAULT_CHAIN, 3, 4, "first");
    fault_set(faults_next(&sent.faults), FAULT_CHAIN, "second");
    message_set_fault(&sent, &sent.faults.list[0]);
    assert_int_equal(message_encode(&sent, &json, &fault), 0);
    assert_int_equal(message_decode(&got, json.data, json.length, &fault), 0);
    message_get_faults(&got, &faults);
    assert_int_equal(faults_count(&faults), 2);
    assert_true(faults.list[0].position == 3 && faults.list[0].length == 4);
    assert_string_equal(faults.list[1].text, "second");
    assert_int_equal(faults.list[1].position, -1);
    got.faults = (struct faults){0};
    message_get_faults(&got, &faults);
    assert_int_equal(faults_count(&faults), 1);
    assert_string_equal(faults.list[0].text, "first");
    message_finish(&got);
    text_finish(&json);
}

static void test_plane_names(void **state)
{
    (void)state;
    assert_true(message_is_plane_name("dx"));
    assert_true(message_is_plane_name("level-1_HL"));
    assert_true(message_is_plane_name("0123456789012345678901234567890"));
    assert_false(message_is_plane_name("01234567890123456789012345678901"));
    assert_false(message_is_plane_name(""));
    assert_false(message_is_plane_name("a/b"));
    assert_false(message_is_plane_name("a.b"));
}

/* Descriptors arrive as copies; those that nobody takes are closed. */
static void test_over_a_socket(void **state)
{
    int ends[2], pipes[2];
    struct message sent, got;
    struct fault fault = FAULT_INIT;
    char byte;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    message_init(&sent, MESSAGE_JOB);
    sent.id = 1;
    sent.chain = "sobel";
    sent.format = "png";
    sent.fds[0] = sent.fds[1] = pipes[1];
    sent.n_fds = 2;
    assert_int_equal(message_send(ends[0], &sent, &fault), 0);
    close(pipes[1]);
    assert_int_equal(message_receive(ends[1], &got, &fault), 0);
    int taken = message_take_fd(&got, 0);
    assert_true(taken >= 0);
    assert_int_equal(message_take_fd(&got, 0), -1);
    message_finish(&got);
    assert_int_equal(write(taken, "x", 1), 1);
    close(taken);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(read(pipes[0], &byte, 1), 0); /* the end: no copy is open any more */
    close(ends[0]);
    assert_int_equal(message_receive(ends[1], &got, &fault), FAULT_NO_INPUT);
    message_finish(&got);
    close(ends[1]);
    close(pipes[0]);
}

/* No bytes, which a socket of packets cannot tell from its end, but for what came beside them. */
static void test_empty_with_a_descriptor(void **state)
{
    int ends[2], pipes[2];
    char byte;
    struct message got;
    struct text empty = {0};
    struct fault fault = FAULT_INIT, end = FAULT_INIT;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(message_send_encoded(ends[0], &empty, &pipes[1], 1, &fault), 0);
    close(pipes[1]);
    close(ends[0]);
    assert_int_equal(message_receive(ends[1], &got, &fault), FAULT_DATA);
    assert_int_equal(read(pipes[0], &byte, 1), 0); /* it was closed */
    assert_int_equal(message_receive(ends[1], &got, &end), FAULT_NO_INPUT);
    close(ends[1]);
    close(pipes[0]);
}

/* Whatever is written is read again as it was; numbers are those that jansson writes. */
static void test_written(void **state)
{
    const char odd[] = "a\"b\\c\n\x01\x1f\x7f/\xc3\xa9";
    json_t *list = json_array();
    json_t *numbered = json_loads("[0.0, 1.0, 255.0, 1e-9, 1.5e-9, 2.5e-7, 0.1, 0.333333333333333,"
                                  "0.001234567, 3600.0, 999999.999999999, 1e6, 1e17, 1e300, 5e-324,"
                                  "-1.0, -0.25]",
                                  0, NULL);
    uint64_t random = 1;
    (void)state;
    for (size_t i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        json_array_append_new(numbered, json_real((double)(random >> (20 + i % 40)) * 1e-9));
    }
    json_array_append_new(list, json_pack("{s:[], s:{}, s:n, s:b, s:b}", "list", "object", "null",
                                          "yes", 1, "no", 0));
    json_array_append_new(list, json_stringn(odd, sizeof odd)); /* with its NUL */
    json_array_append_new(list, json_pack("{s:i}", odd, -7));
    json_array_append_new(list, json_integer(INT64_MIN));
    json_array_append_new(list, json_integer(INT64_MAX));
    json_array_append_new(list, json_integer(0));
    json_array_append(list, numbered);

    struct text text = {0};
    char *expected = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_t *other = json_loads(expected, JSON_ALLOW_NUL, NULL);
    json_append(&text, list);
    json_t *read = json_loadb(text_string(&text), text.length, JSON_ALLOW_NUL, NULL);
    assert_false(text.failed);
    assert_non_null(read);
    assert_true(json_equal(read, other));
    text_finish(&text);
    json_append(&text, NULL);
    assert_true(text.failed);
    text_finish(&text);
    free(expected);
    json_decref(read);
    json_decref(other);
    json_decref(numbered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job),           cmocka_unit_test(test_setup),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_results),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_plane_names),
        cmocka_unit_test(test_over_a_socket), cmocka_unit_test(test_empty_with_a_descriptor),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
