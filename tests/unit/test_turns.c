#include "test.h"

#include "daemon/work/queue.h"

static struct job_list list;
static struct turns turns;
static const bool never = false;

static void add(struct job *job, struct job_flow *flow)
{
    *job = (struct job){.flow = flow, .stalled = &never};
    TAILQ_INSERT_TAIL(&list, job, in_list);
}

static struct job *take(void)
{
    struct job *job = turns_next(&turns, &list, false);
    if (job) {
        turns_took(&turns, job);
        TAILQ_REMOVE(&list, job, in_list);
    }
    return job;
}

static int reset(void **state)
{
    (void)state;
    TAILQ_INIT(&list);
    turns = (struct turns){0};
    return 0;
}

static void test_folders_in_their_order(void **state)
{
    struct job jobs[3];
    (void)state;
    assert_null(take());
    for (int i = 0; i < 3; i++)
        add(&jobs[i], NULL);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(take(), &jobs[i]);
    assert_null(take());
}

static void test_clients_first_and_in_turn(void **state)
{
    struct job_flow a = {.user = &a}, b = {.user = &b};
    struct job backlog, of_a[3], of_b[2];
    (void)state;
    add(&backlog, NULL);
    for (int i = 0; i < 3; i++)
        add(&of_a[i], &a);
    for (int i = 0; i < 2; i++)
        add(&of_b[i], &b);
    assert_ptr_equal(take(), &of_a[0]);
    assert_ptr_equal(take(), &of_b[0]);
    assert_ptr_equal(take(), &of_a[1]);
    assert_ptr_equal(take(), &of_b[1]);
    assert_ptr_equal(take(), &of_a[2]);
    assert_ptr_equal(take(), &backlog);
}

/* One that comes later is not behind what the first has waiting. */
static void test_newcomer(void **state)
{
    struct job_flow a = {.user = &a}, b = {.user = &b};
    struct job of_a[4], of_b;
    (void)state;
    for (int i = 0; i < 4; i++)
        add(&of_a[i], &a);
    assert_ptr_equal(take(), &of_a[0]);
    assert_ptr_equal(take(), &of_a[1]);
    add(&of_b, &b);
    assert_ptr_equal(take(), &of_b);
    assert_ptr_equal(take(), &of_a[2]);
}

/* Three clients of one user get together what the one of another gets. */
static void test_users_in_turn(void **state)
{
    struct job_flow one = {.user = &one}, other = {.user = &other},
                    flows[] = {{0, &one}, {0, &one}, {0, &one}, {0, &other}};
    struct job jobs[4][3];
    (void)state;
    for (int client = 0; client < 4; client++)
        for (int i = 0; i < 3; i++)
            add(&jobs[client][i], &flows[client]);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(take(), &jobs[i][0]);
        assert_ptr_equal(take(), &jobs[3][i]);
    }
    assert_ptr_equal(take(), &jobs[0][1]);
}

static void test_folders_are_not_starved(void **state)
{
    struct job_flow a = {.user = &a};
    struct job of_a[20], backlog[2];
    (void)state;
    for (int i = 0; i < 20; i++)
        add(&of_a[i], &a);
    add(&backlog[0], NULL);
    add(&backlog[1], NULL);
    for (int i = 0; i < 7; i++)
        assert_ptr_equal(take(), &of_a[i]);
    assert_ptr_equal(take(), &backlog[0]);
    for (int i = 7; i < 14; i++)
        assert_ptr_equal(take(), &of_a[i]);
    assert_ptr_equal(take(), &backlog[1]);
    assert_ptr_equal(take(), &of_a[14]);
}

static void test_room_for_somebody_else(void **state)
{
    struct job_flow a = {.user = &a, .n_opened = 4, .n_sent = 2}, b = {.user = &b, .n_opened = 1},
                    of_b = {.user = &b};
    struct job of_a, other, backlog;
    (void)state;
    add(&of_a, &a);
    assert_null(turns_next(&turns, &list, true));
    assert_ptr_equal(turns_next(&turns, &list, false), &of_a);
    assert_null(turns_send(&turns, &list, 2, 2));
    add(&other, &of_b);
    assert_null(turns_next(&turns, &list, true)); /* one of hers is open already */
    assert_ptr_equal(turns_send(&turns, &list, 2, 2), &other);
    assert_null(turns_send(&turns, &list, 3, 2)); /* there is room for one more, not for two */
    assert_null(turns_send(&turns, &list, 1, 1)); /* a single slot is a single job */
    assert_ptr_equal(turns_send(&turns, &list, 0, 1), &other);
    a.n_sent = 1; /* one has ended: she still has as many as others may have */
    b.n_sent = 1;
    assert_null(turns_send(&turns, &list, 2, 2));
    assert_ptr_equal(turns_send(&turns, &list, 1, 2), &of_a);
    add(&backlog, NULL);
    assert_ptr_equal(turns_send(&turns, &list, 2, 2), &backlog);
    turns.folders.n_sent = 1;
    assert_null(turns_send(&turns, &list, 2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_folders_in_their_order, reset),
        cmocka_unit_test_setup(test_clients_first_and_in_turn, reset),
        cmocka_unit_test_setup(test_newcomer, reset),
        cmocka_unit_test_setup(test_users_in_turn, reset),
        cmocka_unit_test_setup(test_folders_are_not_starved, reset),
        cmocka_unit_test_setup(test_room_for_somebody_else, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
