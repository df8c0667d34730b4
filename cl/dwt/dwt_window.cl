/* SPLIT declares `low` and `high`: what the filters make of the samples under their window, AT(k) for k < n, with the taps
 * LOW_TAP(k) and HIGH_TAP(k). REVERSIBLE is the integer lifting of ISO/IEC 15444-1 F.3.8.1, in the window of the 5/3 filters:
 * sample 2i − 2 is the first for low[i] and high[i]. In a window of two, for a side of one sample, that is passed on. */
#ifdef REVERSIBLE
#define LIFT_HIGH(a, b, c) ((b) - (((a) + (c)) >> 1))
#define LIFT_LOW(a, b, c, d, e)                                                                    \
    ((c) + ((LIFT_HIGH(a, b, c) + LIFT_HIGH(c, d, e) + 2) >> 2))
#define SPLIT(type, low, high, n, AT, LOW_TAP, HIGH_TAP)                                           \
    type low = AT(0), high = 0;                                                                    \
    if ((n) > 2) {                                                                                 \
        type a = low, b = AT(1), c = AT(2), d = AT(3), e = AT(4);                                  \
        low = LIFT_LOW(a, b, c, d, e);                                                             \
        high = LIFT_HIGH(c, d, e);                                                                 \
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
