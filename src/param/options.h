/* Command lines from option tables: parsing, help and errors, GNU style, for every program. */
#ifndef SLUICE_PARAM_OPTIONS_H
#define SLUICE_PARAM_OPTIONS_H

#include "param/param.h"
#include <stdio.h>

struct options_row {
    char letter;            /* of the short form, or 0 */
    const char *value_name; /* in the help: "FILE"; NULL for flags */
    struct param param;     /* its name is the long form */
};

/* A row: OPTION('c', "CHAIN", …what PARAM takes). */
#define OPTION(letter, value, ...) {letter, value, PARAM(__VA_ARGS__)}

/* A list of option tables over the same config; each ends with an entry without a name. */
#define OPTIONS_TABLES_MAX 8

struct options_usage {
    const char *program;  /* "sluice" */
    const char *command;  /* "run"; NULL for a program without commands */
    const char *operands; /* "-c CHAIN [-o OUT] IN…" */
    const char *summary;  /* one sentence */
    const char *details;  /* further lines of help, or NULL */
    const struct options_row *tables[OPTIONS_TABLES_MAX];
};

/* Sets defaults, reads options wherever they stand among operands, and moves the operands to the
 * end of argv. An option that has a letter and a value (-c, -o, -f) says what to do, so a second
 * one is an error; of others the last one counts. Returns the index of the first of them, or a
 * negative exit status: −64 after a complaint on stderr; OPTIONS_HELP_SHOWN after --help, which is
 * printed to `help`. */
#define OPTIONS_HELP_SHOWN (-1000)
int options_parse(const struct options_usage *usage, void *config, int argc, char **argv,
                  FILE *help);

void options_print_help(const struct options_usage *usage, FILE *to);

/* `PROGRAM: WHAT: WHY` on stderr for a fault; returns its exit status. `what` may be NULL. */
int options_complain(const char *program, const char *what, const struct fault *fault);

#endif
