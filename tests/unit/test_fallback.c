/* The ladder of devices. Times in seconds, as the header of fallback.h says them. */
#include "test.h"

#include "daemon/work/fallback.h"

#define S UINT64_C(1000000000)

static void test_ladders(void **state)
{
    struct fallback f;
    (void)state;
    fallback_init(&f, "auto", "cpu");
    assert_string_equal(fallback_device(&f), "auto");
    assert_true(fallback_step_down(&f, 0, 100 * S));
    assert_string_equal(fallback_device(&f), "cpu");
    assert_true(fallback_step_down(&f, 1, 101 * S));
    assert_string_equal(fallback_device(&f), "reference");
    assert_false(fallback_step_down(&f, 2, 102 * S));
    assert_string_equal(fallback_device(&f), "reference");

    fallback_init(&f, "gpu", "reference");
    assert_true(fallback_step_down(&f, 0, S));
    assert_string_equal(fallback_device(&f), "reference");

    fallback_init(&f, "cpu", "cpu"); /* not twice */
    assert_true(fallback_step_down(&f, 0, S));
    assert_string_equal(fallback_device(&f), "reference");

    fallback_init(&f, "gpu", NULL);
    assert_false(fallback_step_down(&f, 0, S));
    assert_string_equal(fallback_device(&f), "gpu");
    assert_false(fallback_is_due(&f, 10000 * S));

    fallback_init(&f, "reference", "cpu"); /* there is nothing below */
    assert_false(fallback_step_down(&f, 0, S));
}

static void test_tried_again(void **state)
{
    static const unsigned waits[] = {30, 120, 600, 600};
    struct fallback f;
    uint64_t now = 1000 * S;
    (void)state;
    fallback_init(&f, "gpu", "reference");
    for (int i = 0; i < 4; i++) {
        assert_true(fallback_step_down(&f, 0, now));
        fallback_came_up(&f, 1,
                         now + S); /* the fallback's being there says nothing of the device */
        assert_false(fallback_is_due(&f, now + waits[i] * S - 1));
        assert_true(fallback_is_due(&f, now + waits[i] * S));
        now += waits[i] * S;
        fallback_climb(&f);
        assert_string_equal(fallback_device(&f), "gpu");
    }
    /* It comes up, and fails again before it has proved itself: the wait goes on growing. */
    fallback_came_up(&f, 0, now);
    assert_false(fallback_is_due(&f, now + 10000 * S));
    assert_true(fallback_step_down(&f, 0, now + 599 * S));
    assert_false(fallback_is_due(&f, now + (599 + 600) * S - 1));
    /* After ten good minutes it begins anew. */
    now += 5000 * S;
    fallback_climb(&f);
    fallback_came_up(&f, 0, now);
    assert_true(fallback_step_down(&f, 0, now + 600 * S));
    assert_true(fallback_is_due(&f, now + 630 * S));
}

static void test_the_fallbacks_own_failure_does_not_put_the_device_off(void **state)
{
    struct fallback f;
    (void)state;
    fallback_init(&f, "auto", "cpu");
    assert_true(fallback_step_down(&f, 0, 0 + S));
    assert_true(fallback_step_down(&f, 1, 20 * S));
    assert_true(fallback_is_due(&f, 31 * S));
    assert_true(fallback_is_below(&f, 1));
    assert_false(fallback_is_below(&f, 0));
}

static void test_lost(void **state)
{
    struct fallback f;
    (void)state;
    fallback_init(&f, "auto", "cpu");
    assert_true(fallback_lose(&f, 0, 10 * S));
    assert_string_equal(fallback_device(&f), "cpu");
    assert_false(fallback_is_due(&f, 100000 * S));
    /* What is the best now is tried again as the device was. */
    assert_true(fallback_step_down(&f, 1, 20 * S));
    assert_string_equal(fallback_device(&f), "reference");
    assert_true(fallback_is_due(&f, 50 * S));
    fallback_climb(&f);
    assert_string_equal(fallback_device(&f), "cpu");

    fallback_init(&f, "gpu", NULL); /* there is no other: it stays in use */
    assert_false(fallback_lose(&f, 0, 10 * S));
    assert_string_equal(fallback_device(&f), "gpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ladders),
        cmocka_unit_test(test_tried_again),
        cmocka_unit_test(test_the_fallbacks_own_failure_does_not_put_the_device_off),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
