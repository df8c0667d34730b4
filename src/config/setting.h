/* One setting, as the table of a section has it: its key and value in the file, its option, its
 * environment variable. Tables are in settings_table.c and, for the fleet, in relay/settings.c. */
#ifndef SLUICE_CONFIG_SETTING_H
#define SLUICE_CONFIG_SETTING_H

#include "param/param.h"
#include <stdbool.h>
#include <stddef.h>

/* A place in the file; lines and columns count from 1; 0: not in the file. */
struct place {
    size_t line, column;
};

/* A setting, wherever it is given. */
struct setting {
    struct param param;     /* its key in the file, and its field in the section's struct; must be
                               the first member */
    const char *option;     /* its long option; NULL: none */
    char letter;            /* the short option; 0: none */
    const char *value_name; /* for the help: "DIR" */
    const char *variable;   /* its environment variable, if that is not SLUICE_SECTION_KEY */
    /* Parses `text` into the field, for types that param.h does not have. */
    int (*parse)(const char *text, void *to, struct fault *fault);
    const char *allowed; /* for the reference page, where the type does not tell */
    size_t place;        /* offset of the struct place that notes where the file has it; 0: none */
    bool of_worker;      /* it is part of what a worker is given (config_print_worker) */
};

/* A section, or the keys of an entry of `watch`, with fields in a struct of its own. */
struct settings_section {
    const char *name;            /* "limits"; "" for keys of the top level */
    const struct setting *table; /* ends with an entry without a name */
    const char *help;
    size_t offset; /* of the section's struct in struct settings */
};

/* Sets a value from its text; `bare_allowed` as for param_set. The text must outlive the settings.
 */
int setting_set(const struct setting *setting, void *to, const char *text, bool bare_allowed,
                const char *what, struct fault *fault);

/* Parses "auto", which is 0, or an integer from 0 to `limit`. */
int setting_parse_count(const char *text, int64_t *count, int limit, struct fault *fault);

/* The name of the environment variable: "SLUICE_LIMITS_MAX_PIXELS". */
#define SETTINGS_VARIABLE_MAX 64
const char *setting_variable(const struct settings_section *section, const struct setting *setting,
                             char variable[SETTINGS_VARIABLE_MAX]);

#endif
