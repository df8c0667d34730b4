/* A profile: what planning needs to know about a device. It is data, so that plans can be made
 * without the device (`sluice plan --profile mali`). */
#ifndef SLUICE_DEVICE_PROFILE_H
#define SLUICE_DEVICE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* The ways in which kernels divide their work. None is the fastest on every device. */
enum kernel_form {
    FORM_ROWS,   /* a work-item processes a stretch of a row in a loop, which compilers for CPUs
                    vectorise */
    FORM_VECTOR, /* a work-item processes one aligned vector: for GPUs that load vectors */
    FORM_SCALAR, /* a work-item processes one sample */
    KERNEL_FORMS
};

struct device_profile {
    const char *name;      /* the class: "native", "cpu", "gpu", "mali" */
    enum kernel_form form; /* preferred where a stage has several */
    unsigned vector_bytes; /* size of the vector that a work-item of FORM_VECTOR processes */
    unsigned segment;      /* samples of a row that a work-item of FORM_ROWS processes */
    unsigned local[KERNEL_FORMS][2]; /* shape of work-groups by form, x and y */
    unsigned units;                  /* cores, or what the driver counts */
    bool packs_shorts;               /* 16-bit arithmetic is not slower than 32-bit arithmetic */
    bool packs_bytes; /* arithmetic costs more than memory: stencils of u8 compute with two samples
                         in a 32-bit word (cl/packed.cl) */
    bool multiplies_bytes; /* there are instructions for products of matrices of bytes, which 32
                              work-items hold together (cl/matrix.cl) */
    bool takes_columns;    /* there are few registers, and local memory is not faster than other
                              memory: work-items go down columns (cl/columns.cl) */
    unsigned local_memory; /* bytes for a work-group; 0: it is not faster than other memory */
    bool has_fp64;
    bool generic;  /* kernels may not contain parameters of stages: they are slower, but few for any
                      number of chains (chain/recording.c) */
    bool prebuilt; /* kernels were compiled when sluice was built, so plans are generic */
    bool host_memory;        /* buffers can be the caller's memory, used in place */
    bool exact_divide;       /* f32 division is correctly rounded when asked for */
    bool has_watchdog;       /* the kernel driver kills long launches */
    uint32_t band_bytes;     /* of a result: kernels that divide it in bands make none much larger,
                                since it goes on before all of it is there; 0: they may */
    double work_per_second;  /* scalar operations, estimated low on purpose: see pass.work */
    uint64_t max_allocation; /* bytes of one buffer */
    uint64_t memory;         /* bytes of the device's memory */
};

/* The class's profile without a device; NULL for an unknown name. */
const struct device_profile *device_profile_by_name(const char *name);

/* "rows", "vector", "scalar". */
const char *kernel_form_name(enum kernel_form form);

/* Launches are planned to take at most this long, so that drivers do not kill them: panfrost kills
 * a job after 500 ms, old Mali drivers after 100 ms. */
#define LAUNCH_SECONDS_MAX 0.1

/* The most rows of a launch: for a grid with a side of 65535 or more PoCL silently compiles the
 * kernel again. */
#define LAUNCH_ROWS_MAX 65000

#endif
