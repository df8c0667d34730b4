#include "config/loops.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/name.h"

/* ---- finding circles: pure ---- */

static bool is_passed_over(const char *path, const char *const *ignore)
{
    char name[NAME_MAX + 1];
    for (; *path; path += strspn(path, "/")) {
        size_t length = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        if (name_is_ignored(name, ignore))
            return true;
        path += length;
    }
    return false;
}

/* The part of `path` below `folder`; NULL: it is elsewhere, or the folder itself. */
static const char *part_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1]
               ? path + length + 1
               : NULL;
}

static bool takes(const struct loop_folder *folder, const char *output)
{
    if (strcmp(output, folder->input) == 0)
        return true;
    if (!folder->recursive)
        return false;
    const char *below = part_below(output, folder->input);
    if (below && !is_passed_over(below, folder->ignore))
        return true;
    for (const char *const *mounted = folder->mounted; *mounted; mounted++) {
        below = part_below(output, *mounted);
        if (strcmp(output, *mounted) == 0 || (below && !is_passed_over(below, folder->ignore)))
            return true;
    }
    return false;
}

/* A depth-first search: a folder that is met again on the present path closes a circle. */
struct search {
    const struct loop_folder *folders;
    size_t count, length; /* of `path` */
    size_t *path;         /* the present path */
    struct {
        size_t depth; /* position on the present path, from 1; 0: not on it */
        bool seen, told;
    } * states;
    void (*found)(void *context, const size_t *circle, size_t length);
    void *context;
};

static void close_circle(struct search *s, const size_t *circle, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (s->states[circle[i]].told)
            return;
    for (size_t i = 0; i < length; i++)
        s->states[circle[i]].told = true;
    s->found(s->context, circle, length);
}

static void search_from(struct search *s, size_t from)
{
    s->path[s->length++] = from;
    s->states[from].depth = s->length;
    s->states[from].seen = true;
    for (size_t to = 0; to < s->count; to++) {
        size_t depth = s->states[to].depth;
        if (!takes(&s->folders[to], s->folders[from].output))
            continue;
        if (!s->states[to].seen)
            search_from(s, to);
        else if (depth > 0)
            close_circle(s, s->path + depth - 1, s->length - depth + 1);
    }
    s->states[from].depth = 0;
    s->length--;
}

bool loops_find(const struct loop_folder *folders, size_t count,
                void (*found)(void *context, const size_t *circle, size_t length), void *context)
{
    struct search s = {.folders = folders,
                       .count = count,
                       .path = calloc(count + 1, sizeof *s.path),
                       .states = calloc(count + 1, sizeof *s.states),
                       .found = found,
                       .context = context};
    bool good = s.path && s.states;
    for (size_t start = 0; good && start < count; start++)
        if (!s.states[start].seen)
            search_from(&s, start);
    free(s.path);
    free(s.states);
    return good;
}

/* ---- where paths lead ---- */

struct mount {
    char device[24];
    char *root, *point; /* which folder of the device is mounted where; "" for "/"; owned */
};

struct mounts {
    size_t count;
    struct mount *list; /* owned */
};

/* proc(5): blanks and backslashes are written as octal numbers. */
static void unescape(char *path)
{
    char *to = path;
    if (!path)
        return;
    for (const char *from = path; *from; to++) {
        unsigned code;
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
    if (strcmp(path, "/") == 0)
        *path = '\0';
}

static bool read_mounts(struct mounts *mounts)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    bool good = true;
    while (file && good && getline(&line, &capacity, file) > 0) {
        struct mount *list = realloc(mounts->list, (mounts->count + 1) * sizeof *list);
        good = list != NULL;
        if (!good)
            break;
        mounts->list = list;
        struct mount *m = &list[mounts->count++];
        *m = (struct mount){0};
        good = sscanf(line, "%*d %*d %23s %ms %ms", m->device, &m->root, &m->point) == 3;
        unescape(m->root);
        unescape(m->point);
    }
    free(line);
    if (file)
        fclose(file);
    return good;
}

/* Follows links as far as there are folders that answer; the rest stays as written. */
static void follow(const char *path, char real[PATH_MAX])
{
    char begin[PATH_MAX];
    size_t length = strlen(path);
    snprintf(begin, sizeof begin, "%s", path);
    while (!path_real(begin, real)) {
        char *slash = errno == ETIMEDOUT ? begin : strrchr(begin, '/');
        if (!slash || slash == begin) {
            snprintf(real, PATH_MAX, "/");
            length = 0;
            break;
        }
        *slash = '\0';
    }
    size_t used = strcmp(real, "/") == 0 ? 0 : strlen(real);
    for (path += length == 0 ? 0 : strlen(begin); *(path += strspn(path, "/"));) {
        size_t part = strcspn(path, "/");
        if (part == 2 && memcmp(path, "..", 2) == 0)
            while (used > 0 && real[--used] != '/')
                ;
        else if (used + part + 2 < PATH_MAX)
            used += (size_t)snprintf(real + used, PATH_MAX - used, "/%.*s", (int)part, path);
        path += part;
    }
    real[used] = '\0';
}

static char *print_place(const struct mount *mount, const char *rest)
{
    struct text place = {0};
    text_printf(&place, "%s%s%s", mount ? mount->device : "", mount ? mount->root : "", rest);
    if (!place.failed)
        return place.data;
    text_finish(&place);
    return NULL;
}

static char *find_place(const struct mounts *mounts, const char *path, char real[PATH_MAX])
{
    const struct mount *holder = NULL;
    char *absolute = path_absolute(path);
    if (!absolute)
        return NULL;
    follow(absolute, real);
    free(absolute);
    /* the longest mount that holds the path, and the last of several at one place */
    for (size_t i = 0; i < mounts->count; i++) {
        const struct mount *m = &mounts->list[i];
        bool holds = strcmp(real, m->point) == 0 || part_below(real, m->point) || !m->point[0];
        if (holds && (!holder || strlen(m->point) >= strlen(holder->point)))
            holder = m;
    }
    return print_place(holder, real + (holder ? strlen(holder->point) : 0));
}

/* Other file systems that a recursive input finds below itself. */
static const char **find_mounted(const struct mounts *mounts, const char *real,
                                 const char *const *ignore)
{
    size_t count = 0;
    const char **list = calloc(mounts->count + 1, sizeof *list);
    for (size_t i = 0; list && i < mounts->count; i++) {
        const char *below = part_below(mounts->list[i].point, real);
        if (below && !is_passed_over(below, ignore) &&
            (list[count] = print_place(&mounts->list[i], "")) != NULL)
            count++;
    }
    return list;
}

/* ---- checking the settings ---- */

struct check {
    const struct settings *settings;
    size_t count;
    const struct watch_settings **watches; /* those with all paths; owned */
    struct loop_folder *folders;           /* where they lead; owned, with the texts */
    struct text *errors;
};

static void begin_error(const struct check *check, const struct watch_settings *watch)
{
    if (check->settings->file && watch->at.line > 0)
        text_printf(check->errors, "%s:%zu:%zu: watch: ", check->settings->file, watch->at.line,
                    watch->at.column);
}

static void complain_of_circle(void *context, const size_t *circle, size_t length)
{
    const struct check *check = context;
    const struct watch_settings *first = check->watches[circle[0]];
    const struct loop_folder *folder = &check->folders[circle[0]];
    struct text *errors = check->errors;
    begin_error(check, first);
    text_append(errors, "results would be taken for new pictures");
    if (length == 1 && strcmp(folder->input, folder->output) == 0)
        text_printf(errors, ": input and output are one folder (%s, %s)", first->input,
                    first->output);
    else if (length == 1)
        text_printf(errors, ": output %s is below input %s, which is recursive", first->output,
                    first->input);
    else
        text_append(errors, ", round a circle of folders: ");
    for (size_t i = 0; length > 1 && i < length; i++)
        text_printf(errors, "%sfrom %s to %s", i > 0 ? ", " : "", check->watches[circle[i]]->input,
                    check->watches[circle[i]]->output);
    text_append(errors, "\n");
}

static void complain_of_twin(const struct check *check, size_t index)
{
    const struct watch_settings *watch = check->watches[index];
    size_t i = 0;
    while (strcmp(check->folders[i].input, check->folders[index].input) != 0)
        i++;
    if (check->watches[i] == watch ||
        check->watches[index - 1] == watch) /* a folder below an output */
        return;
    begin_error(check, watch);
    text_printf(check->errors, "%s is watched twice", watch->input);
    if (strcmp(check->watches[i]->input, watch->input) != 0)
        text_printf(check->errors, ": %s leads there, too", check->watches[i]->input);
    text_append(check->errors, "\n");
}

/* Returns false without memory. */
static bool add(struct check *check, const struct mounts *mounts,
                const struct watch_settings *watch, const char *output)
{
    char real[PATH_MAX];
    const char *const *ignore = (const char *const *)watch->ignore;
    struct loop_folder *folder = &check->folders[check->count];
    if (!watch->input || !watch->output)
        return true;
    check->watches[check->count++] = watch;
    *folder = (struct loop_folder){.recursive = watch->recursive, .ignore = ignore};
    folder->output = find_place(mounts, output, real);
    folder->input = find_place(mounts, watch->input, real);
    folder->mounted = find_mounted(mounts, real, ignore);
    return folder->output && folder->input && folder->mounted;
}

/* The output, and each folder below it that results go to. */
static bool add_all(struct check *check, const struct mounts *mounts,
                    const struct watch_settings *watch)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    bool good = add(check, mounts, watch, watch->output);
    for (size_t i = 0; watch->folder && i < watch_count_results(watch) && good; i++) {
        watch_part(watch->folder, i, folder, sizeof folder);
        if (!folder[0] || !watch->output || i >= WATCH_RESULTS_MAX)
            continue;
        snprintf(path, sizeof path, "%s/%s", watch->output, folder);
        good = add(check, mounts, watch, path);
    }
    return good;
}

static void finish(struct check *check)
{
    for (size_t i = 0; i < check->count; i++) {
        struct loop_folder *folder = &check->folders[i];
        for (const char *const *mounted = folder->mounted; mounted && *mounted; mounted++)
            free((char *)*mounted);
        free((void *)folder->mounted);
        free((char *)folder->input);
        free((char *)folder->output);
    }
    free(check->folders);
    free((void *)check->watches);
}

void settings_check_loops(const struct settings *settings, struct text *errors)
{
    struct mounts mounts = {0};
    size_t n = settings->n_watches, most = 1;
    for (size_t i = 0; i < n; i++)
        most += 1 + (settings->watches[i].folder ? WATCH_RESULTS_MAX : 0);
    struct check check = {.settings = settings,
                          .watches = calloc(most, sizeof *check.watches),
                          .folders = calloc(most, sizeof *check.folders),
                          .errors = errors};
    bool good = check.watches && check.folders && read_mounts(&mounts);
    for (size_t i = 0; good && i < n; i++)
        good = add_all(&check, &mounts, &settings->watches[i]);
    for (size_t i = 0; good && i < check.count; i++)
        complain_of_twin(&check, i);
    errors->failed |= !good || !loops_find(check.folders, check.count, complain_of_circle, &check);
    finish(&check);
    for (size_t i = 0; i < mounts.count; i++) {
        free(mounts.list[i].root);
        free(mounts.list[i].point);
    }
    free(mounts.list);
}
