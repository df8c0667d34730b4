/* Command lines by tables of options: parsing, help and errors in GNU style, for every program. */
#ifndef SLUICE_PARAM_OPTIONS_H
#define SLUICE_PARAM_OPTIONS_H

#include "param/param.h"
#include <stdio.h>

struct options_row {
    char letter;            /* the short form; 0: none */
    const char *value_name; /* for the help: "FILE"; NULL for flags */
    struct param param;     /* `name` is the long form */
    bool each;              /* it is about one of several things (struct options_groups) */
    unsigned most; /* it may be given so often, and its place is an array of as many texts; 0: of
                      several the last counts */
};

/* A row: OPTION('c', "CHAIN", …as for PARAM); and one of texts about one of several things. */
#define OPTION(letter, value, ...)                                                                 \
    {                                                                                              \
        letter, value, PARAM(__VA_ARGS__), false                                                   \
    }
#define OPTION_EACH(letter, value, ...)                                                            \
    {                                                                                              \
        letter, value, PARAM(__VA_ARGS__), true                                                    \
    }
#define OPTION_LIST(most, value, ...)                                                              \
    {                                                                                              \
        0, value, PARAM(__VA_ARGS__), false, most                                                  \
    }

/* Things that a command takes several of, as an array in the config, one struct for each. An option
 * about one of them that is given again begins the next one. Only the first gets defaults; what the
 * others were not given stays NULL. */
struct options_groups {
    const char *what;    /* "results" */
    size_t offset, size; /* of the array in the config; of a struct, in which rows have offsets */
    size_t most;
    size_t count_offset; /* of a size_t in the config: how many there are, at least 1 */
};

/* Several tables over the same config; each ends with an entry without a name. */
#define OPTIONS_TABLES_MAX 9

struct options_usage {
    const char *program;  /* "sluice" */
    const char *command;  /* "run"; NULL for a program without commands */
    const char *operands; /* how to call it: "-c CHAIN [-o OUT] IN…" */
    const char *summary;  /* one sentence */
    const char *details;  /* more lines of help; NULL: none */
    const struct options_row *tables[OPTIONS_TABLES_MAX];
    const struct options_groups *groups; /* NULL: no row is about one of several things */
};

/* Sets defaults in `config`, which begins as {0}, reads options wherever they stand, and moves
 * operands to the end of argv. An option with a letter and a value (-c, -o, -f) may be given once,
 * unless it is about one of several things; of other repeated options the last counts. Returns the
 * index of the first operand, or a negative exit status: −64 after a complaint on stderr;
 * OPTIONS_HELP_SHOWN after printing --help to `help`. */
#define OPTIONS_HELP_SHOWN (-1000)
int options_parse(const struct options_usage *usage, void *config, int argc, char **argv,
                  FILE *help);

/* Prints `PROGRAM: WHAT: WHY` on stderr for a fault; returns its exit status. `what` may be NULL.
 */
int options_complain(const char *program, const char *what, const struct fault *fault);

#endif
