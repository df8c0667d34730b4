/* Wavelets by name: their filters, how signals go on at their ends, and how long bands are.
 * Pure, no pixels.
 *
 * Conventions are PyWavelets': with x continued at its ends as the mode says,
 *     low[n]  = Σ_j dec_lo[j] · x[2n + 1 − j]          (periodization: x[2n + F/2 − j])
 *     high[n] = the same with dec_hi
 *     x[t]    = Σ_n rec_lo[t + F − 2 − 2n] · low[n] + rec_hi[…] · high[n]     (t + F/2 − 1 − 2n)
 * for filters of F taps. cdf53 and cdf97 are those of ISO/IEC 15444-1 annex F: low[n] is centred at
 * x[2n], high[n] at x[2n + 1]. */
#ifndef SLUICE_STAGE_DWT_WAVELET_H
#define SLUICE_STAGE_DWT_WAVELET_H

#include "param/param.h"
#include <stdbool.h>
#include <stdint.h>

#define WAVELET_TAPS_MAX 104 /* of a window: coif17 has 102 */

enum wavelet_mode {
    WAVELET_JPEG2000,      /* whole-sample symmetric; cdf53 and cdf97 only, and their only one */
    WAVELET_PERIODIZATION, /* made even by repeating the last sample, then periodic; not expansive
                            */
    WAVELET_ZERO,
    WAVELET_CONSTANT,  /* the end's sample goes on */
    WAVELET_SYMMETRIC, /* mirrored, the end's sample repeated */
    WAVELET_REFLECT,   /* mirrored, the end's sample not repeated */
    WAVELET_PERIODIC,
    WAVELET_SMOOTH,        /* a straight line through the last two samples */
    WAVELET_ANTISYMMETRIC, /* mirrored, the end's sample repeated, the sign changed at each turn */
    WAVELET_ANTIREFLECT,   /* turned about the end's sample: 2 · last − mirrored */
};

/* First of wavelet_choices; the others follow as the list has them. */
enum {
    WAVELET_CDF97,
    WAVELET_CDF53,
    WAVELET_HAAR
};

extern const struct param_choice wavelet_choices[];
extern const struct param_choice wavelet_mode_choices[];

/* The stored low-pass filters, by name; the last entry has none. */
struct wavelet_taps {
    const char *name;
    unsigned length;
    const double *analysis, *synthesis; /* orthogonal wavelets: the same, the synthesis filter */
};
extern const struct wavelet_taps wavelet_taps[];

bool wavelet_is_cdf(int wavelet);

/* By definition: sample i of a signal of n, which the mode continues beyond both ends. Samples lie
 * `step` apart; `factor`: to a multiple of what periodization repeats the last one. */
double wavelet_sample(const double *x, long step, long n, long i, int mode, unsigned factor);

/* Whether what stands outside a signal is a sum of its samples, not one of them or zero. */
bool wavelet_mode_sums(int mode);

/* Whether that grows the further it is from the signal. */
bool wavelet_mode_grows(int mode);

/* Why idwt may not bring integers back exactly, as a constant text for users, or NULL: dmey, which
 * is an approximation; in single precision bior3.1 and rbio3.1, whose inverse magnifies what
 * rounding leaves, level by level, of u16 rbio2.2 and rbio3.3, and modes in which what stands
 * outside grows from level to level. */
const char *wavelet_weakness(int wavelet, int mode, unsigned levels, bool is_single, bool is_u16);

/* The four filters of a wavelet of PyWavelets', each of `length` taps; not for cdf53 and cdf97. */
struct wavelet_filters {
    unsigned length;
    double dec_lo[WAVELET_TAPS_MAX], dec_hi[WAVELET_TAPS_MAX];
    double rec_lo[WAVELET_TAPS_MAX], rec_hi[WAVELET_TAPS_MAX];
};
void wavelet_filters(int wavelet, struct wavelet_filters *filters);

/* low[n] = Σ_k low[k] · x[2n + first + k], high likewise; `count` is even. */
struct wavelet_analysis {
    int first;
    unsigned count;
    double low[WAVELET_TAPS_MAX], high[WAVELET_TAPS_MAX];
};
void wavelet_analysis(int wavelet, int mode, struct wavelet_analysis *window);

/* cdf97 and cdf53 as steps, ISO/IEC 15444-1 F.3.8 and table F.4: odd samples, even ones, by turns,
 * get `step` times the sum of both neighbours added; then even ones times `low` and odd ones times
 * `high` are the bands. */
struct wavelet_lifting {
    unsigned n_steps; /* 2 or 4 */
    double step[4], low, high;
};
void wavelet_lifting(int wavelet, struct wavelet_lifting *lifting);

/* x[2m + p] = Σ_j low[p][j] · low[m + first + j] + high[p][j] · high[m + first + j]. */
struct wavelet_synthesis {
    int first;
    unsigned count;
    double low[2][WAVELET_TAPS_MAX], high[2][WAVELET_TAPS_MAX];
};
void wavelet_synthesis(int wavelet, int mode, struct wavelet_synthesis *window);

/* Samples of the two bands of a signal of n. */
void wavelet_lengths(int wavelet, int mode, uint32_t n, uint32_t *low, uint32_t *high);

/* Euclidean norms of the synthesis vectors, away from a signal's ends, `levels` deep: what a low
 * (high) coefficient of 1 there becomes. No levels: 1. */
void wavelet_cdf_norms(int wavelet, unsigned levels, double *low, double *high);

#endif
