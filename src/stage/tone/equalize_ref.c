/* equalize by its definition: luma or samples counted one by one, and each through the formula. */
#include "stage/tone/tone.h"

#include <stdlib.h>

#include "stage/common.h"
#include "stage/luminance.h"

/* The tone of a place: the luma of colours, grey as it is. */
static uint32_t tone(const struct stage_place *place)
{
    return (uint32_t)luminance_of(place, luminance_standards[LUMINANCE_BT601]);
}

static void spread(struct stage_place place, const uint64_t *counts, uint32_t bins,
                   struct picture *out)
{
    uint32_t first = 0;
    while (counts[first] == 0)
        first++;
    uint64_t least = counts[first], rest = counts[bins - 1] - least;
    while (plane_each(place.to, &place.at)) {
        double value = picture_at(place.in, place.plane, &place.at);
        if (!place.at.alpha && rest > 0) {
            uint32_t v = tone(&place);
            uint64_t above = counts[v] - least;
            double become = (double)((2 * above * (bins - 1) + rest) / (2 * rest));
            value = (double)sample_saturate(place.to->type, value + become - v);
        }
        picture_set(out, place.plane, &place.at, value);
    }
}

int equalize_reference(const void *config, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        struct stage_place place = {in, i, plane, plane, {0}};
        uint32_t bins = (uint32_t)sample_max(plane->type) + 1;
        uint64_t *counts = calloc(bins, sizeof *counts);
        if (!counts)
            return fault_set(fault, FAULT_MEMORY, "no memory for counts");
        while (plane_each(plane, &place.at))
            counts[tone(&place)] += place.at.c == 0;
        for (uint32_t v = 1; v < bins; v++) /* counts[v] becomes the number of pixels up to v */
            counts[v] += counts[v - 1];
        place.at = (struct sample_at){0};
        spread(place, counts, bins, out);
        free(counts);
    }
    return 0;
}
