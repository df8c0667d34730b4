/* What the supervisor makes of its workers' messages and ends. Their processes are simulated in
 * this file; the tests say what they send, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/work/supervise.h"
#include "worker/message.h"

#define WORKERS_MAX 16

struct world {
    uv_loop_t loop;
    struct settings settings;
    struct queue queue;
    struct worker_check check;
    struct supervisor supervisor;
};

static struct world world;
static struct supervisor *const s = &world.supervisor;

/* ---- in place of child.c ---- */

static struct child *children[WORKERS_MAX]; /* in their order; NULL once forgotten */
static struct message said[WORKERS_MAX];    /* what each says next, if it is readable */
static bool wiped[WORKERS_MAX];
static unsigned n_started, n_ready, n_refused, n_died;
static unsigned n_taken; /* of the started ones: known to the test */

static unsigned index_of(const struct child *child)
{
    unsigned i = 0;
    while (children[i] != child)
        i++;
    return i;
}

int child_start(struct child **child, uv_loop_t *loop, struct fault *fault)
{
    (void)loop;
    (void)fault;
    assert_true(n_started < WORKERS_MAX);
    *child = children[n_started++] = calloc(1, sizeof **child);
    return 0;
}

bool child_receive(struct child *child, struct message *message)
{
    bool is_there = child->readable;
    child->readable = false;
    *message = said[index_of(child)];
    return is_there;
}

void child_send(struct child *child, const struct message *message)
{
    if (message->kind == MESSAGE_SETUP)
        wiped[index_of(child)] = message->wipe;
}

void child_hang_up(struct child *child)
{
    child->socket = -1;
}

void child_kill(struct child *child)
{
    (void)child;
}

void child_forget(struct child **child)
{
    children[index_of(*child)] = NULL;
    free(*child);
    *child = NULL;
    n_died++;
}

/* ---- its owner ---- */

/* A turn of the loop, and what is told in it. */
static void turn(void)
{
    supervisor_turn(s);
    n_ready += s->news.ready;
    n_refused += faults_count(&s->news.refused) > 0;
    if (faults_count(&s->news.refused) > 0)
        assert_true(s->news.refused.list[0].code != FAULT_NONE);
    s->news = (struct supervisor_news){0};
    queue_turn(&world.queue, NULL, NULL, false);
}

/* The worker with that number; NULL once it is gone. */
static struct worker *at(unsigned index)
{
    struct worker *worker;
    TAILQ_FOREACH (worker, &s->workers, in_list)
        if (worker->child == children[index])
            return worker;
    return NULL;
}

/* The next process, once its time has come. */
static const struct worker *next(void)
{
    turn();
    while (n_started == n_taken) {
        assert_true(uv_loop_alive(&world.loop));
        uv_run(&world.loop, UV_RUN_ONCE);
        turn();
    }
    return at(n_taken++);
}

static void begin(const char *fallback)
{
    struct fault fault = FAULT_INIT;
    world = (struct world){.settings = {.device = "gpu", .fallback = fallback, .jobs = 2},
                           .check = {.chain = "invert", .format = "png"}};
    n_started = n_ready = n_refused = n_died = 0;
    assert_int_equal(uv_loop_init(&world.loop), 0);
    queue_init(&world.queue, &world.loop);
    *s = (struct supervisor){.loop = &world.loop,
                             .settings = &world.settings,
                             .config_fd = -1,
                             .n_checks = 1,
                             .checks = &world.check,
                             .queue = &world.queue};
    assert_int_equal(supervisor_init(s, &fault), 0);
    supervisor_start(s);
    turn();
    assert_int_equal(n_started, n_taken = 1);
    assert_null(slot_ready(&s->main));
}

static void expect_none_planned(void)
{
    turn();
    assert_int_equal(s->main.start_at, 0);
    assert_int_equal(s->quarantine.start_at, 0);
}

static void say(unsigned index, struct message message)
{
    said[index] = message;
    children[index]->readable = true;
    turn();
}

static void pass(unsigned index)
{
    say(index, (struct message){MESSAGE_INIT(MESSAGE_CHECKED), .result = "ok", .device = "it"});
    assert_int_equal(at(index)->state, WORKER_READY);
}

static void refuse(unsigned index, enum fault_code code)
{
    say(index,
        (struct message){MESSAGE_INIT(MESSAGE_CHECKED), .result = fault_name(code), .text = "no"});
}

static void end_with(unsigned index, int signal)
{
    children[index]->exited = true;
    children[index]->signal = signal;
    turn();
}

static void crash(unsigned index)
{
    end_with(index, 11);
}

static void late(unsigned index)
{
    worker_kill(at(index), WORKER_LATE);
    end_with(index, 9);
}

/* Its device fails. */
static void spoil(unsigned index)
{
    say(index, (struct message){MESSAGE_INIT(MESSAGE_MOVED), .id = -1,
                                .result = fault_name(FAULT_DEVICE), .text = "it failed"});
}

/* Its main worker is too old. */
static void grow_old(void)
{
    world.settings.worker_time = 1;
    s->stirred = true;
    turn();
    world.settings.worker_time = 0;
}

static void close_all(void)
{
    assert_true(supervisor_has_stopped(s));
    supervisor_close(s, NULL);
    queue_close(&world.queue);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world.loop), 0);
}

static void end(void)
{
    supervisor_stop(s);
    turn();
    for (unsigned i = 0; i < n_started; i++)
        if (children[i])
            end_with(i, 0);
    close_all();
}

/* ---- the main slot ---- */

static void test_ready_takes_the_slot(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    assert_ptr_equal(slot_ready(&s->main), at(0));
    at(0)->in_flight = 1;
    grow_old();
    next();
    assert_ptr_equal(slot_ready(&s->main), at(0)); /* until the other one is ready */
    pass(1);
    assert_ptr_equal(slot_ready(&s->main), at(1));
    assert_int_equal(at(0)->state, WORKER_RETIRING); /* and ends its job */
    assert_int_equal(n_ready, 2);
    crash(0);
    assert_int_equal(n_died, 1);
    expect_none_planned();
    end();
}

static void test_a_replacement_that_is_refused_changes_nothing(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    grow_old();
    next();
    refuse(1, FAULT_MEMORY);
    assert_int_equal(at(1)->state, WORKER_LEAVING);
    end_with(1, 0);
    assert_ptr_equal(slot_ready(&s->main), at(0));
    expect_none_planned();
    grow_old(); /* not again for a minute */
    expect_none_planned();
    assert_int_equal(n_refused, 0);
    end();
}

static void test_spoiled_goes_down_the_ladder(void **state)
{
    begin("cpu");
    (void)state;
    pass(0);
    at(0)->in_flight = 1;
    spoil(0);
    assert_int_equal(at(0)->state, WORKER_SPOILED);
    assert_null(slot_ready(&s->main)); /* so nobody waits for it */
    assert_string_equal(next()->device, "cpu");
    refuse(1, FAULT_DEVICE); /* its replacement is refused: the next one, at once */
    assert_int_equal(n_refused, 0);
    assert_string_equal(next()->device, "reference");
    pass(2);
    assert_ptr_equal(slot_ready(&s->main), at(2));
    end();
}

/* A device that cannot be opened is told before native has passed the checks. */
static void test_spoiled_before_it_is_ready(void **state)
{
    begin("cpu");
    (void)state;
    spoil(0);
    assert_int_equal(at(0)->state, WORKER_STARTING);
    say(0, (struct message){MESSAGE_INIT(MESSAGE_CHECKED), .result = "ok"});
    assert_int_equal(n_ready, 1);
    assert_int_equal(at(0)->state, WORKER_LEAVING);
    assert_string_equal(next()->device, "cpu");
    end();
}

static void test_spoiled_without_another_device(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    spoil(0);
    next();
    for (unsigned i = 1; i <= 3; i++) { /* refused: told, and tried again after ever longer */
        refuse(i, FAULT_DEVICE);
        assert_int_equal(n_refused, i);
        uint64_t pause = s->main.start_at - clock_now();
        assert_true(pause > (UINT64_C(40000000) << i) && pause <= (UINT64_C(50000000) << i));
        assert_string_equal(next()->device, "gpu");
    }
    pass(4);
    assert_ptr_equal(slot_ready(&s->main), at(4));
    end();
}

static void test_spoiled_while_its_replacement_starts(void **state)
{
    begin("reference");
    (void)state;
    pass(0);
    grow_old();
    next();
    spoil(0);
    assert_int_equal(at(1)->state, WORKER_LEAVING); /* on the same device */
    assert_string_equal(next()->device, "reference");
    end();
}

static void test_ended_is_followed_by_another(void **state)
{
    begin("reference");
    (void)state;
    for (unsigned i = 0; i < 4; i++) { /* four in a row that did no job */
        pass(i);
        crash(i);
        assert_int_equal(n_died, i + 1);
        assert_null(slot_ready(&s->main));
        assert_string_equal(next()->device, i < 3 ? "gpu" : "reference");
    }
    end();
}

static void test_ended_by_somebody_says_nothing_of_the_device(void **state)
{
    begin("reference");
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        pass(i);
        end_with(i, 9);
        assert_string_equal(next()->device, "gpu");
    }
    end();
}

static void test_ended_while_starting(void **state)
{
    begin("reference");
    (void)state;
    crash(0);
    next();
    assert_true(wiped[1]);
    crash(1);
    assert_string_equal(next()->device, "reference");
    assert_false(wiped[2]);
    end();
}

static void test_lost(void **state)
{
    begin("reference");
    (void)state;
    pass(0);
    assert_int_equal(supervisor_down_for(s, UINT64_MAX), 0);
    s->down_since = 0;
    worker_kill(at(0), WORKER_LATE);
    turn();
    assert_null(slot_ready(&s->main));
    assert_true(supervisor_down_for(s, clock_now()) < clock_now()); /* since then, not the start */
    expect_none_planned(); /* until it is gone: it may hold the device */
    at(0)->due = 1;        /* SIGKILL has no effect */
    s->stirred = true;
    turn();
    assert_int_equal(n_died, 1);
    assert_int_equal(s->n_lost, 1);
    assert_true(supervisor_down_for(s, clock_now()) < clock_now());
    assert_string_equal(next()->device, "reference");
    pass(1);
    assert_false(fallback_is_due(&s->fallback, UINT64_MAX));
    end();
}

static void test_leaving_by_itself_is_not_ready(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    children[0]->cut = children[0]->failed = true;
    turn();
    assert_int_equal(at(0)->state, WORKER_LEAVING);
    assert_null(slot_ready(&s->main));
    crash(0);
    next();
    end();
}

/* What a worker said before its end still counts, even if libuv tells of the end first. */
static void test_last_words(void **state)
{
    begin(NULL);
    (void)state;
    said[0] = (struct message){MESSAGE_INIT(MESSAGE_CHECKED), .result = "ok"};
    children[0]->readable = true;
    crash(0);
    assert_int_equal(n_ready, 1);
    assert_int_equal(n_died, 1);
    next();
    assert_false(wiped[1]); /* it was ready */
    end();
}

static void test_silent(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(supervisor_is_sound(s));
        assert_int_equal(at(0)->state, WORKER_READY);
        at(0)->due = 1;
        s->stirred = true;
        turn();
    }
    assert_int_equal(at(0)->state, WORKER_KILLED);
    end_with(0, 9);
    next();
    end();
}

/* ---- the quarantine slot ---- */

static void test_quarantine(void **state)
{
    begin("reference");
    (void)state;
    pass(0);
    supervisor_want_quarantine(s);
    assert_null(slot_ready(&s->quarantine));
    assert_true(next()->quarantine);
    assert_string_equal(at(1)->device, "reference"); /* the rung below the main worker's */
    supervisor_want_quarantine(s);
    assert_null(slot_ready(&s->quarantine));
    pass(1);
    assert_ptr_equal(slot_ready(&s->quarantine), at(1));
    assert_ptr_equal(slot_ready(&s->main), at(0));
    assert_int_equal(n_ready, 1);
    crash(1); /* what it is there for */
    expect_none_planned();
    supervisor_want_quarantine(s);
    assert_null(slot_ready(&s->quarantine));
    assert_string_equal(next()->device, "reference");
    pass(2);
    spoil(2); /* of the main one's device this says nothing */
    assert_string_equal(fallback_device(&s->fallback), "gpu");
    expect_none_planned();
    assert_ptr_equal(slot_ready(&s->main), at(0));
    end();
}

static void test_quarantine_without_a_rung_below(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    supervisor_want_quarantine(s);
    assert_true(next()->quarantine);
    assert_string_equal(at(1)->device, "gpu");
    end();
}

static void test_quarantine_without_room_on_the_device(void **state)
{
    begin("cpu");
    (void)state;
    pass(0);
    supervisor_want_quarantine(s);
    assert_string_equal(next()->device, "cpu");
    refuse(1, FAULT_DEVICE);
    assert_string_equal(fallback_device(&s->fallback), "gpu");
    supervisor_want_quarantine(s);
    assert_string_equal(next()->device, "reference");
    crash(2); /* nor there: again after a while */
    supervisor_want_quarantine(s);
    assert_true(s->quarantine.start_at > clock_now());
    assert_ptr_equal(slot_ready(&s->main), at(0));
    assert_int_equal(n_refused, 0);
    end();
}

static void test_late(void **state)
{
    begin("cpu");
    (void)state;
    pass(0);
    supervisor_want_quarantine(s);
    assert_string_equal(next()->device, "cpu");
    pass(1);
    late(0); /* maybe in a call of the device's driver, which the other one does not use */
    assert_int_equal(at(1)->state, WORKER_READY);
    assert_string_equal(next()->device, "gpu");
    pass(2);
    spoil(2);
    assert_string_equal(next()->device, "cpu");
    pass(3);
    supervisor_want_quarantine(s);
    assert_null(slot_ready(&s->quarantine)); /* which the main one uses now */
    assert_int_equal(at(1)->state, WORKER_LEAVING);
    assert_string_equal(next()->device, "reference");
    assert_true(at(4)->quarantine);
    pass(4);
    assert_ptr_equal(slot_ready(&s->quarantine), at(4));
    end();
}

static void test_late_again_and_again(void **state)
{
    begin("reference");
    (void)state;
    for (unsigned i = 0; i < 4; i++) { /* in a row, without a job that was done */
        pass(i);
        late(i);
        assert_string_equal(next()->device, i < 3 ? "gpu" : "reference");
    }
    end();
}

static void test_quarantine_leaves_when_it_is_not_needed(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    supervisor_want_quarantine(s);
    next();
    pass(1);
    at(1)->used -= UINT64_C(40000000000);
    s->stirred = true;
    turn();
    assert_int_equal(at(1)->state, WORKER_LEAVING);
    end();
}

/* ---- the end ---- */

static void test_stop_waits_for_all(void **state)
{
    begin(NULL);
    (void)state;
    pass(0);
    at(0)->in_flight = 1;
    supervisor_want_quarantine(s);
    next();
    supervisor_stop(s);
    assert_int_equal(at(0)->state, WORKER_RETIRING);
    assert_int_equal(at(1)->state, WORKER_LEAVING);
    end_with(1, 0);
    assert_false(supervisor_has_stopped(s));
    supervisor_kill(s);
    assert_int_equal(at(0)->state, WORKER_KILLED);
    assert_int_equal(at(0)->cause, WORKER_TAKEN);
    end_with(0, 9);
    expect_none_planned();
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_takes_the_slot),
        cmocka_unit_test(test_a_replacement_that_is_refused_changes_nothing),
        cmocka_unit_test(test_spoiled_goes_down_the_ladder),
        cmocka_unit_test(test_spoiled_before_it_is_ready),
        cmocka_unit_test(test_spoiled_without_another_device),
        cmocka_unit_test(test_spoiled_while_its_replacement_starts),
        cmocka_unit_test(test_ended_is_followed_by_another),
        cmocka_unit_test(test_ended_by_somebody_says_nothing_of_the_device),
        cmocka_unit_test(test_ended_while_starting),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_leaving_by_itself_is_not_ready),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_quarantine),
        cmocka_unit_test(test_quarantine_without_a_rung_below),
        cmocka_unit_test(test_quarantine_without_room_on_the_device),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_late_again_and_again),
        cmocka_unit_test(test_quarantine_leaves_when_it_is_not_needed),
        cmocka_unit_test(test_stop_waits_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
