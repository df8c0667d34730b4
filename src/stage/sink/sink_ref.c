/* sink by its definition: u16 → u8 is rne(v/257); i8 and i16 are moved up by half their range, as
 * u8 and u16; floats are sat(rne(v · max/white)),
 * f64 first rounded to f32 where that is a change. Alpha is dropped, kept, or added opaque; grey
 * with alpha becomes RGB with alpha where that is what the format has. */
#include "stage/common.h"
#include "stage/sink/sink.h"

static double convert(double v, const struct plane *plane, enum sample_type to)
{
    enum sample_type from = plane->type;
    double white = (float)plane_white(plane);
    if (!sample_is_integer(from) && white != sample_max(to))
        v = (float)v * sample_max(to) / white;
    if (from == SAMPLE_I8)
        v += 128;
    if (from == SAMPLE_I16)
        v += 32768;
    bool wide = from == SAMPLE_U16 || from == SAMPLE_I16;
    if (wide && to == SAMPLE_U8)
        v /= 257; /* odd, so there are no ties */
    return (double)sample_saturate(to, v);
}

double sink_at(const void *config, const struct stage_place *place)
{
    const struct plane *from = place->from, *to = place->to;
    bool spreads = from->channels == 2 && to->channels == 4; /* grey three times, then alpha */
    double v = stage_channel(place, spreads ? place->at.c == 3 : place->at.c);
    return from->type != to->type ? convert(v, from, to->type) : v;
}
