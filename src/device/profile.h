/* What a plan needs to know of a device: data, so that planning is pure and can be done for a
 * device that is not there (`sluice plan --profile mali`). */
#ifndef SLUICE_DEVICE_PROFILE_H
#define SLUICE_DEVICE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* The shapes that kernels are written in. No one shape is fast everywhere. */
enum kernel_form {
    FORM_ROWS,   /* one work-item walks a stretch of a row: CPU compilers vectorise the loop */
    FORM_VECTOR, /* one work-item moves one aligned vector: GPUs that load wide */
    FORM_SCALAR, /* one work-item, one sample */
    KERNEL_FORMS
};

struct device_profile {
    const char *name;                /* of the class: "native", "cpu", "gpu", "mali" */
    enum kernel_form form;           /* preferred where a stage has several */
    unsigned vector_bytes;           /* that one work-item of FORM_VECTOR moves in one access */
    unsigned segment;                /* samples of a row that one work-item of FORM_ROWS walks */
    unsigned local[KERNEL_FORMS][2]; /* work-group shape by form, x and y */
    unsigned units;                  /* cores, or what the driver counts as such */
    bool packs_shorts;               /* 16-bit arithmetic costs no more than 32-bit */
    bool packs_bytes;                /* instructions cost more than bytes: stencils of u8 take two
                                        samples in a word (cl/packed.cl) */
    bool takes_columns;              /* registers are few, and local memory is no faster than the
                                        rest: work-items go down columns (cl/columns.cl) */
    unsigned local_memory;           /* bytes for a work-group, where it is faster than the rest */
    bool has_fp64;
    bool generic;  /* plans take kernels into whose text no parameter of a stage is written: slower,
                      but few for any number of chains (chain/programs.h) */
    bool prebuilt; /* kernels were compiled when sluice was built, so plans are generic */
    bool host_memory;        /* buffers may be memory of the host's, used where it lies */
    bool exact_divide;       /* f32 division is correctly rounded when asked for */
    bool has_watchdog;       /* the kernel driver kills launches that take long */
    double work_per_second;  /* scalar operations, estimated low on purpose: see pass.work */
    uint64_t max_allocation; /* bytes of one buffer */
    uint64_t memory;         /* bytes of the device's memory */
};

/* The class's profile as known without a device; NULL for an unknown name. */
const struct device_profile *device_profile_by_name(const char *name);

/* "rows", "vector", "scalar". */
const char *kernel_form_name(enum kernel_form form);

/* A launch is planned to take at most this long, so that no driver takes it for hung: panfrost
 * kills a job after 500 ms, old Mali drivers after 100 ms. */
#define LAUNCH_SECONDS_MAX 0.1

/* Rows of a launch, at most: PoCL compiles a kernel again, silently, for a grid with a side of
 * 65535 or more. */
#define LAUNCH_ROWS_MAX 65000

#endif
