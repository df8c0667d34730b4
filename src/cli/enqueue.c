/* sluice enqueue: sends pictures to a fleet through NATS JetStream (docs/fleet.md). A program of
 * its own, so that sluice needs no library for NATS. */
#include "cli/enqueue.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/name.h"
#include "base/text.h"
#include "worker/json_text.h"

#define CONNECT_TIME (2 * SECOND)
#define LIST_MAX     (64u << 20) /* bytes of a list of jobs */

#define AT(member) offsetof(struct enqueue_options, member)
static const struct options_row options[] = {
    OPTION('c', "CHAIN", TEXT, "chain", AT(chain),
           "stages joined by commas, or the name of a chain that the machines know"),
    OPTION('f', "FORMAT", TEXT, "format", AT(format),
           "of the results, with options: jpg:quality=80; else by OUT's name, png in a directory"),
    OPTION(0, "OPTIONS", TEXT, "input", AT(input), "how to read: orient=0, partial=1, raw=…"),
    OPTION('o', "OUT", TEXT, "output", AT(output),
           "wait for the results and write them to OUT: a file, - for stdout, or a directory"),
    OPTION(0, NULL, FLAG, "wait", AT(wait), "wait until all are done, and print what failed"),
    OPTION(0, NULL, FLAG, "collect", AT(collect),
           "queue nothing; IN is a list of jobs as enqueue prints it, - for stdin"),
    OPTION(0, "TIME", DURATION, "timeout", AT(timeout),
           "how long to wait for results; 0s: without end", RANGE(0, 1e18), DEFAULT("0s")),
    OPTION(0, "PREFIX", TEXT, "result", AT(result),
           "URL below which the machines store results under their names; needed for results that "
           "are too large for a message"),
    OPTION(0, "CLASS", TEXT, "class", AT(class),
           "class of the jobs, by which a fleet can be divided", DEFAULT("default")),
    OPTION(0, "ID", TEXT, "id", AT(id),
           "id of a single job; else it is made from the picture and what is to be done with it"),
    OPTION(0, NULL, FLAG, "again", AT(again),
           "do pictures again, under other ids, even if they have results"),
    OPTION('s', "URL", TEXT, "server", AT(server),
           "NATS server, in place of relay.servers of the configuration"),
    OPTION(0, "FILE", TEXT, "credentials", AT(credentials), "in place of relay.credentials"),
    OPTION(0, "FILE", TEXT, "ca", AT(ca), "in place of relay.tls.ca"),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "enqueue",
    .operands = "[-s URL] -c CHAIN [-o OUT] IN…",
    .summary = "Puts pictures into the queue of a fleet, and fetches the results.",
    .details =
        "sluice enqueue -s nats://hub:4222 -c luminance,sobel:scale=1 -o edges/ *.jpg\n"
        "sluice enqueue -c edges *.jpg >jobs; sluice enqueue --collect -o edges/ jobs\n\n"
        "IN is a file, - for stdin, or a URL that the machines fetch. Without -o a line with "
        "id and name is\nprinted for each picture that the server has acknowledged. The same "
        "picture for the same chain has\nthe same id, so it is harmless to run a command "
        "twice.\n",
    .tables = {options, cli_config_options, cli_output_options},
};

/* ---- options ---- */

/* A format's name is also its files' extension. The machines of the fleet know whether there is
 * such a format. */
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
    if (!o->output || o->collect || path_is_directory(o->output)) {
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
    if (o->collect && !enqueue_waits(enqueue))
        return fault_set(fault, FAULT_USAGE, "--collect needs -o OUT or --wait");
    if (!o->chain && !o->collect)
        return fault_set(fault, FAULT_USAGE, "which chain? -c CHAIN is missing");
    if (o->common.json && o->output && strcmp(o->output, "-") == 0)
        return fault_set(fault, FAULT_USAGE, "--json and -o - both want stdout");
    if (!enqueue->settings.servers)
        return fault_set(fault, FAULT_USAGE,
                         "which server? -s URL is missing, or relay.servers in the configuration");
    if (o->server && strchr(o->server, '@'))
        return fault_set(fault, FAULT_USAGE,
                         "-s: other users can see a password in the arguments; put it into a file: "
                         "--credentials FILE");
    if (relay_settings_check(&enqueue->settings, &at, &key, fault) != 0 && o->server) {
        fault_clear(fault);
        fault_set(fault, FAULT_USAGE, "-s: expected nats://HOST:PORT or tls://HOST:PORT");
    }
    return fault->code;
}

/* ---- jobs of the inputs, and where their results go ---- */

bool enqueue_waits(const struct enqueue *enqueue)
{
    return enqueue->options.output || enqueue->options.wait;
}

bool enqueue_is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
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
    if (out && entry->name && (strcmp(out, "-") == 0 || !path_is_directory(out))) {
        entry->output = strdup(out);
    } else if (out && entry->name) {
        name_buffer name;
        const char *base = strcmp(entry->name, "-") == 0 ? "stdin" : path_name(entry->name);
        name_of_result(name, base, 0, "", enqueue->extension);
        const char *slash = out[strlen(out) - 1] == '/' ? "" : "/";
        if (asprintf(&entry->output, "%s%s%s", out, slash, name) < 0)
            entry->output = NULL;
    }
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
    if (!path_is_directory(out))
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

/* Makes an entry for each input or, with --collect, for each line of each list; makes the folder
 * OUT/, too. */
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

/* ---- output ---- */

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
    cli_print_json(object);
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
    return false;
}

/* A hub that is too old to keep accepted messages gets none. */
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
        result = enqueue_put_all(enqueue);
    if (enqueue_waits(enqueue) && result == 0)
        enqueue_collect(enqueue);
    progress_clear(&enqueue->progress);
    if (enqueue->options.common.json)
        print_json(enqueue);
    if (result != 0)
        return fault_exit_status(result);
    if (enqueue->n_failed == 0)
        return 0;
    return enqueue->n_entries == 1 ? fault_exit_status(enqueue->entries[0].fault.code) : 1;
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
    if (first == argc)
        return cli_refuse(64, "enqueue: no input (see sluice enqueue --help)");
    int status = cli_read_settings(&o->common, &config, false);
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
    return cli_run(run, argc, argv);
}
