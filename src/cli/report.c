#include "cli/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static double ms(uint64_t nanoseconds)
{
    return (double)nanoseconds * 1e-6;
}

static void print_plane(const char *label, const char *format, const struct plane *plane, FILE *to)
{
    if (plane->width > 0)
        fprintf(to, "  %-8s %s %ux%ux%u %s\n", label, format, plane->width, plane->height,
                plane->channels, sample_name(plane->type));
}

void report_print_timing(const char *input, const struct engine_job *job, struct engine *engine,
                         FILE *to)
{
    const struct engine_report *r = &job->report;
    struct device *device = engine_device(engine);
    fprintf(to, "%s: %s\n", input, job->fault.code ? fault_name(job->fault.code) : "done");
    if (device)
        fprintf(to, "  device   %s, driver %s\n", device_info(device)->name,
                device_info(device)->driver);
    print_plane("in", r->in_format, &r->in, to);
    print_plane("out", r->out_format, &r->out, to);
    if (r->stored_luma)
        fprintf(to, "  the file's own Y channel was taken as luminance\n");
    fprintf(to,
            "  read %.3f ms, decode %.3f ms, prepare %.3f ms, device %.3f ms, encode %.3f ms, "
            "write %.3f ms, total %.3f ms\n",
            ms(r->read), ms(r->decode), ms(r->prepare), ms(r->device), ms(r->encode), ms(r->write),
            ms(r->total));
    if (r->n_launches > 0)
        fprintf(to, "  %-12s %-44s %10s %10s %10s\n", "stage", "kernel", "queued ms", "wait ms",
                "run ms");
    for (size_t i = 0; i < r->n_launches; i++)
        fprintf(to, "  %-12s %-44s %10.3f %10.3f %10.3f\n", r->launches[i].stage,
                r->launches[i].kernel, ms(r->launches[i].queued), ms(r->launches[i].wait),
                ms(r->launches[i].run));
    fprintf(to,
            "  handed to the device %" PRIu64 "×, back %" PRIu64 "×; copied by the host %" PRIu64
            " bytes\n",
            r->crossings_in, r->crossings_out, r->bytes_copied);
}

struct report_json {
    json_t *root, *files;
};

struct report_json *report_json_begin(const struct chain *chain, struct engine *engine,
                                      uint64_t wall)
{
    struct report_json *json = malloc(sizeof *json);
    struct device *device = engine_device(engine);
    struct text canonical = {0};
    if (!json)
        return NULL;
    json->root = json_object();
    json->files = json_array();
    chain_print(chain, &canonical);
    json_object_set_new(json->root, "chain", json_string(text_string(&canonical)));
    text_finish(&canonical);
    if (device) {
        struct device_counters *c = device_counters(device);
        json_object_set_new(json->root, "device", json_string(device_info(device)->name));
        json_object_set_new(json->root, "platform", json_string(device_info(device)->platform));
        json_object_set_new(json->root, "driver", json_string(device_info(device)->driver));
        json_object_set_new(json->root, "builds", json_integer((json_int_t)c->builds));
        json_object_set_new(json->root, "cache_hits", json_integer((json_int_t)c->cache_hits));
        json_object_set_new(json->root, "allocations", json_integer((json_int_t)c->allocations));
    } else {
        json_object_set_new(json->root, "device", json_null());
    }
    json_object_set_new(json->root, "wall_s", json_real((double)wall * 1e-9));
    json_object_set(json->root, "files", json->files);
    return json;
}

static json_t *plane_json(const char *format, const struct plane *plane)
{
    if (plane->width == 0)
        return json_null();
    return json_pack("{s:s, s:i, s:i, s:i, s:s}", "format", format, "width", (int)plane->width,
                     "height", (int)plane->height, "channels", (int)plane->channels, "type",
                     sample_name(plane->type));
}

static json_t *launches_json(const struct engine_report *r)
{
    json_t *launches = json_array();
    for (size_t i = 0; i < r->n_launches; i++)
        json_array_append_new(
            launches,
            json_pack("{s:s, s:s, s:f, s:f, s:f}", "stage", r->launches[i].stage, "kernel",
                      r->launches[i].kernel, "queued_s", ms(r->launches[i].queued) * 1e-3, "wait_s",
                      ms(r->launches[i].wait) * 1e-3, "run_s", ms(r->launches[i].run) * 1e-3));
    return launches;
}

static json_t *warnings_json(const char *lines)
{
    json_t *list = json_array();
    for (size_t length; *lines; lines += length + 1) {
        length = strcspn(lines, "\n");
        json_array_append_new(list, json_stringn(lines, length));
    }
    return list;
}

void report_json_add(struct report_json *json, const char *input, const char *output,
                     const struct engine_job *job)
{
    const struct engine_report *r = &job->report;
    if (!json)
        return;
    json_t *file = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, "
        "s:I, "
        "s:o}",
        "input", input, "output", output, "result", fault_name(job->fault.code), "in",
        plane_json(r->in_format, &r->in), "out", plane_json(r->out_format, &r->out), "stored_luma",
        (int)r->stored_luma, "read_s", ms(r->read) * 1e-3, "decode_s", ms(r->decode) * 1e-3,
        "prepare_s", ms(r->prepare) * 1e-3, "device_s", ms(r->device) * 1e-3, "encode_s",
        ms(r->encode) * 1e-3, "write_s", ms(r->write) * 1e-3, "total_s", ms(r->total) * 1e-3,
        "bytes_in", (json_int_t)r->bytes_in, "bytes_out", (json_int_t)r->bytes_out, "bytes_copied",
        (json_int_t)r->bytes_copied, "crossings_in", (json_int_t)r->crossings_in, "crossings_out",
        (json_int_t)r->crossings_out, "launches", launches_json(r));
    json_object_set_new(file, "warnings", warnings_json(text_string(&r->warnings)));
    if (file && job->fault.code)
        json_object_set_new(file, "message", json_string(job->fault.text));
    json_array_append_new(json->files, file ? file : json_null());
}

void report_json_end(struct report_json *json, FILE *to)
{
    if (!json)
        return;
    json_dumpf(json->root, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    fputc('\n', to);
    json_decref(json->files);
    json_decref(json->root);
    free(json);
}
