/* Programs: OpenCL C compiled once for a device, and the kernels in them.
 *
 * A program is taken from the binary cache when the cache has one for exactly this source, device,
 * driver and options, and compiled else. Storing it there is a step of its own, taken after the
 * kernels have been created and run once: some Mali drivers compile at clCreateKernel, and PoCL at
 * a kernel's first run. */
#ifndef SLUICE_DEVICE_PROGRAM_H
#define SLUICE_DEVICE_PROGRAM_H

#include "device/device.h"

struct device_program;
struct device_kernel;

/* What strangers may have compiled on a device, in all: with PoCL a program takes some tenths of a
 * second and about 1 MiB. All stages have two to three times as many kernels, but nobody needs all
 * types of samples and numbers of channels. */
#define PROGRAM_COUNTED_MAX 384

/* Finds the device's program of that source, or compiles or loads it; `source` is NUL-terminated. A
 * compiler's complaint comes with the first lines of its log, which name the kernel's file and
 * line. FAULT_KERNELS: one more than PROGRAM_COUNTED_MAX. Each get is ended by a put. */
int device_program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault);

/* The same with PROGRAM_ANY. */
int device_program_get(struct device *device, const char *source, struct device_program **program,
                       struct fault *fault);

/* Takes NULL; clears the pointer. */
void device_program_put(struct device *device, struct device_program **program);

/* The kernel of that name; it belongs to the program. */
int device_program_kernel(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault);

/* Of a device whose kernels were compiled with sluice (profile->prebuilt): the kernel whose passes
 * have that hash (pass_hash in stage/pass.h). FAULT_INTERNAL names one that is not there. */
int device_kernel_find(struct device *device, uint64_t hash, const char *name,
                       const struct device_kernel **kernel, struct fault *fault);

/* Of kernels that are called in turn, a row at a time. `hash` and `name` as above. */
struct device_part {
    uint64_t hash;
    const char *name;
    unsigned n_args;       /* as a launch has them: planes are three */
    int line_in, line_out; /* where among them a plane begins that is a line between two parts, or
                              the lines of a ring; -1: none is */
    unsigned ring;         /* lines in which line_in keeps as many rows; 0: it is one line */
};

/* A program of one kernel, for such a device: each row of the result goes through all parts. A
 * work-item is a band of rows; the launch's arguments behind the grid's are: memory for lines, its
 * bytes for each band, a band's rows, the result's rows; the rows of the plane that the ring stands
 * for, what stands outside of it (enum border), and how many rows above its place a row needs; then
 * for each part the grid's width, its work-items in a row, and its own arguments, of which line_in
 * and line_out point into the first band's memory. Lines have a stride of 0, and the ring that of
 * its lines. Ended by device_program_put. */
int device_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault);

const char *device_kernel_name(const struct device_kernel *kernel);

/* Writes the program to the binary cache, and to --dump-binary's file, if that has not been done.
 */
int device_program_store(struct device *device, struct device_program *program,
                         struct fault *fault);

#endif
