/* Reports about files, and the summary. */
#include "cli/batch_internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "cli/paths.h"
#include "worker/json_text.h"

/* "a.jpg -> out/a.dx.png, out/a.dy.png (replaced)" */
static void tell_results(const struct batch_file *file)
{
    fprintf(stderr, "%s -> ", file->input);
    for (const struct batch_result *r = file->results; r; r = r->next) {
        char *path = paths_result(file->output, file->number, r->plane);
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
    char *path = failed ? NULL : paths_result(file->output, file->number, "");
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
        batch_end_all(batch, &broken);
    }
}

void batch_tell_file(struct batch_file *file)
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
               {batch->n_no_pictures, "no picture", "no pictures"},
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
        fault_set(&fault, FAULT_NO_INPUT, "there is no picture%s%s%s",
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
