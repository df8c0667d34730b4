/* Where a path lies for a watched folder (spool/spot), for paths and expectations written by hand.
 * */
#include "test.h"

#include <string.h>

#include "daemon/spool/spool.h"

static void test_normalise(void **state)
{
    static const char *const rows[][2] = {
        {"/", "/"},           {"/a", "/a"},      {"//a///b/", "/a/b"},
        {"/a/./b/.", "/a/b"}, {"/a/../b", "/b"}, {"/a/b/../../c", "/c"},
        {"/../../a", "/a"},   {"/a/..", "/"},    {"/..a/b..", "/..a/b.."},
        {"/a/...", "/a/..."},
    };
    char normal[PATH_MAX], longest[PATH_MAX + 10];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(spot_normalise(rows[i][0], normal));
        assert_string_equal(normal, rows[i][1]);
    }
    assert_false(spot_normalise("", normal));
    assert_false(spot_normalise("a/b", normal));
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    assert_false(spot_normalise(longest, normal));
    longest[PATH_MAX - 1] = '\0';
    assert_true(spot_normalise(longest, normal));
    assert_int_equal(strlen(normal), PATH_MAX - 1);
}

static void expect(const char *path, enum spot_kind kind, const char *name)
{
    struct spot place;
    spot_in(&place, path, "/w/in");
    assert_int_equal(place.kind, kind);
    if (kind != SPOT_NONE)
        assert_string_equal(place.name, name);
}

static void test_places(void **state)
{
    struct spot place;
    (void)state;
    expect("/w/in/a.jpg", SPOT_INPUT, "a.jpg");
    expect("/w/in/sub/a.jpg", SPOT_INPUT, "sub/a.jpg");
    expect("/w/in/.sluice/done/a.jpg", SPOT_DONE, "a.jpg");
    expect("/w/in/.sluice/done/sub/a.jpg", SPOT_DONE, "sub/a.jpg");
    expect("/w/in/.sluice/failed/a.jpg", SPOT_FAILED, "a.jpg");
    expect("/w/in/.sluice/failed/a.jpg.error.json", SPOT_FAILED, "a.jpg");
    expect("/w/in/.sluice/work/0123/00000001/a.jpg", SPOT_WORK, "a.jpg");
    expect("/w/in/.sluice/done", SPOT_INPUT, ".sluice/done");
    expect("/w/in/.sluicer/done/a", SPOT_INPUT, ".sluicer/done/a");
    expect("/w/in", SPOT_NONE, NULL);
    expect("/w/in/", SPOT_NONE, NULL);
    expect("/w/input/a", SPOT_NONE, NULL);
    expect("/w/i", SPOT_NONE, NULL);
    expect("/", SPOT_NONE, NULL);
    spot_out(&place, "/w/out/sub/a.png", "/w/out");
    assert_int_equal(place.kind, SPOT_RESULT);
    assert_string_equal(place.name, "sub/a.png");
    spot_out(&place, "/w/in/a", "/w/out");
    assert_int_equal(place.kind, SPOT_NONE);
    spot_out(&place, "/a", "/");
    assert_int_equal(place.kind, SPOT_RESULT);
    assert_string_equal(place.name, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalise),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
