/* analysis by its formulas, in doubles: a sample of a band of index m is the sum of f[k] times the
 * signal at index M·m + s − k. */
#include "stage/filterbank/filterbank.h"

#include <stdlib.h>

/* Samples of one channel of a plane; row after row, `width` apart. */
struct grid {
    int64_t width, height;
    double *v; /* owned */
};

static bool grid_create(struct grid *grid, int64_t width, int64_t height)
{
    *grid = (struct grid){width, height, calloc((size_t)(width * height) + 1, sizeof(double))};
    return grid->v != NULL;
}

/* One band of one signal, whose samples stand `step` apart. */
static void analyse(const double *in, int64_t in_step, struct bank_span in_span,
                    const struct bank_filter *f, unsigned factor, int border, double *out,
                    int64_t out_step, struct bank_span out_span)
{
    for (int64_t n = 0; n < out_span.length; n++) {
        int64_t m = n - out_span.zero;
        double sum = 0;
        for (unsigned p = 0; p < f->n_taps; p++) {
            int64_t k = (int64_t)p - f->zero;
            sum += f->taps[p] * wavelet_sample(in, in_step, in_span.length,
                                               m * factor + f->shift - k + in_span.zero, border,
                                               factor);
        }
        out[n * out_step] = sum;
    }
}

static bool analyse_rows(const struct grid *in, const struct filterbank_node *node, unsigned i,
                         int border, struct grid *out)
{
    if (!grid_create(out, node->x[i].length, in->height))
        return false;
    for (int64_t y = 0; y < in->height; y++)
        analyse(&in->v[y * in->width], 1, node->in_x, &node->bank->x.analysis[i],
                node->bank->x.factor, border, &out->v[y * out->width], 1, node->x[i]);
    return true;
}

static bool analyse_columns(const struct grid *in, const struct filterbank_node *node, unsigned j,
                            int border, struct grid *out)
{
    if (!grid_create(out, in->width, node->y[j].length))
        return false;
    for (int64_t x = 0; x < in->width; x++)
        analyse(&in->v[x], in->width, node->in_y, &node->bank->y.analysis[j], node->bank->y.factor,
                border, &out->v[x], out->width, node->y[j]);
    return true;
}

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
        if (at < 0)
            continue;
        const struct plane *plane = &run->out->frame.planes[at];
        size_t size = sample_size(plane->type);
        for (uint32_t y = 0; y < plane->height; y++) {
            uint8_t *row = picture_row(run->out, (size_t)at, y);
            for (uint32_t x = 0; x < plane->width; x++)
                sample_store(plane->type, row + ((size_t)x * plane->channels + run->channel) * size,
                             band->v[y * band->width + x]);
        }
    }
}

/* All bands of a node; the first goes to `first`, to be analysed again. */
static bool run_node(const struct run *run, unsigned index, const struct grid *in,
                     struct grid *first)
{
    const struct filterbank_node *node = &run->tree->nodes[index];
    int border = run->config->border;
    bool fits = true;
    for (unsigned i = 0; i < node->bank->x.n_filters && fits; i++) {
        struct grid rows = {0};
        fits = analyse_rows(in, node, i, border, &rows);
        for (unsigned j = 0; j < filterbank_columns(run->tree, node) && fits; j++) {
            struct grid band = {0};
            if (filterbank_is_empty(node, i, j))
                continue;
            if (run->tree->dims == 1) {
                band = rows;
                rows = (struct grid){0};
            } else {
                fits = analyse_columns(&rows, node, j, border, &band);
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

static bool load(const struct picture *in, size_t index, uint32_t channel, struct grid *grid)
{
    const struct plane *plane = &in->frame.planes[index];
    size_t size = sample_size(plane->type);
    if (!grid_create(grid, plane->width, plane->height))
        return false;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *row = picture_row(in, index, y);
        for (uint32_t x = 0; x < plane->width; x++)
            grid->v[(size_t)y * plane->width + x] =
                sample_load(plane->type, row + ((size_t)x * plane->channels + channel) * size);
    }
    return true;
}

static bool run_channel(const struct run *run, const struct picture *in, size_t plane)
{
    struct grid source = {0}, *first = calloc(run->tree->n_nodes + 1, sizeof *first);
    bool fits = first && load(in, plane, run->channel, &source);
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
