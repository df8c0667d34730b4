/* What `sluice bench` measures with: one chain over one picture, on the device and by the
 * references. */
#ifndef SLUICE_CLI_BENCH_H
#define SLUICE_CLI_BENCH_H

#include <jansson.h>

#include "chain/chain.h"
#include "cli/common.h"

struct bench_options {
    struct common_options common;
    int64_t iterations;
    bool no_reference;
    const char *bank;
};

struct bench_context {
    const struct bench_options *options;
    const struct config *config;
    struct device *device; /* NULL: the references alone */
    json_t *rows;          /* NULL: lines are printed */
};

/* One bench: prints lines or adds rows. */
struct bench {
    const char *name, *summary;
    int (*run)(const struct bench_context *context, struct fault *fault);
};
extern const struct bench bench_filterbank1d, bench_filterbank2d;

/* Seconds; each of `iterations` runs counts. */
struct bench_time {
    double median, min;
};

struct bench_result {
    struct bench_time kernels; /* the device's own clock, all launches together */
    struct bench_time job;     /* the host's: sample by sample in, kernels, sample by sample out */
    uint64_t bytes;            /* that the kernels move */
    struct picture out;        /* owned; of the last run */
};

/* Runs `chain` on `in`; 0 iterations of the device's part run the reference once, whose time is
 * result->job. */
int bench_run_device(const struct bench_context *context, const struct chain *chain,
                     const struct picture *in, struct bench_result *result, struct fault *fault);
int bench_run_reference(const struct chain *chain, const struct picture *in,
                        struct bench_result *result, struct fault *fault);
void bench_result_finish(struct bench_result *result);

/* A picture of one plane of whole numbers from 0 to 255, smooth with noise, the same every time. */
int bench_picture(struct picture *picture, uint32_t width, uint32_t height, enum sample_type type,
                  struct fault *fault);

/* How far planes of one shape are apart: the largest difference, and the peak signal-to-noise ratio
 * for a peak of 255 in dB; INFINITY when they are the same. */
struct bench_difference {
    double largest, psnr;
};
struct bench_difference bench_compare(const struct picture *a, const struct picture *b);

#endif
