/* The ledger's answers to questions, for rows and answers written by hand. */
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/spool/ledger.h"

static char folder[] = "/tmp/sluice-ledger-XXXXXX";
static struct ledger *ledger;

static struct ledger_entry entry(const char *name, unsigned inode, const char *word,
                                 const char *result, bool remembered)
{
    return (struct ledger_entry){.folder = "/in",
                                 .name = name,
                                 .identity = {.device = 7, .inode = inode, .size = 3, .mtime = 4},
                                 .state = word,
                                 .attempts = 2,
                                 .reason = strcmp(word, "failed") == 0 ? "why" : NULL,
                                 .result = result,
                                 .remembered = remembered};
}

static int open_one(void **state)
{
    struct fault fault = FAULT_INIT;
    (void)state;
    if (!mkdtemp(folder) || ledger_open(&ledger, folder, &fault) != 0)
        return -1;
    const struct ledger_entry entries[] = {
        entry("a", 1, "done", "a.png", false),
        entry("b", 2, "failed", NULL, false),
        entry("kept", 3, "done", "kept.png", true),
        entry("p", 4, "done", "p.dx.png", false),
        entry("sub/p", 5, "done", "p.dx.png", false),
        entry("a", 6, "failed", NULL, false), /* a later file of that name */
    };
    return ledger_write(ledger, entries, sizeof entries / sizeof *entries, false, &fault);
}

static int close_it(void **state)
{
    static const char *const tails[] = {"", "-wal", "-shm"};
    char path[100];
    (void)state;
    ledger_close(&ledger);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/ledger.db%s", folder, tails[i]);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

static bool knows(struct ledger *of, const char *where, const struct identity *identity)
{
    struct fault fault = FAULT_INIT;
    bool known;
    assert_int_equal(ledger_knows(of, where, identity, &known, &fault), 0);
    return known;
}

static void test_find(void **state)
{
    struct ledger_row row;
    struct identity identity = {.inode = 1, .size = 3, .mtime = 4};
    (void)state;
    assert_true(ledger_find(ledger, "/in", "a", NULL, &row));
    assert_int_equal(row.identity.inode, 6);
    assert_string_equal(row.state, "failed");
    assert_string_equal(row.reason, "why");
    assert_null(row.result);
    assert_int_equal(row.attempts, 2);
    ledger_row_finish(&row);
    assert_true(ledger_find(ledger, "/in", NULL, &identity, &row)); /* the device does not count */
    assert_string_equal(row.name, "a");
    assert_string_equal(row.result, "a.png");
    ledger_row_finish(&row);
    identity.size = 5;
    assert_false(ledger_find(ledger, "/in", NULL, &identity, &row));
    assert_false(ledger_find(ledger, "/other", "a", NULL, &row));
    assert_false(ledger_find(NULL, "/in", "a", NULL, &row));
}

static void expect_result(const char *below, const char *result, unsigned inode)
{
    struct ledger_row row;
    assert_int_equal(ledger_find_result(ledger, "/in", below, result, &row), inode != 0);
    if (inode != 0)
        assert_int_equal(row.identity.inode, inode);
    ledger_row_finish(&row);
}

static void test_results(void **state)
{
    (void)state;
    expect_result("", "a.png", 1);
    expect_result("", "p.dx.png", 4);
    expect_result("", "p.dy.png", 4);
    expect_result("sub/", "p.dy.png", 5);
    expect_result("", "p.dy.npy", 0);
    expect_result("", "p.png", 0);
    expect_result("", "q.dx.png", 0);
    expect_result("sub/", "a.png", 0);
    expect_result("", "a", 0);
    expect_result("", ".a.png", 0);
    expect_result("", "", 0);
}

/* Pages of three; each begins after the last one of the page before. */
static void test_pages(void **state)
{
    static const char *const pages[] = {"a,kept,p,", "sub/p,", ""};
    struct ledger_row rows[3];
    int64_t last = 0;
    (void)state;
    for (size_t page = 0; page < 3; page++) {
        char names[100] = "";
        size_t count = ledger_page(ledger, "/in", "done", last, 3, rows);
        for (size_t i = 0; i < count; i++) {
            strcat(strcat(names, rows[i].name), ",");
            last = rows[i].id;
            ledger_row_finish(&rows[i]);
        }
        assert_string_equal(names, pages[page]);
    }
}

static void test_forget(void **state)
{
    const struct identity kept[] = {{.inode = 3, .size = 3, .mtime = 4}, {.inode = 99}};
    struct ledger_row row;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_true(knows(ledger, "/in", kept));
    assert_int_equal(ledger_forget(ledger, "/other", kept, 2, true, &fault), 0);
    assert_true(knows(ledger, "/in", kept));
    assert_int_equal(ledger_forget(ledger, "/in", kept, 2, true, &fault), 0);
    assert_false(knows(ledger, "/in", kept));
    assert_false(ledger_find(ledger, "/in", "kept", NULL, &row));
    assert_true(ledger_find(ledger, "/in", "b", NULL, &row));
    ledger_row_finish(&row);
}

/* What it says is why the entry could not be written, and the one before it is taken back. */
static void test_refused(void **state)
{
    const struct ledger_entry entries[] = {
        entry("x", 20, "done", "x.png", true),
        entry(NULL, 21, "done", "y.png", true),
    };
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(ledger_write(ledger, entries, 2, true, &fault), FAULT_IO);
    assert_non_null(strstr(fault.text, "/ledger.db: constraint failed"));
    assert_false(knows(ledger, "/in", &entries[0].identity));
    /* it is not taken for that of a later call */
    assert_int_equal(ledger_write(ledger, entries, 1, true, &fault), 0);
    assert_true(knows(ledger, "/in", &entries[0].identity));
}

/* What is there: files with an odd inode. Meanwhile the ledger answers others. */
static bool is_odd(void *context, const char *name, const struct identity *identity)
{
    char expected[20];
    snprintf(expected, sizeof expected, "f%u", (unsigned)identity->inode);
    assert_string_equal(name, expected);
    assert_true(knows(ledger, "/many", identity));
    ++*(int *)context;
    return identity->inode % 2 == 1;
}

static void test_prune(void **state)
{
    enum {
        FILES = 700
    }; /* more than a page or two */
    struct ledger_entry entries[FILES];
    char names[FILES][20];
    int asked = 0;
    struct fault fault = FAULT_INIT;
    (void)state;
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "f%u", 1000 + i);
        entries[i] = entry(names[i], 1000 + i, "done", NULL, true);
        entries[i].folder = "/many";
    }
    assert_int_equal(ledger_write(ledger, entries, FILES, false, &fault), 0);
    alarm(60); /* a lock that is held while it asks would be waited for */
    ledger_prune(ledger, "/many", is_odd, &asked);
    alarm(0);
    assert_int_equal(asked, FILES);
    for (unsigned i = 0; i < FILES; i++)
        assert_int_equal(knows(ledger, "/many", &entries[i].identity), i % 2);
}

/* Everybody finds at once what he has left to be written, whoever writes it. */
static void *write_and_ask(void *context)
{
    unsigned first = *(const unsigned *)context;
    struct fault fault = FAULT_INIT;
    for (unsigned i = first; i < first + 200; i++) {
        char name[20];
        bool known = false;
        snprintf(name, sizeof name, "t%u", i);
        struct ledger_entry of = entry(name, i, "done", NULL, true);
        of.folder = "/threads";
        if (ledger_write(ledger, &of, 1, i % 7 == 0, &fault) != 0 ||
            ledger_knows(ledger, "/threads", &of.identity, &known, &fault) != 0 || !known)
            return (void *)1;
    }
    return NULL;
}

static void test_threads(void **state)
{
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    unsigned firsts[THREADS];
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        firsts[i] = 2000 + 1000 * i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_ask, &firsts[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),    cmocka_unit_test(test_results),
        cmocka_unit_test(test_pages),   cmocka_unit_test(test_forget),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_prune),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, open_one, close_it);
}
