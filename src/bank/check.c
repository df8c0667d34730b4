/* Tests perfect reconstruction: a single sample at each of its M places is taken apart and put
 * together, and the result is compared with the sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bank/bank.h"

/* The largest distance at which a sample can reappear: two filters with their zeros, and two
 * shifts. */
#define REACH (2 * (BANK_TAPS_MAX + BANK_PLACE_MAX) + 2 * BANK_PLACE_MAX)
#define WIDTH (2 * REACH + 1)

/* Adds one band's response to the sample at index `place`, by its distance from there. */
static void add_response(const struct bank_filter *h, const struct bank_filter *g, unsigned factor,
                         unsigned place, double *response)
{
    for (unsigned p = 0; p < h->n_taps; p++) {
        int64_t at = (int64_t)p - h->zero + place; /* index in the convolution for this tap */
        int64_t m = bank_floor(at - h->shift, factor);
        if (m * factor + h->shift != at)
            continue; /* not a sample of the band */
        for (unsigned q = 0; q < g->n_taps; q++) {
            int64_t index = m * factor + g->shift + (int64_t)q - g->zero;
            response[index - place + REACH] += h->taps[p] * g->taps[q];
        }
    }
}

bool bank_measure(const struct bank_direction *direction, struct bank_error *error)
{
    unsigned factor = direction->factor;
    double *responses = calloc((size_t)factor * WIDTH, sizeof *responses), largest = -1;
    if (!responses)
        return false;
    *error = (struct bank_error){0};
    for (unsigned place = 0; place < factor; place++)
        for (unsigned j = 0; j < direction->n_filters; j++)
            add_response(&direction->analysis[j], &direction->synthesis[j], factor, place,
                         &responses[(size_t)place * WIDTH]);
    for (int d = 0; d < WIDTH; d++) {
        double mean = 0;
        for (unsigned place = 0; place < factor; place++)
            mean += responses[(size_t)place * WIDTH + d] / factor;
        for (unsigned place = 0; place < factor; place++)
            error->alias = fmax(error->alias, fabs(responses[(size_t)place * WIDTH + d] - mean));
        if (fabs(mean) > largest) {
            largest = fabs(mean);
            error->delay = d - REACH;
        }
        error->distortion = fmax(error->distortion, fabs(mean - (d == REACH)));
    }
    free(responses);
    return true;
}

static bool reconstructs(const struct bank_error *error)
{
    return error->alias <= BANK_RECONSTRUCTS && error->distortion <= BANK_RECONSTRUCTS;
}

int bank_check(const struct bank *bank, struct fault *fault)
{
    struct bank_error x, y;
    if (!bank_measure(&bank->x, &x) || !bank_measure(&bank->y, &y))
        return fault_set(fault, FAULT_MEMORY, "no memory to check a bank");
    if (reconstructs(&x) && reconstructs(&y))
        return 0;
    int delay = reconstructs(&x) ? y.delay : x.delay;
    char hint[96] = "";
    if (delay != 0)
        snprintf(hint, sizeof hint, " (what comes out is moved by %d: add that to the zeros)",
                 delay);
    return fault_set(fault, FAULT_CONFIG,
                     "bank '%s' does not reconstruct: horizontally alias %.3g, distortion %.3g, "
                     "vertically alias %.3g, distortion %.3g; say 'lossy: true' if it need not%s",
                     bank->name, x.alias, x.distortion, y.alias, y.distortion, hint);
}
