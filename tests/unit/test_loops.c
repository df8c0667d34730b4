/* Finding folders that feed themselves (config/loops), for paths and expectations written by hand.
 * */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "config/loops.h"

static const char *const usual[] = {"*.tmp", NULL}, *const nothing[] = {NULL};

/* Circles as text: "0", "0>2>1"; several with a blank between them. */
static void print(void *context, const size_t *circle, size_t length)
{
    struct text *text = context;
    for (size_t i = 0; i < length; i++)
        text_printf(text, "%s%zu", i > 0 ? ">" : text->length > 0 ? " " : "", circle[i]);
}

static void expect(const struct loop_folder *folders, size_t count, const char *circles)
{
    struct text text = {0};
    assert_true(loops_find(folders, count, print, &text));
    assert_string_equal(text_string(&text), circles);
    text_finish(&text);
}

#define FOLDER(in, out, deep)                                                                      \
    {                                                                                              \
        in, out, nothing, deep, usual                                                              \
    }
#define EXPECT(circles, ...)                                                                       \
    expect((const struct loop_folder[]){__VA_ARGS__},                                              \
           sizeof((const struct loop_folder[]){__VA_ARGS__}) / sizeof(struct loop_folder),         \
           circles)

static void test_one_folder(void **state)
{
    (void)state;
    expect(NULL, 0, "");
    EXPECT("", FOLDER("1/a", "1/b", false));
    EXPECT("0", FOLDER("1/a", "1/a", false));
    EXPECT("", FOLDER("1/a", "2/a", false));
    EXPECT("", FOLDER("1/a", "1/a/b", false));
    EXPECT("0", FOLDER("1/a", "1/a/b", true));
    EXPECT("0", FOLDER("1/a", "1/a/b/c", true));
    EXPECT("", FOLDER("1/a", "1/ab", true));
    EXPECT("", FOLDER("1/a/b", "1/a", true));
    EXPECT("0", FOLDER("1", "1/a", true)); /* the root of a file system */
}

static void test_names_that_are_left_alone(void **state)
{
    (void)state;
    EXPECT("", FOLDER("1/a", "1/a/.results", true));
    EXPECT("", FOLDER("1/a", "1/a/x.tmp/results", true));
    EXPECT("0", FOLDER("1/a", "1/a/x.tmp2/results", true));
    EXPECT("0", FOLDER("1/a", "1/a", true));
}

static void test_mounted_below(void **state)
{
    static const char *const mounted[] = {"2", "3/x", NULL};
    (void)state;
    EXPECT("0", {"1/a", "2/results", mounted, true, usual});
    EXPECT("0", {"1/a", "3/x", mounted, true, usual});
    EXPECT("", {"1/a", "3/y", mounted, true, usual});
    EXPECT("", {"1/a", "2/results", mounted, false, usual});
    EXPECT("", {"1/a", "2/.results", mounted, true, usual});
}

static void test_circles(void **state)
{
    (void)state;
    EXPECT("", FOLDER("1/a", "1/b", false), FOLDER("1/b", "1/c", false));
    EXPECT("0>1", FOLDER("1/a", "1/b", false), FOLDER("1/b", "1/a", false));
    EXPECT("0>2>1", FOLDER("1/a", "1/b", false), FOLDER("1/c", "1/a", false),
           FOLDER("1/b", "1/c", false));
    /* into a circle, and out of it */
    EXPECT("1>2", FOLDER("1/x", "1/a", false), FOLDER("1/a", "1/b", false),
           FOLDER("1/b", "1/a", false), FOLDER("1/b2", "1/c", false));
    /* two of them, and one beside */
    EXPECT("0>1 2>3 4", FOLDER("1/a", "1/b", false), FOLDER("1/b", "1/a", false),
           FOLDER("1/c", "1/d", false), FOLDER("1/d", "1/c", false), FOLDER("1/e", "1/e", false));
    /* over a folder below a recursive one */
    EXPECT("0>1", FOLDER("1/a", "1/b", true), FOLDER("1/b", "1/a/deep/down", false));
    EXPECT("", FOLDER("1/a", "1/b", false), FOLDER("1/b", "1/a/deep/down", false));
    /* two that meet are no circle */
    EXPECT("", FOLDER("1/a", "1/c", false), FOLDER("1/b", "1/c", false),
           FOLDER("1/c", "1/d", false));
}

/* Each feeds the next, and the last one the first. */
static void test_a_long_circle(void **state)
{
    enum {
        COUNT = 1000
    };
    static struct loop_folder folders[COUNT];
    static char names[COUNT][16];
    struct text all = {0};
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "1/%zu", i);
        text_printf(&all, "%s%zu", i > 0 ? ">" : "", i);
    }
    for (size_t i = 0; i < COUNT; i++)
        folders[i] = (struct loop_folder){names[i], names[(i + 1) % COUNT], nothing, true, usual};
    expect(folders, COUNT, text_string(&all));
    folders[COUNT - 1].output = "1/elsewhere";
    expect(folders, COUNT, "");
    text_finish(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_folder),    cmocka_unit_test(test_names_that_are_left_alone),
        cmocka_unit_test(test_mounted_below), cmocka_unit_test(test_circles),
        cmocka_unit_test(test_a_long_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
