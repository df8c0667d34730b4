/* What `sluice bench` measures with: chains over pictures, on the device and by the references. */
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <jansson.h>

#include "base/file.h"
#include "chain/board.h"
#include "cli/common.h"

struct bench_options {
    struct common_options common;
    const char *chain, *size, *type, *format, *input, *report, *board;
    int64_t iterations; /* 0: not given */
    bool variants, end_to_end;
    bool no_reference; /* of the filter banks' benches */
    const char *bank;
};

struct bench_context {
    const struct bench_options *options;
    unsigned iterations;
    const struct config *config;
    struct device *device;     /* NULL: the references alone */
    const struct board *board; /* what is measured is told beside what it bounds; NULL: unknown */
    json_t *rows;
    bool lines;                /* are printed */
    struct file_draft *report; /* that is wanted, or NULL */
    json_t *before;            /* how the machine was when the bench of a report began */
};

/* One bench with a table of its own: prints lines, adds rows. */
struct bench {
    const char *name, *summary;
    int (*run)(const struct bench_context *context, struct fault *fault);
};
extern const struct bench bench_filterbank1d, bench_filterbank2d;

/* Seconds; each of `iterations` runs counts. */
struct bench_time {
    double median, min;
};

/* How a chain is planned for a measurement; {0}: as `sluice run` does. */
struct bench_way {
    const struct device_profile *profile; /* NULL: the device's own */
    bool copy;                            /* measure the copy kernel beside it */
    bool no_fuse;                         /* a kernel for each stage */
};

/* What a plan in that way is told. */
struct plan_options bench_plan_options(const struct bench_context *context,
                                       const struct bench_way *way);

struct bench_result {
    /* By the device's own clock, all launches of a run together. */
    struct bench_time kernels;
    double queued, wait;   /* medians, of the first launch: until submitted, until started */
    struct bench_time job; /* the host's: samples in, kernels, samples out */
    uint64_t bytes;        /* that must move: the input read once, the output written once */
    uint64_t moved;        /* that the kernels move: each pass's input and output */
    size_t launches;
    double copy_per_second; /* bytes that the copy kernel read and wrote; 0: not measured */
    double copy_best;       /* the same at its fastest */
    double bound;           /* seconds that the kernels take on the board at least; -1: not known */
    char forms[32];         /* of the kernels: "rows", "vector+scalar", "none" */
    struct picture out;     /* owned; of the last run */
};

/* Seconds in ascending order afterwards. */
struct bench_time bench_summarise(double *seconds, size_t n);

/* Runs `chain` on `in`; the reference runs once, and its time is result->job. */
int bench_run_device(const struct bench_context *context, const struct chain *chain,
                     const struct picture *in, const struct bench_way *way,
                     struct bench_result *result, struct fault *fault);
int bench_run_reference(const struct chain *chain, const struct picture *in,
                        struct bench_result *result, struct fault *fault);
void bench_result_finish(struct bench_result *result);

/* The copy that figures are told as shares of: a kernel that reads half of `bytes` and writes as
 * many, one byte of result for one of input. */
struct bench_copy;
int bench_copy_create(struct bench_copy **copy, struct device *device, uint64_t bytes,
                      struct fault *fault);
/* Seconds by the device's clock, and the bytes that moved in them. */
int bench_copy_run(struct bench_copy *copy, double *seconds, uint64_t *bytes, struct fault *fault);
void bench_copy_destroy(struct bench_copy **copy);

/* A picture of that shape, smooth with noise, the same every time: whole numbers over the range of
 * u8, in u16 over its own range, and from -128 in signed types. */
int bench_picture(struct picture *picture, const struct plane *shape, struct fault *fault);

/* How far planes of one shape are apart: the largest difference, and the peak signal-to-noise ratio
 * for a peak of 255 in dB; INFINITY when they are the same. */
struct bench_difference {
    double largest, psnr;
};
struct bench_difference bench_compare(const struct picture *a, const struct picture *b);

/* A chain in another way that gives the same or a like result. */
struct bench_variant {
    char name[96];
    char *chain; /* owned: its text */
};

/* The chain's text with each other value of the parameters that choose how it is computed: box's
 * method, a transform's precision and wavelet. `*variants` is the caller's, each chain too. */
int bench_variants(const char *text, struct bench_variant **variants, size_t *count,
                   struct fault *fault);

/* Rows of a chain, and of its variants where they are asked for; the first row is the chain itself,
 * as it is planned for `sluice run`. `shape` is the picture's. */
int bench_chain(const struct bench_context *context, const char *text, const struct chain *chain,
                const struct plane *shape, struct fault *fault);

void bench_print_head(void);

/* All rows as an object, where somebody wants them: printed, and with what else is to be known of
 * the machine written to the file that is told. `device` NULL: they are of the references. Returns
 * the exit status, after a complaint. */
int bench_give_rows(const struct bench_context *context, const struct device *device);

/* What a figure can depend on: the system's versions, and its clocks and temperatures as they are
 * now. */
json_t *bench_system_json(void);
json_t *bench_state_json(void);

/* Rows of files through decoder, chain and encoder. Returns the exit status, after a complaint. */
int bench_files(const struct bench_context *context, const char *text, char **files, size_t count);

/* A row's fields that rows of all kinds have. */
json_t *bench_row_json(const char *name, const char *variant, const struct plane *shape,
                       unsigned iterations);

/* Sets a number, or null where it could not be had (below 0 or no number). */
void bench_set_real(json_t *row, const char *key, double value);

#endif
