/* sluice enqueue: pictures for a fleet, through a NATS JetStream (docs/fleet.md). A program of its
 * own, so that sluice needs no library of NATS. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/name.h"
#include "base/text.h"
#include "cli/common.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "relay/hub.h"
#include "relay/job.h"

#define SECOND       UINT64_C(1000000000)
#define CONNECT_TIME (2 * SECOND)
#define RETRY_TIME   (60 * SECOND) /* for a server that does not acknowledge */
#define BURST        16            /* results that are asked for between two pauses */
#define LIST_MAX     (64u << 20)

struct enqueue_options {
    struct common_options common;
    const char *chain, *format, *input, *class, *id, *output, *result;
    const char *server, *credentials, *ca;
    uint64_t timeout;
    bool again, wait, collect;
};

#define AT(member) offsetof(struct enqueue_options, member)
static const struct options_row options[] = {
    {'c',
     "CHAIN",
     {.name = "chain",
      .type = PARAM_TEXT,
      .offset = AT(chain),
      .help = "stages joined by commas, or the name of a chain that the machines know"}},
    {'f',
     "FORMAT",
     {.name = "format",
      .type = PARAM_TEXT,
      .offset = AT(format),
      .help =
          "of the results, with options: jpg:quality=80; else by OUT's name, png in a directory"}},
    {0,
     "OPTIONS",
     {.name = "input",
      .type = PARAM_TEXT,
      .offset = AT(input),
      .help = "how to read: orient=0, partial=1, raw=…"}},
    {'o',
     "OUT",
     {.name = "output",
      .type = PARAM_TEXT,
      .offset = AT(output),
      .help = "waits for the results and writes them: a file, - for stdout, or a directory"}},
    {0,
     NULL,
     {.name = "wait",
      .type = PARAM_FLAG,
      .offset = AT(wait),
      .fallback = "0",
      .help = "waits until all are done, and tells what failed"}},
    {0,
     NULL,
     {.name = "collect",
      .type = PARAM_FLAG,
      .offset = AT(collect),
      .fallback = "0",
      .help = "queues nothing; IN is a list of jobs as enqueue prints it, - for stdin"}},
    {0,
     "TIME",
     {.name = "timeout",
      .type = PARAM_DURATION,
      .offset = AT(timeout),
      .min = 0,
      .max = 1e18,
      .fallback = "0s",
      .help = "how long to wait for results; 0s: without end"}},
    {0,
     "PREFIX",
     {.name = "result",
      .type = PARAM_TEXT,
      .offset = AT(result),
      .help = "URL below which the machines store results, by their names; for those that are too "
              "large for a message"}},
    {0,
     "CLASS",
     {.name = "class",
      .type = PARAM_TEXT,
      .offset = AT(class),
      .fallback = "default",
      .help = "part of the subject, by which fleets may be divided"}},
    {0,
     "ID",
     {.name = "id",
      .type = PARAM_TEXT,
      .offset = AT(id),
      .help = "of a single job; else made of the picture and what is to be done with it"}},
    {0,
     NULL,
     {.name = "again",
      .type = PARAM_FLAG,
      .offset = AT(again),
      .fallback = "0",
      .help = "has it done anew, under another id, where there is a result already"}},
    {'s',
     "URL",
     {.name = "server",
      .type = PARAM_TEXT,
      .offset = AT(server),
      .help = "NATS server, in place of relay.servers of the configuration"}},
    {0,
     "FILE",
     {.name = "credentials",
      .type = PARAM_TEXT,
      .offset = AT(credentials),
      .help = "in place of relay.credentials"}},
    {0,
     "FILE",
     {.name = "ca", .type = PARAM_TEXT, .offset = AT(ca), .help = "in place of relay.tls.ca"}},
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "enqueue",
    .operands = "[-s URL] -c CHAIN [-o OUT] IN…",
    .summary = "Puts pictures into the queue of a fleet, and fetches the results.",
    .details =
        "sluice enqueue -s nats://hub:4222 -c luminance,sobel -o edges/ *.jpg\n"
        "sluice enqueue -c edges *.jpg >jobs; sluice enqueue --collect -o edges/ jobs\n\n"
        "IN is a file, - for stdin, or a URL that the machines fetch. Without -o a line with "
        "id and name is\nprinted for each picture that the server has acknowledged. The same "
        "picture for the same chain has\nthe same id, so it is harmless to say a command "
        "again.\n",
    .tables = {options, cli_config_options, cli_output_options},
};

enum entry_state {
    ENTRY_NEW,
    ENTRY_QUEUED,
    ENTRY_DONE,
    ENTRY_FAILED
};

struct entry {
    char *input, *output; /* owned; NULL output: nothing is written */
    char *name;           /* owned: the input, without a URL's query, which may be secret */
    char id[JOB_WORD_MAX + 1];
    enum entry_state state;
    struct fault fault;
    char media_type[100], machine[80];
    int64_t size;
};

struct enqueue {
    struct enqueue_options options;
    struct relay_settings settings;
    struct hub *hub;
    struct progress progress;
    const char *format;
    char extension[32]; /* of the results' names */
    size_t n_entries, n_queued, n_ended, n_failed;
    struct entry *entries;
};

static bool waits(const struct enqueue *enqueue)
{
    return enqueue->options.output || enqueue->options.wait;
}

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static void pause_for(uint64_t nanoseconds)
{
    struct timespec time = {(time_t)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};
    nanosleep(&time, NULL);
}

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
                                         .ended =
                                             waits(enqueue) ? enqueue->n_ended : enqueue->n_queued,
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

/* Asks for the result of each job that has none yet, and pauses after some that are not there.
 * Returns how many are still to come. */
static size_t sweep(struct enqueue *enqueue, uint64_t end, uint64_t *pause)
{
    size_t waiting = 0;
    for (size_t i = 0; i < enqueue->n_entries && clock_now() < end; i++) {
        struct entry *entry = &enqueue->entries[i];
        if (entry->state != ENTRY_QUEUED)
            continue;
        if (look_for_result(enqueue, entry)) {
            *pause = SECOND / 50;
        } else if (++waiting % BURST == 0) {
            pause_for(*pause);
            *pause = *pause < SECOND / 5 ? 2 * *pause : *pause;
        }
        show(enqueue);
    }
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

static void collect(struct enqueue *enqueue)
{
    uint64_t timeout = enqueue->options.timeout, pause = SECOND / 50;
    uint64_t end = timeout ? clock_now() + timeout : UINT64_MAX;
    struct fault why = FAULT_INIT;
    while (clock_now() < end && sweep(enqueue, end, &pause) > 0 && check_hub(enqueue, &why) == 0)
        pause_for(pause);
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

/* Made of all that the result depends on, so that the same job has the same id. */
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
    if (is_url(entry->input)) /* a query may hold a signature that is another one each time */
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

/* PREFIX and the name that the result would have in a directory. */
static char *result_url(const struct enqueue *enqueue, const struct entry *entry)
{
    char *url = NULL;
    const char *base = path_name(entry->name);
    if (asprintf(&url, "%s%.*s.%s", enqueue->options.result, (int)path_stem_length(base), base,
                 enqueue->extension) < 0)
        return NULL;
    return url;
}

/* Until the server has it, or cannot. A job that is queued already is as good as accepted. */
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
            if (!waits(enqueue) || (o->timeout && clock_now() - begun > o->timeout))
                return fault_set(fault, FAULT_BUSY, "the queue is full; try later");
            pause_for(SECOND);
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
            pause_for(SECOND / 4);
            break;
        default:
            return fault_set(fault, FAULT_IO, "%s", why.text);
        }
    }
}

/* Returns the code of a fault that would meet all others, too; the entry's own is in it. */
static int enqueue_one(struct enqueue *enqueue, struct entry *entry)
{
    struct bytes bytes = {0};
    struct fault *fault = &entry->fault;
    char *result_at = enqueue->options.result ? result_url(enqueue, entry) : NULL;
    int of_hub = 0;
    int result = is_url(entry->input) ? 0 : read_picture(enqueue, entry->input, &bytes, fault);
    if (result == 0)
        result = make_id(enqueue, entry, &bytes, fault);
    /* A result may be there already, of an earlier command. */
    if (result == 0 && !(waits(enqueue) && look_for_result(enqueue, entry))) {
        entry->state = ENTRY_QUEUED;
        of_hub = result = publish(enqueue, entry, &bytes, result_at, fault);
    }
    bytes_finish(&bytes);
    free(result_at);
    if (result != 0)
        end_entry(enqueue, entry);
    else
        enqueue->n_queued++;
    if (result == 0 && !waits(enqueue) && !enqueue->options.common.json &&
        !enqueue->options.common.quiet)
        fprintf(cli_stdout, "%s\t%s\n", entry->id, entry->name);
    return of_hub == FAULT_LIMIT ? 0 : of_hub;
}

static int enqueue_all(struct enqueue *enqueue)
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

/* ---- what it is told ---- */

/* OUT itself, or in the folder OUT under the input's name. */
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
    entry->name = strndup(input, is_url(input) ? strcspn(input, "?#") : strlen(input));
    if (out && entry->name)
        entry->output = output_path(out, entry->name, enqueue->extension);
    if (!entry->input || !entry->name || (out && !entry->output))
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    return 0;
}

/* Lines ID, tab, NAME. */
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

/* Two results under one name would replace each other. */
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

/* What a format is called, its files are called, too; the machines know whether there is such a
 * one. */
static int choose_format(struct enqueue *enqueue, struct fault *fault)
{
    const struct enqueue_options *o = &enqueue->options;
    const char *out = o->output ? path_name(o->output) : "";
    enqueue->format = o->format;
    if (o->format) {
        snprintf(enqueue->extension, sizeof enqueue->extension, "%.*s",
                 (int)strcspn(o->format, ":"), o->format);
        return 0;
    }
    snprintf(enqueue->extension, sizeof enqueue->extension, "png");
    if (!o->output || o->collect || paths_is_directory(o->output)) {
        enqueue->format = o->output ? enqueue->extension : NULL;
        return 0;
    }
    size_t stem = path_stem_length(out);
    if (strcmp(o->output, "-") == 0 || !out[stem])
        return fault_set(fault, FAULT_USAGE, "-o %s needs --format", o->output);
    snprintf(enqueue->extension, sizeof enqueue->extension, "%s", out + stem + 1);
    enqueue->format = enqueue->extension;
    return 0;
}

static int check_options(const struct enqueue *enqueue, size_t count, struct fault *fault)
{
    const struct enqueue_options *o = &enqueue->options;
    const char *key;
    size_t at = 0;
    if (!job_is_word(o->class) || (o->id && !job_is_word(o->id)))
        return fault_set(fault, FAULT_USAGE, "--class and --id: 1 to %d of A-Z a-z 0-9 _ -",
                         JOB_WORD_MAX);
    if (o->id && count > 1)
        return fault_set(fault, FAULT_USAGE, "--id is for a single job");
    if (o->collect && !waits(enqueue))
        return fault_set(fault, FAULT_USAGE, "--collect needs -o OUT or --wait");
    if (!o->chain && !o->collect)
        return fault_set(fault, FAULT_USAGE, "which chain? -c CHAIN is missing");
    if (o->common.json && o->output && strcmp(o->output, "-") == 0)
        return fault_set(fault, FAULT_USAGE, "--json and -o - both want stdout");
    if (!enqueue->settings.servers)
        return fault_set(fault, FAULT_USAGE,
                         "which server? -s URL is missing, or relay.servers in the configuration");
    if (settings_check_relay(&enqueue->settings, &at, &key, fault) != 0 && o->server) {
        fault_clear(fault);
        fault_set(fault, FAULT_USAGE, "-s: expected nats://HOST:PORT or tls://HOST:PORT");
    }
    return fault->code;
}

static int add_all(struct enqueue *enqueue, char **inputs, size_t count, struct fault *fault)
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

/* ---- the end ---- */

/* Names of files hold any bytes, and texts come from machines of strangers. */
static json_t *json_text(const char *text)
{
    struct text valid = {0};
    text_append_utf8(&valid, text ? text : "");
    json_t *json = text ? json_string(text_string(&valid)) : json_null();
    text_finish(&valid);
    return json;
}

/* docs/schemas/enqueue.json */
static json_t *entry_json(const struct entry *entry)
{
    bool done = entry->state == ENTRY_DONE, failed = entry->state == ENTRY_FAILED;
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:o}", "id", entry->id, "input", json_text(entry->name),
                  "result", done || failed ? fault_name(entry->fault.code) : "queued", "output",
                  json_text(done ? entry->output : NULL));
    if (failed)
        json_object_set_new(object, "message", json_text(entry->fault.text));
    if (entry->machine[0])
        json_object_set_new(object, "machine", json_text(entry->machine));
    if (done) {
        json_object_set_new(object, "media_type", json_text(entry->media_type));
        json_object_set_new(object, "bytes_out", json_integer(entry->size));
    }
    return object;
}

static void print_json(const struct enqueue *enqueue)
{
    json_t *list = json_array();
    for (size_t i = 0; i < enqueue->n_entries; i++)
        json_array_append_new(list, entry_json(&enqueue->entries[i]));
    json_t *object =
        json_pack("{s:o, s:{s:I, s:I, s:I, s:I}}", "files", list, "summary", "files",
                  (json_int_t)enqueue->n_entries, "queued", (json_int_t)enqueue->n_queued, "done",
                  (json_int_t)(enqueue->n_ended - enqueue->n_failed), "failed",
                  (json_int_t)enqueue->n_failed);
    json_dumpf(object, cli_stdout, JSON_INDENT(1));
    fputc('\n', cli_stdout);
    json_decref(object);
}

static int exit_status(const struct enqueue *enqueue, int result)
{
    if (result != 0)
        return fault_exit_status(result);
    if (enqueue->n_failed == 0)
        return 0;
    return enqueue->n_entries == 1 ? fault_exit_status(enqueue->entries[0].fault.code) : 1;
}

static void finish(struct enqueue *enqueue)
{
    for (size_t i = 0; i < enqueue->n_entries; i++) {
        free(enqueue->entries[i].input);
        free(enqueue->entries[i].name);
        free(enqueue->entries[i].output);
    }
    free(enqueue->entries);
    hub_close(&enqueue->hub);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* A hub that is too old to keep what it accepts is not given anything. */
static int connect_hub(struct enqueue *enqueue, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    int result = hub_open(&enqueue->hub, &enqueue->settings, "sluice enqueue", CONNECT_TIME, never,
                          NULL, fault);
    if (result != 0 || enqueue->options.collect)
        return result;
    enum hub_answer answer = hub_look_at_stream(enqueue->hub, &why);
    if (answer == HUB_OLD || answer == HUB_MISSING)
        return fault_set(fault, FAULT_NO_DEVICE, "%s", why.text);
    return 0;
}

static int enqueue_with(struct enqueue *enqueue, char **inputs, size_t count)
{
    struct fault fault = FAULT_INIT;
    int result = 0;
    if (check_options(enqueue, count, &fault) != 0 || choose_format(enqueue, &fault) != 0 ||
        add_all(enqueue, inputs, count, &fault) != 0 || connect_hub(enqueue, &fault) != 0)
        return cli_complain("enqueue", &fault);
    progress_begin(&enqueue->progress, enqueue->options.common.quiet);
    if (!enqueue->options.collect)
        result = enqueue_all(enqueue);
    if (waits(enqueue) && result == 0)
        collect(enqueue);
    progress_clear(&enqueue->progress);
    if (enqueue->options.common.json)
        print_json(enqueue);
    return exit_status(enqueue, result);
}

/* Of the file, if there is one, and of the environment. */
static int read_settings(const struct enqueue_options *o, struct config *config)
{
    const char *no_chain = NULL;
    struct text errors = {0};
    int status = cli_read_config(&o->common, config, &no_chain);
    if (status != 0)
        return status;
    if (!config->settings.relay.stream)
        settings_defaults(&config->settings);
    settings_read_environment(&config->settings, false, &errors);
    if (errors.length > 0) {
        fprintf(stderr, "sluice: %s", text_string(&errors));
        status = fault_exit_status(FAULT_CONFIG);
        config_finish(config);
    }
    text_finish(&errors);
    return status;
}

static int run(int argc, char **argv)
{
    struct enqueue enqueue = {0};
    struct enqueue_options *o = &enqueue.options;
    struct config config;
    int first = options_parse(&usage, o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o->common);
    if (first == argc) {
        fputs("sluice: enqueue: no input (see sluice enqueue --help)\n", stderr);
        return 64;
    }
    int status = read_settings(o, &config);
    if (status != 0)
        return status;
    enqueue.settings = config.settings.relay;
    const char **const replaced[][2] = {{&enqueue.settings.servers, &o->server},
                                        {&enqueue.settings.credentials, &o->credentials},
                                        {&enqueue.settings.ca, &o->ca}};
    for (size_t i = 0; i < 3; i++)
        if (*replaced[i][1])
            *replaced[i][0] = *replaced[i][1];
    status = enqueue_with(&enqueue, argv + first, (size_t)(argc - first));
    finish(&enqueue);
    config_finish(&config);
    return status;
}

int main(int argc, char **argv)
{
    if (cli_move_stdout() != 0) {
        perror("sluice: stdout");
        return 74;
    }
    int status = run(argc, argv);
    if (fclose(cli_stdout) != 0 && status == 0) {
        perror("sluice: stdout");
        return 74;
    }
    return status;
}
