#include "test.h"

#include "daemon/serve/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_ranges(void **state)
{
    char ranges[] = "/tmp/sluice-subuid-XXXXXX", users[] = "/tmp/sluice-passwd-XXXXXX";
    struct owners owners = {.ranges_file = ranges, .users_file = users};
    (void)state;
    close(mkstemp(ranges));
    close(mkstemp(users));
    write_file(users, "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:/bin/sh\n");
    write_file(ranges, "ann:100000:65536\n1001:165536:65536\n# nothing\nann:x\nfar:300000:10\n"
                       "ann:400000:0\n\n");
    assert_int_equal(owner_of(&owners, 0), 0);
    assert_int_equal(owner_of(&owners, 1000), 1000);
    assert_int_equal(owner_of(&owners, 99999), 99999);
    assert_int_equal(owner_of(&owners, 100000), 1000);
    assert_int_equal(owner_of(&owners, 165535), 1000);
    assert_int_equal(owner_of(&owners, 165536), 1001);
    assert_int_equal(owner_of(&owners, 231071), 1001);
    assert_int_equal(owner_of(&owners, 231072), 231072);
    assert_int_equal(owner_of(&owners, 300009), 300000); /* whoever that is, it is one */
    assert_int_equal(owner_of(&owners, 400000), 400000);
    unlink(ranges); /* all ranges are gone */
    owners.looked = 1;
    assert_int_equal(owner_of(&owners, 100000), 100000);
    owners_finish(&owners);
    unlink(users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
