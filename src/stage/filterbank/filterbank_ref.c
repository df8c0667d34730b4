/* analysis and synthesis by their formulas, in doubles: a sample of a band of index m is the sum of
 * f[k] times the signal at index M·m + s − k; back, it stands at index M·m + s, is convolved with
 * the band's filter, and all bands are added. */
#include <stdlib.h>
#include <string.h>

#include "stage/filterbank/filterbank.h"
#include "stage/filterbank/synthesis.h"

/* Samples of one channel of a plane, row after row, and their indices. */
struct grid {
    struct bank_span x, y;
    double *v; /* owned; NULL: all are zero */
};

static bool grid_create(struct grid *grid, struct bank_span x, struct bank_span y)
{
    *grid = (struct grid){x, y, calloc((size_t)(x.length * y.length) + 1, sizeof(double))};
    return grid->v != NULL;
}

static bool load(const struct picture *in, size_t index, uint32_t channel, struct bank_span x,
                 struct bank_span y, struct grid *grid)
{
    if (!grid_create(grid, x, y))
        return false;
    for (struct sample_at s = {.c = channel}; s.y < y.length; s.y++)
        for (s.x = 0; s.x < x.length; s.x++)
            grid->v[s.y * x.length + s.x] = picture_at(in, index, &s);
    return true;
}

static void store(const struct grid *grid, struct picture *out, size_t index, uint32_t channel)
{
    const struct plane *plane = &out->frame.planes[index];
    for (struct sample_at s = {.c = channel}; s.y < plane->height; s.y++)
        for (s.x = 0; s.x < plane->width; s.x++) {
            double v = grid->v[(size_t)s.y * plane->width + s.x];
            picture_set(out, index, &s, sample_limited(plane->type, v));
        }
}

/* The signals of a grid, its rows or its columns: they lie `apart`, and their samples `step`. */
struct signals {
    struct bank_span along, across;
    int64_t apart, step;
};

static struct signals signals_of(const struct grid *grid, bool rows)
{
    return rows ? (struct signals){grid->x, grid->y, grid->x.length, 1}
                : (struct signals){grid->y, grid->x, 1, grid->x.length};
}

/* One band, with samples in `span`, of all signals of a grid. */
static bool analyse(const struct grid *in, bool rows, const struct bank_filter *f, unsigned factor,
                    int border, struct bank_span span, struct grid *out)
{
    if (!grid_create(out, rows ? span : in->x, rows ? in->y : span))
        return false;
    struct signals from = signals_of(in, rows), to = signals_of(out, rows);
    for (int64_t i = 0; i < from.across.length; i++)
        for (int64_t n = 0; n < span.length; n++) {
            double *sum = &out->v[i * to.apart + n * to.step];
            for (unsigned p = 0; p < f->n_taps; p++) {
                int64_t k = (int64_t)p - f->zero;
                int64_t at = (n - span.zero) * factor + f->shift - k + from.along.zero;
                *sum += f->taps[p] * wavelet_sample(in->v + i * from.apart, from.step,
                                                    from.along.length, at, border, factor);
            }
        }
    return true;
}

/* Adds the signals of a band to a result. */
static void add_band(const struct grid *band, bool rows, const struct bank_filter *f,
                     unsigned factor, bool cyclic, struct grid *out)
{
    struct signals from = signals_of(band, rows), to = signals_of(out, rows);
    int64_t period = from.along.length * factor;
    for (int64_t i = 0; i < from.across.length; i++) {
        int64_t line = i - from.across.zero + to.across.zero;
        if (line < 0 || line >= to.across.length)
            continue;
        for (int64_t n = 0; n < from.along.length; n++)
            for (unsigned p = 0; p < f->n_taps; p++) {
                int64_t index = (n - from.along.zero) * factor + f->shift + p - f->zero;
                int64_t at = index + to.along.zero;
                if (cyclic)
                    at = (at % period + period) % period;
                if (at >= 0 && at < to.along.length)
                    out->v[line * to.apart + at * to.step] +=
                        f->taps[p] * band->v[i * from.apart + n * from.step];
            }
    }
}

/* The analysis of one channel of a plane. */
struct run {
    const struct filterbank_config *config;
    const struct filterbank_tree *tree;
    const char *name;
    struct picture *out;
    uint32_t channel;
};

/* Into each plane that the band is: every sequence that has it has one. */
static void store_band(const struct run *run, unsigned index, unsigned i, unsigned j,
                       const struct grid *band)
{
    unsigned level = run->tree->nodes[index].level;
    char name[PLANE_NAME_MAX];
    for (unsigned s = 0; s < run->config->n_sequences; s++) {
        if (run->tree->path[s][level - 1] != (int)index ||
            !filterbank_name(run->config, run->name, s, level, i, j, name))
            continue;
        int at = frame_find_plane(&run->out->frame, name);
        if (at >= 0)
            store(band, run->out, (size_t)at, run->channel);
    }
}

/* All bands of a node; the first goes to `first`, to be analysed again. */
static bool run_node(const struct run *run, unsigned index, const struct grid *in,
                     struct grid *first)
{
    const struct filterbank_node *node = &run->tree->nodes[index];
    const struct bank_direction *x = &node->bank->x, *y = &node->bank->y;
    int border = run->config->border;
    bool fits = true;
    for (unsigned i = 0; i < x->n_filters && fits; i++) {
        struct grid rows = {0};
        fits = analyse(in, true, &x->analysis[i], x->factor, border, node->x[i], &rows);
        for (unsigned j = 0; j < filterbank_columns(run->tree, node) && fits; j++) {
            struct grid band = {0};
            if (filterbank_is_empty(node, i, j))
                continue;
            if (run->tree->dims == 1) {
                band = rows;
                rows = (struct grid){0};
            } else {
                fits = analyse(&rows, false, &y->analysis[j], y->factor, border, node->y[j], &band);
            }
            if (fits)
                store_band(run, index, i, j, &band);
            if (i + j == 0)
                *first = band;
            else
                free(band.v);
        }
        free(rows.v);
    }
    return fits;
}

static bool run_channel(const struct run *run, const struct picture *in, size_t plane)
{
    const struct filterbank_node *root = &run->tree->nodes[0];
    struct grid source = {0}, *first = calloc(run->tree->n_nodes + 1, sizeof *first);
    bool fits = first && load(in, plane, run->channel, root->in_x, root->in_y, &source);
    for (unsigned n = 0; n < run->tree->n_nodes && fits; n++) {
        int parent = run->tree->nodes[n].parent;
        fits = run_node(run, n, parent < 0 ? &source : &first[parent], &first[n]);
    }
    for (unsigned n = 0; n < run->tree->n_nodes && first; n++)
        free(first[n].v);
    free(first);
    free(source.v);
    return fits;
}

int analysis_reference(const void *config_, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    const struct filterbank_config *config = config_;
    bool fits = true;
    for (size_t p = 0; p < in->frame.n_planes && fits; p++) {
        const struct plane *plane = &in->frame.planes[p];
        struct filterbank_tree tree;
        fits = filterbank_tree_create(&tree, config, plane);
        struct run run = {.config = config, .tree = &tree, .name = plane->name, .out = out};
        for (; run.channel < filterbank_channels(plane) && fits; run.channel++)
            fits = run_channel(&run, in, p);
        filterbank_tree_finish(&tree);
    }
    return fits ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for the reference of analysis");
}

/* Puts the bands of a column together; if each row is a signal, takes the one band. */
static bool make_column(const struct picture *in, uint32_t channel,
                        const struct synthesis_cascade *cascade,
                        const struct synthesis_level *level, unsigned i, const struct grid *before,
                        struct grid *column)
{
    unsigned dims = cascade->dims;
    const struct synthesis_band *shape = &level->column[i];
    const struct bank_direction *y = &level->bank->y;
    bool fits = dims == 1 || grid_create(column, shape->x, shape->y);
    for (unsigned j = 0; j < level->n_rows && fits; j++) {
        const struct synthesis_band *band = &level->band[i][j];
        struct grid grid = {0};
        if (band->state != SYNTHESIS_PRESENT)
            continue;
        fits = band->plane < 0 ? grid_create(&grid, before->x, before->y)
                               : load(in, (size_t)band->plane, channel, band->x, band->y, &grid);
        for (int64_t k = 0; fits && band->plane < 0 && k < before->x.length * before->y.length; k++)
            grid.v[k] = before->v[k];
        if (dims == 1) {
            *column = grid;
            return fits;
        }
        if (fits)
            add_band(&grid, false, &y->synthesis[j], y->factor, cascade->cyclic, column);
        free(grid.v);
    }
    return fits;
}

static bool run_level(const struct picture *in, uint32_t channel,
                      const struct synthesis_cascade *cascade, const struct synthesis_level *level,
                      const struct grid *before, struct grid *out)
{
    const struct bank_direction *x = &level->bank->x;
    bool fits = grid_create(out, level->out.x, level->out.y);
    for (unsigned i = 0; i < level->n_columns && fits; i++) {
        struct grid column = {0};
        if (level->column[i].state != SYNTHESIS_PRESENT)
            continue;
        fits = make_column(in, channel, cascade, level, i, before, &column);
        if (fits)
            add_band(&column, true, &x->synthesis[i], x->factor, cascade->cyclic, out);
        free(column.v);
    }
    return fits;
}

static bool join_channel(const struct picture *in, const struct synthesis_cascade *cascade,
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
            fits = join_channel(in, &work.cascades[i], c, out, i);
    synthesis_work_finish(&work);
    if (result == 0 && !fits)
        result = fault_set(fault, FAULT_MEMORY, "no memory for the reference of synthesis");
    return result;
}
