/* Rows of one chain: as planned, in other ways, and by the references. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "bench/bench.h"
#include "chain/plan.h"
#include "chain/source.h"

/* The time that a reference may take; a picture that would take longer is shortened to fewer rows.
 */
#define REFERENCE_SECONDS 4.0

void bench_set_real(json_t *row, const char *key, double value)
{
    json_object_set_new(row, key, isfinite(value) && value >= 0 ? json_real(value) : json_null());
}

json_t *bench_row_json(const char *name, const char *variant, const struct plane *shape,
                       unsigned iterations)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:i}", "name", name, "variant", variant,
                     "width", (int)shape->width, "height", (int)shape->height, "channels",
                     (int)shape->channels, "type", sample_name(shape->type), "iterations",
                     (int)iterations);
}

/* The chain that is measured. */
struct subject {
    const struct bench_context *context;
    struct picture in;
    struct text *seen; /* programs that have a row; owned */
    size_t n_seen;
};

void bench_print_head(void)
{
    fprintf(cli_stdout, "%-34s %-16s %-20s %9s %9s %8s %8s %7s %7s %9s %8s %9s %9s\n", "chain",
            "picture", "variant", "median ms", "min ms", "MP/s", "MB", "GB/s", "of copy",
            "queued ms", "wait ms", "job ms", "bound ms");
}

static void print_ratio(double value, int width, int decimals, const char *unit)
{
    if (isfinite(value) && value >= 0)
        fprintf(cli_stdout, " %*.*f%s", width, decimals, value, unit);
    else
        fprintf(cli_stdout, " %*s", width + (int)strlen(unit), "-");
}

static void print_row(const char *name, const char *variant, const struct plane *shape,
                      const struct bench_result *r, const struct bench_time *time, bool on_device,
                      double share)
{
    char picture[48];
    snprintf(picture, sizeof picture, "%ux%ux%u %s", shape->width, shape->height, shape->channels,
             sample_name(shape->type));
    fprintf(cli_stdout, "%-34s %-16s %-20s", name, picture, variant);
    print_ratio(time->median * 1e3, 9, 3, "");
    print_ratio(time->min * 1e3, 9, 3, "");
    print_ratio((double)shape->width * shape->height * 1e-6 / time->median, 8, 0, "");
    print_ratio((double)r->bytes * 1e-6, 8, 1, "");
    print_ratio((double)r->bytes * 1e-9 / time->median, 7, 2, "");
    print_ratio(share * 100, 6, 0, "%");
    print_ratio(on_device ? r->queued * 1e3 : -1, 9, 3, "");
    print_ratio(on_device ? r->wait * 1e3 : -1, 8, 3, "");
    print_ratio(r->job.median * 1e3, 9, 3, "");
    print_ratio(on_device ? r->bound * 1e3 : -1, 9, 3, "");
    fputc('\n', cli_stdout);
    fflush(cli_stdout);
}

static void add_row(const struct subject *s, const struct chain *chain, const char *variant,
                    const struct plane *shape, const struct bench_result *r, bool on_device)
{
    struct text name = {0};
    const struct bench_time *time = on_device ? &r->kernels : &r->job;
    double rate = (double)r->bytes / time->median;
    double share = r->copy_per_second > 0 ? rate / r->copy_per_second : -1;
    unsigned iterations = on_device ? s->context->iterations : 1;
    chain_print_short(chain, &name);
    if (s->context->lines)
        print_row(text_string(&name), variant, shape, r, time, on_device, share);
    json_t *row = bench_row_json(text_string(&name), variant, shape, iterations);
    text_finish(&name);
    bench_set_real(row, "median_s", time->median);
    bench_set_real(row, "min_s", time->min);
    bench_set_real(row, "mp_per_s", (double)shape->width * shape->height * 1e-6 / time->median);
    json_object_set_new(row, "bytes", json_integer((json_int_t)r->bytes));
    bench_set_real(row, "gb_per_s", rate * 1e-9);
    bench_set_real(row, "copy_gb_per_s", on_device ? r->copy_per_second * 1e-9 : -1);
    bench_set_real(row, "share", share);
    bench_set_real(row, "best_share",
                   r->copy_best > 0 ? (double)r->bytes / time->min / r->copy_best : -1);
    bench_set_real(row, "queued_s", on_device ? r->queued : -1);
    bench_set_real(row, "wait_s", on_device ? r->wait : -1);
    bench_set_real(row, "run_s", on_device ? r->kernels.median : -1);
    bench_set_real(row, "job_median_s", r->job.median);
    bench_set_real(row, "job_min_s", r->job.min);
    json_object_set_new(row, "launches", json_integer((json_int_t)r->launches));
    json_object_set_new(row, "bytes_moved", json_integer((json_int_t)r->moved));
    bench_set_real(row, "bound_s", on_device ? r->bound : -1);
    bench_add_parts(row, r);
    bench_add_row(s->context, row, r->ran_on);
}

/* ---- other ways to compute a chain, from its text and the tables of parameters ---- */

/* Another way to compute a chain, with the same or a similar result. */
struct bench_variant {
    char name[96];
    char *chain;               /* the chain's text; owned */
    const char *step;          /* where the step that is varied begins in the text of the whole */
    const struct param *param; /* what is varied */
    struct text plan;          /* what it computes; empty: it cannot be planned; owned */
};

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
    *variant = (struct bench_variant){.step = step, .param = param};
    snprintf(variant->name, sizeof variant->name, "%s=%s", param->name, word);
    variant->chain = text.data;
}

/* The letters in front of the first digit: "db" of "db12". */
static size_t family_length(const char *name)
{
    return strcspn(name, "0123456789");
}

static bool is_of_family(const struct param_choice *choice, const char *name)
{
    size_t length = family_length(name);
    return choice->name && family_length(choice->name) == length &&
           strncmp(choice->name, name, length) == 0;
}

/* Of names that differ in their numbers only, such as those of wavelets, the first and the last
 * show what the others cost: all of them would fill pages. */
static bool is_within_family(const struct param_choice *choices, const struct param_choice *c)
{
    return c > choices && is_of_family(c - 1, c->name) && is_of_family(c + 1, c->name);
}

static void add_choices(struct list *list, const char *begin, const char *step, size_t length,
                        const struct stage *stage)
{
    for (const struct param *param = stage->params; param && param->name; param++) {
        if (!is_choice_of_way(param))
            continue;
        for (const struct param_choice *c = param->choices; c->name; c++)
            if (param_choice_name(param->choices, c->value) == c->name &&
                strcmp(c->name, "auto") != 0 && !is_within_family(param->choices, c))
                add(list, begin, step, length, stage, param, c->name);
    }
}

/* Makes variants of the chain with other values of the parameters that choose how it is computed:
 * box's method, a transform's precision and wavelet. The caller frees `*variants` and
 * each chain. */
static int find_variants(const char *text, struct bench_variant **variants, size_t *count,
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

/* ---- rows ---- */

/* What the launches of a plan compute with, beside their kernels. */
static void print_constants(const struct plan *plan, struct text *text)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct stage_plan *work = &plan->steps[i].work;
        for (unsigned k = 0; k < work->n_passes; k++)
            for (unsigned a = 0; a < work->passes[k].n_args; a++) {
                const struct pass_arg *arg = &work->passes[k].args[a];
                bool is_long = arg->kind == PASS_LONG || arg->kind == PASS_DOUBLE;
                bool is_memory = arg->kind <= PASS_TABLE;
                text_printf(text, "%d:%u:%u:%llx ", (int)arg->kind, is_memory ? arg->operand : 0,
                            is_memory ? arg->plane : 0,
                            is_memory ? 0ull
                            : is_long ? (unsigned long long)arg->l
                                      : (unsigned long long)arg->u);
            }
        for (unsigned t = 0; t < work->n_tables; t++)
            text_printf(text, "table %llx ",
                        (unsigned long long)hash_bytes(HASH_INIT, work->tables[t].data,
                                                       work->tables[t].size));
    }
}

/* Prints what the chain computes when it is planned in `way`: its kernels and their constants.
 * Nothing, if it cannot be planned. */
static void describe_plan(struct subject *s, const struct chain *chain, const struct bench_way *way,
                          struct text *text)
{
    struct plan_options options = bench_plan_options(s->context, way);
    struct program_source source = {0};
    struct plan *plan = NULL;
    if (plan_create(&plan, chain, &s->in.frame, &options, NULL) == 0 &&
        program_source_create(&source, plan, NULL) == 0) {
        text_append(text, text_string(&source.text));
        print_constants(plan, text);
    }
    program_source_finish(&source);
    plan_destroy(&plan);
}

/* True for the first plan that computes this: a form that a stage does not have is planned as one
 * that it has. */
static bool is_new(struct subject *s, const struct chain *chain, const struct bench_way *way)
{
    struct text text = {0};
    describe_plan(s, chain, way, &text);
    bool found = text.length == 0;
    for (size_t i = 0; i < s->n_seen && !found; i++)
        found = strcmp(text_string(&s->seen[i]), text_string(&text)) == 0;
    struct text *grown = found ? NULL : realloc(s->seen, (s->n_seen + 1) * sizeof *grown);
    if (grown) {
        s->seen = grown;
        s->seen[s->n_seen++] = text;
        text = (struct text){0};
    }
    text_finish(&text);
    return grown != NULL;
}

/* Adds a row of the chain planned in `way`. `variant` NULL: the row is named by its kernels' forms.
 */
static int on_device(struct subject *s, const struct chain *chain, const struct bench_way *way,
                     const char *variant, struct fault *fault)
{
    struct bench_result result;
    int code = bench_run_device(s->context, chain, &s->in, way, &result, fault);
    if (code == 0)
        add_row(s, chain, variant ? variant : result.forms, &s->in.frame.planes[0], &result, true);
    bench_result_finish(&result);
    return code;
}

/* A variant that the device or the picture does not allow is reported and left out. */
static int optional(int code, const char *variant, struct fault *fault)
{
    if (code != FAULT_SHAPE && code != FAULT_NO_DEVICE && code != FAULT_CHAIN)
        return code;
    log_info("bench: %s: %s", variant, fault->text);
    fault_clear(fault);
    return 0;
}

static int other_forms(struct subject *s, const struct chain *chain, struct fault *fault)
{
    const struct device_profile *own = device_profile(s->context->device);
    int code = 0;
    for (int form = 0; form < KERNEL_FORMS && code == 0 && !own->prebuilt; form++) {
        struct device_profile profile = *own;
        struct bench_way way = {.profile = &profile, .copy = true};
        profile.form = (enum kernel_form)form;
        if (is_new(s, chain, &way))
            code = optional(on_device(s, chain, &way, NULL, fault),
                            kernel_form_name((enum kernel_form)form), fault);
    }
    return code;
}

/* True for a variant that says something new: not when another one before computes the same, nor
 * when no value of its parameter changes anything, as with those that planes know by themselves. */
static bool is_telling(const struct bench_variant *variants, size_t count, size_t at,
                       const struct text *planned)
{
    const struct bench_variant *variant = &variants[at];
    bool telling = variant->plan.length == 0;
    for (size_t i = 0; i < count; i++)
        telling |= variants[i].step == variant->step && variants[i].param == variant->param &&
                   strcmp(text_string(&variants[i].plan), text_string(planned)) != 0;
    for (size_t i = 0; i < at && variant->plan.length > 0; i++)
        telling &= strcmp(text_string(&variants[i].plan), text_string(&variant->plan)) != 0;
    return telling;
}

static int other_ways(struct subject *s, const char *text, const struct chain *as_given,
                      struct fault *fault)
{
    static const struct bench_way as_planned = {.copy = true};
    const struct definitions *definitions = &s->context->config->definitions;
    struct bench_variant *variants;
    struct text planned = {0};
    size_t count;
    int code = find_variants(text, &variants, &count, fault);
    describe_plan(s, as_given, &as_planned, &planned);
    for (size_t i = 0; i < count; i++) {
        struct chain chain = {0};
        if (chain_parse_with(&chain, variants[i].chain, definitions, NULL) == 0)
            describe_plan(s, &chain, &as_planned, &variants[i].plan);
        chain_finish(&chain);
    }
    for (size_t i = 0; i < count; i++) {
        struct chain chain = {0};
        if (code != 0 || !is_telling(variants, count, i, &planned))
            continue;
        code = chain_parse_with(&chain, variants[i].chain, definitions, fault);
        if (code == 0)
            code = on_device(s, &chain, &as_planned, variants[i].name, fault);
        code = optional(code, variants[i].name, fault);
        chain_finish(&chain);
    }
    for (size_t i = 0; i < count; i++) {
        free(variants[i].chain);
        text_finish(&variants[i].plan);
    }
    text_finish(&planned);
    free(variants);
    return code;
}

/* The references are slow, minutes for a wide window: a strip of the picture shows how many rows
 * they have time for, and the row tells how many they got. */
static int by_reference(struct subject *s, const struct chain *chain, struct fault *fault)
{
    struct bench_result result;
    struct plane shape = s->in.frame.planes[0];
    uint32_t rows = shape.height, first = rows < 16 ? rows : 16;
    for (uint32_t height = first;; height = rows) {
        struct picture part;
        struct plane cut = shape;
        cut.height = height;
        int code = bench_picture(&part, &cut, fault);
        if (code != 0)
            return code;
        code = bench_run_reference(chain, &part, &result, fault);
        double seconds = result.job.median;
        bool last = code != 0 || height == rows;
        if (last && code == 0)
            add_row(s, chain, "reference", &part.frame.planes[0], &result, false);
        bench_result_finish(&result);
        picture_destroy(&part);
        if (last)
            return code;
        double fitting = REFERENCE_SECONDS / (seconds / height);
        rows = fitting < first ? first : fitting < rows ? (uint32_t)fitting : rows;
    }
}

static int all_rows(struct subject *s, const char *text, const struct chain *chain,
                    struct fault *fault)
{
    const struct bench_context *context = s->context;
    /* side by side there is no column for it, and its buffers would take turns with the chain's */
    bool copy = !context->beside;
    struct bench_way way = {.copy = copy}, unfused = {.no_fuse = true, .copy = copy};
    if (!context->device)
        return by_reference(s, chain, fault);
    is_new(s, chain, &way);
    int code = on_device(s, chain, &way, NULL, fault);
    if (code != 0 || !context->options->variants)
        return code;
    if (is_new(s, chain, &unfused))
        code = on_device(s, chain, &unfused, "no-fuse", fault);
    if (code == 0)
        code = other_forms(s, chain, fault);
    if (code == 0)
        code = other_ways(s, text, chain, fault);
    return code ? code : by_reference(s, chain, fault);
}

int bench_chain(const struct bench_context *context, const char *text, const struct chain *chain,
                const struct plane *shape, struct fault *fault)
{
    struct subject s = {.context = context};
    int code = bench_picture(&s.in, shape, fault);
    if (code == 0)
        code = all_rows(&s, text, chain, fault);
    for (size_t i = 0; i < s.n_seen; i++)
        text_finish(&s.seen[i]);
    free(s.seen);
    picture_destroy(&s.in);
    return code;
}
