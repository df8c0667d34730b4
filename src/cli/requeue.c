/* sluice requeue: has files done again. */
#include <stddef.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/question.h"
#include "worker/client.h"

struct requeue_options {
    struct common_options common;
    const char *socket;
    bool failed;
};

static const struct options_row options[] = {
    DAEMON_SOCKET_OPTION(offsetof(struct requeue_options, socket)),
    OPTION(0, NULL, FLAG, "failed", offsetof(struct requeue_options, failed),
           "all that failed, in all watched folders", DEFAULT("0")),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "requeue",
    .operands = "[-s SOCKET] FILE…|--failed",
    .summary = "Puts originals back into their watched folder, so that they are done again.",
    .details = "FILE is a path of a file that failed or is done, as for sluice why. A file that "
               "was kept in its\n"
               "folder stays there, and no longer counts as done. Exits with 66 when there is no "
               "original any\n"
               "more, with 1 when some of several could not be put back.\n"
               "\n"
               "  sluice requeue in/.sluice/failed/photo.jpg\n",
    .tables = {options, cli_output_options},
};

static long long number(const json_t *answer, const char *key)
{
    return (long long)json_integer_value(json_object_get(answer, key));
}

static void print(const char *file, const json_t *answer)
{
    const char *name = json_string_value(json_object_get(answer, "name"));
    if (number(answer, "requeued") > 0)
        fprintf(cli_stdout, "%s: put back as %s\n", file, name ? name : "?");
    else
        fprintf(cli_stdout, "%s: is to be done anyway\n", file);
}

static int requeue_all(const struct requeue_options *o, int socket)
{
    struct fault fault = FAULT_INIT;
    json_t *answer;
    if (question_ask(socket, "requeue", NULL, &answer, &fault) != 0)
        return cli_complain("requeue", &fault);
    long long left = number(answer, "not_requeued");
    const char *text = json_string_value(json_object_get(answer, "text"));
    if (o->common.json)
        cli_print_json(json_incref(answer));
    else if (!o->common.quiet)
        fprintf(cli_stdout, "%lld files put back\n", number(answer, "requeued"));
    if (left > 0) {
        fault_set(&fault, FAULT_IO, "%lld files could not be put back: %s", left, text ? text : "");
        cli_complain("requeue", &fault);
    }
    json_decref(answer);
    return left > 0;
}

static int requeue_files(const struct requeue_options *o, int socket, char **files, int count)
{
    json_t *all = o->common.json ? json_array() : NULL;
    int status = 0, failed = 0;
    for (int i = 0; i < count; i++) {
        struct fault fault = FAULT_INIT;
        json_t *answer;
        if (question_ask(socket, "requeue", files[i], &answer, &fault) != 0) {
            status = cli_complain(files[i], &fault);
            failed++;
        } else if (o->common.json) {
            json_object_set_new(answer, "file", json_string(files[i]));
            json_array_append(all, answer);
        } else if (!o->common.quiet) {
            print(files[i], answer);
        }
        json_decref(answer);
    }
    if (o->common.json)
        cli_print_json(all);
    return count > 1 && failed > 0 ? 1 : status;
}

int command_requeue(int argc, char **argv)
{
    struct requeue_options o = {0};
    struct fault fault = FAULT_INIT;
    int socket;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o.common);
    if (o.failed == (first < argc))
        fault_set(&fault, FAULT_USAGE, "either files or --failed (see sluice requeue --help)");
    else
        daemon_connect(o.socket, &socket, &fault);
    if (fault.code != FAULT_NONE)
        return cli_complain("requeue", &fault);
    int status =
        o.failed ? requeue_all(&o, socket) : requeue_files(&o, socket, argv + first, argc - first);
    close(socket);
    return status;
}
