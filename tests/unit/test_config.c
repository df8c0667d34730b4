#include "test.h"

#include <string.h>

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
           "f.yaml:1:1: the configuration: expected a mapping (key: value), not a sequence");
    REFUSE("<<: {a: b}\n", "'<<'");
    REFUSE("a: &x [*x]\n", "anchors");
    REFUSE("version: !!int 1\n", "tags");
}

static void test_bank_errors(void **state)
{
    (void)state;
    REFUSE("banks: {a: {qmf: []}}\n", "taps: 0 entries; there may be 1 to 128");
    REFUSE("banks: {a: {qmf: [1], sampling: [3, 3]}}\n", "qmf is the whole bank");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_bank),
        cmocka_unit_test(test_errors_tell_their_place),
        cmocka_unit_test(test_bank_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
