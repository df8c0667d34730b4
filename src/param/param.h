/* Typed parameters: a table says what a stage, format or command accepts; parsing, checking,
 * printing and explaining use it.
 *
 * A table is an array of struct param that ends with an entry without a name. Values are members of
 * a struct of the table's owner, at the offsets in the table; nothing has to be freed. Pure, any
 * thread. */
#ifndef SLUICE_PARAM_PARAM_H
#define SLUICE_PARAM_PARAM_H

#include "base/fault.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {         /* the C type of the field at `offset` */
    PARAM_INTEGER,        /* int64_t */
    PARAM_REAL,           /* double */
    PARAM_FLAG,           /* bool; written 0 or 1 */
    PARAM_CHOICE,         /* int: the choice's value */
    PARAM_REAL_OR_CHOICE, /* struct param_scalar */
    PARAM_INTEGERS,       /* struct param_integers; written 3_9_27 */
    PARAM_REALS,          /* struct param_matrix of one row; written 1_2.5_3, or a choice */
    PARAM_MATRIX,         /* struct param_matrix; written 1_2_1/2_4_2/1_2_1, a choice, or @name */
    PARAM_WORD,           /* char[PARAM_WORD_MAX]: a word */
    PARAM_WORDS,    /* char[PARAM_WORDS_MAX]: words joined by _ in rows that are joined by / */
    PARAM_TEXT,     /* const char *: the text itself, NUL-terminated; it must outlive the config */
    PARAM_SIZE,     /* uint64_t bytes; written 64MiB */
    PARAM_DURATION, /* uint64_t nanoseconds; written 5s */
    PARAM_PIXELS,   /* uint64_t pixels; written 100MP */
};

/* A word of a choice. Words with the same value are aliases: the first is printed. A list ends with
 * a NULL name. */
struct param_choice {
    const char *name;
    int value;
};

#define PARAM_IS_NUMBER    (-1) /* `choice` of a value given as numbers */
#define PARAM_IS_REFERENCE (-2) /* `choice` of a value given as @name */

struct param_scalar {
    int choice; /* a choice's value, or PARAM_IS_NUMBER */
    double value;
};

#define PARAM_INTEGERS_MAX 16
struct param_integers {
    unsigned count;
    int64_t v[PARAM_INTEGERS_MAX];
};

#define PARAM_MATRIX_SIDE 63
#define PARAM_WORD_MAX    64
#define PARAM_WORDS_MAX   256
struct param_matrix {
    int choice; /* a choice's value, PARAM_IS_NUMBER or PARAM_IS_REFERENCE */
    unsigned columns, rows;
    char reference[PARAM_WORD_MAX];                  /* the name after @ */
    double v[PARAM_MATRIX_SIDE * PARAM_MATRIX_SIDE]; /* row by row */
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    double min, max;                    /* of each number; both 0: only the type's limits */
    const struct param_choice *choices; /* for types with choices */
    const char *fallback;               /* the default as text; NULL: unset unless given */
    bool required;                      /* it must be given and has no default */
    const char *help;                   /* meaning and unit, in a sentence */
};

/* A row of a table: PARAM(INTEGER, "radius", offsetof(…), "what it is", RANGE(0, 9), DEFAULT("1")),
 * and of words CHOICES({"left", 0}, {"right", 1}). */
#define PARAM(kind, word, at, text, ...) \
    {.name = word, .type = PARAM_##kind, .offset = at, .help = text, ##__VA_ARGS__}
#define RANGE(low, high) .min = low, .max = high
#define DEFAULT(text)    .fallback = text
#define CHOICES(...)     .choices = (const struct param_choice[]){__VA_ARGS__, {NULL, 0}}

static inline bool param_is_limited(const struct param *param)
{
    return param->min != 0 || param->max != 0;
}

/* Which parameters were given: bit i for entry i. A table has at most 64 entries. */
typedef uint64_t param_given;

/* Sets the table's defaults in `config`. */
void param_defaults(const struct param *table, void *config);

/* Parses one value. `what` names the owner in faults ("stage 'box'"). With `bare_allowed`, units of
 * sizes, durations and pixel counts may be missing. Positions in faults count from `text`. */
int param_set(const struct param *param, void *config, const char *text, size_t length,
              bool bare_allowed, const char *what, struct fault *fault);

/* Parses "arg:arg:...", where arg is `name=value`, or `value` for the next parameter in the table's
 * order that is not in `given` yet. Changes `config` and adds to `given`. Empty text gives nothing.
 * Positions in faults count from `text`, plus `base`. */
int param_parse(const struct param *table, void *config, param_given *given, const char *text,
                size_t length, int base, const char *what, struct fault *fault);

/* The same, and reports all wrong arguments. Returns the first one's code. */
int param_parse_all(const struct param *table, void *config, param_given *given, const char *text,
                    size_t length, int base, const char *what, struct faults *faults);

/* The same for one argument, which may be empty: then it is a mistake. */
int param_parse_argument(const struct param *table, void *config, param_given *given,
                         const char *text, size_t length, int base, const char *what,
                         struct fault *fault);

/* FAULT_CHAIN for the first required parameter that is missing. */
int param_check_required(const struct param *table, param_given given, const char *what,
                         struct fault *fault);

/* Appends the value in the form that param_set reads. */
void param_print_value(const struct param *param, const void *config, struct text *text);

/* Appends ":name=value" for each parameter that was given or has a default, in the table's order.
 */
void param_print(const struct param *table, const void *config, param_given given,
                 struct text *text);

/* Appends what the parameter accepts, for people: "a number from 1 to 4095", "edge, reflect or
 * zero"; aliases are in brackets. */
void param_print_allowed(const struct param *param, struct text *text);

/* Finds an entry by name; NULL: there is none. `index` may be NULL. */
const struct param *param_find(const struct param *table, const char *name, size_t length,
                               size_t *index);

/* The bit of the entry with that name, which the table has. */
param_given param_bit(const struct param *table, const char *name);

/* The first word with that value; NULL: there is none. */
const char *param_choice_name(const struct param_choice *choices, int value);

#endif
