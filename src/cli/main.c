#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "version.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", command_run, "run a chain on pictures, here"},
    {"submit", command_submit, "run a chain on pictures, through the daemon"},
    {"status", command_status, "what the daemon does"},
    {"why", command_why, "what became of a file, or why it is not done"},
    {"requeue", command_requeue, "files are to be done again"},
    {"compare", command_compare, "how far two pictures are apart"},
    {"stages", command_stages, "the stages and their parameters"},
    {"devices", command_devices, "the OpenCL devices, and the one that is taken"},
    {"plan", command_plan, "what a chain would do, without doing it"},
    {"bench", command_bench, "how fast it is"},
    {"check-config", command_check_config, "every error of a configuration at once"},
    {"warm", command_warm, "compile the chains of a configuration before the daemon starts"},
    {"doctor", command_doctor, "what is wrong with this machine, and the fix for each"},
    {"testcard", command_testcard, "draw a picture to try chains on"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_help(void)
{
    puts("usage: sluice COMMAND [OPTIONS] …\n\n"
         "Filters pictures through chains of OpenCL kernels.\n\ncommands:");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    puts(
        "\n  sluice COMMAND --help          the command's options\n"
        "  sluice -V, --version           the version\n\n"
        "A chain is stages joined by commas: sluice run -c luminance,sobel -o edges.png photo.jpg");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("sluice: which command? (see sluice --help)\n", stderr);
        return 64;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        (strcmp(name, "help") == 0 && argc == 2)) {
        print_help();
        return 0;
    }
    if (strcmp(name, "help") == 0) {
        static char help[] = "--help";
        argv[1] = argv[2];
        argv[2] = help;
        name = argv[1];
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("sluice " SLUICE_VERSION);
        return 0;
    }
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            if (cli_move_stdout() != 0) {
                perror("sluice: stdout");
                return 74;
            }
            int status = commands[i].run(argc - 1, argv + 1);
            if (fclose(cli_stdout) != 0 && status == 0) {
                perror("sluice: stdout");
                return 74;
            }
            return status;
        }
        nearest_offer(&nearest, name, strlen(name), commands[i].name);
    }
    fprintf(stderr, "sluice: unknown command '%s'%s%s%s (see sluice --help)\n", name,
            nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
            nearest.best ? "'?" : "");
    return 64;
}
