/* sluice bench: a table of benches by name. */
#include "cli/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands.h"

#define AT(member) offsetof(struct bench_options, member)

static const struct options_row options[] = {
    {0,
     "N",
     {.name = "iterations",
      .type = PARAM_INTEGER,
      .offset = AT(iterations),
      .min = 1,
      .max = 10000,
      .fallback = "5",
      .help = "runs that are timed, after one that is not"}},
    {0,
     "BANK",
     {.name = "bank",
      .type = PARAM_TEXT,
      .offset = AT(bank),
      .fallback = "cdf97",
      .help = "of the filter banks' benches"}},
    {0,
     NULL,
     {.name = "no-reference",
      .type = PARAM_FLAG,
      .offset = AT(no_reference),
      .fallback = "0",
      .help = "leave the plain references out"}},
    {0},
};

static const struct bench *const benches[] = {&bench_filterbank1d, &bench_filterbank2d};
#define N_BENCHES (sizeof benches / sizeof *benches)

static const struct options_usage usage = {
    .program = "sluice",
    .command = "bench",
    .operands = "[BENCH…]",
    .summary = "Times work on the device and in the plain references.",
    .details =
        "benches:\n"
        "  filterbank1d  cascades over signals of 0.6 to 8 million samples\n"
        "  filterbank2d  pictures there and back: PSNR and time by depth, single and double\n"
        "\nKernels are timed by the device's own clock; \"with i/o\" is the host's, from "
        "samples in its\nmemory to samples in its memory.\n",
    .tables = {options, cli_config_options, cli_device_options, cli_plan_options,
               cli_output_options},
};

static const struct bench *find(const char *name)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_BENCHES; i++) {
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
        nearest_offer(&nearest, name, strlen(name), benches[i]->name);
    }
    fprintf(stderr, "sluice: bench: no bench '%s'%s%s%s (see sluice bench --help)\n", name,
            nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
            nearest.best ? "'?" : "");
    return NULL;
}

static int open_device(const struct bench_options *o, struct device_options *wanted,
                       struct device **device, struct fault *fault)
{
    const struct device_info *list;
    struct engine_options engine;
    size_t count, fitting;
    cli_engine_options(&o->common, &engine);
    *wanted = engine.device;
    if (engine.reference)
        return 0;
    int result = device_list(&list, &count, fault);
    if (result != 0)
        return result;
    size_t *order = calloc(count + 1, sizeof *order);
    if (!order)
        return fault_set(fault, FAULT_MEMORY, "no memory for the list of devices");
    result = device_select(wanted, order, &fitting, fault);
    if (result == 0)
        result = device_open(device, &list[order[0]], wanted, fault);
    free(order);
    return result;
}

static void print_json(struct bench_context *context)
{
    const struct device_info *info = context->device ? device_info(context->device) : NULL;
    json_t *json = json_pack("{s:s, s:s, s:o}", "device", info ? info->name : "reference", "driver",
                             info ? info->driver : "", "rows", json_incref(context->rows));
    json_dumpf(json, cli_stdout, JSON_INDENT(1));
    fputc('\n', cli_stdout);
    json_decref(json);
}

static int run_benches(struct bench_context *context, char **names, int n, struct fault *fault)
{
    const struct device_info *info = context->device ? device_info(context->device) : NULL;
    if (!context->rows)
        fprintf(cli_stdout, "%s, %s, driver %s\n", info ? info->name : "reference",
                info ? info->platform : "plain C", info ? info->driver : "none");
    for (int i = 0; i < n; i++) {
        const struct bench *bench = find(names[i]);
        if (!context->rows)
            fprintf(cli_stdout, "\n%s: bank %s, %d iterations, medians\n", bench->name,
                    context->options->bank, (int)context->options->iterations);
        int result = bench->run(context, fault);
        if (result != 0)
            return result;
    }
    return 0;
}

int command_bench(int argc, char **argv)
{
    struct bench_options o = {0};
    struct device_options device_options;
    struct config config;
    struct fault fault = FAULT_INIT;
    const char *no_chain = NULL;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&o.common);
    if (first == argc) {
        fputs("sluice: bench: which? (see sluice bench --help)\n", stderr);
        return 64;
    }
    for (int i = first; i < argc; i++)
        if (!find(argv[i]))
            return 64;
    int status = cli_read_config(&o.common, &config, &no_chain);
    if (status != 0)
        return status;
    struct bench_context context = {
        .options = &o, .config = &config, .rows = o.common.json ? json_array() : NULL};
    int result = open_device(&o, &device_options, &context.device, &fault);
    if (result == 0)
        result = run_benches(&context, argv + first, argc - first, &fault);
    if (result == 0 && context.rows)
        print_json(&context);
    status = result == 0 ? 0 : cli_complain(NULL, &fault);
    json_decref(context.rows);
    device_close(&context.device);
    config_finish(&config);
    return status;
}
