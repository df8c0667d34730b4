#include "cli/report.h"

#include <inttypes.h>

#include "base/number.h"

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
    if (r->reduced > 1)
        fprintf(to, "  decoded at 1/%u of its sides, which are %ux%u\n", r->reduced,
                r->in.whole_width, r->in.whole_height);
    if (r->stored_luma)
        fprintf(to, "  the file's own Y channel was taken as luminance\n");
    fprintf(to, "  read %s, decode %s, prepare %s, device %s, encode %s, write %s, total %s\n",
            number_duration(r->read), number_duration(r->decode), number_duration(r->prepare),
            number_duration(r->device), number_duration(r->encode), number_duration(r->write),
            number_duration(r->total));
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
