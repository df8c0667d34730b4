#include "stage/filterbank/filterbank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of cl/filterbank/bank.cl. */
enum {
    TILE_FACTOR_MAX = 4,
    TILE_TAPS = 16 /* of a band that kernels have names for */
};

const struct param_choice filterbank_borders[] = {
    {"zero", WAVELET_ZERO},
    {"cyclic", WAVELET_PERIODIC},
    {"periodic", WAVELET_PERIODIC},
    {"periodization", WAVELET_PERIODIZATION},
    {"constant", WAVELET_CONSTANT},
    {"symmetric", WAVELET_SYMMETRIC},
    {"reflect", WAVELET_REFLECT},
    {"smooth", WAVELET_SMOOTH},
    {"antisymmetric", WAVELET_ANTISYMMETRIC},
    {"antireflect", WAVELET_ANTIREFLECT},
    {NULL, 0},
};

const struct param_choice filterbank_precisions[] = {
    {"single", DWT_SINGLE},
    {"double", DWT_DOUBLE},
    {NULL, 0},
};

void filterbank_define(void *config_, const struct definitions *definitions)
{
    struct filterbank_config *config = config_;
    config->definitions = definitions;
}

static int find_bank(struct filterbank_config *config, const char *word, size_t length,
                     const struct bank **bank, struct fault *fault)
{
    char name[PARAM_WORD_MAX];
    if (length == 0 || length >= sizeof name)
        return fault_set(fault, FAULT_CHAIN, "'%.*s' is no bank's name",
                         length > 60 ? 60 : (int)length, word);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    return definitions_find_bank(config->definitions, name, bank, fault);
}

/* The length of the first name of a sequence. Names in a configuration may contain _: the longest
 * known name counts; if there is none, the text before the first _. */
static size_t name_length(const struct filterbank_config *config, const char *at)
{
    size_t whole = strcspn(at, "/");
    for (size_t length = whole; length > 0; length--) {
        char name[PARAM_WORD_MAX];
        const struct bank *bank;
        if ((length < whole && at[length] != '_') || length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (definitions_find_bank(config->definitions, name, &bank, NULL) == 0)
            return length;
    }
    return strcspn(at, "_/");
}

/* Reads bank names joined by _, up to the end or a slash; returns what follows. */
static int read_sequence(struct filterbank_config *config, const char **text, struct fault *fault)
{
    const char *at = *text;
    if (config->n_sequences == FILTERBANK_SEQUENCES_MAX)
        return fault_set(fault, FAULT_CHAIN, "more than %d sequences", FILTERBANK_SEQUENCES_MAX);
    struct filterbank_sequence *sequence = &config->cascade[config->n_sequences++];
    sequence->n_levels = 0;
    for (;;) {
        size_t length = name_length(config, at);
        if (sequence->n_levels == FILTERBANK_LEVELS_MAX)
            return fault_set(fault, FAULT_CHAIN, "a sequence of more than %d banks",
                             FILTERBANK_LEVELS_MAX);
        int result = find_bank(config, at, length, &sequence->banks[sequence->n_levels++], fault);
        if (result != 0)
            return result;
        at += length;
        if (*at != '_')
            break;
        at++;
    }
    *text = at;
    return 0;
}

static int read_sequences(struct filterbank_config *config, const char *text, bool several,
                          struct fault *fault)
{
    for (;;) {
        int result = read_sequence(config, &text, fault);
        if (result != 0 || *text == '\0')
            return result;
        if (!several)
            return fault_set(fault, FAULT_CHAIN, "sequence has one cascade; sequences has several");
        text++;
    }
}

static int repeat_bank(struct filterbank_config *config, struct fault *fault)
{
    const struct bank *bank;
    int result = find_bank(config, config->bank, strlen(config->bank), &bank, fault);
    if (result != 0)
        return result;
    config->n_sequences = 1;
    config->cascade[0].n_levels = (unsigned)config->levels;
    for (unsigned i = 0; i < FILTERBANK_LEVELS_MAX; i++)
        config->cascade[0].banks[i] = bank;
    return 0;
}

int filterbank_resolve(struct filterbank_config *config, const char *stage, struct fault *fault)
{
    const param_given named = config->given & (FILTERBANK_WORD_BANK | FILTERBANK_WORD_SEQUENCE |
                                               FILTERBANK_WORD_SEQUENCES);
    config->n_sequences = 0;
    if (named & (named - 1))
        return fault_set(fault, FAULT_CHAIN,
                         "%s: bank, sequence and sequences each name the banks: give one of them",
                         stage);
    if (named == FILTERBANK_WORD_BANK)
        return repeat_bank(config, fault);
    if (named == FILTERBANK_WORD_SEQUENCE)
        return read_sequences(config, config->sequence, false, fault);
    if (named == FILTERBANK_WORD_SEQUENCES)
        return read_sequences(config, config->sequences, true, fault);
    return 0;
}

static struct bank_span span_of_band(const struct bank_direction *direction, unsigned i,
                                     struct bank_span in, int border)
{
    if (border == WAVELET_PERIODIZATION)
        return bank_period(in, direction->factor);
    return bank_analysis_span(in, &direction->analysis[i], &direction->synthesis[i],
                              direction->factor, border != WAVELET_ZERO);
}

/* Finds the node with that bank and parent, or adds it. */
static int take_node(struct filterbank_tree *tree, const struct filterbank_config *config,
                     const struct plane *plane, unsigned sequence, unsigned level, int parent)
{
    struct filterbank_node *node = &tree->nodes[tree->n_nodes];
    const struct bank *bank = config->cascade[sequence].banks[level - 1];
    for (unsigned i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].bank == bank && tree->nodes[i].parent == parent)
            return (int)i;
    *node = (struct filterbank_node){
        .bank = bank, .parent = parent, .level = level, .sequence = sequence};
    if (parent < 0) {
        node->in_x = (struct bank_span){plane->width, plane->zero_x};
        node->in_y = (struct bank_span){plane->height, plane->zero_y};
    } else {
        node->in_x = tree->nodes[parent].x[0];
        node->in_y = tree->nodes[parent].y[0];
        tree->nodes[parent].feeds = true;
    }
    for (unsigned i = 0; i < bank->x.n_filters; i++)
        node->x[i] = span_of_band(&bank->x, i, node->in_x, config->border);
    for (unsigned j = 0; tree->dims == 2 && j < bank->y.n_filters; j++)
        node->y[j] = span_of_band(&bank->y, j, node->in_y, config->border);
    if (tree->dims == 1)
        node->y[0] = node->in_y;
    return (int)tree->n_nodes++;
}

bool filterbank_tree_create(struct filterbank_tree *tree, const struct filterbank_config *config,
                            const struct plane *plane)
{
    size_t most = 0;
    for (unsigned s = 0; s < config->n_sequences; s++)
        most += config->cascade[s].n_levels;
    *tree = (struct filterbank_tree){.dims = (unsigned)config->dims,
                                     .nodes = calloc(most + 1, sizeof *tree->nodes)};
    for (unsigned s = 0; s < config->n_sequences && tree->nodes; s++) {
        int parent = -1;
        const struct filterbank_sequence *sequence = &config->cascade[s];
        for (unsigned level = 1; level <= FILTERBANK_LEVELS_MAX; level++) {
            int *node = &tree->path[s][level - 1];
            *node = -1;
            if (level > sequence->n_levels ||
                (parent >= 0 && filterbank_is_empty(&tree->nodes[parent], 0, 0)))
                continue;
            parent = *node = take_node(tree, config, plane, s, level, parent);
            tree->nodes[parent].ends |= level == sequence->n_levels;
        }
    }
    return tree->nodes != NULL;
}

void filterbank_tree_finish(struct filterbank_tree *tree)
{
    free(tree->nodes);
    *tree = (struct filterbank_tree){0};
}

unsigned filterbank_columns(const struct filterbank_tree *tree, const struct filterbank_node *node)
{
    return tree->dims == 2 ? node->bank->y.n_filters : 1;
}

bool filterbank_is_empty(const struct filterbank_node *node, unsigned i, unsigned j)
{
    return node->x[i].length == 0 || node->y[j].length == 0;
}

bool filterbank_name(const struct filterbank_config *config, const char *plane, unsigned sequence,
                     unsigned level, unsigned i, unsigned j, char name[PLANE_NAME_MAX])
{
    char before[16] = "", behind[16] = "";
    if (config->n_sequences > 1 || config->given & FILTERBANK_WORD_SEQUENCES)
        snprintf(before, sizeof before, "s%u_", sequence);
    if (config->dims == 2)
        snprintf(behind, sizeof behind, "_v%u", j);
    int length = snprintf(name, PLANE_NAME_MAX, "%s%s%sa%u_h%u%s", plane, plane[0] ? "_" : "",
                          before, level, i, behind);
    return length < PLANE_NAME_MAX;
}

enum sample_type filterbank_type(const struct filterbank_config *config)
{
    return config->precision == DWT_DOUBLE ? SAMPLE_F64 : SAMPLE_F32;
}

int filterbank_check_type(const struct filterbank_config *config, const char *stage,
                          enum sample_type type, struct fault *fault)
{
    if (config->precision == DWT_DOUBLE || (type != SAMPLE_I32 && type != SAMPLE_F64))
        return 0;
    return fault_set(fault, FAULT_SHAPE,
                     "%s: %s samples need precision=double (or convert:f32 before it)", stage,
                     sample_name(type));
}

uint32_t filterbank_channels(const struct plane *plane)
{
    return plane->channels - plane_has_alpha(plane);
}

/* The sum of a filter's magnitudes: the largest result for samples of magnitude 1. */
static double gain_of(const struct bank_filter *filters, unsigned n)
{
    double largest = 1;
    for (unsigned i = 0; i < n; i++) {
        double sum = 0;
        for (unsigned k = 0; k < filters[i].n_taps; k++)
            sum += fabs(filters[i].taps[k]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* How much larger than the signal what stands outside may be, where that grows: filters reach no
 * further than both ways' taps. */
static double growth_of(const struct bank_direction *direction)
{
    double most = 0;
    for (unsigned i = 0; i < direction->n_filters; i++)
        most = fmax(most, direction->analysis[i].n_taps + direction->synthesis[i].n_taps);
    return 2 * most + 3;
}

struct tolerance filterbank_tolerance(const struct filterbank_config *config, enum sample_type type)
{
    double range = sample_is_integer(type) ? sample_max(type) : 1000, gain = 1;
    double unit = config->precision == DWT_DOUBLE ? 1e-15 : 5e-7;
    for (unsigned s = 0; s < config->n_sequences; s++) {
        double product = 1;
        for (unsigned i = 0; i < config->cascade[s].n_levels; i++) {
            const struct bank *bank = config->cascade[s].banks[i];
            product *= gain_of(bank->x.analysis, bank->x.n_filters);
            if (config->dims == 2)
                product *= gain_of(bank->y.analysis, bank->y.n_filters);
            if (wavelet_mode_grows(config->border))
                product *= growth_of(&bank->x) * (config->dims == 2 ? growth_of(&bank->y) : 1);
        }
        gain = fmax(gain, product);
    }
    return (struct tolerance){unit * range * gain, unit * 10};
}

double *filterbank_taps_add(struct filterbank_taps *taps, size_t n, int32_t *at)
{
    if (taps->n + n > taps->capacity) {
        size_t capacity = 2 * taps->capacity + n + 64;
        double *data = realloc(taps->data, capacity * sizeof *data);
        if (!data) {
            taps->failed = true;
            return NULL;
        }
        taps->data = data;
        taps->capacity = capacity;
    }
    double *added = taps->data + taps->n;
    for (size_t i = 0; i < n; i++)
        added[i] = 0;
    *at = (int32_t)taps->n;
    taps->n += n;
    return added;
}

void filterbank_taps_store(struct filterbank_taps *taps, const struct filterbank_config *config,
                           struct stage_plan *plan)
{
    if (taps->failed) {
        plan->out_of_memory = true;
    } else if (taps->n > 0 && config->precision == DWT_DOUBLE) {
        stage_plan_table(plan, taps->data, taps->n * sizeof *taps->data);
    } else if (taps->n > 0) {
        /* narrowed in place: each number is in front of its source */
        float *single = (float *)taps->data;
        for (size_t i = 0; i < taps->n; i++) {
            float tap = (float)taps->data[i];
            memcpy(&single[i], &tap, sizeof tap);
        }
        stage_plan_table(plan, single, taps->n * sizeof *single);
    }
    free(taps->data);
    *taps = (struct filterbank_taps){0};
}

bool filterbank_takes_tiles(const struct stage_plan *plan, const struct filterbank_config *config,
                            unsigned factor, int32_t n_taps)
{
    return plan->profile->form == FORM_VECTOR && !plan->profile->generic &&
           filterbank_type(config) == SAMPLE_F32 && factor >= 2 && factor <= TILE_FACTOR_MAX &&
           n_taps <= TILE_TAPS;
}

void filterbank_define_taps(struct pass *pass, unsigned b, const struct filterbank_taps *taps,
                            int32_t at, int32_t n)
{
    for (int k = 0; k < TILE_TAPS; k++) {
        char name[16];
        float tap = k < n ? (float)taps->data[at + k] : 0;
        snprintf(name, sizeof name, "T%u_%d", b, k);
        if (tap == 0)
            pass_define(pass, name, "0");
        else
            pass_define(pass, name, "%af", (double)tap);
    }
}

unsigned filterbank_scratch_add(struct stage_plan *plan, struct filterbank_scratch *scratch,
                                struct plane plane, struct bank_span x, struct bank_span y)
{
    plane.width = (uint32_t)x.length;
    plane.height = (uint32_t)y.length;
    if (!scratch->frame) {
        scratch->frame = &plan->scratch[plan->n_scratch];
        scratch->operand = OPERAND_SCRATCH + plan->n_scratch++;
    }
    if (!frame_add_plane(scratch->frame, &plane, FRAME_ALIGNMENT)) {
        plan->out_of_memory = true;
        return 0;
    }
    if (scratch->frame->size > scratch->most)
        scratch->most = scratch->frame->size;
    return (unsigned)scratch->frame->n_planes - 1;
}

void filterbank_scratch_rewind(struct filterbank_scratch *scratch)
{
    if (scratch->frame)
        scratch->frame->size = 0;
}

void filterbank_scratch_finish(struct filterbank_scratch *scratch)
{
    if (scratch->frame)
        scratch->frame->size = scratch->most;
}
