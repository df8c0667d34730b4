#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bank/definitions.h"

static const struct bank *builtin(const char *name)
{
    const struct bank *bank = bank_builtin(name, strlen(name));
    assert_non_null(bank);
    return bank;
}

static void test_builtin_banks_reconstruct(void **state)
{
    struct bank_error error;
    struct fault fault = FAULT_INIT;
    (void)state;
    for (size_t i = 0; bank_builtin_name(i); i++) {
        const struct bank *bank = builtin(bank_builtin_name(i));
        assert_true(bank_measure(&bank->x, &error));
        assert_true(error.alias < 1e-11 && error.distortion < 1e-11);
        assert_int_equal(error.delay, 0);
        assert_int_equal(bank_check(bank, &fault), 0);
    }
    assert_null(bank_builtin("legall5", 7));
}

/* [1, 2] with its zero at the 2 and M = 2: a sample of even index comes back doubled at its place,
 * one of odd index as it is, one place before. Averages 1 and 1/2; the first is 1 away from its
 * places'. */
static void test_error_by_hand(void **state)
{
    static const struct bank_filter f = {2, 1, 0, {1, 2}}, one = {1, 0, 0, {1}};
    static const struct bank_direction direction = {2, 1, &f, &one};
    struct bank_error error;
    (void)state;
    assert_true(bank_measure(&direction, &error));
    assert_float_equal(error.alias, 1, 1e-12);
    assert_float_equal(error.distortion, 0.5, 1e-12);
}

static void test_refusal_tells_errors_and_delay(void **state)
{
    static const struct bank_filter a[2] = {{1, 0, 0, {1}}, {1, 0, 1, {1}}};
    static const struct bank_filter s[2] = {{2, 0, 0, {0, 1}}, {2, 0, 1, {0, 1}}};
    static const struct bank bank = {"late", {2, 2, a, s}, {2, 2, a, a}};
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(bank_check(&bank, &fault), FAULT_CONFIG);
    assert_non_null(strstr(fault.text, "'late'"));
    assert_non_null(strstr(fault.text, "moved by 1"));
    assert_non_null(strstr(fault.text, "vertically alias 0, distortion 0"));
}

static void test_qmf(void **state)
{
    static const double taps[] = {M_SQRT1_2, M_SQRT1_2}, wrong[] = {1, 2, 1};
    struct bank_filter a[2], s[2];
    const struct bank_direction direction = {2, 2, a, s};
    struct bank_error error;
    (void)state;
    bank_make_qmf(taps, 2, a, s);
    assert_true(a[1].taps[1] == -M_SQRT1_2 && s[1].taps[0] == -M_SQRT1_2);
    assert_true(s[0].zero == 1 && s[1].zero == 1 && a[0].zero == 0);
    assert_true(bank_measure(&direction, &error));
    assert_true(error.alias < 1e-12 && error.distortion < 1e-12);
    bank_make_qmf(wrong, 3, a, s);
    assert_true(bank_measure(&direction, &error));
    assert_true(error.distortion > 1);
}

static void check_lifted(const char *name, const struct bank_step *steps, unsigned n_steps,
                         const double gain[2])
{
    struct bank_filter a[2], s[2];
    const struct bank_direction *like = &builtin(name)->x;
    assert_true(bank_make_lifting(steps, n_steps, gain, a, s));
    for (int band = 0; band < 2; band++) {
        const struct bank_filter *made[] = {&a[band], &s[band]};
        const struct bank_filter *known[] = {&like->analysis[band], &like->synthesis[band]};
        for (int way = 0; way < 2; way++) {
            assert_int_equal(made[way]->n_taps, known[way]->n_taps);
            assert_int_equal(made[way]->zero, known[way]->zero);
            assert_int_equal(made[way]->shift, known[way]->shift);
            for (unsigned k = 0; k < made[way]->n_taps; k++)
                assert_true(fabs(made[way]->taps[k] - known[way]->taps[k]) < 1e-11);
        }
    }
}

/* Haar, 5/3 and 9/7 by the steps that are known of them (ISO/IEC 15444-1, F.3.8), and steps that
 * reach far. */
static void test_lifting(void **state)
{
    static const struct bank_step haar[] = {{false, 0, 1, {-1}}, {true, 0, 1, {0.5}}};
    static const struct bank_step steps53[] = {{false, 0, 2, {-0.5, -0.5}},
                                               {true, -1, 2, {0.25, 0.25}}};
    static const struct bank_step steps97[] = {
        {false, 0, 2, {-1.586134342059924, -1.586134342059924}},
        {true, -1, 2, {-0.052980118572961, -0.052980118572961}},
        {false, 0, 2, {0.882911075530934, 0.882911075530934}},
        {true, -1, 2, {0.443506852043971, 0.443506852043971}}};
    static const double one[] = {1, 1}, root[] = {M_SQRT2, -M_SQRT1_2};
    static const double gain97[] = {1 / 1.230174104914001, 1.230174104914001};
    struct bank_step far[3] = {{false, 5, 3, {2, -3, 1}}, {true, -7, 1, {0.5}}, {false, 3, 1, {-1}}};
    struct bank_filter a[2], s[2];
    const struct bank_direction direction = {2, 2, a, s};
    struct bank_error error;
    (void)state;
    check_lifted("haar", haar, 2, root);
    check_lifted("legall53", steps53, 2, one);
    check_lifted("cdf97", steps97, 4, gain97);
    assert_true(bank_make_lifting(far, 3, root, a, s));
    assert_true(bank_measure(&direction, &error));
    assert_true(error.alias < 1e-12 && error.distortion < 1e-12);
    far[2].at = 32;
    far[0].at = -32;
    far[1].at = 32; /* 2 · (32 + 7 + …) samples apart */
    assert_false(bank_make_lifting(far, 3, one, a, s));
    far[0] = (struct bank_step){false, 0, 1, {1e9}};
    assert_false(bank_make_lifting(far, 1, (const double[]){1, 1e9}, a, s));
}

static void check_span(struct bank_span span, int64_t length, int64_t zero)
{
    assert_int_equal(span.length, length);
    assert_int_equal(span.zero, zero);
}

/* By the formulas, by hand: five samples, 5/3. Low-pass: lead 0 + 2 + 0, ignored 0, zero 1,
 * ceil((5 + 5 − 1 − 0)/2) = 5. High-pass: lead 0 + 1 + 1, zero 1, ceil(7/2) = 4. */
static void test_spans(void **state)
{
    const struct bank_direction *d = &builtin("legall53")->x;
    static const struct bank_filter far = {3, -4, 0, {1, 1, 1}}, none = {1, 0, 2, {1}};
    struct bank_span in = {5, 0}, bands[2];
    (void)state;
    check_span(bank_analysis_span(in, &d->analysis[0], &d->synthesis[0], 2, false), 5, 1);
    check_span(bank_analysis_span(in, &d->analysis[1], &d->synthesis[1], 2, false), 4, 1);
    /* (0 − 4 + 0) mod 3 = 2, floor(−4/3) = −2, ceil((5 + 3 − 1 − 2)/3) = 2 */
    check_span(bank_analysis_span(in, &far, &far, 3, false), 2, -2);
    /* shift 2 of M = 3 leaves nothing of one sample */
    check_span(bank_analysis_span((struct bank_span){1, 0}, &none, &none, 3, false), 0, 0);
    /* cyclic, Haar's low-pass on four samples: m from 0 to 1, and from −0 to ceil(4/2) − 1 */
    const struct bank_direction *h = &builtin("haar")->x;
    in.length = 4;
    check_span(bank_analysis_span(in, &h->analysis[0], &h->synthesis[0], 2, true), 2, 0);
    /* bands of 5 from −1 and 4 from −1: zeros max(2 + 1, 1 + 2) = 3; rest max(3·2 + 1 + 1, 2·2 + 1
     * + 1 + 2) */
    bands[0] = (struct bank_span){5, 1};
    bands[1] = (struct bank_span){4, 1};
    check_span(bank_synthesis_span(bands, d->synthesis, 2, 2), 11, 3);
    bands[0].length = bands[1].length = 0;
    check_span(bank_synthesis_span(bands, d->synthesis, 2, 2), 0, 0);
}

static void test_rounding(void **state)
{
    (void)state;
    assert_int_equal(bank_floor(-7, 2), -4);
    assert_int_equal(bank_floor(7, 2), 3);
    assert_int_equal(bank_floor(-8, 2), -4);
    assert_int_equal(bank_ceil(-7, 2), -3);
    assert_int_equal(bank_ceil(7, 2), 4);
}

static void test_definitions(void **state)
{
    struct definitions d = {0};
    struct definition_bank bank = {.name = "mine", .filters = malloc(1)};
    struct definition_kernel kernel = {.name = "soft", .k = {.columns = 1, .rows = 1}};
    const struct bank *found;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_true(definitions_add_bank(&d, &bank));
    assert_true(definitions_add_kernel(&d, &kernel));
    assert_non_null(definitions_kernel(&d, "soft"));
    assert_null(definitions_kernel(NULL, "soft"));
    assert_int_equal(definitions_find_bank(&d, "@mine", &found, &fault), 0);
    assert_string_equal(found->name, "mine");
    assert_int_equal(definitions_find_bank(&d, "mine", &found, &fault), 0);
    assert_int_equal(definitions_find_bank(&d, "haar", &found, &fault), 0);
    assert_int_equal(definitions_find_bank(&d, "@haar", &found, &fault), FAULT_CHAIN);
    fault_clear(&fault);
    assert_int_equal(definitions_find_bank(&d, "@mime", &found, &fault), FAULT_CHAIN);
    assert_non_null(strstr(fault.text, "did you mean 'mine'?"));
    assert_non_null(strstr(fault.text, "@mine"));
    definitions_finish(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin_banks_reconstruct),
        cmocka_unit_test(test_error_by_hand),
        cmocka_unit_test(test_refusal_tells_errors_and_delay),
        cmocka_unit_test(test_qmf),
        cmocka_unit_test(test_lifting),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
