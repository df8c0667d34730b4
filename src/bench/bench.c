/* sluice bench: measures stages, chains and whole files. */
#include "bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "device/memory.h"
#include "version.h"
#include "worker/describe.h"

#define AT(member) offsetof(struct bench_options, member)

static const struct options_row options[] = {
    OPTION('c', "CHAIN", TEXT, "chain", AT(chain), "the chain to time, in place of stages"),
    OPTION(0, "WxH[xC]", TEXT, "size", AT(size),
           "size of the picture; 3 channels if the chain begins with luminance, else 1",
           DEFAULT("4096x4096")),
    OPTION(0, "TYPE", TEXT, "type", AT(type),
           "type of its samples: u8, i8, u16, i16, i32, f32, f64; else u8"),
    OPTION(0, "N", INTEGER, "iterations", AT(iterations),
           "number of timed runs, after one that is not timed; else 20, for files and banks 5",
           RANGE(1, 10000)),
    OPTION(0, NULL, FLAG, "variants", AT(variants),
           "time the alternatives, too: each form of the kernels, box's methods, each precision, "
           "of each family of wavelets the first and the last, the plain references"),
    OPTION(0, "FILE", TEXT, "report", AT(report),
           "also write all rows to a file, with the device, the versions of driver and kernel, "
           "clocks and "
           "temperatures, to share with others"),
    OPTION(0, "NAME", TEXT, "board", AT(board),
           "the board on which this runs (names as for sluice plan --board), to print the least "
           "time that kernels can take beside the measured one; else as the device tree says"),
    OPTION(0, NULL, FLAG, "end-to-end", AT(end_to_end),
           "the operands are files: time them from disk through the chain to disk"),
    OPTION('f', "FORMAT", TEXT, "format", AT(format),
           "format of end-to-end's results, with options: jpg:quality=80", DEFAULT("png")),
    OPTION(0, "OPTIONS", TEXT, "input", AT(input),
           "options for reading with end-to-end, as in sluice run"),
    OPTION(0, "BANK", TEXT, "bank", AT(bank), "of filterbank1d and filterbank2d", DEFAULT("cdf97")),
    OPTION(0, NULL, FLAG, "no-reference", AT(no_reference),
           "do not time the plain references of filterbank1d"),
    {0},
};

static const struct bench *const benches[] = {&bench_filterbank1d, &bench_filterbank2d,
                                              &bench_widths, &bench_sizes};
#define N_BENCHES (sizeof benches / sizeof *benches)

static const struct options_usage usage = {
    .command = "bench",
    .operands = "[STAGE…|-c CHAIN] [--end-to-end FILE…]",
    .summary = "Times stages, chains and whole files; without operands, every stage.",
    .details =
        "sluice bench sobel box:radius=50\n"
        "sluice bench --variants -c luminance,sobel:scale=1 --size 1920x1080\n"
        "sluice bench -c luminance,sobel:scale=1 -f jpg --end-to-end photo.jpg\n"
        "sluice bench --device native,gpu,reference sizes\n\n"
        "Kernels are timed by the device's own clock. queued: until the first one was submitted "
        "to the device;\nwait: from then until it started; median and min: the time that all of "
        "them ran. job is timed by the\nhost's clock, from samples in its memory to samples in its "
        "memory. MB is what has to be moved: the\ninput read once, the result written once. copy "
        "compares with a kernel that reads and writes as many\nbytes, run in turn with the chain."
        "\n\n"
        "Several devices, joined by commas, are measured one after the other and printed side by "
        "side: "
        "kernels, and\njobs. auto goes by what sluice tune has measured.\n\n"
        "benches with tables of their own:\n"
        "  filterbank1d  cascades over signals of 0.6 to 8 million samples, single and double\n"
        "  filterbank2d  pictures there and back: PSNR and time by depth and by step, single and "
        "double\n"
        "  widths        box over 1024x1024 RGBA by its width: separable, by a table, and every "
        "sample\n                of the window by itself\n"
        "  sizes         fir and sobel over pictures of 256x256 to 8192x8192; what sobel takes on "
        "Mali with\n"
        "                vectors and without, counted\n"
        "Of these, pictures and signals of more than --max-pixels are left out.\n",
    .tables = {options, cli_config_options, cli_define_options, cli_device_options, cli_binary_options,
               cli_limit_options, cli_plan_options, cli_output_options},
};

/* ---- facts about the machine for reports, from /proc and /sys; missing ones are left out ---- */

/* Adds a file's first line, if there is one. In a list of names that each end with NUL, blanks
 * replace the NULs. */
static void add_line(json_t *to, const char *key, const char *folder, const char *file)
{
    char path[600], line[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    size_t length = file_read_text(path, line, sizeof line);
    for (size_t i = 0; i + 1 < length; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[strcspn(line, "\n")] = '\0';
    if (length > 0)
        json_object_set_new(to, key, json_string(line));
}

/* These files of each entry of `folder`, as an array of objects in no certain order. */
struct wanted {
    const char *key, *file;
};
static json_t *entries_of(const char *folder, const struct wanted *wanted, size_t count)
{
    json_t *entries = json_array();
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        json_t *one = json_object();
        for (size_t i = 0; i < count; i++)
            add_line(one, wanted[i].key, path, wanted[i].file);
        if (json_object_size(one) > 0) {
            json_object_set_new(one, "name", json_string(entry->d_name));
            json_array_append_new(entries, one);
        } else {
            json_decref(one);
        }
    }
    if (stream)
        closedir(stream);
    return entries;
}

/* Its clocks and temperatures now. */
static json_t *state_json(void)
{
    static const struct wanted clock[] = {
        {"hz", "cur_freq"}, {"max_hz", "max_freq"}, {"governor", "governor"}};
    static const struct wanted processor[] = {{"khz", "scaling_cur_freq"},
                                              {"max_khz", "cpuinfo_max_freq"},
                                              {"governor", "scaling_governor"}};
    static const struct wanted zone[] = {{"type", "type"}, {"millicelsius", "temp"}};
    return json_pack("{s:o, s:o, s:o}", "clocks", entries_of("/sys/class/devfreq", clock, 3),
                     "processors", entries_of("/sys/devices/system/cpu/cpufreq", processor, 3),
                     "temperatures", entries_of("/sys/class/thermal", zone, 2));
}

/* What figures can depend on: versions of the system. */
static json_t *system_json(void)
{
    static const char *const drivers[] = {"mali_kbase", "panfrost", "panthor"};
    struct utsname names;
    json_t *system = json_object();
    if (uname(&names) == 0)
        json_object_update_new(system, json_pack("{s:s, s:s, s:s}", "kernel", names.release,
                                                 "build", names.version, "machine", names.machine));
    add_line(system, "model", "/proc/device-tree", "model");
    add_line(system, "compatible", "/proc/device-tree", "compatible");
    add_line(system, "gpu", "/sys/class/misc/mali0/device", "gpuinfo");
    json_object_set_new(system, "processors", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(system, "memory",
                        json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
    json_t *loaded = json_array();
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/sys/module/%s", drivers[i]);
        if (access(folder, F_OK) != 0)
            continue;
        json_t *one = json_pack("{s:s}", "name", drivers[i]);
        add_line(one, "version", folder, "version");
        json_array_append_new(loaded, one);
    }
    json_object_set_new(system, "drivers", loaded);
    return system;
}

/* ---- the command ---- */

static const struct bench *find_bench(const char *name)
{
    for (size_t i = 0; i < N_BENCHES; i++)
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
    return NULL;
}

/* A single word may be meant as a stage or a bench. Anything else is a chain, whose parser reports
 * mistakes. */
static bool is_known_word(const char *word)
{
    struct nearest nearest = {0};
    if (strpbrk(word, ":, ") || find_bench(word) || stage_find(word, strlen(word)))
        return true;
    for (size_t i = 0; i < N_BENCHES; i++)
        nearest_offer(&nearest, word, strlen(word), benches[i]->name);
    for (size_t i = 0; stage_registry[i]; i++)
        if (!stage_registry[i]->internal)
            nearest_offer(&nearest, word, strlen(word), stage_registry[i]->name);
    fprintf(stderr, "sluice: bench: no stage '%s'%s (see sluice stages, sluice bench --help)\n",
            word, nearest_ask(&nearest, ""));
    return false;
}

/* Returns 0, or the exit status after a complaint. */
static int check_options(const struct bench_options *o, char **names, size_t count)
{
    enum sample_type type;
    struct plane size;
    if (!plane_parse_size(o->size, &size))
        return cli_refuse(64,
                          "--size=%s: expected WIDTHxHEIGHT[xCHANNELS], 1 to 4 channels (see "
                          "sluice bench --help)",
                          o->size);
    bool tables = count > 0; /* they have sizes of their own */
    for (size_t i = 0; i < count; i++)
        tables &= find_bench(names[i]) != NULL;
    if (!tables && (uint64_t)size.width * size.height > o->common.max_pixels)
        return cli_refuse(65, "--size=%s: more pixels than --max-pixels allows", o->size);
    if (o->type && !sample_find(o->type, &type))
        return cli_refuse(64, "--type=%s: expected u8, i8, u16, i16, i32, f32 or f64", o->type);
    if (o->end_to_end && count == 0)
        return cli_refuse(64, "bench: --end-to-end times files: which? (see sluice bench --help)");
    if (!o->end_to_end && o->chain && count > 0)
        return cli_refuse(64, "bench: either -c or stages, not both: %s", names[0]);
    for (size_t i = 0; i < count && !o->end_to_end; i++)
        if (!is_known_word(names[i]))
            return 64;
    return 0;
}

/* The picture for a chain: --size and --type; what they leave open comes from the chain's first
 * stage. */
static struct plane shape_for(const struct bench_options *o, const char *text)
{
    struct plane shape;
    const struct stage *first = stage_find(text, strcspn(text, ":, "));
    plane_parse_size(o->size, &shape);
    if (first && first->bench_channels > 0 && !strchr(strchr(o->size, 'x') + 1, 'x'))
        shape.channels = first->bench_channels;
    if (o->type)
        sample_find(o->type, &shape.type);
    else if (first)
        shape.type = first->bench_type;
    return shape;
}

static int open_device(const struct bench_options *o, struct device_options *wanted,
                       struct device **device, struct fault *fault)
{
    struct engine_options engine;
    cli_engine_options(&o->common, &engine);
    *wanted = engine.device;
    if (engine.reference)
        return 0;
    int result = device_open_best(device, wanted, fault);
    if (result == 0) /* as in the engine, runs use memory that was allocated before */
        device_pool_limit(*device, engine.memory);
    return result;
}

/* Adds to a report what the rows of --json do not have. */
static int write_report(const struct bench_context *context, const struct device *device,
                        json_t *report)
{
    const char *path = context->options->report;
    const struct device_info *info = device ? device_info(device) : NULL;
    struct fault fault = FAULT_INIT;
    json_object_set_new(report, "sluice", json_string(SLUICE_VERSION));
    json_object_set_new(report, "board",
                        context->board ? json_string(context->board->name) : json_null());
    json_object_set_new(report, "opencl", info ? describe_device(info, true) : json_null());
    json_object_set_new(report, "system", system_json());
    json_object_set(report, "before", context->before);
    json_object_set_new(report, "after", state_json());
    if (json_dumpfd(report, context->report->fd, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0)
        fault_set(&fault, FAULT_IO, "cannot be written: %s", strerror(errno));
    else if (file_draft_commit(context->report, false, &fault) == 0)
        return 0;
    return cli_complain(path, &fault);
}

int bench_give_rows(const struct bench_context *context, const struct device *device)
{
    const struct device_info *info = device ? device_info(device) : NULL;
    const char *name = context->beside ? context->select : info ? info->name : "reference";
    json_t *json = json_pack("{s:s, s:s, s:O}", "device", name, "driver", info ? info->driver : "",
                             "rows", context->rows);
    if (context->options->common.json)
        cli_print_json(json_incref(json));
    int status = context->options->report ? write_report(context, device, json) : 0;
    json_decref(json);
    return status;
}

static int run_bench(struct bench_context *context, const struct bench *bench, struct fault *fault)
{
    unsigned iterations = context->iterations;
    if (!context->options->iterations)
        context->iterations = 5;
    if (context->lines && bench->has_bank)
        fprintf(cli_stdout, "\n%s: bank %s, %u iterations, medians\n", bench->name,
                context->options->bank, context->iterations);
    else if (context->lines)
        fprintf(cli_stdout, "\n%s: %u iterations, medians\n", bench->name, context->iterations);
    int result = bench->run(context, fault);
    context->iterations = iterations;
    return result;
}

/* Returns 0, or the exit status after a complaint. */
static int run_one(struct bench_context *context, const char *text)
{
    struct fault fault = FAULT_INIT;
    const struct bench *bench = find_bench(text);
    if (bench)
        return run_bench(context, bench, &fault) == 0 ? 0 : cli_complain(NULL, &fault);
    struct plane shape = shape_for(context->options, text);
    struct chain chain;
    int status = cli_parse_chain(&chain, text, &context->config->definitions);
    if (status == 0 && bench_chain(context, text, &chain, &shape, &fault) != 0)
        status = cli_complain(text, &fault);
    chain_finish(&chain);
    return status;
}

static int run_all(struct bench_context *context, const char *chain, char **names, size_t count)
{
    const struct device_info *info = context->device ? device_info(context->device) : NULL;
    int status = 0;
    if (context->lines) {
        fprintf(cli_stdout, "%s, %s, driver %s; %u iterations\n", info ? info->name : "reference",
                info ? info->platform : "plain C", info ? info->driver : "none",
                context->iterations);
        if (count == 0 || !find_bench(names[0]))
            bench_print_head();
    }
    if (chain)
        return run_one(context, chain);
    for (size_t i = 0; i < count && status == 0; i++) {
        const struct stage *stage = stage_find(names[i], strlen(names[i]));
        status = run_one(context, stage && stage->bench ? stage->bench : names[i]);
    }
    for (size_t i = 0; stage_registry[i] && count == 0 && status == 0; i++)
        if (!stage_registry[i]->internal)
            status = run_one(context, stage_registry[i]->bench ? stage_registry[i]->bench
                                                               : stage_registry[i]->name);
    return status;
}

void bench_add_row(const struct bench_context *context, json_t *row,
                   const struct device_info *ran_on)
{
    json_object_set_new(row, "device", json_string(context->select));
    json_object_set_new(row, "ran_on", ran_on ? json_string(ran_on->name) : json_null());
    json_array_append_new(context->rows, row);
}

/* With auto: native, and what sluice tune has measured, if it has. */
static int open_native(struct bench_context *context, const struct device_options *wanted,
                       struct tuned **tuned, struct fault *fault)
{
    static const struct device_options by_name = {
        .select = "native", .platform_index = -1, .device_index = -1};
    const struct device_info *device, *native;
    struct fault none = FAULT_INIT;
    if (!context->device || !tuned_may_choose(wanted) || !device_may_load(wanted) ||
        tuned_pair(wanted, &device, &native, &none) != 0)
        return 0;
    int result = tuned_create(tuned, device_info(context->device), native, fault);
    if (result == 0 && tuned_count(*tuned) > 0)
        result = device_open(&context->native, native, &by_name, fault);
    if (context->native)
        device_pool_limit(context->native, context->options->common.memory);
    context->tuned = *tuned;
    return result;
}

/* Measures on the device of that word. */
static int on_device(struct bench_context *context, const char *select, const char *chain,
                     char **names, size_t count)
{
    struct bench_options own = *context->options;
    struct bench_context here = *context;
    struct device_options wanted;
    struct tuned *tuned = NULL;
    struct fault fault = FAULT_INIT;
    own.common.device = here.select = select;
    own.no_reference |= here.beside;
    here.options = &own;
    int result = open_device(&own, &wanted, &here.device, &fault);
    if (result == 0)
        result = open_native(&here, &wanted, &tuned, &fault);
    int status = result == 0 ? run_all(&here, chain, names, count) : cli_complain(NULL, &fault);
    if (status == 0 && !here.beside)
        status = bench_give_rows(&here, here.device);
    tuned_destroy(&tuned);
    device_close(&here.native);
    device_close(&here.device);
    return status;
}

static int bench(struct bench_context *context, const char *chain, char **names, size_t count)
{
    const struct bench_options *o = context->options;
    const char *devices = o->common.device;
    int status = 0;
    context->select = devices;
    if (o->end_to_end)
        return bench_files(context, chain ? chain : "", names, count);
    context->beside = strchr(devices, ',') != NULL;
    context->lines &= !context->beside;
    for (size_t length; *devices && status == 0; devices += length + (devices[length] == ',')) {
        char word[160];
        length = strcspn(devices, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, devices);
        status = on_device(context, word, chain, names, count);
    }
    if (status == 0 && context->beside)
        status = bench_give_rows(context, NULL);
    if (status == 0 && context->beside && !o->common.json)
        bench_print_beside(context->rows, o->common.device);
    return status;
}

static int bench_command(void *options_, char **operands, size_t count)
{
    struct bench_options *o = options_;
    struct config config;
    struct fault fault = FAULT_INIT;
    cli_common_apply(&o->common);
    int status = check_options(o, operands, count);
    const char *chain = o->chain;
    if (status == 0)
        status = cli_read_definitions(&o->common, &config, &chain);
    if (status != 0)
        return status;
    struct bench_context context = {.options = o,
                                    .iterations = o->iterations   ? (unsigned)o->iterations
                                                  : o->end_to_end ? 5
                                                                  : 20,
                                    .config = &config,
                                    .rows = json_array(),
                                    .lines = !o->common.json};
    struct file_draft report = {.fd = -1};
    context.board = o->board ? board_find(o->board, &fault) : board_here();
    if (o->report && !fault.code) { /* a report that cannot be written ends it before measuring */
        context.report = &report;
        context.before = state_json();
        file_draft_open(&report, o->report, &fault);
    }
    if (fault.code)
        status = cli_complain(context.report ? o->report : NULL, &fault);
    else
        status = bench(&context, chain, operands, count);
    file_draft_discard(&report);
    json_decref(context.before);
    json_decref(context.rows);
    config_finish(&config);
    return status;
}

const struct command command_bench = {&usage, sizeof(struct bench_options), bench_command};
