/* sluice status: what the daemon does. */
#include <stddef.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "worker/client.h"

struct status_options {
    struct common_options common;
    const char *socket;
};

static const struct options_row options[] = {
    DAEMON_SOCKET_OPTION(offsetof(struct status_options, socket)), {0}};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "status",
    .operands = "[-s SOCKET]",
    .summary = "Prints what the daemon does, as it says at its jobs socket.",
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

static void print(const json_t *status)
{
    const json_t *queue = json_object_get(status, "queue");
    const json_t *worker = json_object_get(status, "worker");
    const json_t *connections = json_object_get(status, "connections");
    fprintf(cli_stdout, "state: %s\n", text(status, "state"));
    fprintf(cli_stdout, "up: %.0f s\n", json_real_value(json_object_get(status, "uptime_s")));
    fprintf(cli_stdout, "jobs: %lld wait, %lld run, %lld settle, %lld are to be tried again\n",
            number(queue, "waiting"), number(queue, "running"), number(queue, "settling"),
            number(queue, "retrying"));
    fprintf(cli_stdout, "since the start: %lld done, %lld failed\n", number(status, "done"),
            number(status, "failed"));
    fprintf(cli_stdout, "worker: %lld, device: %s, starts: %lld, programs compiled: %lld\n",
            number(worker, "pid"), text(worker, "device"), number(worker, "starts"),
            number(worker, "builds"));
    fprintf(cli_stdout, "its sandbox: %s\n", text(worker, "sandbox"));
    fprintf(cli_stdout, "connections: %lld http, %lld jobs\n", number(connections, "http"),
            number(connections, "jobs"));
}

static int ask(const struct status_options *o, json_t **answer, struct fault *fault)
{
    int socket, fd = -1;
    int result = daemon_connect(o->socket, &socket, fault);
    if (result != 0)
        return result;
    result =
        daemon_send(socket, json_pack("{s:s, s:i}", "type", "status", "id", 1), NULL, 0, fault);
    if (result == 0)
        result = daemon_receive(socket, answer, &fd, fault);
    if (fd >= 0)
        close(fd);
    close(socket);
    return result == 0 ? daemon_result(*answer, fault) : result;
}

int command_status(int argc, char **argv)
{
    struct status_options o = {0};
    struct fault fault = FAULT_INIT;
    json_t *answer = NULL;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o.common);
    if (cli_refuse_operands("status", first, argc, argv) != 0)
        return 64;
    int status = 0;
    if (ask(&o, &answer, &fault) != 0) {
        status = cli_complain("status", &fault);
    } else if (o.common.json) {
        cli_print_json(json_incref(json_object_get(answer, "status")));
    } else {
        print(json_object_get(answer, "status"));
    }
    json_decref(answer);
    return status;
}
