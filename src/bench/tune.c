/* sluice tune: measures chains and their stages by size, on a device and on native, and remembers
 * the times, by which `auto` chooses for each job (chain/tuned.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench/bench.h"
#include "chain/plan.h"
#include "chain/tuned.h"
#include "device/memory.h"

#define AT(member) offsetof(struct tune_options, member)

struct tune_options {
    struct common_options common;
    const char *chain, *kinds, *cache;
};

static const struct options_row options[] = {
    OPTION('c', "CHAIN", TEXT, "chain", AT(chain),
           "the chain to measure; else all of the configuration, and without one every stage"),
    OPTION(0, "LIST", TEXT, "kinds", AT(kinds),
           "kinds of pictures to measure, type and channels of each, with commas between them",
           DEFAULT("u8x1,u8x3")),
    OPTION(
        0, "DIR", TEXT, "cache", AT(cache),
        "where to remember it; else SLUICE_CACHE_DIR, else where sluiced keeps compiled kernels"),
    {0},
};

static const struct options_usage usage = {
    .command = "tune",
    .operands = "[-c CHAIN]",
    .summary =
        "Measures chains and their stages at six sizes on the GPU and on native, and remembers "
        "which is faster; --device auto then takes that one for each job.",
    .details =
        "sluice tune --config /etc/sluice/sluice.yaml --cache /var/cache/sluice\n"
        "sluice tune -c luminance,sobel:scale=1 --kinds u8x3\n\n"
        "Times are of whole jobs, from samples in the host's memory to samples there: copying to a "
        "GPU and\nlaunching cost more than the work on small pictures. They are kept in the cache "
        "directory, by\ndevice, driver, processor and version of sluice; what another one of "
        "these has measured is ignored.\nResults do not depend on the choice. sluice plan prints "
        "it, and why.\n",
    .tables = {options, cli_config_options, cli_define_options, cli_device_options, cli_limit_options,
               cli_output_options},
};

/* A measurement takes about so long, and a size that would take longer than the second is left
 * out. */
#define MEASURE_SECONDS 0.02
#define RUN_SECONDS_MAX 2.0
#define RUNS_MAX        25
#define TURNS           3

/* A chain on pictures of a kind. */
struct task {
    struct chain chain;
    struct plane kind; /* type and channels */
    struct text name;  /* short, for the table; owned */
};

/* What is measured, and the pictures of the kind that is being measured. */
struct tuning {
    const struct tune_options *options;
    struct bench_context context;
    struct device *device, *native;
    struct tuned *tuned;
    size_t n_tasks;
    struct task *tasks;
    struct plane kind;
    struct picture pictures[TUNED_SIZES];
    json_t *rows;
};

/* ---- what to measure ---- */

static bool is_same_kind(const struct plane *a, const struct plane *b)
{
    return a->type == b->type && a->channels == b->channels;
}

static int add_task(struct tuning *tuning, const struct chain *chain, const struct plane *kind,
                    struct fault *fault)
{
    struct task task = {.kind = *kind};
    chain_print_short(chain, &task.name);
    for (size_t i = 0; i < tuning->n_tasks; i++)
        if (is_same_kind(&tuning->tasks[i].kind, kind) &&
            texts_equal(text_string(&tuning->tasks[i].name), text_string(&task.name))) {
            text_finish(&task.name);
            return 0;
        }
    struct task *grown = realloc(tuning->tasks, (tuning->n_tasks + 1) * sizeof *grown);
    if (!grown || task.name.failed) {
        tuning->tasks = grown ? grown : tuning->tasks;
        text_finish(&task.name);
        return fault_set(fault, FAULT_MEMORY, "no memory for chains");
    }
    tuning->tasks = grown;
    int result = chain_copy(&task.chain, chain, fault);
    if (result == 0)
        grown[tuning->n_tasks++] = task;
    else
        text_finish(&task.name);
    return result;
}

/* The chain as a whole, and each of its stages on what it gets there. A stage that takes several
 * planes, as idwt does, cannot be measured without those before it. A kind of picture that the
 * chain does not take is left out. */
static int add_chain(struct tuning *tuning, const struct chain *chain, const struct plane *kind,
                     struct fault *fault)
{
    const struct plan_options by_reference = {0};
    struct plane shape = *kind;
    struct frame frame = {0};
    struct plan *plan = NULL;
    int result = 0;
    shape.width = tuned_widths[3];
    shape.height = TUNED_HEIGHT_OF(shape.width);
    if (!frame_add_plane(&frame, &shape, FRAME_ALIGNMENT))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    if (plan_create(&plan, chain, &frame, &by_reference, NULL) == 0)
        result = add_task(tuning, chain, kind, fault);
    for (size_t i = 0; plan && i < chain->n_steps && i < plan->n_steps && result == 0; i++) {
        size_t before = plan->steps[i].before;
        const struct frame *in = before > 0 ? &plan->steps[before - 1].out : &plan->in;
        struct chain one = {
            .n_steps = 1, .steps = &chain->steps[i], .definitions = chain->definitions};
        size_t back = one.steps[0].back;
        one.steps[0].back = 0;
        if (in->n_planes == 1 && chain->n_steps > 1)
            result = add_task(tuning, &one, &in->planes[0], fault);
        one.steps[0].back = back;
    }
    plan_destroy(&plan);
    frame_finish(&frame);
    return result;
}

/* Reads "u8x3". */
static bool read_kind(const char *text, size_t length, struct plane *kind)
{
    char type[16] = "";
    const char *x = memchr(text, 'x', length);
    if (!x || (size_t)(x - text) >= sizeof type || x + 2 != text + length || x[1] < '1' ||
        x[1] > '0' + PLANE_CHANNELS_MAX)
        return false;
    memcpy(type, text, (size_t)(x - text));
    *kind = (struct plane){.channels = (uint32_t)(x[1] - '0')};
    return sample_find(type, &kind->type);
}

/* Returns 0, or the exit status after a complaint. */
static int add_text(struct tuning *tuning, const struct config *config, const char *text)
{
    struct chain chain = {0};
    struct faults faults = {0};
    struct fault fault = FAULT_INIT;
    int status = 0;
    if (chain_parse_results(&chain, text, &config->definitions, &faults) != 0) {
        for (size_t i = 0; i < faults_count(&faults); i++)
            status = cli_complain_chain(text, &faults.list[i]);
        return status;
    }
    for (const char *at = tuning->options->kinds; *at && !fault.code;) {
        size_t length = strcspn(at, ",");
        struct plane kind;
        if (!read_kind(at, length, &kind)) {
            chain_finish(&chain);
            return cli_refuse(64,
                              "--kinds=%s: expected types with a number of channels, as in "
                              "u8x1,u8x3,u16x4",
                              tuning->options->kinds);
        }
        add_chain(tuning, &chain, &kind, &fault);
        at += length + (at[length] == ',');
    }
    chain_finish(&chain);
    return fault.code ? cli_complain(text, &fault) : 0;
}

static int add_all(struct tuning *tuning, const struct config *config, const char *chain)
{
    const struct settings *settings = &config->settings;
    int status = 0;
    if (chain)
        return add_text(tuning, config, chain);
    for (size_t i = 0; i < settings->n_watches && status == 0; i++)
        if (settings->watches[i].chain)
            status = add_text(tuning, config, settings->watches[i].chain);
    for (size_t i = 0; i < config->n_chains && status == 0; i++)
        status = add_text(tuning, config, config->chains[i].text);
    bool every = tuning->n_tasks == 0;
    for (size_t i = 0; stage_registry[i] && every && status == 0; i++)
        if (!stage_registry[i]->internal)
            status = add_text(tuning, config,
                              stage_registry[i]->bench ? stage_registry[i]->bench
                                                       : stage_registry[i]->name);
    return status;
}

/* ---- measuring ---- */

static void drop_pictures(struct tuning *tuning)
{
    for (unsigned i = 0; i < TUNED_SIZES; i++)
        picture_destroy(&tuning->pictures[i]);
}

static int need_picture(struct tuning *tuning, const struct plane *kind, unsigned size,
                        struct fault *fault)
{
    if (!is_same_kind(&tuning->kind, kind))
        drop_pictures(tuning);
    tuning->kind = *kind;
    struct plane shape = {.width = tuned_widths[size],
                          .height = TUNED_HEIGHT_OF(tuned_widths[size]),
                          .type = kind->type,
                          .channels = kind->channels};
    return tuning->pictures[size].data ? 0 : bench_picture(&tuning->pictures[size], &shape, fault);
}

/* The median job of `runs` on a device; one that is not timed comes first. */
static int time_jobs(struct tuning *tuning, struct device *device, const struct task *task,
                     unsigned size, unsigned runs, double *seconds, struct fault *fault)
{
    static const struct bench_way as_planned = {0};
    struct bench_result result = {0};
    tuning->context.device = device;
    tuning->context.iterations = runs;
    int code = bench_run_device(&tuning->context, &task->chain, &tuning->pictures[size],
                                &as_planned, &result, fault);
    *seconds = result.job.median;
    bench_result_finish(&result);
    return code;
}

static unsigned runs_for(double seconds)
{
    double runs = MEASURE_SECONDS / (seconds > 0 ? seconds : 1e-6);
    return runs < 1 ? 1 : runs > RUNS_MAX ? RUNS_MAX : (unsigned)runs;
}

/* In turns, so that other load on the machine falls on both. The best of the turns counts. */
static int measure_size(struct tuning *tuning, const struct task *task, unsigned size,
                        struct tuned_times *times, struct fault *fault)
{
    struct device *devices[2] = {tuning->device, tuning->native};
    double *seconds[2] = {&times->device[size], &times->native[size]};
    int code = need_picture(tuning, &task->kind, size, fault);
    for (int d = 0; d < 2 && code == 0; d++)
        code = time_jobs(tuning, devices[d], task, size, 1, seconds[d], fault);
    unsigned turns = times->device[size] + times->native[size] > RUN_SECONDS_MAX / 4 ? 1 : TURNS;
    for (unsigned turn = 0; turn < turns && code == 0; turn++)
        for (int d = 0; d < 2 && code == 0; d++) {
            double again;
            code = time_jobs(tuning, devices[d], task, size, runs_for(*seconds[d]), &again, fault);
            *seconds[d] = code == 0 && again < *seconds[d] ? again : *seconds[d];
        }
    if (code != 0)
        times->device[size] = times->native[size] = 0;
    return code;
}

/* A picture for which there is no memory, or which the chain cannot take at such a size, is not
 * known; nor is anything larger. */
static int measure(struct tuning *tuning, const struct task *task, struct tuned_times *times,
                   struct fault *fault)
{
    *times = (struct tuned_times){0};
    for (unsigned i = 0; i < TUNED_SIZES; i++) {
        struct fault why = FAULT_INIT;
        uint64_t pixels = (uint64_t)tuned_widths[i] * TUNED_HEIGHT_OF(tuned_widths[i]);
        bool is_long = i > 0 && 4 * (times->device[i - 1] + times->native[i - 1]) > RUN_SECONDS_MAX;
        if (is_long || pixels > tuning->options->common.max_pixels)
            break;
        int code = measure_size(tuning, task, i, times, &why);
        if (code == FAULT_SHAPE && i < TUNED_SIZES - 1)
            continue; /* a window larger than the picture */
        if (code == FAULT_LIMIT || code == FAULT_MEMORY || code == FAULT_SHAPE)
            break;
        if (code != 0)
            return fault_set(fault, why.code, "%s: %s", text_string(&task->name), why.text);
    }
    return 0;
}

/* ---- what is printed ---- */

static json_t *seconds_json(const double *seconds)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < TUNED_SIZES; i++)
        json_array_append_new(list, seconds[i] > 0 ? json_real(seconds[i]) : json_null());
    return list;
}

static void print_times(const double *seconds)
{
    for (unsigned i = 0; i < TUNED_SIZES; i++)
        if (seconds[i] > 0)
            fprintf(cli_stdout, " %9.3f", seconds[i] * 1e3);
        else
            fprintf(cli_stdout, " %9s", "-");
}

static void give_row(struct tuning *tuning, const struct task *task,
                     const struct tuned_times *times)
{
    const struct common_options *o = &tuning->options->common;
    unsigned from = tuned_crossover(times);
    char kind[16];
    snprintf(kind, sizeof kind, "%sx%u", sample_name(task->kind.type), task->kind.channels);
    json_array_append_new(
        tuning->rows,
        json_pack("{s:s, s:s, s:i, s:o, s:o, s:o}", "chain", text_string(&task->name), "type",
                  sample_name(task->kind.type), "channels", (int)task->kind.channels, "device_s",
                  seconds_json(times->device), "native_s", seconds_json(times->native), "from",
                  from < TUNED_SIZES ? json_integer(tuned_widths[from]) : json_null()));
    if (o->json || o->quiet)
        return;
    fprintf(cli_stdout, "%-40s %-6s device", text_string(&task->name), kind);
    print_times(times->device);
    if (from < TUNED_SIZES)
        fprintf(cli_stdout, "  device from %ux%u\n%-40s %-6s native", tuned_widths[from],
                TUNED_HEIGHT_OF(tuned_widths[from]), "", "");
    else
        fprintf(cli_stdout, "  native at every size\n%-40s %-6s native", "", "");
    print_times(times->native);
    fputc('\n', cli_stdout);
    fflush(cli_stdout);
}

static int measure_all(struct tuning *tuning, struct fault *fault)
{
    struct tuned_times times;
    int result = 0;
    for (size_t i = 0; i < tuning->n_tasks && result == 0; i++) {
        const struct task *task = &tuning->tasks[i];
        result = measure(tuning, task, &times, fault);
        if (result == 0)
            result = tuned_set(tuning->tuned, &task->chain, &task->kind, &times, fault);
        if (result == 0)
            give_row(tuning, task, &times);
    }
    return result;
}

static int by_kind(const void *a_, const void *b_)
{
    const struct task *a = a_, *b = b_;
    if (a->kind.type != b->kind.type)
        return (int)a->kind.type - (int)b->kind.type;
    return (int)a->kind.channels - (int)b->kind.channels;
}

/* Returns 0, or the exit status after a complaint: before anything is measured. */
static int check_cache(const struct tune_options *o)
{
    const char *directory = device_cache_directory();
    const char *wanted = o->cache ? o->cache : getenv("SLUICE_CACHE_DIR");
    if (wanted && wanted[0] != '/')
        return cli_refuse(64, "%s: --cache and SLUICE_CACHE_DIR are absolute paths", wanted);
    if (!directory || (wanted && strcmp(directory, wanted) != 0))
        return cli_refuse(73, "%s: the cache directory cannot be written to",
                          wanted ? wanted : "no cache directory");
    return 0;
}

static int tune(struct tuning *tuning, const struct device_options *wanted)
{
    static const struct device_options native_options = {
        .select = "native", .platform_index = -1, .device_index = -1};
    const struct common_options *o = &tuning->options->common;
    const struct device_info *device, *native;
    struct fault fault = FAULT_INIT;
    uint64_t began = clock_now();
    int result = tuned_pair(wanted, &device, &native, &fault);
    if (result == 0)
        result = device_open(&tuning->device, device, wanted, &fault);
    if (result == 0)
        result = device_open(&tuning->native, native, &native_options, &fault);
    if (result == 0)
        result = tuned_create(&tuning->tuned, device, native, &fault);
    if (result != 0)
        return cli_complain(NULL, &fault);
    device_pool_limit(tuning->device, o->memory);
    device_pool_limit(tuning->native, o->memory);
    qsort(tuning->tasks, tuning->n_tasks, sizeof *tuning->tasks, by_kind);
    if (!o->json && !o->quiet) {
        fprintf(cli_stdout, "device: %s, %s, driver %s\nnative: %s, %u processors\n", device->name,
                device->platform, device->driver, native->vendor, native->compute_units);
        fprintf(cli_stdout, "%-40s %-6s %6s", "ms a job, by width, of 4 to 3", "", "");
        for (unsigned i = 0; i < TUNED_SIZES; i++)
            fprintf(cli_stdout, " %9u", tuned_widths[i]);
        fputc('\n', cli_stdout);
    }
    if (measure_all(tuning, &fault) != 0)
        return cli_complain(NULL, &fault);
    if (!tuned_store(tuning->tuned))
        return cli_refuse(73, "the times are not remembered: the cache directory cannot be written "
                              "to; --cache DIR names another one");
    double took = (double)(clock_now() - began) * 1e-9;
    if (o->json) {
        json_t *widths = json_array();
        for (unsigned i = 0; i < TUNED_SIZES; i++)
            json_array_append_new(widths, json_integer(tuned_widths[i]));
        cli_print_json(json_pack("{s:s, s:s, s:s, s:i, s:s, s:o, s:O, s:f}", "device", device->name,
                                 "driver", device->driver, "native", native->vendor, "processors",
                                 (int)native->compute_units, "cache", device_cache_directory(),
                                 "widths", widths, "rows", tuning->rows, "wall_s", took));
    } else if (!o->quiet) {
        fprintf(cli_stdout, "%zu chains remembered in %s, after %s\n", tuning->n_tasks,
                device_cache_directory(), cli_rough_time(took));
    }
    return 0;
}

static int tune_command(void *options_, char **operands, size_t count)
{
    struct tune_options *o = options_;
    struct config config;
    const char *chain = o->chain;
    struct engine_options engine;
    cli_common_apply(&o->common);
    if (o->cache)
        setenv("SLUICE_CACHE_DIR", o->cache, 1);
    int status = check_cache(o);
    if (status == 0)
        status = cli_read_definitions(&o->common, &config, &chain);
    if (status != 0)
        return status;
    config_resolve_chains(&config);
    cli_engine_options(&o->common, &engine);
    struct bench_options bench = {.common = o->common};
    struct tuning tuning = {
        .options = o, .context = {.options = &bench, .config = &config}, .rows = json_array()};
    status = engine.reference ? cli_refuse(64, "--device=reference: tune compares devices")
                              : add_all(&tuning, &config, chain);
    if (status == 0)
        status = tune(&tuning, &engine.device);
    for (size_t i = 0; i < tuning.n_tasks; i++) {
        chain_finish(&tuning.tasks[i].chain);
        text_finish(&tuning.tasks[i].name);
    }
    free(tuning.tasks);
    drop_pictures(&tuning);
    tuned_destroy(&tuning.tuned);
    device_close(&tuning.native);
    device_close(&tuning.device);
    json_decref(tuning.rows);
    config_finish(&config);
    return status;
}

const struct command command_tune = {&usage, sizeof(struct tune_options), tune_command,
                                     .no_operands = true};
