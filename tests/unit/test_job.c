#include "test.h"

#include <string.h>

#include "relay/job.h"

#define PREFIXES "https://store.example/in/ http://127.0.0.1:8080/a/b https://other.example:8443"

static void test_allowed(void **state)
{
    static const char *const good[] = {
        "https://store.example/in/x.jpg",
        "https://store.example:443/in/x.jpg",
        "HTTPS://STORE.example/in/x.jpg",
        "https://store.example/in/deep/er/x.jpg?signature=abc#part",
        "https://store.example/in/y/../x.jpg",
        "https://store.example/%69n/x.jpg",
        "https://store.example/./in/x%20y.jpg",
        "http://127.0.0.1:8080/a/b",
        "http://127.0.0.1:8080/a/b/c",
        "https://other.example:8443/anything",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct fault fault = FAULT_INIT;
        if (url_check(good[i], PREFIXES, "header", &fault) != 0)
            fail_msg("%s: %s", good[i], fault.text);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *url;
        enum fault_code code;
    } bad[] = {
        {"https://store.example/out/x.jpg", FAULT_PERMISSION},
        {"https://store.example/in", FAULT_PERMISSION},
        {"https://store.example/inside/x.jpg", FAULT_PERMISSION},
        {"http://store.example/in/x.jpg", FAULT_PERMISSION},
        {"https://store.example:444/in/x.jpg", FAULT_PERMISSION},
        {"https://store.example.evil/in/x.jpg", FAULT_PERMISSION},
        {"https://evil/https://store.example/in/x.jpg", FAULT_PERMISSION},
        {"https://store.example/in/../out/x.jpg", FAULT_PERMISSION},
        {"https://store.example/in/%2e%2e/out/x.jpg", FAULT_PERMISSION},
        {"https://store.example/in/..%2fout/x.jpg", FAULT_PERMISSION},
        {"https://store.example/in/y/..%2f..%2f..%2fx.jpg", FAULT_PERMISSION},
        {"http://127.0.0.1:8080/a/bc", FAULT_PERMISSION},
        {"http://127.0.0.1/a/b/c", FAULT_PERMISSION},
        {"http://169.254.169.254/latest/meta-data", FAULT_PERMISSION},
        {"https://store.example@evil/in/x.jpg", FAULT_USAGE},
        {"https://user:secret@store.example/in/x.jpg", FAULT_USAGE},
        {"https://store.example/in/..\\..\\x.jpg", FAULT_USAGE},
        {"https://store.example/in/x%00.jpg", FAULT_USAGE},
        {"https://store.example/in/x y.jpg", FAULT_USAGE},
        {"file:///etc/passwd", FAULT_USAGE},
        {"ftp://store.example/in/x.jpg", FAULT_USAGE},
        {"/in/x.jpg", FAULT_USAGE},
        {"", FAULT_USAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fault fault = FAULT_INIT;
        if (url_check(bad[i].url, PREFIXES, "header", &fault) != (int)bad[i].code)
            fail_msg("%s: %s", bad[i].url, fault_name(fault.code));
        assert_null(strstr(fault.text, "secret"));
    }
    struct fault fault = FAULT_INIT;
    assert_int_equal(url_check("https://store.example/in/x?a=secret", NULL, "header", &fault),
                     FAULT_PERMISSION);
    assert_null(strstr(fault.text, "secret"));
}

static void test_shown(void **state)
{
    static const char *const pairs[][2] = {
        {"https://h/p?q=secret#f", "https://h/p"},
        {"tls://user:secret@hub:4222", "tls://hub:4222"},
        {"nats://secret@hub", "nats://hub"},
        {"https://h/a@b", "https://h/a@b"},
        {"https://u@v@h/", "https://h/"},
        {"https://h?secret", "https://h"},
        {"hub:4222", "hub:4222"},
    };
    char shown[100];
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(hub_show_url(pairs[i][0], shown, sizeof shown), pairs[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
