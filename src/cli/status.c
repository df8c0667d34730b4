/* sluice status: prints what the daemon is doing. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "worker/client.h"

struct status_options {
    struct common_options common;
    const char *socket;
    bool watch;
};

static const struct options_row options[] = {
    DAEMON_SOCKET_OPTION(offsetof(struct status_options, socket)),
    OPTION('w', NULL, FLAG, "watch", offsetof(struct status_options, watch),
           "print it again every second, until the daemon ends or Ctrl-C", DEFAULT("0")),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "status",
    .operands = "[-s SOCKET] [--watch]",
    .summary = "Prints what the daemon does, as it says at its jobs socket.",
    .details =
        "A folder is ok; degraded, when some of it does not work; hanging, when its disk does "
        "not answer;\nor lost, when its input or its output is gone. With --json, --watch "
        "prints an object a line.\n",
    .tables = {options, cli_output_options},
};

static long long number(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value && value[0] ? value : "none";
}

static void print_folder(const json_t *folder)
{
    const json_t *error = json_object_get(folder, "last_error");
    const json_t *next = json_object_get(folder, "next_try");
    fprintf(cli_stdout, "folder %s: %s (%s, results in %s)\n", text(folder, "input"),
            text(folder, "state"), text(folder, "mode"), text(folder, "output"));
    fprintf(cli_stdout, "  %lld wait, %lld run, %lld done, %lld failed",
            number(folder, "waiting") + number(folder, "queued"), number(folder, "running"),
            number(folder, "done"), number(folder, "failed"));
    if (number(folder, "retrying") > 0)
        fprintf(cli_stdout, ", %lld are to be tried again", number(folder, "retrying"));
    fputc('\n', cli_stdout);
    if (json_is_string(json_object_get(folder, "message")))
        fprintf(cli_stdout, "  %s since %s: %s\n", text(folder, "reason"), text(folder, "since"),
                text(folder, "message"));
    if (json_is_string(next))
        fprintf(cli_stdout, "  tried again at %s\n", json_string_value(next));
    if (json_is_object(error))
        fprintf(cli_stdout, "  last error, %s: %s: %s: %s\n", text(error, "time"),
                text(error, "name"), text(error, "reason"), text(error, "message"));
}

/* Chains on their way to the device, and those that do not get there. */
static void print_chain(const json_t *chain)
{
    const json_t *preparing = json_object_get(chain, "preparing");
    if (json_is_object(preparing))
        fprintf(cli_stdout, "chain %s: on %s until the device is ready for it: %lld of %lld\n",
                text(chain, "chain"), text(chain, "tier"), number(preparing, "done"),
                number(preparing, "of"));
    else if (json_is_string(json_object_get(chain, "why")))
        fprintf(cli_stdout, "chain %s: stays on %s: %s\n", text(chain, "chain"),
                text(chain, "tier"), text(chain, "why"));
}

static void print_worker(const json_t *worker)
{
    const json_t *preparing = json_object_get(worker, "preparing");
    const char *device = json_string_value(json_object_get(worker, "device"));
    bool quarantine = json_is_true(json_object_get(worker, "quarantine"));
    fprintf(cli_stdout, "worker %lld: %s%s%s%s, %lld run, %lld done", number(worker, "pid"),
            text(worker, "state"), quarantine ? " in quarantine" : "",
            device && device[0] ? " on " : "", device ? device : "", number(worker, "running"),
            number(worker, "jobs"));
    if (json_is_object(preparing))
        fprintf(cli_stdout, ", prepares kernels: %lld of %lld", number(preparing, "done"),
                number(preparing, "of"));
    fprintf(cli_stdout, "\n  its sandbox: %s\n", text(worker, "sandbox"));
}

/* What each has of what all share. */
static void print_user(const json_t *user)
{
    fprintf(cli_stdout, "user %lld: %lld connections, %lld jobs, inputs and results of %s",
            number(user, "uid"), number(user, "connections"), number(user, "jobs"),
            number_size((uint64_t)number(user, "bytes")));
    if (number(user, "unread") > 0)
        fprintf(cli_stdout, " (%s not read yet)", number_size((uint64_t)number(user, "unread")));
    if (number(user, "receivers_hanging") > 0)
        fprintf(cli_stdout, "; descriptors that do not answer hold %lld of its receivers",
                number(user, "receivers_hanging"));
    fputc('\n', cli_stdout);
}

static void print(const json_t *status)
{
    const json_t *queue = json_object_get(status, "queue");
    const json_t *worker = json_object_get(status, "worker");
    const json_t *connections = json_object_get(status, "connections"), *one;
    const json_t *receivers = json_object_get(status, "receivers");
    size_t i;
    fprintf(cli_stdout, "state: %s\n", text(status, "state"));
    fprintf(cli_stdout, "up: %s\n",
            number_duration((uint64_t)json_real_value(json_object_get(status, "uptime_s")) *
                            UINT64_C(1000000000)));
    fprintf(cli_stdout,
            "jobs: %lld wait, %lld run, %lld place results, %lld are to be tried again\n",
            number(queue, "waiting"), number(queue, "running"), number(queue, "settling"),
            number(queue, "retrying"));
    if (number(queue, "in_quarantine") > 0)
        fprintf(cli_stdout, "in quarantine: %lld of them\n", number(queue, "in_quarantine"));
    fprintf(cli_stdout, "since the start: %lld done, %lld failed\n", number(status, "done"),
            number(status, "failed"));
    json_array_foreach(json_object_get(status, "folders"), i, one) print_folder(one);
    if (number(status, "folders_left_out") > 0)
        fprintf(cli_stdout, "and %lld folders more\n", number(status, "folders_left_out"));
    json_array_foreach(json_object_get(status, "workers"), i, one) print_worker(one);
    json_array_foreach(json_object_get(worker, "chains"), i, one) print_chain(one);
    fprintf(cli_stdout, "workers started: %lld; programs compiled by the present one: %lld\n",
            number(worker, "starts"), number(worker, "builds"));
    fprintf(cli_stdout, "connections: %lld http, %lld jobs\n", number(connections, "http"),
            number(connections, "jobs"));
    if (number(receivers, "well") + number(receivers, "hanging") > 0)
        fprintf(cli_stdout, "receivers of descriptors: %lld, and %lld that hang\n",
                number(receivers, "well"), number(receivers, "hanging"));
    json_array_foreach(json_object_get(status, "users"), i, one) print_user(one);
}

/* On a terminal each status overwrites the one before. */
static void tell(const struct status_options *o, const json_t *status, bool again)
{
    const char *terminal = getenv("TERM");
    bool screen =
        o->watch && isatty(fileno(cli_stdout)) && terminal && strcmp(terminal, "dumb") != 0;
    if (screen)
        /* moves to the upper left corner and clears the screen */
        fputs("\033[H\033[J", cli_stdout);
    if (o->common.json && o->watch) {
        json_dumpf(status, cli_stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        fputc('\n', cli_stdout);
    } else if (o->common.json) {
        cli_print_json(json_incref((json_t *)(uintptr_t)status));
    } else {
        if (again && !screen)
            fputc('\n', cli_stdout);
        print(status);
    }
    fflush(cli_stdout);
}

static int run(const struct status_options *o, struct fault *fault)
{
    int socket, result = daemon_connect(o->socket, &socket, fault);
    if (result != 0)
        return result;
    for (bool again = false; result == 0; again = true) {
        json_t *answer;
        result =
            daemon_ask(socket, json_pack("{s:s, s:i}", "type", "status", "id", 1), &answer, fault);
        if (result == 0)
            tell(o, json_object_get(answer, "status"), again);
        json_decref(answer);
        if (!o->watch || ferror(cli_stdout))
            break;
        sleep(1);
    }
    close(socket);
    return result;
}

int command_status(int argc, char **argv)
{
    struct status_options o = {0};
    struct fault fault = FAULT_INIT;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o.common);
    if (cli_refuse_operands("status", first, argc, argv) != 0)
        return 64;
    return run(&o, &fault) == 0 ? 0 : cli_complain("status", &fault);
}
