#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"

static char directory[64];

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/sluice-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *content, size_t size)
{
    struct fault fault = FAULT_INIT;
    int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write(fd, content, size, &fault), 0);
    close(fd);
}

static void test_read(void **state)
{
    struct bytes bytes;
    struct fault fault = FAULT_INIT;
    (void)state;
    write_file("ten", "0123456789", 10);
    int fd = open(in_directory("ten"), O_RDONLY);
    assert_int_equal(file_read(fd, 10, &bytes, &fault), 0);
    assert_int_equal(bytes.size, 10);
    assert_memory_equal(bytes.data, "0123456789", 10);
    bytes_finish(&bytes);
    assert_int_equal(file_read(fd, UINT64_MAX, &bytes, &fault), 0);
    assert_int_equal(bytes.size, 10);
    bytes_finish(&bytes);
    assert_int_equal(file_read(fd, 9, &bytes, &fault), FAULT_LIMIT);
    assert_non_null(strstr(fault.text, "--max-file"));
    close(fd);
}

static void test_read_text(void **state)
{
    char text[8];
    (void)state;
    write_file("ten", "0123456789", 10);
    assert_int_equal(file_read_text(in_directory("ten"), text, sizeof text), 7);
    assert_string_equal(text, "0123456");
    assert_int_equal(file_read_text(in_directory("none"), text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* Closing tells nothing: errno stays what the caller is about to report. */
static void test_close(void **state)
{
    (void)state;
    int none = -1, fd = open("/dev/null", O_RDONLY | O_CLOEXEC), copy = fd;
    errno = EXDEV;
    file_close(&none);
    file_close(&fd);
    assert_int_equal(fd, -1);
    assert_int_equal(fcntl(copy, F_GETFD), -1);
    errno = EXDEV;
    file_close(&copy);
    assert_int_equal(errno, EXDEV);
}

static void test_read_pipe(void **state)
{
    int ends[2];
    struct bytes bytes;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    assert_int_equal(file_read(ends[0], 100, &bytes, &fault), 0);
    assert_int_equal(bytes.size, 3);
    bytes_finish(&bytes);
    close(ends[0]);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abcdef", 6), 6);
    close(ends[1]);
    assert_int_equal(file_read(ends[0], 5, &bytes, &fault), FAULT_LIMIT);
    close(ends[0]);
}

static void test_read_directory(void **state)
{
    struct bytes bytes;
    struct fault fault = FAULT_INIT;
    (void)state;
    int fd = open(directory, O_RDONLY);
    assert_int_equal(file_read(fd, 100, &bytes, &fault), FAULT_NO_INPUT);
    close(fd);
}

static unsigned entries(void)
{
    unsigned count = 0;
    DIR *dir = opendir(directory);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

static void test_draft(void **state)
{
    struct file_draft draft;
    struct fault fault = FAULT_INIT;
    (void)state;
    write_file("result", "old", 3);
    unsigned before = entries();
    assert_int_equal(file_draft_open(&draft, in_directory("result"), &fault), 0);
    assert_int_equal(file_write(draft.fd, "newer", 5, &fault), 0);
    assert_int_equal(entries(), before + 1);
    struct stat status;
    assert_int_equal(stat(in_directory("result"), &status), 0);
    assert_int_equal(status.st_size, 3); /* still the old one */
    assert_int_equal(file_draft_commit(&draft, true, &fault), 0);
    assert_int_equal(stat(in_directory("result"), &status), 0);
    assert_int_equal(status.st_size, 5);
    assert_int_equal(entries(), before);
    assert_int_equal(file_draft_open(&draft, in_directory("other"), &fault), 0);
    file_draft_discard(&draft);
    assert_int_equal(entries(), before);
    assert_int_equal(file_draft_open(&draft, "/nonexistent/x", &fault), FAULT_CREATE);
    fault_clear(&fault);
    assert_int_equal(file_draft_open(&draft, "/dev/null", &fault), 0);
    assert_int_equal(file_draft_commit(&draft, true, &fault), 0);
}

static void write_draft(struct file_draft *draft, const char *name, const char *text)
{
    struct fault fault = FAULT_INIT;
    assert_int_equal(file_draft_open(draft, in_directory(name), &fault), 0);
    assert_int_equal(file_write(draft->fd, text, strlen(text), &fault), 0);
    assert_int_equal(file_draft_close(draft, &fault), 0);
}

static void expect_content(const char *name, const char *text)
{
    char content[32] = "";
    int fd = open(in_directory(name), O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, content, sizeof content - 1) >= 0);
    assert_string_equal(content, text);
    close(fd);
}

static void test_draft_placed(void **state)
{
    struct file_draft draft;
    struct fault fault = FAULT_INIT;
    bool replaced = true;
    (void)state;
    write_draft(&draft, "new", "first");
    unsigned before = entries();
    assert_int_equal(file_draft_place(&draft, NULL, &replaced, &fault), 0);
    assert_false(replaced);
    file_draft_discard(&draft);
    expect_content("new", "first");
    write_draft(&draft, "new", "second");
    assert_int_equal(file_draft_place(&draft, NULL, NULL, &fault), FAULT_EXISTS);
    expect_content("new", "first");
    fault_clear(&fault);
    assert_int_equal(file_draft_place(&draft, in_directory("other"), NULL, &fault), 0);
    file_draft_discard(&draft);
    expect_content("other", "second");
    write_draft(&draft, "new", "third");
    assert_int_equal(file_draft_place(&draft, NULL, &replaced, &fault), 0);
    assert_true(replaced);
    file_draft_discard(&draft);
    expect_content("new", "third");
    assert_int_equal(entries(), before + 1);
}

static void test_draft_through_links(void **state)
{
    struct file_draft draft;
    struct fault fault = FAULT_INIT;
    struct stat status;
    char link[256];
    (void)state;
    assert_int_equal(path_make_directories(in_directory("far"), 0700, &fault), 0);
    write_file("far/target", "old", 3);
    strcpy(link, in_directory("link"));
    assert_int_equal(symlink("far/target", link), 0);
    write_draft(&draft, "link", "new");
    assert_int_equal(file_draft_place(&draft, NULL, NULL, &fault), FAULT_EXISTS);
    fault_clear(&fault);
    assert_int_equal(file_draft_place(&draft, NULL, &(bool){false}, &fault), 0);
    file_draft_discard(&draft);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_content("far/target", "new");
    assert_int_equal(unlink(in_directory("far/target")), 0);
    assert_int_equal(file_draft_open(&draft, link, &fault), FAULT_CREATE);
    assert_non_null(strstr(fault.text, "a link to what is not there"));
    file_draft_discard(&draft);
}

/* In a process of its own: afterwards no draft can be opened there. */
static void test_drafts_abandoned(void **state)
{
    int status;
    (void)state;
    unsigned before = entries();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct file_draft drafts[3];
        struct fault fault = FAULT_INIT;
        int failed = 0;
        for (int i = 0; i < 3; i++)
            failed |= file_draft_open(&drafts[i], in_directory("abandoned"), &fault);
        failed |= file_draft_commit(&drafts[1], false, &fault);
        failed |= entries() != before + 3;
        file_drafts_abandon();
        _exit(failed != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(entries(), before + 1);
}

static void test_paths(void **state)
{
    struct fault fault = FAULT_INIT;
    struct stat status;
    (void)state;
    assert_string_equal(path_name("/a/b.c"), "b.c");
    assert_string_equal(path_name("b.c"), "b.c");
    assert_int_equal(path_stem_length("b.tar.gz"), 5);
    assert_int_equal(path_stem_length(".hidden"), 7);
    assert_int_equal(path_stem_length("plain"), 5);
    assert_int_equal(path_make_directories(in_directory("x/y/z"), 0700, &fault), 0);
    assert_int_equal(stat(in_directory("x/y/z"), &status), 0);
    assert_int_equal(path_make_directories(in_directory("x/y/z"), 0700, &fault), 0);
}

static void expect_absolute(const char *path, const char *expected)
{
    char *absolute = path_absolute(path);
    assert_string_equal(absolute, expected);
    free(absolute);
}

static void test_absolute_paths(void **state)
{
    char cwd[PATH_MAX], below[PATH_MAX + 10];
    (void)state;
    expect_absolute("/a/b", "/a/b");
    expect_absolute("//a/./b//", "/a/b");
    expect_absolute("/a/../b", "/a/../b"); /* a may be a link */
    expect_absolute("/", "/");
    assert_non_null(getcwd(cwd, sizeof cwd));
    expect_absolute("", cwd);
    expect_absolute(".", cwd);
    snprintf(below, sizeof below, "%s/in", cwd);
    expect_absolute("./in/", below);
    assert_int_equal(chdir("/"), 0);
    expect_absolute("in", "/in");
    expect_absolute(".", "/");
    assert_int_equal(chdir(cwd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_text),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_read_pipe),
        cmocka_unit_test(test_read_directory),
        cmocka_unit_test(test_draft),
        cmocka_unit_test(test_draft_placed),
        cmocka_unit_test(test_draft_through_links),
        cmocka_unit_test(test_drafts_abandoned),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_absolute_paths),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
