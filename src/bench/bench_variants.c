/* Finds other ways to compute a chain, from its text and the tables of parameters. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

/* Parameters that choose how a result is computed, or which filter of a kind is used. With "auto"
 * or "same" the stage chooses. */
static bool is_choice_of_way(const struct param *param)
{
    static const char *const names[] = {"method", "precision", "wavelet"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(param->name, names[i]) == 0)
            return param->choices && param->type == PARAM_CHOICE;
    return false;
}

static size_t stage_length(const char *step, size_t length)
{
    const char *colon = memchr(step, ':', length);
    return colon ? (size_t)(colon - step) : length;
}

/* Prints the step `step` of `length` bytes with `varied` set to `word`, and all else as it was.
 * Every parameter is printed with its name, since positions would change. */
static bool print_step(const struct stage *stage, const char *step, size_t length,
                       const struct param *varied, const char *word, struct text *text)
{
    struct fault fault = FAULT_INIT;
    param_given given = 0;
    size_t name = stage_length(step, length);
    void *config = calloc(1, stage->config_size + 1);
    if (!config)
        return false;
    param_defaults(stage->params, config);
    int result = name < length ? param_parse(stage->params, config, &given, step + name + 1,
                                             length - name - 1, 0, stage->name, &fault)
                               : 0;
    text_append(text, stage->name);
    for (size_t i = 0; stage->params[i].name && result == 0; i++) {
        if (&stage->params[i] == varied) {
            text_printf(text, ":%s=%s", varied->name, word);
        } else if (given & (param_given)1 << i) {
            text_printf(text, ":%s=", stage->params[i].name);
            param_print_value(&stage->params[i], config, text);
        }
    }
    free(config);
    return result == 0;
}

struct list {
    struct bench_variant *v;
    size_t count;
    bool failed;
};

static void add(struct list *list, const char *begin, const char *step, size_t length,
                const struct stage *stage, const struct param *param, const char *word)
{
    struct text text = {0};
    struct bench_variant *grown = realloc(list->v, (list->count + 1) * sizeof *grown);
    if (grown)
        list->v = grown;
    text_append_bytes(&text, begin, (size_t)(step - begin));
    bool printed = print_step(stage, step, length, param, word, &text);
    text_append(&text, step + length);
    if (!grown || !printed || text.failed) {
        list->failed = true;
        text_finish(&text);
        return;
    }
    struct bench_variant *variant = &list->v[list->count++];
    snprintf(variant->name, sizeof variant->name, "%s=%s", param->name, word);
    variant->chain = text.data;
}

static void add_choices(struct list *list, const char *begin, const char *step, size_t length,
                        const struct stage *stage)
{
    for (const struct param *param = stage->params; param && param->name; param++) {
        if (!is_choice_of_way(param))
            continue;
        for (const struct param_choice *c = param->choices; c->name; c++)
            if (param_choice_name(param->choices, c->value) == c->name &&
                strcmp(c->name, "auto") != 0)
                add(list, begin, step, length, stage, param, c->name);
    }
}

int bench_variants(const char *text, struct bench_variant **variants, size_t *count,
                   struct fault *fault)
{
    struct list list = {0};
    const char *at = text;
    while (*at) {
        at += strspn(at, " ,");
        size_t length = strcspn(at, " ,");
        const struct stage *stage = stage_find(at, stage_length(at, length));
        if (stage && length > 0)
            add_choices(&list, text, at, length, stage);
        at += length;
    }
    *variants = list.v;
    *count = list.count;
    return list.failed ? fault_set(fault, FAULT_MEMORY, "no memory for variants") : 0;
}
