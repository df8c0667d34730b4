/* synthesis by its formulas, in doubles: a band's sample of index m stands at index M·m + s, is
 * convolved with the band's filter, and all bands are added. */
#include "stage/filterbank/synthesis.h"

#include <stdlib.h>

/* Samples of one channel and their indices; NULL: all are zero. */
struct grid {
    struct bank_span x, y;
    double *v; /* owned */
};

static bool grid_create(struct grid *grid, struct bank_span x, struct bank_span y)
{
    *grid = (struct grid){x, y, calloc((size_t)(x.length * y.length) + 1, sizeof(double))};
    return grid->v != NULL;
}

/* Adds a band's signal to a result; samples of each are `step` apart. */
static void add_signal(const double *in, int64_t in_step, struct bank_span band,
                       const struct bank_filter *f, unsigned factor, bool cyclic, double *out,
                       int64_t out_step, struct bank_span result)
{
    for (int64_t n = 0; n < band.length; n++) {
        for (unsigned p = 0; p < f->n_taps; p++) {
            int64_t index = (n - band.zero) * factor + f->shift + p - f->zero;
            int64_t position = index + result.zero, period = band.length * factor;
            if (cyclic)
                position = (position % period + period) % period;
            if (position >= 0 && position < result.length)
                out[position * out_step] += f->taps[p] * in[n * in_step];
        }
    }
}

static void add_column(const struct grid *band, const struct bank_filter *f, unsigned factor,
                       bool cyclic, struct grid *out)
{
    for (int64_t x = 0; x < band->x.length; x++) {
        int64_t to = x - band->x.zero + out->x.zero;
        if (to >= 0 && to < out->x.length)
            add_signal(&band->v[x], band->x.length, band->y, f, factor, cyclic, &out->v[to],
                       out->x.length, out->y);
    }
}

static void add_row(const struct grid *band, const struct bank_filter *f, unsigned factor,
                    bool cyclic, struct grid *out)
{
    for (int64_t y = 0; y < band->y.length; y++) {
        int64_t to = y - band->y.zero + out->y.zero;
        if (to >= 0 && to < out->y.length)
            add_signal(&band->v[y * band->x.length], 1, band->x, f, factor, cyclic,
                       &out->v[to * out->x.length], 1, out->x);
    }
}

static bool load(const struct picture *in, const struct synthesis_band *band, uint32_t channel,
                 struct grid *grid)
{
    const struct plane *plane = &in->frame.planes[band->plane];
    size_t size = sample_size(plane->type);
    if (!grid_create(grid, band->x, band->y))
        return false;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *row = picture_row(in, (size_t)band->plane, y);
        for (uint32_t x = 0; x < plane->width; x++)
            grid->v[(size_t)y * plane->width + x] =
                sample_load(plane->type, row + ((size_t)x * plane->channels + channel) * size);
    }
    return true;
}

/* Puts the bands of a column together; if each row is a signal, takes the one band. */
static bool make_column(const struct picture *in, uint32_t channel,
                        const struct synthesis_cascade *cascade,
                        const struct synthesis_level *level, unsigned i, const struct grid *before,
                        struct grid *column)
{
    unsigned dims = cascade->dims;
    const struct synthesis_band *shape = &level->column[i];
    bool fits = dims == 1 || grid_create(column, shape->x, shape->y);
    for (unsigned j = 0; j < level->n_rows && fits; j++) {
        const struct synthesis_band *band = &level->band[i][j];
        struct grid grid = {0};
        if (band->state != SYNTHESIS_PRESENT)
            continue;
        fits = band->plane < 0 ? grid_create(&grid, before->x, before->y)
                               : load(in, band, channel, &grid);
        for (int64_t k = 0; fits && band->plane < 0 && k < before->x.length * before->y.length; k++)
            grid.v[k] = before->v[k];
        if (dims == 1) {
            *column = grid;
            return fits;
        }
        if (fits)
            add_column(&grid, &level->bank->y.synthesis[j], level->bank->y.factor, cascade->cyclic,
                       column);
        free(grid.v);
    }
    return fits;
}

static bool run_level(const struct picture *in, uint32_t channel,
                      const struct synthesis_cascade *cascade, const struct synthesis_level *level,
                      const struct grid *before,
                      struct grid *out)
{
    bool fits = grid_create(out, level->out.x, level->out.y);
    for (unsigned i = 0; i < level->n_columns && fits; i++) {
        struct grid column = {0};
        if (level->column[i].state != SYNTHESIS_PRESENT)
            continue;
        fits = make_column(in, channel, cascade, level, i, before, &column);
        if (fits)
            add_row(&column, &level->bank->x.synthesis[i], level->bank->x.factor, cascade->cyclic, out);
        free(column.v);
    }
    return fits;
}

static void store(const struct grid *grid, struct picture *out, size_t index, uint32_t channel)
{
    const struct plane *plane = &out->frame.planes[index];
    size_t size = sample_size(plane->type);
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = picture_row(out, index, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            double v = grid->v[(size_t)y * plane->width + x];
            if (sample_is_integer(plane->type))
                v = (double)sample_saturate(plane->type, v);
            sample_store(plane->type, row + ((size_t)x * plane->channels + channel) * size, v);
        }
    }
}

static bool run_channel(const struct picture *in, const struct synthesis_cascade *cascade,
                        uint32_t channel, struct picture *out, size_t index)
{
    struct grid before = {0};
    bool fits = true;
    for (unsigned l = 0; l < cascade->n_levels && fits; l++) {
        struct grid next = {0};
        fits = run_level(in, channel, cascade, &cascade->levels[l], &before, &next);
        free(before.v);
        before = next;
    }
    if (fits)
        store(&before, out, index, channel);
    free(before.v);
    return fits;
}

int synthesis_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    struct synthesis_work work;
    bool fits = true;
    int result = synthesis_work_create(&work, config, &in->frame, fault);
    for (size_t i = 0; i < work.n && fits && result == 0; i++)
        for (uint32_t c = 0; c < work.cascades[i].out.channels && fits; c++)
            fits = run_channel(in, &work.cascades[i], c, out, i);
    synthesis_work_finish(&work);
    if (result == 0 && !fits)
        result = fault_set(fault, FAULT_MEMORY, "no memory for the reference of synthesis");
    return result;
}
