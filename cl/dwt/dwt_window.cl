/* SPLIT declares `low` and `high`: what the filters make of the samples under their window, AT(k) for k < n, with the taps
 * LOW_TAP(k) and HIGH_TAP(k). With REVERSIBLE by lifting, in the window of the 5/3 filters:
 * sample 2i − 2 is the first for low[i] and high[i]. In a window of two, for a side of one sample, that is passed on. */
#include "dwt_lifting.cl"
#ifdef REVERSIBLE
#define SPLIT(type, low, high, n, AT, LOW_TAP, HIGH_TAP)                                           \
    type low = AT(0), high = 0;                                                                    \
    if ((n) > 2) {                                                                                 \
        type centre = AT(2), before = LIFT_ODD(AT(1), low, centre, 0);                             \
        high = LIFT_ODD(AT(3), centre, AT(4), 0);                                                  \
        low = LIFT_EVEN(centre, before, high, 0);                                                  \
    }
#else
#define SPLIT(type, low, high, n, AT, LOW_TAP, HIGH_TAP)                                           \
    type low = 0, high = 0;                                                                        \
    for (int k = 0; k < (n); k++) {                                                                \
        type v = AT(k);                                                                            \
        low += LOW_TAP(k) * v;                                                                     \
        high += HIGH_TAP(k) * v;                                                                   \
    }
#endif
