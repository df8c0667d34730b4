/* colour by its definition: M · rgb + offset, of integers as the fraction that it is, rounded to
 * the nearest whole number, halves to the even one, and limited to the type; of f32 in f32, the
 * three products added up in their order, then the offset. */
#include "stage/tone/tone.h"

#include "base/ratio.h"
#include "stage/common.h"

__extension__ typedef __int128 wide;

#define UNIT 1000000000 /* which the denominators of decimals divide */

static wide in_units(double value)
{
    struct ratio ratio = ratio_from_real(value);
    return (wide)ratio.p * (UNIT / ratio.q);
}

static double of_floats(const double m[3], double offset, const double rgb[3])
{
    float red = (float)m[0] * (float)rgb[0], green = (float)m[1] * (float)rgb[1];
    float blue = (float)m[2] * (float)rgb[2], sum = red + green;
    sum = sum + blue;
    return sum + (float)offset;
}

static double of_integers(enum sample_type type, const double m[3], double offset,
                          const double rgb[3])
{
    wide n = in_units(offset), largest = (wide)sample_max(type) * UNIT;
    for (int i = 0; i < 3; i++)
        n += in_units(m[i]) * (int64_t)rgb[i];
    n = n < 0 ? 0 : n > largest ? largest : n;
    wide whole = n / UNIT, twice = n % UNIT * 2;
    return (double)(whole + (twice > UNIT || (twice == UNIT && whole % 2 != 0)));
}

double colour_at(const void *config_, const struct stage_place *place)
{
    const struct colour_config *config = config_;
    const uint32_t row = place->at.c;
    double rgb[3];
    if (row == 3)
        return stage_channel(place, row);
    for (uint32_t c = 0; c < 3; c++)
        rgb[c] = stage_channel(place, c);
    const double *m = &config->m.v[3 * row], offset = colour_offset(config, row);
    return place->from->type == SAMPLE_F32 ? of_floats(m, offset, rgb)
                                           : of_integers(place->from->type, m, offset, rgb);
}
