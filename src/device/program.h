/* Programs: OpenCL C compiled for a device, and the kernels in them.
 *
 * A program comes from the binary cache if the cache has one for exactly this source, device,
 * driver and options; otherwise it is compiled. device_program_store writes it to the cache, after
 * its kernels were created and run once: some Mali drivers compile in clCreateKernel, and PoCL
 * compiles at a kernel's first run. */
#ifndef SLUICE_DEVICE_PROGRAM_H
#define SLUICE_DEVICE_PROGRAM_H

#include "device/device.h"

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

/* What a launch of such a program's kernel is given behind the grid and the memory for lines: an
 * argument for each member, in this order. */
struct device_rows {
    int32_t band_bytes;  /* of the memory for lines, for each band */
    int32_t band, rows;  /* rows of a band, and of the result */
    int32_t ring_rows;   /* of the plane that the ring replaces, if there is one */
    int32_t ring_border; /* its enum border */
    int32_t ring_top;    /* rows above its own that a row of the stencil needs */
    int32_t relays; /* a row of the result has room for a row that the stencil, or without one the
                       first part, hands on: then it is kept there for a while, in the row behind
                       that of its result */
};

/* Then for each part: the same of its grid, and the part's own arguments, of which line_in and
 * line_out point into the first band's memory, with a stride of 0 for a single line and the
 * distance of lines for a ring. */
struct device_rows_grid {
    int32_t width, items; /* positions, and work-items in a row */
};

/* How many arguments such a struct is. */
#define DEVICE_ROWS_ARGS(of) (sizeof(of) / sizeof(int32_t))

/* Makes a program with one kernel that computes several passes row by row: for each row of the
 * result it calls the parts in turn, so that rows between them stay in the cache. A work-item is a
 * band of rows. device_program_put ends it. */
int device_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault);

/* Writes the program to the binary cache, and to the file of --dump-binary, unless that has been
 * done. */
int device_program_store(struct device *device, struct device_program *program,
                         struct fault *fault);

#endif
