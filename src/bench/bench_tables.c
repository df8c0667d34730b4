/* Tables of several rows: devices side by side, box by its width, small windows by the picture's
 * size, and what Mali GPUs take for these with vectors and without. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/bench.h"

/* ---- devices side by side ---- */

static const char *string_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static json_int_t integer_of(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

/* A number; -1: there is none. */
static double real_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

/* Rows of one chain on one picture; devices differ. */
static bool is_same(const json_t *a, const json_t *b)
{
    return strcmp(string_of(a, "name"), string_of(b, "name")) == 0 &&
           strcmp(string_of(a, "type"), string_of(b, "type")) == 0 &&
           integer_of(a, "width") == integer_of(b, "width") &&
           integer_of(a, "height") == integer_of(b, "height") &&
           integer_of(a, "channels") == integer_of(b, "channels");
}

/* The first row like this one of that device; of further ones, as --variants gives them, nothing is
 * told here. */
static const json_t *find(const json_t *rows, const json_t *like, const char *device, size_t length)
{
    size_t i;
    json_t *row;
    json_array_foreach (rows, i, row) {
        const char *name = string_of(row, "device");
        if (is_same(row, like) && strlen(name) == length && strncmp(name, device, length) == 0)
            return row;
    }
    return NULL;
}

static bool is_first(const json_t *rows, size_t index)
{
    size_t i;
    const json_t *row;
    json_array_foreach (rows, i, row)
        if (is_same(row, json_array_get(rows, index)))
            return i == index;
    return false;
}

static void print_figure(double seconds)
{
    if (seconds < 0)
        fprintf(cli_stdout, " %10s", "-");
    else
        fprintf(cli_stdout, " %10.3f", seconds * 1e3);
}

/* A reference's row may be of fewer rows of the picture, for which there was time. */
static void print_line(const json_t *rows, const json_t *like, const char *devices)
{
    char picture[48];
    snprintf(picture, sizeof picture, "%dx%dx%d %s", (int)integer_of(like, "width"),
             (int)integer_of(like, "height"), (int)integer_of(like, "channels"),
             string_of(like, "type"));
    fprintf(cli_stdout, "%-40.40s %-18s", string_of(like, "name"), picture);
    size_t length;
    for (const char *at = devices; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        const json_t *row = find(rows, like, at, length);
        bool by_reference = row && json_is_null(json_object_get(row, "ran_on"));
        print_figure(row && !by_reference ? real_of(row, "median_s") : -1);
        print_figure(!row           ? -1
                     : by_reference ? real_of(row, "median_s")
                                    : real_of(row, "job_median_s"));
    }
    fputc('\n', cli_stdout);
}

/* From which size of picture on another device does the chain's jobs soonest. */
static void print_winners(const json_t *rows, const json_t *first, const char *devices)
{
    char winner[64] = "";
    bool several = false;
    size_t i, length;
    const json_t *like;
    struct text line = {0};
    json_array_foreach (rows, i, like) {
        double best = -1;
        char name[64] = "";
        if (strcmp(string_of(like, "name"), string_of(first, "name")) != 0 || !is_first(rows, i))
            continue;
        several |= !is_same(like, first);
        for (const char *at = devices; *at; at += length + (at[length] == ',')) {
            length = strcspn(at, ",");
            const json_t *row = find(rows, like, at, length);
            double seconds = row ? real_of(row, "job_median_s") : -1;
            bool by_reference = row && json_is_null(json_object_get(row, "ran_on"));
            if (strncmp(at, "auto", length) == 0 || by_reference || seconds < 0 ||
                (best >= 0 && seconds >= best))
                continue;
            best = seconds;
            snprintf(name, sizeof name, "%.*s", (int)length, at);
        }
        if (name[0] && strcmp(name, winner) != 0) {
            text_printf(&line, "%s%s from %dx%d", line.length ? ", " : "", name,
                        (int)integer_of(like, "width"), (int)integer_of(like, "height"));
            snprintf(winner, sizeof winner, "%s", name);
        }
    }
    if (several)
        fprintf(cli_stdout, "%s: soonest on %s\n", string_of(first, "name"), text_string(&line));
    text_finish(&line);
}

void bench_print_beside(const json_t *rows, const char *devices)
{
    size_t i, k, length;
    const json_t *row, *other;
    fprintf(cli_stdout, "%-40s %-18s", "milliseconds", "");
    for (const char *at = devices; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        fprintf(cli_stdout, " %21.*s", (int)(length > 21 ? 21 : length), at);
    }
    fprintf(cli_stdout, "\n%-40s %-18s", "chain", "picture");
    for (const char *at = devices; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        fprintf(cli_stdout, " %10s %10s", "kernels", "job");
    }
    fputc('\n', cli_stdout);
    json_array_foreach (rows, i, row)
        if (is_first(rows, i))
            print_line(rows, row, devices);
    json_array_foreach (rows, i, row) {
        bool first = true;
        json_array_foreach (rows, k, other)
            first &= k >= i || strcmp(string_of(other, "name"), string_of(row, "name")) != 0;
        if (first)
            print_winners(rows, row, devices);
    }
}

/* ---- tables of single stages ---- */

static int run_chain(const struct bench_context *context, const char *text,
                     const struct plane *shape, struct fault *fault)
{
    struct chain chain = {0};
    int code = chain_parse(&chain, text, fault);
    if (code == 0)
        code = bench_chain(context, text, &chain, shape, fault);
    chain_finish(&chain);
    return code;
}

/* Nearly the mean, as a window that reads every sample of it. The one in the middle counts twice, since fir
 * takes a window of ones apart into a column and a row (src/stage/fir/fir_apart.c), which is the separable sum. */
static void print_naive(unsigned width, struct text *text)
{
    unsigned samples = width * width;
    text_append(text, "fir:");
    for (unsigned i = 0; i < samples; i++)
        text_printf(text, "%s%d", i == 0 ? "" : i % width ? "_" : "/", i == samples / 2 ? 2 : 1);
    text_printf(text, ":divisor=%u", samples + 1);
}

/* Frames a second of the last row: by the kernels alone, and with copies in and out. */
static void print_frames(const struct bench_context *context)
{
    const json_t *row = json_array_get(context->rows, json_array_size(context->rows) - 1);
    bool by_reference = json_is_null(json_object_get(row, "ran_on"));
    double kernels = real_of(row, "median_s"), job = real_of(row, "job_median_s");
    if (by_reference)
        fprintf(cli_stdout, " %10s %10.1f", "-", 1 / kernels);
    else
        fprintf(cli_stdout, " %10.0f %10.0f", 1 / kernels, 1 / job);
    fflush(cli_stdout);
}

/* Of RGBA, whose frames a display would take. */
static int run_widths(const struct bench_context *context, struct fault *fault)
{
    static const unsigned widths[] = {3, 5, 9, 17, 31, 51, 75, 101};
    static const char *const methods[] = {"separable", "sat", "naive"};
    static const struct plane shape = {
        .width = 1024, .height = 1024, .channels = 4, .type = SAMPLE_U8};
    struct bench_context quiet = *context;
    int code = 0;
    quiet.lines = false;
    if (context->lines)
        fputs(
            "frames/s of 1024x1024 RGBA     separable                 table            every sample\n"
            "    width          kernels   with i/o    kernels   with i/o    kernels   with i/o\n",
            cli_stdout);
    for (size_t i = 0; i < sizeof widths / sizeof *widths && code == 0; i++) {
        if (context->lines)
            fprintf(cli_stdout, "%9u        ", widths[i]);
        for (size_t m = 0; m < 3 && code == 0; m++) {
            struct text text = {0};
            bool naive = m == 2;
            if (naive && widths[i] > PARAM_MATRIX_SIDE) {
                if (context->lines)
                    fprintf(cli_stdout, " %10s %10s", "-", "-");
                continue;
            }
            if (naive)
                print_naive(widths[i], &text);
            else
                text_printf(&text, "box:width=%u:method=%s", widths[i], methods[m]);
            code = run_chain(&quiet, text_string(&text), &shape, fault);
            text_finish(&text);
            if (code == 0 && context->lines)
                print_frames(context);
        }
        if (context->lines)
            fputc('\n', cli_stdout);
    }
    return code;
}

const struct bench bench_widths = {"widths", run_widths, false};

/* Cycles that a Mali takes for a sample of that stage, by its form with vectors or by the scalar one,
 * which it has with border=crop, since rows are not aligned there; -1: not counted. */
static double cycles_of_sample(const char *text, bool scalar, enum board_gpu gpu)
{
    static const struct plane shape = {
        .width = 4096, .height = 3072, .channels = 1, .type = SAMPLE_U8};
    struct plan_options options = {.profile = device_profile_by_name("mali")};
    struct chain chain = {0};
    struct frame frame = {0};
    struct plan *plan = NULL;
    char longer[80];
    double cycles = -1;
    snprintf(longer, sizeof longer, "%s%s", text, scalar ? ":border=crop" : "");
    if (chain_parse(&chain, longer, NULL) == 0 && frame_add_plane(&frame, &shape, FRAME_ALIGNMENT) &&
        plan_create(&plan, &chain, &frame, &options, NULL) == 0)
        cycles = board_cycles(gpu, plan);
    plan_destroy(&plan);
    frame_finish(&frame);
    chain_finish(&chain);
    return cycles < 0 ? -1 : cycles / ((double)shape.width * shape.height);
}

/* Adds to the last row what is counted of its stage's forms on Mali GPUs, and prints it. */
static void add_counted(const struct bench_context *context, const char *chain)
{
    json_t *row = json_array_get(context->rows, json_array_size(context->rows) - 1);
    json_t *counted = json_object();
    for (int gpu = 0; gpu < BOARD_GPUS; gpu++) {
        json_t *forms = json_object();
        double vector = cycles_of_sample(chain, false, (enum board_gpu)gpu);
        double scalar = cycles_of_sample(chain, true, (enum board_gpu)gpu);
        bench_set_real(forms, "vector", vector);
        bench_set_real(forms, "scalar", scalar);
        json_object_set_new(counted, board_gpu_name((enum board_gpu)gpu), forms);
        if (context->lines)
            fprintf(cli_stdout, "%s%s %.2f, %.2f", gpu ? "; " : "  cycles a sample, vectors and not: ",
                    board_gpu_name((enum board_gpu)gpu), vector, scalar);
    }
    if (context->lines)
        fputc('\n', cli_stdout);
    json_object_set_new(row, "cycles", counted);
}

static int run_sizes(const struct bench_context *context, struct fault *fault)
{
    static const char *const chains[] = {"fir:gaussian3", "convert:type=f32,fir:gaussian3",
                                         "sobel:scale=1", "luminance,sobel:scale=1"};
    int code = 0;
    if (context->lines)
        bench_print_head();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        bool added = false, grey = c < 3, forms = c == 2;
        for (uint32_t side = 256; side <= 8192 && code == 0; side *= 2) {
            struct plane shape = {
                .width = side, .height = side, .channels = grey ? 1 : 3, .type = SAMPLE_U8};
            if ((uint64_t)side * side > context->options->common.max_pixels)
                break;
            code = run_chain(context, chains[c], &shape, fault);
            added = code == 0;
        }
        if (added && forms)
            add_counted(context, chains[c]);
    }
    return code;
}

const struct bench bench_sizes = {"sizes", run_sizes, false};
