/* The results of a file: their names, and what happens when names are taken. */
#include "cli/batch_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/name.h"
#include "cli/paths.h"

char *batch_name_result(void *batch_, size_t index)
{
    const struct batch *batch = batch_;
    const struct batch_options *o = batch->options;
    const char *input = batch->inputs.list[index].name,
               *below = inputs_below(&batch->inputs, index);
    char *path;
    name_buffer name;
    if (!batch->to_folder)
        return strdup(o->output);
    struct name_parts parts = {.original = strcmp(input, "-") == 0 ? "stdin" : path_name(input),
                               .chain = o->chain ? o->chain : "",
                               .extension = batch->format.extension,
                               .day = batch->day};
    name_expand(name, o->name, &parts);
    const char *slash = o->output[strlen(o->output) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s%s%s", o->output, slash, below, below[0] ? "/" : "", name) < 0)
        return NULL;
    return path;
}

static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Whether a number is taken: by a file that has one of the results' names or, before planes are
 * known, the result's name; or by a file under way. */
static bool is_taken(void *file_, unsigned number)
{
    const struct batch_file *file = file_;
    const struct batch *batch = file->batch;
    const struct batch_result *result = file->results;
    for (size_t i = batch->n_told; i < batch->n_begun; i++) {
        const struct batch_file *other = &batch->files[i % BATCH_FILES];
        if (other != file && other->state == BATCH_BUSY && other->number == number &&
            strcmp(other->output, file->output) == 0)
            return true;
    }
    do {
        char *path = paths_result(file->output, number, result ? result->plane : "");
        bool taken = !path || is_there(path);
        free(path);
        if (taken)
            return true;
        result = result ? result->next : NULL;
    } while (result);
    return false;
}

int batch_apply_rule(struct batch_file *file, struct fault *fault)
{
    int rule = file->batch->options->on_exists;
    if (rule == EXISTS_RULE_OVERWRITE || strcmp(file->output, "-") == 0 ||
        !is_taken(file, file->number))
        return 0;
    if (rule == EXISTS_RULE_SKIP)
        file->skipped = true;
    else if (rule == EXISTS_RULE_FAIL)
        return fault_set(fault, FAULT_EXISTS, "%s is there already (--on-exists fail)",
                         file->output);
    else if ((file->number = name_find_number(is_taken, file)) == UINT32_MAX)
        return fault_set(fault, FAULT_CREATE, "no number is free for %s", file->output);
    return 0;
}

static int place_one(struct batch_file *file, struct batch_result *result, struct fault *fault)
{
    bool overwrites = file->batch->options->on_exists == EXISTS_RULE_OVERWRITE, replaced = false;
    char *path = paths_result(file->output, file->number, result->plane);
    if (!path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    /* Without a number the result keeps the name it was opened with, which may be the target of a
     * link. */
    int placed = file_draft_place(&result->draft, file->number ? path : NULL,
                                  overwrites ? &replaced : NULL, fault);
    file->replaced |= replaced;
    free(path);
    return placed;
}

/* The rule is applied again if somebody else has just taken the name. */
int batch_place_results(struct batch_file *file, struct fault *fault)
{
    struct batch_result *first = file->results;
    int result = first ? batch_apply_rule(file, fault) : 0;
    while (first && result == 0 && !file->skipped) {
        struct fault why = FAULT_INIT;
        result = place_one(file, first, &why);
        if (result != FAULT_EXISTS) {
            fault_set(fault, why.code, "%s", why.text);
            break;
        }
        result = batch_apply_rule(file, fault);
    }
    for (struct batch_result *r = first ? first->next : NULL; r && result == 0 && !file->skipped;
         r = r->next)
        result = place_one(file, r, fault);
    return result;
}

void batch_discard_results(struct batch_file *file)
{
    while (file->results) {
        struct batch_result *result = file->results;
        file->results = result->next;
        file_draft_discard(&result->draft);
        free(result);
    }
}

int batch_open_output(void *file_, const char *plane, int *fd, struct fault *fault)
{
    struct batch_file *file = file_;
    if (strcmp(file->output, "-") == 0) {
        if (plane[0])
            return fault_set(
                fault, FAULT_USAGE,
                "several planes do not fit one stream of this format; say --format npz, or write "
                "to files");
        *fd = fileno(cli_stdout);
        return 0;
    }
    struct batch_result *result = calloc(1, sizeof *result + strlen(plane) + 1), **end;
    char *path = paths_result(file->output, file->number, plane);
    if (!result || !path) {
        free(result);
        free(path);
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    }
    strcpy(result->plane, plane);
    for (end = &file->results; *end; end = &(*end)->next)
        ;
    *end = result;
    int failed = 0;
    if (inputs_below(&file->batch->inputs, file->index)[0]) {
        path[path_name(path) - path - 1] = '\0';
        failed = path_make_directories(path, 0777, fault);
        path[strlen(path)] = '/';
    }
    result->draft.fd = -1;
    if (failed == 0)
        failed = file_draft_open(&result->draft, path, fault);
    *fd = result->draft.fd;
    free(path);
    return failed;
}

int batch_close_output(void *file_, int fd, bool good, struct fault *fault)
{
    const struct batch_file *file = file_;
    struct batch_result *result = file->results;
    while (result && result->draft.fd != fd)
        result = result->next;
    if (!result) /* the result is written to stdout */
        return 0;
    if (good)
        return file_draft_close(&result->draft, fault);
    file_draft_discard(&result->draft);
    return 0;
}
