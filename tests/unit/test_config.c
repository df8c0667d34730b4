#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"

static void accept(const char *text, struct config *config)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    if (config_read_text(config, "f.yaml", text, strlen(text), &errors, &fault) != 0)
        fail_msg("%s", text_string(&errors));
    assert_int_equal(errors.length, 0);
    text_finish(&errors);
}

/* All of `says`, which ends with NULL, are among the errors. */
static void refuse(const char *text, const char *const *says)
{
    struct config config;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    assert_int_equal(config_read_text(&config, "f.yaml", text, strlen(text), &errors, &fault),
                     FAULT_CONFIG);
    for (; *says; says++)
        if (!strstr(text_string(&errors), *says))
            fail_msg("'%s' is not among\n%s", *says, text_string(&errors));
    assert_int_equal(strncmp(fault.text, text_string(&errors), strlen(fault.text)), 0);
    assert_int_equal(config.n_chains + config.definitions.n_banks, 0);
    text_finish(&errors);
}
#define REFUSE(text, ...) refuse(text, (const char *const[]){__VA_ARGS__, NULL})

static void test_sections(void **state)
{
    struct config config;
    (void)state;
    accept("version: 1\n"
           "kernels: {soft: 1_2_1, edge: [[1], [0], [-0.5]]}\n"
           "chains:\n  a: luminance,sobel\n  b: 'sobel'\n",
           &config);
    assert_string_equal(config_chain(&config, "a"), "luminance,sobel");
    assert_string_equal(config_chain(&config, "b"), "sobel");
    assert_null(config_chain(&config, "c"));
    assert_int_equal(config.chains[1].place.line, 5);
    assert_int_equal(config.chains[1].place.column, 6);
    const struct param_matrix *k = definitions_kernel(&config.definitions, "edge");
    assert_non_null(k);
    assert_true(k->columns == 1 && k->rows == 3 && k->v[0] == 1 && k->v[2] == -0.5);
    config_finish(&config);
    accept("", &config);
    config_finish(&config);
    accept("# nothing\n", &config);
    config_finish(&config);
}

static void test_cameras(void **state)
{
    static const char opencv[] = "%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\n"
                                 "flags: 0\ncamera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                                 "   data: [ 5.5e+02, 0., 320., 0., 551., 2.4e+02, 0., 0., 1. ]\n"
                                 "distortion_coefficients: !!opencv-matrix\n   rows: 5\n   cols: 1\n   dt: d\n"
                                 "   data: [ -0.25, 0.125, 0., 0.5, 1. ]\n";
    static const char json[] =
        "{\n    \"camera_matrix\": {\"type_id\": \"opencv-matrix\", \"rows\": 3, \"cols\": 3, \"dt\": \"d\",\n"
        "        \"data\": [ 300.0, 0.0, 320.0, 0.0, 300.0, 240.0, 0.0, 0.0, 1.0 ]},\n"
        "    \"distortion_model\": \"equidistant\", \"D\": [0.1, 0.2, 0.3, 0.4]\n}\n";
    static const struct {
        const char *text, *says;
    } wrong[] = {{"", "camera_matrix"},
                 {"a: [", "in line"},
                 {"[1, 2]", "camera_matrix"},
                 {"camera_matrix: [1, 0, 0, 0, 1, 0, 0, 0]\n", "9 numbers"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n", "distortion_coefficients"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [x]\n", "distortion_coefficients"},
                 {"K: [1, 0, 0, 0, -1, 0, 0, 0, 1]\nD: [0]\n", "above 0"},
                 {"K: [1, 0, 0, 0, .nan, 0, 0, 0, 1]\nD: [0]\n", "9 numbers"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [0]\nimage_width: 5\n", "go together"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [0]\nimage_width: -5\n", "number of pixels"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [0]\ndistortion_model: odd\n", "'odd'"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [0,0,0,0,0,0,0,0,0,0,0,0,1,0]\n", "tilted"},
                 {"K: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nD: [0,0,0,0,0]\nfisheye_model: 1\n", "4 numbers"}};
    struct definition_camera camera = {0};
    struct fault fault = FAULT_INIT;
    struct config config, again;
    struct text text = {0};
    (void)state;
    assert_int_equal(config_parse_camera(opencv, strlen(opencv), &camera, &fault), 0);
    assert_true(camera.matrix[0] == 550 && camera.matrix[5] == 240 && camera.n_distortion == 5);
    assert_true(camera.distortion[0] == -0.25 && camera.distortion[4] == 1 && !camera.fisheye);
    assert_true(camera.width == 640 && camera.height == 480);
    camera = (struct definition_camera){0};
    assert_int_equal(config_parse_camera(json, strlen(json), &camera, &fault), 0);
    assert_true(camera.fisheye && camera.n_distortion == 4 && camera.distortion[3] == 0.4);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        camera = (struct definition_camera){0};
        fault_clear(&fault);
        if (config_parse_camera(wrong[i].text, strlen(wrong[i].text), &camera, &fault) == 0 ||
            !strstr(fault.text, wrong[i].says))
            fail_msg("'%s': '%s', not '%s'", wrong[i].text, fault.text, wrong[i].says);
    }
    fault_clear(&fault);
    /* as a worker has it: to the last bit, whatever else the file defines */
    accept("cameras: {front: {K: [100.1, 0, 3, 0, 0.3, 1e-7, 0, 0, 1], D: [-0.1, 0.7], image_width: 7, image_height: 8}}\n"
           "kernels: {soft: 1_2_1}\n",
           &config);
    config_print_worker(&config, &text);
    assert_int_equal(config_read_worker(&again, text.data, text.length, &fault), 0);
    assert_int_equal(again.definitions.n_cameras, 1);
    assert_memory_equal(again.definitions.cameras, config.definitions.cameras, sizeof camera);
    assert_non_null(definitions_kernel(&again.definitions, "soft"));
    text_finish(&text);
    config_finish(&config);
    config_finish(&again);
    REFUSE("cameras: {front: /nowhere/front.yaml}\n", "f.yaml:1:18: camera 'front': /nowhere/front.yaml", "No such file");
    REFUSE("cameras: {front: {K: 1}}\n", "f.yaml:1:18: camera 'front': camera_matrix", "9 numbers");
}

/* Who needs the settings alone may not be allowed to read what definitions name. */
static void test_settings_alone(void **state)
{
    static const char text[] = "pictures: {dark: /missing/dark.png}\n"
                               "cameras: {front: /missing/front.yaml}\n"
                               "relay: {servers: \"nats://hub:4222\"}\n";
    struct config config;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    char path[] = "/tmp/config-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    assert_int_equal(config_read_settings(&config, path, &errors, &fault), 0);
    assert_string_equal(config.settings.relay.servers, "nats://hub:4222");
    config_finish(&config);
    assert_int_equal(config_read(&config, path, &errors, &fault), FAULT_CONFIG);
    assert_non_null(strstr(text_string(&errors), ":1:18: picture 'dark': /missing/dark.png"));
    assert_non_null(strstr(text_string(&errors), ":2:18: camera 'front': /missing/front.yaml"));
    text_finish(&errors);
    unlink(path);
}

static void test_bank(void **state)
{
    struct config config;
    (void)state;
    accept("banks:\n"
           "  lazy:\n"
           "    sampling: [2, 1]\n"
           "    analysis:\n"
           "      horizontal: [{taps: [1]}, {taps: [1], shift: 1}]\n"
           "      vertical: [{taps: [0, 2], zero: 1}]\n"
           "    synthesis:\n"
           "      horizontal: [{taps: [1]}, {taps: [1], shift: 1}]\n"
           "      vertical: [{taps: [0.5]}]\n"
           "  same:\n"
           "    sampling: [1, 1]\n"
           "    analysis: {horizontal: [{taps: [3]}]}\n"
           "    synthesis: {horizontal: [{taps: [1]}]}\n"
           "    lossy: true\n",
           &config);
    const struct bank *lazy = definitions_bank(&config.definitions, "lazy");
    assert_non_null(lazy);
    assert_string_equal(lazy->name, "lazy");
    assert_true(lazy->x.factor == 2 && lazy->x.n_filters == 2 && lazy->y.n_filters == 1);
    assert_true(lazy->x.analysis[1].shift == 1 && lazy->y.analysis[0].zero == 1);
    assert_true(lazy->y.analysis[0].n_taps == 2 && lazy->y.synthesis[0].taps[0] == 0.5);
    const struct bank *same = definitions_bank(&config.definitions, "same");
    assert_true(same->y.n_filters == 1 && same->y.analysis[0].taps[0] == 3);
    config_finish(&config);
}

static void test_errors_tell_their_place(void **state)
{
    (void)state;
    REFUSE("chain: {}\n", "f.yaml:1:1: ", "'chain'; did you mean 'chains'?");
    REFUSE("version: 1\nchains: [a]\n",
           "f.yaml:2:9: chains: expected a mapping (key: value), not a sequence");
    REFUSE("kernels: {k: 1_2/3, l: x}\nversion: 3\n", "f.yaml:1:14: kernel 'k'",
           "f.yaml:1:24: ", "f.yaml:2:10: version: '3'");
    REFUSE("kernels: {k: 1_2}\n", "f.yaml:1:14: kernel 'k' has 2 columns and 1 rows", "odd");
    REFUSE("kernels: {k: [[1, 2, 1], [1, 2, 1]]}\n", "f.yaml:1:14: ", "3 columns and 2 rows");
    REFUSE("chains: {a/b: sobel}\n", "f.yaml:1:10: ", "no name");
    REFUSE("chains: {a: x}\nchains: {b: x}\n", "f.yaml:2:1: ", "there twice");
    REFUSE("chains: {box: sobel, bo: box, boxx: box, 'sobel box': box}\n",
           "f.yaml:1:15: chains: 'box' is the name of a stage", "'sobel box'");
    REFUSE("chains: {a: {b: c}}\n", "f.yaml:1:13: ", "expected a value, not a mapping");
    REFUSE("a: [1\n", "f.yaml:2:");
    REFUSE("version: 1\n---\nversion: 1\n", "second document");
    REFUSE("- 1\n",
           "f.yaml:1:1: the configuration: expected a mapping (version: …, kernels: …, banks: …, …), not a sequence");
    REFUSE("<<: {a: b}\n", "'<<'");
    REFUSE("a: &x [*x]\n", "anchors");
    REFUSE("version: !!int 1\n", "tags");
}

static void test_bank_errors(void **state)
{
    (void)state;
    REFUSE("banks: {a: {qmf: []}}\n", "taps: 0 entries; there may be 1 to 128");
    REFUSE("banks: {a: {qmf: [1], sampling: [3, 3]}}\n", "qmf is the whole bank");
    REFUSE("banks: {a: {lifting: [{predict: [1], update: [1]}]}}\n",
           "f.yaml:1:23: a step has either predict or update");
    REFUSE("banks: {a: {lifting: [{at: 1}]}}\n", "either predict or update");
    REFUSE("banks: {a: {lifting: []}}\n", "lifting: 0 entries; there may be 1 to 16");
    REFUSE("banks: {a: {lifting: [{predict: [1], at: 99}]}}\n", "at");
    REFUSE("banks: {a: {lifting: [{predict: [1]}], qmf: [1]}}\n", "is the whole bank");
    REFUSE("banks: {a: {qmf: [1, 1], gain: [1, 1]}}\n", "gain goes with lifting");
    REFUSE("banks: {a: {lifting: [{predict: [1]}], gain: [0, 1]}}\n", "a gain is from");
    REFUSE("banks: {a: {lifting: [{predict: [1], at: 32}, {update: [1], at: 32}, "
           "{predict: [1], at: 32}]}}\n",
           "beyond a bank's limits: 128 taps");
    REFUSE("banks: {a: {sampling: [2, 2]}}\n", "needs sampling, analysis and synthesis");
    REFUSE("banks: {a: {sampling: [2]}}\n", "sampling: 1 entries");
    REFUSE("banks: {a: {lossy: yes}}\n", "expected true or false");
    REFUSE("banks:\n  a:\n    sampling: [1, 1]\n"
           "    analysis: {horizontal: [{taps: [1]}, {taps: [1]}]}\n"
           "    synthesis: {horizontal: [{taps: [1]}]}\n",
           "f.yaml:3:5: bank 'a': 2 horizontal filters of analysis, 1 of synthesis");
    REFUSE("banks: {a: {qmf: [1, 2]}}\n", "f.yaml:1:12: bank 'a' does not reconstruct", "alias",
           "distortion");
}

static void test_relay(void **state)
{
    struct config config;
    (void)state;
    accept("limits: {jobs: 4}\n"
           "relay:\n"
           "  servers: [tls://hub1:4222, nats://hub2:4222]\n"
           "  credentials: /etc/sluice/nats.creds\n"
           "  tls: {ca: /etc/sluice/ca.pem}\n"
           "  get: [https://store.example/in/, \"http://user@[::1]:8080\"]\n",
           &config);
    struct relay_settings *relay = &config.settings.relay;
    assert_string_equal(relay->servers, "tls://hub1:4222 nats://hub2:4222");
    assert_string_equal(relay->credentials, "/etc/sluice/nats.creds");
    assert_string_equal(relay->ca, "/etc/sluice/ca.pem");
    assert_string_equal(relay->get, "https://store.example/in/ http://user@[::1]:8080");
    assert_null(relay->put);
    assert_string_equal(relay->stream, "JOBS");
    assert_string_equal(relay->consumer, "fleet");
    assert_true(relay->inline_max == 8000000 && relay->deliveries == 5);
    settings_complete(&config.settings);
    assert_int_equal(relay->jobs, 6);
    config_finish(&config);
    REFUSE("relay:\n"
           "  server: [tls://hub1:4222]\n"
           "  servers: [http://user:secret@hub1:4222]\n"
           "  tls: {cert: x}\n"
           "  jobs: many\n"
           "  inline: 80MB\n"
           "  put: [ftp://a/]\n"
           "  stream: a.b\n",
           "f.yaml:2:3: relay has no key 'server'; did you mean 'servers'?",
           "f.yaml:3:12: relay: servers: expected nats://HOST:PORT or tls://HOST:PORT",
           "f.yaml:4:9: tls has no key 'cert'",
           "f.yaml:5:9: jobs: expected an integer from 0 to 100",
           "f.yaml:6:11: relay: inline=80MB: expected a size such as 64MiB from 1KiB to 8MiB",
           "f.yaml:7:8: relay: put: expected prefixes such as https://HOST/PATH/",
           "f.yaml:8:11: relay: stream: expected 1 to 64 of A-Z a-z 0-9 _ -");
    static const char *const bad[] = {
        "nats://",          "nats://:4222",   "nats://hub:",     "nats://hub:0",
        "nats://hub:65536", "nats://hub:abc", "nats://[::1",     "nats://[::1]4222",
        "nats://hub:1:2",   "nats://user@",   "http://hub:4222", "hub:4222"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct relay_settings one = {.servers = bad[i], .stream = "JOBS", .consumer = "fleet"};
        struct fault fault = FAULT_INIT;
        const char *key = "";
        size_t at = 0;
        assert_int_not_equal(relay_settings_check(&one, &at, &key, &fault), 0);
        assert_string_equal(key, "servers");
    }
}

/* Each setting of a worker, as it is in force, and the file where that defines a name. */
static void test_worker(void **state)
{
    static const char *const wrong[] = {"",           "limits.memory=1", "limits.queue=1\0",
                                        "limits=1\0", "limits.memory\0", "limits.memory=x\0"};
    static const size_t lengths[] = {0, 15, 16, 10, 15, 17};
    struct config config, again;
    struct text first = {0}, second = {0};
    struct fault fault = FAULT_INIT;
    (void)state;
    accept("device: {select: gpu, fallback: none, self_check: false, wait: true, sandbox: off}\n"
           "limits: {memory: 536870913B, max_pixels: 12345678P, max_file: 77KiB, jobs: 3,\n"
           "  worker_jobs: 9, worker_time: 61s, worker_growth: 5MiB, queue: 17}\n"
           "log: {level: debug, format: json}\nkernels: {soft: 1_2_1}\n",
           &config);
    config.settings.device = "in force, \"whatever\" the: file\nsays";
    config_print_worker(&config, &first);
    assert_int_equal(config_read_worker(&again, first.data, first.length, &fault), 0);
    const struct settings *a = &config.settings, *b = &again.settings;
    assert_string_equal(a->device, b->device);
    assert_null(b->fallback);
    assert_true(!b->self_check && b->wait && b->sandbox == SANDBOX_OFF);
    assert_true(b->memory == 536870913 && b->max_pixels == 12345678 && b->max_file == 77 << 10);
    assert_true(b->jobs_wanted == 3 && b->worker_jobs == 9 && b->worker_growth == 5 << 20);
    assert_true(b->worker_time == UINT64_C(61000000000));
    assert_true(b->log_level == LOG_LEVEL_DEBUG && b->log_format == LOG_FORMAT_JSON);
    assert_non_null(definitions_kernel(&again.definitions, "soft"));
    config_print_worker(&again, &second);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.data, second.data, first.length);
    text_finish(&first);
    text_finish(&second);
    config_finish(&config);
    config_finish(&again);

    accept("limits: {queue: 9}\n",
           &config); /* no name: the file is left out, queue is none of it */
    config_print_worker(&config, &first);
    config_finish(&config);
    accept("limits: {queue: 8}\nlisten: {http: {unix: /a}}\n", &config);
    config_print_worker(&config, &second);
    config_finish(&config);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.data, second.data, first.length);
    text_finish(&first);
    text_finish(&second);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (config_read_worker(&config, wrong[i], lengths[i], &fault) == 0)
            fail_msg("taken: %s", wrong[i]);
}

/* Folders differ by each setting of the table alone. */
static void test_folders_are_compared_by_the_table(void **state)
{
    struct watch_settings a, b;
    struct fault fault = FAULT_INIT;
    (void)state;
    watch_defaults(&a);
    for (const struct setting *s = settings_watch.table; s->param.name; s++) {
        const char *other = "other.{ext}";
        watch_defaults(&b);
        if (!watch_settings_equal(&a, &b))
            fail_msg("%s: equal ones differ", s->param.name);
        if (s->param.type == PARAM_CHOICE)
            other = s->param.choices[1].name;
        else if (s->param.type == PARAM_FLAG)
            other = "1";
        else if (s->param.type == PARAM_DURATION)
            other = "77ms";
        else if (strncmp(s->param.name, "on_", 3) == 0)
            other = "/a/program";
        else if (s->allowed && strstr(s->allowed, "age="))
            other = "age=7d";
        else if (s->allowed)
            other = "*.x,*.y";
        assert_int_equal(setting_set(s, &b, other, false, "watch", &fault), 0);
        if (watch_settings_equal(&a, &b) || watch_settings_equal(&b, &a))
            fail_msg("%s: others are equal", s->param.name);
        free(b.ignore);
    }
    watch_defaults(&b);
    b.min_free.percent = 7;
    assert_false(watch_settings_equal(&a, &b));
    free(a.ignore);
    free(b.ignore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_cameras),
        cmocka_unit_test(test_settings_alone),
        cmocka_unit_test(test_bank),
        cmocka_unit_test(test_errors_tell_their_place),
        cmocka_unit_test(test_bank_errors),
        cmocka_unit_test(test_relay),
        cmocka_unit_test(test_worker),
        cmocka_unit_test(test_folders_are_compared_by_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
