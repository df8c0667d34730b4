/* A batch's files, from beginning to end. */
#include "cli/batch_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/name.h"
#include "cli/interrupt.h"
#include "cli/paths.h"

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
    int result =
        inputs_open(&batch->inputs, file->index, batch->decode.raw != RAW_NONE, &file->fd, fault);
    if (result != 0)
        return result;
    if (batch->inputs.list[file->index].clash == file->index + 1)
        return INPUTS_OTHER;
    if ((result = check_clash(file, fault)) != 0)
        return result;
    pthread_mutex_lock(&batch->lock);
    result = batch_apply_rule(file, fault);
    pthread_mutex_unlock(&batch->lock);
    if (result == 0 && batch->to_folder && batch->options->on_exists == EXISTS_RULE_OVERWRITE &&
        paths_same_file(file->output, file->input))
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
    batch_discard_results(file);
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
    pthread_mutex_lock(&batch->lock);
    batch->n_twice += is_twice;
    batch->n_no_pictures += !is_twice;
    if (batch->options->common.verbose) {
        progress_clear(&batch->progress);
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

void batch_end_all(struct batch *batch, const struct fault *fault)
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
        batch_place_results(file, &file->fault);
    close_input(file);
    if (file->fault.code && ends_all(file))
        batch_end_all(batch, &file->fault);
    count(file);
    file->state = BATCH_ENDED;
    struct batch_file *first;
    while (batch->n_told < batch->n_begun &&
           (first = &batch->files[batch->n_told % BATCH_FILES])->state == BATCH_ENDED) {
        batch_tell_file(first);
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
    batch_end_all(batch, fault);
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
    interrupt_end();
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
