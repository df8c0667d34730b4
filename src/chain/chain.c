#include "chain/chain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "chain/tried.h"

void chain_finish(struct chain *chain)
{
    for (size_t i = 0; i < chain->n_steps; i++)
        free(chain->steps[i].config);
    free(chain->steps);
    *chain = (struct chain){0};
}

static int check_characters(const char *text, int begin, int end, struct fault *fault)
{
    for (int i = begin; i < end; i++) {
        char shown[] = {'\'', text[i], '\'', '\0'};
        if (text[i] == '%')
            return fault_set_at(fault, FAULT_CHAIN, i, 1,
                                "'%%' has no place in a chain: half is 0.5, and half the size "
                                "resize:by=0.5");
        if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr("._-/@:=", text[i])))
            return fault_set_at(fault, FAULT_CHAIN, i, 1,
                                "%s has no place in a chain, which is written like "
                                "luminance,box:radius=4; values use A-Z a-z 0-9 . _ - / @",
                                isprint((unsigned char)text[i]) ? shown
                                                                : "a character beyond ASCII");
    }
    return 0;
}

/* Parses one step, `text[begin…end)`, without blanks around it. All its arguments are checked; they
 * are checked against each other only if each one is right. */
static int parse_step(struct chain_step *step, const char *text, int begin, int end,
                      const struct definitions *definitions, struct faults *faults)
{
    char what[80];
    const char *colon = memchr(text + begin, ':', (size_t)(end - begin));
    int name_length = colon ? (int)(colon - (text + begin)) : end - begin;
    struct fault *fault = faults_next(faults);
    int result = check_characters(text, begin, begin + name_length, fault);
    if (result != 0)
        return result;
    const struct stage *stage = stage_find(text + begin, (size_t)name_length);
    if (!stage || stage->internal) {
        struct text says = {0};
        tried_explain(text + begin, (size_t)name_length, &says);
        result = fault_set_at(fault, FAULT_CHAIN, begin, name_length, "%s", text_string(&says));
        text_finish(&says);
        return result;
    }
    if ((result = check_characters(text, begin + name_length, end, fault)) != 0)
        return result;
    step->stage = stage;
    step->config = calloc(1, stage->config_size + 1);
    if (!step->config)
        return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    param_defaults(stage->params, step->config);
    snprintf(what, sizeof what, "stage '%s'", stage->name);
    if (colon) {
        int args = begin + name_length + 1;
        if (args == end)
            return fault_set_at(fault, FAULT_CHAIN, end - 1, 1, "%s: nothing follows the colon",
                                what);
        result = param_parse_all(stage->params, step->config, &step->given, text + args,
                                 (size_t)(end - args), args, what, faults);
        if (result != 0)
            return result;
    }
    result = param_check_required(stage->params, step->given, what, fault);
    if (stage->define)
        stage->define(step->config, definitions);
    if (result == 0 && stage->complete)
        result = stage->complete(step->config, &step->given, fault);
    if (result != 0 && fault && fault->position < 0) { /* about the step as a whole */
        fault->position = begin;
        fault->length = end - begin;
    }
    return result;
}

/* Parses all steps, also after a wrong one, unless memory is out. */
static int parse_steps(struct chain *chain, const char *text, int length, struct faults *faults)
{
    int first = 0;
    for (int at = 0, next = 0; next <= length; at = next) {
        const char *comma = memchr(text + at, ',', (size_t)(length - at));
        int end = comma ? (int)(comma - text) : length, result;
        next = end + 1;
        while (at < end && isspace((unsigned char)text[at]))
            at++;
        while (end > at && isspace((unsigned char)text[end - 1]))
            end--;
        struct chain_step *steps =
            realloc(chain->steps, (chain->n_steps + 1) * sizeof *chain->steps);
        if (!steps)
            return fault_set(faults_next(faults), FAULT_MEMORY, "no memory for a chain");
        chain->steps = steps;
        if (at == end) {
            result =
                fault_set_at(faults_next(faults), FAULT_CHAIN, at < length ? at : length - 1, 1,
                             at < length ? "a stage is missing here"
                                         : "a stage is missing behind the comma; a chain with "
                                           "blanks in it needs quotes");
        } else if (chain->n_steps == CHAIN_STEPS_MAX) {
            return fault_set_at(faults_next(faults), FAULT_CHAIN, at, end - at,
                                "more than %d stages", CHAIN_STEPS_MAX);
        } else {
            chain->steps[chain->n_steps] = (struct chain_step){0};
            result = parse_step(&chain->steps[chain->n_steps++], text, at, end, chain->definitions,
                                faults);
        }
        if (first == 0)
            first = result;
        if (result == FAULT_MEMORY)
            break;
    }
    return first;
}

int chain_parse(struct chain *chain, const char *text, struct fault *fault)
{
    return chain_parse_with(chain, text, NULL, fault);
}

int chain_parse_with(struct chain *chain, const char *text, const struct definitions *definitions,
                     struct fault *fault)
{
    struct faults faults = {0};
    int result = chain_parse_all(chain, text, definitions, &faults);
    return result ? faults_first(&faults, fault) : 0;
}

int chain_parse_all(struct chain *chain, const char *text, const struct definitions *definitions,
                    struct faults *faults)
{
    struct chain parsed = {.definitions = definitions};
    size_t length = strlen(text);
    *chain = parsed;
    if (length > CHAIN_TEXT_MAX)
        return fault_set(faults_next(faults), FAULT_CHAIN, "a chain of %s; the limit is %s",
                         number_size(length), number_size(CHAIN_TEXT_MAX));
    if (strspn(text, " \t\r\n") == length)
        return 0;
    int result = parse_steps(&parsed, text, (int)length, faults);
    if (result != 0)
        chain_finish(&parsed);
    *chain = parsed;
    return result;
}

/* Parameters are plain data: what they point to belongs to the definitions. */
int chain_copy(struct chain *chain, const struct chain *from, struct fault *fault)
{
    *chain = (struct chain){.definitions = from->definitions};
    if (from->n_steps == 0)
        return 0;
    chain->steps = calloc(from->n_steps, sizeof *chain->steps);
    while (chain->steps && chain->n_steps < from->n_steps) {
        struct chain_step *to = &chain->steps[chain->n_steps];
        *to = from->steps[chain->n_steps];
        to->config = malloc(to->stage->config_size + 1);
        if (!to->config)
            break;
        memcpy(to->config, from->steps[chain->n_steps++].config, to->stage->config_size + 1);
    }
    if (chain->n_steps == from->n_steps)
        return 0;
    chain_finish(chain);
    return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
}

struct stage_source chain_source(const struct chain *chain, const struct plane *whole,
                                 enum video_matrix luma)
{
    struct stage_source source = {.reduce = 1, .matrix = luma};
    for (size_t i = 0; i < chain->n_steps; i++) {
        const struct chain_step *step = &chain->steps[i];
        if (!step->stage->source || !step->stage->source(step->config, whole, &source))
            break;
    }
    return source;
}

void chain_print(const struct chain *chain, struct text *text)
{
    for (size_t i = 0; i < chain->n_steps; i++) {
        const struct chain_step *step = &chain->steps[i];
        text_printf(text, "%s%s", i ? "," : "", step->stage->name);
        param_print(step->stage->params, step->config, step->given, text);
    }
}

void chain_print_short(const struct chain *chain, struct text *text)
{
    for (size_t i = 0; i < chain->n_steps; i++) {
        const struct chain_step *step = &chain->steps[i];
        const struct param *params = step->stage->params;
        text_printf(text, "%s%s", i ? "," : "", step->stage->name);
        for (size_t p = 0; params && params[p].name; p++) {
            bool has_value = params[p].fallback || (step->given & (param_given)1 << p);
            struct text value = {0};
            if (has_value)
                param_print_value(&params[p], step->config, &value);
            if (has_value &&
                (!params[p].fallback || strcmp(text_string(&value), params[p].fallback) != 0))
                text_printf(text, ":%s=%s", params[p].name, text_string(&value));
            text->failed |= value.failed;
            text_finish(&value);
        }
    }
}
