/* gain by its definition: in·by + offset, for integers as fractions of whole numbers, rounded to
 * the nearest whole one, halves to the even one, and limited to the type; f32 in two roundings. */
#include "stage/gain.h"

#include "base/ratio.h"

__extension__ typedef __int128 wide;

double gain_sample(const void *config_, const struct plane *in, double v)
{
    const struct gain_config *config = config_;
    enum sample_type type = in->type;
    if (type == SAMPLE_F32) {
        float product = (float)v * (float)config->by;
        return product + (float)config->offset;
    }
    struct ratio by = ratio_from_real(config->by), offset = ratio_from_real(config->offset);
    wide d = (wide)by.q * offset.q;
    wide n = (wide)by.p * offset.q * (int64_t)v + (wide)offset.p * by.q;
    wide least = (wide)sample_min(type), most = (wide)sample_max(type);
    if (n <= least * d)
        return (double)least;
    if (n >= most * d)
        return (double)most;
    n -= least * d; /* so that the division rounds down */
    wide whole = n / d, twice_rest = n % d * 2;
    bool odd = (whole + least) % 2 != 0;
    return (double)(whole + least + (twice_rest > d || (twice_rest == d && odd)));
}
