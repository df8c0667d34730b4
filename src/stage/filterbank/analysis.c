/* analysis: its parameters, and the bands that come of a frame. */
#include "stage/filterbank/analysis.h"

#include <string.h>

#include "stage/common.h"

#define AT(member) offsetof(struct filterbank_config, member)
static const struct param params[] = {
    PARAM(WORD, "bank", AT(bank), "haar, legall53, cdf97, or @name of a bank of the configuration"),
    PARAM(INTEGER, "levels", AT(levels), "how often the first band is analysed, with the same bank",
          RANGE(1, FILTERBANK_LEVELS_MAX), DEFAULT("1")),
    PARAM(WORDS, "sequence", AT(sequence),
          "the bank of each level, joined by _, in place of bank and levels"),
    PARAM(WORDS, "sequences", AT(sequences), "several sequences over the same plane, joined by /"),
    PARAM(CHOICE, "border", AT(border),
          "what stands outside a signal: zeros, or the signal again and again",
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

static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    return filterbank_tolerance(config, in);
}

const struct stage stage_analysis = {
    .name = "analysis",
    .summary = "a filter bank: bands of the picture's rows and columns, level by level",
    .params = params,
    .config_size = sizeof(struct filterbank_config),
    .define = filterbank_define,
    .complete = complete,
    .shape = shape,
    .passes = analysis_passes,
    .reference = analysis_reference,
    .tolerance = tolerance,
    .bench = "analysis:cdf97:levels=3",
};
