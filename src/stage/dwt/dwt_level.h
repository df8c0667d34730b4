/* A level of the wavelet transform, or of its inverse, as passes: what the forms have in common. */
#ifndef SLUICE_STAGE_DWT_LEVEL_H
#define SLUICE_STAGE_DWT_LEVEL_H

#include "stage/dwt/dwt.h"
#include "stage/dwt/dwt_internal.h"
#include "stage/dwt/wavelet.h"

/* Where a plane of a level is. */
struct dwt_place {
    unsigned operand, plane;
};

/* What both directions are told. */
struct dwt_task {
    const struct dwt_config *config;
    struct stage_plan *plan;
    struct dwt_scratch *scratch;
    const struct dwt_layout *layout;
    const struct dwt_level *level;
    struct dwt_place bands[DWT_BANDS]; /* LL's where there is none, which kernels leave alone */
};

/* A level taken apart. */
struct dwt_analysis {
    struct dwt_task task;
    struct dwt_place in;
    enum sample_type in_type;
    uint32_t in_channels; /* alpha too */
};
void dwt_add_analysis(const struct dwt_analysis *level);

/* A level put together. */
struct dwt_synthesis {
    struct dwt_task task;
    struct dwt_place out;
    enum sample_type out_type;
    double scale; /* of the result */
};
void dwt_add_synthesis(const struct dwt_synthesis *level);

/* Below: for the forms. */

/* A window's taps on the device: a table, and where the window begins. */
struct dwt_taps {
    unsigned table;
    int first, count;
};
struct dwt_taps dwt_analysis_taps(const struct dwt_task *task, uint32_t size);
struct dwt_taps dwt_synthesis_taps(const struct dwt_task *task, uint32_t size, double scale);

/* Whether the forms for GPUs with memory of their own can be taken: the device has local memory
 * that is faster than the rest (such have many registers, too), and all planes that come in or
 * go out take vectors, so that the levels of a picture have the same few kernels. */
bool dwt_suits_gpu(const struct dwt_task *task);

/* Whether those for GPUs with few registers and no such memory can be taken. */
bool dwt_suits_columns(const struct dwt_task *task);

/* Whether the level is cdf53's or cdf97's steps on one channel, both ways. */
bool dwt_is_lifting(const struct dwt_task *task);

/* Begins the pass of the kernel `variant`, "analysis" or "synthesis", of cl/dwt/dwt_walk.cl or
 * cl/dwt/dwt_columns.cl. */
struct pass *dwt_begin_walk(const struct dwt_task *task, const char *variant, uint32_t *rows);

/* Rows of the bands that a work-item goes down: so many that few rows are computed twice; but the
 * device is to have enough to do. `pairs`: columns of a band that it makes. */
uint32_t dwt_walk_rows(const struct dwt_task *task, unsigned pairs);

/* Adds the wavelet to a kernel's name; a tap of one of its filters as L0, L1 … */
void dwt_name_wavelet(struct pass *pass, int wavelet);
void dwt_define_tap(struct pass *pass, enum sample_type type, const char *filter, unsigned k,
                    double tap);

/* Adds definitions and arguments. dwt_define_lifting also says what `rows` rows of a band cost. */
void dwt_define_work(const struct dwt_task *task, struct pass *pass);
void dwt_define_lifting(const struct dwt_task *task, struct pass *pass, uint32_t rows);
void dwt_pass_lifting(const struct dwt_task *task, struct pass *pass, bool inverse, uint32_t rows);
void dwt_pass_place(struct pass *pass, struct dwt_place place);
void dwt_pass_bands(const struct dwt_task *task, struct pass *pass);
void dwt_pass_mid(const struct dwt_task *task, struct pass *pass);
void dwt_pass_taps(struct pass *pass, const struct dwt_taps *taps);
void dwt_pass_size(const struct dwt_task *task, struct pass *pass);

/* Bytes of all bands, of what lies between two kernels, and samples of the signal. */
uint64_t dwt_band_bytes(const struct dwt_task *task);
uint64_t dwt_mid_bytes(const struct dwt_task *task);
uint64_t dwt_signal_samples(const struct dwt_task *task);

#endif
