/* What subcommands share: common options and their meaning for the engine, the configuration,
 * complaints, stdout and JSON; and what a subcommand is (struct command). */
#ifndef SLUICE_CLI_COMMON_H
#define SLUICE_CLI_COMMON_H

#include "base/number.h"
#include "config/config.h"
#include "engine/engine.h"
#include "param/options.h"
#include <jansson.h>
#include <stdio.h>

struct common_options {
    const char *device;
    int64_t platform_index, device_index;
    const char *cl_flags, *dump_binary, *load_binary;
    const char *config; /* path of a file */
    const char *define[DEFINITION_PICTURES_MAX]; /* NAME=FILE; NULL behind the last one */
    uint64_t max_pixels, max_file, memory;
    int64_t threads;
    bool json, quiet, verbose, no_fuse;
};

/* Must be the first member of a subcommand's options. */
extern const struct options_row cli_device_options[];
extern const struct options_row cli_binary_options[]; /* of commands that run one program */
extern const struct options_row cli_config_options[];
extern const struct options_row cli_define_options[];
extern const struct options_row cli_plan_options[];
extern const struct options_row cli_limit_options[];
extern const struct options_row cli_output_options[];

/* Sets the log level. Options override the environment (SLUICE_DEVICE, SLUICE_LOG_LEVEL). */
void cli_common_apply(struct common_options *options);

void cli_engine_options(const struct common_options *options, struct engine_options *engine);

/* Prints `sluice: WHAT: WHY` on stderr; returns the exit status. `what` may be NULL. */
int cli_complain(const char *what, const struct fault *fault);

/* Prints `sluice: LINE` on stderr for each of the lines. */
void cli_complain_lines(const char *lines);

/* Prints `sluice: WHY` on stderr; returns the exit status. */
int cli_refuse(int status, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* A time for people: in seconds, a long one in minutes. The text lives as long as the block that
 * has the macro. */
#define cli_rough_time(seconds) cli_format_rough_time(seconds, (char[NUMBER_TEXT_MAX]){0})
char *cli_format_rough_time(double seconds, char *buffer);

/* Reads the file that --config or SLUICE_CONFIG names, if there is one. Returns 0, or the exit
 * status after a complaint about each mistake. If `chain` is the name of a chain in the file it
 * becomes that chain's text. */
int cli_read_config(const struct common_options *options, struct config *config,
                    const char **chain);

/* Reads the settings from that file, if there is one, and from the environment; and with `files`
 * those of cameras and pictures. Returns as cli_read_config does. */
int cli_read_settings(const struct common_options *options, struct config *config, bool files);

/* Adds the pictures of the command line to those of the configuration, and decodes all. Returns as
 * cli_read_config does. */
int cli_read_pictures(const struct common_options *options, struct config *config);

/* cli_read_config, and all that @names in chains refer to. After a complaint the config is empty. */
int cli_read_definitions(const struct common_options *options, struct config *config,
                         const char **chain);

/* Prints the decoder's warnings about a file, one on each line, on stderr unless --quiet. NULL:
 * none. */
void cli_tell_warnings(const char *file, const char *lines);

/* The same for a further chain of that file. */
int cli_find_chain(const struct common_options *options, const struct config *config,
                   const char **chain);

/* Parses a chain. Returns 0, or the exit status after a complaint about each mistake, with carets
 * under its place in the text. */
int cli_parse_chain(struct chain *chain, const char *text, const struct definitions *definitions);

/* The same for several, which become one tree. */
int cli_parse_chains(struct chain *tree, const char *const *texts, size_t count,
                     const struct definitions *definitions);

/* Complains about one mistake. */
int cli_complain_chain(const char *chain_text, const struct fault *fault);

/* Runs a program, and returns its exit status. The real stdout is moved to another descriptor
 * before drivers print to it; descriptor 1 then leads to stderr. cli_stdout is a stream for the
 * real one. */
int cli_run(int (*run)(int argc, char **argv), int argc, char **argv);
extern FILE *cli_stdout;

/* Prints the answer to --json on cli_stdout, and releases it. docs/schemas has a schema for each
 * command. */
void cli_print_json(json_t *json);

/* A subcommand of `sluice`. `run` gets its options, which begin with struct common_options, and
 * returns the exit status. */
struct command {
    const struct options_usage *usage; /* without a program, which is sluice */
    size_t size;                       /* of the options */
    int (*run)(void *options, char **operands, size_t count);
    const char *missing; /* the complaint when there is no operand; NULL: there may be none */
    bool no_operands;    /* it takes none */
};
extern const struct command command_bench, command_check_config, command_compare, command_devices,
    command_doctor, command_failed, command_plan, command_requeue, command_run, command_stages,
    command_status, command_submit, command_testcard, command_tune, command_warm, command_why;

#endif
