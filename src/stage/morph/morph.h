/* What erode, dilate, open and close have in common: the least or the largest sample of a window.
 * Windows are those of box; dilate's are mirrored, which makes a difference to even ones. */
#ifndef SLUICE_STAGE_MORPH_H
#define SLUICE_STAGE_MORPH_H

#include "base/fault.h"
#include "image/border.h"
#include "image/frame.h"
#include "param/param.h"
#include "stage/stage.h"

#define MORPH_SIDE_MAX 4095

struct morph_config {
    int64_t width;
    int64_t height; /* as the width unless given */
    int64_t radius; /* width = height = 2 · radius + 1; completed into those */
    int border;     /* enum border */
};

enum morph_kind {
    MORPH_LEAST,
    MORPH_LARGEST,
};

extern const struct param morph_params[];

/* stage.complete and stage.shape, of `times` windows one behind the other. */
int morph_complete(const char *stage, struct morph_config *config, param_given *given,
                   struct fault *fault);
int morph_shape(const char *stage, const struct morph_config *config, unsigned times,
                const struct frame *in, size_t alignment, struct frame *out, struct fault *fault);

/* Passes of one window, or of two, the second of the other kind. */
int morph_plan(const struct morph_config *config, enum morph_kind kind, unsigned times,
               struct stage_plan *plan, struct fault *fault);

/* The definition, in plain C. */
int morph_compute(const struct morph_config *config, enum morph_kind kind, unsigned times,
                  const struct picture *in, struct picture *out, struct fault *fault);

/* Two stages that differ in all of this are still the same lines: NAME's functions and its struct.
 */
#define MORPH_STAGE(word, text, kind, times)                                                       \
    static int complete(void *config, param_given *given, struct fault *fault)                     \
    {                                                                                              \
        return morph_complete(#word, config, given, fault);                                        \
    }                                                                                              \
    static int shape(const void *config, const struct frame *in, size_t alignment,                 \
                     struct frame *out, struct fault *fault)                                       \
    {                                                                                              \
        return morph_shape(#word, config, times, in, alignment, out, fault);                       \
    }                                                                                              \
    static int passes(const void *config, struct stage_plan *plan, struct fault *fault)            \
    {                                                                                              \
        return morph_plan(config, kind, times, plan, fault);                                       \
    }                                                                                              \
    static struct tolerance tolerance(const void *config, enum sample_type in,                     \
                                      enum sample_type out)                                        \
    {                                                                                              \
        (void)config, (void)in, (void)out;                                                         \
        return (struct tolerance){0, 0};                                                           \
    }                                                                                              \
    const struct stage stage_##word = {                                                            \
        .name = #word,                                                                             \
        .summary = text,                                                                           \
        .params = morph_params,                                                                    \
        .config_size = sizeof(struct morph_config),                                                \
        .complete = complete,                                                                      \
        .shape = shape,                                                                            \
        .passes = passes,                                                                          \
        .reference = word##_reference,                                                             \
        .tolerance = tolerance,                                                                    \
        .bench = #word ":3",                                                                       \
    }

#endif
