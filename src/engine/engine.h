/* The engine runs pictures through chains, several at once. `sluice run` and `sluice-worker` use
 * it.
 *
 * One thread takes a job from beginning to end: it reads and probes the input, plans, decodes into
 * mapped device memory, runs the kernels, and encodes from mapped memory. With several threads,
 * some jobs decode or encode while kernels run for others. Memory is reserved from a budget before
 * it is allocated. */
#ifndef SLUICE_ENGINE_ENGINE_H
#define SLUICE_ENGINE_ENGINE_H

#include "chain/chain.h"
#include "codec/codec.h"
#include "device/device.h"

struct engine;

/* How far a configured chain has come on its way from native to the device (`background`), or that
 * its check on native has failed. */
struct engine_move {
    int64_t id; /* that engine_warm was given; −1: this is about the device, which
                   cannot be opened */
    const struct device_info *on; /* where the chain runs now; NULL: by the references */
    unsigned done, of;       /* of what the device needs for it; when all is done it has moved */
    const struct fault *why; /* it stays where it is; NULL: it is on its way, or has moved */
};

struct engine_options {
    struct device_options device;
    bool reference;  /* run the plain C references; OpenCL is not loaded */
    bool no_fuse;    /* give each stage kernels of its own */
    bool self_check; /* engine_warm compares the device with the references */
    bool generic;    /* after engine_warm only generic kernels are compiled, of which there are few,
                        because chains come from strangers (engine/prepared.c) */
    bool background; /* with the fallback "native": jobs run on native from the start, and a thread
                        makes each chain ready for the device, which then runs it */
    const char *fallback; /* what runs a chain that fails its check: "native", "cpu" (the references
                             if that is the device itself), "reference"; NULL: nothing */
    uint64_t max_pixels;  /* of a picture */
    uint64_t max_file;    /* bytes of an input */
    uint64_t memory;      /* bytes that all jobs together may hold: files, planes, decoders; … */
    uint64_t held;        /* … and in these are so many that second pictures take all the time */
    unsigned threads;     /* jobs at once; 0: as many as processors */
    /* NULL, or called by engine_warm at its beginning and after each program that it has compiled
     * and checked: `done` of the `of` that the chain needs. With many chains and a slow compiler
     * this takes minutes. */
    void (*warmed)(void *context, unsigned done, unsigned of);
    /* NULL, or called by that thread. */
    void (*moved)(void *context, const struct engine_move *move);
    void *context;
};

/* Where a job's results go. Called on the job's thread, for one result after the other. */
struct engine_output {
    /* Opens the file for a plane of the chain's result number `result`, counted from 0; `plane` is
     * "" when there is one file for the whole result. */
    int (*open)(void *context, size_t result, const char *plane, int *fd, struct fault *fault);
    /* Ends the file. `good`: it is complete, and may be given its name. */
    int (*close)(void *context, int fd, bool good, struct fault *fault);
    void *context;
    bool is_final; /* what is written cannot be taken back, or not be gone back to: nothing is,
                      before all of the input has been read and computed */
};

struct engine_launch {
    char stage[64]; /* the stage's name; of stages that share a kernel "luminance+sobel" */
    char kernel[100];
    uint64_t queued, wait, run; /* nanoseconds, by the device's clock */
};

/* How a result of the chain is written, … */
struct engine_result {
    const struct format *format;
    const struct format *frame_format; /* used in place of `format` when several planes come out;
                                          NULL: `format` is */
};

/* … and what was written. */
struct engine_written {
    char format[12];
    struct plane plane; /* the first one; width 0: not known yet */
    size_t n_planes;
    uint64_t bytes; /* of all its files */
};

/* What a job has done, as far as it got. Times are nanoseconds of the monotonic clock.
 * worker/describe.h makes JSON of it. */
struct engine_report {
    char in_format[12];
    struct plane in; /* of the first plane; width 0: not known yet */
    size_t n_results;
    struct engine_written results[CHAIN_RESULTS_MAX];
    size_t n_stages; /* of the chain: each has run once, whatever number of results it serves; … */
    size_t n_asked;  /* … and how many they are if each result counts its own */
    bool stored_luma; /* the Y channel of the JPEG was used */
    uint32_t reduced; /* the picture was decoded at 1/reduced of its sides; 0: not known yet */
    bool verified; /* the device's result agrees with the reference's, as engine_job.verify asked */
    double largest_difference; /* between the two results; 0: they are equal */
    struct text warnings; /* of the decoder (codec.h), then of stages; one on each line; owned */
    const char *step; /* what the job was doing last: "read", "decode", "plan", "device", "encode",
                         "write"; a constant string */
    const struct device_info *ran_on; /* NULL: the references, or nothing had to run */
    uint64_t bytes_in, bytes_out;
    uint64_t queue; /* from engine_submit until a thread took the job; not part of the total */
    uint64_t read, decode, prepare, device, encode, write, total;
    uint64_t crossings_in, crossings_out; /* as the device counts them (device_traffic) */
    uint64_t bytes_copied; /* copies of pictures: by the device, of a raw frame into device memory,
                              of a sealed input that cannot be mapped, and for `verify`. Reading a
                              file and decoding a format do not count */
    size_t n_launches;
    struct engine_launch *launches; /* owned */
};

struct engine_job {
    int in_fd;                 /* borrowed */
    const struct chain *chain; /* borrowed until the job is done, as is all below */
    struct engine_result *results; /* one for each result of the chain; with a `frame_format` the
                                      engine sets `format` to the one that is used */
    struct decode_options decode;
    struct engine_output output;
    bool verify;         /* compare the device's result with the reference */
    unsigned iterations; /* of the device's part; 0 means 1 */
    uint64_t deadline; /* monotonic nanoseconds; 0: none. After it the job stops between two steps,
                          launches, or blocks of its result, with FAULT_TIME */

    /* The input is about to be read: from here on the job may fail because of it. Called on the
     * job's thread; may be NULL. */
    void (*began)(struct engine_job *job);

    struct fault fault; /* how the job ended */
    struct engine_report report;

    void (*done)(struct engine_job *job); /* for engine_submit: called on the job's thread */
    void *user;

    /* set by the engine */
    uint64_t submitted;
    struct engine_job *next;
};

/* Starts the threads. The device is opened when a job first needs it. */
int engine_open(struct engine **engine, const struct engine_options *options, struct fault *fault);

/* Waits for all submitted jobs. Takes NULL; clears the pointer. */
void engine_close(struct engine **engine);

/* Runs a job on the calling thread. Result and fault are in the job; returns the fault's code. */
int engine_run(struct engine *engine, struct engine_job *job);

/* Queues a job for the threads. `done` is called when it has ended. */
void engine_submit(struct engine *engine, struct engine_job *job);

/* Opens the device now and compiles what the chain needs for pictures of 8 and 16 bits with one to
 * four channels, whose results are written as `formats` say, one for each, so that no job waits for
 * a compiler. With self_check, compares these kernels' results on small odd-sized pictures with the
 * references; agreement is remembered in the cache directory by device, driver, chain and source.
 * The fallback runs a chain that differs from then on, and `wrong` (empty before) says what
 * differs; without a fallback this returns FAULT_VERIFY. With `background` all of this is done for
 * native, and the thread is given the chain; `id` is passed to options.moved. With options.moved
 * the comparison on native, whose kernels need no compiler, is left to that thread, too. Checks are
 * bounded: a chain whose pictures become large is not compared, and one that takes long only as far
 * as it comes. */
int engine_warm(struct engine *engine, int64_t id, const struct chain *chain,
                const struct format *formats, struct fault *wrong, struct fault *fault);

/* What kind of device the chain runs on: "native", "gpu", "cpu", …, "reference"; NULL: that is not
 * known before the first job. */
const char *engine_tier(struct engine *engine, const struct chain *chain);

/* With `background`: the thread is at something that engine_close would have to wait for. */
bool engine_is_busy(struct engine *engine);

/* What all jobs wait for while nothing runs: "opening the device", "compiling kernels for …"; ""
 * when nothing is being prepared. Any thread. */
#define ENGINE_PREPARING_MAX 96
void engine_preparing(struct engine *engine, char text[ENGINE_PREPARING_MAX]);

/* The device; NULL when none is open, since the references run or no job has needed one. It is native
 * until the other device is open, with `background` and where `sluice tune` has found native faster
 * for all jobs so far. */
struct device *engine_device(struct engine *engine);

void engine_report_finish(struct engine_report *report);

#endif
