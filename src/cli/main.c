/* sluice: which subcommands there are, and how the one that was named is run. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/common.h"
#include "version.h"
#include "worker/find.h"

static const struct command command_version, command_help;

static const struct {
    const char *name;
    const struct command *command; /* NULL: a program of its own */
    const char *summary;
} commands[] = {
    {"run", &command_run, "run a chain on pictures, here"},
    {"submit", &command_submit, "run a chain on pictures, through the daemon"},
    {"enqueue", NULL, "put pictures into the queue of a fleet"},
    {"view", NULL, "tune a chain in a browser, or watch the daemon"},
    {"status", &command_status, "what the daemon does"},
    {"why", &command_why, "what became of a file, or why it is not done"},
    {"failed", &command_failed, "the files that failed, with their reasons"},
    {"requeue", &command_requeue, "do files of watched folders again"},
    {"compare", &command_compare, "how much two pictures differ"},
    {"stages", &command_stages, "the stages and their parameters"},
    {"devices", &command_devices, "the devices, and the one that is used"},
    {"plan", &command_plan, "what a chain would do, without doing it"},
    {"bench", &command_bench, "time stages, chains and whole files"},
    {"tune", &command_tune, "measure which device is faster, by chain and size"},
    {"check-config", &command_check_config, "every error of a configuration at once"},
    {"warm", &command_warm, "compile the chains of a configuration before the daemon starts"},
    {"doctor", &command_doctor, "problems of this machine, and a fix for each"},
    {"testcard", &command_testcard, "draw a picture to try chains on"},
    {"version", &command_version, "the version (also --version, -V)"},
    {"help", &command_help, "this text, or the options of a command (also --help, -h)"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* N_COMMANDS after a complaint. */
static size_t find_command(const char *name)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return i;
        nearest_offer(&nearest, name, strlen(name), commands[i].name);
    }
    if (name[0] == '-')
        cli_refuse(64, "%s: the command comes first, and options behind it (see sluice --help)",
                   name);
    else
        cli_refuse(64, "unknown command '%s'%s (see sluice --help)", name,
                   nearest_ask(&nearest, ""));
    return N_COMMANDS;
}

/* A program of its own, so that sluice needs no library for NATS, and none for HTTP. */
static int run_program(char **argv)
{
    char path[4096], variable[32];
    struct fault fault = FAULT_INIT;
    snprintf(variable, sizeof variable, "SLUICE_%s", argv[0]);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    if (find_program(argv[0], variable, path, sizeof path, &fault) == 0) {
        fflush(cli_stdout);
        dup2(fileno(cli_stdout), STDOUT_FILENO); /* the program needs the real stdout */
        execv(path, argv);
    }
    fault_set_errno(&fault, FAULT_NO_DEVICE, path);
    return cli_complain(argv[0], &fault);
}

/* Runs the command that argv[0] names. */
static int run_command(int argc, char **argv)
{
    size_t index = find_command(argv[0]);
    if (index == N_COMMANDS)
        return 64;
    const struct command *command = commands[index].command;
    if (!command)
        return run_program(argv);
    struct options_usage usage = *command->usage;
    void *options = calloc(1, command->size + 1);
    if (!options)
        return cli_refuse(70, "%s: no memory for its options", argv[0]);
    usage.program = "sluice";
    int first = options_parse(&usage, options, argc, argv, cli_stdout);
    int status = first == OPTIONS_HELP_SHOWN ? 0 : -first;
    const char *name = usage.command;
    if (first == argc && command->missing)
        status = cli_refuse(64, "%s: %s (see sluice %s --help)", name, command->missing, name);
    else if (first >= 0 && first < argc && command->no_operands)
        status = cli_refuse(64, "%s: there are no operands, such as '%s' (see sluice %s --help)",
                            name, argv[first], name);
    else if (first >= 0)
        status = command->run(options, argv + first, (size_t)(argc - first));
    free(options);
    return status;
}

static const struct options_row no_options[] = {{0}};

static const struct options_usage version_usage = {
    .command = "version", .operands = "", .summary = "Prints the version.", .tables = {no_options}};

static const struct options_usage help_usage = {
    .command = "help",
    .operands = "[COMMAND]",
    .summary = "Lists the commands, or says what a command does and which options it has.",
    .tables = {no_options}};

static int print_version(void *options, char **operands, size_t count)
{
    fputs("sluice " SLUICE_VERSION "\n", cli_stdout);
    return 0;
}

static const struct command command_version = {&version_usage, 0, print_version,
                                               .no_operands = true};

static int help(void *options, char **operands, size_t count)
{
    static char help[] = "--help";
    if (count > 1)
        return cli_refuse(64, "help: one command at a time");
    if (count > 0)
        return run_command(2, (char *[]){operands[0], help, NULL});
    fputs("usage: sluice COMMAND [OPTIONS] …\n\n"
          "Filters pictures through chains of kernels, on a GPU or the processor.\n\ncommands:\n",
          cli_stdout);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(cli_stdout, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fputs(
        "\n  sluice COMMAND --help          the command's options\n"
        "\nA chain is stages joined by commas: sluice run -c luminance,sobel:scale=1 -o edges.png "
        "photo.jpg\n",
        cli_stdout);
    return 0;
}

static const struct command command_help = {&help_usage, 0, help};

int main(int argc, char **argv)
{
    static char help[] = "help", version[] = "version";
    if (argc < 2)
        return cli_refuse(64, "which command? (see sluice --help)");
    /* --help and --version are commands, too */
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = help;
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        argv[1] = version;
    return cli_run(run_command, argc - 1, argv + 1);
}
