/* What an earlier run of a daemon has left of a claimed file: its lock, the note and the folder
 * that it came from, in any words. A start takes it over. However that goes, the picture is still
 * there, and nothing outside of the two folders is touched. An input is the path in the lock, the
 * folder that the file was in, a line each; then the note.
 *
 * The bytes are those of files that only the daemon writes; after a power cut they may be any. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/spool/ledger.h"
#include "daemon/spool/recovery.h"
#include "fuzz.h"

#define INSTANCE "00112233445566aa"
#define WORK     "in/.sluice/work/" INSTANCE
#define PICTURE  "this is the picture"

static char root[64];
static struct spool_world world;
static struct watch_settings rules;
static unsigned n_pictures, n_others;

static void write_file(const char *name, const void *data, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        fuzz_fail("cannot write %s", name);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_all(void)
{
    ledger_close(&world.ledger);
    if (chdir("/") == 0)
        nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void start(void)
{
    struct fault fault = FAULT_INIT;
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%s/fuzz-spool-XXXXXX", memory);
    if (!mkdtemp(root) || chdir(root) != 0 || mkdir("state", 0700) || mkdir("beside", 0700))
        fuzz_fail("no folder");
    write_file("beside/file", PICTURE, sizeof PICTURE - 1);
    world.state_path = "state";
    if (ledger_open(&world.ledger, "state", &fault) != 0)
        fuzz_fail("no ledger: %s", fault.text);
    watch_defaults(&rules);
    rules.input = "in";
    rules.output = "out";
    rules.chain = "sobel";
    rules.format = "png";
    rules.sync = SYNC_OFF;
    rules.recursive = true;
    atexit(remove_all);
}

static int count_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    char text[sizeof PICTURE] = "";
    (void)status;
    (void)at;
    int fd = type == FTW_F ? open(path, O_RDONLY | O_NOFOLLOW) : -1;
    if (fd < 0)
        return 0;
    bool is_picture = read(fd, text, sizeof text) == sizeof PICTURE - 1 &&
                      memcmp(text, PICTURE, sizeof PICTURE - 1) == 0;
    close(fd);
    n_pictures += is_picture;
    n_others += !is_picture;
    return 0;
}

/* A start looks through the whole of the folder that the lock names: not through that of another
 * process like this one, or through all of this machine. */
static bool is_below(const char *path)
{
    int depth = 0;
    for (size_t length; *path && depth >= 0; path += length) {
        path += strspn(path, "/");
        length = strcspn(path, "/");
        bool up = length == 2 && memcmp(path, "..", 2) == 0;
        depth += up ? -1 : !(length == 0 || (length == 1 && path[0] == '.'));
    }
    return depth > 0;
}

static void lay_out(struct reader_of_bytes *bytes)
{
    static const char *const folders[] = {"in", "out",    "in/.sluice", "in/.sluice/work",
                                          WORK, WORK "/1"};
    char path[4096];
    size_t length;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(folders[i], 0700) != 0)
            fuzz_fail("cannot make %s", folders[i]);
    char *lock = fuzz_take_text(bytes, '\n', &length);
    snprintf(path, sizeof path, "%s/%s", root, is_below(lock) ? lock : "out");
    write_file(WORK "/lock", path, strlen(path));
    free(lock);
    char *from = fuzz_take_text(bytes, '\n', &length);
    if (length > 0)
        write_file(WORK "/1/.from", from, length);
    free(from);
    if (bytes->size > 0)
        write_file(WORK "/1/.note", bytes->data, bytes->size);
    write_file(WORK "/1/a.png", PICTURE, sizeof PICTURE - 1);
    write_file("out/.a.png." INSTANCE "-1-0.tmp", "a result", 8);
}

static void check(const char *folder, unsigned pictures, const char *what)
{
    n_pictures = 0;
    nftw(folder, count_one, 16, FTW_PHYS);
    if (n_pictures < pictures)
        fuzz_fail("%s", what);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    struct fault fault = FAULT_INIT;
    struct spool *spool = NULL;
    if (!root[0])
        start();
    lay_out(&bytes);
    if (spool_open(&spool, &rules, &world, &fault) == 0) {
        struct claims found = STAILQ_HEAD_INITIALIZER(found);
        struct claims ended = STAILQ_HEAD_INITIALIZER(ended);
        struct claim *claim;
        _Atomic uint64_t moved = 0;
        recovery_run(spool, &found, &ended, &moved, &fault);
        while ((claim = STAILQ_FIRST(&found)) != NULL) {
            struct fault why = FAULT_INIT;
            STAILQ_REMOVE_HEAD(&found, next);
            if (claim_give_back(claim, &why) != 0 && why.text[0] == '\0')
                fuzz_fail("a file is not given back, without a reason");
            claim_destroy(&claim);
        }
        while ((claim = STAILQ_FIRST(&ended)) != NULL) {
            STAILQ_REMOVE_HEAD(&ended, next);
            free(claim_print_results(claim, true)); /* as hooks are told them */
            claim_destroy(&claim);
        }
        spool_destroy(spool);
    }
    check("in", 1, "the picture is gone");
    n_others = 0;
    check("beside", 1, "a file outside of the folders is gone");
    if (n_others > 0)
        fuzz_fail("something was written outside of the folders");
    nftw("in", remove_one, 16, FTW_DEPTH | FTW_PHYS);
    nftw("out", remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
