/* Which bands a synthesis uses, at which indices they lie, and what comes out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/filterbank/synthesis.h"

/* A plane to restore: what it came from, or NULL if that is not known. */
struct source {
    /* of the analysis, as far as it is known, changed by the parameters */
    struct filterbank_config config;
    const struct plane *original;
    const char *name;
    struct filterbank_tree tree; /* for the original; without an original it has no nodes */
    unsigned levels;             /* to undo; 0: all */
    bool crop;
    bool named; /* only names tell what planes are; positions follow from the original */
};

void synthesis_work_finish(struct synthesis_work *work)
{
    for (size_t i = 0; i < work->n; i++)
        free(work->cascades[i].levels);
    free(work->cascades);
    *work = (struct synthesis_work){0};
}

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The smallest range that contains both; one of length 0 is ignored. */
static struct bank_span join(struct bank_span a, struct bank_span b)
{
    if (a.length == 0)
        return b;
    if (b.length == 0)
        return a;
    int64_t zero = most(a.zero, b.zero);
    return (struct bank_span){zero + most(a.length - a.zero, b.length - b.zero), zero};
}

static struct synthesis_band find_band(const struct source *source, const struct frame *in,
                                       unsigned sequence, unsigned level, unsigned i, unsigned j)
{
    char name[PLANE_NAME_MAX];
    int plane = -1;
    if (filterbank_name(&source->config, source->name, sequence, level, i, j, name))
        plane = frame_find_plane(in, name);
    const struct filterbank_node *at =
        source->original && source->tree.path[sequence][level - 1] >= 0
            ? &source->tree.nodes[source->tree.path[sequence][level - 1]]
            : NULL;
    bool periodic = source->config.border == WAVELET_PERIODIZATION; /* then, no other fits */
    if (plane >= 0 && (source->named || periodic) && at)
        return (struct synthesis_band){SYNTHESIS_PRESENT, at->x[i], at->y[j], plane};
    if (plane >= 0) {
        const struct plane *p = &in->planes[plane];
        return (struct synthesis_band){
            SYNTHESIS_PRESENT, {p->width, p->zero_x}, {p->height, p->zero_y}, plane};
    }
    struct synthesis_band missing = {SYNTHESIS_ZERO, {1, 0}, {1, 0}, -1};
    if (source->original && (!at || filterbank_is_empty(at, i, j)))
        return (struct synthesis_band){.state = SYNTHESIS_EMPTY, .plane = -1};
    return missing;
}

/* Sets a level's columns and result, which follow from its bands. */
static void fill_level(struct synthesis_level *level, unsigned dims)
{
    const struct bank *bank = level->bank;
    struct bank_span spans[BANK_FILTERS_MAX], all_y = {0};
    level->out = (struct synthesis_band){.plane = -1};
    for (unsigned i = 0; i < level->n_columns; i++) {
        struct synthesis_band *column = &level->column[i];
        *column = (struct synthesis_band){.plane = -1};
        for (unsigned j = 0; j < level->n_rows; j++) {
            const struct synthesis_band *band = &level->band[i][j];
            if (band->state > column->state)
                column->state = band->state;
            column->x = join(column->x, band->x);
            spans[j] = band->y;
        }
        column->y =
            dims == 2 ? bank_synthesis_span(spans, bank->y.synthesis, level->n_rows, bank->y.factor)
                      : spans[0];
        all_y = join(all_y, column->y);
        if (column->state > level->out.state)
            level->out.state = column->state;
    }
    for (unsigned i = 0; i < level->n_columns; i++) {
        spans[i] = level->column[i].x;
        if (dims == 2)
            level->column[i].y = all_y;
    }
    level->out.x = bank_synthesis_span(spans, bank->x.synthesis, level->n_columns, bank->x.factor);
    level->out.y = all_y;
}

/* The samples of a first band that are needed for a range of the result. */
static struct bank_span needed(struct bank_span out, const struct bank_filter *f, unsigned factor)
{
    int64_t begin = -out.zero, end = out.length - out.zero - 1;
    int64_t first = bank_ceil(begin - f->shift - ((int64_t)f->n_taps - f->zero - 1), factor);
    int64_t last = bank_floor(end - f->shift + f->zero, factor);
    return (struct bank_span){most(last - first + 1, 1), -first};
}

/* What both ranges contain, but at least one sample of the first. */
static struct bank_span common(struct bank_span a, struct bank_span b)
{
    int64_t begin = most(-a.zero, -b.zero);
    int64_t a_end = a.length - a.zero, b_end = b.length - b.zero;
    int64_t end = a_end < b_end ? a_end : b_end;
    if (end <= begin)
        return (struct bank_span){1, a.zero};
    return (struct bank_span){end - begin, -begin};
}

/* Crops the last level to the original, and each level before to what the next one needs. Without
 * this, planes would double in size from level to level. */
static void crop(struct synthesis_cascade *cascade, struct bank_span x, struct bank_span y)
{
    for (unsigned l = cascade->n_levels; l-- > 0;) {
        struct synthesis_level *level = &cascade->levels[l];
        const struct bank *bank = level->bank;
        bool last = l + 1 == cascade->n_levels;
        if (level->out.state == SYNTHESIS_EMPTY && !last)
            continue;
        level->out.x = last ? x : common(level->out.x, x);
        level->out.y = last ? y : common(level->out.y, y);
        for (unsigned i = 0; cascade->dims == 2 && i < level->n_columns; i++)
            level->column[i].y = level->out.y;
        x = needed(level->out.x, &bank->x.synthesis[0], bank->x.factor);
        if (cascade->dims == 2)
            y = needed(level->out.y, &bank->y.synthesis[0], bank->y.factor);
    }
    for (unsigned l = 1; l < cascade->n_levels; l++) {
        struct synthesis_level *level = &cascade->levels[l];
        if (level->band[0][0].state == SYNTHESIS_EMPTY)
            continue;
        level->band[0][0].x = cascade->levels[l - 1].out.x;
        level->band[0][0].y = cascade->levels[l - 1].out.y;
        level->column[0].x = (struct bank_span){0};
        for (unsigned j = 0; j < level->n_rows; j++)
            level->column[0].x = join(level->column[0].x, level->band[0][j].x);
        if (cascade->dims == 1)
            level->column[0].y = level->band[0][0].y;
    }
}

/* The number of levels, where only names of planes tell. */
static unsigned count_levels(const struct source *source, const struct frame *in)
{
    unsigned most = 0;
    for (size_t p = 0; p < in->n_planes; p++) {
        unsigned level = 0, i = 0, j = 0;
        char name[PLANE_NAME_MAX];
        sscanf(in->planes[p].name, "a%u_h%u_v%u", &level, &i, &j);
        if (level > most && level <= FILTERBANK_LEVELS_MAX && i < BANK_FILTERS_MAX &&
            j < BANK_FILTERS_MAX &&
            filterbank_name(&source->config, source->name, 0, level, i, j, name) &&
            strcmp(name, in->planes[p].name) == 0)
            most = level;
    }
    return most;
}

static void fill_bands(const struct source *source, const struct frame *in, unsigned sequence,
                       unsigned number, const struct synthesis_band *first,
                       struct synthesis_level *level)
{
    level->bank = source->config.cascade[sequence].banks[number - 1];
    level->n_columns = level->bank->x.n_filters;
    level->n_rows = source->config.dims == 2 ? level->bank->y.n_filters : 1;
    for (unsigned i = 0; i < level->n_columns; i++)
        for (unsigned j = 0; j < level->n_rows; j++)
            level->band[i][j] = find_band(source, in, sequence, number, i, j);
    if (first) {
        level->band[0][0] = *first;
        level->band[0][0].plane = -1;
    }
    fill_level(level, (unsigned)source->config.dims);
}

/* Of bands of one period comes what the analysis took. */
static void take_period(struct synthesis_level *level, const struct filterbank_node *node)
{
    level->out.x = node->in_x;
    level->out.y = node->in_y;
    for (unsigned i = 0; i < level->n_columns; i++)
        level->column[i].y = node->in_y;
}

/* Checks that the bands have equal channels, and types for which the precision is enough. */
static int check_bands(const struct source *source, const struct frame *in,
                       const struct synthesis_cascade *cascade, uint32_t *channels,
                       struct fault *fault)
{
    *channels = 0;
    for (unsigned l = 0; l < cascade->n_levels; l++) {
        const struct synthesis_level *level = &cascade->levels[l];
        for (unsigned i = 0; i < level->n_columns; i++) {
            for (unsigned j = 0; j < level->n_rows; j++) {
                if (level->band[i][j].plane < 0)
                    continue;
                const struct plane *p = &in->planes[level->band[i][j].plane];
                const struct synthesis_band *band = &level->band[i][j];
                int result = filterbank_check_type(&source->config, "synthesis", p->type, fault);
                if (result != 0)
                    return result;
                if (band->x.length != p->width || band->y.length != p->height)
                    return fault_set(fault, FAULT_SHAPE,
                                     "synthesis: band '%s' is %u×%u, of a plane of %u×%u it would "
                                     "be %lld×%lld",
                                     p->name, p->width, p->height, source->original->width,
                                     source->original->height, (long long)band->x.length,
                                     (long long)band->y.length);
                if (*channels != 0 && p->channels != *channels)
                    return fault_set(fault, FAULT_SHAPE,
                                     "synthesis: band '%s' has %u channels, another has %u",
                                     p->name, p->channels, *channels);
                *channels = p->channels;
            }
        }
    }
    if (*channels == 0)
        return fault_set(fault, FAULT_SHAPE, "synthesis: none of the bands is there");
    return 0;
}

static int finish_cascade(const struct source *source, unsigned sequence, unsigned depth,
                          struct synthesis_cascade *cascade, const struct frame *in,
                          struct fault *fault)
{
    uint32_t channels;
    int result = check_bands(source, in, cascade, &channels, fault);
    if (result != 0)
        return result;
    bool cropped = source->crop && source->original;
    if (cropped && (result = filterbank_check_type(&source->config, "synthesis",
                                                   source->original->type, fault)) != 0)
        return result;
    if (cropped && !cascade->cyclic) {
        const struct filterbank_node *node =
            &source->tree.nodes[source->tree.path[sequence][depth - cascade->n_levels]];
        crop(cascade, node->in_x, node->in_y);
    }
    const struct synthesis_band *out = &cascade->levels[cascade->n_levels - 1].out;
    if (out->x.length > INT32_MAX / 4 || out->y.length > INT32_MAX / 4)
        return fault_set(fault, FAULT_LIMIT, "synthesis: a plane of more than 2^31 samples");
    cascade->out =
        (struct plane){.width = (uint32_t)out->x.length,
                       .height = (uint32_t)out->y.length,
                       .channels = channels,
                       .type = cropped ? source->original->type : filterbank_type(&source->config),
                       .zero_x = (int32_t)out->x.zero,
                       .zero_y = (int32_t)out->y.zero};
    char prefix[16] = "";
    if (source->config.given & FILTERBANK_WORD_SEQUENCES)
        snprintf(prefix, sizeof prefix, "%ss%u", source->name[0] ? "_" : "", sequence);
    snprintf(cascade->out.name, sizeof cascade->out.name, "%s%s", source->name, prefix);
    return 0;
}

static int add_cascade(struct synthesis_work *work, const struct source *source,
                       const struct frame *in, unsigned sequence, struct fault *fault)
{
    unsigned depth = source->config.cascade[sequence].n_levels;
    if (source->levels > depth)
        return fault_set(fault, FAULT_SHAPE, "synthesis: levels=%u, but there are %u",
                         source->levels, depth);
    bool cyclic = source->config.border == WAVELET_PERIODIZATION;
    if (cyclic && !source->original)
        return fault_set(fault, FAULT_SHAPE,
                         "synthesis: border=periodization needs size=WIDTHxHEIGHT of the original");
    struct synthesis_cascade *cascades =
        realloc(work->cascades, (work->n + 1) * sizeof *work->cascades);
    if (!cascades)
        return no_memory(fault);
    work->cascades = cascades;
    struct synthesis_cascade *cascade = &cascades[work->n++];
    *cascade =
        (struct synthesis_cascade){.dims = (unsigned)source->config.dims,
                                   .cyclic = cyclic,
                                   .precision = (enum dwt_precision)source->config.precision};
    unsigned n = source->levels ? source->levels : depth;
    cascade->levels = calloc(n + 1, sizeof *cascade->levels);
    if (!cascade->levels)
        return no_memory(fault);
    const struct synthesis_band *first = NULL;
    for (unsigned l = 0; l < n; l++) {
        /* levels that the analysis did not reach need no work */
        if (source->original && source->tree.path[sequence][depth - l - 1] < 0)
            continue;
        struct synthesis_level *level = &cascade->levels[cascade->n_levels++];
        fill_bands(source, in, sequence, depth - l, first, level);
        if (cyclic)
            take_period(level, &source->tree.nodes[source->tree.path[sequence][depth - l - 1]]);
        first = &level->out;
    }
    if (cascade->n_levels == 0)
        return fault_set(fault, FAULT_SHAPE, "synthesis: none of the bands is there");
    return finish_cascade(source, sequence, depth, cascade, in, fault);
}

/* Changes parameters of the analysis by those that are given here. */
static int change_words(struct filterbank_config *config, const struct filterbank_config *words,
                        struct fault *fault)
{
    const param_given banks =
        FILTERBANK_WORD_BANK | FILTERBANK_WORD_SEQUENCE | FILTERBANK_WORD_SEQUENCES;
    config->definitions = words->definitions;
    if (words->given & banks) {
        config->given = (config->given & ~banks) | (words->given & banks);
        memcpy(config->bank, words->bank, sizeof config->bank);
        memcpy(config->sequence, words->sequence, sizeof config->sequence);
        memcpy(config->sequences, words->sequences, sizeof config->sequences);
    }
    if (words->given & FILTERBANK_WORD_BORDER)
        config->border = words->border;
    if (words->given & FILTERBANK_WORD_PRECISION)
        config->precision = words->precision;
    if (words->given & FILTERBANK_WORD_DIMS)
        config->dims = words->dims;
    return filterbank_resolve(config, "synthesis", fault);
}

static int add_source(struct synthesis_work *work, struct source *source, const struct frame *in,
                      struct fault *fault)
{
    int result = 0;
    if (source->original &&
        !filterbank_tree_create(&source->tree, &source->config, source->original))
        result = no_memory(fault);
    for (unsigned s = 0; s < source->config.n_sequences && result == 0; s++)
        result = add_cascade(work, source, in, s, fault);
    filterbank_tree_finish(&source->tree);
    return result;
}

/* Reads the parameters that `analysis` has stored, changed by those that are given here. */
static int add_origin(struct synthesis_work *work, const struct filterbank_config *words,
                      const struct frame_origin *origin, const struct frame *in,
                      struct fault *fault)
{
    struct source source = {
        .original = &origin->plane,
        .name = origin->plane.name,
        .crop = words->crop,
        .levels = words->given & FILTERBANK_WORD_LEVELS ? (unsigned)words->levels : 0};
    const char *text = origin->parameters;
    text += text[0] == ':';
    const struct param *table = stage_find("analysis", strlen("analysis"))->params;
    param_defaults(table, &source.config);
    int result = param_parse(table, &source.config, &source.config.given, text, strlen(text), 0,
                             "analysis", NULL);
    if (result != 0)
        return fault_set(fault, FAULT_SHAPE, "synthesis: the planes say 'analysis%.200s'",
                         origin->parameters);
    result = change_words(&source.config, words, fault);
    if (result == FAULT_CHAIN && fault) {
        fault->code = FAULT_SHAPE; /* the chain may be right; the planes' record is not */
        fault->position = -1;
        result = FAULT_SHAPE;
    }
    return result ? result : add_source(work, &source, in, fault);
}

/* For planes with names only: everything else is in the parameters. */
static int add_named(struct synthesis_work *work, const struct filterbank_config *words,
                     const struct frame *in, struct fault *fault)
{
    struct source source = {.config = *words, .name = "", .named = true, .crop = words->crop};
    struct plane original;
    if (in->n_planes == 1 && !in->planes[0].name[0])
        return fault_set(fault, FAULT_SHAPE,
                         "synthesis takes the planes that analysis makes; put analysis in front");
    if (words->n_sequences == 0)
        return fault_set(fault, FAULT_SHAPE,
                         "synthesis: these planes do not say which analysis they came from (an "
                         "NPZ without meta.json does not): give bank=, sequence= or sequences=, "
                         "size=WIDTHxHEIGHT of what was analysed, and what differs from the "
                         "default of border= (zero), dims= (2), precision= (single), type= (that "
                         "of the planes)");
    if (words->given & FILTERBANK_WORD_SIZE) {
        plane_parse_size(words->size, &original);
        original.type = words->given & FILTERBANK_WORD_TYPE ? (enum sample_type)words->type
                                                            : filterbank_type(words);
        source.original = &original;
        int result = filterbank_check_type(words, "synthesis", original.type, fault);
        if (result != 0)
            return result;
    }
    if (words->given & FILTERBANK_WORD_BANK)
        source.config.cascade[0].n_levels = count_levels(&source, in);
    source.levels = words->given & FILTERBANK_WORD_LEVELS ? (unsigned)words->levels : 0;
    if (source.config.cascade[0].n_levels == 0)
        return fault_set(fault, FAULT_SHAPE, "synthesis: none of the bands is there");
    return add_source(work, &source, in, fault);
}

int synthesis_work_create(struct synthesis_work *work, const struct filterbank_config *config,
                          const struct frame *in, struct fault *fault)
{
    size_t used = 0;
    int result = 0;
    *work = (struct synthesis_work){0};
    for (size_t i = 0; i < in->n_origins && result == 0; i++) {
        if (strcmp(in->origins[i].stage, "analysis") != 0)
            continue;
        used++;
        result = add_origin(work, config, &in->origins[i], in, fault);
    }
    if (used == 0)
        result = add_named(work, config, in, fault);
    if (result != 0)
        synthesis_work_finish(work);
    return result;
}
