#include "image/border.h"

static int64_t modulo(int64_t i, int64_t n)
{
    int64_t r = i % n;
    return r < 0 ? r + n : r;
}

int64_t border_index(int64_t i, int64_t n, enum border border)
{
    if (i >= 0 && i < n)
        return i;
    switch (border) {
    case BORDER_REFLECT: {
        if (n == 1)
            return 0;
        int64_t r = modulo(i, 2 * n - 2);
        return r < n ? r : 2 * n - 2 - r;
    }
    case BORDER_SYMMETRIC: {
        int64_t r = modulo(i, 2 * n);
        return r < n ? r : 2 * n - 1 - r;
    }
    case BORDER_WRAP:
        return modulo(i, n);
    case BORDER_ZERO:
        return -1;
    default:
        return i < 0 ? 0 : n - 1;
    }
}
