/* The files of a batch from their beginning to their end: the names of results, reports and the
 * summary, and the ring of files that are under way. */
#include "cli/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"
#include "worker/json_text.h"

struct batch_result {
    struct batch_result *next;
    size_t of;           /* the number of the picture's result that it is, or is a plane of */
    bool replaced, kept; /* a file of its name; was there, and stays (--on-exists skip) */
    struct file_draft draft;
    char plane[];
};

/* ---- results: their names, and what happens when names are taken ---- */

char *batch_name_result(void *batch_, size_t index, size_t result)
{
    const struct batch *batch = batch_;
    const struct batch_place *place = &batch->places[result];
    const struct batch_wish *wish = &place->wish;
    const char *input = batch->inputs.list[index].name,
               *below = inputs_below(&batch->inputs, index);
    char *path;
    name_buffer name;
    if (!place->to_folder)
        return strdup(wish->output);
    struct name_parts parts = {.original = strcmp(input, "-") == 0 ? "stdin" : path_name(input),
                               .chain = wish->chain ? wish->chain : "",
                               .extension = place->format.extension,
                               .day = batch->day};
    name_expand(name, wish->name, &parts);
    const char *slash = wish->output[strlen(wish->output) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s%s%s", wish->output, slash, below, below[0] ? "/" : "", name) < 0)
        return NULL;
    return path;
}

static bool is_stdout(const struct batch_file *file, size_t result)
{
    return strcmp(file->outputs[result], "-") == 0;
}

/* Whether a file under way will have one of the names. */
static bool is_under_way(const struct batch_file *file, unsigned number)
{
    const struct batch *batch = file->batch;
    for (size_t i = batch->n_told; i < batch->n_begun; i++) {
        const struct batch_file *other = &batch->files[i % BATCH_FILES];
        bool same = other != file && other->state == BATCH_BUSY && other->number == number;
        for (size_t r = 0; same && r < batch->n_places * batch->n_places; r++)
            if (strcmp(other->outputs[r / batch->n_places], file->outputs[r % batch->n_places]) ==
                0)
                return true;
    }
    return false;
}

/* The first in a list of files that belongs to that result of the picture. */
static struct batch_result *first_of(struct batch_result *list, size_t of)
{
    while (list && list->of != of)
        list = list->next;
    return list;
}

/* Whether a file has the name of a result or, once planes are known, of one of its planes. */
static bool is_there(const struct batch_file *file, size_t of, unsigned number)
{
    const struct batch_result *result = first_of(file->results, of);
    struct stat status;
    bool there = false;
    do {
        char *path = path_of_result(file->outputs[of], number, result ? result->plane : "");
        there |= !path || lstat(path, &status) == 0;
        free(path);
        result = result ? first_of(result->next, of) : NULL;
    } while (result && !there);
    return there && !is_stdout(file, of);
}

/* The number of the first result whose name is taken; n_places: none is. */
static size_t find_taken(const struct batch_file *file, unsigned number)
{
    size_t count = file->batch->n_places, of = 0;
    while (of < count && !is_there(file, of, number))
        of++;
    return of;
}

/* Whether a number is taken, for any of the results. */
static bool is_taken(void *file_, unsigned number)
{
    const struct batch_file *file = file_;
    return is_under_way(file, number) || find_taken(file, number) < file->batch->n_places;
}

/* Applies the rule to the results' names: sets `skipped` or `number`, or returns a fault. What is
 * there stays with `skip`, and a picture is left out whose results are all there. This and the
 * following functions are called with the lock held. */
static int apply_rule(struct batch_file *file, struct fault *fault)
{
    int rule = file->batch->options->on_exists;
    size_t count = file->batch->n_places;
    if (rule == EXISTS_RULE_OVERWRITE || !is_taken(file, file->number))
        return 0;
    size_t of = find_taken(file, file->number);
    const char *output = file->outputs[of < count ? of : 0];
    if (rule == EXISTS_RULE_SKIP) {
        file->skipped = is_under_way(file, file->number);
        for (of = 0; of < count && is_there(file, of, file->number); of++)
            ;
        file->skipped |= of == count;
        for (struct batch_result *result = file->results; result; result = result->next)
            result->kept = is_there(file, result->of, file->number);
    } else if (rule == EXISTS_RULE_FAIL) {
        return fault_set(fault, FAULT_EXISTS, "%s is there already (--on-exists fail)", output);
    } else if ((file->number = name_find_number(is_taken, file)) == UINT32_MAX) {
        return fault_set(fault, FAULT_CREATE, "no number is free for %s", output);
    }
    return 0;
}

static int place_one(struct batch_file *file, struct batch_result *result, struct fault *fault)
{
    bool overwrites = file->batch->options->on_exists == EXISTS_RULE_OVERWRITE;
    char *path = path_of_result(file->outputs[result->of], file->number, result->plane);
    if (!path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    /* Without a number the result keeps the name it was opened with, which may be the target of a
     * link. */
    int placed = file_draft_place(&result->draft, file->number ? path : NULL,
                                  overwrites ? &result->replaced : NULL, fault);
    free(path);
    return placed;
}

/* Takes the names back from the results before `last`, but not from those that replaced a file,
 * which is gone. */
static void take_back(const struct batch_file *file, const struct batch_result *last)
{
    for (struct batch_result *r = file->results; r != last; r = r->next) {
        char *path = path_of_result(file->outputs[r->of], file->number, r->plane);
        if (path && !r->kept && !r->replaced)
            file_draft_take_back(&r->draft, file->number ? path : NULL);
        free(path);
    }
}

/* Gives a file's results their names, all with one number, or none of them. The rule is applied
 * again if somebody else has just taken a name. */
static int place_results(struct batch_file *file, struct fault *fault)
{
    int result = file->results ? apply_rule(file, fault) : 0;
    struct batch_result *r = file->results;
    while (r && result == 0 && !file->skipped) {
        struct fault why = FAULT_INIT;
        int placed = r->kept ? 0 : place_one(file, r, &why);
        if (placed == 0) {
            file->replaced |= r->replaced;
            r = r->next;
            continue;
        }
        take_back(file, r);
        if (placed == FAULT_EXISTS)
            result = apply_rule(file, fault);
        else
            result = fault_set(fault, why.code, "%s", why.text);
        r = file->results;
    }
    return result;
}

int batch_open_output(void *file_, size_t of, const char *plane, int *fd, struct fault *fault)
{
    struct batch_file *file = file_;
    if (is_stdout(file, of)) {
        if (plane[0])
            return fault_set(
                fault, FAULT_USAGE,
                "several planes do not fit one stream of this format; say --format npz, or write "
                "to files");
        *fd = fileno(cli_stdout);
        return 0;
    }
    struct batch_result *result = calloc(1, sizeof *result + strlen(plane) + 1), **end;
    char *path = path_of_result(file->outputs[of], file->number, plane);
    if (!result || !path) {
        free(result);
        free(path);
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    }
    strcpy(result->plane, plane);
    result->of = of;
    for (end = &file->results; *end; end = &(*end)->next)
        ;
    *end = result;
    int failed = 0;
    if (file->batch->places[of].to_folder && inputs_below(&file->batch->inputs, file->index)[0]) {
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

/* ---- reports about files, and the summary ---- */

/* Ends the run because of a fault that is no file's. */
static void end_all(struct batch *batch, const struct fault *fault)
{
    const char *chain = batch->faults_in ? batch->faults_in : batch->places[0].wish.chain;
    if (batch->end.code)
        return;
    batch->end = *fault;
    progress_clear(&batch->progress);
    if (faults_count(&batch->faults) == 0)
        batch->faults.list[0] = *fault;
    if (chain && fault->code == FAULT_CHAIN)
        for (size_t i = 0; i < faults_count(&batch->faults); i++)
            batch->status = cli_complain_chain(chain, &batch->faults.list[i]);
    else
        batch->status = cli_complain(fault->code == FAULT_NO_SPACE && batch->n_places == 1
                                         ? batch->places[0].wish.output
                                         : NULL,
                                     fault);
}

/* "a.jpg -> out/a.dx.png, out/a.dy.png (replaced)" */
static void tell_results(const struct batch_file *file)
{
    fprintf(stderr, "%s -> ", file->input);
    for (const struct batch_result *r = file->results; r; r = r->next) {
        char *path = path_of_result(file->outputs[r->of], file->number, r->plane);
        fprintf(stderr, "%s%s", path ? path : "", r->next ? ", " : "");
        free(path);
    }
    fprintf(stderr, "%s%s\n", file->results ? "" : "stdout", file->replaced ? " (replaced)" : "");
}

static void tell_json(struct batch_file *file)
{
    struct batch *batch = file->batch;
    bool failed = file->fault.code != FAULT_NONE;
    struct fault broken = FAULT_INIT;
    char *path = failed ? NULL : path_of_result(file->outputs[0], file->number, "");
    json_t *entry = json_pack("{s:o, s:o, s:s, s:b}", "input", json_text(file->input), "output",
                              failed ? json_null() : json_text(path), "result",
                              file->skipped ? "skipped" : fault_name(file->fault.code), "replaced",
                              (int)file->replaced);
    free(path);
    if (failed)
        json_object_update_new(
            entry, json_pack("{s:o, s:n}", "message", json_text(file->fault.text), "step"));
    batch->told(file, entry);
    json_t *results = json_object_get(entry, "results"), *one;
    size_t i;
    json_array_foreach (results, i, one) {
        path = failed || i >= batch->n_places ? NULL
                                              : path_of_result(file->outputs[i], file->number, "");
        json_object_set_new(one, "output", path ? json_text(path) : json_null());
        free(path);
    }
    if (!batch->device && json_is_string(json_object_get(entry, "device")))
        batch->device = json_pack("{s:O, s:O, s:O}", "device", json_object_get(entry, "device"),
                                  "platform", json_object_get(entry, "platform"), "driver",
                                  json_object_get(entry, "driver"));
    fputs(batch->json_begun ? ",\n" : "{\"files\": [\n", cli_stdout);
    batch->json_begun = true;
    json_dumpf(entry, cli_stdout, JSON_REAL_PRECISION(15));
    json_decref(entry);
    if (ferror(cli_stdout) && !batch->end.code) {
        fault_set_errno(&broken, FAULT_IO, "stdout");
        end_all(batch, &broken);
    }
}

/* Reports how a file has ended. */
static void tell_file(struct batch_file *file)
{
    struct batch *batch = file->batch;
    const struct common_options *common = &batch->options->common;
    progress_clear(&batch->progress);
    if (file->fault.code && file->fault.code != batch->end.code)
        cli_complain(file->input, &file->fault);
    else if (file->skipped && (common->verbose || (batch->alone && !common->quiet)))
        fprintf(stderr, "%s: skipped: %s%s there already\n", file->input, file->outputs[0],
                batch->n_places > 1 ? " and the other results are" : " is");
    else if (!file->skipped && common->verbose)
        tell_results(file);
    if (common->json)
        tell_json(file);
    else
        batch->told(file, NULL);
}

static void tell_failures(const struct batch *batch)
{
    size_t listed = sizeof batch->failures / sizeof *batch->failures;
    fprintf(stderr, "sluice: %zu of %zu files failed:\n", batch->n_failed, batch->n_ended);
    for (size_t i = 0; i < batch->n_failed && i < listed; i++)
        fprintf(stderr, "  %s\n", batch->failures[i] ? batch->failures[i] : "");
    if (batch->n_failed > listed)
        fprintf(stderr, "  and %zu more\n", batch->n_failed - listed);
}

/* All files looked at: the sum of done, skipped, failed and left. */
static size_t count_files(const struct batch *batch)
{
    return batch->inputs.count - batch->n_twice + batch->inputs.n_no_files;
}

static size_t count_skipped(const struct batch *batch)
{
    return batch->n_skipped + batch->n_no_pictures + batch->inputs.n_no_files;
}

static void append_skipped(const struct batch *batch, struct text *line)
{
    const struct {
        size_t count;
        const char *one, *several;
    } why[] = {{batch->n_skipped, "there already", "there already"},
               {batch->n_no_pictures - batch->n_foreign, "no picture", "no pictures"},
               {batch->n_foreign, "in a format that is not read", "in formats that are not read"},
               {batch->inputs.n_no_files, "link or the like", "links or the like"}};
    const char *before = " (";
    text_printf(line, ", %zu skipped", count_skipped(batch));
    for (size_t i = 0; i < sizeof why / sizeof *why; i++) {
        if (why[i].count == 0)
            continue;
        text_printf(line, "%s%zu %s", before, why[i].count,
                    why[i].count == 1 ? why[i].one : why[i].several);
        before = ", ";
    }
    text_append(line, ")");
}

/* "12 files: 8 done (3 replaced), 3 skipped (1 there already, 2 no pictures), 1 failed; 120MP in
 * 3.2s, 37.5 MP/s" */
static void tell_summary(const struct batch *batch, uint64_t took)
{
    struct text line = {0};
    size_t total = count_files(batch), skipped = count_skipped(batch);
    size_t left = total - skipped - batch->n_done - batch->n_failed;
    size_t folders = batch->inputs.n_left_folders;
    double rate = (double)batch->pixels * 1e3 / (double)took; /* megapixels a second */
    text_printf(&line, "%zu file%s: %zu done", total, total == 1 ? "" : "s", batch->n_done);
    if (batch->n_replaced)
        text_printf(&line, " (%zu replaced)", batch->n_replaced);
    if (skipped)
        append_skipped(batch, &line);
    if (batch->n_failed)
        text_printf(&line, ", %zu failed", batch->n_failed);
    if (left)
        text_printf(&line, ", %zu left", left);
    if (batch->pixels)
        text_printf(&line, rate < 100 ? "; %s in %s, %.3g MP/s" : "; %s in %s, %.0f MP/s",
                    number_pixels(batch->pixels), number_duration(took), rate);
    if (folders)
        text_printf(&line, "; %zu director%s below left out (-r takes %s)", folders,
                    folders == 1 ? "y" : "ies", folders == 1 ? "it" : "them");
    fprintf(stderr, "sluice: %s\n", text_string(&line));
    text_finish(&line);
}

static json_t *count_json(const struct device_counters *counters, uint64_t value)
{
    return counters ? json_integer((json_int_t)value) : json_null();
}

/* docs/schemas/run.json */
static void tell_json_end(const struct batch *batch, const char *chain,
                          const struct device_counters *c, double seconds)
{
    json_t *summary = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)count_files(batch), "done",
        (json_int_t)batch->n_done, "replaced", (json_int_t)batch->n_replaced, "failed",
        (json_int_t)batch->n_failed, "skipped", (json_int_t)count_skipped(batch),
        "skipped_no_pictures", (json_int_t)batch->n_no_pictures, "skipped_links",
        (json_int_t)batch->inputs.n_no_files, "pixels", (json_int_t)batch->pixels);
    json_t *rest = json_pack(
        "{s:o, s:O?, s:O?, s:O?, s:o, s:o, s:o, s:f, s:o}", "chain", json_text(chain), "device",
        json_object_get(batch->device, "device"), "platform",
        json_object_get(batch->device, "platform"), "driver",
        json_object_get(batch->device, "driver"), "builds", count_json(c, c ? c->builds : 0),
        "cache_hits", count_json(c, c ? c->cache_hits : 0), "allocations",
        count_json(c, c ? c->allocations : 0), "wall_s", seconds, "summary", summary);
    char *text = json_dumps(rest, JSON_REAL_PRECISION(15));
    fprintf(cli_stdout, "%s\n],\n%s\n", batch->json_begun ? "" : "{\"files\": [",
            text ? text + 1 : "}");
    free(text);
    json_decref(rest);
}

int batch_tell(struct batch *batch, const char *chain, const struct device_counters *counters)
{
    uint64_t took = clock_now() - batch->begun;
    struct fault fault = FAULT_INIT;
    batch_show(batch);
    pthread_mutex_lock(&batch->lock);
    progress_clear(&batch->progress);
    batch->progress.hidden = true;
    pthread_mutex_unlock(&batch->lock);
    if (!batch->alone && batch->n_begun == 0 && !batch->end.code) {
        fault_set(&fault, FAULT_NO_INPUT, "there is no picture%s%s%s%s",
                  batch->n_foreign ? " that can be read" : "",
                  batch->inputs.n_folders == 1 ? " in " : "",
                  batch->inputs.n_folders == 1 ? batch->inputs.folders[0].path : "",
                  batch->inputs.n_left_folders ? "; -r takes the directories below, too" : "");
        batch->status = cli_complain(NULL, &fault);
    }
    if (batch->options->common.json)
        tell_json_end(batch, chain, counters, (double)took * 1e-9);
    if (!batch->alone && !batch->options->common.quiet) {
        if (batch->n_failed && !batch->end.code)
            tell_failures(batch);
        tell_summary(batch, took);
    }
    return batch->alone || batch->end.code || batch->n_failed == 0 ? batch->status : 1;
}

/* ---- the way of a file ---- */

static bool is_full(const struct batch *batch)
{
    return batch->n_busy >= batch->ahead || batch->n_begun - batch->n_told >= BATCH_FILES;
}

/* Whether an input has a result of that name. */
static bool is_name_of(struct batch *batch, size_t index, const char *output)
{
    bool found = false;
    for (size_t i = 0; i < batch->n_places && !found; i++) {
        char *name = batch_name_result(batch, index, i);
        found = name && strcmp(name, output) == 0;
        free(name);
    }
    return found;
}

static int check_clash(const struct batch_file *file, struct fault *fault)
{
    struct batch *batch = file->batch;
    const struct input *input = &batch->inputs.list[file->index];
    if (input->clash == 0 || batch->options->on_exists == EXISTS_RULE_NUMBER)
        return 0;
    char *other = inputs_path(&batch->inputs, input->clash - 1);
    if (!other)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    bool same = strcmp(path_name(other), path_name(file->input)) == 0;
    size_t of = batch->n_places;
    while (--of > 0 && !is_name_of(batch, input->clash - 1, file->outputs[of]))
        ;
    int result = fault_set(fault, FAULT_CREATE,
                           "it and %s would both be written to %s (%s keeps them apart)", other,
                           file->outputs[of], same ? "--on-exists number" : "--name {name}.{ext}");
    free(other);
    return result;
}

/* Opens the input and decides the result's name. INPUTS_OTHER: the file is left out. */
static int prepare(struct batch_file *file)
{
    struct batch *batch = file->batch;
    struct fault *fault = &file->fault;
    int result = inputs_open(&batch->inputs, file->index, &file->fd, fault);
    if (result != 0)
        return result;
    if (batch->inputs.list[file->index].clash == file->index + 1)
        return INPUTS_OTHER;
    if ((result = check_clash(file, fault)) != 0)
        return result;
    pthread_mutex_lock(&batch->lock);
    result = apply_rule(file, fault);
    pthread_mutex_unlock(&batch->lock);
    for (size_t i = 0; i < batch->n_places && result == 0; i++)
        if (batch->places[i].to_folder && batch->options->on_exists == EXISTS_RULE_OVERWRITE &&
            path_same_file(file->outputs[i], file->input))
            result =
                fault_set(fault, FAULT_CREATE,
                          "the result %s would replace its own input; say -o FILE or -o DIRECTORY/",
                          file->outputs[i]);
    return result;
}

static void close_input(struct batch_file *file)
{
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    file->fd = -1;
}

static void release(struct batch_file *file)
{
    close_input(file);
    while (file->results) {
        struct batch_result *result = file->results;
        file->results = result->next;
        file_draft_discard(&result->draft);
        free(result);
    }
    free(file->input);
    file->input = NULL;
    for (size_t i = 0; i < CHAIN_RESULTS_MAX; i++) {
        free(file->outputs[i]);
        file->outputs[i] = NULL;
    }
    file->state = BATCH_FREE;
}

/* Leaves out a file that is no picture, or that is in the list twice. */
static void drop(struct batch_file *file)
{
    struct batch *batch = file->batch;
    bool is_twice = batch->inputs.list[file->index].clash == file->index + 1;
    bool is_foreign = file->fault.code == FAULT_FORMAT;
    pthread_mutex_lock(&batch->lock);
    batch->n_twice += is_twice;
    batch->n_foreign += is_foreign;
    batch->n_no_pictures += !is_twice;
    if (batch->options->common.verbose || (is_foreign && !batch->options->common.quiet)) {
        progress_clear(&batch->progress);
        if (is_foreign)
            fprintf(stderr, "%s: %s: left out\n", file->input, file->fault.text);
        else
            fprintf(stderr, "%s: %s\n", file->input,
                    is_twice ? "named twice: done once" : "no picture: left out");
    }
    release(file);
    pthread_mutex_unlock(&batch->lock);
}

/* Whether all other files would fail, too. A device may fail because of one picture, so the run
 * ends only if it has done nothing yet, or fails twice in a row. */
static bool ends_all(const struct batch_file *file)
{
    const struct batch *batch = file->batch;
    struct fault none = FAULT_INIT;
    if (file->is_its_own)
        return false;
    switch (file->fault.code) {
    case FAULT_CHAIN:
    case FAULT_USAGE:
    case FAULT_BUSY:
    case FAULT_KERNELS:
    case FAULT_NO_SPACE:
        return true;
    case FAULT_NO_DEVICE:
    case FAULT_DEVICE:
        return batch->n_done == 0 || batch->last == file->fault.code;
    case FAULT_CREATE:
    case FAULT_PERMISSION:
    case FAULT_IO:
        return batch_try_output(batch, &none) != 0;
    default:
        return false;
    }
}

static void count(struct batch_file *file)
{
    struct batch *batch = file->batch;
    enum fault_code code = file->fault.code;
    batch->last = code;
    /* its fault is that of the run: it is not done, like the files after it */
    if (code && code == batch->end.code)
        return;
    batch->n_ended++;
    batch->n_skipped += file->skipped;
    batch->n_replaced += file->replaced;
    if (code == FAULT_NONE && !file->skipped) {
        batch->n_done++;
        batch->pixels += file->pixels;
    } else if (code != FAULT_NONE) {
        if (batch->n_failed < sizeof batch->failures / sizeof *batch->failures &&
            asprintf(&batch->failures[batch->n_failed], "%s (%s)", file->input, fault_name(code)) <
                0)
            batch->failures[batch->n_failed] = NULL;
        batch->n_failed++;
        if (!batch->end.code)
            batch->status = fault_exit_status(code);
    }
}

/* Called with the lock held. */
static void end(struct batch_file *file)
{
    struct batch *batch = file->batch;
    if (file->fault.code == FAULT_NONE && !file->skipped)
        place_results(file, &file->fault);
    close_input(file);
    if (file->fault.code && ends_all(file))
        end_all(batch, &file->fault);
    count(file);
    file->state = BATCH_ENDED;
    struct batch_file *first;
    while (batch->n_told < batch->n_begun &&
           (first = &batch->files[batch->n_told % BATCH_FILES])->state == BATCH_ENDED) {
        tell_file(first);
        release(first);
        batch->n_told++;
    }
    pthread_cond_broadcast(&batch->changed);
}

void batch_end(struct batch_file *file)
{
    struct batch *batch = file->batch;
    pthread_mutex_lock(&batch->lock);
    batch->n_busy--;
    end(file);
    pthread_mutex_unlock(&batch->lock);
}

void batch_give_up(struct batch *batch, const struct fault *fault)
{
    pthread_mutex_lock(&batch->lock);
    end_all(batch, fault);
    pthread_mutex_unlock(&batch->lock);
}

enum batch_step batch_next(struct batch *batch, struct batch_file **begun)
{
    for (;;) {
        pthread_mutex_lock(&batch->lock);
        bool over = batch->end.code || batch->next == batch->inputs.count, full = is_full(batch);
        bool busy = batch->n_busy > 0;
        size_t place = batch->n_begun % BATCH_FILES;
        pthread_mutex_unlock(&batch->lock);
        if (over || full)
            return full || busy ? BATCH_WAIT : BATCH_OVER;
        struct batch_file *file = &batch->files[place];
        *file = (struct batch_file){.batch = batch, .place = place, .fd = -1, .index = batch->next};
        fault_clear(&file->fault);
        file->input = inputs_path(&batch->inputs, batch->next);
        bool named = file->input != NULL;
        for (size_t i = 0; i < batch->n_places; i++) {
            file->outputs[i] = batch_name_result(batch, batch->next, i);
            named &= file->outputs[i] != NULL;
        }
        batch->next++;
        int result = named ? prepare(file)
                           : fault_set(&file->fault, FAULT_MEMORY, "no memory for a file name");
        if (result == INPUTS_OTHER) {
            drop(file);
            continue;
        }
        bool is_ready = result == 0 && !file->skipped;
        pthread_mutex_lock(&batch->lock);
        batch->n_begun++;
        batch->n_busy += is_ready;
        file->state = BATCH_BUSY;
        if (!is_ready) {
            file->is_its_own = true;
            end(file);
        }
        pthread_mutex_unlock(&batch->lock);
        *begun = file;
        if (is_ready)
            return BATCH_FILE;
    }
}

void batch_wait(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    while (is_full(batch) ||
           (batch->n_busy > 0 && (batch->end.code || batch->next == batch->inputs.count)))
        pthread_cond_wait(&batch->changed, &batch->lock);
    pthread_mutex_unlock(&batch->lock);
}

void batch_finish(struct batch *batch)
{
    batch_end_signals();
    log_set_sink(NULL);
    if (!batch->options)
        return;
    for (size_t i = 0; batch->files && i < BATCH_FILES; i++)
        if (batch->files[i].state != BATCH_FREE)
            release(&batch->files[i]);
    for (size_t i = 0; i < sizeof batch->failures / sizeof *batch->failures; i++)
        free(batch->failures[i]);
    free(batch->files);
    json_decref(batch->device);
    inputs_finish(&batch->inputs);
    for (size_t i = 0; i < CHAIN_RESULTS_MAX; i++)
        format_finish(&batch->places[i].format);
    pthread_cond_destroy(&batch->changed);
    pthread_mutex_destroy(&batch->lock);
    batch->options = NULL;
}
