/* Filter banks: filters, what belongs together to take signals apart and put them together again,
 * and the places of the samples that come out.
 *
 * A signal has a length and a zero, the position of index 0: the sample at position p has the index
 * p − zero. A filter has taps and a zero likewise. With the sampling factor M and the filter's
 * shift s, a band's sample of index m is the convolution's value at index M·m + s; in the other
 * direction a band's sample of index m stands at index M·m + s between zeros, and is convolved.
 *
 * Pure, any thread. Banks are constants of the program or belong to struct definitions. */
#ifndef SLUICE_BANK_BANK_H
#define SLUICE_BANK_BANK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BANK_TAPS_MAX    128
#define BANK_FACTOR_MAX  16
#define BANK_FILTERS_MAX 16
#define BANK_PLACE_MAX   1024 /* of a filter's zero and shift, either way */

struct bank_filter {
    unsigned n_taps;
    int zero, shift;
    double taps[BANK_TAPS_MAX];
};

/* What is done along one direction. */
struct bank_direction {
    unsigned factor, n_filters;
    const struct bank_filter *analysis, *synthesis; /* n_filters each */
};

struct bank {
    const char *name;
    struct bank_direction x, y;
};

/* A stretch of samples: `length` of them, the one of index 0 at position `zero`, which may lie
 * outside. */
struct bank_span {
    int64_t length, zero;
};

/* haar, legall53, cdf97; NULL for another name. `bank_builtin_name` lists them, NULL at the end. */
const struct bank *bank_builtin(const char *name, size_t length);
const char *bank_builtin_name(size_t index);

/* The samples of the band that comes of `in`; length 0 when it is empty. With `cyclic` it also
 * holds what filter `back`, the synthesis filter of the band, needs. */
struct bank_span bank_analysis_span(struct bank_span in, const struct bank_filter *filter,
                                    const struct bank_filter *back, unsigned factor, bool cyclic);

/* The samples that come of bands, of which those of length 0 take no part; length 0 when none does.
 */
struct bank_span bank_synthesis_span(const struct bank_span *bands,
                                     const struct bank_filter *filters, unsigned n_filters,
                                     unsigned factor);

/* Fills the two filters each way of the bank that a low-pass H0 makes:
 * H1(z) = H0(−z), G0 = H0, G1 = −H1. The synthesis filters' zeros take the delay away. */
void bank_make_qmf(const double *taps, unsigned n_taps, struct bank_filter analysis[2],
                   struct bank_filter synthesis[2]);

/* How far analysis and synthesis together are from changing nothing: the largest coefficient of the
 * responses to single samples, averaged over their M places (distortion, a 1 at the sample's own
 * place taken off), and of what each place's response has beyond that average (alias). */
struct bank_error {
    double alias, distortion;
    int delay; /* where the averaged response is largest; 0 for a bank that is aligned */
};
bool bank_measure(const struct bank_direction *direction, struct bank_error *error);

/* Errors up to here are those of taps written with six decimals. */
#define BANK_RECONSTRUCTS 2e-6

/* FAULT_CONFIG, both directions' errors told, when the bank does not reconstruct. */
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
