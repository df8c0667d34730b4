/* Parameters as text: what they hold, and what they accept. */
#include "param/param.h"

#include <inttypes.h>

#include "base/number.h"

static const void *field_const(const struct param *param, const void *config)
{
    return (const char *)config + param->offset;
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

static enum number_kind kind_of(enum param_type type)
{
    return type == PARAM_SIZE       ? NUMBER_SIZE
           : type == PARAM_DURATION ? NUMBER_DURATION
           : type == PARAM_PIXELS   ? NUMBER_PIXELS
                                    : NUMBER_PLAIN;
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
            "@name, numbers joined by _ in rows of one length joined by / (31×31 at most)",
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

static void print_integers(const struct param_integers *integers, struct text *text)
{
    for (unsigned i = 0; i < integers->count; i++)
        text_printf(text, "%s%" PRId64, i ? "_" : "", integers->v[i]);
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
    const void *at = field_const(param, config);
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
    case PARAM_INTEGERS:
        print_integers(at, text);
        break;
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
        text_append(text, number_format_size(*(const uint64_t *)at, number));
        break;
    case PARAM_DURATION:
        text_append(text, number_format_duration(*(const uint64_t *)at, number));
        break;
    case PARAM_PIXELS:
        text_append(text, number_format_pixels(*(const uint64_t *)at, number));
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
