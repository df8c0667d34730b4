/* A stage: one filter, found by its name.
 *
 * A stage is a constant struct. It has its parameters; the shape of its result for the shape of an
 * input; and the passes (kernel launches) that compute the result, as data: a stage never sees a
 * device, a queue or a pixel. chain/ makes programs, buffers and launches of passes. A plain C
 * reference defines the result.
 *
 * A stage `NAME` is src/stage/NAME.c with `const struct stage stage_NAME`, src/stage/NAME.h and
 * NAME_ref.c, cl/NAME.cl, tests/stage/test_NAME.c and docs/stages/NAME.md; the build finds it by
 * that definition. Stages that have much in common share the files of a folder.
 * tests/toys has two small stages as examples.
 *
 * All functions of a stage are pure: no globals, any thread. */
#ifndef SLUICE_STAGE_STAGE_H
#define SLUICE_STAGE_STAGE_H

#include "bank/definitions.h"
#include "base/fault.h"
#include "image/border.h"
#include "image/frame.h"
#include "param/param.h"
#include "stage/pass.h"
#include <stdbool.h>

struct small_window; /* stage/window.h */

/* How much device and reference may differ. A sample is right when the difference is at most
 * absolute + relative · |reference|. Integer results are exact: {0, 0}. */
struct tolerance {
    double absolute, relative;
};

/* The pixels of the source from which that of the result at the same place is computed: from `left`
 * and `top` in front of it to `right` and `bottom` behind it. */
struct stage_window {
    uint32_t left, right, top, bottom;
    enum border border;
    uint32_t more; /* windows as large that follow, each over the results of the one before */
    bool by_rows;  /* passes may run row by row in turn with those of others (chain/fuse.c): the
                     template reads rows by SOURCE_Y, and each plane takes one pass whose arguments
                     begin with the planes of input and output */
};

/* The rows of the source from which row y of the result is computed: y - top … y - top + rows - 1,
 * which may lie outside the plane, where `border` tells what they are. */
struct stage_reach {
    uint32_t rows, top;
    enum border border;
};

/* What a decoder may give instead of the file's whole picture. */
struct stage_source {
    enum video_matrix matrix; /* by which a luma channel that is there was made */
    bool luma;                /* that luma channel instead of colours */
    uint32_t reduce; /* the picture at 1/2, 1/4 or 1/8 of its width and height; 1: in full */
};

/* Computes `out` from `in`. The planes of `out` are those of shape(), possibly with other strides.
 * Plain and slow: this defines the result. */
typedef int stage_reference(const void *config, const struct picture *in, struct picture *out,
                            struct fault *fault);

/* The same for a stage that computes each sample of a plane from itself, and copies alpha. */
typedef double stage_sample(const void *config, const struct plane *in, double v);

/* A sample of the result: that at `at` of plane `to`, number `plane`. */
struct stage_place {
    const struct picture *in;
    size_t plane;
    const struct plane *from, *to; /* the input's plane of that number, and the result's */
    struct sample_at at;
};

/* The same for a stage that computes each sample of the result by itself. */
typedef double stage_at(const void *config, const struct stage_place *place);

struct stage {
    const char *name;
    const char *summary;        /* what comes out, in one sentence */
    const struct param *params; /* ends with an entry without a name; NULL: it has none */
    size_t config_size;         /* size of the struct with the parameters' values */
    int kind; /* of several stages with the same config, which one this is, unless 0: an int with
                 which the config begins */
    unsigned types; /* of samples that it takes, a bit set (1 << SAMPLE_U8); 0: shape() or change()
                       says, and none takes f16 */
    bool inverse;   /* it undoes what frame.origins describe */
    bool whole; /* it needs all planes of a transform, also to change some (stage/move/only.h) */
    bool internal;  /* not for chains that people write, only for plans */
    bool widens;    /* its passes make f32 of integers just as of the f32 that convert makes of them,
                       if there is no alpha: convert:type=f32 in front needs none (chain/fuse.c) */

    /* Tells the stage the definitions to which @name may refer; called before `complete`. NULL:
     * there are none. They outlive the config. */
    void (*define)(void *config, const struct definitions *definitions);

    /* Checks parameters against each other, and sets what follows from them; NULL: nothing to do.
     * The given parameters printed afterwards must read back as the same config. */
    int (*complete)(void *config, param_given *given, struct fault *fault);

    /* For a stage that computes each pixel from those around its place, and keeps the picture's
     * size and its places, but for what border=crop takes away: sets the window to which they
     * belong. False, or NULL: this config does not. Per-pixel stages do not need this. */
    bool (*window)(const void *config, struct stage_window *window);

    /* For a stage with such a window, whose size is constant, and whose arithmetic is one text for
     * all forms: in place of `types`, `window`, `passes` and `reference`. */
    const struct small_window *small_window;

    /* For a stage that makes one plane of each: changes the shape of an input's plane, from which
     * border=crop has taken its window's rim, to that of the result's, or returns FAULT_SHAPE with
     * the reason why it cannot take this one. NULL: there is nothing to change. */
    int (*change)(const void *config, struct plane *plane, struct fault *fault);

    /* In its place, for other stages: adds the planes of the result for `in` to the empty frame
     * `out`, with `alignment` (stage_add_plane). */
    int (*shape)(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault);

    /* Either adds the passes that compute plan->out from plan->in, or none if the input can be
     * passed on unchanged. */
    int (*passes)(const void *config, struct stage_plan *plan, struct fault *fault);

    /* In its place, for a stage that makes each plane by itself: adds the passes for that one. */
    void (*add)(const void *config, struct stage_plan *plan, unsigned plane);

    /* For a stage that can do, as it reads its planes, what the stage in front of it does: adds the
     * passes that compute plan->out from plan->in, which is the input of `front`. *done: whether it
     * did; if not, the passes are dropped. NULL: it takes none. */
    int (*take_front)(const void *config, const struct stage *front, const void *front_config,
                      struct stage_plan *plan, bool *done, struct fault *fault);

    /* Or, for a per-pixel stage, gives the function of cl/NAME.cl that computes one sample
     * (pass.h). Such a stage keeps width, height and channels. If the function is the identity for
     * every plane, the input is passed on unchanged. */
    int (*pixel)(const void *config, const struct plane *in, struct pixel_function *function,
                 struct fault *fault);

    /* For a stage with both `pixel` and `passes`: which of them a config uses. */
    bool (*is_per_pixel)(const void *config);

    /* For a stage that, when it adds no passes, passes on only some of its input's samples: sets
     * the offsets of the planes in `out`, whose strides are those of `in`. NULL: without passes all
     * of the input is passed on. */
    void (*view)(const void *config, const struct frame *in, struct frame *out);

    /* For a stage that does not need the file's whole picture, whose shape is `whole`: lowers
     * `source` to what it accepts, and returns whether the next stage may be asked, too. Only the
     * stages at the beginning of a chain are asked. NULL: it needs the whole picture. */
    bool (*source)(const void *config, const struct plane *whole, struct stage_source *source);

    stage_reference *reference;
    stage_at *at;         /* in its place; … */
    stage_sample *sample; /* … or this */

    /* Of results in floats; integers are exact. NULL: {1e-6, 1e-5}. */
    const struct tolerance *floats;

    /* In its place, where it depends on the config, or integers may differ. */
    struct tolerance (*tolerance)(const void *config, enum sample_type in, enum sample_type out);

    /* Chains whose plans, for pictures of every kind, have all kernels that the stage needs on native
     * (src/kernels/walk.c); ends with NULL. NULL: the stage's name is such a chain. */
    const char *const *chains;

    /* For `sluice bench`: the chain to time for the stage's name alone (NULL: that name); and type
     * and channels (0: 1) of the pictures, for every chain that begins with the stage. */
    const char *bench;
    enum sample_type bench_type;
    uint32_t bench_channels;
};

/* All stages in alphabetical order; ends with NULL. Made by make_registry.py. */
extern const struct stage *const stage_registry[];

/* Finds a stage by its name, also an internal one; NULL: there is none. */
const struct stage *stage_find(const char *name, size_t length);

/* Whether the stage, with these parameters, is per-pixel. */
bool stage_is_per_pixel(const struct stage *stage, const void *config);

/* Adds the planes of its result to the empty frame `out`, for any stage; first checks the types and
 * layouts that it takes. */
int stage_find_shape(const struct stage *stage, const void *config, const struct frame *in,
                     size_t alignment, struct frame *out, struct fault *fault);

/* Adds the passes that compute plan->out from plan->in, or none, for any stage. */
int stage_add_passes(const struct stage *stage, const void *config, struct stage_plan *plan,
                     struct fault *fault);

/* From which rows a row is computed by passes that may run in turn with others; 0 rows: they may
 * not. */
struct stage_reach stage_find_reach(const struct stage *stage, const void *config);

/* How far from a pixel of the result, in pixels and any direction, those lie from which it is
 * computed; −1: it has no window, or one that brings samples from the other side, or takes rows and
 * columns away. */
int64_t stage_find_margin(const struct stage *stage, const void *config);

/* Computes `out` from `in` by the stage's definition; _new makes `out`, an empty picture, first,
 * which the caller destroys in any case. */
int stage_compute(const struct stage *stage, const void *config, const struct picture *in,
                  struct picture *out, struct fault *fault);
int stage_compute_new(const struct stage *stage, const void *config, const struct picture *in,
                      struct picture *out, struct fault *fault);

struct tolerance stage_tolerance(const struct stage *stage, const void *config, enum sample_type in,
                                 enum sample_type out);

/* The text of cl/NAME.cl, NUL-terminated; NULL: there is no such file. */
const char *stage_source(const char *name);

#endif
