#include "cli/common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "chain/chain.h"

#define AT(member) offsetof(struct common_options, member)

const struct options_row cli_device_options[] = {
    {0,
     "SEL",
     {.name = "device",
      .type = PARAM_TEXT,
      .offset = AT(device),
      .help = "auto, gpu, cpu, reference (plain C, no OpenCL), or part of a device's or platform's "
              "name; else SLUICE_DEVICE, else auto"}},
    {0,
     "N",
     {.name = "platform-index",
      .type = PARAM_INTEGER,
      .offset = AT(platform_index),
      .min = -1,
      .max = 1000,
      .fallback = "-1",
      .help = "only the platform with this index of `sluice devices`"}},
    {0,
     "N",
     {.name = "device-index",
      .type = PARAM_INTEGER,
      .offset = AT(device_index),
      .min = -1,
      .max = 1000,
      .fallback = "-1",
      .help = "only the device with this index within its platform"}},
    {0,
     "FLAGS",
     {.name = "cl-flags",
      .type = PARAM_TEXT,
      .offset = AT(cl_flags),
      .help = "further options for the OpenCL compiler"}},
    {0,
     "FILE",
     {.name = "dump-binary",
      .type = PARAM_TEXT,
      .offset = AT(dump_binary),
      .help = "write the compiled program there"}},
    {0,
     "FILE",
     {.name = "load-binary",
      .type = PARAM_TEXT,
      .offset = AT(load_binary),
      .help = "take the compiled program from there"}},
    {0},
};

const struct options_row cli_config_options[] = {
    {0,
     "FILE",
     {.name = "config",
      .type = PARAM_TEXT,
      .offset = AT(config),
      .help = "configuration: chains by name, and what @name refers to; else SLUICE_CONFIG"}},
    {0},
};

const struct options_row cli_plan_options[] = {
    {0,
     NULL,
     {.name = "no-fuse",
      .type = PARAM_FLAG,
      .offset = AT(no_fuse),
      .fallback = "0",
      .help = "give each stage kernels of its own, for comparison"}},
    {0},
};

const struct options_row cli_limit_options[] = {
    {0,
     "PIXELS",
     {.name = "max-pixels",
      .type = PARAM_PIXELS,
      .offset = AT(max_pixels),
      .min = 1,
      .max = 500e6,
      .fallback = "100MP",
      .help = "largest picture that is read"}},
    {0,
     "SIZE",
     {.name = "max-file",
      .type = PARAM_SIZE,
      .offset = AT(max_file),
      .min = 1,
      .max = 4.0 * (1 << 30),
      .fallback = "256MiB",
      .help = "largest file that is read"}},
    {0,
     "SIZE",
     {.name = "memory",
      .type = PARAM_SIZE,
      .offset = AT(memory),
      .min = 1 << 20,
      .max = 1e12,
      .fallback = "2GiB",
      .help = "memory for pictures, all jobs together"}},
    {0,
     "N",
     {.name = "threads",
      .type = PARAM_INTEGER,
      .offset = AT(threads),
      .min = 0,
      .max = 256,
      .fallback = "0",
      .help = "files at once; 0: as many as processors"}},
    {0},
};

const struct options_row cli_output_options[] = {
    {0,
     NULL,
     {.name = "json",
      .type = PARAM_FLAG,
      .offset = AT(json),
      .fallback = "0",
      .help = "machine-readable output on stdout"}},
    {'q',
     NULL,
     {.name = "quiet",
      .type = PARAM_FLAG,
      .offset = AT(quiet),
      .fallback = "0",
      .help = "say nothing but errors"}},
    {'v',
     NULL,
     {.name = "verbose",
      .type = PARAM_FLAG,
      .offset = AT(verbose),
      .fallback = "0",
      .help = "say what is done"}},
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

void cli_tell_warnings(const char *file, const char *lines)
{
    for (size_t length; lines && *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        log_warning("%s: warning: %.*s", file, (int)length, lines);
    }
}

int cli_refuse_operands(const char *command, int first, int argc, char **argv)
{
    if (first == argc)
        return 0;
    fprintf(stderr, "sluice: %s: there are no operands, such as '%s' (see sluice %s --help)\n",
            command, argv[first], command);
    return 64;
}

int cli_read_config(const struct common_options *options, struct config *config, const char **chain)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const char *path = options->config ? options->config : getenv("SLUICE_CONFIG");
    const char *guess;
    *config = (struct config){0};
    if (!path || !path[0])
        return 0;
    int status = 0;
    int result = config_read(config, path, &errors, &fault);
    if (result == FAULT_CONFIG) {
        for (const char *line = text_string(&errors); *line;) {
            size_t length = strcspn(line, "\n");
            fputs("sluice: ", stderr);
            fwrite(line, 1, length, stderr);
            fputc('\n', stderr);
            line += length + (line[length] == '\n');
        }
        status = fault_exit_status(result);
    } else if (result != 0) {
        status = cli_complain(path, &fault);
    } else if (*chain && config_chain(config, *chain)) {
        *chain = config_chain(config, *chain);
    } else if (*chain && (guess = config_guess_chain(config, *chain))) {
        fprintf(stderr, "sluice: chain: '%s' is no stage and no chain of %s; did you mean '%s'?\n",
                *chain, path, guess);
        status = fault_exit_status(FAULT_USAGE);
    }
    text_finish(&errors);
    return status;
}

int cli_parse_chain(struct chain *chain, const char *text, const struct definitions *definitions)
{
    struct faults faults = {0};
    int result = chain_parse_all(chain, text, definitions, &faults);
    for (size_t i = 0; i < faults_count(&faults); i++)
        cli_complain_chain(text, &faults.list[i]);
    return fault_exit_status(result);
}

int cli_complain_chain(const char *chain_text, const struct fault *fault)
{
    struct text caret = {0};
    fault_print_caret(fault, chain_text, &caret);
    int status = cli_complain(fault->code == FAULT_CHAIN ? "chain" : NULL, fault);
    fputs(text_string(&caret), stderr);
    text_finish(&caret);
    return status;
}

int cli_move_stdout(void)
{
    fflush(stdout);
    int aside = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (aside < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return -1;
    cli_stdout = fdopen(aside, "w");
    return cli_stdout ? 0 : -1;
}

void cli_print_json(json_t *json)
{
    json_dumpf(json, cli_stdout, JSON_INDENT(1) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    fputc('\n', cli_stdout);
    json_decref(json);
}
