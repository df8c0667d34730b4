/* Parameters of the stage dwt, and its bands: what dwt, idwt and shrink share.
 *
 * A level splits a plane into four bands: LL (low in both directions), HL (high horizontally), LH
 * (high vertically), HH; the next level splits LL. For each plane of the input a frame holds LLn
 * HLn LHn HHn … HL1 LH1 HH1. A transform of one direction has two bands, L and H: here LL and HL
 * along rows, LL and LH down columns. */
#ifndef SLUICE_STAGE_DWT_H
#define SLUICE_STAGE_DWT_H

#include "stage/stage.h"

#define DWT_LEVELS_MAX 16

enum dwt_precision {
    DWT_SINGLE,
    DWT_DOUBLE,
    DWT_REVERSIBLE
};

enum dwt_axis {
    DWT_BOTH,
    DWT_X, /* each row is a signal */
    DWT_Y, /* each column is */
};

struct dwt_config {
    int wavelet;    /* of wavelet_choices */
    int64_t levels; /* 1 to DWT_LEVELS_MAX */
    int mode;       /* enum wavelet_mode */
    int precision;  /* enum dwt_precision */
    int axis;       /* enum dwt_axis */
    /* Bands have as many samples as the signal, which goes on periodically. At level i, from 0 on,
     * along each direction:
     *     low[n] = Σ_j dec_lo[j] · x[n + (F/2 − j) · 2^i]
     *     x[n]   = ½ Σ_j rec_lo[j] · low[n + (F/2 − 1 − j) · 2^i] + rec_hi[j] · high[…] */
    bool stationary;
    bool norm; /* then, filters are divided by √2, and those of the inverse multiplied by it */
};

enum { /* places in dwt_params */
    DWT_PARAM_WAVELET,
    DWT_PARAM_LEVELS,
    DWT_PARAM_MODE,
    DWT_PARAM_PRECISION,
    DWT_PARAM_AXIS,
    DWT_PARAM_STATIONARY,
    DWT_PARAM_NORM
};
extern const struct param dwt_params[];
extern const struct param_choice dwt_precision_choices[];
extern const struct param_choice dwt_axis_choices[];

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
    uint32_t width, height;         /* size of the plane that the level splits */
    uint32_t low_width, high_width; /* size of the bands; high ones may be 0 */
    uint32_t low_height, high_height;
    int plane[DWT_BANDS]; /* index among the planes of this transform (for dwt_read_named: in the
                             frame); −1: there is none (it is empty, or an LL that is split again)
                           */
};

struct dwt_layout {
    unsigned n_levels;
    struct dwt_level levels[DWT_LEVELS_MAX];
    uint32_t channels; /* without alpha */
    enum sample_type type;
    int axis;             /* enum dwt_axis */
    enum dwt_band finest; /* details that show the noise: HH, or those of the only direction */
    size_t n_planes;
    uint32_t before; /* dwt_level.h; dwt_layout_of leaves it 0 */
};

/* The layout of the transform of a plane. */
void dwt_layout_of(const struct dwt_config *config, const struct plane *plane,
                   struct dwt_layout *layout);

/* Appends the layout's planes to `out`. Names begin with the plane's own. Returns false without
 * memory. */
bool dwt_add_planes(const struct dwt_layout *layout, const char *name, size_t alignment,
                    struct frame *out);

/* Reads origin `index` of a frame of dwt or shrink. FAULT_SHAPE, with the name of `stage`, when
 * that is no origin of dwt, or its planes are not as dwt made them; `converted`: but for their type
 * and channels, which then are what those of the first one are. */
int dwt_read_origin(const char *stage, const struct frame *frame, size_t index, bool converted,
                    struct dwt_config *config, struct dwt_layout *layout, struct fault *fault);

/* The same for a frame without origins, by the names of planes only: transform `index` has the
 * planes of the index-th LLn or NAME.LLn. `config` has what names do not tell; its levels are set.
 * `original` gets name and channels and, if its width is 0, the size: the largest that gives such
 * bands. */
int dwt_read_named(const char *stage, const struct frame *frame, size_t index,
                   struct dwt_config *config, struct plane *original, struct dwt_layout *layout,
                   struct fault *fault);

/* Whether the planes of such a frame are those of one direction, L and H. */
bool dwt_is_named_line(const struct frame *frame);

/* The number of transforms in such a frame. */
size_t dwt_count_named(const struct frame *frame);

/* The types of planes that dwt takes with that precision, as a bit set. */
unsigned dwt_types(int precision);

/* Checks that all origins are alike, and that every plane belongs to one. */
int dwt_check_frame(const char *stage, const struct frame *frame, struct fault *fault);

/* FAULT_NO_DEVICE if the plan's device cannot compute with the precision. */
int dwt_check_device(const struct stage_plan *plan, int precision, struct fault *fault);

/* The type of coefficients. */
enum sample_type dwt_band_type(int precision);

/* Adds passes from plan->in to plan->out, whose planes dwt_add_planes has laid out, plane by plane.
 */
void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan);

/* The inverse of one transform, without its `kept` finest levels: from the planes of plan->in that
 * begin at `first` to plane `out` of plan->out, times `scale`. The first call for a plan makes
 * scratch frames of the sizes in `scratch`, which the caller sets to the largest needed. */
struct shrink_limits;
struct dwt_scratch {
    uint32_t mid_width, mid_height;       /* in samples; between the directions */
    uint32_t extended_width, extended_height; /* of levels with what stands outside; or 0 */
    uint32_t low_width[2], low_height[2]; /* of the results of levels, by turns */
    unsigned mid, low[2];                 /* operands; mid is 0 until a level needs two kernels */
    unsigned extended;                    /* likewise, 0 until a level needs it */
    /* What shrink in front would do to the bands, which the levels' kernels do; NULL: nothing. */
    const struct shrink_limits *limits;
    bool missed; /* a level has no kernel that does it */
};

/* Enlarges `scratch` so that it is enough for `layout`, too. */
void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout);

/* Adds the scratch frames to the plan, except `mid`. */
void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type);

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          struct dwt_scratch *scratch, struct stage_plan *plan, unsigned out,
                          unsigned kept, double scale);

/* The definition, in plain C. */
stage_reference dwt_reference;

#endif
