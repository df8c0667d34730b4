/* Command lines from option tables: parsing, help and errors, GNU style. */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include "param/param.h"

struct cli_option {
    char letter;            /* of the short form, or 0 */
    const char *value_name; /* in the help: "FILE"; NULL for flags */
    struct param param;     /* its name is the long form */
};

/* A list of option tables over the same config; each ends with an entry without a name. */
#define CLI_TABLES_MAX 4

struct cli_usage {
    const char *command;  /* "run" */
    const char *operands; /* "-c CHAIN [-o OUT] IN…" */
    const char *summary;  /* one sentence */
    const char *details;  /* further lines of help, or NULL */
    const struct cli_option *tables[CLI_TABLES_MAX];
};

/* Sets defaults, reads options wherever they stand among operands, and moves the operands to the
 * end of argv. Returns the index of the first of them, or a negative exit status: −64 after a
 * complaint; CLI_HELP_SHOWN after --help. */
#define CLI_HELP_SHOWN (-1000)
int cli_parse(const struct cli_usage *usage, void *config, int argc, char **argv);

void cli_print_help(const struct cli_usage *usage);

/* `sluice: WHAT: WHY` on stderr for a fault; returns its exit status. `what` may be NULL. */
int cli_complain(const char *what, const struct fault *fault);

#endif
