#include "cli/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/common.h"

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

/* Bytes of a file's name that are no UTF-8 are replaced: JSON has no others. */
static json_t *text_json(const char *string)
{
    struct text valid = {0};
    text_append_utf8(&valid, string);
    json_t *json = json_string(text_string(&valid));
    text_finish(&valid);
    return json;
}

void report_add(json_t *files, const char *input, const char *output, const struct fault *fault,
                json_t *report, const char *step)
{
    bool failed = fault->code != FAULT_NONE;
    json_t *entry =
        json_pack("{s:o, s:o, s:s}", "input", text_json(input), "output",
                  failed ? json_null() : text_json(output), "result", fault_name(fault->code));
    if (failed)
        json_object_update_new(
            entry, json_pack("{s:o, s:s?}", "message", text_json(fault->text), "step", step));
    json_object_update_new(entry, report);
    json_array_append_new(files, entry);
}

/* The first file that a device was used for; NULL: there is none. */
static const json_t *device_of(const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files); i++)
        if (json_is_string(json_object_get(json_array_get(files, i), "device")))
            return json_array_get(files, i);
    return NULL;
}

static json_t *count_json(const struct device_counters *counters, uint64_t value)
{
    return counters ? json_integer((json_int_t)value) : json_null();
}

void report_print_json(const char *chain, uint64_t wall, const struct device_counters *c,
                       json_t *files)
{
    const json_t *device = device_of(files);
    cli_print_json(json_pack(
        "{s:o, s:O?, s:O?, s:O?, s:o, s:o, s:o, s:f, s:o}", "chain", text_json(chain), "device",
        json_object_get(device, "device"), "platform", json_object_get(device, "platform"),
        "driver", json_object_get(device, "driver"), "builds", count_json(c, c ? c->builds : 0),
        "cache_hits", count_json(c, c ? c->cache_hits : 0), "allocations",
        count_json(c, c ? c->allocations : 0), "wall_s", (double)wall * 1e-9, "files", files));
}
