/* sluice warm: compiles the kernels that sluiced would compile at its start. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/common.h"
#include "config/config.h"
#include "engine/engine.h"

#define AT(member) offsetof(struct warm_options, member)

struct warm_options {
    struct common_options common;
    const char *cache;
};

static const struct options_row options[] = {
    OPTION(0, "DIR", TEXT, "cache", AT(cache),
           "where to keep compiled kernels; else SLUICE_CACHE_DIR, else where sluiced keeps them"),
    {0},
};

static const struct options_usage usage = {
    .command = "warm",
    .operands = "[CONFIG]",
    .summary =
        "Compiles and caches every chain of a configuration for this device, so that a start "
        "compiles nothing. CONFIG is the same as --config CONFIG.",
    .details =
        "sluice warm --config /etc/sluice/sluice.yaml --cache /usr/lib/sluice/cache\n\n"
        "sluiced can read kernels from a SLUICE_CACHE_DIR to which it cannot write, so DIR may be "
        "part of a\nread-only system. Device, driver and sluice must be the same when sluiced "
        "starts.\n",
    .tables = {options, cli_config_options, cli_define_options, cli_device_options, cli_output_options},
};

static void complain_at(const struct config *config, struct place at, const char *text,
                        const struct fault *fault)
{
    struct text place = {0}, caret = {0};
    text_printf(&place, "%s:%zu:%zu: chain '%s'", config->settings.file, at.line, at.column, text);
    cli_complain(text_string(&place), fault);
    fault_print_caret(fault, text, &caret);
    fputs(text_string(&caret), stderr);
    text_finish(&caret);
    text_finish(&place);
}

static int warm_one(struct engine *engine, const struct config *config, const char *text,
                    const char *format_text, struct place at)
{
    struct chain chain = {0};
    struct format formats[CHAIN_RESULTS_MAX] = {0};
    struct fault fault = FAULT_INIT, wrong = FAULT_INIT;
    struct faults faults = {0};
    int result = chain_parse_results(&chain, text, &config->definitions, &faults);
    for (size_t i = 0; i < faults_count(&faults); i++)
        complain_at(config, at, text, &faults.list[i]);
    if (result == 0)
        result = format_parse_results(formats, chain_count_results(&chain), format_text, &fault);
    if (result == 0)
        result = engine_warm(engine, 0, &chain, formats, &wrong, &fault);
    if (result == 0 && wrong.code)
        result = fault_set(&fault, wrong.code, "%s: the fallback device would run it", wrong.text);
    if (fault.code)
        complain_at(config, at, text, &fault);
    for (size_t i = 0; i < CHAIN_RESULTS_MAX; i++)
        format_finish(&formats[i]);
    chain_finish(&chain);
    if (result == FAULT_CHAIN || result == FAULT_USAGE)
        return fault_exit_status(FAULT_CONFIG);
    return result == 0 ? 0 : fault_exit_status(result);
}

/* The chains and formats that sluiced has its worker check (daemon/front/crew.c). */
static int warm_all(struct engine *engine, const struct config *config)
{
    const struct settings *settings = &config->settings;
    int status = 0;
    for (size_t i = 0; i < settings->n_watches; i++) {
        const struct watch_settings *watch = &settings->watches[i];
        /* the environment defines a folder without a chain, which sluiced refuses */
        if (!watch->chain)
            continue;
        int one = warm_one(engine, config, watch->chain, watch->format, watch->chain_at);
        status = status ? status : one;
    }
    for (size_t i = 0; i < config->n_chains; i++) {
        const struct config_chain *chain = &config->chains[i];
        int one = warm_one(engine, config, chain->text, "npz", chain->place);
        status = status ? status : one;
    }
    return status;
}

static void report(struct engine *engine, const struct warm_options *o, uint64_t began)
{
    struct device *device = engine_device(engine);
    uint64_t builds = device ? atomic_load(&device_counters(device)->builds) : 0;
    uint64_t hits = device ? atomic_load(&device_counters(device)->cache_hits) : 0;
    const char *name = device ? device_info(device)->name : "none";
    const char *directory = device_cache_directory();
    uint64_t took = clock_now() - began;
    if (o->common.json) {
        cli_print_json(json_pack("{s:s, s:s?, s:I, s:I, s:f}", "device", name, "cache", directory,
                                 "compiled", (json_int_t)builds, "cached", (json_int_t)hits,
                                 "wall_s", (double)took * 1e-9));
    } else if (!o->common.quiet && device && device_profile(device)->prebuilt) {
        fprintf(cli_stdout, "%s: nothing is to be compiled, after %s\n", name,
                number_duration(took));
    } else if (!o->common.quiet) {
        fprintf(cli_stdout,
                "%s: programs compiled: %" PRIu64 ", there already: %" PRIu64 ", in %s, after %s\n",
                name, builds, hits, directory ? directory : "no directory", number_duration(took));
    }
}

static int warm(const struct warm_options *o, struct config *config)
{
    const struct settings *settings = &config->settings;
    struct engine_options how;
    struct engine *engine = NULL;
    struct fault fault = FAULT_INIT;
    uint64_t began = clock_now();
    struct common_options common = o->common;
    common.device = settings->device;
    common.max_pixels = settings->max_pixels;
    common.max_file = settings->max_file;
    common.memory = settings->memory;
    cli_engine_options(&common, &how);
    how.self_check = settings->self_check;
    how.fallback = settings->fallback;
    /* The cache must be where sluiced would write to. */
    const char *directory = device_cache_directory();
    const char *wanted = o->cache ? o->cache : getenv("SLUICE_CACHE_DIR");
    if (wanted && wanted[0] != '/')
        return cli_refuse(64, "%s: --cache and SLUICE_CACHE_DIR are absolute paths", wanted);
    if (!directory || (wanted && strcmp(directory, wanted) != 0))
        return cli_refuse(73, "%s: the cache directory cannot be written to",
                          wanted ? wanted : "no cache directory");
    how.held = definitions_picture_bytes(&config->definitions);
    if (engine_open(&engine, &how, &fault) != 0)
        return cli_complain(NULL, &fault);
    int status = warm_all(engine, config);
    if (status == 0)
        report(engine, o, began);
    engine_close(&engine);
    return status;
}

static int warm_config(void *options_, char **operands, size_t count)
{
    struct warm_options *o = options_;
    struct config config;
    const char *told = o->common.device;
    cli_common_apply(&o->common);
    const char *file = getenv("SLUICE_CONFIG");
    bool is_named = o->common.config || (file && file[0]);
    if (count > 1 || (count > 0 ? o->common.config != NULL : !is_named))
        return cli_refuse(64, "warm: %s (see sluice warm --help)",
                          count > 1 || o->common.config ? "one configuration at a time"
                                                        : "which configuration?");
    if (count > 0)
        o->common.config = operands[0];
    /* As in sluice-worker: PoCL's cache lies below ours. */
    unsetenv("POCL_CACHE_DIR");
    if (o->cache)
        setenv("SLUICE_CACHE_DIR", o->cache, 1);
    int status = cli_read_settings(&o->common, &config, true);
    if (status == 0)
        status = cli_read_pictures(&o->common, &config);
    if (status != 0)
        return status;
    if (told)
        config.settings.device = told;
    config_resolve_chains(&config);
    settings_complete(&config.settings);
    status = warm(o, &config);
    config_finish(&config);
    return status;
}

const struct command command_warm = {&usage, sizeof(struct warm_options), warm_config};
