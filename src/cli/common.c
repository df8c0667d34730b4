#include "cli/common.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define AT(member) offsetof(struct common_options, member)

const struct options_row cli_device_options[] = {
    OPTION(0, "SEL", TEXT, "device", AT(device),
           "auto (a GPU, else native), gpu, native (this processor), cpu (this processor by "
           "OpenCL), reference (plain C), or part of a device's or platform's name; else "
           "SLUICE_DEVICE, else auto"),
    OPTION(0, "N", INTEGER, "platform-index", AT(platform_index),
           "only the platform with this index of `sluice devices`", RANGE(-1, 1000), DEFAULT("-1")),
    OPTION(0, "N", INTEGER, "device-index", AT(device_index),
           "only the device with this index within its platform", RANGE(-1, 1000), DEFAULT("-1")),
    OPTION(0, "FLAGS", TEXT, "cl-flags", AT(cl_flags), "further options for the OpenCL compiler"),
    {0},
};

const struct options_row cli_binary_options[] = {
    OPTION(0, "FILE", TEXT, "dump-binary", AT(dump_binary), "write the compiled program there"),
    OPTION(0, "FILE", TEXT, "load-binary", AT(load_binary), "take the compiled program from there"),
    {0},
};

const struct options_row cli_config_options[] = {
    OPTION(0, "FILE", TEXT, "config", AT(config),
           "configuration: chains by name, and what @name refers to; else SLUICE_CONFIG"),
    {0},
};

const struct options_row cli_plan_options[] = {
    OPTION(0, NULL, FLAG, "no-fuse", AT(no_fuse),
           "give each stage kernels of its own, for comparison"),
    {0},
};

const struct options_row cli_limit_options[] = {
    OPTION(0, "PIXELS", PIXELS, "max-pixels", AT(max_pixels), "largest picture that is read",
           RANGE(1, 500e6), DEFAULT("100MP")),
    OPTION(0, "SIZE", SIZE, "max-file", AT(max_file), "largest file that is read",
           RANGE(1, 4.0 * (1 << 30)), DEFAULT("256MiB")),
    OPTION(0, "SIZE", SIZE, "memory", AT(memory), "memory for pictures, all jobs together",
           RANGE(1 << 20, 1e12), DEFAULT("2GiB")),
    OPTION(0, "N", INTEGER, "threads", AT(threads), "files at once; 0: as many as processors",
           RANGE(0, 256), DEFAULT("0")),
    {0},
};

const struct options_row cli_output_options[] = {
    OPTION(0, NULL, FLAG, "json", AT(json), "machine-readable output on stdout"),
    OPTION('q', NULL, FLAG, "quiet", AT(quiet), "say nothing but errors"),
    OPTION('v', NULL, FLAG, "verbose", AT(verbose), "say what is done"),
    {0},
};

FILE *cli_stdout;

void cli_common_apply(struct common_options *options)
{
    enum log_level level = LOG_LEVEL_WARNING;
    const char *from_environment = getenv("SLUICE_LOG_LEVEL");
    if (from_environment && !log_level_parse(from_environment, &level))
        fprintf(stderr, "sluice: SLUICE_LOG_LEVEL=%s: expected error, warning, info or debug\n",
                from_environment);
    if (options->quiet)
        level = LOG_LEVEL_ERROR;
    if (options->verbose && level < LOG_LEVEL_INFO)
        level = LOG_LEVEL_INFO;
    log_init("sluice", level);
    if (!options->device)
        options->device = getenv("SLUICE_DEVICE");
    if (!options->device || !options->device[0])
        options->device = "auto";
}

void cli_engine_options(const struct common_options *options, struct engine_options *engine)
{
    *engine = (struct engine_options){
        .device = {.select = options->device,
                   .platform_index = (int)options->platform_index,
                   .device_index = (int)options->device_index,
                   .flags = options->cl_flags,
                   .dump_binary = options->dump_binary,
                   .load_binary = options->load_binary},
        .reference = strcmp(options->device, "reference") == 0,
        .no_fuse = options->no_fuse,
        .max_pixels = options->max_pixels,
        .max_file = options->max_file,
        .memory = options->memory,
        .threads = (unsigned)options->threads,
    };
}

int cli_complain(const char *what, const struct fault *fault)
{
    return options_complain("sluice", what, fault);
}

int cli_refuse(int status, const char *why, ...)
{
    va_list args;
    fputs("sluice: ", stderr);
    va_start(args, why);
    vfprintf(stderr, why, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

void cli_complain_lines(const char *lines)
{
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        fprintf(stderr, "sluice: %.*s\n", (int)length, lines);
    }
}

void cli_tell_warnings(const char *file, const char *lines)
{
    for (size_t length; lines && *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        log_warning("%s: warning: %.*s", file, (int)length, lines);
    }
}

static const char *config_path(const struct common_options *options)
{
    return options->config ? options->config : getenv("SLUICE_CONFIG");
}

int cli_find_chain(const struct common_options *options, const struct config *config,
                   const char **chain)
{
    const char *guess;
    if (config_chain(config, *chain))
        *chain = config_chain(config, *chain);
    else if ((guess = config_guess_chain(config, *chain)) != NULL)
        return cli_refuse(fault_exit_status(FAULT_USAGE),
                          "chain: '%s' is no stage and no chain of %s; did you mean '%s'?", *chain,
                          config_path(options), guess);
    return 0;
}

static int read_config(const struct common_options *options, struct config *config,
                       const char **chain, bool files)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const char *path = config_path(options);
    *config = (struct config){0};
    if (!path || !path[0])
        return 0;
    int status = 0;
    int result = (files ? config_read : config_read_settings)(config, path, &errors, &fault);
    if (result == FAULT_CONFIG) {
        cli_complain_lines(text_string(&errors));
        status = fault_exit_status(result);
    } else if (result != 0) {
        status = cli_complain(path, &fault);
    } else if (*chain) {
        status = cli_find_chain(options, config, chain);
    }
    text_finish(&errors);
    return status;
}

int cli_read_config(const struct common_options *options, struct config *config, const char **chain)
{
    return read_config(options, config, chain, true);
}

int cli_read_settings(const struct common_options *options, struct config *config, bool files)
{
    const char *no_chain = NULL;
    struct text errors = {0};
    int status = read_config(options, config, &no_chain, files);
    if (status != 0)
        return status;
    if (!config->source)
        settings_defaults(&config->settings);
    settings_read_environment(&config->settings, false, &errors);
    if (errors.length > 0) {
        cli_complain_lines(text_string(&errors));
        status = fault_exit_status(FAULT_CONFIG);
        config_finish(config);
    }
    text_finish(&errors);
    return status;
}

int cli_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
    int status = 0;
    fflush(stdout);
    int aside = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (aside >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 &&
        (cli_stdout = fdopen(aside, "w")) != NULL)
        status = run(argc, argv);
    if ((!cli_stdout || fclose(cli_stdout) != 0) && status == 0) {
        perror("sluice: stdout");
        return 74;
    }
    return status;
}

char *cli_format_rough_time(double seconds, char *buffer)
{
    unsigned unit = seconds < 600 ? 1 : 60;
    return number_format_unit(
        NUMBER_DURATION, (uint64_t)(seconds / unit + 0.5) * unit * UINT64_C(1000000000), buffer);
}

void cli_print_json(json_t *json)
{
    json_dumpf(json, cli_stdout, JSON_INDENT(1) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    fputc('\n', cli_stdout);
    json_decref(json);
}
