/* Programs: OpenCL C compiled for a device, and the kernels in them.
 *
 * A program comes from the binary cache if the cache has one for exactly this source, device,
 * driver and options; otherwise it is compiled. device_program_store writes it to the cache, after
 * its kernels were created and run once: some Mali drivers compile in clCreateKernel, and PoCL
 * compiles at a kernel's first run. */
#ifndef SLUICE_DEVICE_BATCH_H
#define SLUICE_DEVICE_BATCH_H

#include "device/device.h"
#include "device/memory.h"

struct device_program;
struct device_kernel;

/* How many programs the daemon's clients may have compiled on a device (PROGRAM_COUNTED). With PoCL
 * a program takes some tenths of a second and about 1 MiB. All stages together have two to three
 * times as many kernels, but nobody needs all types of samples and numbers of channels. */
#define PROGRAM_COUNTED_MAX 384

/* Finds the program of that source, or loads or compiles it. A fault of the compiler contains the
 * first lines of its log, which name the kernel's file and line. FAULT_KERNELS: PROGRAM_COUNTED_MAX
 * is reached. device_program_put must follow. */
int device_program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault);

/* Takes NULL; clears the pointer. */
void device_program_put(struct device *device, struct device_program **program);

/* Finds a kernel by its name. It belongs to the program. */
int device_program_kernel(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault);

/* For a device whose kernels were compiled with sluice (profile->prebuilt): finds the kernel for
 * passes with that hash (pass_hash in stage/pass.h). FAULT_INTERNAL names a missing one. */
int device_kernel_find(struct device *device, uint64_t hash, const char *name,
                       const struct device_kernel **kernel, struct fault *fault);

/* One of several kernels that are called in turn for each row (device_rows_create). `hash` and
 * `name` are as for device_kernel_find. */
struct device_part {
    uint64_t hash;
    const char *name;
    unsigned n_args;       /* as a launch counts them: a plane is three */
    int line_in, line_out; /* index of the first argument of the plane that the part before writes
                              into, and that the part behind reads, in memory for lines instead of
                              a picture; of the first part line_in is -1, of the last one line_out
                              is the result's plane */
    unsigned ring;         /* the number of lines at line_in, of which each row overwrites the
                              oldest, for a stencil; 0: one line */
};

/* Makes a program with one kernel that computes several passes row by row: for each row of the
 * result it calls the parts in turn, so that rows between them stay in the cache. A work-item is a
 * band of rows. The launch's arguments after the grid's are:
 *
 *     memory for lines; bytes of it for each band; rows of a band; rows of the result;
 *     of the plane that the ring replaces: its rows, its border (enum border), and how many rows
 *     above its own a row of the stencil needs;
 *     whether a row of the result has room for a row that the stencil, or without one the first
 *     part, hands on: then it is kept there for a while, in the row behind that of its result;
 *     for each part: the grid's width, its work-items in a row, and its own arguments, of which
 *     line_in and line_out point into the first band's memory, with a stride of 0 for a single line
 *     and the distance of lines for a ring.
 *
 * device_program_put ends it. */
int device_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault);

/* Writes the program to the binary cache, and to the file of --dump-binary, unless that has been
 * done. */
int device_program_store(struct device *device, struct device_program *program,
                         struct fault *fault);

/* ---- batches ---- */

/* A kernel argument: a value of 4 or 8 bytes, or a buffer. */
struct device_arg {
    enum {
        ARG_VALUE_4,
        ARG_VALUE_8,
        ARG_MEMORY,
    } kind;
    union {
        int32_t i;
        uint32_t u;
        float f;
        int64_t l;
        double d;
        const struct device_buffer *buffer;
    };
    int64_t shift; /* bytes from the buffer's beginning to where the kernel shall take it to begin,
                      so that rows by their numbers in a picture are where some of them are held; 0
                      except on native */
};

struct device_launch {
    const char *stage; /* whose work it is, for errors; must outlive the batch */
    const struct device_kernel *kernel;
    const struct device_arg *args;
    unsigned n_args;
    size_t global[2], local[2]; /* work-items; local divides global */
    double work;                /* scalar operations, estimated */
};

/* How long a launch took, in nanoseconds by the device's own clock. */
struct device_timing {
    const char *kernel; /* valid as long as the kernel */
    uint64_t queued;    /* in the queue, until it was submitted to the device */
    uint64_t wait;      /* from then until it started */
    uint64_t run;       /* from its start to its end */
};

/* A batch: all commands of one job, recorded together and waited for once.
 *
 *     begin → unmap the input → launches → map the output → submit → wait
 *
 * Recording an OpenCL batch holds the device's lock, because a kernel keeps the arguments that were
 * set last. Waiting does not, so that other jobs are decoded and encoded while kernels run.
 * device_batch_finish must end every batch; it waits if nobody has. */
struct device_batch;

int device_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault);

/* Hands a mapped or wrapped buffer to the device. device_batch_traffic counts this and
 * device_batch_map. */
int device_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);

int device_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);

/* Maps the first `size` bytes for reading, after all earlier commands. `*data` is valid from the
 * wait until the buffer is released. */
int device_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     void **data, struct fault *fault);

/* Lets other jobs record. Submits the commands if the device has nothing else to do; otherwise they
 * go with the next batch, or when a submitted batch is waited for. Submitting is a call into the
 * kernel that takes as long as a small picture does. */
int device_batch_submit(struct device_batch *batch, struct fault *fault);

/* Waits for the last command. A fault names the command that failed. */
int device_batch_wait(struct device_batch *batch, struct fault *fault);

/* After the wait: times of the launches in their order; NULL without memory, or where nothing was
 * launched. Valid until device_batch_finish. */
const struct device_timing *device_batch_timings(struct device_batch *batch, size_t *count);

/* What the batch has moved so far. Valid until device_batch_finish. */
const struct device_traffic *device_batch_traffic(const struct device_batch *batch);

/* Takes NULL; clears the pointer. */
void device_batch_finish(struct device_batch **batch);

#endif
