/* unsharp by its definition: see gauss_ref.c, which asks what follows the blur. */
#include "stage/gauss/gauss.h"

#include <stdlib.h>

double gauss_change(const struct gauss_config *config, int64_t d)
{
    struct ratio amount = config->exact;
    if ((double)llabs(d) < config->threshold)
        return 0;
    __extension__ typedef __int128 wide;
    wide n = (wide)amount.p * d, low = n / amount.q;
    low -= n % amount.q < 0;
    wide twice = 2 * (n - low * amount.q);
    low += twice > amount.q || (twice == amount.q && low % 2 != 0);
    return (double)low;
}
