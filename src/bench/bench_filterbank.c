/* Benches of filter banks: sequences over long signals, and how well pictures are restored. */
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"

/* A row of either bench. Seconds below 0 were not measured. */
struct row {
    const char *chain, *variant;
    const struct picture *in;
    unsigned levels;
    int64_t iterations;
    const struct bench_result *result;
    bool on_device;
    struct bench_difference difference; /* `largest` below 0: the chain does not restore */
};

static void add_row(json_t *rows, const struct row *row)
{
    const struct plane *p = &row->in->frame.planes[0];
    const struct bench_result *r = row->result;
    struct bench_time time = row->on_device ? r->kernels : r->job;
    json_t *json = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:s, s:i, s:I, s:f, s:f}", "name", row->chain, "variant",
        row->variant, "width", (int)p->width, "height", (int)p->height, "channels",
        (int)p->channels, "type", sample_name(p->type), "levels", (int)row->levels, "iterations",
        (json_int_t)row->iterations, "median_s", time.median, "min_s", time.min);
    if (row->on_device)
        json_object_update_new(json,
                               json_pack("{s:f, s:f, s:I, s:f}", "job_median_s", r->job.median,
                                         "job_min_s", r->job.min, "bytes", (json_int_t)r->moved,
                                         "gb_per_s", (double)r->moved * 1e-9 / time.median));
    double psnr = bench_psnr(&row->difference, 255);
    if (row->difference.largest >= 0) {
        json_object_set_new(json, "max_error", json_real(row->difference.largest));
        json_object_set_new(json, "psnr_db", isfinite(psnr) ? json_real(psnr) : json_null());
    }
    json_array_append_new(rows, json);
}

static const struct bench_difference no_difference = {.largest = -1};
static const struct bench_way as_planned = {0};

/* Runs a chain on device and reference. `seconds` gets the times of kernels, whole job and
 * reference, negative for what did not run. */
static int time_chain(const struct bench_context *context, const char *text, unsigned levels,
                      const struct picture *in, double seconds[3], struct fault *fault)
{
    struct chain chain = {0};
    struct bench_result result = {0};
    int code = chain_parse_with(&chain, text, &context->config->definitions, fault);
    seconds[0] = seconds[1] = seconds[2] = -1;
    struct row row = {text,    "device", in,           levels, context->iterations,
                      &result, true,     no_difference};
    if (code == 0 && context->device) {
        code = bench_run_device(context, &chain, in, &as_planned, &result, fault);
        seconds[0] = result.kernels.median;
        seconds[1] = result.job.median;
        if (code == 0)
            add_row(context->rows, &row);
        bench_result_finish(&result);
    }
    if (code == 0 && !context->options->no_reference) {
        code = bench_run_reference(&chain, in, &result, fault);
        seconds[2] = result.job.median;
        row.variant = "reference";
        row.on_device = false;
        row.iterations = 1;
        if (code == 0)
            add_row(context->rows, &row);
        bench_result_finish(&result);
    }
    chain_finish(&chain);
    return code;
}

static void print_milliseconds(double seconds)
{
    if (seconds < 0)
        fprintf(cli_stdout, " %10s", "-");
    else
        fprintf(cli_stdout, " %10.2f", seconds * 1e3);
}

static int run_1d(const struct bench_context *context, struct fault *fault)
{
    static const uint32_t lengths[] = {600000, 2000000, 4000000, 6000000, 8000000};
    static const unsigned depths[] = {2, 5, 9};
    static const char *const ends[] = {"", ",synthesis"};
    char text[160];
    if (context->lines)
        fprintf(
            cli_stdout,
            "milliseconds        ---------- analysis -----------  ---- analysis, synthesis -----\n"
            "  samples levels    kernels   with i/o  reference    kernels   with i/o  reference\n");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct picture in;
        struct plane shape = {.width = lengths[i], .height = 1, .channels = 1, .type = SAMPLE_F32};
        int code = bench_picture(&in, &shape, fault);
        for (size_t d = 0; d < sizeof depths / sizeof *depths && code == 0; d++) {
            if (context->lines)
                fprintf(cli_stdout, "%9u %6u", lengths[i], depths[d]);
            for (int e = 0; e < 2 && code == 0; e++) {
                double seconds[3];
                snprintf(text, sizeof text, "analysis:%s:levels=%u:dims=1%s",
                         context->options->bank, depths[d], ends[e]);
                code = time_chain(context, text, depths[d], &in, seconds, fault);
                for (int s = 0; s < 3 && code == 0 && context->lines; s++)
                    print_milliseconds(seconds[s]);
            }
            if (context->lines)
                fputc('\n', cli_stdout);
            fflush(cli_stdout);
        }
        picture_destroy(&in);
        if (code != 0)
            return code;
    }
    return 0;
}

const struct bench bench_filterbank1d = {"filterbank1d", run_1d};

/* Analysis and synthesis without rounding: compares the result with the input. */
static int run_picture(const struct bench_context *context, const struct picture *in,
                       unsigned levels, const char *precision, struct fault *fault)
{
    const struct plane *p = &in->frame.planes[0];
    struct chain chain = {0};
    struct bench_result result = {0};
    char text[160];
    snprintf(text, sizeof text, "analysis:%s:levels=%u:precision=%s,synthesis",
             context->options->bank, levels, precision);
    int code = chain_parse_with(&chain, text, &context->config->definitions, fault);
    if (code == 0)
        code = context->device ? bench_run_device(context, &chain, in, &as_planned, &result, fault)
                               : bench_run_reference(&chain, in, &result, fault);
    if (code == 0) {
        struct row row = {text,
                          context->device ? precision : "reference",
                          in,
                          levels,
                          context->device ? context->iterations : 1,
                          &result,
                          context->device != NULL,
                          bench_compare(in, &result.out)};
        add_row(context->rows, &row);
        if (context->lines) {
            fprintf(cli_stdout, "%5ux%-5u %6u %-7s %8.1f %10.2e %s", p->width, p->height, levels,
                    precision, bench_psnr(&row.difference, 255), row.difference.largest,
                    row.difference.largest < 0.5 ? "yes" : "no ");
            print_milliseconds(context->device ? result.kernels.median : -1);
            print_milliseconds(result.job.median);
            fputc('\n', cli_stdout);
            fflush(cli_stdout);
        }
    }
    bench_result_finish(&result);
    chain_finish(&chain);
    return code;
}

static int run_2d(const struct bench_context *context, struct fault *fault)
{
    static const uint32_t sizes[][2] = {{653, 871}, {1920, 1080}, {2560, 1600}, {3675, 2175}};
    static const unsigned depths[] = {1, 2, 3, 5, 8, 11};
    static const char *const precisions[] = {"single", "double"};
    static const enum sample_type types[] = {SAMPLE_F32, SAMPLE_F64};
    if (context->lines)
        fprintf(cli_stdout, "there and back            PSNR dB  max error same  kernels ms  with "
                            "i/o ms\n");
    for (int precision = 0; precision < 2; precision++) {
        if (precision == 1 && context->device && !device_profile(context->device)->has_fp64) {
            fputs("sluice: bench: no double: the device has no fp64\n", stderr);
            break;
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct picture in;
            struct plane shape = {.width = sizes[i][0],
                                  .height = sizes[i][1],
                                  .channels = 1,
                                  .type = types[precision]};
            int code = bench_picture(&in, &shape, fault);
            for (size_t d = 0; d < sizeof depths / sizeof *depths && code == 0; d++)
                code = run_picture(context, &in, depths[d], precisions[precision], fault);
            picture_destroy(&in);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

const struct bench bench_filterbank2d = {"filterbank2d", run_2d};
