/* The stage resize: parameters, sizes and weights. docs/stages/resize.md has the definition.
 *
 * Each direction is an axis of its own, along which a sample of the result is a weighted sum of
 * samples of the source. */
#ifndef SLUICE_STAGE_RESIZE_H
#define SLUICE_STAGE_RESIZE_H

#include "base/fault.h"
#include "image/frame.h"
#include "param/param.h"
#include "stage/stage.h"

enum resize_fit {
    RESIZE_INSIDE,
    RESIZE_OUTSIDE,
    RESIZE_EXACT,
    RESIZE_COVER,
    RESIZE_PAD,
};

enum resize_filter {
    RESIZE_AUTO,
    RESIZE_NEAREST,
    RESIZE_AREA,
    RESIZE_BILINEAR,
    RESIZE_BICUBIC,
    RESIZE_LANCZOS3,
};

struct resize_config {
    int64_t w, h; /* 0: not given */
    double by;    /* 0: not given */
    int fit, filter;
    bool enlarge, exact;
    struct param_matrix background;
};

struct resize_axis {
    uint32_t from;             /* samples of the source */
    uint32_t unit;             /* pixels that each stands for: more than 1 in a reduced picture */
    uint32_t lead, whole;      /* the pixels from number `lead` on that are the picture */
    uint32_t to;               /* samples of the scaled picture */
    uint32_t begin, count;     /* the part of them that is kept: fit=cover cuts */
    enum resize_filter filter; /* never RESIZE_AUTO */
};

struct resize_layout {
    struct resize_axis x, y;
    uint32_t width, height; /* of the result */
    uint32_t left, top;     /* position of the scaled picture in it, for fit=pad */
};

/* Sets the layout for `plane`, which may be a reduced one. FAULT_LIMIT for a result with more pixels than kernels can count. */
int resize_layout(const struct resize_config *config, const struct plane *plane,
                  struct resize_layout *layout, struct fault *fault);

/* True when each sample of the result is one sample of the source, so that nothing is summed. */
bool resize_axis_moves(const struct resize_axis *axis);

/* The source samples from which one of the result is computed, from `first` on, and their weights,
 * which sum to 1; fixed ones are whole 2^14ths that sum to 2^14. */
struct resize_tap {
    uint32_t first, count;
    double *weights;
    int16_t *fixed;
};

/* Those of all n samples of the result. */
struct resize_taps {
    uint32_t n, largest;   /* the most source samples that one needs */
    struct resize_tap *at; /* owned, with their weights: free() */
};

/* False without memory; taps->at is NULL then. */
bool resize_taps_make(struct resize_taps *taps, const struct resize_axis *axis);

int resize_passes(const void *config, struct stage_plan *plan, struct fault *fault);

/* The definition, in plain C. */
int resize_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
