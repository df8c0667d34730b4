/* The supervisor's reaction to each change of a worker's state. Workers are simulated in this file;
 * the tests set their states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/work/supervise.h"

#define WORKERS_MAX 16

static struct worker *started[WORKERS_MAX]; /* in their order; NULL once destroyed */
static unsigned n_started, n_ready, n_refused, n_stopped, n_died, n_changed;

/* ---- in place of worker.c and the queue ---- */

int worker_start(struct worker **worker, const struct worker *how, struct fault *fault)
{
    (void)fault;
    assert_true(n_started < WORKERS_MAX);
    *worker = malloc(sizeof **worker);
    **worker = *how;
    (*worker)->started = (*worker)->used = clock_now();
    started[n_started++] = *worker;
    return 0;
}

void worker_destroy(struct worker **worker)
{
    for (unsigned i = 0; i < n_started; i++)
        if (started[i] == *worker)
            started[i] = NULL;
    free(*worker);
    *worker = NULL;
}

static void become(unsigned index, enum worker_state state)
{
    started[index]->state = state;
    started[index]->events->changed(started[index]);
}

static unsigned index_of(const struct worker *worker)
{
    unsigned i = 0;
    while (started[i] != worker)
        i++;
    return i;
}

void worker_retire(struct worker *worker)
{
    become(index_of(worker), worker->in_flight ? WORKER_RETIRING : WORKER_LEAVING);
}

void worker_kill(struct worker *worker, enum worker_cause cause)
{
    worker->killed = true;
    worker->cause = cause;
    become(index_of(worker), WORKER_KILLED);
}

void worker_replace(struct worker *worker, const char *why)
{
    worker->events->due(worker, why);
}

void worker_send(struct worker *worker, const struct message *message)
{
    (void)worker;
    (void)message;
}

bool worker_is_sound(const struct worker *worker)
{
    (void)worker;
    return true;
}

static void on_changed(void *context)
{
    (void)context;
    n_changed++;
}

static void on_died(void *context, struct worker *worker)
{
    (void)context;
    (void)worker;
    n_died++;
}

static const struct worker_jobs jobs = {.changed = on_changed, .died = on_died};

/* ---- its owner ---- */

static void on_ready(void *context)
{
    (void)context;
    n_ready++;
}

static void on_refused(void *context, const struct worker_check *check, const char *subject,
                       const struct faults *faults)
{
    (void)context;
    (void)check;
    (void)subject;
    assert_true(faults->list[0].code != FAULT_NONE);
    n_refused++;
}

static void on_stopped(void *context)
{
    (void)context;
    n_stopped++;
}

static void on_closed(void *context)
{
    (void)context;
}

static const struct supervisor_events events = {
    .ready = on_ready, .refused = on_refused, .stopped = on_stopped, .closed = on_closed};

struct world {
    uv_loop_t loop;
    struct settings settings;
    struct supervisor supervisor;
};

static struct supervisor *begin(struct world *world, const char *fallback)
{
    struct fault fault = FAULT_INIT;
    *world = (struct world){.settings = {.device = "gpu", .fallback = (char *)fallback, .jobs = 2}};
    n_started = n_ready = n_refused = n_stopped = n_died = n_changed = 0;
    assert_int_equal(uv_loop_init(&world->loop), 0);
    world->supervisor = (struct supervisor){.loop = &world->loop,
                                            .settings = &world->settings,
                                            .config_fd = -1,
                                            .events = &events,
                                            .jobs = &jobs};
    assert_int_equal(supervisor_init(&world->supervisor, &fault), 0);
    supervisor_start(&world->supervisor);
    assert_int_equal(n_started, 1);
    assert_null(supervisor_main(&world->supervisor));
    return &world->supervisor;
}

/* The next process, once its time has come. */
static const struct worker *next(struct world *world)
{
    unsigned before = n_started;
    while (n_started == before) {
        assert_true(uv_loop_alive(&world->loop));
        uv_run(&world->loop, UV_RUN_ONCE);
    }
    return started[n_started - 1];
}

static void expect_none_planned(struct world *world)
{
    assert_int_equal(world->supervisor.slots[SLOT_MAIN].start_at, 0);
    assert_int_equal(world->supervisor.slots[SLOT_QUARANTINE].start_at, 0);
}

static void end(struct world *world)
{
    supervisor_stop(&world->supervisor);
    for (unsigned i = 0; i < n_started; i++)
        if (started[i])
            become(i, WORKER_ENDED);
    assert_int_equal(n_stopped, 1);
    supervisor_close(&world->supervisor);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static void refuse(unsigned index, enum fault_code code)
{
    struct faults faults = {0};
    fault_set(faults_next(&faults), code, "no");
    started[index]->events->refused(started[index], NULL, NULL, &faults);
    become(index, WORKER_LEAVING);
}

static void crash(unsigned index)
{
    started[index]->cause = WORKER_CRASHED;
    started[index]->end = (struct child_end){.signal = 11, .text = "by signal 11"};
    become(index, WORKER_ENDED);
}

static void late(unsigned index)
{
    worker_kill(started[index], WORKER_LATE);
    become(index, WORKER_ENDED);
}

static void spoil(unsigned index)
{
    fault_set(&started[index]->trouble, FAULT_DEVICE, "it failed");
    become(index, WORKER_SPOILED);
}

/* ---- the main slot ---- */

static void test_ready_takes_the_slot(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    assert_ptr_equal(supervisor_main(s), started[0]);
    started[0]->in_flight = 1;
    worker_replace(started[0], "it is old");
    next(&world);
    assert_ptr_equal(supervisor_main(s), started[0]); /* until the other one is ready */
    become(1, WORKER_READY);
    assert_ptr_equal(supervisor_main(s), started[1]);
    assert_int_equal(started[0]->state, WORKER_RETIRING); /* and ends its job */
    assert_int_equal(n_ready, 2);
    become(0, WORKER_ENDED);
    assert_int_equal(n_died, 1);
    expect_none_planned(&world);
    end(&world);
}

static void test_a_replacement_that_is_refused_changes_nothing(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    worker_replace(started[0], "it is old");
    next(&world);
    refuse(1, FAULT_MEMORY);
    become(1, WORKER_ENDED);
    assert_ptr_equal(supervisor_main(s), started[0]);
    expect_none_planned(&world);
    worker_replace(started[0], "it is old"); /* not again for a minute */
    expect_none_planned(&world);
    assert_int_equal(n_refused, 0);
    end(&world);
}

static void test_spoiled_goes_down_the_ladder(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "cpu");
    (void)state;
    become(0, WORKER_READY);
    spoil(0);
    assert_null(supervisor_main(s)); /* so nobody waits for it */
    assert_string_equal(next(&world)->device, "cpu");
    refuse(1, FAULT_DEVICE); /* its replacement is refused: the next one, at once */
    assert_int_equal(n_refused, 0);
    assert_string_equal(next(&world)->device, "reference");
    become(2, WORKER_READY);
    assert_ptr_equal(supervisor_main(s), started[2]);
    end(&world);
}

static void test_spoiled_without_another_device(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    spoil(0);
    unsigned changed = n_changed;
    next(&world);
    for (unsigned i = 1; i <= 3; i++) { /* refused: told, and tried again after ever longer */
        refuse(i, FAULT_DEVICE);
        assert_int_equal(n_refused, i);
        assert_true(n_changed > changed);
        uint64_t pause = s->slots[SLOT_MAIN].start_at - clock_now();
        assert_true(pause > (UINT64_C(40000000) << i) && pause <= (UINT64_C(50000000) << i));
        assert_string_equal(next(&world)->device, "gpu");
    }
    become(4, WORKER_READY);
    assert_ptr_equal(supervisor_main(s), started[4]);
    end(&world);
}

static void test_spoiled_while_its_replacement_starts(void **state)
{
    struct world world;
    begin(&world, "reference");
    (void)state;
    become(0, WORKER_READY);
    worker_replace(started[0], "it is old");
    next(&world);
    spoil(0);
    assert_int_equal(started[1]->state, WORKER_LEAVING); /* on the same device */
    assert_string_equal(next(&world)->device, "reference");
    end(&world);
}

static void test_ended_is_followed_by_another(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "reference");
    (void)state;
    for (unsigned i = 0; i < 4; i++) { /* four in a row that did no job */
        become(i, WORKER_READY);
        crash(i);
        assert_int_equal(n_died, i + 1);
        assert_null(supervisor_main(s));
        assert_string_equal(next(&world)->device, i < 3 ? "gpu" : "reference");
    }
    end(&world);
}

static void test_ended_by_somebody_says_nothing_of_the_device(void **state)
{
    struct world world;
    begin(&world, "reference");
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        become(i, WORKER_READY);
        started[i]->cause = WORKER_TAKEN;
        started[i]->end.signal = 9;
        become(i, WORKER_ENDED);
        assert_string_equal(next(&world)->device, "gpu");
    }
    end(&world);
}

static void test_ended_while_starting(void **state)
{
    struct world world;
    begin(&world, "reference");
    (void)state;
    crash(0);
    assert_true(next(&world)->wipe);
    crash(1);
    assert_string_equal(next(&world)->device, "reference");
    assert_false(started[2]->wipe);
    end(&world);
}

static void test_lost(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "reference");
    (void)state;
    become(0, WORKER_READY);
    assert_int_equal(supervisor_down_for(s, UINT64_MAX), 0);
    s->down_since = 0;
    become(0, WORKER_KILLED);
    assert_null(supervisor_main(s));
    assert_true(supervisor_down_for(s, clock_now()) < clock_now()); /* since then, not since the start */
    expect_none_planned(&world); /* until it is gone: it may hold the device */
    become(0, WORKER_LOST);
    assert_int_equal(n_died, 1);
    assert_int_equal(s->n_lost, 1);
    assert_string_equal(next(&world)->device, "reference");
    become(1, WORKER_READY);
    assert_false(fallback_is_due(&s->fallback, UINT64_MAX));
    end(&world);
}

static void test_leaving_by_itself_is_not_ready(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    become(0, WORKER_LEAVING);
    assert_null(supervisor_main(s));
    crash(0);
    next(&world);
    end(&world);
}

/* ---- the quarantine slot ---- */

static void test_quarantine(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "reference");
    (void)state;
    become(0, WORKER_READY);
    assert_null(supervisor_quarantine(s));
    assert_true(next(&world)->quarantine);
    assert_null(supervisor_quarantine(s));
    become(1, WORKER_READY);
    assert_ptr_equal(supervisor_quarantine(s), started[1]);
    assert_ptr_equal(supervisor_main(s), started[0]);
    assert_int_equal(n_ready, 1);
    crash(1); /* what it is there for */
    expect_none_planned(&world);
    assert_null(supervisor_quarantine(s));
    assert_string_equal(next(&world)->device, "gpu");
    become(2, WORKER_READY);
    spoil(2); /* of the device this says nothing */
    assert_string_equal(fallback_device(&s->fallback), "gpu");
    expect_none_planned(&world);
    assert_ptr_equal(supervisor_main(s), started[0]);
    end(&world);
}

static void test_quarantine_without_room_on_the_device(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "reference");
    (void)state;
    become(0, WORKER_READY);
    supervisor_quarantine(s);
    next(&world);
    refuse(1, FAULT_DEVICE);
    assert_string_equal(fallback_device(&s->fallback), "gpu");
    supervisor_quarantine(s);
    assert_string_equal(next(&world)->device, "reference");
    crash(2); /* nor there: again after a while */
    supervisor_quarantine(s);
    assert_true(s->slots[SLOT_QUARANTINE].start_at > clock_now());
    assert_ptr_equal(supervisor_main(s), started[0]);
    assert_int_equal(n_refused, 0);
    end(&world);
}

static void test_late(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, "reference");
    (void)state;
    become(0, WORKER_READY);
    supervisor_quarantine(s);
    next(&world);
    become(1, WORKER_READY);
    late(0); /* maybe in a call of the device's driver */
    assert_int_equal(started[1]->state, WORKER_LEAVING);
    assert_string_equal(next(&world)->device, "gpu");
    assert_null(supervisor_quarantine(s));
    assert_string_equal(next(&world)->device, "reference");
    assert_true(started[3]->quarantine);
    become(3, WORKER_READY);
    started[3]->used -= UINT64_C(40000000000); /* it is not needed any more */
    become(2, WORKER_READY);
    while (started[3]->state == WORKER_READY)
        uv_run(&world.loop, UV_RUN_ONCE);
    supervisor_quarantine(s);
    assert_string_equal(next(&world)->device, "gpu");
    end(&world);
}

static void test_late_again_and_again(void **state)
{
    struct world world;
    begin(&world, "reference");
    (void)state;
    for (unsigned i = 0; i < 4; i++) { /* in a row, without a job that was done */
        become(i, WORKER_READY);
        late(i);
        assert_string_equal(next(&world)->device, i < 3 ? "gpu" : "reference");
    }
    end(&world);
}

static void test_quarantine_leaves_when_it_is_not_needed(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    supervisor_quarantine(s);
    next(&world);
    started[1]->used -= UINT64_C(40000000000);
    become(1, WORKER_READY);
    while (started[1]->state == WORKER_READY)
        uv_run(&world.loop, UV_RUN_ONCE);
    assert_int_equal(started[1]->state, WORKER_LEAVING);
    end(&world);
}

/* ---- the end ---- */

static void test_stop_waits_for_all(void **state)
{
    struct world world;
    struct supervisor *s = begin(&world, NULL);
    (void)state;
    become(0, WORKER_READY);
    started[0]->in_flight = 1;
    supervisor_quarantine(s);
    next(&world);
    supervisor_stop(s);
    assert_int_equal(started[0]->state, WORKER_RETIRING);
    assert_int_equal(started[1]->state, WORKER_LEAVING);
    become(1, WORKER_ENDED);
    assert_int_equal(n_stopped, 0);
    supervisor_kill(s);
    assert_int_equal(started[0]->state, WORKER_KILLED);
    assert_int_equal(started[0]->cause, WORKER_TAKEN);
    become(0, WORKER_ENDED);
    assert_int_equal(n_stopped, 1);
    expect_none_planned(&world);
    supervisor_close(s);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world.loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_takes_the_slot),
        cmocka_unit_test(test_a_replacement_that_is_refused_changes_nothing),
        cmocka_unit_test(test_spoiled_goes_down_the_ladder),
        cmocka_unit_test(test_spoiled_without_another_device),
        cmocka_unit_test(test_spoiled_while_its_replacement_starts),
        cmocka_unit_test(test_ended_is_followed_by_another),
        cmocka_unit_test(test_ended_by_somebody_says_nothing_of_the_device),
        cmocka_unit_test(test_ended_while_starting),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_leaving_by_itself_is_not_ready),
        cmocka_unit_test(test_quarantine),
        cmocka_unit_test(test_quarantine_without_room_on_the_device),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_late_again_and_again),
        cmocka_unit_test(test_quarantine_leaves_when_it_is_not_needed),
        cmocka_unit_test(test_stop_waits_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
