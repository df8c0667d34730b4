#include "test.h"

#include <string.h>

#include "param/param.h"

struct config {
    int64_t count;
    double gain;
    bool flag;
    int mode;
    struct param_scalar limit;
    struct param_integers widths;
    struct param_matrix weights, matrix;
    char word[PARAM_WORD_MAX];
    uint64_t size;
};

enum {
    MODE_A,
    MODE_B,
    LIMIT_AUTO,
    MATRIX_UNIT,
};

static const struct param_choice modes[] = {
    {"alpha", MODE_A}, {"beta", MODE_B}, {"second", MODE_B}, {NULL, 0}};
static const struct param_choice limits[] = {{"auto", LIMIT_AUTO}, {NULL, 0}};
static const struct param_choice matrices[] = {{"unit", MATRIX_UNIT}, {NULL, 0}};

static const struct param table[] = {
    {.name = "count",
     .type = PARAM_INTEGER,
     .offset = offsetof(struct config, count),
     .min = 1,
     .max = 10,
     .fallback = "3",
     .help = "h"},
    {.name = "gain",
     .type = PARAM_REAL,
     .offset = offsetof(struct config, gain),
     .fallback = "0.5"},
    {.name = "flag", .type = PARAM_FLAG, .offset = offsetof(struct config, flag), .fallback = "0"},
    {.name = "mode",
     .type = PARAM_CHOICE,
     .offset = offsetof(struct config, mode),
     .choices = modes,
     .fallback = "alpha"},
    {.name = "limit",
     .type = PARAM_REAL_OR_CHOICE,
     .offset = offsetof(struct config, limit),
     .choices = limits,
     .fallback = "auto"},
    {.name = "widths", .type = PARAM_INTEGERS, .offset = offsetof(struct config, widths)},
    {.name = "weights", .type = PARAM_REALS, .offset = offsetof(struct config, weights)},
    {.name = "matrix",
     .type = PARAM_MATRIX,
     .offset = offsetof(struct config, matrix),
     .choices = matrices},
    {.name = "word", .type = PARAM_WORD, .offset = offsetof(struct config, word)},
    {.name = "size",
     .type = PARAM_SIZE,
     .offset = offsetof(struct config, size),
     .fallback = "64MiB"},
    {0},
};

static int parse(struct config *config, param_given *given, const char *text, struct fault *fault)
{
    memset(config, 0, sizeof *config);
    *given = 0;
    param_defaults(table, config);
    fault_clear(fault);
    return param_parse(table, config, given, text, strlen(text), 0, "thing", fault);
}

static void test_defaults_and_positions(void **state)
{
    struct config c;
    param_given given;
    struct fault fault;
    (void)state;
    assert_int_equal(parse(&c, &given, "", &fault), 0);
    assert_true(c.count == 3 && c.gain == 0.5 && c.mode == MODE_A && c.size == 64u << 20);
    assert_int_equal(c.limit.choice, LIMIT_AUTO);
    assert_int_equal(given, 0);
    assert_int_equal(parse(&c, &given, "7:2.5:mode=second:1", &fault), 0);
    assert_true(c.count == 7 && c.gain == 2.5 && c.mode == MODE_B && c.flag);
    assert_int_equal(given, 0xf);
    assert_int_equal(parse(&c, &given, "gain=2.5:7:1", &fault), 0); /* past what is given */
    assert_true(c.count == 7 && c.gain == 2.5 && c.flag);
    assert_int_equal(parse(&c, &given, "limit=4.5:widths=3_9_27", &fault), 0);
    assert_true(c.limit.choice == PARAM_IS_NUMBER && c.limit.value == 4.5);
    assert_true(c.widths.count == 3 && c.widths.v[2] == 27);
}

static void test_matrices(void **state)
{
    struct config c;
    param_given given;
    struct fault fault;
    (void)state;
    assert_int_equal(parse(&c, &given, "matrix=1_2/3_-4:weights=1_2_3", &fault), 0);
    assert_true(c.matrix.rows == 2 && c.matrix.columns == 2 && c.matrix.v[3] == -4);
    assert_true(c.weights.rows == 1 && c.weights.columns == 3);
    assert_int_equal(parse(&c, &given, "matrix=@mine", &fault), 0);
    assert_int_equal(c.matrix.choice, PARAM_IS_REFERENCE);
    assert_string_equal(c.matrix.reference, "mine");
    assert_int_equal(parse(&c, &given, "matrix=unit", &fault), 0);
    assert_int_equal(c.matrix.choice, MATRIX_UNIT);
    assert_int_equal(parse(&c, &given, "matrix=1_2/3", &fault), FAULT_CHAIN);
    assert_int_equal(parse(&c, &given, "weights=1_2/3_4", &fault), FAULT_CHAIN);
    assert_int_equal(parse(&c, &given, "weights=@mine", &fault), FAULT_CHAIN);
}

/* Each wrong text, the place that must be marked, and what the message must say. */
static void test_errors(void **state)
{
    static const struct {
        const char *text;
        int position;
        const char *says;
    } cases[] = {
        {"11", 0, "from 1 to 10"},
        {"count=0", 6, "count=0"},
        {"count=3x", 6, "an integer"},
        {"3:nan", 2, "a number"},
        {"cuont=3", 0, "did you mean 'count'"},
        {"mode=alhpa", 5, "did you mean 'alpha'"},
        {"mode=gamma", 5, "alpha, beta (second)"},
        {"3:count=4", 2, "given twice"},
        {"flag=2", 5, "0 or 1"},
        {"flag=yes", 5, "0 or 1"},
        {"1:1:1:alpha:1:1:1:1:w:1B:x", 25, "too many"},
        {"size=64MB2", 5, "64MiB"},
        {"3:", 2, "gain="},
        {"widths=1__2", 7, "widths"},
        {"zzz=1", 0, "no parameter 'zzz'"},
    };
    struct config c;
    param_given given;
    struct fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (parse(&c, &given, cases[i].text, &fault) != FAULT_CHAIN)
            fail_msg("'%s' was taken", cases[i].text);
        if (fault.position != cases[i].position || !strstr(fault.text, cases[i].says))
            fail_msg("'%s': at %d: %s", cases[i].text, fault.position, fault.text);
    }
}

static void test_prints_what_it_parses(void **state)
{
    static const char text[] = ":count=7:gain=0.25:flag=1:mode=beta:limit=1e-07:widths=1_2:"
                               "weights=0.1_0.2:matrix=1_2/3_-4:word=abc:size=3KiB";
    struct config c;
    param_given given;
    struct fault fault;
    struct text printed = {0};
    (void)state;
    assert_int_equal(parse(&c, &given, text + 1, &fault), 0);
    param_print(table, &c, given, &printed);
    assert_string_equal(text_string(&printed), text);
    text_finish(&printed);
    struct text allowed = {0};
    param_print_allowed(&table[3], &allowed);
    assert_string_equal(text_string(&allowed), "one of alpha, beta (second)");
    text_finish(&allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_and_positions),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_prints_what_it_parses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
