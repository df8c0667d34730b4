#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "version.h"
#include "worker/find.h"

static int command_enqueue(int argc, char **argv);
static int command_version(int argc, char **argv);
static int command_help(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", command_run, "run a chain on pictures, here"},
    {"submit", command_submit, "run a chain on pictures, through the daemon"},
    {"enqueue", command_enqueue, "put pictures into the queue of a fleet"},
    {"status", command_status, "what the daemon does"},
    {"why", command_why, "what became of a file, or why it is not done"},
    {"requeue", command_requeue, "do files of watched folders again"},
    {"compare", command_compare, "how much two pictures differ"},
    {"stages", command_stages, "the stages and their parameters"},
    {"devices", command_devices, "the devices, and the one that is used"},
    {"plan", command_plan, "what a chain would do, without doing it"},
    {"bench", command_bench, "time stages, chains and whole files"},
    {"check-config", command_check_config, "every error of a configuration at once"},
    {"warm", command_warm, "compile the chains of a configuration before the daemon starts"},
    {"doctor", command_doctor, "problems of this machine, and a fix for each"},
    {"testcard", command_testcard, "draw a picture to try chains on"},
    {"version", command_version, "the version (also --version, -V)"},
    {"help", command_help, "this text, or the options of a command (also --help, -h)"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static const struct options_row no_options[] = {{0}};

static const struct options_usage version_usage = {.program = "sluice",
                                                   .command = "version",
                                                   .operands = "",
                                                   .summary = "Prints the version.",
                                                   .tables = {no_options}};

static const struct options_usage help_usage = {
    .program = "sluice",
    .command = "help",
    .operands = "[COMMAND]",
    .summary = "Lists the commands, or says what a command does and which options it has.",
    .tables = {no_options}};

/* NULL after a complaint. */
static const struct command *find_command(const char *name)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
        nearest_offer(&nearest, name, strlen(name), commands[i].name);
    }
    if (name[0] == '-')
        fprintf(stderr,
                "sluice: %s: the command comes first, and options behind it (see sluice --help)\n",
                name);
    else
        fprintf(stderr, "sluice: unknown command '%s'%s (see sluice --help)\n", name,
                nearest_ask(&nearest, ""));
    return NULL;
}

/* A program of its own, so that sluice needs no library for NATS. */
static int command_enqueue(int argc, char **argv)
{
    char path[4096];
    struct fault fault = FAULT_INIT;
    (void)argc;
    if (find_program("enqueue", "SLUICE_ENQUEUE", path, sizeof path, &fault) == 0) {
        fflush(cli_stdout);
        dup2(fileno(cli_stdout), STDOUT_FILENO); /* the program needs the real stdout */
        execv(path, argv);
    }
    fault_set_errno(&fault, FAULT_NO_DEVICE, path);
    return cli_complain("enqueue", &fault);
}

static int command_version(int argc, char **argv)
{
    int first = options_parse(&version_usage, NULL, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    int status = cli_refuse_operands("version", first, argc, argv);
    if (status == 0)
        fputs("sluice " SLUICE_VERSION "\n", cli_stdout);
    return status;
}

static int command_help(int argc, char **argv)
{
    static char help[] = "--help";
    int first = options_parse(&help_usage, NULL, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    if (argc - first > 1) {
        fputs("sluice: help: one command at a time\n", stderr);
        return 64;
    }
    if (argc > first) {
        const struct command *command = find_command(argv[first]);
        return command ? command->run(2, (char *[]){argv[first], help, NULL}) : 64;
    }
    fputs("usage: sluice COMMAND [OPTIONS] …\n\n"
          "Filters pictures through chains of kernels, on a GPU or the processor.\n\ncommands:\n",
          cli_stdout);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(cli_stdout, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  sluice COMMAND --help          the command's options\n"
          "\nA chain is stages joined by commas: sluice run -c luminance,sobel -o edges.png "
          "photo.jpg\n",
          cli_stdout);
    return 0;
}

/* --help and --version are commands, too. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ? "version" : word;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("sluice: which command? (see sluice --help)\n", stderr);
        return 64;
    }
    const struct command *command = find_command(command_name(argv[1]));
    if (!command)
        return 64;
    return cli_run(command->run, argc - 1, argv + 1);
}
