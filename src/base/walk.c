#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/name.h"

struct state {
    enum walk_answer (*visit)(void *context, const struct walk_entry *entry);
    void (*unreadable)(void *context, const char *path, int error);
    void *context;
    int directory_fd;
    unsigned depth;
    size_t length; /* length of the directory's path, with a slash at its end except for the root */
    char path[PATH_MAX]; /* of the directory, or of the current entry */
};

static int look_at(void *context, const char *name, unsigned char kind);

/* Descends into the folder at `path`. Returns 1 when the visitor stopped the walk. */
static int descend(struct state *w)
{
    int above = w->directory_fd;
    size_t above_length = w->length, length = strlen(w->path);
    if (w->depth == WALK_DEPTH_MAX || length + 1 + NAME_BYTES >= sizeof w->path)
        return 0;
    int fd = disk_open_directory(above, w->path + above_length, 0), result = -1;
    if (fd >= 0) {
        memcpy(w->path + length, "/", 2);
        w->length = length + 1;
        w->directory_fd = fd;
        w->depth++;
        result = disk_list(fd, look_at, w);
        w->depth--;
        w->directory_fd = above;
        w->length = above_length;
        w->path[length] = '\0';
    }
    if (result < 0 && w->unreadable)
        w->unreadable(w->context, w->path, errno);
    if (fd >= 0)
        close(fd);
    return result > 0;
}

/* Finds out what an entry is where the file system does not say. A missing one has no kind. */
static unsigned char find_kind(int directory_fd, const char *name)
{
    struct stat status;
    if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return IFTODT(status.st_mode);
}

static int look_at(void *context, const char *name, unsigned char kind)
{
    struct state *w = context;
    size_t length = strlen(name);
    if (length > NAME_BYTES)
        return 0;
    if (kind == DT_UNKNOWN && (kind = find_kind(w->directory_fd, name)) == DT_UNKNOWN)
        return 0;
    memcpy(w->path + w->length, name, length + 1);
    const struct walk_entry entry = {w->directory_fd, w->path, w->path + w->length, kind};
    enum walk_answer answer = w->visit(w->context, &entry);
    return answer == WALK_STOP || (answer == WALK_ON && kind == DT_DIR && descend(w));
}

int walk(int root_fd, enum walk_answer (*visit)(void *context, const struct walk_entry *entry),
         void (*unreadable)(void *context, const char *path, int error), void *context)
{
    struct state w = {
        .visit = visit, .unreadable = unreadable, .context = context, .directory_fd = root_fd};
    return disk_list(root_fd, look_at, &w);
}
