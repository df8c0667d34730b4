/* unsharp by its definition: see gauss_ref.c, which asks what follows the blur. */
#include "stage/gauss/unsharp.h"

#include <stdlib.h>

double gauss_change(const struct gauss_sharpen *sharpen, int64_t d)
{
    struct ratio amount = sharpen->exact;
    if ((double)llabs(d) < sharpen->threshold)
        return 0;
    __extension__ typedef __int128 wide;
    wide n = (wide)amount.p * d, low = n / amount.q;
    low -= n % amount.q < 0;
    wide twice = 2 * (n - low * amount.q);
    low += twice > amount.q || (twice == amount.q && low % 2 != 0);
    return (double)low;
}

int unsharp_reference(const void *config_, const struct picture *in, struct picture *out,
                      struct fault *fault)
{
    const struct unsharp_config *config = config_;
    return gauss_compute(&config->blur, &config->sharpen, in, out, fault);
}
