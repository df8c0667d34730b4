#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/name.h"
#include "base/number.h"

void bytes_finish(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

int file_open_input(const char *path, int flags, int *fd, struct fault *fault)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (*fd >= 0)
        return 0;
    return fault_set(fault, errno == EACCES ? FAULT_PERMISSION : FAULT_NO_INPUT, "%s",
                     strerror(errno));
}

void file_close(int *fd)
{
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

static int too_large(uint64_t limit, struct fault *fault)
{
    return fault_set(fault, FAULT_LIMIT, "larger than max_file %s (--max-file)",
                     number_size(limit));
}

static int reserve(struct bytes *bytes, size_t wanted, struct fault *fault)
{
    uint8_t *data = realloc(bytes->data, wanted);
    if (!data)
        return fault_set(fault, FAULT_MEMORY, "no memory for %s of file", number_size(wanted));
    bytes->data = data;
    return 0;
}

int file_read(int fd, uint64_t limit, struct bytes *bytes, struct fault *fault)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fault_set_errno(fault, FAULT_IO, "stat");
    if (S_ISDIR(status.st_mode))
        return fault_set(fault, FAULT_NO_INPUT, "is a directory");
    bool seekable = S_ISREG(status.st_mode);
    if (seekable && (uint64_t)status.st_size > limit)
        return too_large(limit, fault);

    struct bytes so_far = {0};
    /* one more than there are, so that the end is found without growing */
    size_t capacity = 0,
           wanted = seekable && status.st_size > 0 ? (size_t)status.st_size + 1 : 65536;
    ssize_t n = 1;
    int result = 0;
    while (result == 0 && n != 0) {
        if (so_far.size == capacity) {
            capacity = wanted - 1 > limit ? (size_t)limit + 1 : wanted;
            wanted = 2 * capacity < 65536 ? 65536 : 2 * capacity;
            if ((result = reserve(&so_far, capacity, fault)) != 0)
                break;
        }
        uint8_t *at = so_far.data + so_far.size;
        size_t room = capacity - so_far.size;
        n = seekable ? pread(fd, at, room, (off_t)so_far.size) : read(fd, at, room);
        if (n < 0 && errno != EINTR)
            result = fault_set_errno(fault, FAULT_IO, "read");
        so_far.size += n > 0 ? (size_t)n : 0;
        if (so_far.size > limit)
            result = too_large(limit, fault);
    }
    if (result != 0)
        bytes_finish(&so_far);
    *bytes = so_far;
    return result;
}

size_t file_read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    size_t length = got > 0 ? (size_t)got : 0;
    file_close(&fd);
    text[length] = '\0';
    return length;
}

int file_write(int fd, const void *data, size_t size, struct fault *fault)
{
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fault_set_errno(fault, FAULT_IO, "write");
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int file_write_aside(int directory_fd, const char *temporary, const void *data, size_t size,
                     int *fd, struct fault *fault)
{
    *fd = -1;
    /* Left by a crash: nobody else uses this name. */
    if (unlinkat(directory_fd, temporary, 0) != 0 && errno != ENOENT)
        return fault_set_errno(fault, FAULT_CREATE, temporary);
    *fd =
        openat(directory_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, temporary);
    int result = file_write(*fd, data, size, fault);
    if (result != 0) {
        file_close(fd);
        unlinkat(directory_fd, temporary, 0);
    }
    return result;
}

int file_write_whole(int directory_fd, const char *name, const char *temporary, const void *data,
                     size_t size, bool durable, struct fault *fault)
{
    int fd, result = file_write_aside(directory_fd, temporary, data, size, &fd, fault);
    if (result != 0)
        return result;
    if (durable && fsync(fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync");
    if (close(fd) != 0 && result == 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    if (result == 0 && renameat(directory_fd, temporary, directory_fd, name) != 0)
        result = fault_set_errno(fault, FAULT_CREATE, name);
    if (result != 0) {
        unlinkat(directory_fd, temporary, 0);
        return result;
    }
    if (durable && disk_sync_directory(directory_fd) != 0)
        return fault_set_errno(fault, FAULT_IO, "fsync of a directory");
    return 0;
}

char *path_absolute(const char *path)
{
    char cwd[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return NULL;
    size_t length = strlen(cwd);
    char *absolute = malloc(length + strlen(path) + 2);
    if (!absolute)
        return NULL;
    memcpy(absolute, cwd, length);
    if (length == 1) /* "/" */
        length = 0;
    while (*(path += strspn(path, "/"))) {
        size_t part = strcspn(path, "/");
        if (part != 1 || path[0] != '.') {
            absolute[length++] = '/';
            memcpy(absolute + length, path, part);
            length += part;
        }
        path += part;
    }
    if (length == 0)
        absolute[length++] = '/';
    absolute[length] = '\0';
    return absolute;
}

struct following {
    char path[PATH_MAX], real[PATH_MAX];
    int error;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_ended, is_left; /* it has ended; nobody waits for it any more, so that it frees this */
};

static void following_free(struct following *f)
{
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static void *follow(void *context)
{
    struct following *f = context;
    f->error = realpath(f->path, f->real) ? 0 : errno;
    pthread_mutex_lock(&f->lock);
    f->has_ended = true;
    bool is_left = f->is_left;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
    if (is_left)
        following_free(f);
    return NULL;
}

/* Not pthread_clockjoin_np, for which a program needs glibc 2.31. */
static bool wait_for(struct following *f)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_mutex_lock(&f->lock);
    while (!f->has_ended && pthread_cond_timedwait(&f->changed, &f->lock, &until) == 0)
        ;
    bool has_ended = f->has_ended;
    f->is_left = !has_ended;
    pthread_mutex_unlock(&f->lock);
    return has_ended;
}

bool path_real(const char *path, char real[PATH_MAX])
{
    struct following *f = calloc(1, sizeof *f);
    pthread_condattr_t by_clock;
    pthread_t thread;
    if (!f) {
        errno = ENOMEM;
        return false;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    int error = snprintf(f->path, sizeof f->path, "%s", path) >= PATH_MAX ? ENAMETOOLONG : 0;
    if (error == 0)
        error = pthread_create(&thread, NULL, follow, f);
    if (error == 0 && !wait_for(f)) {
        pthread_detach(thread);
        errno = ETIMEDOUT;
        return false;
    }
    if (error == 0) {
        pthread_join(thread, NULL);
        error = f->error;
        memcpy(real, f->real, PATH_MAX);
    }
    following_free(f);
    errno = error;
    return error == 0;
}

int path_make_directories(const char *path, mode_t mode, struct fault *fault)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return fault_set(fault, FAULT_CREATE, "%s: not a usable path", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, mode) != 0 && errno != EEXIST)
            return fault_set_errno(fault, FAULT_CREATE, part);
    }
    return 0;
}

char *path_of_result(const char *path, unsigned number, const char *plane)
{
    name_buffer name;
    char *result = NULL;
    const char *last = path_name(path);
    if (number == 0 && !plane[0])
        return strdup(path);
    name_of_plane(name, last, number, plane);
    return asprintf(&result, "%.*s%s", (int)(last - path), path, name) < 0 ? NULL : result;
}

bool path_is_directory(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') ||
           (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

bool path_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* Finds the file that a link leads to. It is opened without writing, because the kernel then
 * refuses links of strangers in folders such as /tmp (fs.protected_symlinks), which must not be
 * followed here either. The opened file's own name is used, since the link may have changed since.
 */
static char *follow_link(const char *path, struct fault *fault)
{
    char opened[40], *target = NULL;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        fault_set(fault, FAULT_CREATE, "%s is a link to what is not there", path);
    if (fd >= 0) {
        snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
        target = realpath(opened, NULL);
    }
    if (!target)
        fault_set_errno(fault, FAULT_CREATE, path);
    file_close(&fd);
    return target;
}

/* Drafts with a temporary file, for file_drafts_abandon. */
static LIST_HEAD(, file_draft) drafts = LIST_HEAD_INITIALIZER(drafts);
static pthread_mutex_t drafts_lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL without memory. */
static char *make_temporary(const struct file_draft *draft)
{
    static atomic_uint serial;
    char tag[40], *temporary;
    name_buffer name;
    const char *base = path_name(draft->path);
    snprintf(tag, sizeof tag, "%ld-%u", (long)getpid(), atomic_fetch_add(&serial, 1));
    name_of_temporary(name, base, tag);
    return asprintf(&temporary, "%.*s%s", (int)(base - draft->path), draft->path, name) < 0
               ? NULL
               : temporary;
}

static int create_temporary(struct file_draft *draft, struct fault *fault)
{
    int folder = (int)(path_name(draft->path) - draft->path);
    draft->temporary = make_temporary(draft);
    if (!draft->temporary)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    pthread_mutex_lock(&drafts_lock);
    draft->fd = open(draft->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (draft->fd >= 0)
        LIST_INSERT_HEAD(&drafts, draft, link);
    pthread_mutex_unlock(&drafts_lock);
    if (draft->fd >= 0)
        return 0;
    draft->path[folder] = '\0'; /* the folder is to blame */
    int result = fault_set_errno(fault, FAULT_CREATE, folder ? draft->path : ".");
    free(draft->temporary);
    draft->temporary = NULL;
    return result;
}

int file_draft_open(struct file_draft *draft, const char *path, struct fault *fault)
{
    struct stat status;
    *draft = (struct file_draft){.fd = -1};
    /* Devices and pipes (/dev/stdout, a FIFO) must not be replaced by a rename. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        draft->fd = open(path, O_WRONLY | O_CLOEXEC);
        return draft->fd < 0 ? fault_set_errno(fault, FAULT_CREATE, "open") : 0;
    }
    bool is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    draft->path = is_link ? follow_link(path, fault) : strdup(path);
    if (!draft->path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    int result =
        strlen(path_name(draft->path)) > NAME_BYTES
            ? fault_set(fault, FAULT_CREATE, "a file's name has at most %d bytes", NAME_BYTES)
            : create_temporary(draft, fault);
    if (result != 0)
        file_draft_discard(draft);
    return result;
}

int file_draft_close(struct file_draft *draft, struct fault *fault)
{
    int closed = close(draft->fd);
    draft->fd = -1;
    return closed == 0 ? 0 : fault_set_errno(fault, FAULT_IO, "close");
}

/* The temporary file was renamed or removed: file_drafts_abandon need not remove it. */
static void forget_temporary(struct file_draft *draft)
{
    LIST_REMOVE(draft, link);
    free(draft->temporary);
    draft->temporary = NULL;
}

int file_draft_place(struct file_draft *draft, const char *path, bool *replaced,
                     struct fault *fault)
{
    if (!draft->temporary)
        return 0;
    path = path ? path : draft->path;
    pthread_mutex_lock(&drafts_lock);
    int placed = disk_rename_new(AT_FDCWD, draft->temporary, AT_FDCWD, path), error = errno;
    if (replaced)
        *replaced = placed != 0 && error == EEXIST;
    if (placed != 0 && replaced) {
        placed = rename(draft->temporary, path);
        error = errno;
    }
    if (placed == 0)
        forget_temporary(draft);
    pthread_mutex_unlock(&drafts_lock);
    errno = error;
    if (placed == 0)
        return 0;
    return error == EEXIST ? fault_set(fault, FAULT_EXISTS, "%s is there already", path)
                           : fault_set_errno(fault, FAULT_CREATE, path);
}

void file_draft_take_back(struct file_draft *draft, const char *path)
{
    if (!draft->path || draft->temporary) /* a device or pipe, or it was not placed */
        return;
    char *temporary = make_temporary(draft);
    pthread_mutex_lock(&drafts_lock);
    if (temporary && rename(path ? path : draft->path, temporary) == 0) {
        draft->temporary = temporary;
        LIST_INSERT_HEAD(&drafts, draft, link);
        temporary = NULL;
    }
    pthread_mutex_unlock(&drafts_lock);
    free(temporary);
}

int file_draft_commit(struct file_draft *draft, bool durable, struct fault *fault)
{
    int result = 0;
    bool replaced;
    if (draft->temporary && durable && fsync(draft->fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync");
    int closed = file_draft_close(draft, fault);
    if (result == 0 && closed == 0)
        result = file_draft_place(draft, NULL, &replaced, fault);
    if (result == 0 && closed == 0 && draft->path && durable) { /* makes the new name durable */
        size_t length = (size_t)(path_name(draft->path) - draft->path);
        char *folder = length ? strndup(draft->path, length) : strdup(".");
        int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd < 0 || disk_sync_directory(fd) != 0)
            result = fault_set_errno(fault, FAULT_IO, "fsync of the directory");
        file_close(&fd);
        free(folder);
    }
    file_draft_discard(draft);
    return result ? result : closed;
}

void file_draft_discard(struct file_draft *draft)
{
    file_close(&draft->fd);
    if (draft->temporary) {
        pthread_mutex_lock(&drafts_lock);
        unlink(draft->temporary);
        forget_temporary(draft);
        pthread_mutex_unlock(&drafts_lock);
    }
    free(draft->path);
    *draft = (struct file_draft){.fd = -1};
}

void file_drafts_abandon(void)
{
    const struct file_draft *draft;
    pthread_mutex_lock(&drafts_lock);
    LIST_FOREACH (draft, &drafts, link)
        unlink(draft->temporary);
}

/* Numbers as in statfs(2). */
const char *file_remote_kind(const char *path)
{
    static const struct {
        uint32_t magic;
        const char *name;
    } kinds[] = {{0x6969, "NFS"},        {0x517b, "SMB"},        {0xff534d42, "CIFS"},
                 {0xfe534d42, "SMB2"},   {0x01021997, "9P"},     {0x65735546, "FUSE"},
                 {0x00c36400, "Ceph"},   {0x5346414f, "AFS"},    {0x73757245, "Coda"},
                 {0x786f4256, "vboxsf"}, {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}};
    struct statfs status;
    if (statfs(path, &status) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)status.f_type == kinds[i].magic)
            return kinds[i].name;
    return NULL;
}
