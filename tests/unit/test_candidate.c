#include "test.h"

#include <stdio.h>

#include "daemon/watch/candidate.h"

#define SECOND UINT64_C(1000000000)
#define STABLE (2 * SECOND)

static const struct identity small = {1, 2, 100, 5}, grown = {1, 2, 200, 6}, empty = {1, 2, 0, 5};

static enum candidate_verdict judge(struct candidate_facts *facts, const struct identity *identity,
                                    enum spool_writer writer, uint64_t now)
{
    return candidate_judge(facts, SPOOL_FILE, identity, writer, now, STABLE);
}

static void test_closed_is_taken_at_once(void **state)
{
    struct candidate_facts facts = {.closed = true};
    (void)state;
    assert_int_equal(judge(&facts, &small, SPOOL_NOT_WRITTEN, SECOND), CANDIDATE_TAKE);
    facts = (struct candidate_facts){.closed = true};
    assert_int_equal(judge(&facts, &small, SPOOL_WRITER_UNKNOWN, SECOND), CANDIDATE_TAKE);
}

static void test_found_has_to_be_stable(void **state)
{
    struct candidate_facts facts = {0};
    (void)state;
    assert_int_equal(judge(&facts, &small, SPOOL_NOT_WRITTEN, SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &small, SPOOL_NOT_WRITTEN, SECOND + STABLE - 1), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &grown, SPOOL_NOT_WRITTEN, SECOND + STABLE), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &grown, SPOOL_NOT_WRITTEN, SECOND + 2 * STABLE), CANDIDATE_TAKE);
}

static void test_open_for_writing(void **state)
{
    struct candidate_facts facts = {.closed = true};
    (void)state;
    assert_int_equal(judge(&facts, &small, SPOOL_WRITTEN, SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &small, SPOOL_WRITTEN, SECOND + 59 * SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &small, SPOOL_WRITTEN, SECOND + 60 * SECOND), CANDIDATE_TAKE);
}

static void test_truncated_waits_until_it_changes_or_not(void **state)
{
    struct candidate_facts facts = {
        .closed = true, .truncated = true, .has_seen = true, .seen = small, .since = 10 * SECOND};
    struct candidate_facts other = facts;
    (void)state;
    assert_int_equal(judge(&facts, &small, SPOOL_NOT_WRITTEN, 11 * SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &small, SPOOL_NOT_WRITTEN, 12 * SECOND), CANDIDATE_TAKE);
    assert_true(facts.truncated); /* the last try */
    assert_int_equal(judge(&other, &grown, SPOOL_NOT_WRITTEN, 11 * SECOND), CANDIDATE_TAKE);
    assert_false(other.truncated);
}

static void test_what_is_not_taken(void **state)
{
    struct candidate_facts facts = {.closed = true};
    (void)state;
    assert_int_equal(judge(&facts, &empty, SPOOL_NOT_WRITTEN, 0), CANDIDATE_REST);
    assert_int_equal(candidate_judge(&facts, SPOOL_GONE, &small, SPOOL_NOT_WRITTEN, 0, STABLE),
                     CANDIDATE_DROP);
    assert_int_equal(candidate_judge(&facts, SPOOL_NO_FILE, &small, SPOOL_NOT_WRITTEN, 0, STABLE),
                     CANDIDATE_DROP);
    assert_int_equal(
        candidate_judge(&facts, SPOOL_UNREADABLE, &small, SPOOL_NOT_WRITTEN, 0, STABLE),
        CANDIDATE_WAIT);
    assert_true(facts.unreadable);
}

/* Empty files are counted, and take no room from others. */
static void test_empty_ones_rest(void **state)
{
    struct candidates all;
    struct fault fault = FAULT_INIT;
    char name[16];
    (void)state;
    assert_int_equal(candidates_init(&all, &fault), 0);
    for (int i = 0; i < CANDIDATES_EMPTY_MAX + 10; i++) {
        snprintf(name, sizeof name, "%d", i);
        candidates_found(&all, name, &empty, 0, STABLE);
    }
    assert_int_equal(all.count, CANDIDATES_EMPTY_MAX);
    assert_int_equal(all.counts[CANDIDATE_EMPTY], CANDIDATES_EMPTY_MAX);
    assert_int_equal(candidates_wake(&all, 100 * SECOND), 0);
    candidates_hint(&all, "7", true);
    assert_int_equal(candidates_find(&all, "7")->state, CANDIDATE_HINTED);
    candidates_stir(&all);
    assert_int_equal(all.counts[CANDIDATE_HINTED], CANDIDATES_EMPTY_MAX);
    candidates_found(&all, "new", &small, 0, STABLE);
    assert_int_equal(candidates_find(&all, "new")->state, CANDIDATE_WAITING);
    candidates_finish(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_is_taken_at_once),
        cmocka_unit_test(test_found_has_to_be_stable),
        cmocka_unit_test(test_open_for_writing),
        cmocka_unit_test(test_truncated_waits_until_it_changes_or_not),
        cmocka_unit_test(test_what_is_not_taken),
        cmocka_unit_test(test_empty_ones_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
