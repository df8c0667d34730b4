/* sluice why: tells what became of a file, or why it is not done. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/question.h"
#include "worker/client.h"

struct why_options {
    struct common_options common;
    const char *socket;
};

static const struct options_row options[] = {
    DAEMON_SOCKET_OPTION(offsetof(struct why_options, socket)), {0}};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "why",
    .operands = "[-s SOCKET] FILE…",
    .summary = "Says what became of a file in a watched folder, or why it is not done.",
    .details =
        "FILE is its path in the watched folder, in .sluice/done or .sluice/failed below it, or\n"
        "the path of its result; it need not be there any more. Exits with 66 when the daemon\n"
        "knows of no such file.\n"
        "\n"
        "  sluice why in/photo.jpg\n",
    .tables = {options, cli_output_options},
};

/* Prints "STATE (REASON): MESSAGE", and more facts, one on each line. */
static void print(const char *file, const json_t *answer)
{
    static const char *const own[] = {"state", "reason", "message", "file"};
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *reason = json_string_value(json_object_get(answer, "reason"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    const char *key;
    json_t *value;
    fprintf(cli_stdout, "%s: %s%s%s%s", file, state ? state : "?", reason ? " (" : "",
            reason ? reason : "", reason ? ")" : "");
    if (message && state && strcmp(message, state) != 0)
        fprintf(cli_stdout, ": %s", message);
    fputc('\n', cli_stdout);
    json_object_foreach((json_t *)(uintptr_t)answer, key, value)
    {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_own |= strcmp(key, own[i]) == 0;
        if (is_own)
            continue;
        if (json_is_string(value))
            fprintf(cli_stdout, "  %s: %s\n", key, json_string_value(value));
        else if (json_is_integer(value))
            fprintf(cli_stdout, "  %s: %lld\n", key, (long long)json_integer_value(value));
        else if (json_is_real(value)) /* for_s, next_try_s */
            fprintf(cli_stdout, "  %.*s: %s\n", (int)strlen(key) - 2, key,
                    number_duration((uint64_t)(json_real_value(value) * 1e9)));
        else if (json_is_boolean(value))
            fprintf(cli_stdout, "  %s: %s\n", key, json_is_true(value) ? "yes" : "no");
    }
}

/* With --json an unknown file is an answer like others; in text it is an error. */
static int tell(const struct why_options *o, const char *file, json_t *answer, json_t *all)
{
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    struct fault fault = FAULT_INIT;
    bool unknown = !state || strcmp(state, "unknown") == 0;
    if (o->common.json)
        json_array_append(all, answer);
    if (!o->common.json && !unknown)
        print(file, answer);
    if (!unknown)
        return 0;
    fault_set(&fault, FAULT_NO_INPUT, "%s", message ? message : "unknown");
    return cli_complain(file, &fault);
}

int command_why(int argc, char **argv)
{
    struct why_options o = {0};
    struct fault fault = FAULT_INIT;
    int socket, status = 0, failed = 0;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o.common);
    if (first == argc) {
        fault_set(&fault, FAULT_USAGE, "which file? (see sluice why --help)");
        return cli_complain("why", &fault);
    }
    if (daemon_connect(o.socket, &socket, &fault) != 0)
        return cli_complain("why", &fault);
    json_t *all = json_array();
    for (int i = first; i < argc; i++) {
        json_t *answer;
        fault_clear(&fault);
        int one = question_ask(socket, "why", argv[i], &answer, &fault) != 0
                      ? cli_complain(argv[i], &fault)
                      : tell(&o, argv[i], answer, all);
        json_decref(answer);
        failed += one != 0;
        status = one ? one : status;
    }
    close(socket);
    if (o.common.json && json_array_size(all) > 0)
        cli_print_json(json_incref(argc - first == 1 ? json_array_get(all, 0) : all));
    json_decref(all);
    return argc - first > 1 && failed > 0 ? 1 : status;
}
