/* clahe by its definition: every tile counted and given its table, every pixel looked up in four.
 * In f32, step by step, as OpenCV has it. */
#include "stage/tone/tone.h"

#include <math.h>
#include <stdlib.h>

#include "image/border.h"
#include "stage/luminance.h"

struct work {
    struct stage_place place;
    struct clahe_tiles tiles;
    uint32_t bins;
    uint32_t *tables; /* of each tile, row after row of tiles */
};

/* The tone of a pixel: luma, or its grey. */
static uint32_t tone(const struct work *w, uint32_t x, uint32_t y)
{
    struct stage_place place = w->place;
    place.at = (struct sample_at){x, y};
    return (uint32_t)luminance_of(&place, luminance_standards[LUMINANCE_BT601]);
}

static void count(const struct work *w, uint32_t tile_x, uint32_t tile_y, uint32_t *counts)
{
    const struct plane *p = w->place.from;
    for (uint32_t y = 0; y < w->tiles.height; y++) {
        int64_t row = border_index(tile_y * w->tiles.height + y, p->height, BORDER_REFLECT);
        for (uint32_t x = 0; x < w->tiles.width; x++) {
            int64_t column = border_index(tile_x * w->tiles.width + x, p->width, BORDER_REFLECT);
            counts[tone(w, (uint32_t)column, (uint32_t)row)]++;
        }
    }
}

/* What is above the limit is shared out: the same to all, the rest to every so many. */
static void limit(const struct work *w, uint32_t *counts)
{
    uint32_t above = 0, most = (uint32_t)w->tiles.limit;
    for (uint32_t v = 0; v < w->bins; v++) {
        if (counts[v] <= most)
            continue;
        above += counts[v] - most;
        counts[v] = most;
    }
    uint32_t rest = above % w->bins, step = rest > 0 ? w->bins / rest : w->bins;
    for (uint32_t v = 0; v < w->bins; v++)
        counts[v] += above / w->bins;
    for (uint32_t v = 0; v < w->bins && rest > 0; v += step, rest--)
        counts[v]++;
}

/* Between which two tiles a position lies, and how near to the second. */
static float between(uint32_t position, uint32_t side, uint32_t count, uint32_t tile[2])
{
    float inverse = 1.0f / (float)side, product = (float)position * inverse;
    float at = product - 0.5f, first = floorf(at);
    tile[0] = first < 0 ? 0 : (uint32_t)first;
    tile[1] = first + 1 < count ? (uint32_t)(first + 1) : count - 1;
    return at - first;
}

static double look_up(const struct work *w, uint32_t x, uint32_t y, uint32_t v)
{
    uint32_t tx[2], ty[2];
    float right = between(x, w->tiles.width, w->tiles.across, tx), left = 1.0f - right;
    float below = between(y, w->tiles.height, w->tiles.down, ty), above = 1.0f - below;
    float rows[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t *tables = w->tables + (size_t)ty[i] * w->tiles.across * w->bins + v;
        float a = (float)tables[(size_t)tx[0] * w->bins] * left;
        float b = (float)tables[(size_t)tx[1] * w->bins] * right;
        rows[i] = a + b;
    }
    float upper = rows[0] * above, lower = rows[1] * below;
    return upper + lower;
}

static void apply(const struct work *w, struct picture *out)
{
    const struct plane *p = w->place.from;
    for (struct sample_at s = {0}; plane_each(p, &s);) {
        double value = picture_at(w->place.in, w->place.plane, &s);
        uint32_t v = tone(w, s.x, s.y);
        double change = (double)sample_saturate(p->type, look_up(w, s.x, s.y, v)) - v;
        picture_set(out, w->place.plane, &s,
                    s.alpha ? value : (double)sample_saturate(p->type, value + change));
    }
}

int clahe_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        struct work w = {.place = {in, i, plane, plane, {0}},
                         .bins = (uint32_t)sample_max(plane->type) + 1};
        clahe_cut(config, plane, &w.tiles);
        size_t count_tiles = (size_t)w.tiles.across * w.tiles.down;
        w.tables = calloc(count_tiles * w.bins, sizeof *w.tables);
        if (!w.tables)
            return fault_set(fault, FAULT_MEMORY, "no memory for tables");
        for (uint32_t t = 0; t < count_tiles; t++) {
            uint32_t *table = w.tables + (size_t)t * w.bins, sum = 0;
            count(&w, t % w.tiles.across, t / w.tiles.across, table);
            limit(&w, table);
            for (uint32_t v = 0; v < w.bins; v++) {
                sum += table[v];
                float scaled = (float)sum * w.tiles.scale;
                table[v] = (uint32_t)fmin(rint(scaled), w.bins - 1);
            }
        }
        apply(&w, out);
        free(w.tables);
    }
    return 0;
}
