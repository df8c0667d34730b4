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
    struct file_draft draft;
    char plane[];
};

/* ---- results: their names, and what happens when names are taken ---- */

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

/* Whether a number is taken: by a file that has one of the results' names or, before planes are
 * known, the result's name; or by a file under way. */
static bool is_taken(void *file_, unsigned number)
{
    const struct batch_file *file = file_;
    const struct batch *batch = file->batch;
    const struct batch_result *result = file->results;
    struct stat status;
    for (size_t i = batch->n_told; i < batch->n_begun; i++) {
        const struct batch_file *other = &batch->files[i % BATCH_FILES];
        if (other != file && other->state == BATCH_BUSY && other->number == number &&
            strcmp(other->output, file->output) == 0)
            return true;
    }
    do {
        char *path = path_of_result(file->output, number, result ? result->plane : "");
        bool taken = !path || lstat(path, &status) == 0;
        free(path);
        if (taken)
            return true;
        result = result ? result->next : NULL;
    } while (result);
    return false;
}

/* Applies the rule to the result's name: sets `skipped` or `number`, or returns a fault. This and
 * the following functions are called with the lock held. */
static int apply_rule(struct batch_file *file, struct fault *fault)
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
    char *path = path_of_result(file->output, file->number, result->plane);
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

/* Gives a file's results their names, all with one number. The rule is applied again if somebody
 * else has just taken the name. */
static int place_results(struct batch_file *file, struct fault *fault)
{
    struct batch_result *first = file->results;
    int result = first ? apply_rule(file, fault) : 0;
    while (first && result == 0 && !file->skipped) {
        struct fault why = FAULT_INIT;
        result = place_one(file, first, &why);
        if (result != FAULT_EXISTS) {
            fault_set(fault, why.code, "%s", why.text);
            break;
        }
        result = apply_rule(file, fault);
    }
    for (struct batch_result *r = first ? first->next : NULL; r && result == 0 && !file->skipped;
         r = r->next)
        result = place_one(file, r, fault);
    return result;
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
    char *path = path_of_result(file->output, file->number, plane);
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

/* ---- reports about files, and the summary ---- */

/* Ends the run because of a fault that is no file's. */
static void end_all(struct batch *batch, const struct fault *fault)
{
    const char *chain = batch->options->chain;
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
        batch->status =
            cli_complain(fault->code == FAULT_NO_SPACE ? batch->options->output : NULL, fault);
}

/* "a.jpg -> out/a.dx.png, out/a.dy.png (replaced)" */
static void tell_results(const struct batch_file *file)
{
    fprintf(stderr, "%s -> ", file->input);
    for (const struct batch_result *r = file->results; r; r = r->next) {
        char *path = path_of_result(file->output, file->number, r->plane);
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
    char *path = failed ? NULL : path_of_result(file->output, file->number, "");
    json_t *entry = json_pack("{s:o, s:o, s:s, s:b}", "input", json_text(file->input), "output",
                              failed ? json_null() : json_text(path), "result",
                              file->skipped ? "skipped" : fault_name(file->fault.code), "replaced",
                              (int)file->replaced);
    free(path);
    if (failed)
        json_object_update_new(
            entry, json_pack("{s:o, s:n}", "message", json_text(file->fault.text), "step"));
    batch->told(file, entry);
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
        fprintf(stderr, "%s: skipped: %s is there already\n", file->input, file->output);
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

static int check_clash(const struct batch_file *file, struct fault *fault)
{
    const struct batch *batch = file->batch;
    const struct input *input = &batch->inputs.list[file->index];
    if (input->clash == 0 || batch->options->on_exists == EXISTS_RULE_NUMBER)
        return 0;
    char *other = inputs_path(&batch->inputs, input->clash - 1);
    if (!other)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    bool same = strcmp(path_name(other), path_name(file->input)) == 0;
    int result = fault_set(fault, FAULT_CREATE,
                           "it and %s would both be written to %s (%s keeps them apart)", other,
                           file->output, same ? "--on-exists number" : "--name {name}.{ext}");
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
    if (result == 0 && batch->to_folder && batch->options->on_exists == EXISTS_RULE_OVERWRITE &&
        path_same_file(file->output, file->input))
        result =
            fault_set(fault, FAULT_CREATE,
                      "the result %s would replace its own input; say -o FILE or -o DIRECTORY/",
                      file->output);
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
    free(file->output);
    file->input = file->output = NULL;
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
        file->output = batch_name_result(batch, batch->next++);
        int result = file->input && file->output
                         ? prepare(file)
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
    format_finish(&batch->format);
    pthread_cond_destroy(&batch->changed);
    pthread_mutex_destroy(&batch->lock);
    batch->options = NULL;
}
