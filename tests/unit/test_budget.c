/* Memory that jobs wait for: in their order, and no longer than they may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "engine/engine_internal.h"

#define MILLISECOND UINT64_C(1000000)

static struct budget budget;

static int take(uint64_t bytes, uint64_t milliseconds)
{
    struct fault fault = FAULT_INIT;
    deadline_set(milliseconds ? clock_now() + milliseconds * MILLISECOND : 0);
    int result = budget_take(&budget, bytes, &fault);
    assert_int_equal(result, fault.code);
    deadline_set(0);
    return result;
}

static void test_late(void **state)
{
    (void)state;
    budget_init(&budget, 100);
    assert_int_equal(take(101, 0), FAULT_LIMIT);
    assert_int_equal(take(80, 0), 0);
    uint64_t begin = clock_now();
    assert_int_equal(take(30, 50), FAULT_TIME);
    assert_true(clock_now() - begin >= 50 * MILLISECOND);
    assert_int_equal(take(20, 50),
                     0); /* the one that gave up is in nobody's way, and holds nothing */
    budget_give(&budget, 80);
    assert_int_equal(take(80, 50), 0);
    budget_give(&budget, 100);
    assert_int_equal(budget.taken, 0);
    budget_finish(&budget);
}

static void *wait_behind(void *result)
{
    *(int *)result = take(30, 60000);
    return NULL;
}

static void test_those_behind_are_served(void **state)
{
    pthread_t thread;
    int behind = -1;
    (void)state;
    budget_init(&budget, 100);
    assert_int_equal(take(70, 0), 0);
    budget.next_ticket++; /* somebody else is first in line */
    assert_int_equal(pthread_create(&thread, NULL, wait_behind, &behind), 0);
    pthread_mutex_lock(&budget.lock);
    budget.now_serving++; /* and gives up */
    pthread_cond_broadcast(&budget.changed);
    pthread_mutex_unlock(&budget.lock);
    pthread_join(thread, NULL);
    assert_int_equal(behind, 0);
    budget_finish(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_those_behind_are_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
