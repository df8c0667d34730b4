#include "cli/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/name.h"
#include "base/walk.h"
#include "codec/codec.h"
#include "config/settings.h"

#define NAMES_SIZE  65536
#define PROBE_BYTES 64 /* more than any codec needs to recognise its format */

/* Memory for names; it never moves. */
struct input_names {
    struct input_names *next;
    size_t used;
    char bytes[NAMES_SIZE];
};

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_MEMORY, "no memory for a list of files");
}

static const char *keep_name(struct inputs *inputs, const char *name)
{
    size_t size = strlen(name) + 1;
    struct input_names *names = inputs->names;
    if (!names || NAMES_SIZE - names->used < size) {
        names = malloc(sizeof *names);
        if (!names)
            return NULL;
        names->next = inputs->names;
        names->used = 0;
        inputs->names = names;
    }
    char *kept = memcpy(names->bytes + names->used, name, size);
    names->used += size;
    return kept;
}

/* Makes room for one more entry. The capacity is the next power of two, so there is room unless the
 * count is a power of two itself. */
static bool grow(void **list, size_t count, size_t size)
{
    if (count & (count - 1))
        return true;
    void *larger = realloc(*list, (count ? 2 * count : 1) * size);
    if (larger)
        *list = larger;
    return larger != NULL;
}

static bool add(struct inputs *inputs, uint32_t folder, const char *name)
{
    if (!name || inputs->count == UINT32_MAX ||
        !grow((void **)&inputs->list, inputs->count, sizeof *inputs->list))
        return false;
    inputs->list[inputs->count++] = (struct input){.name = name, .folder = folder};
    return true;
}

/* Returns the new folder's index plus 1; 0 without memory. */
static uint32_t add_folder(struct inputs *inputs, const char *root, const char *below)
{
    struct input_folder folder = {.below = strlen(root) + (below[0] != '\0')};
    if (!grow((void **)&inputs->folders, inputs->n_folders, sizeof folder) ||
        asprintf(&folder.path, "%s%s%s", root, below[0] ? "/" : "", below) < 0)
        return 0;
    inputs->folders[inputs->n_folders++] = folder;
    return (uint32_t)inputs->n_folders;
}

/* ---- content of folders ---- */

struct gathering {
    struct inputs *inputs;
    const struct inputs_rules *rules;
    const char *const *ignored;
    const char *root;
    uint32_t at[WALK_DEPTH_MAX + 1]; /* the folders on the present path, by depth */
    bool failed;                     /* there was no memory */
};

static bool is_for_results(const struct inputs_rules *rules, const struct stat *status)
{
    for (size_t i = 0; i < rules->n_outs; i++)
        if (status->st_dev == rules->outs[i].st_dev && status->st_ino == rules->outs[i].st_ino)
            return true;
    return false;
}

static enum walk_answer visit(void *context, const struct walk_entry *entry)
{
    struct gathering *g = context;
    struct stat status;
    unsigned depth = 0;
    if (name_is_ignored(entry->name, g->ignored))
        return WALK_PAST;
    for (const char *at = entry->path; (at = strchr(at, '/')) != NULL; at++)
        depth++;
    if (entry->kind == DT_DIR) {
        if (g->rules->n_outs > 0 && fstatat(entry->directory_fd, entry->name, &status, 0) == 0 &&
            is_for_results(g->rules, &status))
            return WALK_PAST;
        g->inputs->n_left_folders += !g->rules->recursive;
        if (!g->rules->recursive)
            return WALK_PAST;
        if (depth < WALK_DEPTH_MAX && strlen(entry->path) + 1 + NAME_BYTES < PATH_MAX) {
            g->at[depth + 1] = add_folder(g->inputs, g->root, entry->path);
            g->failed |= g->at[depth + 1] == 0;
            return g->failed ? WALK_STOP : WALK_ON;
        }
    } else if (entry->kind != DT_REG) {
        g->inputs->n_no_files++;
        if (g->rules->verbose)
            fprintf(stderr, "%s/%s: %s: left out\n", g->root, entry->path,
                    entry->kind == DT_LNK ? "a link" : "no file");
        return WALK_PAST;
    }
    /* A folder that is too deep stays in the list and is reported when it is opened. */
    g->failed |= !add(g->inputs, g->at[depth], keep_name(g->inputs, entry->name));
    return g->failed ? WALK_STOP : WALK_PAST;
}

/* An unreadable folder stays in the list and is reported when it is opened. */
static void unreadable(void *context, const char *path, int error)
{
    struct gathering *g = context;
    g->failed |= !add(g->inputs, g->at[0], keep_name(g->inputs, path));
}

static int compare_inputs(const void *a_, const void *b_, void *inputs_)
{
    const struct input *a = a_, *b = b_;
    const struct inputs *inputs = inputs_;
    int folders = a->folder == b->folder ? 0
                                         : strcmp(inputs->folders[a->folder - 1].path,
                                                  inputs->folders[b->folder - 1].path);
    return folders ? folders : strcmp(a->name, b->name);
}

static int gather_folder(struct inputs *inputs, const char *operand, int fd,
                         const struct inputs_rules *rules, struct fault *fault)
{
    struct watch_settings watched;
    struct gathering g = {.inputs = inputs, .rules = rules};
    struct stat status;
    size_t first = inputs->count, length = strlen(operand);
    if (rules->n_outs > 0 && fstat(fd, &status) == 0 && is_for_results(rules, &status))
        return fault_set(fault, FAULT_USAGE,
                         "%s is the folder for results, too: the next run would take them for "
                         "pictures; name another one (-o DIRECTORY/)",
                         operand);
    watch_defaults(&watched);
    g.ignored = (const char *const *)watched.ignore;
    if (!g.ignored)
        return no_memory(fault);
    while (length > 1 && operand[length - 1] == '/')
        length--;
    char *root = strndup(operand, length);
    g.root = root;
    g.at[0] = root ? add_folder(inputs, root, "") : 0;
    int walked = g.at[0] ? walk(fd, visit, unreadable, &g) : 0;
    int error = errno;
    free(root);
    free(watched.ignore);
    if (g.at[0] == 0 || g.failed)
        return no_memory(fault);
    errno = error;
    if (walked < 0)
        return fault_set_errno(fault, FAULT_IO, operand);
    if (inputs->count > first)
        qsort_r(inputs->list + first, inputs->count - first, sizeof *inputs->list, compare_inputs,
                inputs);
    return 0;
}

int inputs_gather(struct inputs *inputs, char **operands, size_t count,
                  const struct inputs_rules *rules, struct fault *fault)
{
    *inputs = (struct inputs){.any = rules->any};
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        int fd = strcmp(operands[i], "-") == 0
                     ? -1
                     : open(operands[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            result = gather_folder(inputs, operands[i], fd, rules, fault);
        else if (!add(inputs, 0, operands[i]))
            result = no_memory(fault);
        file_close(&fd);
    }
    return result;
}

void inputs_finish(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_folders; i++)
        free(inputs->folders[i].path);
    while (inputs->names) {
        struct input_names *names = inputs->names;
        inputs->names = names->next;
        free(names);
    }
    free(inputs->folders);
    free(inputs->list);
    *inputs = (struct inputs){0};
}

/* ---- a single input ---- */

char *inputs_path(const struct inputs *inputs, size_t index)
{
    const struct input *input = &inputs->list[index];
    char *path;
    if (input->folder == 0)
        return strdup(input->name);
    const char *folder = inputs->folders[input->folder - 1].path;
    const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, input->name) < 0 ? NULL : path;
}

const char *inputs_below(const struct inputs *inputs, size_t index)
{
    uint32_t folder = inputs->list[index].folder;
    return folder ? inputs->folders[folder - 1].path + inputs->folders[folder - 1].below : "";
}

/* A file that cannot be read counts as a picture, so that the decoder reports the fault. */
static bool begins_as_picture(int fd, bool any)
{
    uint8_t start[PROBE_BYTES];
    ssize_t size = pread(fd, start, sizeof start, 0);
    return size < 0 || (size > 0 && (any || codec_find(start, (size_t)size)));
}

static int say_other(int fd, struct fault *fault)
{
    uint8_t start[PROBE_BYTES];
    ssize_t size = pread(fd, start, sizeof start, 0);
    const char *foreign = size > 0 ? codec_foreign(start, (size_t)size) : NULL;
    if (foreign)
        fault_set(fault, FAULT_FORMAT, "a picture in %s, which this sluice cannot read", foreign);
    return INPUTS_OTHER;
}

int inputs_open(const struct inputs *inputs, size_t index, int *fd, struct fault *fault)
{
    const struct input *input = &inputs->list[index];
    struct stat status;
    *fd = -1;
    if (strcmp(input->name, "-") == 0 && input->folder == 0) {
        *fd = STDIN_FILENO;
        return 0;
    }
    char *path = inputs_path(inputs, index);
    /* In folders only regular files are listed, so a link or pipe that has taken the name is not
     * opened. */
    int flags = input->folder ? O_NOFOLLOW | O_NONBLOCK : 0;
    int result = path ? file_open_input(path, flags, fd, fault) : no_memory(fault);
    free(path);
    if (result != 0 || input->folder == 0)
        return result;
    if (fstat(*fd, &status) != 0)
        result = fault_set_errno(fault, FAULT_IO, "stat");
    else if (S_ISDIR(status.st_mode))
        result = fault_set(fault, FAULT_LIMIT, "a folder below more than %d others is not read",
                           WALK_DEPTH_MAX);
    else if (!S_ISREG(status.st_mode) || !begins_as_picture(*fd, inputs->any))
        result = say_other(*fd, fault);
    if (result != 0) {
        close(*fd);
        *fd = -1;
    }
    return result;
}

/* ---- results with the same name ---- */

struct name_key {
    uint64_t hash;
    uint32_t index, result;
};

static int compare_keys(const void *a_, const void *b_)
{
    const struct name_key *a = a_, *b = b_;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->result < b->result ? -1 : a->result > b->result;
}

/* Which file an input is, if it could have a result. Only regular files are opened, since a pipe's
 * reader would be missed. */
static bool identify(const struct inputs *inputs, uint32_t index, struct stat *status)
{
    char *path = inputs_path(inputs, index);
    bool is_stdin = inputs->list[index].folder == 0 && strcmp(inputs->list[index].name, "-") == 0;
    bool is_picture = path && (is_stdin ? fstat(STDIN_FILENO, status) : stat(path, status)) == 0;
    int fd = -1;
    if (is_picture && !is_stdin && S_ISREG(status->st_mode))
        is_picture =
            (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0 && begins_as_picture(fd, inputs->any);
    file_close(&fd);
    free(path);
    return is_picture;
}

/* How results get their names. */
struct naming {
    inputs_name *name_result;
    void *context;
};

/* Among inputs with the same result name, marks each after the first. */
static int mark_group(struct inputs *inputs, const struct naming *naming,
                      const struct name_key *keys, size_t count, struct fault *fault)
{
    struct stat first = {0}, status;
    struct input *holder = NULL;
    char *held = NULL;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        struct input *input = &inputs->list[keys[i].index];
        char *name = naming->name_result(naming->context, keys[i].index, keys[i].result);
        if (!name) {
            result = no_memory(fault);
        } else if ((held && strcmp(name, held) != 0) || /* another name with the same hash */
                   !identify(inputs, keys[i].index, &status)) {
            free(name);
        } else if (!held) {
            held = name;
            holder = input;
            first = status;
        } else {
            bool same = status.st_dev == first.st_dev && status.st_ino == first.st_ino;
            input->clash = (uint32_t)((same ? input : holder) - inputs->list) + 1;
            if (!same && holder->clash == 0)
                holder->clash = keys[i].index + 1;
            free(name);
        }
    }
    free(held);
    return result;
}

/* Whether a picture's results before this one have another name than `name`. */
static int check_own(const struct inputs *inputs, const struct naming *naming,
                     const struct name_key *key, const char *name, struct fault *fault)
{
    int result = 0;
    for (uint32_t k = 0; k < key->result && result == 0; k++) {
        if ((key - key->result + k)->hash != key->hash)
            continue;
        char *other = naming->name_result(naming->context, key->index, k);
        if (!other)
            result = no_memory(fault);
        else if (strcmp(other, name) == 0)
            result = fault_set(fault, FAULT_USAGE,
                               "two results of %s would both be written to %s; give each its own "
                               "-o or --name",
                               inputs->list[key->index].name, name);
        free(other);
    }
    return result;
}

int inputs_find_clashes(struct inputs *inputs, inputs_name *name_result, size_t n_results,
                        void *context, struct fault *fault)
{
    const struct naming naming = {name_result, context};
    size_t count = inputs->count * n_results;
    struct name_key *keys = calloc(count + 1, sizeof *keys);
    int result = keys ? 0 : no_memory(fault);
    for (size_t i = 0; i < count && result == 0; i++) {
        char *name = name_result(context, i / n_results, i % n_results);
        if (name)
            keys[i] = (struct name_key){hash_bytes(HASH_INIT, name, strlen(name)),
                                        (uint32_t)(i / n_results), (uint32_t)(i % n_results)};
        result = name ? check_own(inputs, &naming, &keys[i], name, fault) : no_memory(fault);
        free(name);
    }
    if (result == 0 && count > 0)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t begin = 0, end; begin < count && result == 0; begin = end) {
        for (end = begin + 1; end < count && keys[end].hash == keys[begin].hash; end++)
            ;
        if (end - begin > 1)
            result = mark_group(inputs, &naming, keys + begin, end - begin, fault);
    }
    free(keys);
    return result;
}
