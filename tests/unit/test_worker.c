/* The states of a worker: every state with every event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/work/worker.h"

#define STARTING WORKER_STARTING
#define READY    WORKER_READY
#define SPOILED  WORKER_SPOILED
#define RETIRING WORKER_RETIRING
#define LEAVING  WORKER_LEAVING
#define KILLED   WORKER_KILLED
#define LOST     WORKER_LOST
#define ENDED    WORKER_ENDED

/* As in worker.h. */
static const enum worker_state expected[WORKER_EVENTS][WORKER_STATES] = {
    [WORKER_PASSED] = {READY, READY, SPOILED, RETIRING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_REFUSED] = {LEAVING, READY, SPOILED, RETIRING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_FAILED] = {STARTING, SPOILED, SPOILED, RETIRING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_UNWANTED] = {LEAVING, RETIRING, SPOILED, RETIRING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_IDLE] = {STARTING, READY, LEAVING, LEAVING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_HUNG_UP] = {LEAVING, LEAVING, LEAVING, LEAVING, LEAVING, KILLED, LOST, ENDED},
    [WORKER_KILL] = {KILLED, KILLED, KILLED, KILLED, KILLED, KILLED, LOST, ENDED},
    [WORKER_TIME_OVER] = {KILLED, READY, SPOILED, RETIRING, KILLED, LOST, LOST, ENDED},
    [WORKER_EXITED] = {ENDED, ENDED, ENDED, ENDED, ENDED, ENDED, ENDED, ENDED},
};

static void test_every_event_in_every_state(void **state)
{
    (void)state;
    for (int event = 0; event < WORKER_EVENTS; event++)
        for (int from = 0; from < WORKER_STATES; from++)
            if (worker_next(from, event) != expected[event][from])
                fail_msg("event %d: %s becomes %s, not %s", event, worker_state_name(from),
                         worker_state_name(worker_next(from, event)),
                         worker_state_name(expected[event][from]));
}

/* Whatever happens, nothing goes back: so each worker comes to an end. */
static void test_no_way_back(void **state)
{
    (void)state;
    for (int event = 0; event < WORKER_EVENTS; event++)
        for (int from = 0; from < WORKER_STATES; from++)
            assert_true(worker_next(from, event) >= (enum worker_state)from);
}

/* From each state but the last a kill, its time and the process's end lead out. */
static void test_each_state_can_be_left(void **state)
{
    (void)state;
    for (enum worker_state from = STARTING; from < ENDED; from++) {
        enum worker_state at = worker_next(from, WORKER_KILL);
        assert_true(at == KILLED || at == LOST);
        assert_int_equal(worker_next(at, WORKER_TIME_OVER), LOST);
        assert_int_equal(worker_next(at, WORKER_EXITED), ENDED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_in_every_state),
        cmocka_unit_test(test_no_way_back),
        cmocka_unit_test(test_each_state_can_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
