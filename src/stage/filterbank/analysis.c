/* analysis: its parameters, and the bands that come of a frame. */
#include "stage/filterbank/filterbank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/border.h"
#include "stage/common.h"
#include "stage/dwt/dwt_level.h"

#define AT(member) offsetof(struct filterbank_config, member)
static const struct param params[] = {
    PARAM(WORD, "bank", AT(bank), "haar, legall53, cdf97, or @name of a bank of the configuration"),
    PARAM(INTEGER, "levels", AT(levels), "how often the first band is analysed, with the same bank",
          RANGE(1, FILTERBANK_LEVELS_MAX), DEFAULT("1")),
    PARAM(WORDS, "sequence", AT(sequence),
          "the bank of each level, joined by _, in place of bank and levels"),
    PARAM(WORDS, "sequences", AT(sequences), "several sequences over the same plane, joined by /"),
    PARAM(CHOICE, "border", AT(border),
          "what stands outside a signal: zeros, the signal again and again, or as in dwt's modes",
          .choices = filterbank_borders, DEFAULT("zero")),
    PARAM(CHOICE, "precision", AT(precision),
          "of bands and arithmetic: f32, or f64 on devices that have it",
          .choices = filterbank_precisions, DEFAULT("single")),
    PARAM(INTEGER, "dims", AT(dims), "2: rows and columns; 1: each row is a signal of its own",
          RANGE(1, 2), DEFAULT("2")),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct filterbank_config *config = config_;
    const param_given cascades = FILTERBANK_WORD_SEQUENCE | FILTERBANK_WORD_SEQUENCES;
    config->given = *given;
    if (*given & cascades && *given & FILTERBANK_WORD_LEVELS && config->levels != 1)
        return fault_set(fault, FAULT_CHAIN,
                         "analysis: a sequence has as many levels as banks; levels goes with bank");
    int result = filterbank_resolve(config, "analysis", fault);
    if (result == 0 && config->n_sequences == 0)
        result =
            fault_set(fault, FAULT_CHAIN,
                      "analysis: bank is missing: haar, legall53, cdf97, or @name of a bank of "
                      "the configuration");
    return result;
}

/* Work on the planes of one source. */
struct bands {
    const struct filterbank_config *config;
    const struct plane *plane;
    size_t alignment;
    struct filterbank_tree tree;
    struct frame *out;
};

/* Adds a band. A band that an earlier sequence has, too, is the same memory under another name. */
static int add_band(struct bands *bands, unsigned sequence, const struct filterbank_node *node,
                    unsigned i, unsigned j, struct fault *fault)
{
    struct plane plane = {.width = (uint32_t)node->x[i].length,
                          .height = (uint32_t)node->y[j].length,
                          .channels = filterbank_channels(bands->plane),
                          .type = filterbank_type(bands->config),
                          .zero_x = (int32_t)node->x[i].zero,
                          .zero_y = (int32_t)node->y[j].zero};
    char first[PLANE_NAME_MAX];
    struct frame *out = bands->out;
    size_t size = out->size;
    const char *name = bands->plane->name;
    if (!filterbank_name(bands->config, name, sequence, node->level, i, j, plane.name) ||
        frame_find_plane(out, plane.name) >= 0)
        return fault_set(fault, FAULT_SHAPE, "analysis: no name for the bands of plane '%s'", name);
    filterbank_name(bands->config, name, node->sequence, node->level, i, j, first);
    int same = sequence == node->sequence ? -1 : frame_find_plane(out, first);
    if (!frame_add_plane(out, &plane, bands->alignment))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    if (same >= 0) {
        struct plane *added = &out->planes[out->n_planes - 1];
        added->offset = out->planes[same].offset;
        added->stride = out->planes[same].stride;
        out->size = size;
    }
    return 0;
}

static int add_level(struct bands *bands, unsigned sequence, unsigned level, struct fault *fault)
{
    const struct filterbank_node *node = &bands->tree.nodes[bands->tree.path[sequence][level - 1]];
    bool last = level == bands->config->cascade[sequence].n_levels;
    int result = 0;
    for (unsigned i = 0; i < node->bank->x.n_filters; i++)
        for (unsigned j = 0; j < filterbank_columns(&bands->tree, node) && result == 0; j++)
            if ((i + j > 0 || last) && !filterbank_is_empty(node, i, j))
                result = add_band(bands, sequence, node, i, j, fault);
    return result;
}

static int add_origin(const struct bands *bands, size_t first, struct fault *fault)
{
    struct frame_origin origin = {.stage = "analysis",
                                  .plane = *bands->plane,
                                  .first = first,
                                  .count = bands->out->n_planes - first};
    struct text text = {0};
    param_print(params, bands->config, bands->config->given, &text);
    bool fits = !text.failed && text.length < sizeof origin.parameters;
    if (fits)
        memcpy(origin.parameters, text_string(&text), text.length + 1);
    text_finish(&text);
    if (!fits || !frame_add_origin(bands->out, &origin))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    return 0;
}

/* From the coarsest level, sequence by sequence. */
static int shape_of_plane(struct bands *bands, struct fault *fault)
{
    const struct filterbank_config *config = bands->config;
    size_t first = bands->out->n_planes;
    int result = filterbank_check_type(config, "analysis", bands->plane->type, fault);
    if (result == 0 && !filterbank_tree_create(&bands->tree, config, bands->plane))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    for (unsigned s = 0; s < config->n_sequences && result == 0; s++)
        for (unsigned level = config->cascade[s].n_levels; level > 0 && result == 0; level--)
            if (bands->tree.path[s][level - 1] >= 0)
                result = add_level(bands, s, level, fault);
    if (result == 0 && bands->out->n_planes == first)
        result = fault_set(fault, FAULT_SHAPE, "analysis: every band of a %u×%u plane is empty",
                           bands->plane->width, bands->plane->height);
    if (result == 0)
        result = add_origin(bands, first, fault);
    filterbank_tree_finish(&bands->tree);
    return result;
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        struct bands bands = {
            .config = config, .plane = &in->planes[i], .alignment = alignment, .out = out};
        result = shape_of_plane(&bands, fault);
    }
    return result;
}

/* analysis on the device: a plane is filtered and sampled along its rows into N planes of its
 * height, and each of those along its columns into K bands; the first band is split again at the
 * next level. Bands are computed two at a time, since two read the same samples. */

struct work {
    const struct filterbank_config *config;
    struct stage_plan *plan;
    struct filterbank_taps *taps;
    const struct plane *plane; /* the source */
    unsigned plane_index;
    unsigned level; /* at which passes are added */
    struct filterbank_tree tree;
    struct dwt_place *first; /* for each node: the place of its first band */
    /* filtered rows; bands that are only split again; signals with what stands outside */
    struct filterbank_scratch rows, inner, outside;
};

/* A pass: one or two bands of a signal, in one direction. */
struct task {
    bool rows;
    unsigned n_bands;
    struct bank_span in;
    const struct bank_filter *filter[2];
    struct bank_span span[2];
    struct dwt_place to[2];
};

/* The correlation that gives a sample of both bands from the same range of the source: at grid
 * position g, taps[t] is multiplied with the source's position factor·g + base + t. */
struct stencil {
    int32_t at, n_taps, base, grid;
    int32_t skip[2]; /* the band's sample at grid position g is g − skip */
};

static int64_t first_index(const struct bank_span *span)
{
    return -span->zero;
}

static bool make_stencil(const struct task *task, unsigned factor, struct filterbank_taps *taps,
                         struct stencil *stencil)
{
    int64_t begin = INT64_MAX, end = INT64_MIN, low = INT64_MAX, high = INT64_MIN, top[2];
    for (unsigned b = 0; b < task->n_bands; b++) {
        int64_t m = first_index(&task->span[b]);
        begin = m < begin ? m : begin;
        m += task->span[b].length;
        end = m > end ? m : end;
    }
    for (unsigned b = 0; b < task->n_bands; b++) {
        const struct bank_filter *f = task->filter[b];
        top[b] = factor * begin + f->shift + f->zero + task->in.zero; /* position for tap 0 */
        low = top[b] - f->n_taps + 1 < low ? top[b] - f->n_taps + 1 : low;
        high = top[b] > high ? top[b] : high;
        stencil->skip[b] = (int32_t)(first_index(&task->span[b]) - begin);
    }
    int64_t n = (high - low + 2) / 2 * 2; /* the kernel needs an even number */
    double *data = filterbank_taps_add(taps, (size_t)n * task->n_bands, &stencil->at);
    if (!data)
        return false;
    for (unsigned b = 0; b < task->n_bands; b++)
        for (unsigned k = 0; k < task->filter[b]->n_taps; k++)
            data[b * n + top[b] - low - k] = task->filter[b]->taps[k];
    stencil->n_taps = (int32_t)n;
    stencil->base = (int32_t)low;
    stencil->grid = (int32_t)(end - begin);
    return true;
}

/* The grid positions whose taps are all within the source, and which all bands have. */
static void inner_range(const struct task *task, const struct stencil *stencil, unsigned factor,
                        int64_t *begin, int64_t *end)
{
    *begin = bank_ceil(-stencil->base, factor);
    *end = bank_floor(task->in.length - stencil->base - stencil->n_taps, factor) + 1;
    for (unsigned b = 0; b < task->n_bands; b++) {
        int64_t skip = stencil->skip[b], last = skip + task->span[b].length;
        *begin = skip > *begin ? skip : *begin;
        *end = last < *end ? last : *end;
    }
    *begin = *begin < 0 ? 0 : *begin;
    if (*end < *begin)
        *begin = *end = 0;
}

/* Whether GPUs can compute four grid positions together, with the taps written into the kernel. */
static bool takes_tiles(const struct work *work, const struct task *task, struct dwt_place from,
                        const struct stencil *stencil, unsigned factor)
{
    const struct plane *source = dwt_plane(work->plan, from);
    bool suits = filterbank_takes_tiles(work->plan, work->config, factor, stencil->n_taps) &&
                 pass_is_aligned(source);
    for (unsigned b = 0; b < task->n_bands; b++)
        suits &= pass_is_aligned(dwt_plane(work->plan, task->to[b]));
    return suits;
}

static struct pass *begin_pass(struct work *work, const char *variant, const struct task *task,
                               struct dwt_place from, bool tile, uint32_t width, uint32_t height)
{
    enum kernel_form form = work->plan->profile->form == FORM_ROWS ? FORM_ROWS
                            : tile                                 ? FORM_VECTOR
                                                                   : FORM_SCALAR;
    struct pass *pass =
        pass_begin(work->plan, "analysis", variant, form, tile ? 4 : 0, width, height);
    snprintf(pass->place, sizeof pass->place, "level %u, %.*s", work->level,
             (int)strcspn(variant, "_"), variant);
    pass_define(pass, "BANDS", "%u", task->n_bands);
    pass_name(pass, task->n_bands == 2 ? "two" : "one");
    pass_define_type(pass, "SRC", dwt_plane(work->plan, from)->type);
    pass_define_type(pass, "DST", filterbank_type(work->config));
    pass_name(pass, kernel_form_name(form));
    pass->bytes_read = plane_bytes(dwt_plane(work->plan, from));
    dwt_pass_place(pass, from);
    for (unsigned b = 0; b < task->n_bands; b++) {
        dwt_pass_place(pass, task->to[b]);
        pass->bytes_written += plane_bytes(dwt_plane(work->plan, task->to[b]));
    }
    return pass;
}

/* Where what stands outside is a sum, the passes' signals have it. */
static int kernel_border(const struct filterbank_config *config)
{
    return wavelet_mode_sums(config->border) ? BORDER_ZERO : dwt_border_of_mode(config->border);
}

static void add_pass(struct work *work, const struct task *task, struct dwt_place from,
                     unsigned factor)
{
    struct stencil stencil;
    int64_t inner, inner_end;
    const struct plane *source = dwt_plane(work->plan, from);
    size_t size = sample_size(source->type);
    bool rows = task->rows,
         whole = source->type == SAMPLE_U8 || source->type == SAMPLE_U16 || size == 4;
    int32_t channels = rows ? (int32_t)filterbank_channels(work->plane) : 1;
    if (!make_stencil(task, factor, work->taps, &stencil))
        return;
    inner_range(task, &stencil, factor, &inner, &inner_end);
    bool tile = (!rows || (source->channels == 1 && whole)) &&
                takes_tiles(work, task, from, &stencil, factor);
    uint32_t grid = (uint32_t)(stencil.grid * channels);
    struct pass *pass =
        begin_pass(work, rows ? (tile ? "rows_tile" : "rows") : (tile ? "columns_tile" : "columns"),
                   task, from, tile, rows ? grid : source->width * source->channels,
                   rows   ? source->height
                   : tile ? (grid + 3) / 4
                          : grid);
    for (unsigned b = 0; b < task->n_bands; b++)
        pass_ints(pass, stencil.skip[b], task->span[b].length);
    pass_buffer(pass, OPERAND_TABLE);
    pass_ints(pass, stencil.at, stencil.n_taps, factor, stencil.base, task->in.length,
              kernel_border(work->config), rows ? source->channels : 1, channels,
              (int32_t)inner * channels, (int32_t)inner_end * channels);
    pass->work = 2.0 * task->n_bands * stencil.n_taps * (tile && !rows ? 4 : 1);
    if (!tile)
        return;
    pass_define(pass, "FACTOR", "%u", factor);
    pass_define(pass, "TAPS", "%d", stencil.n_taps);
    for (unsigned b = 0; b < task->n_bands; b++)
        filterbank_define_taps(pass, b, work->taps, stencil.at + (int32_t)b * stencil.n_taps,
                               stencil.n_taps);
    if (rows) {
        pass_define(pass, "SRC_SIZE", "%zu", size);
        pass_define(pass, "OFFSET", "%d", stencil.base & (int)(4 / size - 1));
    }
}

/* Whether two bands read enough common samples to be one pass. */
static bool go_together(const struct task *task, unsigned factor)
{
    int64_t a = task->filter[0]->shift + task->filter[0]->zero;
    int64_t b = task->filter[1]->shift + task->filter[1]->zero;
    int64_t begin = first_index(&task->span[0]) - first_index(&task->span[1]);
    return llabs(a - b) <= BANK_TAPS_MAX && llabs(begin) <= BANK_TAPS_MAX / (int)factor;
}

/* The taps of two filters for their common window, from where the first sample of each band is
 * computed. */
struct window {
    int at;
    unsigned n_taps;
    double taps[2][DWT_SUMS_TAPS];
};

/* Returns false where the window is too long. */
static bool make_window(const struct bank_direction *direction, struct bank_span in,
                        const struct bank_span *spans, struct window *window)
{
    int64_t top[2], low = INT64_MAX, high = INT64_MIN;
    for (unsigned b = 0; b < 2; b++) {
        const struct bank_filter *f = &direction->analysis[b];
        top[b] = direction->factor * first_index(&spans[b]) + f->shift + f->zero + in.zero;
        low = top[b] - f->n_taps + 1 < low ? top[b] - f->n_taps + 1 : low;
        high = top[b] > high ? top[b] : high;
    }
    *window = (struct window){.at = (int)low, .n_taps = (unsigned)((high - low + 2) / 2 * 2)};
    if (high - low >= DWT_SUMS_TAPS)
        return false;
    for (unsigned b = 0; b < 2; b++)
        for (unsigned k = 0; k < direction->analysis[b].n_taps; k++)
            window->taps[b][top[b] - low - k] = direction->analysis[b].taps[k];
    return true;
}

static bool is_same(const struct window *a, const struct window *b)
{
    bool same = a->at == b->at && a->n_taps == b->n_taps;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < a->n_taps && same; k++)
            same = a->taps[i][k] == b->taps[i][k];
    return same;
}

/* All bands in one direction, two at a time; empty ones are left out. */
static void add_passes(struct work *work, bool rows, const struct bank_direction *direction,
                       struct bank_span in, const struct bank_span *spans,
                       const struct dwt_place *to, struct dwt_place from)
{
    struct task task = {.rows = rows, .in = in};
    for (unsigned i = 0; i < direction->n_filters; i++) {
        if (spans[i].length == 0)
            continue;
        task.filter[task.n_bands] = &direction->analysis[i];
        task.span[task.n_bands] = spans[i];
        task.to[task.n_bands++] = to[i];
        if (task.n_bands == 2 && !go_together(&task, direction->factor)) {
            task.n_bands = 1;
            add_pass(work, &task, from, direction->factor);
            task.filter[0] = task.filter[1];
            task.span[0] = task.span[1];
            task.to[0] = task.to[1];
        } else if (task.n_bands == 2) {
            add_pass(work, &task, from, direction->factor);
            task.n_bands = 0;
        }
    }
    if (task.n_bands == 1)
        add_pass(work, &task, from, direction->factor);
}

static struct dwt_place add_scratch(struct work *work, struct filterbank_scratch *scratch,
                                    struct bank_span x, struct bank_span y)
{
    struct plane like = {.channels = filterbank_channels(work->plane),
                         .type = filterbank_type(work->config)};
    unsigned index = filterbank_scratch_add(work->plan, scratch, like, x, y);
    return (struct dwt_place){work->plan->out_of_memory ? OPERAND_IN : scratch->operand, index};
}

/* The place of band (i, j) of a node. */
static struct dwt_place place_of(struct work *work, unsigned index, unsigned i, unsigned j)
{
    const struct filterbank_node *node = &work->tree.nodes[index];
    char name[PLANE_NAME_MAX];
    if (i + j == 0 && !node->ends)
        return work->first[index] = add_scratch(work, &work->inner, node->x[0], node->y[0]);
    struct dwt_place place = {OPERAND_OUT, 0};
    int found = -1;
    /* the first sequence with this node may continue where another one ends */
    for (unsigned s = node->sequence; s < work->config->n_sequences && found < 0; s++)
        if (work->tree.path[s][node->level - 1] == (int)index &&
            filterbank_name(work->config, work->plane->name, s, node->level, i, j, name))
            found = frame_find_plane(work->plan->out, name);
    place.plane = found < 0 ? 0 : (unsigned)found;
    if (i + j == 0)
        work->first[index] = place;
    return place;
}

/* Both directions of a level in one pass, as dwt has it for GPUs with local memory: two filters for
 * every other sample, the same along rows and down columns. */
static bool add_both(struct work *work, const struct filterbank_node *node, unsigned index,
                     struct dwt_place from, struct bank_span in_x, struct bank_span in_y)
{
    const struct bank_direction *x = &node->bank->x, *y = &node->bank->y;
    const struct device_profile *profile = work->plan->profile;
    const struct plane source =
        *dwt_plane(work->plan, from); /* a copy: place_of may move the planes */
    struct window along, down;
    if (profile->form != FORM_VECTOR || profile->local_memory < 32768 || profile->generic ||
        x->n_filters != 2 || y->n_filters != 2 || x->factor != 2 || y->factor != 2 ||
        source.channels != 1 || !pass_is_aligned(&source) || node->x[0].length <= 0 ||
        node->x[1].length <= 0 || node->y[0].length <= 0 || node->y[1].length <= 0 ||
        !make_window(x, in_x, node->x, &along) || !make_window(y, in_y, node->y, &down) ||
        !is_same(&along, &down))
        return false;
    struct dwt_place
        to[4]; /* low and high along the rows of what is low down the columns, and high */
    bool aligned = true;
    for (unsigned b = 0; b < 4; b++) {
        to[b] = place_of(work, index, b % 2, b / 2);
        aligned &= pass_is_aligned(dwt_plane(work->plan, to[b]));
    }
    const struct dwt_window window = {along.at, along.n_taps, along.taps[0], along.taps[1]};
    uint32_t width[2] = {(uint32_t)node->x[0].length, (uint32_t)node->x[1].length};
    uint32_t height[2] = {(uint32_t)node->y[0].length, (uint32_t)node->y[1].length}, rows;
    if (!aligned || work->plan->out_of_memory)
        return false;
    struct pass *pass =
        dwt_begin_sums(work->plan, &window, source.type, filterbank_type(work->config),
                       width[0] > width[1] ? width[0] : width[1],
                       height[0] > height[1] ? height[0] : height[1], &rows);
    pass_name(pass, "bank");
    snprintf(pass->place, sizeof pass->place, "level %u, both", work->level);
    pass->bytes_read = plane_bytes(&source);
    dwt_pass_place(pass, from);
    for (unsigned b = 0; b < 4; b++) {
        pass->bytes_written += plane_bytes(dwt_plane(work->plan, to[b]));
        dwt_pass_place(pass, to[b]);
    }
    pass_ints(pass, rows, source.width, source.height, width[0], width[1], height[0], height[1],
              kernel_border(work->config));
    return true;
}

/* The positions that the filters for these bands see: from −*before to the returned one. */
static int64_t reach(const struct bank_direction *direction, struct bank_span in,
                     const struct bank_span *spans, uint32_t *before)
{
    int64_t low = 0, high = in.length - 1;
    for (unsigned i = 0; i < direction->n_filters; i++) {
        const struct bank_filter *f = &direction->analysis[i];
        int64_t first = first_index(&spans[i]), last = first + spans[i].length - 1;
        int64_t place = (int64_t)f->shift + f->zero + in.zero;
        if (spans[i].length == 0)
            continue;
        low = first * direction->factor + place - f->n_taps + 1 < low
                  ? first * direction->factor + place - f->n_taps + 1
                  : low;
        high = last * direction->factor + place > high ? last * direction->factor + place : high;
    }
    *before = (uint32_t)-low;
    return high;
}

/* Makes a node's signal with what stands outside, where that is a sum of samples (dwt has the
 * kernel). */
static struct dwt_place add_outside(struct work *work, const struct filterbank_node *node,
                                    struct dwt_place from, struct bank_span *in_x,
                                    struct bank_span *in_y)
{
    const struct plane source = *dwt_plane(work->plan, from);
    const struct dwt_config config = {.mode = work->config->border};
    const struct dwt_layout layout = {.type = filterbank_type(work->config),
                                      .channels = filterbank_channels(work->plane)};
    const struct dwt_level level = {.width = source.width, .height = source.height};
    const struct dwt_analysis outside = {
        .task = {.config = &config, .plan = work->plan, .layout = &layout, .level = &level},
        .in = from,
        .in_type = source.type,
        .in_channels = source.channels};
    uint32_t before_x, before_y = 0;
    int64_t end_x = reach(&node->bank->x, *in_x, node->x, &before_x), end_y = in_y->length - 1;
    if (work->tree.dims == 2)
        end_y = reach(&node->bank->y, *in_y, node->y, &before_y);
    *in_x = (struct bank_span){before_x + end_x + 1, in_x->zero + before_x};
    *in_y = (struct bank_span){before_y + end_y + 1, in_y->zero + before_y};
    filterbank_scratch_rewind(&work->outside);
    struct dwt_place to = add_scratch(work, &work->outside, *in_x, *in_y);
    if (!work->plan->out_of_memory)
        dwt_add_outside(&outside, to, before_x, before_y, (uint32_t)in_x->length,
                        (uint32_t)in_y->length);
    return to;
}

static void add_node(struct work *work, unsigned index)
{
    const struct filterbank_node *node = &work->tree.nodes[index];
    const struct bank_direction *x = &node->bank->x, *y = &node->bank->y;
    struct dwt_place from = node->parent < 0 ? (struct dwt_place){OPERAND_IN, work->plane_index}
                                             : work->first[node->parent];
    struct dwt_place rows[BANK_FILTERS_MAX] = {0}, to[BANK_FILTERS_MAX] = {0};
    struct bank_span in_x = node->in_x, in_y = node->in_y;
    work->level = node->level;
    if (wavelet_mode_sums(work->config->border))
        from = add_outside(work, node, from, &in_x, &in_y);
    if (work->tree.dims == 1) {
        for (unsigned i = 0; i < x->n_filters; i++)
            if (node->x[i].length > 0)
                to[i] = place_of(work, index, i, 0);
        add_passes(work, true, x, in_x, node->x, to, from);
        return;
    }
    if (add_both(work, node, index, from, in_x, in_y))
        return;
    filterbank_scratch_rewind(&work->rows);
    for (unsigned i = 0; i < x->n_filters; i++)
        if (node->x[i].length > 0)
            rows[i] = add_scratch(work, &work->rows, node->x[i], in_y);
    add_passes(work, true, x, in_x, node->x, rows, from);
    for (unsigned i = 0; i < x->n_filters; i++) {
        if (node->x[i].length == 0)
            continue;
        for (unsigned j = 0; j < y->n_filters; j++)
            if (node->y[j].length > 0)
                to[j] = place_of(work, index, i, j);
        add_passes(work, false, y, in_y, node->y, to, rows[i]);
    }
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct filterbank_config *config = config_;
    struct filterbank_taps taps = {0};
    struct work work = {.config = config, .plan = plan, .taps = &taps};
    int result = dwt_check_device(plan, config->precision, fault);
    if (result != 0)
        return result;
    for (size_t p = 0; p < plan->in->n_planes; p++) {
        work.plane = &plan->in->planes[p];
        work.plane_index = (unsigned)p;
        bool made = filterbank_tree_create(&work.tree, config, work.plane);
        work.first = made ? calloc(work.tree.n_nodes + 1, sizeof *work.first) : NULL;
        plan->out_of_memory |= !work.first;
        for (unsigned i = 0; i < work.tree.n_nodes && !plan->out_of_memory; i++)
            add_node(&work, i);
        free(work.first);
        filterbank_tree_finish(&work.tree);
    }
    filterbank_scratch_finish(&work.rows);
    filterbank_scratch_finish(&work.outside);
    filterbank_taps_store(&taps, config, plan);
    return 0;
}

static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    return filterbank_tolerance(config, in);
}

const struct stage stage_analysis = {
    .name = "analysis",
    .chains = (const char *const[]){"analysis:bank=haar", "analysis:bank=haar:border=smooth",
                                    "analysis:bank=haar:border=smooth:precision=double", NULL},
    .summary = "a filter bank: bands of the picture's rows and columns, level by level",
    .params = params,
    .config_size = sizeof(struct filterbank_config),
    .define = filterbank_define,
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .reference = analysis_reference,
    .tolerance = tolerance,
    .bench = "analysis:cdf97:levels=3",
};
