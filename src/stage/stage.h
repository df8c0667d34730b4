/* A stage: one filter, found by its name.
 *
 * A stage is a constant struct. It says what its parameters are, what shape comes out for a shape
 * that goes in, and which passes (kernel launches) compute it, as data: it never sees a device, a
 * queue or a pixel. chain/ turns passes into programs, buffers and launches. Beside them stands the
 * plain C reference, which defines the result.
 *
 * A stage `NAME` is src/stage/NAME.c with `const struct stage stage_NAME`, src/stage/NAME_ref.c,
 * cl/NAME.cl, tests/stage/test_NAME.c, docs/stages/NAME.md, and the word NAME in meson.build.
 *
 * All functions here are pure: no globals, any thread. */
#ifndef SLUICE_STAGE_STAGE_H
#define SLUICE_STAGE_STAGE_H

#include "bank/definitions.h"
#include "base/fault.h"
#include "image/frame.h"
#include "param/param.h"
#include "stage/pass.h"
#include <stdbool.h>

/* How far device and reference may be apart. A sample agrees when its difference is at most
 * absolute + relative · |reference|. Integer results have {0, 0}: they are exact. */
struct tolerance {
    double absolute, relative;
};

/* Which rows of the source a row y of the result is computed from: y - top … y - top + rows - 1, as
 * they stand in the bordered plane. */
struct stage_reach {
    uint32_t rows, top;
    int border;
};

/* What a decoder may give in place of a file's whole picture. */
struct stage_source {
    bool luma;       /* the file's own luma channel, in place of colours */
    uint32_t reduce; /* the picture at 1/2, 1/4 or 1/8 of its sides; 1: in full */
};

struct stage {
    const char *name;
    const char *summary;        /* one sentence: what comes out */
    const struct param *params; /* ends with an entry without a name; NULL for none */
    size_t config_size;         /* of the struct that holds the parameters' values */
    bool inverse;               /* undoes what frame.origins tell of */
    bool internal;              /* part of plans that we make, not of chains that people write */

    /* Tells the stage what @name may refer to, before `complete`; NULL definitions: nothing. They
     * outlive the config. */
    void (*define)(void *config, const struct definitions *definitions);

    /* Checks parameters against each other and completes them; NULL when there is nothing to do.
     * After it, the given parameters printed in order must read back as the same config. */
    int (*complete)(void *config, param_given *given, struct fault *fault);

    /* Adds the planes that come out for `in` to the empty frame `out`, or says FAULT_SHAPE why this
     * input will not do. Layout is chosen by frame_add_plane with `alignment`. */
    int (*shape)(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault);

    /* Either the passes that compute plan->out from plan->in; none where the input's memory can go
     * on as it is … */
    int (*passes)(const void *config, struct stage_plan *plan, struct fault *fault);

    /* … or, for a per-pixel stage, the function of cl/NAME.cl that computes one sample (see
     * pass.h); such a stage keeps width, height and channels. Where `pixel` gives the identity for
     * every plane, the frame goes on as it is. */
    int (*pixel)(const void *config, enum sample_type type, struct pixel_function *function,
                 struct fault *fault);

    /* A stage that has both `pixel` and `passes` says here which of them a config asks for. */
    bool (*is_per_pixel)(const void *config);

    /* Of a stage that, where it makes no passes, gives other samples of its input than all: sets
     * the offsets of the planes in `out`, which have the strides of those in `in`. Of other stages
     * that make none, the input is what comes out. */
    void (*view)(const void *config, const struct frame *in, struct frame *out);

    /* Of a stage whose passes may be called in turn with others' (chain/fuse.c): what a row is
     * computed from. Its template asks SOURCE_Y for rows; each plane takes
     * one pass, whose arguments begin with the plane of the input and those of the output. NULL:
     * the stage's passes stand alone. (Per-pixel stages need not say it.) */
    struct stage_reach (*reach)(const void *config);

    /* Of a stage that computes what it should from less than a file's whole picture, which has the
     * shape `whole`: changes `source`, which is in full before, to the least that it accepts, and
     * returns whether the stage behind it may be asked as well. Only stages at a chain's beginning
     * are asked. NULL: it takes the picture in full. */
    bool (*source)(const void *config, const struct plane *whole, struct stage_source *source);

    /* Computes `out`, whose planes are laid out as shape() said or with other strides, from `in`.
     * Plain and slow; it defines the result. */
    int (*reference)(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

    /* NULL: exact for integer results, 1e-5 relative for others. */
    struct tolerance (*tolerance)(const void *config, enum sample_type in, enum sample_type out);

    /* The chain that `sluice bench` times when the stage is named alone; NULL: its name. And on
     * what pictures: their type, and channels (0: 1), which count for every chain that begins with
     * it. */
    const char *bench;
    enum sample_type bench_type;
    uint32_t bench_channels;
};

/* All stages, in the order of their names; ends with NULL. Made from the list in meson.build. */
extern const struct stage *const stage_registry[];

/* The stage of that name, internal ones too; NULL when there is none. */
const struct stage *stage_find(const char *name, size_t length);

/* Whether the stage, with these parameters, is what `pixel` says and nothing else. */
bool stage_is_per_pixel(const struct stage *stage, const void *config);

struct tolerance stage_tolerance(const struct stage *stage, const void *config, enum sample_type in,
                                 enum sample_type out);

/* The text of cl/NAME.cl, NUL-terminated, with the number of lines that it has; NULL: no such file.
 */
const char *stage_source(const char *name);

#endif
