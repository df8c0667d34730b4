/* Passes: what a stage has the device do, as data.
 *
 * A pass is one kernel over a grid. Its kernel is an instance of a template in a .cl file: the same
 * text under different definitions (sample types, channels, form). cl/prelude.cl says what a
 * template may use and how its argument list begins. */
#ifndef SLUICE_STAGE_PASS_H
#define SLUICE_STAGE_PASS_H

#include "device/profile.h"
#include "image/frame.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASS_ARGS_MAX     64
#define PASS_NAME_MAX     96
#define PASS_DEFINES_MAX  1536
#define STAGE_SCRATCH_MAX 8
#define STAGE_TABLES_MAX  12

/* A span that holds any row: kernels depend on no picture's width. */
#define PASS_WHOLE_ROW (1u << 30)

/* The memory that an argument lies in. */
enum operand {
    OPERAND_IN,      /* the stage's input frame */
    OPERAND_OUT,     /* its output frame */
    OPERAND_SCRATCH, /* + index: a frame of its own, undefined at the start */
    OPERAND_TABLE = OPERAND_SCRATCH + STAGE_SCRATCH_MAX, /* + index: constants */
};

enum pass_arg_kind {
    PASS_PLANE,  /* three kernel arguments: base pointer, offset and stride in samples */
    PASS_BUFFER, /* one: the pointer to the operand's memory */
    PASS_TABLE,  /* the same for per-pixel functions: all of it, not the int that stands first */
    PASS_INT,
    PASS_UINT,
    PASS_FLOAT,
    PASS_LONG,
    PASS_DOUBLE,
};

struct pass_arg {
    enum pass_arg_kind kind;
    unsigned operand; /* PASS_PLANE, PASS_BUFFER, PASS_TABLE */
    unsigned plane;   /* PASS_PLANE: index within the operand's frame */
    union {
        int32_t i;
        uint32_t u;
        float f;
        int64_t l;
        double d;
    };
};

struct fused;

struct pass {
    const char *stage;              /* whose work this is, for errors and reports */
    const char *source;             /* name of the .cl file */
    char name[PASS_NAME_MAX];       /* of the kernel, readable: "sobel_magnitude_u8_c1_rows" */
    char defines[PASS_DEFINES_MAX]; /* "SRC uchar\nCH 1\n": one definition a line */
    enum kernel_form form;
    uint32_t grid_width;  /* positions in x (samples, pixels, as the kernel says) */
    uint32_t grid_height; /* in y; a launch may be split there, so none needs another */
    uint32_t span;        /* positions in x that one work-item covers */
    uint32_t group[2];    /* the work-group's shape, where the kernel asks for one; else 0 */
    uint32_t lanes;       /* LANES: samples in a vector of the kernel's code; 0: it has none */
    unsigned ring; /* of a part of another kernel: lines that its source is a ring of, or 0 */
    double work;   /* scalar operations for one position; an estimate */
    bool goes_on;  /* its kernel stores through THEN, so more can be done there (cl/prelude.cl) */
    struct fused *fused; /* owned by the pass: what its kernel is made of besides (chain/fuse.c) */
    uint64_t bytes_read, bytes_written; /* that must move: each sample once */
    unsigned n_args;
    struct pass_arg args[PASS_ARGS_MAX];
};

/* A table of constants that passes read. */
struct stage_table {
    void *data; /* owned */
    size_t size;
};

/* What a stage's passes() fills. */
struct stage_plan {
    const struct device_profile *profile;
    const struct frame *in, *out;
    const char *stage;
    unsigned n_scratch;
    struct frame scratch[STAGE_SCRATCH_MAX];
    unsigned n_tables;
    struct stage_table tables[STAGE_TABLES_MAX];
    unsigned n_passes;
    struct pass *passes; /* owned */
    const char *warning; /* static text that a user should read before running this; NULL: none */
    bool out_of_memory;  /* a helper below could not get memory; the caller of passes() checks */
};

void stage_plan_finish(struct stage_plan *plan);

/* A per-pixel function: `NAME_pixel` of cl/NAME.cl, with its parameters. A PASS_BUFFER among them
 * is passed as the int that stands first in its memory, where an earlier pass put it. */
#define PIXEL_ARGS_MAX 12
struct pixel_function {
    enum sample_type type;          /* that comes out */
    char defines[PASS_DEFINES_MAX]; /* definitions that the function's text asks for, besides types
                                     */
    char variant[24];               /* for the kernel's name; may be empty */
    double work;                    /* scalar operations a sample */
    bool keep_alpha;                /* alpha is copied, not computed */
    bool identity;                  /* gives back what it is given: needs no pass */
    bool scalar;                    /* written for one sample, not for vectors */
    bool generic;                   /* given: `defines` must not depend on the parameters */
    struct stage_plan *plan;        /* given: where tables go; NULL: the type alone is asked for */
    unsigned n_args;
    struct pass_arg args[PIXEL_ARGS_MAX]; /* values and buffers */
    char call[512]; /* of several functions, each of the result of the one before: `v` through all
                       of them, parameters as arg0, arg1 …; empty: NAME_pixel */
};

/* Definitions for a per-pixel function's text, as pass_define makes them. */
void pixel_define(struct pixel_function *function, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a table of the plan as the function's next parameter, `__global const uchar *restrict`. */
void pixel_add_table(struct pixel_function *function, const void *data, size_t size);

/* Begins a pass: kernel template `source`.cl, entry `variant` (part of its name; may be ""), in
 * `form`, over a grid of which each work-item covers `span` positions of a row (0: what the profile
 * says for FORM_ROWS, 1 else). Arguments and definitions are added to the one returned, which stays
 * valid until the next pass begins. Never NULL: when memory is out, plan->out_of_memory is set and
 * a pass that nobody will run is returned. */
struct pass *pass_begin(struct stage_plan *plan, const char *source, const char *variant,
                        enum kernel_form form, uint32_t span, uint32_t grid_width,
                        uint32_t grid_height);

/* The work-group's shape on such a device. */
void pass_group(const struct pass *pass, const struct device_profile *profile, unsigned group[2]);

/* Adds to the kernel's name, behind an underscore. */
void pass_name(struct pass *pass, const char *part);

void pass_define(struct pass *pass, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds definitions that stand ready, one a line. */
void pass_define_lines(struct pass *pass, const char *lines);

/* Defines NAME as the OpenCL type of samples (uchar) and NAME_IS_uchar, and adds "_u8" to the
 * kernel's name. */
void pass_define_type(struct pass *pass, const char *name, enum sample_type type);

/* Defines CH and DST_CH, the channels of a pixel in the source and in the destination, and ALPHA as
 * 1 where both end in alpha; adds "_c3" to the kernel's name. */
void pass_channels(struct pass *pass, uint32_t source, uint32_t destination);

/* As pass_define_type, but f64 is defined as ulong, the bits of a double (with NAME_IS_double), for
 * kernels that must do without fp64: saturate_f64 and float_of_f64 in cl/prelude.cl read them. */
void pass_define_type_bits(struct pass *pass, const char *name, enum sample_type type);

void pass_plane(struct pass *pass, unsigned operand, unsigned plane);
void pass_buffer(struct pass *pass, unsigned operand);

/* A plane that lies in the operand's memory as `plane` says, whatever the operand's frame says. */
void pass_plane_at(struct pass *pass, unsigned operand, const struct plane *plane);
void pass_int(struct pass *pass, int32_t value);
void pass_uint(struct pass *pass, uint32_t value);
void pass_float(struct pass *pass, float value);
void pass_long(struct pass *pass, int64_t value);
void pass_double(struct pass *pass, double value);

/* A scratch frame of one plane of that shape; returns its operand. */
unsigned stage_plan_scratch(struct stage_plan *plan, uint32_t width, uint32_t height,
                            uint32_t channels, enum sample_type type);

/* Scratch memory without a shape, of at least `bytes`: makes it where *operand is 0, and sets that;
 * else it grows. */
void stage_plan_memory(struct stage_plan *plan, unsigned *operand, uint64_t bytes);

/* A table of `size` bytes that holds what `data` does, which is copied; returns its operand. Tables
 * that are alike are one, so planes can each ask for theirs. */
unsigned stage_plan_table(struct stage_plan *plan, const void *data, size_t size);

/* The form that suits plane and profile: the profile's own, but not vectors on rows that are not
 * aligned for them. */
enum kernel_form pass_form_for(const struct device_profile *profile, const struct plane *in,
                               const struct plane *out);

/* Whether the rows of a plane begin where the largest vectors of its type may. */
bool pass_is_aligned(const struct plane *plane);

/* Samples that one work-item of FORM_VECTOR takes of planes of these types: as many as one access
 * of the profile's width holds of the larger. */
unsigned pass_vector_length(const struct device_profile *profile, enum sample_type in,
                            enum sample_type out);

/* Defines IN_WORDS where the pass's vectors are whole words of bytes, for per-pixel functions (see
 * cl/prelude.cl). */
void pass_define_words(struct pass *pass, enum sample_type in, enum sample_type out);

/* The pass of a per-pixel stage for one plane: `function` of the plan's stage within cl/point.cl.
 */
void pass_pixel(struct stage_plan *plan, unsigned plane, const struct pixel_function *function);

/* Of all that the text of the pass's kernel depends on. */
uint64_t pass_hash(const struct pass *pass);

/* "uchar" for u8: the OpenCL C name of a sample type. */
const char *pass_type_name(enum sample_type type);

#endif
