/* sluice stages and sluice devices: what there is. */
#include <string.h>

#include "base/number.h"
#include "chain/tried.h"
#include "cli/common.h"
#include "worker/describe.h"

static const struct options_usage stages_usage = {
    .command = "stages",
    .operands = "[NAME…]",
    .summary = "Prints every stage, or those named, with their parameters.",
    .details =
        "Behind stages that give several planes every stage takes only=PATTERN, too: the names of "
        "the\nplanes that it is to change, such as only=HH* or only=HL1/LH1.\n",
    .tables = {cli_output_options},
};

static void print_stage(const struct stage *stage)
{
    fprintf(cli_stdout, "%s: %s\n", stage->name, stage->summary);
    for (const struct param *p = stage->params; p && p->name; p++) {
        struct text allowed = {0};
        param_print_allowed(p, &allowed);
        fprintf(cli_stdout, "  %-10s %s\n             %s", p->name, p->help, text_string(&allowed));
        if (p->fallback)
            fprintf(cli_stdout, "; default %s", p->fallback);
        if (p->required)
            fputs("; required", cli_stdout);
        fputc('\n', cli_stdout);
        text_finish(&allowed);
    }
}

static int list_stages(void *options_, char **operands, size_t count)
{
    struct common_options *o = options_;
    for (size_t i = 0; i < count; i++) {
        const struct stage *stage = stage_find(operands[i], strlen(operands[i]));
        if (stage && !stage->internal)
            continue;
        struct text says = {0};
        tried_explain(operands[i], strlen(operands[i]), &says);
        int status = cli_refuse(64, "stages: %s", text_string(&says));
        text_finish(&says);
        return status;
    }
    json_t *list = o->json ? json_array() : NULL;
    bool any = false;
    for (const struct stage *const *s = stage_registry; *s; s++) {
        bool wanted = count == 0 && !(*s)->internal;
        for (size_t i = 0; i < count; i++)
            wanted |= strcmp(operands[i], (*s)->name) == 0;
        if (!wanted)
            continue;
        if (o->json) {
            json_array_append_new(list, describe_stage(*s));
        } else {
            fputs(any ? "\n" : "", cli_stdout);
            print_stage(*s);
        }
        any = true;
    }
    if (o->json)
        cli_print_json(list);
    return 0;
}

const struct command command_stages = {&stages_usage, sizeof(struct common_options), list_stages};

/* ---- devices ---- */

static const struct options_usage devices_usage = {
    .command = "devices",
    .operands = "",
    .summary = "Prints every device, OpenCL's and native, the one that is taken, and its limits.",
    .details = "The star marks the device that --device takes (auto: a GPU or an accelerator, "
               "else native,\nelse OpenCL's CPU device).\n",
    .tables = {cli_device_options, cli_output_options},
};

static void print_device(const struct device_info *info, bool taken)
{
    if (info->kind == DEVICE_NATIVE) {
        fprintf(cli_stdout, "%s native: %s\n    kernels for %s, %u processors, %s of memory\n",
                taken ? "*" : " ", info->vendor, info->version, info->compute_units,
                number_size(info->memory & ~0xfffffull));
        return;
    }
    fprintf(cli_stdout, "%s platform %d device %d: %s (%s)\n", taken ? "*" : " ",
            info->platform_index, info->device_index, info->name, device_kind_name(info->kind));
    fprintf(cli_stdout, "    %s, %s, driver %s\n", info->platform, info->version, info->driver);
    fprintf(cli_stdout,
            "    %u compute units at %u MHz, %s of memory, buffers up to %s, work-groups up to "
            "%zu\n",
            info->compute_units, info->clock_mhz, number_size(info->memory & ~0xfffffull),
            number_size(info->max_allocation & ~0xfffffull), info->work_group_size);
    fprintf(cli_stdout,
            "    f64 %s, exact f32 division %s, memory shared with the host %s, kernels "
            "for %s\n",
            info->has_fp64 ? "yes" : "no", info->exact_divide ? "yes" : "no",
            info->unified_memory ? "yes" : "no", info->profile);
}

static void print_all(const struct common_options *o, const struct device_info *const *list,
                      size_t count, const struct device_info *taken)
{
    json_t *array = o->json ? json_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        if (o->json)
            json_array_append_new(array, describe_device(list[i], list[i] == taken));
        else
            print_device(list[i], list[i] == taken);
    }
    if (o->json)
        cli_print_json(array);
}

static int list_devices(void *options_, char **operands, size_t count)
{
    struct common_options *o = options_;
    struct fault fault = FAULT_INIT, none = FAULT_INIT;
    struct engine_options engine;
    const struct device_info *list[DEVICES_MAX], *order[DEVICES_MAX];
    size_t fitting = 0;
    cli_common_apply(o);
    cli_engine_options(o, &engine);
    size_t n_devices = device_list(list, true, &fault);
    if (n_devices == 0)
        return cli_complain(NULL, &fault);
    int status = 0;
    if (device_select(&engine.device, order, &fitting, &none) != 0 && !engine.reference)
        status = cli_complain(NULL, &none);
    print_all(o, list, n_devices, fitting && !engine.reference ? order[0] : NULL);
    return status;
}

const struct command command_devices = {&devices_usage, sizeof(struct common_options), list_devices,
                                        .no_operands = true};
