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
    free(chain->ends);
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
        if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr("._-/@:=*", text[i])))
            return fault_set_at(fault, FAULT_CHAIN, i, 1,
                                "%s has no place in a chain, which is written like "
                                "luminance,box:radius=4; values use A-Z a-z 0-9 . _ - / @",
                                isprint((unsigned char)text[i]) ? shown
                                                                : "a character beyond ASCII");
    }
    return 0;
}

/* What every stage takes, whatever its own parameters are. */
static const struct param general[] = {
    PARAM(WORD, "only", offsetof(struct chain_step, only),
          "of several planes those to change, by their names: HH*, or HL*/LH*"),
    {0},
};

/* Parses the arguments `text[begin…end)`, which all are checked. */
static int parse_arguments(struct chain_step *step, const char *text, int begin, int end,
                           const char *what, struct faults *faults)
{
    param_given given = 0;
    int first = 0;
    for (int at = begin, next; at <= end; at = next) {
        const char *colon = memchr(text + at, ':', (size_t)(end - at));
        next = (colon ? (int)(colon - text) : end) + 1;
        bool is_general = strncmp(text + at, "only=", 5) == 0;
        int result = param_parse_argument(is_general ? general : step->stage->params,
                                          is_general ? step : step->config,
                                          is_general ? &given : &step->given, text + at,
                                          (size_t)(next - 1 - at), at, what, faults_next(faults));
        first = first ? first : result;
    }
    return first;
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
    if (stage->kind)
        memcpy(step->config, &stage->kind, sizeof stage->kind);
    param_defaults(stage->params, step->config);
    snprintf(what, sizeof what, "stage '%s'", stage->name);
    if (colon) {
        int args = begin + name_length + 1;
        if (args == end)
            return fault_set_at(fault, FAULT_CHAIN, end - 1, 1, "%s: nothing follows the colon",
                                what);
        result = parse_arguments(step, text, args, end, what, faults);
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

size_t chain_count_results(const struct chain *chain)
{
    return chain->n_ends ? chain->n_ends : 1;
}

size_t chain_end(const struct chain *chain, size_t result)
{
    return chain->n_ends ? chain->ends[result] : chain->n_steps;
}

size_t chain_step_before(const struct chain *chain, size_t number)
{
    return number - 1 - chain->steps[number - 1].back;
}

/* Appends a copy. Parameters are plain data: what they point to belongs to the definitions. */
static bool append_step(struct chain *chain, const struct chain_step *step, size_t back)
{
    size_t size = step->stage->config_size + 1;
    void *config = malloc(size);
    if (!config)
        return false;
    struct chain_step *to = &chain->steps[chain->n_steps++];
    *to = *step;
    to->config = memcpy(config, step->config, size);
    to->back = back;
    return true;
}

int chain_copy(struct chain *chain, const struct chain *from, struct fault *fault)
{
    *chain = (struct chain){.definitions = from->definitions};
    chain->steps = calloc(from->n_steps + 1, sizeof *chain->steps);
    chain->ends = from->n_ends ? calloc(from->n_ends, sizeof *chain->ends) : NULL;
    bool copied = chain->steps && (chain->ends || !from->n_ends);
    while (copied && chain->n_steps < from->n_steps)
        copied = append_step(chain, &from->steps[chain->n_steps], from->steps[chain->n_steps].back);
    if (copied && from->n_ends)
        memcpy(chain->ends, from->ends, from->n_ends * sizeof *chain->ends);
    chain->n_ends = from->n_ends;
    if (copied)
        return 0;
    chain_finish(chain);
    return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
}

static void print_step(const struct chain_step *step, struct text *text)
{
    text_append(text, step->stage->name);
    param_print(step->stage->params, step->config, step->given, text);
    if (step->only[0])
        text_printf(text, ":only=%s", step->only);
}

static bool is_same(const struct chain_step *a, const struct chain_step *b, bool *failed)
{
    struct text first = {0}, second = {0};
    if (a->stage != b->stage)
        return false;
    print_step(a, &first);
    print_step(b, &second);
    bool same = strcmp(text_string(&first), text_string(&second)) == 0;
    *failed |= first.failed || second.failed;
    text_finish(&first);
    text_finish(&second);
    return same;
}

/* The number of the step like this one that takes the result of step `before`; 0: there is none. */
static size_t find_branch(const struct chain *tree, size_t before, const struct chain_step *step,
                          bool *failed)
{
    for (size_t number = before + 1; number <= tree->n_steps; number++)
        if (chain_step_before(tree, number) == before &&
            is_same(&tree->steps[number - 1], step, failed))
            return number;
    return 0;
}

int chain_join(struct chain *tree, const struct chain *chains, size_t count, struct fault *fault)
{
    size_t most = 0;
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        most += chains[i].n_steps;
    *tree = (struct chain){0};
    if (count > CHAIN_RESULTS_MAX)
        return fault_set(fault, FAULT_LIMIT, "%zu results of one picture; the limit is %d", count,
                         CHAIN_RESULTS_MAX);
    struct chain joined = {.definitions = chains[0].definitions,
                           .steps = calloc(most + 1, sizeof *joined.steps),
                           .ends = calloc(count, sizeof *joined.ends)};
    failed = !joined.steps || !joined.ends;
    for (size_t i = 0; i < count && !failed; i++) {
        size_t at = 0; /* the number of the step that the tree has for those so far */
        for (size_t k = 0; k < chains[i].n_steps && !failed; k++) {
            size_t next = find_branch(&joined, at, &chains[i].steps[k], &failed);
            if (next == 0 && !failed) {
                failed = !append_step(&joined, &chains[i].steps[k], joined.n_steps - at);
                next = joined.n_steps;
            }
            at = next;
        }
        joined.ends[joined.n_ends++] = at;
    }
    if (!failed) {
        *tree = joined;
        return 0;
    }
    chain_finish(&joined);
    return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
}

int chain_parse_results(struct chain *tree, const char *text, const struct definitions *definitions,
                        struct faults *faults)
{
    struct chain chains[CHAIN_RESULTS_MAX] = {0};
    size_t count = text_count_parts(text), length;
    int result = 0;
    *tree = (struct chain){.definitions = definitions};
    if (count > CHAIN_RESULTS_MAX)
        return fault_set(faults_next(faults), FAULT_CHAIN,
                         "%zu results of one picture; the limit is %d", count, CHAIN_RESULTS_MAX);
    for (size_t i = 0; i < count && result != FAULT_MEMORY; i++) {
        const char *part = text_find_part(text, i, &length);
        struct faults own = {0};
        char *alone = strndup(part, length);
        int failed = alone ? chain_parse_all(&chains[i], alone, definitions, &own)
                           : fault_set(faults_next(&own), FAULT_MEMORY, "no memory for a chain");
        for (size_t k = 0; k < faults_count(&own); k++) { /* their places in the whole text */
            const struct fault *fault = &own.list[k];
            fault_set_at(faults_next(faults), fault->code,
                         fault->position < 0 ? -1 : fault->position + (int)(part - text),
                         fault->length, "%s", fault->text);
        }
        result = result && failed != FAULT_MEMORY ? result : failed;
        free(alone);
    }
    if (result == 0)
        result = chain_join(tree, chains, count, faults_next(faults));
    for (size_t i = 0; i < count; i++)
        chain_finish(&chains[i]);
    return result;
}

/* The numbers of the steps on the way to a result, in their order; returns how many. */
static size_t find_way(const struct chain *chain, size_t result, size_t way[CHAIN_STEPS_MAX])
{
    size_t count = 0;
    for (size_t at = chain_end(chain, result); at > 0; at = chain_step_before(chain, at))
        count++;
    size_t place = count;
    for (size_t at = chain_end(chain, result); at > 0; at = chain_step_before(chain, at))
        way[--place] = at;
    return count;
}

struct stage_source chain_source(const struct chain *chain, const struct plane *whole,
                                 enum video_matrix luma)
{
    struct stage_source all = {.reduce = 1, .matrix = luma};
    for (size_t r = 0; r < chain_count_results(chain); r++) {
        struct stage_source source = {.reduce = 1, .matrix = luma};
        size_t way[CHAIN_STEPS_MAX], count = find_way(chain, r, way);
        for (size_t i = 0; i < count; i++) {
            const struct chain_step *step = &chain->steps[way[i] - 1];
            if (step->only[0] || !step->stage->source ||
                !step->stage->source(step->config, whole, &source))
                break;
        }
        if (r == 0)
            all = source;
        all.luma &= source.luma;
        all.reduce = source.reduce < all.reduce ? source.reduce : all.reduce;
    }
    return all;
}

void chain_print(const struct chain *chain, struct text *text)
{
    for (size_t r = 0; r < chain_count_results(chain); r++) {
        size_t way[CHAIN_STEPS_MAX], count = find_way(chain, r, way);
        text_append(text, r ? ";" : "");
        for (size_t i = 0; i < count; i++) {
            text_append(text, i ? "," : "");
            print_step(&chain->steps[way[i] - 1], text);
        }
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
        if (step->only[0])
            text_printf(text, ":only=%s", step->only);
    }
}
