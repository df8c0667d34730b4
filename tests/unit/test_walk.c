/* Walking through folders below a folder (base/walk): the test makes trees, and counts are known by
 * hand. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/walk.h"

struct seen {
    char *paths[128];
    unsigned char kinds[128];
    size_t count, n_unreadable;
    size_t stop_at; /* 0: never */
    const char *past, *remove;
    char unreadable[64];
    int error;
};

static enum walk_answer look(void *context, const struct walk_entry *entry)
{
    struct seen *seen = context;
    struct stat status;
    size_t name = strlen(entry->path) - strlen(entry->name);
    assert_true(seen->count < 128);
    assert_true(strlen(entry->path) < PATH_MAX);
    assert_ptr_equal(entry->name, entry->path + name);
    assert_true(name == 0 || entry->path[name - 1] == '/');
    assert_int_equal(fstatat(entry->directory_fd, entry->name, &status, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(entry->kind, IFTODT(status.st_mode));
    seen->kinds[seen->count] = entry->kind;
    seen->paths[seen->count++] = strdup(entry->path);
    if (seen->remove && strcmp(entry->path, seen->remove) == 0)
        assert_int_equal(unlinkat(entry->directory_fd, entry->name, AT_REMOVEDIR), 0);
    if (seen->count == seen->stop_at)
        return WALK_STOP;
    return seen->past && strcmp(entry->path, seen->past) == 0 ? WALK_PAST : WALK_ON;
}

static void tell(void *context, const char *path, int error)
{
    struct seen *seen = context;
    seen->n_unreadable++;
    seen->error = error;
    snprintf(seen->unreadable, sizeof seen->unreadable, "%s", path);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void finish(struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        free(seen->paths[i]);
    *seen = (struct seen){0};
}

static void expect(struct seen *seen, const char *const *paths)
{
    size_t count = 0;
    qsort(seen->paths, seen->count, sizeof *seen->paths, compare);
    for (; paths[count]; count++) {
        assert_true(count < seen->count);
        assert_string_equal(seen->paths[count], paths[count]);
    }
    assert_int_equal(seen->count, count);
    finish(seen);
}

static int make_file(int fd, const char *name)
{
    int file = openat(fd, name, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    return close(file);
}

/* `levels` folders, each within the one before, and in each (and the root) a file "f". */
static int make_levels(int root_fd, const char *name, int levels)
{
    int fd = dup(root_fd);
    make_file(fd, "f");
    for (int i = 0; i < levels; i++) {
        assert_int_equal(mkdirat(fd, name, 0700), 0);
        int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        close(fd);
        make_file(fd = below, "f");
    }
    return fd;
}

struct folder {
    char path[32];
    int fd;
};

static int setup(void **state)
{
    struct folder *folder = malloc(sizeof *folder);
    assert_non_null(folder);
    strcpy(folder->path, "/tmp/sluice-walk-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder->fd >= 0);
    *state = folder;
    return 0;
}

/* Not by path: the paths below are longer than one may be. */
static void remove_below(int fd)
{
    DIR *directory = fdopendir(dup(fd));
    const struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        assert_true(below >= 0);
        remove_below(below);
        close(below);
        assert_int_equal(unlinkat(fd, entry->d_name, AT_REMOVEDIR), 0);
    }
    closedir(directory);
}

static int teardown(void **state)
{
    struct folder *folder = *state;
    lseek(folder->fd, 0, SEEK_SET);
    remove_below(folder->fd);
    close(folder->fd);
    int result = rmdir(folder->path);
    free(folder);
    return result;
}

static void test_all(void **state)
{
    int root = ((struct folder *)*state)->fd;
    struct seen seen = {0};
    close(make_levels(root, "sub", 2));
    assert_int_equal(mkdirat(root, "empty", 0700), 0);
    assert_int_equal(mkfifoat(root, "pipe", 0600), 0);
    assert_int_equal(walk(root, look, tell, &seen), 0);
    assert_int_equal(seen.n_unreadable, 0);
    expect(&seen, (const char *const[]){"empty", "f", "pipe", "sub", "sub/f", "sub/sub",
                                        "sub/sub/f", NULL});
    seen.past = "sub/sub";
    assert_int_equal(walk(root, look, tell, &seen), 0);
    expect(&seen, (const char *const[]){"empty", "f", "pipe", "sub", "sub/f", "sub/sub", NULL});
}

/* Neither into a folder that it leads to, nor round and round. */
static void test_links(void **state)
{
    int root = ((struct folder *)*state)->fd;
    struct seen seen = {0};
    close(make_levels(root, "sub", 1));
    assert_int_equal(symlinkat("sub", root, "link"), 0);
    assert_int_equal(symlinkat("..", root, "sub/up"), 0);
    assert_int_equal(symlinkat("/nowhere", root, "dangling"), 0);
    assert_int_equal(walk(root, look, tell, &seen), 0);
    for (size_t i = 0; i < seen.count; i++)
        if (strchr("ld", seen.paths[i][0]) || strcmp(seen.paths[i], "sub/up") == 0)
            assert_int_equal(seen.kinds[i], DT_LNK);
    expect(&seen, (const char *const[]){"dangling", "f", "link", "sub", "sub/f", "sub/up", NULL});
}

/* Forty levels, of which 32 are entered: 33 files, and 33 folders are seen. */
static void test_depth(void **state)
{
    int root = ((struct folder *)*state)->fd;
    struct seen seen = {0};
    close(make_levels(root, "d", 40));
    assert_int_equal(walk(root, look, tell, &seen), 0);
    assert_int_equal(seen.n_unreadable, 0);
    assert_int_equal(seen.count, 66);
    qsort(seen.paths, seen.count, sizeof *seen.paths, compare);
    char deepest[2 * 33 + 2] = "";
    for (int i = 0; i < 32; i++)
        strcat(deepest, "d/");
    strcat(deepest, "d");
    assert_string_equal(seen.paths[32], deepest); /* d, d/d, …: before what has an f */
    deepest[64] = 'f';
    assert_string_equal(seen.paths[33], deepest);
    finish(&seen);
}

/* Fifteen names of 255 bytes come to 15 · 255 + 14 = 3839. With a slash and another one that is
 * 4095, the longest that PATH_MAX holds: the fifteenth is entered, a folder within it is not. */
static void test_long_path(void **state)
{
    int root = ((struct folder *)*state)->fd;
    struct seen seen = {0};
    char name[NAME_MAX + 1];
    size_t n_longest = 0;
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    int fd = make_levels(root, name, 15);
    assert_int_equal(symlinkat("/nowhere", fd, name), 0);
    assert_int_equal(mkdirat(fd, "d", 0700), 0);
    int below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_file(below, "f");
    close(below);
    close(fd);
    assert_int_equal(walk(root, look, tell, &seen), 0);
    assert_int_equal(seen.n_unreadable, 0);
    /* 15 folders, 16 files, the link, and the folder in the last */
    assert_int_equal(seen.count, 33);
    for (size_t i = 0; i < seen.count; i++) {
        size_t length = strlen(seen.paths[i]);
        n_longest += length == 4095;
        assert_true(length <= 3841 || length == 4095);
    }
    assert_int_equal(n_longest, 1);
    finish(&seen);
}

static void test_stop(void **state)
{
    int root = ((struct folder *)*state)->fd;
    close(make_levels(root, "d", 10)); /* 11 files, 10 folders */
    for (size_t at = 1; at <= 21; at++) {
        struct seen seen = {.stop_at = at};
        assert_int_equal(walk(root, look, tell, &seen), 1);
        assert_int_equal(seen.count, at);
        assert_int_equal(seen.n_unreadable, 0);
        finish(&seen);
    }
    struct seen seen = {.stop_at = 22};
    assert_int_equal(walk(root, look, tell, &seen), 0);
    assert_int_equal(seen.count, 21);
    finish(&seen);
}

static void test_unreadable(void **state)
{
    int root = ((struct folder *)*state)->fd;
    struct seen seen = {.remove = "sub/gone"};
    close(make_levels(root, "sub", 1));
    assert_int_equal(mkdirat(root, "sub/gone", 0700), 0);
    assert_int_equal(mkdirat(root, "sub/there", 0700), 0);
    assert_int_equal(walk(root, look, tell, &seen), 0);
    assert_int_equal(seen.n_unreadable, 1);
    assert_int_equal(seen.error, ENOENT);
    assert_string_equal(seen.unreadable, "sub/gone");
    expect(&seen, (const char *const[]){"f", "sub", "sub/f", "sub/gone", "sub/there", NULL});

    seen = (struct seen){.remove = "sub/there"};
    assert_int_equal(walk(root, look, NULL, &seen), 0);
    finish(&seen);

    seen = (struct seen){0};
    int file = openat(root, "f", O_RDONLY | O_CLOEXEC);
    errno = 0;
    assert_int_equal(walk(file, look, tell, &seen), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(seen.count + seen.n_unreadable, 0);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
