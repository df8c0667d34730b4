/* The engine: pictures through chains, many at once. `sluice run` and `sluice-worker` both are this
 * engine and a way of feeding it.
 *
 * A job is read, probed, planned, decoded into mapped device memory, run, and encoded from mapped
 * memory, by one thread from beginning to end; several threads overlap the decoding and encoding of
 * some jobs with the kernels of others. Memory is reserved from a budget before it is taken. */
#ifndef SLUICE_ENGINE_ENGINE_H
#define SLUICE_ENGINE_ENGINE_H

#include "chain/chain.h"
#include "codec/codec.h"
#include "device/device.h"

struct engine;

struct engine_options {
    struct device_options device;
    bool reference;  /* run the plain C references; no OpenCL is loaded */
    bool no_fuse;    /* each stage has its own kernels */
    bool self_check; /* engine_warm compares the device with the references */
    bool generic;    /* after engine_warm nothing else is compiled but generic kernels, of which
                        there are few: chains come from strangers (engine/variant.c) */
    const char *fallback; /* what runs a chain that fails this: "native", "cpu" (the references where
                             it is the device itself), "reference"; NULL: nothing does */
    uint64_t max_pixels;  /* of one picture */
    uint64_t max_file;    /* bytes of one input */
    uint64_t memory;      /* bytes that all jobs together hold: files, planes, decoders */
    unsigned threads;     /* jobs at once; 0: as many as processors */
    /* NULL, or called by engine_warm at its beginning and each time that it has compiled and
     * checked a program: `done` of the `of` that the chain needs. With many chains and a slow
     * compiler it takes minutes. */
    void (*warmed)(void *context, unsigned done, unsigned of);
    void *context;
};

/* Where a job's results go. Called on the job's thread. */
struct engine_output {
    /* Opens the file for a plane; `plane` is "" when the result is one file. */
    int (*open)(void *context, const char *plane, int *fd, struct fault *fault);
    /* Ends the file that was opened: `good` means it is whole and may be given its name. */
    int (*close)(void *context, int fd, bool good, struct fault *fault);
    void *context;
};

struct engine_launch {
    char stage[64]; /* whose work it is; of several stages "luminance+sobel" */
    char kernel[100];
    uint64_t queued, wait, run; /* nanoseconds, by the device's clock */
};

/* What a job did: filled as far as it came. Times in nanoseconds by the monotonic clock.
 * worker/describe.h has it as JSON. */
struct engine_report {
    char in_format[12], out_format[12];
    struct plane in, out; /* of the first plane; width 0: not that far */
    size_t n_planes_out;
    bool stored_luma; /* the JPEG's own Y was taken */
    uint32_t reduced; /* the picture was decoded at 1/reduced of its sides; 0: not that far */
    bool verified; /* the device's result agrees with the reference, as engine_job.verify asked */
    double largest_difference; /* between the two; 0: they are equal */
    struct text warnings;      /* of the decoder, one a line (see codec.h); owned */
    const char *step; /* what it was at, or is: "read", "decode", "plan", "device", "encode",
                         "write"; a constant */
    const struct device_info *ran_on; /* NULL: the references, or nothing to run */
    uint64_t bytes_in, bytes_out;
    uint64_t queue; /* from engine_submit until a thread took it; not in the total */
    uint64_t read, decode, prepare, device, encode, write, total;
    uint64_t crossings_in, crossings_out; /* as the device counts them (device_traffic) */
    uint64_t bytes_copied; /* what the device has to copy, a raw frame that is copied into its
                              memory, a sealed input that cannot be mapped, and what `verify` keeps;
                              reading a file and decoding a format are no copies */
    size_t n_launches;
    struct engine_launch *launches; /* owned */
};

struct engine_job {
    int in_fd;                 /* borrowed */
    const struct chain *chain; /* borrowed, as all below, until the job is done */
    const struct format *format;
    const struct format *frame_format; /* takes the place of `format` when several planes come out;
                                          NULL: nothing does */
    struct decode_options decode;
    struct engine_output output;
    bool verify;         /* compare the device's result with the reference */
    unsigned iterations; /* of the device's part; 0 and 1 alike */
    uint64_t deadline;   /* monotonic nanoseconds; 0: none. A job that is past it stops between two
                            steps, launches, or blocks of its result, with FAULT_TIME */

    /* The input's bytes are about to be looked at: from here on they can be at fault. Called on the
     * job's thread; may be NULL. */
    void (*began)(struct engine_job *job);

    struct fault fault; /* how it ended */
    struct engine_report report;

    void (*done)(struct engine_job *job); /* for engine_submit: called on the job's thread */
    void *user;

    /* the engine's own */
    uint64_t submitted;
    struct engine_job *next;
};

/* Starts the threads; the device is opened when a job first needs it. */
int engine_open(struct engine **engine, const struct engine_options *options, struct fault *fault);

/* Waits for what was submitted. Takes NULL; clears the pointer. */
void engine_close(struct engine **engine);

/* Runs one job on the calling thread; result and fault are in the job, the code is returned too. */
int engine_run(struct engine *engine, struct engine_job *job);

/* Queues the job for the threads; `done` is called when it has ended. */
void engine_submit(struct engine *engine, struct engine_job *job);

/* Opens the device now, and compiles what the chain needs for pictures of 8 and 16 bits with one to
 * four channels that are written as `format`, so that no job waits for a compiler. With self_check,
 * compares what these kernels compute on small odd-sized pictures with the references; what has
 * agreed is remembered in the cache directory by device, driver, chain and source. A chain that
 * differs is run by the fallback from then on, and `wrong` (empty before) says what differs;
 * without one this is FAULT_VERIFY. */
int engine_warm(struct engine *engine, const struct chain *chain, const struct format *format,
                struct fault *wrong, struct fault *fault);

/* What jobs wait for while nothing runs: "opening the device", "compiling kernels for …"; "" when
 * nothing is being prepared. Any thread. */
#define ENGINE_PREPARING_MAX 96
void engine_preparing(struct engine *engine, char text[ENGINE_PREPARING_MAX]);

/* The device, or NULL when none is open (reference, or not yet). */
struct device *engine_device(struct engine *engine);

void engine_report_finish(struct engine_report *report);

#endif
