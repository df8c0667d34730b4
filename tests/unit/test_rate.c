/* Pictures a second: over a minute at most, and since the present work began. */
#include "test.h"

#include <math.h>

#include "daemon/work/metrics.h"

#define S UINT64_C(1000000000)

/* `count` pictures end, evenly, in the seconds from `from` to `to`. */
static void work(struct rate *rate, double from, double to, int count)
{
    for (int i = 0; i < count; i++)
        rate_count(rate, (uint64_t)((from + (to - from) * i / count) * 1e9));
}

static void expect(const struct rate *rate, double at, double per_second, double seconds)
{
    double window, got = rate_read(rate, (uint64_t)(at * 1e9), &window);
    assert_true(fabs(got - per_second) < 1e-9);
    assert_true(fabs(window - seconds) < 1e-9);
}

static void test_nothing(void **state)
{
    struct rate rate = {0};
    (void)state;
    expect(&rate, 0, 0, 0);
    expect(&rate, 5, 0, 5);
    expect(&rate, 1000.5, 0, 59.5);
}

/* A batch that has begun 20 s ago, after an hour of nothing. */
static void test_batch(void **state)
{
    struct rate rate = {0};
    (void)state;
    rate.begun = 3600 * S;
    work(&rate, 3600, 3602, 10);
    expect(&rate, 3602, 1, 10); /* at least 10 s, of which 2 had work */
    work(&rate, 3602, 3620, 90);
    expect(&rate, 3620, 5, 20);
    work(&rate, 3620, 3700, 400);
    expect(&rate, 3700, 295.0 / 59, 59); /* the second that begins now counts nothing yet */
    expect(&rate, 3700.5, 295.0 / 59.5, 59.5);
}

/* What is older than the window is forgotten, however long nothing was counted. */
static void test_pauses(void **state)
{
    struct rate rate = {0};
    (void)state;
    rate.begun = 100 * S;
    work(&rate, 100, 101, 50);
    expect(&rate, 159, 50.0 / 59, 59);
    expect(&rate, 160, 0, 59);
    work(&rate, 220, 221, 6); /* at the same places of the ring as those of 100 */
    expect(&rate, 230, 6.0 / 59, 59);
    rate.begun = 1000 * S;
    work(&rate, 1000, 1001, 12);
    expect(&rate, 1001, 1.2, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
