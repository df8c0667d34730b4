/* Benches of filter banks: cascades over long signals, and how well pictures are restored. */
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* To how many bits of the range a result agrees; INFINITY: it is equal. */
static double bits_of(const struct bench_difference *difference)
{
    return difference->largest > 0 ? log2(255 / difference->largest) : INFINITY;
}

/* The seconds of a stage's launches; -1: it was not measured on a device. */
static double seconds_of(const struct bench_result *result, const char *stage, const char *place)
{
    double seconds = 0;
    for (size_t i = 0; i < result->n_parts; i++)
        if (strcmp(result->parts[i].stage, stage) == 0 &&
            (!place || strcmp(result->parts[i].place, place) == 0))
            seconds += result->parts[i].seconds;
    return result->n_parts > 0 ? seconds : -1;
}

static void add_row(const struct bench_context *context, const struct row *row)
{
    const struct plane *p = &row->in->frame.planes[0];
    const struct bench_result *r = row->result;
    struct bench_time time = row->on_device ? r->kernels : r->job;
    json_t *json = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:s, s:i, s:I, s:f, s:f}", "name", row->chain, "variant",
        row->variant, "width", (int)p->width, "height", (int)p->height, "channels",
        (int)p->channels, "type", sample_name(p->type), "levels", (int)row->levels, "iterations",
        (json_int_t)row->iterations, "median_s", time.median, "min_s", time.min);
    if (row->on_device) {
        json_object_update_new(json,
                               json_pack("{s:f, s:f, s:I, s:f}", "job_median_s", r->job.median,
                                         "job_min_s", r->job.min, "bytes", (json_int_t)r->moved,
                                         "gb_per_s", (double)r->moved * 1e-9 / time.median));
        bench_set_real(json, "analysis_s", seconds_of(r, "analysis", NULL));
        bench_set_real(json, "synthesis_s", seconds_of(r, "synthesis", NULL));
        bench_add_parts(json, r);
    }
    double psnr = bench_psnr(&row->difference, 255);
    if (row->difference.largest >= 0) {
        json_object_set_new(json, "max_error", json_real(row->difference.largest));
        json_object_set_new(json, "psnr_db", isfinite(psnr) ? json_real(psnr) : json_null());
        bench_set_real(json, "bits", bits_of(&row->difference));
    }
    bench_add_row(context, json, r->ran_on);
}

static const struct bench_difference no_difference = {.largest = -1};
static const struct bench_way as_planned = {0};

/* What a chain took: its kernels, those of synthesis, the whole job, and the reference; negative
 * for what did not run. */
struct figures {
    double kernels, synthesis, job, reference;
    struct bench_difference difference;
};

/* Runs a chain on device and reference; one that comes back is compared with its input. */
static int time_chain(const struct bench_context *context, const char *text, unsigned levels,
                      const struct picture *in, bool returns, struct figures *figures,
                      struct fault *fault)
{
    struct chain chain = {0};
    struct bench_result result = {0};
    int code = chain_parse_with(&chain, text, &context->config->definitions, fault);
    *figures = (struct figures){-1, -1, -1, -1, no_difference};
    struct row row = {text,    "device", in,           levels, context->iterations,
                      &result, true,     no_difference};
    if (code == 0 && context->device) {
        code = bench_run_device(context, &chain, in, &as_planned, &result, fault);
        figures->kernels = result.kernels.median;
        figures->synthesis = seconds_of(&result, "synthesis", NULL);
        figures->job = result.job.median;
        if (code == 0 && returns)
            row.difference = figures->difference = bench_compare(in, &result.out);
        if (code == 0)
            add_row(context, &row);
        bench_result_finish(&result);
    }
    if (code == 0 && (!context->device || !context->options->no_reference)) {
        code = bench_run_reference(&chain, in, &result, fault);
        figures->reference = result.job.median;
        row.variant = "reference";
        row.on_device = false;
        row.iterations = 1;
        if (code == 0 && returns)
            row.difference = bench_compare(in, &result.out);
        if (code == 0 && !context->device)
            figures->difference = row.difference;
        if (code == 0)
            add_row(context, &row);
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

static const char *const precisions[] = {"single", "double"};
static const enum sample_type precision_types[] = {SAMPLE_F32, SAMPLE_F64};

/* Says so where there are no doubles. */
static bool lacks_double(const struct bench_context *context, int precision)
{
    if (precision == 0 || !context->device || device_profile(context->device)->has_fp64)
        return false;
    fputs("sluice: bench: no double: the device has no fp64\n", stderr);
    return true;
}

/* A signal of one length, at one depth. */
static int run_signal(const struct bench_context *context, const struct picture *in, unsigned depth,
                      const char *precision, struct fault *fault)
{
    char text[160];
    struct figures away, back;
    snprintf(text, sizeof text, "analysis:%s:levels=%u:dims=1:precision=%s", context->options->bank,
             depth, precision);
    int code = time_chain(context, text, depth, in, false, &away, fault);
    strcat(text, ",synthesis");
    if (code == 0)
        code = time_chain(context, text, depth, in, true, &back, fault);
    if (code != 0 || !context->lines)
        return code;
    fprintf(cli_stdout, "%9u %6u %-6s", in->frame.planes[0].width, depth, precision);
    print_milliseconds(away.kernels);
    print_milliseconds(away.job);
    print_milliseconds(away.reference);
    print_milliseconds(back.synthesis);
    print_milliseconds(back.kernels);
    print_milliseconds(back.job);
    print_milliseconds(back.reference);
    fprintf(cli_stdout, " %8.1f\n", bench_psnr(&back.difference, 255));
    fflush(cli_stdout);
    return 0;
}

static int run_1d(const struct bench_context *context, struct fault *fault)
{
    static const uint32_t lengths[] = {600000, 2000000, 4000000, 6000000, 8000000};
    static const unsigned depths[] = {1, 2, 5, 9};
    if (context->lines)
        fputs("milliseconds              ----------- analysis ------------  synthesis "
              "----- analysis, synthesis -------\n"
              "  samples levels             kernels   with i/o  reference    kernels    kernels   "
              "with i/o  reference  PSNR dB\n",
              cli_stdout);
    for (int precision = 0; precision < 2 && !lacks_double(context, precision); precision++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct picture in;
            struct plane shape = {.width = lengths[i],
                                  .height = 1,
                                  .channels = 1,
                                  .type = precision_types[precision]};
            if (lengths[i] > context->options->common.max_pixels)
                continue;
            int code = bench_picture(&in, &shape, fault);
            for (size_t d = 0; d < sizeof depths / sizeof *depths && code == 0; d++)
                code = run_signal(context, &in, depths[d], precisions[precision], fault);
            picture_destroy(&in);
            if (code != 0)
                return code;
        }
    return 0;
}

const struct bench bench_filterbank1d = {"filterbank1d", run_1d, true};

/* The time of each step of the cascade, level by level. */
static void print_steps(const struct picture *in, unsigned levels, const char *precision,
                        const struct bench_result *result)
{
    static const struct {
        const char *stage, *direction;
    } steps[] = {{"analysis", "both"},
                 {"analysis", "rows"},
                 {"analysis", "columns"},
                 {"synthesis", "columns"},
                 {"synthesis", "rows"}};
    const struct plane *p = &in->frame.planes[0];
    fprintf(cli_stdout, "milliseconds by step, %ux%u %s\n level", p->width, p->height, precision);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        fprintf(cli_stdout, "  %9s %-7s", steps[k].stage, steps[k].direction);
    for (unsigned level = 1; level <= levels; level++) {
        fprintf(cli_stdout, "\n%6u", level);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            char place[24];
            snprintf(place, sizeof place, "level %u, %s", level, steps[k].direction);
            fprintf(cli_stdout, "  %17.3f", seconds_of(result, steps[k].stage, place) * 1e3);
        }
    }
    fputc('\n', cli_stdout);
}

/* Analysis and synthesis without rounding: compares the result with the input. */
static int run_picture(const struct bench_context *context, const struct picture *in,
                       unsigned levels, const char *precision, bool with_steps, struct fault *fault)
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
        add_row(context, &row);
        if (context->lines) {
            bool same = row.difference.largest < 0.5;
            fprintf(cli_stdout, "%5ux%-5u %6u %-7s %8.1f %9.1f %10.2e %8.1f", p->width, p->height,
                    levels, precision, bench_psnr(&row.difference, 255),
                    same ? INFINITY : bench_psnr(&row.difference, 255), row.difference.largest,
                    bits_of(&row.difference));
            print_milliseconds(seconds_of(&result, "analysis", NULL));
            print_milliseconds(seconds_of(&result, "synthesis", NULL));
            print_milliseconds(result.job.median);
            fputc('\n', cli_stdout);
            if (with_steps && result.n_parts > 0)
                print_steps(in, levels, precision, &result);
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
    static const unsigned depths[] = {1, 2, 3, 5, 7, 8, 9, 11};
    enum {
        N_SIZES = sizeof sizes / sizeof *sizes,
        N_DEPTHS = sizeof depths / sizeof *depths
    };
    if (context->lines)
        fputs("there and back             PSNR dB   rounded  max error     bits   analysis  "
              "synthesis "
              "  with i/o ms\n",
              cli_stdout);
    for (int precision = 0; precision < 2 && !lacks_double(context, precision); precision++)
        for (size_t i = 0; i < N_SIZES; i++) {
            struct picture in;
            struct plane shape = {.width = sizes[i][0],
                                  .height = sizes[i][1],
                                  .channels = 1,
                                  .type = precision_types[precision]};
            if ((uint64_t)shape.width * shape.height > context->options->common.max_pixels)
                continue;
            int code = bench_picture(&in, &shape, fault);
            for (size_t d = 0; d < N_DEPTHS && code == 0; d++)
                code = run_picture(context, &in, depths[d], precisions[precision],
                                   i + 1 == N_SIZES && d + 1 == N_DEPTHS, fault);
            picture_destroy(&in);
            if (code != 0)
                return code;
        }
    return 0;
}

const struct bench bench_filterbank2d = {"filterbank2d", run_2d, true};
