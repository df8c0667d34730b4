/* One level of the wavelet transform, or of its inverse, as passes: what all forms have in common.
 */
#ifndef SLUICE_STAGE_DWT_LEVEL_H
#define SLUICE_STAGE_DWT_LEVEL_H

#include "stage/dwt/dwt.h"
#include "stage/dwt/wavelet.h"

/* Where a plane of a level is. */
struct dwt_place {
    unsigned operand, plane;
};

/* That plane, which moves when its scratch frame gets another; without memory one that is empty. */
const struct plane *dwt_plane(const struct stage_plan *plan, struct dwt_place place);

/* For both directions of the transform. */
struct dwt_task {
    const struct dwt_config *config;
    struct stage_plan *plan;
    struct dwt_scratch *scratch;
    const struct dwt_layout *layout;
    const struct dwt_level *level;
    uint32_t before; /* rows and columns that the plane which analysis reads has before the signal,
                        and as many behind it (dwt_extend); level->width and height count them */
    struct dwt_place bands[DWT_BANDS]; /* a band that does not exist has LL's place, which kernels
                                          then leave alone */
    int gap; /* samples from one that a tap takes to the next; 1 unless the transform is stationary
              */
};

/* Splitting a level. */
struct dwt_analysis {
    struct dwt_task task;
    struct dwt_place in;
    enum sample_type in_type;
    uint32_t in_channels; /* including alpha */
};
void dwt_add_analysis(const struct dwt_analysis *level);

/* Putting a level together. */
struct dwt_synthesis {
    struct dwt_task task;
    struct dwt_place out;
    enum sample_type out_type;
    double scale; /* of the result */
};
void dwt_add_synthesis(const struct dwt_synthesis *level);

/* The same one direction at a time (dwt_lines.c), which is the only way for transforms of one
 * direction and for stationary ones. */
bool dwt_goes_by_lines(const struct dwt_config *config);
void dwt_split_lines(const struct dwt_analysis *level);
void dwt_join_lines(const struct dwt_synthesis *level);

/* ---- for the forms ---- */

/* The taps of a window: a table on the device, and where the window begins. */
struct dwt_taps {
    unsigned table;
    int first, count;
};
struct dwt_taps dwt_add_taps(const struct dwt_task *task, const double *values, unsigned n,
                             int first, unsigned count);
struct dwt_taps dwt_analysis_taps(const struct dwt_task *task, uint32_t size);
void dwt_analysis_window(const struct dwt_task *task, struct wavelet_analysis *window);
struct dwt_taps dwt_synthesis_taps(const struct dwt_task *task, uint32_t size, double scale);

/* Whether the forms for GPUs with fast local memory (which also have many registers) can be used.
 * All planes must allow vectors, so that all levels of a picture use the same few kernels. */
bool dwt_suits_gpu(const struct dwt_task *task);

/* Whether the forms for GPUs with few registers and without fast local memory can be used. */
bool dwt_suits_columns(const struct dwt_task *task);

/* Whether the level consists of lifting steps of cdf53 or cdf97 in both directions, on one channel.
 */
bool dwt_is_lifting(const struct dwt_task *task);

/* Begins the pass of a kernel of cl/dwt/dwt_walk.cl or cl/dwt/dwt_columns.cl; `variant` is
 * "analysis" or "synthesis". */
struct pass *dwt_begin_walk(const struct dwt_task *task, const char *variant, uint32_t *rows);

/* How many rows of a band a work-item goes down: so many that few rows are computed twice, but not
 * so many that the device has too few work-items. `pairs`: columns of a band for each work-item. */
uint32_t dwt_walk_rows(const struct dwt_task *task, unsigned pairs);

/* The same filters in both directions, as taps for a window that begins at `at` for the first
 * sample of both bands. */
struct dwt_window {
    int at;
    unsigned n_taps; /* an even number */
    const double *low, *high;
};

/* Begins the pass of cl/dwt/dwt_sums.cl that takes a picture of one channel and type `source` apart
 * into bands of `type`, the larger of which has so many columns and rows; sets how many rows a
 * work-item goes down, which is the first argument behind the planes. */
struct pass *dwt_begin_sums(struct stage_plan *plan, const struct dwt_window *window,
                            enum sample_type source, enum sample_type type, uint32_t columns,
                            uint32_t height, uint32_t *rows);
/* Taps of a window, more of whose sums do not fit registers. */
#define DWT_SUMS_TAPS 16

/* Adds the wavelet to a kernel's name; and a filter's taps as a definition, or those of f32 as
 * `most` definitions L0, L1 …, zeros behind the n-th. */
void dwt_name_wavelet(struct pass *pass, int wavelet);
void dwt_define_taps(struct pass *pass, enum sample_type type, const char *name, const double *taps,
                     unsigned n);
void dwt_define_each(struct pass *pass, const char *filter, const double *taps, unsigned n,
                     unsigned most);

/* Add definitions and arguments. dwt_define_lifting also sets the cost of `rows` rows of a band. */
void dwt_define_work(const struct dwt_task *task, struct pass *pass);
void dwt_define_lifting(const struct dwt_task *task, struct pass *pass, uint32_t rows);
void dwt_pass_lifting(const struct dwt_task *task, struct pass *pass, bool inverse, uint32_t rows);
void dwt_pass_place(struct pass *pass, struct dwt_place place);
void dwt_pass_bands(const struct dwt_task *task, struct pass *pass);
void dwt_pass_taps(struct pass *pass, const struct dwt_taps *taps);
void dwt_pass_size(const struct dwt_task *task, struct pass *pass);
void dwt_pass_band_sizes(const struct dwt_level *level, struct pass *pass);

/* Adds the pass that makes `to`, of the level's type and channels and so many columns and rows, of
 * what the level splits: with so many columns and rows of what stands outside in front, and the
 * others behind. For modes in which that is a sum of samples (wavelet_mode_sums). */
void dwt_add_outside(const struct dwt_analysis *level, struct dwt_place to, uint32_t before_x,
                     uint32_t before_y, uint32_t width, uint32_t height);

/* The border of cl/prelude/ends.cl for a mode; for that of the task; and how bands go on. */
int dwt_border_of_mode(int mode);
int dwt_kernel_border(const struct dwt_task *task);
int dwt_kernel_ends(const struct dwt_task *task);

/* Bytes of all bands; samples of the signal. */
uint64_t dwt_band_bytes(const struct dwt_task *task);
uint64_t dwt_signal_samples(const struct dwt_task *task);

#endif
