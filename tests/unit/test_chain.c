#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "chain/tried.h"

static void canonical(const char *text, const char *expected)
{
    struct chain chain, again;
    struct fault fault = FAULT_INIT;
    struct text printed = {0}, reprinted = {0};
    if (chain_parse(&chain, text, &fault) != 0)
        fail_msg("'%s': %s", text, fault.text);
    chain_print(&chain, &printed);
    assert_string_equal(text_string(&printed), expected);
    assert_int_equal(chain_parse(&again, text_string(&printed), &fault), 0);
    chain_print(&again, &reprinted);
    assert_string_equal(text_string(&reprinted), expected);
    text_finish(&printed);
    text_finish(&reprinted);
    chain_finish(&chain);
    chain_finish(&again);
}

static void test_canonical(void **state)
{
    (void)state;
    canonical("sobel", "sobel:out=magnitude:scale=0.125:border=edge");
    canonical(" luminance:bt709 , sobel:dx:border=mirror",
              "luminance:weights=bt709:exact=0,"
              "sobel:out=dx:scale=0.125:border=reflect");
    canonical("luminance:1_2_1.50", "luminance:weights=1_2_1.5:exact=0");
    canonical("gain:only=HH*:3", "gain:by=3:offset=0:only=HH*");
    canonical("", "");
    canonical("  \n", "");
}

static void test_errors_mark_their_place(void **state)
{
    static const struct {
        const char *text;
        int position, length;
        const char *says;
    } cases[] = {
        {"sobell", 0, 6, "did you mean 'sobel'"},
        {"luminance,sobell", 10, 6, "did you mean 'sobel'"},
        {"sobel,,sobel", 6, 1, "missing"},
        {"sobel,", 5, 1, "missing"},
        {",sobel", 0, 1, "missing"},
        {"sobel:", 5, 1, "nothing follows"},
        {"sobel:out=dz", 10, 2, "out=dz"},
        {"luminance,sobel:scale=3x", 22, 2, "a number"},
        {"sobel:scale=nan", 12, 3, "a number"},
        {"sobel:dx dy", 8, 1, "no place in a chain"},
        {"sobel:scale=1e+5", 14, 1, "'+' has no place"},
        {"sink", 0, 4, "unknown stage"},
        {"luminance:1_2", 0, 13, "three numbers"},
        {"luminance:exact=1:exact=0", 18, 7, "twice"},
        {"abs,gain:only=LL*:3:only=HH*", 20, 8, "twice"},
        {"gain:3:only=", 12, 0, "a word"},
        {"gain:3:only=LL1:", 16, 0, "offset=: expected"},
        {"gain:3::only=LL1", 7, 0, "offset=: expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chain chain;
        struct fault fault = FAULT_INIT;
        if (chain_parse(&chain, cases[i].text, &fault) != FAULT_CHAIN)
            fail_msg("'%s' was taken", cases[i].text);
        if (fault.position != cases[i].position || fault.length != cases[i].length ||
            !strstr(fault.text, cases[i].says))
            fail_msg("'%s': at %d+%d: %s", cases[i].text, fault.position, fault.length, fault.text);
        assert_int_equal(chain.n_steps, 0);
    }
}

/* All mistakes of a chain, in its order, each at its place. */
static void test_all_errors(void **state)
{
    static const char text[] =
        "grey,sobel:scale=x:out=q:border=edge,box, ,invert:1,luminance:é,foo";
    static const struct {
        int position, length;
        const char *says;
    } expected[] = {
        {0, 4, "sluice calls it luminance"},
        {17, 1, "scale=x"},
        {23, 1, "out=q"},
        {37, 3, "width=W or radius=R"},
        {42, 1, "a stage is missing"},
        {50, 1, "takes no parameters"},
        {62, 1, "has no place in a chain"},
        {65, 3, "unknown stage 'foo'"},
    };
    struct chain chain;
    struct faults faults = {0};
    (void)state;
    assert_int_equal(chain_parse_all(&chain, text, NULL, &faults), FAULT_CHAIN);
    assert_int_equal(chain.n_steps, 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct fault *fault = &faults.list[i];
        if (fault->position != expected[i].position || fault->length != expected[i].length ||
            !strstr(fault->text, expected[i].says))
            fail_msg("%zu: at %d, %d: %s", i, fault->position, fault->length, fault->text);
    }
    assert_int_equal(faults_count(&faults), sizeof expected / sizeof *expected);
    /* As many as there is room for. */
    faults = (struct faults){0};
    assert_int_equal(
        chain_parse_all(&chain, "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", NULL, &faults),
        FAULT_CHAIN);
    assert_int_equal(faults_count(&faults), FAULTS_MAX);
}

/* What is advised is a chain. */
static void test_tried_names(void **state)
{
    static const char *const asked[] = {"grey",     "gray",    "greyscale", "grayscale", "blur",
                                        "gaussian", "mean",    "average",   "negative",  "edges",
                                        "hist",     "denoise", "thumbnail", "trim",      "mirror"};
    (void)state;
    for (const struct tried *t = tried_stages; t->names; t++) {
        struct chain chain;
        struct fault fault = FAULT_INIT;
        bool parsed = t->chain && chain_parse(&chain, t->chain, &fault) == 0;
        if (parsed)
            chain_finish(&chain);
        else if (t->chain && !strstr(fault.text, "no picture '")) // of a name that only users define
            fail_msg("%s: %s", t->chain, fault.text);
        fault_clear(&fault);
        assert_true(t->chain || t->advice);
        for (const char *at = t->names; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            assert_int_equal(strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789"), length);
            at += length;
        }
    }
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct text says = {0};
        tried_explain(asked[i], strlen(asked[i]), &says);
        if (!strstr(text_string(&says), "sluice calls it") &&
            !strstr(text_string(&says), "sluice has none"))
            fail_msg("%s", text_string(&says));
        text_finish(&says);
    }
}

/* Case and separators do not count; `scale` is told of both its meanings. */
static void test_tried_in_any_spelling(void **state)
{
    static const char *const spellings[] = {"GaussianBlur", "gaussian_blur", "Gaussian-Blur"};
    struct text says = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tried_explain(spellings[i], strlen(spellings[i]), &says);
        assert_non_null(strstr(text_string(&says), "gauss:1.5"));
        text_finish(&says);
    }
    tried_explain("SCALE", 5, &says);
    assert_non_null(strstr(text_string(&says), "gain:0.5"));
    assert_non_null(strstr(text_string(&says), "resize"));
    text_finish(&says);
    tried_explain("Sobel", 5, &says);
    assert_non_null(strstr(text_string(&says), "did you mean 'sobel'"));
    text_finish(&says);
    tried_explain("grey scale", 4, &says); /* the first word alone */
    assert_non_null(strstr(text_string(&says), "luminance"));
    text_finish(&says);
    tried_explain("gre", 3, &says);
    assert_null(strstr(text_string(&says), "calls it"));
    text_finish(&says);
}

static void test_caret(void **state)
{
    struct fault fault = {.code = FAULT_CHAIN, .position = 6, .length = 3};
    struct text text = {0};
    (void)state;
    fault_print_caret(&fault, "sobel:abc,x", &text);
    assert_string_equal(text_string(&text), "  sobel:abc,x\n        ^^^\n");
    text_finish(&text);
    fault.position = -1;
    fault_print_caret(&fault, "sobel", &text);
    assert_string_equal(text_string(&text), "");
}

static void test_limits(void **state)
{
    struct chain chain;
    struct fault fault = FAULT_INIT;
    struct text text = {0};
    (void)state;
    for (int i = 0; i < CHAIN_STEPS_MAX; i++)
        text_printf(&text, "%ssobel", i ? "," : "");
    assert_int_equal(chain_parse(&chain, text_string(&text), &fault), 0);
    chain_finish(&chain);
    text_append(&text, ",sobel");
    assert_int_equal(chain_parse(&chain, text_string(&text), &fault), FAULT_CHAIN);
    fault_clear(&fault);
    while (text.length <= CHAIN_TEXT_MAX)
        text_append(&text, ",sobel");
    assert_int_equal(chain_parse(&chain, text_string(&text), &fault), FAULT_CHAIN);
    assert_non_null(strstr(fault.text, "limit"));
    text_finish(&text);
}

static void test_short_form(void **state)
{
    struct chain chain;
    struct fault fault = FAULT_INIT;
    struct text text = {0};
    (void)state;
    assert_int_equal(chain_parse(&chain, "luminance:bt601,sobel:dx:border=zero", &fault), 0);
    chain_print_short(&chain, &text);
    assert_string_equal(text_string(&text), "luminance,sobel:out=dx:border=zero");
    text_finish(&text);
    chain_finish(&chain);
    text = (struct text){0};
    assert_int_equal(chain_parse(&chain, "abs,gain:only=LL*:2", &fault), 0);
    chain_print_short(&chain, &text);
    assert_string_equal(text_string(&text), "abs,gain:by=2:only=LL*");
    text_finish(&text);
    chain_finish(&chain);
}

/* A copy is the same chain, and lives longer. */
static void test_copy(void **state)
{
    struct chain chain, copy;
    struct fault fault = FAULT_INIT;
    struct text text = {0}, of_copy = {0};
    (void)state;
    assert_int_equal(chain_parse(&chain,
                                 "luminance:bt601,fir:1_2_1/2_4_2/1_2_1,colour:m=1_0_0/0_1_0/0_0_1,"
                                 "sobel:border=zero,dwt:db4:levels=2",
                                 &fault),
                     0);
    chain_print(&chain, &text);
    assert_int_equal(chain_copy(&copy, &chain, &fault), 0);
    for (size_t i = 0; i < chain.n_steps; i++)
        memset(chain.steps[i].config, 0xa5, chain.steps[i].stage->config_size);
    chain_finish(&chain);
    chain_print(&copy, &of_copy);
    assert_string_equal(text_string(&of_copy), text_string(&text));
    chain_finish(&copy);
    assert_int_equal(chain_copy(&copy, &chain, &fault), 0); /* one without steps */
    assert_int_equal(copy.n_steps, 0);
    text_finish(&text);
    text_finish(&of_copy);
}

static void parse_into(struct chain *chain, const char *text)
{
    struct fault fault = FAULT_INIT;
    if (chain_parse(chain, text, &fault) != 0)
        fail_msg("%s: %s", text, fault.text);
}

/* Common beginnings stand once, in whatever order the chains come. */
static void test_join(void **state)
{
    static const char *const texts[] = {
        "luminance,box:radius=4,invert",        "luminance:bt709,sobel", "",
        "luminance:weights=bt709,box:radius=4", "resize:w=8,invert",     "luminance,invert"};
    static const size_t ends[] = {3, 5, 0, 6, 8, 9};
    enum {
        COUNT = sizeof ends / sizeof *ends
    };
    struct chain chains[COUNT], tree, copy, alone;
    struct text text = {0}, of_copy = {0}, of_chains = {0};
    struct fault fault = FAULT_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        parse_into(&chains[i], texts[i]);
        text_append(&of_chains, i ? ";" : "");
        chain_print(&chains[i], &of_chains);
    }
    assert_int_equal(chain_join(&tree, chains, COUNT, &fault), 0);
    assert_int_equal(chain_count_results(&tree), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (chain_end(&tree, i) != ends[i])
            fail_msg("result %zu ends with step %zu", i, chain_end(&tree, i));
    assert_int_equal(chain_step_before(&tree, 6), 4); /* behind luminance:bt709 */
    assert_int_equal(chain_step_before(&tree, 7), 0);
    assert_int_equal(chain_step_before(&tree, 9), 1);
    chain_print(&tree, &text);
    assert_string_equal(text_string(&text), text_string(&of_chains));
    assert_int_equal(chain_copy(&copy, &tree, &fault), 0);
    chain_print(&copy, &of_copy);
    assert_string_equal(text_string(&of_copy), text_string(&text));
    assert_int_equal(chain_join(&alone, chains, 1, &fault), 0);
    assert_int_equal(chain_count_results(&alone), 1);
    assert_int_equal(chain_end(&alone, 0), 3);
    chain_finish(&alone);
    chain_finish(&copy);
    chain_finish(&tree);

    /* a decoder may give what is enough for all */
    struct plane whole = {.width = 4000, .height = 3000, .channels = 3};
    struct chain small[2];
    parse_into(&small[0], "resize:w=400");
    parse_into(&small[1], "luminance,resize:w=900");
    assert_int_equal(chain_source(&small[0], &whole, VIDEO_BT601).reduce, 4);
    assert_int_equal(chain_source(&small[1], &whole, VIDEO_BT601).reduce, 2);
    assert_true(chain_source(&small[1], &whole, VIDEO_BT601).luma);
    assert_int_equal(chain_join(&tree, small, 2, &fault), 0);
    assert_int_equal(chain_source(&tree, &whole, VIDEO_BT601).reduce, 2);
    assert_false(chain_source(&tree, &whole, VIDEO_BT601).luma);
    chain_finish(&tree);
    chain_finish(&small[0]);
    chain_finish(&small[1]);

    struct chain many[CHAIN_RESULTS_MAX + 1];
    memset(many, 0, sizeof many);
    assert_int_equal(chain_join(&tree, many, CHAIN_RESULTS_MAX, &fault), 0);
    chain_finish(&tree);
    assert_int_equal(chain_join(&tree, many, CHAIN_RESULTS_MAX + 1, &fault), FAULT_LIMIT);
    for (size_t i = 0; i < COUNT; i++)
        chain_finish(&chains[i]);
    text_finish(&text);
    text_finish(&of_copy);
    text_finish(&of_chains);
}

/* Every stage's parameters: defaults print and read back. */
static void test_every_stage(void **state)
{
    (void)state;
    for (const struct stage *const *s = stage_registry; *s; s++) {
        assert_non_null((*s)->summary);
        assert_true((*s)->pixel || (*s)->passes || (*s)->add || (*s)->small_window);
        assert_true((*s)->reference || (*s)->at || (*s)->sample || (*s)->small_window);
        for (const struct param *p = (*s)->params; p && p->name; p++) {
            void *config = calloc(1, (*s)->config_size);
            struct fault fault = FAULT_INIT;
            assert_non_null(p->help);
            if (p->fallback && param_set(p, config, p->fallback, strlen(p->fallback), true,
                                         (*s)->name, &fault) != 0)
                fail_msg("default of %s: %s", (*s)->name, fault.text);
            free(config);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_errors_mark_their_place),
        cmocka_unit_test(test_all_errors),
        cmocka_unit_test(test_tried_names),
        cmocka_unit_test(test_tried_in_any_spelling),
        cmocka_unit_test(test_caret),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_short_form),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_every_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
