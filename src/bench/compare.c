/* sluice compare: the difference of two pictures by value, whatever their types. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "bench/bench.h"
#include "chain/reference.h"

struct compare_options {
    struct common_options common;
    const char *input;
};

static const struct options_row options[] = {
    OPTION(0, "OPTIONS", TEXT, "input", offsetof(struct compare_options, input),
           "options for reading: orient=0 keeps the stored orientation, partial=1 accepts "
           "truncated files, strict=1 refuses files with warnings"),
    {0},
};

static const struct options_usage usage = {
    .command = "compare",
    .operands = "A B",
    .summary =
        "Prints mean squared error, PSNR, largest difference and number of differing samples "
        "of two pictures.",
    .details = "Exit status 1 when they differ, 65 when their shapes do.\n",
    .tables = {options, cli_limit_options, cli_output_options},
};

/* The picture that a video frame's planes mean, in their place. */
static int make_picture(struct picture *picture, struct fault *fault)
{
    static const struct plan_options as_it_is = {0};
    static const struct chain nothing = {0};
    struct picture made = {0};
    struct plan *plan = NULL;
    int result = plan_create(&plan, &nothing, &picture->frame, &as_it_is, fault);
    if (result == 0)
        result = reference_run(plan, picture, &made, fault);
    plan_destroy(&plan);
    if (result != 0)
        return result;
    picture_destroy(picture);
    *picture = made;
    return 0;
}

static int read_picture(const struct compare_options *o, const char *path, struct picture *picture,
                        struct fault *fault)
{
    struct bytes file = {0};
    struct decoder decoder = {0};
    struct decode_options decode;
    struct codec_limits limits = {o->common.max_pixels, o->common.memory};
    int result = decode_options_parse(&decode, o->input, "--input", fault);
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (result == 0 && fd < 0)
        result = fault_set_errno(fault, FAULT_NO_INPUT, NULL);
    if (result == 0)
        result = file_read(fd, o->common.max_file, &file, fault);
    file_close(&fd);
    if (result == 0)
        result = decoder_open(&decoder, file.data, file.size, &decode, &limits, fault);
    if (result == 0 && !picture_create(picture, &decoder.frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    if (result == 0)
        result = decoder_read(&decoder, picture, fault);
    if (result == 0 && picture->frame.video.format)
        result = make_picture(picture, fault);
    cli_tell_warnings(path, text_string(&decoder.warnings));
    decoder_close(&decoder);
    bytes_finish(&file);
    return result;
}

/* Complains, and returns false, when number or sizes of planes differ. */
static bool same_dimensions(char **paths, const struct frame *a, const struct frame *b)
{
    if (a->n_planes != b->n_planes) {
        fprintf(stderr, "sluice: compare: shapes differ: %s has %zu planes, %s has %zu\n", paths[0],
                a->n_planes, paths[1], b->n_planes);
        return false;
    }
    for (size_t i = 0; i < a->n_planes; i++) {
        const struct plane *p = &a->planes[i], *q = &b->planes[i];
        if (p->width == q->width && p->height == q->height && p->channels == q->channels)
            continue;
        fprintf(stderr, "sluice: compare: shapes differ: %s is %ux%ux%u, %s is %ux%ux%u\n",
                paths[0], p->width, p->height, p->channels, paths[1], q->width, q->height,
                q->channels);
        return false;
    }
    return true;
}

static void add_sample(struct bench_difference *d, double a, double b)
{
    double apart = isnan(a) && isnan(b) ? 0 : a == b ? 0 : fabs(a - b);
    if (apart != 0) /* true for NaN and a number, too */
        d->differing++;
    d->squares += apart * apart;
    if (!(apart <= d->largest) && !isnan(d->largest))
        d->largest = apart;
    d->min = fmin(d->min, a); /* for a number and NaN this is the number */
    d->max = fmax(d->max, a);
    d->samples++;
}

struct bench_difference bench_compare(const struct picture *a, const struct picture *b)
{
    struct bench_difference d = {.min = INFINITY, .max = -INFINITY};
    for (size_t i = 0; i < a->frame.n_planes; i++) {
        const struct plane *p = &a->frame.planes[i], *q = &b->frame.planes[i];
        size_t p_size = sample_size(p->type), q_size = sample_size(q->type);
        for (uint32_t y = 0; y < p->height; y++) {
            const uint8_t *from_a = picture_row(a, i, y), *from_b = picture_row(b, i, y);
            for (size_t x = 0; x < (size_t)p->width * p->channels; x++)
                add_sample(&d, sample_load(p->type, from_a + x * p_size),
                           sample_load(q->type, from_b + x * q_size));
        }
    }
    return d;
}

double bench_psnr(const struct bench_difference *d, double peak)
{
    double mse = d->squares / (double)d->samples;
    return mse == 0 ? (double)INFINITY : 10 * log10(peak * peak / mse);
}

/* JSON has neither infinities nor NaN. */
static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void print(const struct compare_options *o, const struct picture *a,
                  const struct bench_difference *d)
{
    char text[NUMBER_TEXT_MAX];
    double mse = d->squares / (double)d->samples;
    enum sample_type type = a->frame.planes[0].type;
    bool is_byte = type == SAMPLE_U8 || type == SAMPLE_I8;
    /* 255 or 65535 for integers; for floats the range of A */
    double peak = !sample_is_integer(type) ? d->max - d->min : is_byte ? 255 : 65535;
    double psnr = bench_psnr(d, peak);
    if (o->common.json) {
        cli_print_json(json_pack("{s:o, s:o, s:o, s:I}", "mse", real_or_null(mse), "psnr",
                                 real_or_null(psnr), "max_abs", real_or_null(d->largest),
                                 "differing", (json_int_t)d->differing));
        return;
    }
    fprintf(cli_stdout, "mse %s\n", number_format_real(mse, text));
    /* so that no sign of NaN is printed */
    fprintf(cli_stdout, "psnr %.4f\n", isnan(psnr) ? (double)NAN : psnr);
    fprintf(cli_stdout, "max_abs %s\n", number_format_real(d->largest, text));
    fprintf(cli_stdout, "differing %" PRIu64 "\n", d->differing);
}

static int compare_command(void *options_, char **operands, size_t count)
{
    struct compare_options *o = options_;
    struct picture pictures[2] = {0};
    struct fault fault = FAULT_INIT;
    int status = 0;
    cli_common_apply(&o->common);
    if (count != 2)
        return cli_refuse(64, "compare: two pictures are compared (see sluice compare --help)");
    for (int i = 0; i < 2 && status == 0; i++)
        if (read_picture(o, operands[i], &pictures[i], &fault) != 0)
            status = cli_complain(operands[i], &fault);
    if (status == 0 && !same_dimensions(operands, &pictures[0].frame, &pictures[1].frame))
        status = 65;
    if (status == 0) {
        struct bench_difference d = bench_compare(&pictures[0], &pictures[1]);
        print(o, &pictures[0], &d);
        status = d.differing ? 1 : 0;
    }
    picture_destroy(&pictures[0]);
    picture_destroy(&pictures[1]);
    return status;
}

const struct command command_compare = {&usage, sizeof(struct compare_options), compare_command};
