/* Typed parameters: one table says what a stage, a format or a command accepts, and parsing,
 * checking, printing and explaining follow from it.
 *
 * A table is an array of struct param that ends with an entry without a name. Values live in a
 * struct of the table's owner, at the offsets that the table gives; there is nothing to free.
 * Everything here is pure: no globals, any thread. */
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
    PARAM_WORD,           /* char[PARAM_WORD_MAX] */
    PARAM_WORDS,          /* char[PARAM_WORDS_MAX]: words joined by _ in rows joined by / */
    PARAM_TEXT,     /* const char *: the text itself, which must be NUL-terminated and outlive it */
    PARAM_SIZE,     /* uint64_t bytes; written 64MiB */
    PARAM_DURATION, /* uint64_t nanoseconds; written 5s */
    PARAM_PIXELS,   /* uint64_t pixels; written 100MP */
};

/* One word of a choice. Several words may have the same value: the first is the one printed, the
 * others are aliases. A list of choices ends with a NULL name. */
struct param_choice {
    const char *name;
    int value;
};

#define PARAM_IS_NUMBER    (-1) /* `choice` of a value that was given as numbers */
#define PARAM_IS_REFERENCE (-2) /* `choice` of a value that was given as @name */

struct param_scalar {
    int choice; /* a choice's value, or PARAM_IS_NUMBER */
    double value;
};

#define PARAM_INTEGERS_MAX 16
struct param_integers {
    unsigned count;
    int64_t v[PARAM_INTEGERS_MAX];
};

#define PARAM_MATRIX_SIDE 31
#define PARAM_WORD_MAX    64
#define PARAM_WORDS_MAX   256
struct param_matrix {
    int choice; /* a choice's value, PARAM_IS_NUMBER or PARAM_IS_REFERENCE */
    unsigned columns, rows;
    char reference[PARAM_WORD_MAX];                  /* the name after @ */
    double v[PARAM_MATRIX_SIDE * PARAM_MATRIX_SIDE]; /* row after row, `columns` apart */
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    double min, max;                    /* of each number; both 0: no limit beyond the type's */
    const struct param_choice *choices; /* for the types that have them */
    const char *fallback;               /* default as text; NULL: unset unless given */
    bool required;                      /* must be given; has no default */
    const char *help;                   /* one sentence: meaning and unit */
};

/* A row of a table: PARAM(INTEGER, "radius", offsetof(…), "what it is", RANGE(0, 9), DEFAULT("1")). */
#define PARAM(kind, word, at, text, ...) \
    {.name = word, .type = PARAM_##kind, .offset = at, .help = text, ##__VA_ARGS__}
#define RANGE(low, high) .min = low, .max = high
#define DEFAULT(text)    .fallback = text

/* Which parameters of a table were given: bit i for entry i. A table has at most 64 entries. */
typedef uint64_t param_given;

/* Fills `config` with the table's defaults. */
void param_defaults(const struct param *table, void *config);

/* Reads one value. `what` names the owner in errors ("stage 'box'"). With `bare_allowed`, sizes,
 * durations and pixel counts may lack their unit. Positions in faults count from `text`. */
int param_set(const struct param *param, void *config, const char *text, size_t length,
              bool bare_allowed, const char *what, struct fault *fault);

/* Reads "arg:arg:..." where an arg is `value` (the next parameter in declared order that is not
 * given yet) or `name=value`, on top of what `config` holds, and adds to `given`. An empty text
 * gives nothing. Fault positions are those in `text` plus `base`. */
int param_parse(const struct param *table, void *config, param_given *given, const char *text,
                size_t length, int base, const char *what, struct fault *fault);

/* The same, and goes on behind an argument that is wrong: all that are wrong are told. Returns the
 * first one's code. */
int param_parse_all(const struct param *table, void *config, param_given *given, const char *text,
                    size_t length, int base, const char *what, struct faults *faults);

/* FAULT_CHAIN for the first required parameter that was not given. */
int param_check_required(const struct param *table, param_given given, const char *what,
                         struct fault *fault);

/* Appends the value as param_set reads it. */
void param_print_value(const struct param *param, const void *config, struct text *text);

/* Appends ":name=value" for each parameter that is given or has a default, in declared order. */
void param_print(const struct param *table, const void *config, param_given given,
                 struct text *text);

/* Appends what the parameter accepts, for people: "a number from 1 to 4095", "edge, reflect or
 * zero", with the aliases of each choice in brackets. */
void param_print_allowed(const struct param *param, struct text *text);

/* The entry of that name, or NULL; `index` may be NULL. */
const struct param *param_find(const struct param *table, const char *name, size_t length,
                               size_t *index);

/* The first word that has `value`, or NULL. */
const char *param_choice_name(const struct param_choice *choices, int value);

#endif
