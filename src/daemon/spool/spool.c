#include "daemon/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/name.h"
#include "base/text.h"
#include "base/walk.h"

static int open_watched(const char *path, enum fault_code missing, struct fault *fault)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENOTDIR)
        fault_set(fault, missing, "%s: %s", path,
                  errno == ENOENT ? "no such folder" : "not a folder");
    else
        fault_set_errno(fault, missing, path);
    return -1;
}

const char *spool_short_of_space(const struct spool *spool)
{
    const struct free_space *min = &spool->rules->min_free;
    const struct {
        int fd;
        const char *path;
    } places[] = {{spool->out_fd, spool->out_path}, {spool->work_fd, spool->hidden_path}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct statvfs status;
        if (fstatvfs(places[i].fd, &status) != 0)
            continue;
        double available = (double)status.f_bavail * (double)status.f_frsize;
        double all = (double)status.f_blocks * (double)status.f_frsize;
        if (available < (double)min->bytes || available < all * min->percent / 100)
            return places[i].path;
    }
    return NULL;
}

static int check_folders(const struct spool *spool, struct fault *fault)
{
    struct stat in, out;
    if (fstat(spool->in_fd, &in) != 0)
        return fault_set_errno(fault, FAULT_IO, spool->in_path);
    if (fstat(spool->out_fd, &out) != 0)
        return fault_set_errno(fault, FAULT_IO, spool->out_path);
    if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return fault_set(fault, FAULT_CONFIG,
                         "%s: results would be taken for new pictures: input and output are one "
                         "folder",
                         spool->in_path);
    if (faccessat(spool->out_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return fault_set_errno(fault, FAULT_CREATE, spool->out_path);
    return 0;
}

/* Opens the hidden folder: in IN or, for a folder that must not be written to, in the state
 * directory, which is made if it is missing, under a name that is made from the watched path. */
static int open_hidden(struct spool *spool)
{
    struct disk_place place;
    struct text path = {0};
    char apart[40];
    snprintf(apart, sizeof apart, "folders/%016" PRIx64,
             hash_bytes(HASH_INIT, spool->folder, strlen(spool->folder)));
    const char *root = spool->in_place ? spool->world->state_path : spool->in_path;
    const char *name = spool->in_place ? apart : SPOOL_HIDDEN;
    text_printf(&path, "%s/%s", root, name);
    spool->hidden_path = path.data;
    if (spool->in_place)
        path_make_directories(root, 0700, NULL);
    int fd = -1, root_fd = spool->in_place ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                           : fcntl(spool->in_fd, F_DUPFD_CLOEXEC, 0);
    if (!path.failed && root_fd >= 0 && disk_place(&place, root_fd, name, 0777) == 0) {
        fd = disk_open_directory(place.fd, place.name, 0755);
        disk_place_leave(&place);
    }
    file_close(&root_fd);
    return fd;
}

/* Whoever else may write in one of our folders could take or replace what is in it, and whoever
 * made it owns what is put there. Our own loses the right of others to write. */
static int check_own(const struct spool *spool, int fd, const char *name, struct fault *fault)
{
    struct stat status;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s", spool->hidden_path, name[0] ? "/" : "", name);
    if (fstat(fd, &status) != 0)
        return fault_set_errno(fault, FAULT_IO, path);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return fault_set(fault, FAULT_PERMISSION,
                         "%s belongs to another user (%u): whoever made it could take what is put "
                         "there; remove it",
                         path, (unsigned)status.st_uid);
    if ((status.st_mode & 022) != 0 &&
        (status.st_uid != geteuid() || fchmod(fd, status.st_mode & 07755) != 0 ||
         fstat(fd, &status) != 0 || (status.st_mode & 022) != 0))
        return fault_set(fault, FAULT_PERMISSION, "%s: others may write to it (chmod go-w)", path);
    return 0;
}

static int open_own(struct spool *spool, struct fault *fault)
{
    int hidden = spool->hidden_fd = open_hidden(spool);
    if (!spool->hidden_path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    if (hidden >= 0) {
        spool->work_fd = disk_open_directory(hidden, "work", 0700);
        if (spool->work_fd >= 0)
            spool->done_fd = disk_open_directory(hidden, "done", 0755);
        if (spool->done_fd >= 0)
            spool->failed_fd = disk_open_directory(hidden, "failed", 0755);
    }
    const struct {
        int fd;
        const char *name;
    } folders[] = {{hidden, ""},
                   {spool->work_fd, "work"},
                   {spool->done_fd, "done"},
                   {spool->failed_fd, "failed"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders && folders[i].fd >= 0; i++) {
        int error = errno, result = check_own(spool, folders[i].fd, folders[i].name, fault);
        if (result != 0)
            return result;
        errno = error;
    }
    if (spool->failed_fd < 0 && errno == EACCES && !spool->in_place)
        return fault_set(fault, FAULT_PERMISSION,
                         "%s: %s; --claim none takes pictures from a folder that is not written to",
                         spool->hidden_path, strerror(errno));
    if (spool->failed_fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, spool->hidden_path);
    return 0;
}

/* Makes the instance's folder and locks it. Another daemon that looks for abandoned work may remove
 * the folder in between; then this returns false, and the caller makes another. */
static bool make_instance(struct spool *spool)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(spool->instance, sizeof spool->instance, "%016" PRIx64, random);
    if (mkdirat(spool->work_fd, spool->instance, 0700) != 0)
        return false;
    spool->instance_fd = disk_open_directory(spool->work_fd, spool->instance, 0);
    if (spool->instance_fd < 0)
        return false;
    spool->lock_fd = openat(spool->instance_fd, SPOOL_LOCK,
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->lock_fd >= 0 && flock(spool->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    file_close(&spool->lock_fd);
    file_close(&spool->instance_fd);
    return false;
}

/* Writes the path of OUT into the lock file, for whoever takes this instance's work over, and
 * behind its NUL that results may lie in folders below. Syncs the folder: a temporary result must
 * not outlive the folder of its instance. */
static int open_instance(struct spool *spool, struct fault *fault)
{
    for (int tries = 0; spool->lock_fd < 0; tries++)
        if (!make_instance(spool) && tries == 10)
            return fault_set_errno(fault, FAULT_CREATE, spool->hidden_path);
    const char *out = spool->out_folder = realpath(spool->out_path, NULL);
    if (!out)
        return fault_set_errno(fault, FAULT_IO, spool->out_path);
    int result = file_write(spool->lock_fd, out, strlen(out), fault);
    if (result == 0 && spool->rules->folder)
        result = file_write(spool->lock_fd, "\0+", 2, fault);
    if (result == 0 &&
        (fsync(spool->lock_fd) != 0 || disk_sync_directory(spool->instance_fd) != 0 ||
         disk_sync_directory(spool->work_fd) != 0))
        result = fault_set_errno(fault, FAULT_IO, spool->hidden_path);
    return result;
}

static int is_work(void *context, const char *name, unsigned char kind)
{
    return strcmp(name, SPOOL_LOCK) != 0;
}

void spool_remove_instance(const struct spool *spool, int out_fd, int instance_fd,
                           const char *instance)
{
    const struct watch_settings *rules = spool->rules;
    if (out_fd >= 0 && rules->sync != SYNC_OFF &&
        (rules->recursive || rules->folder ? syncfs(out_fd) : disk_sync_directory(out_fd)) != 0)
        return;
    unlinkat(instance_fd, SPOOL_LOCK, 0);
    unlinkat(spool->work_fd, instance, AT_REMOVEDIR);
}

/* Unlocks the instance. Its folder stays while there is work in it, with the lock file, which names
 * the OUT of that work. */
static void close_instance(struct spool *spool)
{
    if (spool->instance_fd >= 0 && spool->lock_fd >= 0) {
        if (disk_list(spool->instance_fd, is_work, NULL) != 0) {
            log_info("%s/work: unfinished work stays there for the next start", spool->hidden_path);
        } else {
            spool_remove_instance(spool, spool->out_fd, spool->instance_fd, spool->instance);
        }
    }
    file_close(&spool->lock_fd);
    file_close(&spool->instance_fd);
}

bool spool_hold(struct spool *spool, int lock_fd)
{
    int *held = realloc(spool->held, (spool->n_held + 1) * sizeof *held);
    if (!held)
        return false;
    spool->held = held;
    held[spool->n_held++] = lock_fd;
    return true;
}

void spool_destroy(struct spool *spool)
{
    close_instance(spool);
    while (spool->n_held > 0)
        close(spool->held[--spool->n_held]);
    free(spool->held);
    file_close(&spool->failed_fd);
    file_close(&spool->done_fd);
    file_close(&spool->work_fd);
    file_close(&spool->hidden_fd);
    file_close(&spool->out_fd);
    file_close(&spool->in_fd);
    free(spool->folder);
    free(spool->out_folder);
    free(spool->in_path);
    free(spool->out_path);
    free(spool->hidden_path);
    free(spool);
}

int spool_open(struct spool **spool, const struct watch_settings *rules,
               const struct spool_world *world, struct fault *fault)
{
    const char *in_path = rules->input, *out_path = rules->output;
    struct spool *s = malloc(sizeof *s);
    *spool = NULL;
    if (!s)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    *s = (struct spool){.rules = rules,
                        .world = world,
                        .in_place = rules->claim == CLAIM_NONE,
                        .remembers = rules->originals == ORIGINALS_KEEP,
                        .syncs = rules->sync != SYNC_OFF,
                        .in_path = strdup(in_path),
                        .out_path = strdup(out_path),
                        .in_fd = -1,
                        .out_fd = -1,
                        .hidden_fd = -1,
                        .work_fd = -1,
                        .instance_fd = -1,
                        .lock_fd = -1,
                        .done_fd = -1,
                        .failed_fd = -1,
                        .users = 1};
    int result = 0;
    if (!s->in_path || !s->out_path)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    if (result == 0 && (s->in_fd = open_watched(in_path, FAULT_NO_INPUT, fault)) < 0)
        result = fault->code;
    if (result == 0 && (s->out_fd = open_watched(out_path, FAULT_NO_INPUT, fault)) < 0)
        result = fault->code;
    if (result == 0 && (s->folder = realpath(in_path, NULL)) == NULL)
        result = fault_set_errno(fault, FAULT_NO_INPUT, in_path);
    if (result == 0)
        result = check_folders(s, fault);
    if (result == 0)
        result = open_own(s, fault);
    if (result == 0)
        result = open_instance(s, fault);
    if (result != 0)
        spool_destroy(s);
    else
        *spool = s;
    return result;
}

static bool leads_to(const char *path, int fd, struct fault *fault)
{
    struct stat there, here;
    if (stat(path, &there) != 0)
        fault_set(fault, FAULT_NO_INPUT, "%s",
                  errno == ENOENT ? "no such folder" : strerror(errno));
    else if (fstat(fd, &here) != 0 || there.st_dev != here.st_dev || there.st_ino != here.st_ino)
        fault_set(fault, FAULT_NO_INPUT, "the path leads elsewhere now");
    return fault->code == FAULT_NONE;
}

/* False when somebody has removed the hidden folder, or one in it. */
static bool has_hidden(const struct spool *spool, struct fault *fault)
{
    char instance[sizeof "work/" + SPOOL_INSTANCE_ID];
    snprintf(instance, sizeof instance, "work/%s", spool->instance);
    const struct {
        const char *name;
        int fd;
    } rows[] = {
        {instance, spool->instance_fd}, {"done", spool->done_fd}, {"failed", spool->failed_fd}};
    if (!leads_to(spool->hidden_path, spool->hidden_fd, fault))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat there, here;
        if (fstatat(spool->hidden_fd, rows[i].name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
            fstat(rows[i].fd, &here) != 0 || there.st_dev != here.st_dev ||
            there.st_ino != here.st_ino)
            return fault_set(fault, FAULT_NO_INPUT, "%s in it is gone", rows[i].name) == 0;
    }
    return true;
}

const char *spool_lost_path(const struct spool *spool, struct fault *fault)
{
    const struct watch_settings *rules = spool->rules;
    return !leads_to(rules->input, spool->in_fd, fault)     ? rules->input
           : !leads_to(rules->output, spool->out_fd, fault) ? rules->output
           : !has_hidden(spool, fault)                      ? spool->hidden_path
                                                            : NULL;
}

/* What an error tells of a name. */
static enum spool_sight sight_of(int error)
{
    return error == ENOENT || error == ENOTDIR ? SPOOL_GONE
           : error == ELOOP                    ? SPOOL_NO_FILE
                                               : SPOOL_UNREADABLE;
}

enum spool_sight spool_look(const struct spool *spool, const char *name, struct identity *identity)
{
    struct stat status;
    if (disk_stat(spool->in_fd, name, &status) != 0)
        return sight_of(errno);
    if (!S_ISREG(status.st_mode))
        return SPOOL_NO_FILE;
    *identity = identity_of(&status);
    return SPOOL_FILE;
}

/* Tries a read lease, which the kernel grants only while nobody has the file open for writing, and
 * gives it back at once. Whoever opens the file for writing in between waits for that moment. */
enum spool_sight spool_probe(const struct spool *spool, const char *name, enum spool_writer *writer)
{
    struct stat status;
    *writer = SPOOL_WRITER_UNKNOWN;
    int fd =
        disk_open(spool->in_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return sight_of(errno);
    enum spool_sight sight = SPOOL_UNREADABLE;
    if (fstat(fd, &status) == 0)
        sight = S_ISREG(status.st_mode) ? SPOOL_FILE : SPOOL_NO_FILE;
    if (sight == SPOOL_FILE && fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        *writer = SPOOL_NOT_WRITTEN;
    } else if (sight == SPOOL_FILE && errno == EAGAIN) {
        *writer = SPOOL_WRITTEN;
    }
    close(fd);
    return sight;
}

struct scan {
    const struct spool *spool;
    const char *const *ignore;
    identity_visit *found;
    void *context;
    struct fault *fault;
};

static enum walk_answer visit(void *context, const struct walk_entry *entry)
{
    const struct scan *scan = context;
    const struct spool *spool = scan->spool;
    bool done = false;
    struct stat status;
    if (name_is_ignored(entry->name, scan->ignore))
        return WALK_PAST;
    if (entry->kind == DT_DIR)
        return spool->rules->recursive ? WALK_ON : WALK_PAST;
    if (entry->kind != DT_REG)
        return WALK_ON;
    struct identity identity = {0};
    if (fstatat(entry->directory_fd, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(status.st_mode))
            return WALK_ON;
        identity = identity_of(&status);
    } else if (errno == ENOENT) {
        return WALK_ON;
    }
    if (identity.size > 0 && spool->remembers &&
        ledger_knows(spool->world->ledger, spool->folder, &identity, &done, scan->fault) != 0)
        return WALK_STOP;
    if (done)
        return WALK_ON;
    return scan->found(scan->context, entry->path, &identity) ? WALK_ON : WALK_STOP;
}

int spool_scan(const struct spool *spool, const char *const *ignore, identity_visit *found,
               void *context, struct fault *fault)
{
    struct scan scan = {
        .spool = spool, .ignore = ignore, .found = found, .context = context, .fault = fault};
    int result = walk(spool->in_fd, visit, NULL, &scan);
    return result < 0 ? fault_set_errno(fault, FAULT_IO, spool->in_path) : (int)fault->code;
}

/* ---- what is in done and failed ---- */

void spool_files_offer(struct spool_files *page, struct spool_file file)
{
    if (!page->files)
        page->files = calloc(page->limit, sizeof *page->files);
    if (!page->files || strcmp(file.name, page->after) <= 0 ||
        (page->count == page->limit && strcmp(file.name, page->files[page->count - 1].name) >= 0))
        return;
    size_t low = 0, high = page->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(page->files[middle].name, file.name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if ((file.name = strdup(file.name)) == NULL)
        return;
    if (page->count == page->limit)
        free(page->files[--page->count].name);
    memmove(&page->files[low + 1], &page->files[low], (page->count - low) * sizeof *page->files);
    page->files[low] = file;
    page->count++;
}

void spool_files_finish(struct spool_files *page)
{
    for (size_t i = 0; i < page->count; i++)
        free(page->files[i].name);
    free(page->files);
    *page = (struct spool_files){0};
}

struct listing {
    bool failed, in_place;
    struct spool_files *page;
    size_t count;
};

static enum walk_answer visit_ended(void *context, const struct walk_entry *entry)
{
    struct listing *listing = context;
    bool reasons = listing->failed && listing->in_place;
    char path[PATH_MAX];
    if (entry->name[0] == '.')
        return WALK_PAST;
    if (entry->kind == DT_DIR || (listing->failed && name_is_reason(entry->name) != reasons))
        return WALK_ON;
    listing->count++;
    snprintf(path, sizeof path, "%.*s",
             (int)(reasons ? name_reason_stem(entry->path) : strlen(entry->path)), entry->path);
    if (listing->page)
        spool_files_offer(listing->page, (struct spool_file){.name = path});
    return WALK_ON;
}

size_t spool_list(const struct spool *spool, bool failed, struct spool_files *page)
{
    struct listing listing = {failed, spool->in_place, page, 0};
    walk(failed ? spool->failed_fd : spool->done_fd, visit_ended, NULL, &listing);
    return listing.count;
}

/* ---- what a path means ---- */

bool spot_normalise(const char *path, char normal[PATH_MAX])
{
    size_t length = 0;
    if (path[0] != '/')
        return false;
    while (*(path += strspn(path, "/"))) {
        size_t part = strcspn(path, "/");
        if (part == 2 && memcmp(path, "..", 2) == 0) {
            while (length > 0 && normal[--length] != '/')
                ;
        } else if (part != 1 || path[0] != '.') {
            if (length + part + 2 > PATH_MAX)
                return false;
            normal[length++] = '/';
            memcpy(normal + length, path, part);
            length += part;
        }
        path += part;
    }
    if (length == 0)
        normal[length++] = '/';
    normal[length] = '\0';
    return true;
}

/* The part of `path` below `folder`, both normalised; NULL: it is elsewhere. */
static const char *path_below(const char *path, const char *folder)
{
    size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    if (strncmp(path, folder, length) != 0 || path[length] != '/' || path[length + 1] == '\0')
        return NULL;
    return path + length + 1;
}

static void set(struct spot *place, enum spot_kind kind, const char *name)
{
    place->kind = kind;
    snprintf(place->name, sizeof place->name, "%s", name);
}

void spot_in(struct spot *place, const char *path, const char *in)
{
    const char *name = path_below(path, in), *at;
    place->kind = SPOT_NONE;
    if (!name)
        return;
    if ((at = path_below(name - 1, "/" SPOOL_HIDDEN "/done")) != NULL) {
        set(place, SPOT_DONE, at);
    } else if ((at = path_below(name - 1, "/" SPOOL_HIDDEN "/failed")) != NULL) {
        set(place, SPOT_FAILED, at);
        if (name_is_reason(place->name))
            *strrchr(place->name, '.') = '\0', *strrchr(place->name, '.') = '\0';
    } else if (path_below(name - 1, "/" SPOOL_HIDDEN "/work") != NULL) {
        set(place, SPOT_WORK, path_name(name));
    } else {
        set(place, SPOT_INPUT, name);
    }
}

void spot_out(struct spot *place, const char *path, const char *out)
{
    const char *name = path_below(path, out);
    place->kind = SPOT_NONE;
    if (name)
        set(place, SPOT_RESULT, name);
}
