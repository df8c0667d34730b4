#include "worker/describe.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static json_t *param_json(const struct param *param)
{
    static const char *const types[] = {[PARAM_INTEGER] = "integer",
                                        [PARAM_REAL] = "number",
                                        [PARAM_FLAG] = "flag",
                                        [PARAM_CHOICE] = "choice",
                                        [PARAM_REAL_OR_CHOICE] = "number or choice",
                                        [PARAM_INTEGERS] = "integers",
                                        [PARAM_REALS] = "numbers",
                                        [PARAM_MATRIX] = "matrix",
                                        [PARAM_WORD] = "word",
                                        [PARAM_WORDS] = "words",
                                        [PARAM_TEXT] = "text",
                                        [PARAM_SIZE] = "size",
                                        [PARAM_DURATION] = "duration",
                                        [PARAM_PIXELS] = "pixels"};
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s?, s:b}", "name", param->name, "type", types[param->type],
                  "help", param->help, "default", param->fallback, "required", param->required);
    if (param->min != 0 || param->max != 0)
        json_object_update_new(json, json_pack("{s:f, s:f}", "min", param->min, "max", param->max));
    if (param->choices) {
        json_t *choices = json_array();
        for (const struct param_choice *c = param->choices; c->name; c++)
            json_array_append_new(choices, json_string(c->name));
        json_object_set_new(json, "choices", choices);
    }
    return json;
}

json_t *describe_stage(const struct stage *stage)
{
    json_t *params = json_array();
    for (const struct param *p = stage->params; p && p->name; p++)
        json_array_append_new(params, param_json(p));
    return json_pack("{s:s, s:s, s:o}", "name", stage->name, "summary", stage->summary, "params",
                     params);
}

json_t *describe_device(const struct device_info *info, bool taken)
{
    return json_pack(
        "{s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:b, s:b, s:b, s:s, s:b}",
        "platform_index", info->platform_index, "device_index", info->device_index, "name",
        info->name, "kind", device_kind_name(info->kind), "platform", info->platform, "version",
        info->version, "driver", info->driver, "compute_units", (int)info->compute_units,
        "clock_mhz", (int)info->clock_mhz, "memory", (json_int_t)info->memory, "max_allocation",
        (json_int_t)info->max_allocation, "work_group_size", (json_int_t)info->work_group_size,
        "fp64", (int)info->has_fp64, "exact_divide", (int)info->exact_divide, "unified_memory",
        (int)info->unified_memory, "profile", info->profile, "taken", (int)taken);
}

static json_t *plane_json(const char *format, const struct plane *plane)
{
    if (plane->width == 0)
        return json_null();
    return json_pack("{s:s, s:i, s:i, s:i, s:s, s:f}", "format", format, "width", (int)plane->width,
                     "height", (int)plane->height, "channels", (int)plane->channels, "type",
                     sample_name(plane->type), "white", plane_white(plane));
}

static double seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds * 1e-9;
}

static json_t *launches_json(const struct engine_report *r, size_t max)
{
    json_t *launches = json_array();
    for (size_t i = 0; i < r->n_launches && i < max; i++)
        json_array_append_new(
            launches,
            json_pack("{s:s, s:s, s:f, s:f, s:f}", "stage", r->launches[i].stage, "kernel",
                      r->launches[i].kernel, "queued_s", seconds(r->launches[i].queued), "wait_s",
                      seconds(r->launches[i].wait), "run_s", seconds(r->launches[i].run)));
    return launches;
}

/* Consecutive launches of one stage are its passes. */
static json_t *times_of_stages(const struct engine_report *r, size_t max)
{
    json_t *stages = json_array();
    for (size_t i = 0; i < r->n_launches && json_array_size(stages) < max;) {
        const char *stage = r->launches[i].stage;
        uint64_t time = 0;
        for (; i < r->n_launches && strcmp(r->launches[i].stage, stage) == 0; i++)
            time += r->launches[i].run;
        json_array_append_new(stages,
                              json_pack("{s:s, s:f}", "stage", stage, "run_s", seconds(time)));
    }
    return stages;
}

static json_t *warnings_json(const struct text *lines)
{
    json_t *list = json_array();
    size_t length;
    for (const char *at = text_string(lines); *at; at += length + 1) {
        length = strcspn(at, "\n");
        json_array_append_new(list, json_stringn(at, length));
    }
    return list;
}

json_t *describe_report(const struct engine_report *r, size_t max)
{
    const struct {
        const char *name;
        uint64_t time;
    } spans[] = {
        {"queue_s", r->queue},     {"read_s", r->read},     {"decode_s", r->decode},
        {"prepare_s", r->prepare}, {"device_s", r->device}, {"encode_s", r->encode},
        {"write_s", r->write},     {"total_s", r->total},
    };
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"bytes_in", r->bytes_in},           {"bytes_out", r->bytes_out},
        {"bytes_copied", r->bytes_copied},   {"crossings_in", r->crossings_in},
        {"crossings_out", r->crossings_out}, {"reduced", r->reduced},
        {"stages_run", r->n_stages},         {"stages_asked", r->n_asked},
    };
    const struct device_info *device = r->ran_on;
    json_t *results = json_array(), *out = plane_json(r->results[0].format, &r->results[0].plane);
    for (size_t i = 0; i < r->n_results; i++)
        json_array_append_new(
            results, json_pack("{s:o, s:I, s:I}", "out",
                               i == 0 ? json_incref(out)
                                      : plane_json(r->results[i].format, &r->results[i].plane),
                               "n_planes", (json_int_t)r->results[i].n_planes, "bytes",
                               (json_int_t)r->results[i].bytes));
    json_t *json = json_pack(
        "{s:s?, s:s?, s:s?, s:o, s:o, s:b}", "device", device ? device->name : NULL, "platform",
        device ? device->platform : NULL, "driver", device ? device->driver : NULL, "in",
        plane_json(r->in_format, &r->in), "out", out, "stored_luma", (int)r->stored_luma);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        json_object_set_new(json, spans[i].name, json_real(seconds(spans[i].time)));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(json, counts[i].name, json_integer((json_int_t)counts[i].value));
    json_object_set_new(json, "results", results);
    json_object_set_new(json, "stages", times_of_stages(r, max));
    json_object_set_new(json, "launches", launches_json(r, max));
    json_object_set_new(json, "warnings", warnings_json(&r->warnings));
    json_object_set_new(json, "largest_difference",
                        r->verified ? json_real(r->largest_difference) : json_null());
    return json;
}

int describe_write(int fd, const struct device_info *taken, bool with_opencl, struct fault *fault)
{
    struct fault none = FAULT_INIT;
    const struct device_info *list[DEVICES_MAX];
    size_t count = device_list(list, with_opencl, &none);
    json_t *stages = json_array(), *devices = json_array();
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (!(*s)->internal)
            json_array_append_new(stages, describe_stage(*s));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(devices, describe_device(list[i], list[i] == taken));
    json_t *all = json_pack("{s:o, s:o}", "stages", stages, "devices", devices);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    if (!text)
        return fault_set(fault, FAULT_MEMORY, "no memory for a description");
    int result = file_write(fd, text, strlen(text), fault);
    free(text);
    return result;
}
