/* sluice submit: pictures through the daemon, by its jobs socket. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/daemon.h"
#include "cli/paths.h"

/* Requests that are under way: enough for the daemon never to wait for us. */
#define AHEAD 8

struct submit_options {
    struct common_options common;
    const char *socket, *chain, *output, *format, *input;
};

#define AT(member) offsetof(struct submit_options, member)
static const struct options_row options[] = {
    DAEMON_SOCKET_OPTION(AT(socket)),
    {'c',
     "CHAIN",
     {.name = "chain",
      .type = PARAM_TEXT,
      .offset = AT(chain),
      .help = "stages joined by commas, or the name of a chain that the daemon knows"}},
    {'o',
     "OUT",
     {.name = "output",
      .type = PARAM_TEXT,
      .offset = AT(output),
      .help = "file for the result, - for stdout, or a directory"}},
    {'f',
     "FORMAT",
     {.name = "format",
      .type = PARAM_TEXT,
      .offset = AT(format),
      .help = "of the results, with options: jpg:quality=80; else by OUT's name, png in a "
              "directory"}},
    {0,
     "OPTIONS",
     {.name = "input",
      .type = PARAM_TEXT,
      .offset = AT(input),
      .help = "how to read: orient=0, partial=1, strict=1, raw=…"}},
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "submit",
    .operands = "[-s SOCKET] -c CHAIN -o OUT IN…",
    .summary = "Runs a chain on pictures, through the daemon's jobs socket. IN may be - for stdin.",
    .details = "sluice submit -c luminance,sobel -o edges.png photo.jpg\n",
    .tables = {options, cli_output_options},
};

struct submission {
    const char *input;
    char *output; /* owned */
    bool done;
    struct fault fault;
    json_t *report;
};

struct submit {
    struct submit_options options;
    struct format format; /* only for its extension, and to find what is wrong before sending */
    char *format_text;    /* owned: what is sent */
    int socket;
    size_t n_files, n_sent, n_done, n_failed;
    struct submission *files;
};

/* ---- to the daemon ---- */

static int open_input(const char *path, struct fault *fault)
{
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fault_set(fault, errno == EACCES ? FAULT_PERMISSION : FAULT_NO_INPUT, "%s",
                  strerror(errno));
    return fd;
}

/* A sealed memory file, which the daemon takes as it is. */
static int load(const char *path, struct fault *fault)
{
    static const size_t piece = 1 << 18;
    int from = open_input(path, fault);
    if (from < 0)
        return -1;
    char *buffer = malloc(piece);
    int to = memfd_create("sluice-submit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (to < 0 || !buffer)
        fault_set(fault, FAULT_MEMORY, "no memory for the input");
    while (!fault->code) {
        ssize_t got = read(from, buffer, piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fault_set_errno(fault, FAULT_IO, "read");
        if (got <= 0 || file_write(to, buffer, (size_t)got, fault) != 0)
            break;
    }
    free(buffer);
    close(from);
    if (to >= 0)
        fcntl(to, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    if (to >= 0 && fault->code) {
        close(to);
        to = -1;
    }
    return to;
}

/* The daemon tells all that is wrong with a chain. */
static void complain_chain(const struct submit *submit, const struct submission *file)
{
    const json_t *error;
    size_t i;
    const json_t *errors = json_object_get(file->report, "errors");
    json_array_foreach(errors, i, error)
    {
        struct fault fault = FAULT_INIT;
        const char *text = json_string_value(json_object_get(error, "text"));
        fault_set_at(
            &fault, FAULT_CHAIN, (int)json_integer_value(json_object_get(error, "position")),
            (int)json_integer_value(json_object_get(error, "length")), "%s", text ? text : "");
        cli_complain_chain(submit->options.chain, &fault);
    }
    if (json_array_size(errors) == 0)
        cli_complain_chain(submit->options.chain, &file->fault);
}

static void end(struct submit *submit, struct submission *file)
{
    file->done = true;
    submit->n_done++;
    if (!file->fault.code)
        return;
    submit->n_failed++;
    if (file->fault.position >= 0 && submit->n_failed == 1 && file->fault.code == FAULT_CHAIN)
        complain_chain(submit, file);
    else
        cli_complain(file->input, &file->fault);
}

/* A fault is of the daemon; the file's own is in it. */
static int send_next(struct submit *submit, struct fault *fault)
{
    const struct submit_options *o = &submit->options;
    size_t index = submit->n_sent++;
    struct submission *file = &submit->files[index];
    int fd = load(file->input, &file->fault);
    if (fd < 0) {
        end(submit, file);
        return 0;
    }
    json_t *job = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)index, "chain",
                            o->chain ? o->chain : "", "format", submit->format_text);
    if (job && o->input)
        json_object_set_new(job, "input", json_string(o->input));
    int result = daemon_send(submit->socket, job, &fd, 1, fault);
    close(fd);
    return result;
}

/* ---- from the daemon ---- */

static int copy_all(int from, int to, struct fault *fault)
{
    struct bytes bytes = {0};
    int result = file_read(from, UINT64_MAX / 2, &bytes, fault);
    if (result == 0)
        result = file_write(to, bytes.data, bytes.size, fault);
    bytes_finish(&bytes);
    return result;
}

static int write_result(struct submission *file, const char *plane, int fd, struct fault *fault)
{
    struct file_draft draft = {.fd = -1, .directory_fd = -1};
    if (strcmp(file->output, "-") == 0)
        return plane[0] ? fault_set(fault, FAULT_USAGE,
                                    "several planes do not fit one stream of this format; say "
                                    "--format npz, or write to files")
                        : copy_all(fd, fileno(cli_stdout), fault);
    char *path = paths_plane(file->output, plane);
    if (!path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    int result = file_draft_open(&draft, path, fault);
    if (result == 0)
        result = copy_all(fd, draft.fd, fault);
    if (result == 0)
        result = file_draft_commit(&draft, false, fault);
    else
        file_draft_discard(&draft);
    free(path);
    return result;
}

static void take_output(struct submission *file, const json_t *message, int fd)
{
    const char *plane = json_string_value(json_object_get(message, "plane"));
    if (fd < 0 || !plane ||
        (plane[0] && strspn(plane, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
                                   "pqrstuvwxyz0123456789_-") != strlen(plane)))
        fault_set(&file->fault, FAULT_INTERNAL, "the daemon sent what is no plane");
    else if (!file->fault.code)
        write_result(file, plane, fd, &file->fault);
}

static void take_done(struct submit *submit, struct submission *file, json_t *message, int fd)
{
    const json_t *warning;
    size_t i;
    json_array_foreach(json_object_get(message, "warnings"), i,
                       warning) if (json_is_string(warning))
        log_warning("%s: warning: %s", file->input, json_string_value(warning));
    if (!file->fault.code && daemon_result(message, &file->fault) == 0 && fd >= 0)
        write_result(file, "", fd, &file->fault);
    file->report = json_incref(message);
    end(submit, file);
}

static int receive_one(struct submit *submit, struct fault *fault)
{
    json_t *message;
    int fd;
    int result = daemon_receive(submit->socket, &message, &fd, fault);
    if (result != 0)
        return result;
    const char *type = json_string_value(json_object_get(message, "type"));
    const json_t *id = json_object_get(message, "id");
    size_t index = (size_t)json_integer_value(id);
    struct submission *file =
        json_is_integer(id) && index < submit->n_sent ? &submit->files[index] : NULL;
    if (!file || file->done || !type)
        result = fault_set(fault, FAULT_INTERNAL, "the daemon answered what nobody asked");
    else if (strcmp(type, "output") == 0)
        take_output(file, message, fd);
    else if (strcmp(type, "done") == 0)
        take_done(submit, file, message, fd);
    if (fd >= 0)
        close(fd);
    json_decref(message);
    return result;
}

static int run_all(struct submit *submit, struct fault *fault)
{
    int result = 0;
    while (submit->n_done < submit->n_files && result == 0) {
        if (submit->n_sent < submit->n_files && submit->n_sent - submit->n_done < AHEAD)
            result = send_next(submit, fault);
        else
            result = receive_one(submit, fault);
    }
    return result;
}

/* ---- before and after ---- */

static int choose_format(struct submit *submit, struct fault *fault)
{
    const struct submit_options *o = &submit->options;
    int result;
    if (o->format) {
        submit->format_text = strdup(o->format);
        return format_parse(&submit->format, o->format, fault);
    }
    if (strcmp(o->output, "-") == 0)
        return fault_set(fault, FAULT_USAGE, "-o - needs --format");
    if (paths_is_directory(o->output))
        result = format_parse(&submit->format, "png", fault);
    else
        result = format_for_name(&submit->format, o->output, fault);
    if (result == 0)
        submit->format_text = strdup(submit->format.extension);
    return result;
}

static int add_files(struct submit *submit, char **inputs, size_t count, struct fault *fault)
{
    const char *out = submit->options.output;
    submit->files = calloc(count, sizeof *submit->files);
    if (!submit->files || !submit->format_text)
        return fault_set(fault, FAULT_MEMORY, "no memory for %zu files", count);
    if (count > 1 && !paths_is_directory(out))
        return fault_set(fault, FAULT_USAGE,
                         "%zu inputs need a directory for their results: -o DIRECTORY/", count);
    if (out[0] && out[strlen(out) - 1] == '/' && mkdir(out, 0777) != 0 && errno != EEXIST)
        return fault_set_errno(fault, FAULT_CREATE, out);
    for (size_t i = 0; i < count; i++) {
        struct submission *file = &submit->files[submit->n_files++];
        file->input = inputs[i];
        fault_clear(&file->fault);
        file->output = paths_output(out, inputs[i], submit->format.extension);
        if (!file->output)
            return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
        for (size_t k = 0; k < i; k++)
            if (strcmp(submit->files[k].output, file->output) == 0)
                return fault_set(fault, FAULT_USAGE, "%s and %s would both be written to %s",
                                 submit->files[k].input, inputs[i], file->output);
    }
    return 0;
}

static void print_json(const struct submit *submit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < submit->n_files; i++) {
        const struct submission *file = &submit->files[i];
        json_t *entry = file->report
                            ? json_copy(file->report)
                            : json_pack("{s:s, s:s}", "result", fault_name(file->fault.code),
                                        "text", file->fault.text);
        json_object_del(entry, "type");
        json_object_del(entry, "id");
        json_object_set_new(entry, "input", json_string(file->input));
        if (!file->fault.code)
            json_object_set_new(entry, "output", json_string(file->output));
        json_array_append_new(list, entry);
    }
    json_dumpf(list, cli_stdout, JSON_INDENT(1));
    fputc('\n', cli_stdout);
    json_decref(list);
}

static int exit_status(const struct submit *submit)
{
    if (submit->n_failed == 0)
        return 0;
    return submit->n_files == 1 ? fault_exit_status(submit->files[0].fault.code) : 1;
}

static void finish(struct submit *submit)
{
    for (size_t i = 0; i < submit->n_files; i++) {
        json_decref(submit->files[i].report);
        free(submit->files[i].output);
    }
    free(submit->files);
    free(submit->format_text);
    format_finish(&submit->format);
    if (submit->socket >= 0)
        close(submit->socket);
}

static int submit_all(struct submit *submit, char **inputs, size_t count)
{
    struct fault fault = FAULT_INIT;
    if (choose_format(submit, &fault) != 0 || add_files(submit, inputs, count, &fault) != 0)
        return cli_complain("submit", &fault);
    if (submit->options.common.json && strcmp(submit->options.output, "-") == 0) {
        fputs("sluice: --json and -o - both want stdout\n", stderr);
        return 64;
    }
    if (daemon_connect(submit->options.socket, &submit->socket, &fault) != 0 ||
        run_all(submit, &fault) != 0)
        return cli_complain("submit", &fault);
    if (submit->options.common.json)
        print_json(submit);
    return exit_status(submit);
}

int command_submit(int argc, char **argv)
{
    struct submit submit = {.socket = -1};
    int first = options_parse(&usage, &submit.options, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&submit.options.common);
    if (first == argc) {
        fputs("sluice: submit: no input (see sluice submit --help)\n", stderr);
        return 64;
    }
    if (!submit.options.output) {
        fputs("sluice: submit: where to? -o OUT is missing\n", stderr);
        return 64;
    }
    int status = submit_all(&submit, argv + first, (size_t)(argc - first));
    finish(&submit);
    return status;
}
