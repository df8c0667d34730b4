/* Filter banks: sets of filters that take a signal apart into bands and put it together again, and
 * the positions of the samples in each band.
 *
 * A signal has a length and a zero: the sample at position p has the index p − zero. A filter has
 * taps and a zero in the same way. With the sampling factor M and a filter's shift s, sample m of a
 * band is the convolution's value at index M·m + s. In the other direction, sample m of a band is
 * put at index M·m + s with zeros between, and the filter is applied to that.
 *
 * Pure, any thread. Banks are constants of the program, or belong to struct definitions. */
#ifndef SLUICE_BANK_BANK_H
#define SLUICE_BANK_BANK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BANK_TAPS_MAX    128
#define BANK_FACTOR_MAX  16
#define BANK_FILTERS_MAX 16
#define BANK_TAP_MAX     1e9  /* of a tap's magnitude */
#define BANK_PLACE_MAX   1024 /* limit of a filter's zero and shift, in both directions */

struct bank_filter {
    unsigned n_taps;
    int zero, shift;
    double taps[BANK_TAPS_MAX];
};

/* The filters for one direction of the picture, horizontal or vertical. */
struct bank_direction {
    unsigned factor, n_filters;
    const struct bank_filter *analysis, *synthesis; /* n_filters each */
};

struct bank {
    const char *name;
    struct bank_direction x, y;
};

/* A range of samples: `length` of them; the one of index 0 is at position `zero`, which may be
 * outside. */
struct bank_span {
    int64_t length, zero;
};

/* Finds haar, legall53 or cdf97; NULL for another name. `bank_builtin_name` lists them; NULL at the
 * end. */
const struct bank *bank_builtin(const char *name, size_t length);
const char *bank_builtin_name(size_t index);

/* The range of the band that the filter makes of `in`; length 0 for an empty one. With `all` it also
 * contains the samples that `back`, the band's synthesis filter, needs, for a signal that goes on
 * beyond its ends. */
struct bank_span bank_analysis_span(struct bank_span in, const struct bank_filter *filter,
                                    const struct bank_filter *back, unsigned factor, bool all);

/* One period of a band, where the signal is repeated with a period of the next multiple of the
 * factor. */
struct bank_span bank_period(struct bank_span in, unsigned factor);

/* The range of the signal that the bands make; bands of length 0 are left out; length 0 when there
 * are no others. */
struct bank_span bank_synthesis_span(const struct bank_span *bands,
                                     const struct bank_filter *filters, unsigned n_filters,
                                     unsigned factor);

/* Makes the bank of two filters in each direction from a low-pass H0: H1(z) = H0(−z), G0 = H0, G1 =
 * −H1. The zeros of the synthesis filters remove the delay. */
void bank_make_qmf(const double *taps, unsigned n_taps, struct bank_filter analysis[2],
                   struct bank_filter synthesis[2]);

/* A lifting step: each odd sample of the signal (`updates`: each even one) gets the sum of taps[j]
 * times even sample n + at + j (odd sample …) added, where n counts the pairs of samples. */
#define BANK_STEPS_MAX     16
#define BANK_STEP_TAPS_MAX 16
#define BANK_STEP_AT_MAX   32
struct bank_step {
    bool updates;
    int at;
    unsigned n_taps;
    double taps[BANK_STEP_TAPS_MAX];
};

/* Makes the bank of two filters that does such steps in order; then even samples times gain[0] are
 * the low band, odd ones times gain[1] the high one. Its synthesis does the steps backwards. Returns
 * false where a filter would be larger than the limits above, or taps beyond BANK_TAP_MAX. */
bool bank_make_lifting(const struct bank_step *steps, unsigned n_steps, const double gain[2],
                       struct bank_filter analysis[2], struct bank_filter synthesis[2]);

/* How far analysis and synthesis together differ from the identity, found from the responses to
 * single samples: `distortion` is the largest coefficient of the responses' average over the M
 * places of a sample, minus 1 at the sample's own place; `alias` is the largest deviation of one
 * place's response from that average. */
struct bank_error {
    double alias, distortion;
    int delay; /* where the average response is largest; 0 for a bank without delay */
};
bool bank_measure(const struct bank_direction *direction, struct bank_error *error);

/* Taps written with six decimals cause errors up to this. */
#define BANK_RECONSTRUCTS 2e-6

/* FAULT_CONFIG, with both directions' errors, when the bank does not reconstruct. */
int bank_check(const struct bank *bank, struct fault *fault);

/* Quotients rounded down and up, for any sign of the numerator. */
static inline int64_t bank_floor(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}
static inline int64_t bank_ceil(int64_t a, int64_t b)
{
    return -bank_floor(-a, b);
}

#endif
