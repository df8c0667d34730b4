#include "test.h"

#include <stdio.h>
#include <string.h>

#include "daemon/watch/candidate.h"

#define SECOND UINT64_C(1000000000)
#define SETTLE (SECOND / 4)
#define STABLE (2 * SECOND)

static const struct candidate_times times = {SETTLE, STABLE};

static const struct identity small = {1, 2, 100, 5}, grown = {1, 2, 200, 6}, empty = {1, 2, 0, 5};

static enum candidate_verdict judge(struct candidate_facts *facts,
                                    const struct candidate_heard *heard,
                                    const struct identity *identity, enum spool_writer writer,
                                    uint64_t now)
{
    return candidate_judge(facts, heard, SPOOL_FILE, identity, writer, now, &times);
}

static const struct candidate_heard nothing, whole = {.whole = true};

static void test_whole_is_taken_at_once(void **state)
{
    struct candidate_facts facts = {0};
    (void)state;
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_NOT_WRITTEN, SECOND), CANDIDATE_TAKE);
    facts = (struct candidate_facts){0};
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_WRITER_UNKNOWN, SECOND), CANDIDATE_TAKE);
}

static void test_closed_has_to_settle(void **state)
{
    struct candidate_facts facts = {0};
    struct candidate_heard heard = {.closed = true, .touched = SECOND};
    uint64_t due = SECOND + SETTLE;
    (void)state;
    assert_int_equal(judge(&facts, &heard, &small, SPOOL_NOT_WRITTEN, due - 1), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &heard, &small, SPOOL_NOT_WRITTEN, due), CANDIDATE_TAKE);
    /* It changed without news of that. */
    assert_int_equal(judge(&facts, &heard, &grown, SPOOL_WRITER_UNKNOWN, due), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &heard, &grown, SPOOL_WRITER_UNKNOWN, due + SETTLE),
                     CANDIDATE_TAKE);
    heard.touched = due + SETTLE; /* somebody opened it, and has left it … */
    assert_int_equal(judge(&facts, &heard, &grown, SPOOL_WRITER_UNKNOWN, due + 2 * SETTLE - 1),
                     CANDIDATE_WAIT);
    heard.open = true; /* … or not */
    assert_int_equal(judge(&facts, &heard, &grown, SPOOL_WRITER_UNKNOWN, due + 2 * SETTLE),
                     CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &heard, &grown, SPOOL_WRITER_UNKNOWN, due + STABLE),
                     CANDIDATE_TAKE);
}

static void test_found_has_to_be_stable(void **state)
{
    struct candidate_facts facts = {0};
    (void)state;
    assert_int_equal(judge(&facts, &nothing, &small, SPOOL_NOT_WRITTEN, SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &nothing, &small, SPOOL_NOT_WRITTEN, SECOND + STABLE - 1),
                     CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &nothing, &grown, SPOOL_NOT_WRITTEN, SECOND + STABLE),
                     CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &nothing, &grown, SPOOL_NOT_WRITTEN, SECOND + 2 * STABLE),
                     CANDIDATE_TAKE);
}

static void test_open_for_writing(void **state)
{
    struct candidate_facts facts = {0};
    (void)state;
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_WRITTEN, SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_WRITTEN, SECOND + 59 * SECOND),
                     CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_WRITTEN, SECOND + 60 * SECOND),
                     CANDIDATE_TAKE);
}

static void test_truncated_waits_until_it_changes_or_not(void **state)
{
    struct candidate_facts facts = {
        .truncated = true, .has_seen = true, .seen = small, .since = 10 * SECOND};
    struct candidate_facts other = facts;
    (void)state;
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_NOT_WRITTEN, 11 * SECOND), CANDIDATE_WAIT);
    assert_int_equal(judge(&facts, &whole, &small, SPOOL_NOT_WRITTEN, 12 * SECOND), CANDIDATE_TAKE);
    assert_true(facts.truncated); /* the last try */
    assert_int_equal(judge(&other, &whole, &grown, SPOOL_NOT_WRITTEN, 11 * SECOND), CANDIDATE_TAKE);
    assert_false(other.truncated);
}

static void test_what_is_not_taken(void **state)
{
    static const enum spool_sight sights[] = {SPOOL_GONE, SPOOL_NO_FILE};
    struct candidate_facts facts = {0};
    (void)state;
    assert_int_equal(judge(&facts, &whole, &empty, SPOOL_NOT_WRITTEN, 0), CANDIDATE_REST);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            candidate_judge(&facts, &whole, sights[i], &small, SPOOL_NOT_WRITTEN, 0, &times),
            CANDIDATE_DROP);
    assert_int_equal(
        candidate_judge(&facts, &whole, SPOOL_UNREADABLE, &small, SPOOL_NOT_WRITTEN, 0, &times),
        CANDIDATE_WAIT);
    assert_true(facts.unreadable);
}

static void hear(struct candidates *all, const char *news, uint64_t now)
{
    static const char letters[] = "crwolm";
    for (; *news; news++)
        candidates_hear(all, "a", (enum candidate_news)(strchr(letters, *news) - letters), now);
}

/* Letters: c created, r renamed in, w closed after writing, o opened, l left by a reader, m changed
 * (its mode). */
static void test_news(void **state)
{
    static const struct {
        const char *news;
        bool known, whole, closed, open, created;
        enum candidate_state state;
    } rows[] = {
        {"o", .known = false},
        {"olm", .known = false},
        {"c", .known = true, .created = true, .state = CANDIDATE_HINTED},
        {"cm", .known = true, .created = true, .state = CANDIDATE_HINTED},
        {"co", .known = true, .open = true, .state = CANDIDATE_HINTED},
        {"cow", .known = true, .closed = true, .state = CANDIDATE_SETTLING},
        {"cowo", .known = true, .closed = true, .open = true, .state = CANDIDATE_SETTLING},
        {"cowol", .known = true, .closed = true, .state = CANDIDATE_SETTLING},
        {"cowr", .known = true, .whole = true, .state = CANDIDATE_HINTED},
        {"cowc", .known = true, .created = true, .state = CANDIDATE_HINTED},
        {"w", .known = true, .closed = true, .state = CANDIDATE_SETTLING},
        {"r", .known = true, .whole = true, .state = CANDIDATE_HINTED},
    };
    struct candidates all;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        candidates_init(&all, times);
        hear(&all, rows[i].news, 5);
        const struct candidate *c = candidates_find(&all, "a");
        assert_int_equal(c != NULL, rows[i].known);
        if (c) {
            assert_int_equal(c->heard.whole, rows[i].whole);
            assert_int_equal(c->heard.closed, rows[i].closed);
            assert_int_equal(c->heard.open, rows[i].open);
            assert_int_equal(c->heard.created, rows[i].created);
            assert_int_equal(c->heard.touched, 5);
            assert_int_equal(c->state, rows[i].state);
        }
        candidates_finish(&all);
    }
}

/* Whoever waits for `settle` is due before those who wait for `stable`, and again after each news.
 */
static void test_when_they_are_due(void **state)
{
    struct candidates all;
    (void)state;
    candidates_init(&all, times);
    candidates_found(&all, "found", &small, 0);
    hear(&all, "cow", 0);
    candidates_wake(&all, 0);
    assert_int_equal(candidates_due(&all), SETTLE);
    hear(&all, "ow", SETTLE / 2);
    candidates_wake(&all, SETTLE);
    assert_int_equal(candidates_due(&all), SETTLE / 2 + SETTLE);
    candidates_wake(&all, SETTLE / 2 + SETTLE);
    assert_int_equal(candidates_due(&all), STABLE);
    assert_int_equal(candidates_find(&all, "a")->state, CANDIDATE_HINTED);
    candidates_wake(&all, STABLE);
    assert_int_equal(candidates_due(&all), 0);
    candidates_finish(&all);
}

/* Empty files are counted, and take no room from others. */
static void test_empty_ones_rest(void **state)
{
    struct candidates all;
    char name[16];
    (void)state;
    candidates_init(&all, times);
    for (int i = 0; i < CANDIDATES_EMPTY_MAX + 10; i++) {
        snprintf(name, sizeof name, "%d", i);
        candidates_found(&all, name, &empty, 0);
    }
    assert_int_equal(all.count, CANDIDATES_EMPTY_MAX);
    assert_int_equal(all.counts[CANDIDATE_EMPTY], CANDIDATES_EMPTY_MAX);
    candidates_wake(&all, 100 * SECOND);
    assert_int_equal(candidates_due(&all), 0);
    candidates_hear(&all, "7", NEWS_RENAMED, 0);
    assert_int_equal(candidates_find(&all, "7")->state, CANDIDATE_HINTED);
    candidates_stir(&all);
    assert_int_equal(all.counts[CANDIDATE_HINTED], CANDIDATES_EMPTY_MAX);
    candidates_found(&all, "new", &small, 0);
    assert_int_equal(candidates_find(&all, "new")->state, CANDIDATE_WAITING);
    candidates_finish(&all);
}

/* Our own rename back is no news. */
static void test_returned(void **state)
{
    struct candidates candidates;
    (void)state;
    candidates_init(&candidates, times);
    candidates_hear(&candidates, "a", NEWS_RENAMED, SECOND);
    struct candidate *c = candidates_find(&candidates, "a");
    assert_non_null(c);
    candidates_return(&candidates, "a", &small, true, SECOND);
    assert_int_equal(c->state, CANDIDATE_WAITING);
    candidates_hear(&candidates, "a", NEWS_RENAMED, SECOND); /* our own doing */
    assert_int_equal(c->state, CANDIDATE_WAITING);
    candidates_finish(&candidates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_is_taken_at_once),
        cmocka_unit_test(test_closed_has_to_settle),
        cmocka_unit_test(test_news),
        cmocka_unit_test(test_when_they_are_due),
        cmocka_unit_test(test_found_has_to_be_stable),
        cmocka_unit_test(test_open_for_writing),
        cmocka_unit_test(test_truncated_waits_until_it_changes_or_not),
        cmocka_unit_test(test_what_is_not_taken),
        cmocka_unit_test(test_empty_ones_rest),
        cmocka_unit_test(test_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
