/* Makes jobs of the inputs of sluice enqueue, and decides where their results go. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"
#include "cli/enqueue_internal.h"
#include "cli/paths.h"

#define LIST_MAX (64u << 20)

bool enqueue_waits(const struct enqueue *enqueue)
{
    return enqueue->options.output || enqueue->options.wait;
}

bool enqueue_is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* OUT itself, or the input's name in the folder OUT. */
static char *output_path(const char *out, const char *input, const char *extension)
{
    name_buffer name;
    char *path = NULL;
    if (strcmp(out, "-") == 0 || !paths_is_directory(out))
        return strdup(out);
    name_of_result(name, strcmp(input, "-") == 0 ? "stdin" : path_name(input), 0, "", extension);
    const char *slash = out[strlen(out) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", out, slash, name) < 0 ? NULL : path;
}

static int add_entry(struct enqueue *enqueue, const char *input, const char *id,
                     struct fault *fault)
{
    const char *out = enqueue->options.output;
    struct entry *entries =
        realloc(enqueue->entries, (enqueue->n_entries + 1) * sizeof *enqueue->entries);
    if (!entries)
        return fault_set(fault, FAULT_MEMORY, "no memory for %zu files", enqueue->n_entries + 1);
    enqueue->entries = entries;
    struct entry *entry = &entries[enqueue->n_entries++];
    *entry = (struct entry){.input = strdup(input), .fault = FAULT_INIT};
    if (id) {
        snprintf(entry->id, sizeof entry->id, "%s", id);
        entry->state = ENTRY_QUEUED;
    }
    entry->name = strndup(input, enqueue_is_url(input) ? strcspn(input, "?#") : strlen(input));
    if (out && entry->name)
        entry->output = output_path(out, entry->name, enqueue->extension);
    if (!entry->input || !entry->name || (out && !entry->output))
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    return 0;
}

/* A list has lines of ID, tab, NAME. */
static int add_list(struct enqueue *enqueue, const char *path, struct fault *fault)
{
    struct bytes bytes = {0};
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set(fault, FAULT_NO_INPUT, "%s: %s", path, strerror(errno));
    int result = file_read(fd, LIST_MAX, &bytes, fault);
    close(fd);
    char *text = result == 0 ? strndup((const char *)bytes.data, bytes.size) : NULL, *rest = NULL;
    bytes_finish(&bytes);
    size_t number = 1;
    for (char *line = strtok_r(text, "\n", &rest); line && result == 0;
         line = strtok_r(NULL, "\n", &rest), number++) {
        char *tab = strchr(line, '\t');
        if (tab)
            *tab = '\0';
        if (!tab || !tab[1] || !job_is_word(line))
            result = fault_set(fault, FAULT_USAGE, "%s:%zu: expected an id, a tab and a name", path,
                               number);
        else
            result = add_entry(enqueue, tab + 1, line, fault);
    }
    free(text);
    return result;
}

static int compare_outputs(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;
    return strcmp((*x)->output, (*y)->output);
}

/* Two results with the same name would replace each other. */
static int check_outputs(const struct enqueue *enqueue, struct fault *fault)
{
    const char *out = enqueue->options.output;
    size_t count = enqueue->n_entries;
    if (!out || count < 2)
        return 0;
    if (!paths_is_directory(out))
        return fault_set(fault, FAULT_USAGE,
                         "%zu inputs need a directory for their results: -o DIRECTORY/", count);
    const struct entry **sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return fault_set(fault, FAULT_MEMORY, "no memory for %zu files", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &enqueue->entries[i];
    qsort(sorted, count, sizeof *sorted, compare_outputs);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->output, sorted[i]->output) == 0)
            fault_set(fault, FAULT_USAGE, "%s and %s would both be written to %s",
                      sorted[i - 1]->name, sorted[i]->name, sorted[i]->output);
    free(sorted);
    return fault->code;
}

int enqueue_add_all(struct enqueue *enqueue, char **inputs, size_t count, struct fault *fault)
{
    const char *out = enqueue->options.output;
    int result = 0;
    if (out && out[0] && out[strlen(out) - 1] == '/' && mkdir(out, 0777) != 0 && errno != EEXIST)
        return fault_set_errno(fault, FAULT_CREATE, out);
    for (size_t i = 0; i < count && result == 0; i++)
        result = enqueue->options.collect ? add_list(enqueue, inputs[i], fault)
                                          : add_entry(enqueue, inputs[i], NULL, fault);
    return result ? result : check_outputs(enqueue, fault);
}
