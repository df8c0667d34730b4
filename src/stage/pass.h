/* Passes: what a stage has a device do, as data.
 *
 * A pass is a kernel over a grid of positions. The kernel is an instance of a template in a .cl
 * file: the template's text under the pass's definitions (sample types, channels, form).
 * cl/prelude.cl says what a template may use, and how its argument list begins. */
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
#define STAGE_TABLES_MAX  128

/* A span longer than any row, so that kernels do not depend on a picture's width. */
#define PASS_WHOLE_ROW (1u << 30)

/* The memory to which an argument refers. */
enum operand {
    OPERAND_IN,      /* the stage's input frame */
    OPERAND_OUT,     /* its output frame */
    OPERAND_SCRATCH, /* plus an index: a frame for intermediate results; undefined at first */
    OPERAND_TABLE = OPERAND_SCRATCH + STAGE_SCRATCH_MAX, /* plus an index: constants */
};

enum pass_arg_kind {
    PASS_PLANE,  /* three kernel arguments: pointer, offset and stride, the latter in samples */
    PASS_BUFFER, /* one argument: the pointer to the operand's memory; per-pixel functions get the
                    int with which that begins */
    PASS_TABLE,  /* the pointer for per-pixel functions, too */
    PASS_INT,
    PASS_UINT,
    PASS_FLOAT,
    PASS_LONG,
    PASS_DOUBLE,
};

struct pass_arg {
    enum pass_arg_kind kind;
    unsigned operand; /* for PASS_PLANE, PASS_BUFFER, PASS_TABLE */
    unsigned plane;   /* for PASS_PLANE: index in the operand's frame */
    uint32_t unit;    /* for PASS_BUFFER: the next two arguments, ints, are a plane's offset and
                         stride,    in units of so many bytes; 0: they are not */
    union {
        int32_t i;
        uint32_t u;
        float f;
        int64_t l;
        double d;
    };
};

/* Scratch memory of a plan that grows as more is asked for (stage_plan_memory): planes that are not
 * needed at once may share it. {0}: none yet. */
struct scratch {
    unsigned operand;
};

/* A plane, and in whose memory it lies as it says. */
struct view {
    unsigned operand;
    struct plane plane;
};

struct fused;

struct pass {
    const char *stage;        /* the stage whose work this is, for errors and reports */
    const char *source;       /* name of the .cl file, without .cl */
    char name[PASS_NAME_MAX]; /* name of the kernel, for people: "sobel_magnitude_u8_c1_rows" */
    char place[24]; /* which step of a cascade this is, for people: "level 2, rows"; may be empty */
    char defines[PASS_DEFINES_MAX]; /* one definition on each line: "SRC uchar\nCH 1\n" */
    enum kernel_form form;
    uint32_t grid_width;  /* positions in x: samples or pixels, as the kernel's comment says */
    uint32_t grid_height; /* positions in y; a long launch is split there, so no row may depend on
                             another */
    uint32_t span;        /* positions in x for each work-item */
    uint32_t group[2];    /* shape of work-groups, for kernels that need a certain one; else 0; of a
                             single row the second is 0, too */
    uint32_t lanes;       /* LANES, the samples in a vector of the kernel; 0: it has no vectors */
    unsigned ring; /* for a part of a fused kernel: lines of the ring that it reads; 0: no ring */
    double work;   /* estimate of scalar operations for one position */
    bool goes_on; /* the kernel stores its result through THEN, so other stages can go on from there
                     (cl/prelude.cl) */
    bool gives_grey;    /* it makes one channel of u8 from colours, by weights of red, green and blue
                           that are its arguments behind its two planes: as such kernels can do */
    bool takes_colours; /* its source, one channel of u8, may be the luminance of pixels, which the
                           kernel computes itself (COLOURS in cl/columns.cl) */
    bool too_large; /* it needs more definitions or arguments than there is room for; planning
                       refuses it */
    uint32_t band;  /* rows of the result for each row of the grid, which are computed from the rows
                       that `above` and `below` tell; 0: from any (pass_set_rows) */
    int32_t above, below;
    unsigned writes; /* the operand of which it writes rows; 0: none, or unknown */
    /* Set by the plan (chain/plan_rows.c): the pass runs whenever rows of what it reads are there,
     * for so many rows of its grid at a time; 0: when all is there. */
    uint32_t at_once;
    uint32_t reads; /* then, the operands of which it reads rows, a bit set (1 << OPERAND_IN) */
    bool scaled;   /* rows of the source are counted in proportion to those of the result */
    uint64_t item; /* bytes of scratch memory that each row of the grid has for itself */
    struct fused
        *fused; /* other parts of its kernel (chain/fuse.c), which plan_work_finish frees */
    uint64_t bytes_read, bytes_written; /* that the pass must move, counting each sample once */
    unsigned n_args;
    struct pass_arg args[PASS_ARGS_MAX];
};

/* A table of constants that passes read. */
struct stage_table {
    void *data; /* owned, unless it is lent */
    size_t size;
    bool is_lent; /* the memory is somebody's who outlives the plan, and many plans have it */
    bool is_held; /* and it is held whether plans have it or not */
};

/* Filled by a stage's passes(). */
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
    /* text that a user should read before running this, a constant; NULL: none */
    const char *warning;
    bool out_of_memory; /* set by the functions below; the caller of passes() checks it */
    bool too_large;     /* the same: a stage needs more scratch frames or tables than there are */
    bool too_many;      /* the same: it keeps more samples in scratch memory than kernels can count */
};

void stage_plan_finish(struct stage_plan *plan);

/* A per-pixel function, `NAME_pixel` of cl/NAME.cl, with its parameters. */
#define PIXEL_ARGS_MAX 12
struct pixel_function {
    enum sample_type type; /* of the result */
    /* Besides types, what the function's text needs, as if for a pass: definitions, at most
     * PIXEL_ARGS_MAX arguments (values, buffers and tables), and the work for a sample. */
    struct pass needs;
    char variant[24]; /* part of the kernel's name; may be empty */
    bool keep_alpha;  /* alpha is copied instead of computed */
    bool widens;      /* the result is the integer that comes in, as f32 */
    bool identity;    /* the result equals the input, so no pass is needed */
    bool scalar;      /* the function takes one sample, not a vector */
    bool wide;        /* native takes 32 bytes at a time, for which cl/native.h has all that the
                         function needs */
    bool generic;     /* set by the caller: definitions must not depend on parameters */
    /* set by the caller: where tables are added; NULL: only the type is wanted */
    struct stage_plan *plan;
    char call[512]; /* for several functions, each applied to the result of the one before: an
                       expression of `v`, with parameters arg0, arg1 …; empty: NAME_pixel */
};

/* The function's arguments as a kernel's parameters, ", int arg0, float arg1", and as what a call
 * gives, ", arg4, arg5" for those from arg4 on. */
#define PIXEL_TEXT_MAX 512
void pixel_parameters(const struct pixel_function *function, char text[PIXEL_TEXT_MAX]);
void pixel_arguments(const struct pixel_function *function, unsigned first,
                     char text[PIXEL_TEXT_MAX]);

/* Begins a pass with the kernel template `source`.cl, its entry `variant` (which becomes part of
 * the name; may be ""), and `form`. A work-item covers `span` positions of a row (0: the profile's
 * number for FORM_ROWS, otherwise 1). The caller then adds arguments and definitions to the
 * returned pass, which is valid until the next pass begins. Never NULL: without memory
 * plan->out_of_memory is set, and the returned pass is not part of the plan. */
struct pass *pass_begin(struct stage_plan *plan, const char *source, const char *variant,
                        enum kernel_form form, uint32_t span, uint32_t grid_width,
                        uint32_t grid_height);

/* The shape of the pass's work-groups on such a device. */
void pass_group(const struct pass *pass, const struct device_profile *profile, unsigned group[2]);

/* Says that row y of the grid computes rows y · band … (y + 1) · band - 1 of the result from as
 * many of the source, `above` more in front of them and `below` more behind, where there are such,
 * with `item` bytes of scratch memory that no other row uses. Not to be called for multi-row
 * windows whose `border` brings rows from the other side; a border that mirrors is reckoned with.
 */
void pass_set_rows(struct pass *pass, uint32_t band, int32_t above, int32_t below, int border,
                   uint64_t item);

/* Rows of a plane, cut into bands; the last one may have fewer. */
struct stage_bands {
    uint32_t rows; /* of a band */
    uint32_t count;
};

/* So many rows in bands of `band`. */
struct stage_bands bands_of(uint32_t rows, uint32_t band);

/* Cuts `out` for work-items that go down bands, of which `beside` lie beside each other: a few
 * items for each core, but fewer bands if beginning one, which costs as much as `start_rows` rows,
 * would be more than a tenth of the work, and none so long that a launch takes too long where a row
 * is `row_work` operations. */
struct stage_bands bands_cut(const struct device_profile *profile, const struct plane *out,
                             uint32_t beside, double row_work, double start_rows);

/* A band of rows of `out` that is not much larger than profile->band_bytes asks for: at most
 * `band`, but so many that beginning one, which costs as much as `start_rows`, is a tenth of the
 * work. */
uint32_t pass_limit_band(const struct device_profile *profile, const struct plane *out,
                         uint32_t band, double start_rows);

/* Adds an underscore and `part` to the kernel's name. */
void pass_name(struct pass *pass, const char *part);

/* Says for which kernel of the template (`#pragma kernel`) the pass is. */
void pass_kernel(struct pass *pass, const char *kernel);

void pass_define(struct pass *pass, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds finished definitions, one on each line. */
void pass_define_lines(struct pass *pass, const char *lines);

/* Defines NAME as the OpenCL type of the samples (uchar), and NAME_IS_uchar; adds "_u8" to the
 * kernel's name. */
void pass_define_type(struct pass *pass, const char *name, enum sample_type type);

/* Defines CH and DST_CH, the channels of a pixel of source and destination, and ALPHA, which is CH if
 * both have alpha, else 0; adds "_c3" to the kernel's name. */
void pass_channels(struct pass *pass, uint32_t source, uint32_t destination);

/* As pass_define_type, but by pass_type_bits_name, for kernels without fp64 and fp16: saturate_f64
 * and float_of_f64 in cl/prelude/double.cl read a double's bits, cl/prelude/half.cl those of a
 * half. */
void pass_define_type_bits(struct pass *pass, const char *name, enum sample_type type);

/* Says how the kernel declares its last arguments, where not all kernels of the template have them:
 * NUMBERS stands for
 * ", PARAMETERS" and GIVEN for ", NAMES", which a kernel gives to its functions. Both are empty
 * otherwise. */
void pass_numbers(struct pass *pass, const char *parameters, const char *names);

void pass_plane(struct pass *pass, unsigned operand, unsigned plane);

/* Adds that plane of the plan's input and of its output, each of which the pass moves once. */
void pass_planes(struct pass *pass, const struct stage_plan *plan, unsigned plane);
void pass_buffer(struct pass *pass, unsigned operand);

/* Adds a table for a per-pixel function: `__global const uchar *restrict`. */
void pass_table(struct pass *pass, unsigned operand);

/* Adds a plane, whose offset and stride count units of so many bytes, or samples. */
void pass_view_units(struct pass *pass, const struct view *view, uint32_t unit);
void pass_view(struct pass *pass, const struct view *view);

/* Adds the plane that a pass reads and the one that it writes, each of which it moves once. */
void pass_views(struct pass *pass, const struct view *in, const struct view *out);
void pass_int(struct pass *pass, int32_t value);

/* Adds int arguments in this order. */
#define pass_ints(pass, ...)                                                                       \
    pass_add_ints(pass, (const int32_t[]){__VA_ARGS__},                                            \
                  sizeof(const int32_t[]){__VA_ARGS__} / sizeof(int32_t))
void pass_add_ints(struct pass *pass, const int32_t *values, size_t count);

void pass_uint(struct pass *pass, uint32_t value);
void pass_float(struct pass *pass, float value);

/* The same for floats. */
#define pass_floats(pass, ...)                                                                     \
    pass_add_floats(pass, (const float[]){__VA_ARGS__},                                            \
                    sizeof(const float[]){__VA_ARGS__} / sizeof(float))
void pass_add_floats(struct pass *pass, const float *values, size_t count);
void pass_long(struct pass *pass, int64_t value);
void pass_double(struct pass *pass, double value);

/* Adds a scratch frame of one plane; returns its operand. */
unsigned stage_plan_scratch(struct stage_plan *plan, uint32_t width, uint32_t height,
                            uint32_t channels, enum sample_type type);

/* Sees to it that scratch memory has at least so many bytes. */
void stage_plan_memory(struct stage_plan *plan, struct scratch *scratch, uint64_t bytes);

/* A plane of that shape in scratch memory. Without room plan->too_many is set. */
struct view stage_plan_view(struct stage_plan *plan, struct scratch *scratch,
                            const struct plane *shape);

/* Adds a table with a copy of `data`; returns its operand. Equal tables become one, so that each
 * plane may ask for its own. give() takes what malloc() gave in place of a copy. */
unsigned stage_plan_table(struct stage_plan *plan, const void *data, size_t size);
unsigned stage_plan_give(struct stage_plan *plan, void *data, size_t size);

/* Adds a table whose memory stays where it is (stage_table.is_lent). */
unsigned stage_plan_lend(struct stage_plan *plan, const void *data, size_t size, bool is_held);

/* Adds a table of another plan. */
unsigned stage_plan_take_table(struct stage_plan *plan, const struct stage_table *table);

/* The form for a plane on a device: that of the profile, but no vectors for rows that are not
 * aligned for them. */
enum kernel_form pass_form_for(const struct device_profile *profile, const struct plane *in,
                               const struct plane *out);

/* Whether all rows of a plane are aligned for the largest vectors of its type. */
bool pass_is_aligned(const struct plane *plane);

/* How many samples of these types a work-item of FORM_VECTOR takes: as many of the larger type as
 * one access has. */
unsigned pass_vector_length(const struct device_profile *profile, enum sample_type in,
                            enum sample_type out);

/* Says in which form a per-pixel function is: FORM_WORDS, with IN_WORDS words of bytes, if those
 * are the pass's vectors (cl/prelude/in_words.cl), else FORM_SAMPLES. */
void pass_define_words(struct pass *pass, enum sample_type in, enum sample_type out);

/* Adds a per-pixel stage's pass for one plane: `function` of the plan's stage in cl/point.cl. */
void pass_pixel(struct stage_plan *plan, unsigned plane, const struct pixel_function *function);

/* A hash of everything that the text of the pass's kernel depends on. */
uint64_t pass_hash(const struct pass *pass);

/* The type's name in OpenCL C: "uchar" for u8. */
const char *pass_type_name(enum sample_type type);

/* The same, of f64 and f16 the unsigned type of their size, for kernels that take them as bits. */
const char *pass_type_bits_name(enum sample_type type);

#endif
