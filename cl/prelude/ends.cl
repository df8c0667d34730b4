/* How the stages of wavelets go on beyond the ends of a signal. */
#include <border.cl>
#define PERIODIZATION 5 /* a border: of an odd number of samples the last one is there twice */
#define ENDS_NONE     0 /* bands have all samples that the taps need; others are zeros */
#define ENDS_REFLECT  1 /* mirrored like the signal, whole-sample symmetric */
#define ENDS_PERIODIC 2

/* The index of the sample that a signal of n samples has at position i; -1: a zero. */
inline int signal_index(int i, int n, int border)
{
    if (border != PERIODIZATION || (i >= 0 && i < n))
        return border_index(i, n, border);
    return min(modulo(i, n + (n & 1)), n - 1);
}

/* The same for a band of `count` samples; `high` is 1 for a high band, `size` the signal's length. */
inline int band_index(int n, int count, int high, int size, int ends)
{
    if (n >= 0 && n < count)
        return n;
    if (count == 0 || ends == ENDS_NONE)
        return -1;
    if (ends == ENDS_PERIODIC)
        return modulo(n, count);
    return (border_index(2 * n + high, size, BORDER_REFLECT) - high) / 2;
}

/* The same without divisions, for Mali. */
inline int signal_index_near(int i, int n, int border)
{
    if (border != PERIODIZATION)
        return border_near(i, n, border);
    return min(border_near(i, n + (n & 1), BORDER_WRAP), n - 1);
}

inline int band_index_near(int n, int count, int high, int size, int ends)
{
    if (n >= 0 && n < count)
        return n;
    if (count == 0 || ends == ENDS_NONE)
        return -1;
    if (ends == ENDS_REFLECT)
        return (border_near(2 * n + high, size, BORDER_REFLECT) - high) / 2;
    return border_near(n, count, BORDER_WRAP);
}
