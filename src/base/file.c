#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/number.h"

void bytes_finish(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

static int too_large(uint64_t limit, struct fault *fault)
{
    return fault_set(fault, FAULT_LIMIT, "larger than max_file %s (--max-file)",
                     number_size(limit));
}

static int grow(struct bytes *bytes, size_t *capacity, uint64_t limit, struct fault *fault)
{
    size_t wanted = *capacity < 65536 ? 65536 : *capacity * 2;
    if (wanted > limit + 1)
        wanted = (size_t)limit + 1;
    uint8_t *data = realloc(bytes->data, wanted);
    if (!data)
        return fault_set(fault, FAULT_MEMORY, "no memory for %s of file", number_size(wanted));
    bytes->data = data;
    *capacity = wanted;
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

    struct bytes read_so_far = {0};
    size_t capacity = 0;
    if (seekable && status.st_size > 0) {
        capacity = (size_t)status.st_size + 1; /* one more, so that the end shows without growing */
        read_so_far.data = malloc(capacity);
        if (!read_so_far.data)
            return fault_set(fault, FAULT_MEMORY, "no memory for %s of file",
                             number_size(capacity));
    }
    int result = 0;
    for (;;) {
        if (read_so_far.size == capacity &&
            (result = grow(&read_so_far, &capacity, limit, fault)) != 0)
            break;
        uint8_t *at = read_so_far.data + read_so_far.size;
        size_t room = capacity - read_so_far.size;
        ssize_t n = seekable ? pread(fd, at, room, (off_t)read_so_far.size) : read(fd, at, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            result = fault_set_errno(fault, FAULT_IO, "read");
            break;
        }
        if (n == 0)
            break;
        read_so_far.size += (size_t)n;
        if (read_so_far.size > limit) {
            result = too_large(limit, fault);
            break;
        }
    }
    if (result != 0)
        bytes_finish(&read_so_far);
    *bytes = read_so_far;
    return result;
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

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t path_stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

int path_make_directories(const char *path, struct fault *fault)
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
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return fault_set_errno(fault, FAULT_CREATE, part);
    }
    return 0;
}

static int open_directory_of(const char *path, struct fault *fault)
{
    char directory[PATH_MAX];
    size_t length = (size_t)(path_name(path) - path);
    if (length >= sizeof directory)
        return -fault_set(fault, FAULT_CREATE, "path too long");
    memcpy(directory, path, length);
    directory[length] = '\0';
    int fd = open(length ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -fault_set_errno(fault, FAULT_CREATE, length ? directory : ".");
    return fd;
}

/* A device or a pipe cannot be replaced by a rename and must not be: /dev/stdout, a FIFO. */
static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

int file_draft_open(struct file_draft *draft, const char *path, struct fault *fault)
{
    static atomic_uint serial;
    *draft = (struct file_draft){.fd = -1, .directory_fd = -1};
    if (is_special(path)) {
        draft->in_place = true;
        draft->fd = open(path, O_WRONLY | O_CLOEXEC);
        return draft->fd < 0 ? fault_set_errno(fault, FAULT_CREATE, "open") : 0;
    }
    int directory = open_directory_of(path, fault);
    if (directory < 0)
        return -directory;
    draft->directory_fd = directory;
    draft->name = strdup(path_name(path));
    if (!draft->name || asprintf(&draft->temporary, ".%.200s.%ld-%u.tmp", path_name(path),
                                 (long)getpid(), atomic_fetch_add(&serial, 1)) < 0) {
        draft->temporary = NULL;
        file_draft_discard(draft);
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    }
    draft->fd = openat(directory, draft->temporary,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (draft->fd < 0) {
        int result = fault_set_errno(fault, FAULT_CREATE, "create");
        free(draft->temporary);
        draft->temporary = NULL;
        file_draft_discard(draft);
        return result;
    }
    return 0;
}

int file_draft_commit(struct file_draft *draft, bool durable, struct fault *fault)
{
    int result = 0;
    if (!draft->in_place && durable && fsync(draft->fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync");
    int closed = close(draft->fd);
    draft->fd = -1;
    if (result == 0 && closed != 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    if (result == 0 && !draft->in_place) {
        if (renameat(draft->directory_fd, draft->temporary, draft->directory_fd, draft->name) !=
            0) {
            result = fault_set_errno(fault, FAULT_CREATE, draft->name);
        } else {
            free(draft->temporary);
            draft->temporary = NULL;
            if (durable && fsync(draft->directory_fd) != 0)
                result = fault_set_errno(fault, FAULT_IO, "fsync of the directory");
        }
    }
    file_draft_discard(draft);
    return result;
}

void file_draft_discard(struct file_draft *draft)
{
    if (draft->fd >= 0)
        close(draft->fd);
    if (draft->temporary)
        unlinkat(draft->directory_fd, draft->temporary, 0);
    if (draft->directory_fd >= 0)
        close(draft->directory_fd);
    free(draft->name);
    free(draft->temporary);
    *draft = (struct file_draft){.fd = -1, .directory_fd = -1};
}

/* The numbers are those of statfs(2). */
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
