/* Options that most subcommands share, and what they mean for the engine. */
#ifndef SLUICE_CLI_COMMON_H
#define SLUICE_CLI_COMMON_H

#include "config/config.h"
#include "engine/engine.h"
#include "param/options.h"
#include <jansson.h>
#include <stdio.h>

struct common_options {
    const char *device;
    int64_t platform_index, device_index;
    const char *cl_flags, *dump_binary, *load_binary;
    const char *config; /* file */
    uint64_t max_pixels, max_file, memory;
    int64_t threads;
    bool json, quiet, verbose, no_fuse;
};

/* Must be the first member of a subcommand's options. */
extern const struct options_row cli_device_options[];
extern const struct options_row cli_config_options[];
extern const struct options_row cli_plan_options[];
extern const struct options_row cli_limit_options[];
extern const struct options_row cli_output_options[];

/* Sets the log level; what the environment says (SLUICE_DEVICE, SLUICE_LOG_LEVEL) comes before the
 * options. */
void cli_common_apply(struct common_options *options);

void cli_engine_options(const struct common_options *options, struct engine_options *engine);

/* `sluice: WHAT: WHY` on stderr; returns the exit status. `what` may be NULL. */
int cli_complain(const char *what, const struct fault *fault);

/* Reads the file that --config or SLUICE_CONFIG names, if any does. Returns 0, or after a complaint
 * about each error the exit status. `chain` may be the name of a chain of the file; then it is set
 * to the chain's text. */
int cli_read_config(const struct common_options *options, struct config *config,
                    const char **chain);

/* The decoder's warnings about a file, one a line, on stderr unless --quiet. NULL: none. */
void cli_tell_warnings(const char *file, const char *lines);

/* For a command without operands: 0, or after a complaint about the first of them 64. */
int cli_refuse_operands(const char *command, int first, int argc, char **argv);

/* Reads a chain. Returns 0, or after a complaint about all that is wrong with it, each with carets
 * under its place in the text, the exit status. */
int cli_parse_chain(struct chain *chain, const char *text, const struct definitions *definitions);

/* The complaint about one of them. */
int cli_complain_chain(const char *chain_text, const struct fault *fault);

/* The real stdout, moved aside before drivers can print to it; what is written to descriptor 1
 * afterwards goes to stderr. A stdio stream on it is cli_stdout. */
int cli_move_stdout(void);
extern FILE *cli_stdout;

/* Prints what a command answers to --json, on cli_stdout, and releases it. docs/schemas has a JSON
 * Schema for each command. */
void cli_print_json(json_t *json);

#endif
