/* Sends the jobs of sluice enqueue and receives their results. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/name.h"
#include "base/text.h"
#include "cli/enqueue.h"

#define RETRY_TIME (60 * SECOND) /* for a server that does not acknowledge */
#define BURST      16            /* requests in vain between two pauses */

static void end_entry(struct enqueue *enqueue, struct entry *entry)
{
    bool failed = entry->fault.code != FAULT_NONE;
    entry->state = failed ? ENTRY_FAILED : ENTRY_DONE;
    enqueue->n_ended++;
    enqueue->n_failed += failed;
    progress_clear(&enqueue->progress);
    if (failed)
        cli_complain(entry->name, &entry->fault);
}

static void show(struct enqueue *enqueue)
{
    const struct progress_state state = {.total = enqueue->n_entries,
                                         .ended = enqueue_waits(enqueue) ? enqueue->n_ended
                                                                         : enqueue->n_queued,
                                         .failed = enqueue->n_failed,
                                         .waiting = ""};
    progress_show(&enqueue->progress, &state);
}

/* ---- results ---- */

static int write_out(const struct entry *entry, const struct hub_message *message,
                     struct fault *fault)
{
    struct file_draft draft = {.fd = -1};
    if (strcmp(entry->output, "-") == 0)
        return file_write(fileno(cli_stdout), message->data, message->size, fault);
    int result = file_draft_open(&draft, entry->output, fault);
    if (result == 0)
        result = file_write(draft.fd, message->data, message->size, fault);
    if (result == 0)
        return file_draft_commit(&draft, false, fault);
    file_draft_discard(&draft);
    return result;
}

static void take_result(struct enqueue *enqueue, struct entry *entry,
                        const struct hub_message *message)
{
    const char *status = hub_header(message, "Sluice-Status");
    const char *code = hub_header(message, "Sluice-Code"),
               *text = hub_header(message, "Sluice-Text");
    const char *type = hub_header(message, "Sluice-Media-Type");
    const char *machine = hub_header(message, "Sluice-Machine");
    const char *size = hub_header(message, "Sluice-Size");
    snprintf(entry->media_type, sizeof entry->media_type, "%s", type ? type : "");
    snprintf(entry->machine, sizeof entry->machine, "%s", machine ? machine : "");
    entry->size = size ? strtoll(size, NULL, 10) : 0;
    if (!status || strcmp(status, "ok") != 0) {
        enum fault_code why = fault_by_name(code ? code : "");
        fault_set(&entry->fault, why ? why : FAULT_INTERNAL, "%s",
                  text ? text : "the result does not say why");
    } else if (entry->output && (message->size > 0 || entry->size == 0)) {
        write_out(entry, message, &entry->fault);
    } else if (entry->output) { /* it is in a store */
        free(entry->output);
        entry->output = NULL;
    }
    end_entry(enqueue, entry);
}

/* True when there was one. */
static bool look_for_result(struct enqueue *enqueue, struct entry *entry)
{
    struct hub_message message;
    struct fault fault = FAULT_INIT;
    enum hub_answer answer = hub_result(enqueue->hub, entry->id, &message, &fault);
    if (answer == HUB_OK)
        take_result(enqueue, entry, &message);
    hub_message_finish(&message);
    return answer == HUB_OK;
}

/* The hub looks up each request, beside its other work: a pause is in proportion to the requests in
 * vain before it, from 400 a second while results come down to 50. So the last ones are soon there. */
static void pause_after(size_t in_vain, unsigned *slower)
{
    uint64_t pause = in_vain * *slower * (SECOND / 400);
    clock_sleep(pause > SECOND / 50 ? pause : SECOND / 50);
    *slower = *slower < 8 ? 2 * *slower : *slower;
}

/* Asks for the result of each job that has none yet, and pauses after some that are not there.
 * Returns how many are still to come. */
static size_t sweep(struct enqueue *enqueue, uint64_t end, unsigned *slower)
{
    size_t waiting = 0, in_vain = 0;
    for (size_t i = 0; i < enqueue->n_entries && clock_now() < end; i++) {
        struct entry *entry = &enqueue->entries[i];
        if (entry->state != ENTRY_QUEUED)
            continue;
        if (look_for_result(enqueue, entry)) {
            *slower = 1;
        } else {
            waiting++;
            if (++in_vain == BURST) {
                pause_after(in_vain, slower);
                in_vain = 0;
            }
        }
        show(enqueue);
    }
    if (in_vain > 0)
        pause_after(in_vain, slower);
    return waiting;
}

/* 0, or why no result will come at all. */
static int check_hub(struct enqueue *enqueue, struct fault *fault)
{
    int result = hub_mend(enqueue->hub, fault);
    if (result == 0 && hub_is_denied(enqueue->hub))
        result = fault_set(fault, FAULT_PERMISSION, "the credentials do not permit it");
    return result;
}

void enqueue_collect(struct enqueue *enqueue)
{
    uint64_t timeout = enqueue->options.timeout;
    unsigned slower = 1;
    uint64_t end = timeout ? clock_now() + timeout : UINT64_MAX;
    struct fault why = FAULT_INIT;
    while (clock_now() < end && sweep(enqueue, end, &slower) > 0)
        if (check_hub(enqueue, &why) != 0)
            break;
    for (size_t i = 0; i < enqueue->n_entries; i++) {
        struct entry *entry = &enqueue->entries[i];
        if (entry->state != ENTRY_QUEUED)
            continue;
        entry->fault = why;
        fault_set(&entry->fault, FAULT_BUSY, "no result within %.0f s (--timeout)",
                  (double)timeout * 1e-9);
        end_entry(enqueue, entry);
    }
}

/* ---- jobs ---- */

static int read_picture(const struct enqueue *enqueue, const char *path, struct bytes *bytes,
                        struct fault *fault)
{
    uint64_t limit = hub_payload_max(enqueue->hub);
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set(fault, errno == EACCES ? FAULT_PERMISSION : FAULT_NO_INPUT, "%s",
                         strerror(errno));
    int result = file_read(fd, limit, bytes, fault);
    close(fd);
    if (result == FAULT_LIMIT) {
        fault_clear(fault);
        return fault_set(fault, FAULT_LIMIT,
                         "more than the %" PRIu64
                         " bytes that a message may hold (relay.inline, and "
                         "the server's max_payload); put it into a store and enqueue its URL",
                         limit);
    }
    if (result == 0 && bytes->size == 0)
        result = fault_set(fault, FAULT_EMPTY, "the file has no bytes");
    return result;
}

/* Makes the id from everything that the result depends on, so that the same job has the same id. */
static int make_id(const struct enqueue *enqueue, struct entry *entry, const struct bytes *bytes,
                   struct fault *fault)
{
    const struct enqueue_options *o = &enqueue->options;
    const char *parts[] = {o->class, o->chain, enqueue->format, o->input, o->result};
    char digest[DIGEST_TEXT_MAX];
    struct text all = {0};
    if (o->id) {
        snprintf(entry->id, sizeof entry->id, "%s", o->id);
        return 0;
    }
    if (enqueue_is_url(
            entry->input)) /* without the query, which may contain a new signature each time */
        text_append(&all, entry->name);
    int result =
        digest_text(bytes->data ? (const void *)bytes->data : "", bytes->size, digest, fault);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        text_printf(&all, "\n%s", parts[i] ? parts[i] : "");
    text_printf(&all, "\n%s", digest);
    if (o->again)
        text_printf(&all, "\n%" PRIu64 ".%d", (uint64_t)time(NULL), getpid());
    if (result == 0)
        result = all.failed ? fault_set(fault, FAULT_MEMORY, "no memory for an id")
                            : digest_text(all.data, all.length, digest, fault);
    if (result == 0)
        snprintf(entry->id, sizeof entry->id, "%s", digest);
    text_finish(&all);
    return result;
}

/* Repeats until the server has the job, or cannot take it. A job that is queued already counts as
 * accepted. */
static int publish(struct enqueue *enqueue, const struct entry *entry, const struct bytes *bytes,
                   const char *result_at, struct fault *fault)
{
    const struct enqueue_options *o = &enqueue->options;
    char subject[200];
    uint64_t begun = clock_now();
    const struct hub_header headers[] = {
        {"Sluice-Chain", o->chain},   {"Sluice-Format", enqueue->format},
        {"Sluice-Input", o->input},   {"Sluice-Source", bytes->data ? NULL : entry->input},
        {"Sluice-Result", result_at}, {NULL, NULL}};
    snprintf(subject, sizeof subject, "sluice.jobs.%s.%s", o->class, entry->id);
    for (;;) {
        struct fault why = FAULT_INIT;
        switch (
            hub_publish(enqueue->hub, subject, headers, bytes->data, bytes->size, false, &why)) {
        case HUB_OK:
        case HUB_THERE:
            return 0;
        case HUB_FULL:
            if (!enqueue_waits(enqueue) || (o->timeout && clock_now() - begun > o->timeout))
                return fault_set(fault, FAULT_BUSY, "the queue is full; try later");
            clock_sleep(SECOND);
            break;
        case HUB_LARGE:
            return fault_set(fault, FAULT_LIMIT, "larger than the stream's messages may be");
        case HUB_MISSING:
            return fault_set(fault, FAULT_NO_DEVICE, "%s", why.text);
        case HUB_UNCLEAR:
            if (check_hub(enqueue, fault) != 0)
                return fault->code;
            if (clock_now() - begun > RETRY_TIME)
                return fault_set(fault, FAULT_NO_DEVICE, "the server does not answer");
            clock_sleep(SECOND / 4);
            break;
        default:
            return fault_set(fault, FAULT_IO, "%s", why.text);
        }
    }
}

/* Sends one entry. Returns the code of a fault that would meet all others, too; the entry's own
 * fault is stored in it. */
static int enqueue_one(struct enqueue *enqueue, struct entry *entry)
{
    struct bytes bytes = {0};
    struct fault *fault = &entry->fault;
    const char *below = enqueue->options.result, *base = path_name(entry->name);
    char *result_at = NULL; /* PREFIX and the name that the result would have in a folder */
    int of_hub = 0;
    if (below && asprintf(&result_at, "%s%.*s.%s", below, (int)path_stem_length(base), base,
                          enqueue->extension) < 0)
        result_at = NULL;
    int result =
        enqueue_is_url(entry->input) ? 0 : read_picture(enqueue, entry->input, &bytes, fault);
    if (result == 0)
        result = make_id(enqueue, entry, &bytes, fault);
    /* An earlier command may have produced the result. */
    if (result == 0 && !(enqueue_waits(enqueue) && look_for_result(enqueue, entry))) {
        entry->state = ENTRY_QUEUED;
        of_hub = result = publish(enqueue, entry, &bytes, result_at, fault);
    }
    bytes_finish(&bytes);
    free(result_at);
    if (result != 0)
        end_entry(enqueue, entry);
    else
        enqueue->n_queued++;
    if (result == 0 && !enqueue_waits(enqueue) && !enqueue->options.common.json &&
        !enqueue->options.common.quiet)
        fprintf(cli_stdout, "%s\t%s\n", entry->id, entry->name);
    return of_hub == FAULT_LIMIT ? 0 : of_hub;
}

int enqueue_put_all(struct enqueue *enqueue)
{
    int result = 0;
    for (size_t i = 0; i < enqueue->n_entries; i++) {
        struct entry *entry = &enqueue->entries[i];
        if (result == 0) {
            result = enqueue_one(enqueue, entry);
        } else {
            entry->state = ENTRY_FAILED;
            fault_set(&entry->fault, result, "not sent");
            enqueue->n_failed++;
        }
        show(enqueue);
    }
    progress_clear(&enqueue->progress);
    if (result != 0 && enqueue->n_entries > 1)
        fprintf(stderr,
                "sluice: enqueue: %zu of %zu are queued; the same command sends the others\n",
                enqueue->n_queued, enqueue->n_entries);
    return result;
}
