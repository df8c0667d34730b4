#include "param/param.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"

/* A part of the text, and where it begins in the whole. */
struct span {
    const char *text;
    size_t length;
};

static bool span_equals(struct span span, const char *word)
{
    return strlen(word) == span.length && memcmp(word, span.text, span.length) == 0;
}

static bool in_range(const struct param *param, double value)
{
    return !param_is_limited(param) || (value >= param->min && value <= param->max);
}

static const struct param_choice *find_choice(const struct param_choice *choices, struct span span)
{
    for (; choices && choices->name; choices++)
        if (span_equals(span, choices->name))
            return choices;
    return NULL;
}

const struct param *param_find(const struct param *table, const char *name, size_t length,
                               size_t *index)
{
    for (size_t i = 0; table && table[i].name; i++) {
        if (span_equals((struct span){name, length}, table[i].name)) {
            if (index)
                *index = i;
            return &table[i];
        }
    }
    return NULL;
}

/* A fault that says what `param` accepts instead of `value`, and the nearest choice, unless `meant`
 * says what was. */
static int refuse(const struct param *param, struct span value, const char *meant, const char *what,
                  struct fault *fault)
{
    struct text allowed = {0};
    struct nearest nearest = {0};
    param_print_allowed(param, &allowed);
    for (const struct param_choice *c = param->choices; c && c->name; c++)
        nearest_offer(&nearest, value.text, value.length, c->name);
    int shown = value.length > 60 ? 60 : (int)value.length;
    const char *words = text_string(&allowed);
    if (allowed.length > 250) /* too long for a fault's text: the list of wavelets */
        words = "one of those that sluice stages lists";
    int result = fault_set_at(fault, FAULT_CHAIN, 0, (int)value.length,
                              "%s: %s=%.*s: expected %s%s", what, param->name, shown, value.text,
                              words, meant[0] ? meant : nearest_ask(&nearest, ""));
    text_finish(&allowed);
    return result;
}

static bool read_real(const struct param *param, struct span value, double *result)
{
    return number_parse_real(value.text, value.length, result) && in_range(param, *result);
}

static bool read_integer(const struct param *param, struct span value, int64_t *result)
{
    return number_parse_integer(value.text, value.length, result) &&
           in_range(param, (double)*result);
}

static enum number_kind kind_of(enum param_type type)
{
    return type == PARAM_SIZE       ? NUMBER_SIZE
           : type == PARAM_DURATION ? NUMBER_DURATION
           : type == PARAM_PIXELS   ? NUMBER_PIXELS
                                    : NUMBER_PLAIN;
}

/* Takes the part of `rest` up to the first `separator`, and removes both from `rest`. */
static struct span take(struct span *rest, char separator)
{
    const char *at = memchr(rest->text, separator, rest->length);
    struct span part = {rest->text, at ? (size_t)(at - rest->text) : rest->length};
    size_t used = at ? part.length + 1 : part.length;
    *rest = (struct span){rest->text + used, rest->length - used};
    return part;
}

static unsigned count_of(struct span span, char separator)
{
    unsigned count = 1;
    for (size_t i = 0; i < span.length; i++)
        count += span.text[i] == separator;
    return count;
}

static bool read_integers(const struct param *param, struct span value,
                          struct param_integers *result)
{
    unsigned count = count_of(value, '_');
    if (count > PARAM_INTEGERS_MAX)
        return false;
    result->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!read_integer(param, take(&value, '_'), &result->v[i]))
            return false;
    return true;
}

static bool read_matrix(const struct param *param, struct span value, struct param_matrix *result)
{
    memset(result, 0, sizeof *result);
    if (param->type == PARAM_MATRIX && value.length > 1 && value.text[0] == '@') {
        if (value.length > sizeof result->reference)
            return false;
        result->choice = PARAM_IS_REFERENCE;
        memcpy(result->reference, value.text + 1, value.length - 1);
        return true;
    }
    result->choice = PARAM_IS_NUMBER;
    unsigned rows = count_of(value, '/');
    if (rows > (param->type == PARAM_REALS ? 1 : PARAM_MATRIX_SIDE))
        return false;
    result->rows = rows;
    for (unsigned r = 0; r < rows; r++) {
        struct span row = take(&value, '/');
        unsigned columns = count_of(row, '_');
        if (columns > PARAM_MATRIX_SIDE || (r > 0 && columns != result->columns))
            return false;
        result->columns = columns;
        for (unsigned c = 0; c < columns; c++)
            if (!read_real(param, take(&row, '_'), &result->v[r * columns + c]))
                return false;
    }
    return true;
}

static bool read_word(struct span value, size_t size, char *result)
{
    if (value.length == 0 || value.length >= size)
        return false;
    memcpy(result, value.text, value.length);
    result[value.length] = '\0';
    return true;
}

static bool read_value(const struct param *param, void *at, struct span value, bool bare_allowed)
{
    const struct param_choice *choice = find_choice(param->choices, value);
    switch (param->type) {
    case PARAM_INTEGER:
        return read_integer(param, value, at);
    case PARAM_REAL:
        return read_real(param, value, at);
    case PARAM_FLAG:
        if (value.length != 1 || (value.text[0] != '0' && value.text[0] != '1'))
            return false;
        *(bool *)at = value.text[0] == '1';
        return true;
    case PARAM_CHOICE:
        if (choice)
            *(int *)at = choice->value;
        return choice != NULL;
    case PARAM_REAL_OR_CHOICE: {
        struct param_scalar *scalar = at;
        *scalar = (struct param_scalar){.choice = choice ? choice->value : PARAM_IS_NUMBER};
        return choice || read_real(param, value, &scalar->value);
    }
    case PARAM_INTEGERS:
        return read_integers(param, value, at);
    case PARAM_REALS:
    case PARAM_MATRIX: {
        struct param_matrix *matrix = at;
        if (!choice)
            return read_matrix(param, value, matrix);
        memset(matrix, 0, sizeof *matrix);
        matrix->choice = choice->value;
        return true;
    }
    case PARAM_WORD:
        return read_word(value, PARAM_WORD_MAX, at);
    case PARAM_WORDS:
        return read_word(value, PARAM_WORDS_MAX, at);
    case PARAM_TEXT:
        *(const char **)at = value.text;
        return true;
    case PARAM_SIZE:
    case PARAM_DURATION:
    case PARAM_PIXELS:
        return number_parse_unit(kind_of(param->type), value.text, value.length, bare_allowed,
                                 at) &&
               in_range(param, (double)*(const uint64_t *)at);
    }
    return false;
}

int param_set(const struct param *param, void *config, const char *text, size_t length,
              bool bare_allowed, const char *what, struct fault *fault)
{
    struct span value = {text, length};
    if (read_value(param, (char *)config + param->offset, value, bare_allowed))
        return 0;
    return refuse(param, value, "", what, fault);
}

void param_defaults(const struct param *table, void *config)
{
    for (const struct param *p = table; p && p->name; p++)
        if (p->fallback)
            read_value(p, (char *)config + p->offset,
                       (struct span){p->fallback, strlen(p->fallback)}, true);
}

/* A fault about an unknown name, or a value too many. */
static int refuse_argument(const struct param *table, struct span given, bool is_name,
                           const char *what, struct fault *fault)
{
    struct nearest nearest = {0};
    struct text names = {0};
    for (const struct param *p = table; p && p->name; p++) {
        if (is_name)
            nearest_offer(&nearest, given.text, given.length, p->name);
        text_printf(&names, "%s%s", p == table ? "" : ", ", p->name);
    }
    int shown = given.length > 60 ? 60 : (int)given.length;
    int result =
        fault_set_at(fault, FAULT_CHAIN, 0, (int)given.length,
                     names.length == 0 ? "%s takes no parameters, not '%.*s'"
                     : is_name         ? "%s has no parameter '%.*s'%s (it has %s)"
                                       : "%s: one value too many: '%.*s'%s (it has %s)",
                     what, shown, given.text, nearest_ask(&nearest, ""), text_string(&names));
    text_finish(&names);
    return result;
}

/* What a value that `refused` does not take may have meant: WIDTHxHEIGHT, or another parameter's
 * name or value. "" if nothing is likely. */
static void guess_meant(const struct param *table, const struct param *refused, struct span value,
                        char *meant, size_t size)
{
    double number;
    bool is_number = number_parse_real(value.text, value.length, &number);
    meant[0] = '\0';
    const char *cross = memchr(value.text, 'x', value.length);
    if (cross && cross > value.text && table->type == PARAM_INTEGER &&
        table[1].type == PARAM_INTEGER) {
        size_t left = (size_t)(cross - value.text), right = value.length - left - 1;
        int64_t side;
        if (read_integer(table, (struct span){value.text, left}, &side) &&
            read_integer(table + 1, (struct span){cross + 1, right}, &side))
            snprintf(meant, size, "; did you mean '%.*s:%.*s'?", (int)left, value.text, (int)right,
                     cross + 1);
    }
    for (const struct param *p = table; p->name && !meant[0]; p++) {
        char text[NUMBER_TEXT_MAX];
        bool is_real = p->type == PARAM_REAL || p->type == PARAM_REAL_OR_CHOICE;
        bool whole = refused->type == PARAM_INTEGER || refused->type == PARAM_INTEGERS;
        if (span_equals(value, p->name) && p != refused)
            snprintf(meant, size, "; did you mean '%s=%s'?", p->name,
                     p->type == PARAM_FLAG ? "1" : "…");
        else if (find_choice(p->choices, value) && p != refused)
            snprintf(meant, size, "; did you mean '%s=%.*s'?", p->name, (int)value.length,
                     value.text);
        else if (is_number && is_real && whole && number != floor(number) && param_is_limited(p) &&
                 in_range(p, number))
            snprintf(meant, size, "; did you mean '%s=%s'?", p->name,
                     number_format_real(number, text));
    }
}

static int parse_argument(const struct param *table, void *config, param_given *given,
                          struct span argument, const char *what, struct fault *fault)
{
    struct span value = argument;
    size_t index = 0;
    const struct param *param;
    if (memchr(argument.text, '=', argument.length)) {
        struct span name = take(&value, '=');
        param = param_find(table, name.text, name.length, &index);
        if (!param)
            return refuse_argument(table, name, true, what, fault);
    } else {
        size_t entries = 0;
        while (table && table[entries].name)
            entries++;
        while (index < entries && *given & (param_given)1 << index)
            index++;
        if (index >= entries)
            return refuse_argument(table, argument, false, what, fault);
        param = &table[index];
    }
    if (*given & (param_given)1 << index)
        return fault_set_at(fault, FAULT_CHAIN, 0, (int)argument.length, "%s: %s is given twice",
                            what, param->name);
    *given |= (param_given)1 << index;
    if (read_value(param, (char *)config + param->offset, value, true))
        return 0;
    char meant[PARAM_WORD_MAX + 80];
    guess_meant(table, param, value, meant, sizeof meant);
    int result = refuse(param, value, meant, what, fault);
    if (fault && fault->position >= 0)
        fault->position += (int)(value.text - argument.text);
    return result;
}

int param_parse_argument(const struct param *table, void *config, param_given *given,
                         const char *text, size_t length, int base, const char *what,
                         struct fault *fault)
{
    int result = parse_argument(table, config, given, (struct span){text, length}, what, fault);
    if (result != 0 && fault && fault->position >= 0)
        fault->position += base;
    return result;
}

int param_parse_all(const struct param *table, void *config, param_given *given, const char *text,
                    size_t length, int base, const char *what, struct faults *faults)
{
    struct span rest = {text, length};
    int first = 0;
    bool more = length > 0;
    while (more) {
        struct span argument = take(&rest, ':');
        more = argument.text + argument.length < text + length; /* true when a colon follows */
        int result =
            param_parse_argument(table, config, given, argument.text, argument.length,
                                 base + (int)(argument.text - text), what, faults_next(faults));
        if (first == 0)
            first = result;
    }
    return first;
}

int param_parse(const struct param *table, void *config, param_given *given, const char *text,
                size_t length, int base, const char *what, struct fault *fault)
{
    struct faults faults = {0};
    int result = param_parse_all(table, config, given, text, length, base, what, &faults);
    return result ? faults_first(&faults, fault) : 0;
}

int param_check_required(const struct param *table, param_given given, const char *what,
                         struct fault *fault)
{
    for (size_t i = 0; table && table[i].name; i++) {
        if (!table[i].required || given & (param_given)1 << i)
            continue;
        struct text allowed = {0};
        param_print_allowed(&table[i], &allowed);
        int result = fault_set(fault, FAULT_CHAIN, "%s: %s is missing: expected %s", what,
                               table[i].name, text_string(&allowed));
        text_finish(&allowed);
        return result;
    }
    return 0;
}

/* ---- parameters as text: what they hold, and what they accept ---- */

param_given param_bit(const struct param *table, const char *name)
{
    param_given bit = 1;
    for (; strcmp(table->name, name) != 0; table++)
        bit <<= 1;
    return bit;
}

const char *param_choice_name(const struct param_choice *choices, int value)
{
    for (; choices && choices->name; choices++)
        if (choices->value == value)
            return choices->name;
    return NULL;
}

static void print_choices(const struct param_choice *choices, struct text *text)
{
    for (const struct param_choice *c = choices; c->name; c++) {
        if (param_choice_name(choices, c->value) != c->name)
            continue; /* an alias, which is printed after the word it stands for */
        text_printf(text, "%s%s", c == choices ? "" : ", ", c->name);
        const char *open = " (";
        for (const struct param_choice *alias = c + 1; alias->name; alias++) {
            if (alias->value == c->value) {
                text_printf(text, "%s%s", open, alias->name);
                open = ", ";
            }
        }
        if (open[0] == ',')
            text_append(text, ")");
    }
}

void param_print_allowed(const struct param *param, struct text *text)
{
    static const char *const kinds[] = {
        [PARAM_INTEGER] = "an integer",
        [PARAM_REAL] = "a number",
        [PARAM_FLAG] = "0 or 1",
        [PARAM_CHOICE] = "one of ",
        [PARAM_REAL_OR_CHOICE] = "a number",
        [PARAM_INTEGERS] = "integers joined by _,",
        [PARAM_REALS] = "numbers joined by _",
        [PARAM_MATRIX] =
            "@name, numbers joined by _ in rows of one length joined by / (63×63 at most)",
        [PARAM_WORD] = "a word",
        [PARAM_WORDS] = "words joined by _ in rows joined by /",
        [PARAM_TEXT] = "text",
        [PARAM_SIZE] = "a size such as 64MiB",
        [PARAM_DURATION] = "a duration such as 5s",
        [PARAM_PIXELS] = "a number of pixels such as 100MP",
    };
    text_append(text, kinds[param->type]);
    if (param_is_limited(param))
        text_printf(text, " %s", number_range(kind_of(param->type), param->min, param->max));
    if (!param->choices)
        return;
    if (param->type != PARAM_CHOICE)
        text_append(text, param->choices[1].name ? ", or one of " : ", or ");
    print_choices(param->choices, text);
}

static void print_matrix(const struct param *param, const struct param_matrix *matrix,
                         struct text *text)
{
    char number[NUMBER_TEXT_MAX];
    if (matrix->choice == PARAM_IS_REFERENCE) {
        text_printf(text, "@%s", matrix->reference);
    } else if (matrix->choice != PARAM_IS_NUMBER) {
        text_append(text, param_choice_name(param->choices, matrix->choice));
    } else {
        for (unsigned i = 0; i < matrix->rows * matrix->columns; i++)
            text_printf(text, "%s%s",
                        i == 0                ? ""
                        : i % matrix->columns ? "_"
                                              : "/",
                        number_format_real(matrix->v[i], number));
    }
}

void param_print_value(const struct param *param, const void *config, struct text *text)
{
    const void *at = (const char *)config + param->offset;
    char number[NUMBER_TEXT_MAX];
    switch (param->type) {
    case PARAM_INTEGER:
        text_printf(text, "%" PRId64, *(const int64_t *)at);
        break;
    case PARAM_REAL:
        text_append(text, number_format_real(*(const double *)at, number));
        break;
    case PARAM_FLAG:
        text_append(text, *(const bool *)at ? "1" : "0");
        break;
    case PARAM_CHOICE:
        text_append(text, param_choice_name(param->choices, *(const int *)at));
        break;
    case PARAM_REAL_OR_CHOICE: {
        const struct param_scalar *scalar = at;
        text_append(text, scalar->choice == PARAM_IS_NUMBER
                              ? number_format_real(scalar->value, number)
                              : param_choice_name(param->choices, scalar->choice));
        break;
    }
    case PARAM_INTEGERS: {
        const struct param_integers *integers = at;
        for (unsigned i = 0; i < integers->count; i++)
            text_printf(text, "%s%" PRId64, i ? "_" : "", integers->v[i]);
        break;
    }
    case PARAM_REALS:
    case PARAM_MATRIX:
        print_matrix(param, at, text);
        break;
    case PARAM_WORD:
    case PARAM_WORDS:
        text_append(text, at);
        break;
    case PARAM_TEXT:
        text_append(text, *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case PARAM_SIZE:
    case PARAM_DURATION:
    case PARAM_PIXELS:
        text_append(text, number_format_unit(kind_of(param->type), *(const uint64_t *)at, number));
        break;
    }
}

void param_print(const struct param *table, const void *config, param_given given,
                 struct text *text)
{
    for (size_t i = 0; table && table[i].name; i++) {
        if (!table[i].fallback && !(given & (param_given)1 << i))
            continue;
        text_printf(text, ":%s=", table[i].name);
        param_print_value(&table[i], config, text);
    }
}
