/* What `sluice bench` uses to measure chains on pictures, on the device and by the references. */
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <jansson.h>

#include "base/file.h"
#include "chain/board.h"
#include "chain/tuned.h"
#include "cli/common.h"

struct bench_options {
    struct common_options common;
    const char *chain, *size, *type, *format, *input, *report, *board;
    int64_t iterations; /* 0: not given */
    bool variants, end_to_end;
    bool no_reference; /* for the benches of filter banks */
    const char *bank;
};

struct bench_context {
    const struct bench_options *options;
    unsigned iterations;
    const struct config *config;
    const char *select;    /* the word of --device that is measured */
    struct device *device; /* NULL: only the references are measured */
    /* with auto: native, for chains that sluice tune has found faster there; NULL: none are */
    struct device *native;
    const struct tuned *tuned;
    /* limits of this board are printed beside the measured times; NULL: unknown */
    const struct board *board;
    json_t *rows;
    bool lines;                /* print lines */
    bool beside;               /* several devices are measured, to be printed side by side */
    struct file_draft *report; /* to be written; NULL: none */
    json_t *before;            /* state of the machine before the present bench of a report */
};

/* A bench with a table of its own: prints lines and adds rows. */
struct bench {
    const char *name;
    int (*run)(const struct bench_context *context, struct fault *fault);
    bool has_bank; /* --bank says of which filter bank */
};
extern const struct bench bench_filterbank1d, bench_filterbank2d, bench_widths, bench_sizes;

/* Adds a row, with the device that was asked for and the one that it ran on (NULL: the references).
 */
void bench_add_row(const struct bench_context *context, json_t *row,
                   const struct device_info *ran_on);

/* Prints all rows as one table, a line for each chain and picture, with the devices side by side.
 */
void bench_print_beside(const json_t *rows, const char *devices);

/* In seconds, over `iterations` runs. */
struct bench_time {
    double median, min;
};

/* How a chain is planned for a measurement; {0}: as for `sluice run`. */
struct bench_way {
    const struct device_profile *profile; /* NULL: the device's own */
    bool copy;                            /* also measure the copy kernel */
    bool no_fuse;                         /* a kernel for each stage */
};

/* Options for planning in that way. */
struct plan_options bench_plan_options(const struct bench_context *context,
                                       const struct bench_way *way);

/* A launch of a chain. */
struct bench_launch {
    char stage[32], place[24];
    double seconds; /* by the device's clock; the median */
};

struct bench_result {
    /* by the device's clock; all launches of a run together */
    struct bench_time kernels;
    double queued, wait;   /* for the first launch, medians: until submitted; until started */
    struct bench_time job; /* on the host: samples in, kernels, samples out */
    uint64_t bytes;        /* that must move: the input once, the output once */
    uint64_t moved;        /* that the kernels move: input and output of each pass */
    size_t launches;
    /* bytes a second that the copy kernel read and wrote; 0: not measured */
    double copy_per_second;
    double copy_best; /* the same for its fastest run */
    double bound;     /* the least seconds that the kernels can take on the board; -1: not known */
    char forms[32];   /* of the kernels: "rows", "vector+scalar", "none" */
    const struct device_info *ran_on; /* NULL: the references */
    size_t n_parts;
    struct bench_launch *parts; /* each launch, where all runs have the same; owned */
    struct picture out; /* of the last run; owned */
};

/* Adds each launch to a row. */
void bench_add_parts(json_t *row, const struct bench_result *result);

/* Sorts the seconds. */
struct bench_time bench_summarise(double *seconds, size_t n);

/* Run `chain` on `in`, on the device (with auto on the faster of two) and by the reference. The
 * reference runs once; its time is result->job. */
int bench_run_device(const struct bench_context *context, const struct chain *chain,
                     const struct picture *in, const struct bench_way *way,
                     struct bench_result *result, struct fault *fault);
int bench_run_reference(const struct chain *chain, const struct picture *in,
                        struct bench_result *result, struct fault *fault);
void bench_result_finish(struct bench_result *result);

/* The copy kernel with which others are compared: it reads half of `bytes` and writes as many, a
 * byte of result for a byte of input. */
struct bench_copy;
int bench_copy_create(struct bench_copy **copy, struct device *device, uint64_t bytes,
                      struct fault *fault);
/* Seconds by the device's clock, and the bytes that were moved. */
int bench_copy_run(struct bench_copy *copy, double *seconds, uint64_t *bytes, struct fault *fault);
void bench_copy_destroy(struct bench_copy **copy);

/* Makes a picture of that shape, always the same: smooth with noise, in whole numbers over the
 * range of u8, in u16 over its own range, from -128 in signed types. */
int bench_picture(struct picture *picture, const struct plane *shape, struct fault *fault);

/* The difference of two pictures of one shape, by value. */
struct bench_difference {
    double squares, largest, min, max; /* min and max are those of `a` */
    uint64_t differing, samples;
};
struct bench_difference bench_compare(const struct picture *a, const struct picture *b);

/* Peak signal-to-noise ratio in dB; INFINITY when they are equal. */
double bench_psnr(const struct bench_difference *difference, double peak);

/* Adds rows of a chain and, if they are asked for, of its variants. The first row is the chain as
 * `sluice run` plans it. `shape` is the picture's. */
int bench_chain(const struct bench_context *context, const char *text, const struct chain *chain,
                const struct plane *shape, struct fault *fault);

void bench_print_head(void);

/* Prints all rows as an object, and writes it with facts about the machine to the report, as far as
 * either is asked for. `device` NULL: they are rows of the references. Returns the exit status,
 * after a complaint. */
int bench_give_rows(const struct bench_context *context, const struct device *device);

/* Adds rows of files that go through decoder, chain and encoder. Returns the exit status, after a
 * complaint. */
int bench_files(const struct bench_context *context, const char *text, char **files, size_t count);

/* The fields that all rows have. */
json_t *bench_row_json(const char *name, const char *variant, const struct plane *shape,
                       unsigned iterations);

/* Sets a number; null for one that is not known (negative or NaN). */
void bench_set_real(json_t *row, const char *key, double value);

#endif
