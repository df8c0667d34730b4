#include "kernels/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bank/bank.h"

void texts_add(struct texts *texts, const char *format, ...)
{
    char buffer[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    struct text *grown = realloc(texts->texts, (texts->n + 1) * sizeof *grown);
    if (grown) {
        texts->texts = grown;
        grown[texts->n] = (struct text){0};
        text_append(&grown[texts->n], buffer);
        texts->n++;
    }
    texts->failed |= !grown || grown[texts->n - 1].failed;
}

void texts_finish(struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        text_finish(&texts->texts[i]);
    free(texts->texts);
    *texts = (struct texts){0};
}

/* Numbers of every magnitude, because sums of few and of many samples need different types. */
static const double wholes[] = {0, 1, 2, 3, 16, 999, 65536};
static const double reals[] = {0, -1, 0.5, 3, 65536, 1e9, 1, 0.1, 1.3, 100.5, 255, -1000, -1e9};
enum {
    WHOLES_DENSE = 128, /* where one parameter varies, all whole numbers up to here, too */
    REALS_FEW = 6       /* the first of `reals` are enough where two parameters vary */
};
#define COUNT(list) (sizeof list / sizeof *list)

static bool is_allowed(const struct param *p, double v)
{
    return (p->min == 0 && p->max == 0) || (v >= p->min && v <= p->max);
}

static void add_number(struct texts *values, const struct param *p, double v)
{
    if (is_allowed(p, v))
        texts_add(values, "%.12g", v);
}

static void add_numbers(struct texts *values, const struct param *p, bool few)
{
    if (p->type == PARAM_INTEGER || p->type == PARAM_INTEGERS) {
        for (size_t i = 0; i < COUNT(wholes); i++)
            add_number(values, p, wholes[i]);
        for (int v = 0; v <= WHOLES_DENSE && !few; v++)
            add_number(values, p, v);
    } else {
        for (size_t i = 0; i < (few ? REALS_FEW : COUNT(reals)); i++)
            add_number(values, p, reals[i]);
    }
    if (p->max > p->min && !few) {
        add_number(values, p, p->min);
        add_number(values, p, p->max);
    }
}

/* With `few`, of more than a dozen choices the first four and every eighth. */
static void add_choices(struct texts *values, const struct param *p, bool few)
{
    size_t count = 0, index = 0;
    while (p->choices && p->choices[count].name)
        count++;
    for (size_t i = 0; i < count; i++) {
        const struct param_choice *c = &p->choices[i];
        if (strcmp(param_choice_name(p->choices, c->value), c->name) == 0 && /* no alias */
            (!few || count <= 12 || index++ < 4 || index % 8 == 0))
            texts_add(values, "%s", c->name);
    }
}

static void add_matrix(struct texts *values, unsigned columns, unsigned rows, double value)
{
    struct text matrix = {0};
    for (unsigned i = 0; i < columns * rows; i++)
        text_printf(&matrix, "%s%.12g", i == 0 ? "" : i % columns ? "_" : "/", value);
    texts_add(values, "%s", text_string(&matrix));
    values->failed |= matrix.failed;
    text_finish(&matrix);
}

static void add_matrices(struct texts *values, const struct param *p, bool few)
{
    static const unsigned char sides[][2] = {{1, 1},   {3, 3}, {5, 5}, {7, 7},
                                             {31, 31}, {3, 1}, {1, 3}, {9, 9}};
    for (size_t s = 0; s < (few ? 5 : COUNT(sides)); s++)
        for (size_t i = 0; i < (few ? REALS_FEW : COUNT(reals)); i++)
            if (is_allowed(p, reals[i]))
                add_matrix(values, sides[s][0], sides[s][1], reals[i]);
}

/* Words without choices are names of filter banks. "thirds" has an odd number of filters: kernels
 * compute two filters at a time, so it needs others. */
static void add_words(struct texts *values, const struct param *p, bool few)
{
    add_choices(values, p, few);
    for (size_t i = 0; !p->choices && bank_builtin_name(i) && (!few || i == 0); i++)
        texts_add(values, "%s", bank_builtin_name(i));
    if (!p->choices)
        texts_add(values, "@thirds");
    if (p->type == PARAM_WORDS)
        texts_add(values, "%s_%s", bank_builtin_name(0), bank_builtin_name(1));
}

void values_of(const struct param *p, bool few, struct texts *values)
{
    switch (p->type) {
    case PARAM_FLAG:
        texts_add(values, "0");
        texts_add(values, "1");
        break;
    case PARAM_INTEGERS:
        texts_add(values, "3_9_27");
        texts_add(values, "3_%.12g", p->max);
        add_numbers(values, p, few);
        break;
    case PARAM_WORD:
    case PARAM_WORDS:
        add_words(values, p, few);
        break;
    case PARAM_MATRIX:
        add_choices(values, p, few);
        add_matrices(values, p, few);
        break;
    case PARAM_REALS:
        add_choices(values, p, few);
        add_matrix(values, 3, 1, 1);
        texts_add(values, "0.299_0.587_0.11");
        break;
    case PARAM_CHOICE:
        add_choices(values, p, few);
        break;
    default:
        add_choices(values, p, few);
        add_numbers(values, p, few);
    }
}
