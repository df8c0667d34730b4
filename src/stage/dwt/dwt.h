/* Parameters of the stage dwt, and the bands that come of them: what dwt, idwt and shrink share.
 *
 * A level takes a plane apart into four bands: LL (low both ways), HL (high horizontally), LH (high
 * vertically), HH; the next level takes LL apart. A frame holds, for each plane that went in,
 * LLn HLn LHn HHn … HL1 LH1 HH1. */
#ifndef SLUICE_STAGE_DWT_H
#define SLUICE_STAGE_DWT_H

#include "base/fault.h"
#include "image/frame.h"
#include "stage/stage.h"

#define DWT_LEVELS_MAX 16

enum dwt_precision {
    DWT_SINGLE,
    DWT_DOUBLE,
    DWT_REVERSIBLE
};

struct dwt_config {
    int wavelet;    /* of wavelet_choices */
    int64_t levels; /* 1 to DWT_LEVELS_MAX */
    int mode;       /* enum wavelet_mode */
    int precision;  /* enum dwt_precision */
};

enum { /* places in dwt_params */
    DWT_PARAM_WAVELET,
    DWT_PARAM_LEVELS,
    DWT_PARAM_MODE,
    DWT_PARAM_PRECISION
};
extern const struct param dwt_params[];
extern const struct param_choice dwt_precision_choices[];

/* The parameters' stage->complete. */
int dwt_complete(void *config, param_given *given, struct fault *fault);

enum dwt_band {
    DWT_LL,
    DWT_HL,
    DWT_LH,
    DWT_HH,
    DWT_BANDS
};

/* The planes of one plane's transform. Level 0 is the finest. */
struct dwt_level {
    uint32_t width, height;         /* of what the level takes apart */
    uint32_t low_width, high_width; /* of the bands; high ones may be 0 */
    uint32_t low_height, high_height;
    int plane[DWT_BANDS]; /* index among the planes of this transform (of dwt_read_named: in the
                             frame); −1: none (empty, or LL of a level that is taken apart again) */
};

struct dwt_layout {
    unsigned n_levels;
    struct dwt_level levels[DWT_LEVELS_MAX];
    uint32_t channels; /* alpha is left out */
    enum sample_type type;
    size_t n_planes;
};

/* The layout of the transform of a plane. */
void dwt_layout_of(const struct dwt_config *config, const struct plane *plane,
                   struct dwt_layout *layout);

/* Appends the layout's planes to `out`; names begin with the plane's own. False when memory is out.
 */
bool dwt_add_planes(const struct dwt_layout *layout, const char *name, size_t alignment,
                    struct frame *out);

/* What dwt and shrink's frame says: reads origin `index` of `frame`, which must be a dwt's whose
 * planes are there as dwt made them. FAULT_SHAPE, in the name of `stage`, when it is not so. */
int dwt_read_origin(const char *stage, const struct frame *frame, size_t index,
                    struct dwt_config *config, struct dwt_layout *layout, struct fault *fault);

/* The same for a frame without origins, whose planes' names alone tell: transform `index` has the
 * planes of the index-th LLn or NAME.LLn. `config` says what the names do not; its levels are
 * filled in. `original` gets name, channels and, where its width is 0, the size: the largest that
 * such bands come of. */
int dwt_read_named(const char *stage, const struct frame *frame, size_t index,
                   struct dwt_config *config, struct plane *original, struct dwt_layout *layout,
                   struct fault *fault);

/* Transforms in such a frame. */
size_t dwt_count_named(const struct frame *frame);

/* The types of planes that dwt takes in that precision, as a bit set. */
unsigned dwt_types(int precision);

/* All origins are alike, and every plane belongs to one. */
int dwt_check_frame(const char *stage, const struct frame *frame, struct fault *fault);

/* FAULT_NO_DEVICE where the plan's device cannot compute in the precision asked for. */
int dwt_check_device(const struct stage_plan *plan, int precision, struct fault *fault);

/* The type of coefficients. */
enum sample_type dwt_band_type(int precision);

/* The definition, in plain C. */
int dwt_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault);

#endif
