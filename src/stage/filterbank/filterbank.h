/* What `analysis` and `synthesis` have in common: their words, the banks that these name level by
 * level, and the tree of bands that comes of a plane. */
#ifndef SLUICE_STAGE_FILTERBANK_H
#define SLUICE_STAGE_FILTERBANK_H

#include "bank/definitions.h"
#include "image/frame.h"
#include "stage/stage.h"

#define FILTERBANK_LEVELS_MAX    16
#define FILTERBANK_SEQUENCES_MAX 8

enum filterbank_border {
    FILTERBANK_ZERO,
    FILTERBANK_CYCLIC,
};

enum filterbank_precision {
    FILTERBANK_SINGLE,
    FILTERBANK_DOUBLE,
};

/* One cascade: the bank of each level. */
struct filterbank_sequence {
    unsigned n_levels;
    const struct bank *banks[FILTERBANK_LEVELS_MAX];
};

struct filterbank_config {
    char bank[PARAM_WORD_MAX];
    int64_t levels; /* of `analysis` how many there are; of `synthesis` how many are undone */
    char sequence[PARAM_WORDS_MAX], sequences[PARAM_WORDS_MAX];
    int border;    /* enum filterbank_border */
    int precision; /* enum filterbank_precision */
    int64_t dims;
    bool crop; /* of `synthesis`, like the next: what planes without origins came from */
    char size[PARAM_WORD_MAX];
    int type;

    param_given given; /* which of them were */
    const struct definitions *definitions;
    unsigned n_sequences; /* 0: no bank is named */
    struct filterbank_sequence cascade[FILTERBANK_SEQUENCES_MAX];
};

/* The places of the words in the tables of both stages, as bits of `given`. */
enum filterbank_word {
    FILTERBANK_WORD_BANK = 1 << 0,
    FILTERBANK_WORD_LEVELS = 1 << 1,
    FILTERBANK_WORD_SEQUENCE = 1 << 2,
    FILTERBANK_WORD_SEQUENCES = 1 << 3,
    FILTERBANK_WORD_BORDER = 1 << 4,
    FILTERBANK_WORD_PRECISION = 1 << 5,
    FILTERBANK_WORD_DIMS = 1 << 6,
    FILTERBANK_WORD_SIZE = 1 << 8, /* of synthesis alone, behind crop */
    FILTERBANK_WORD_TYPE = 1 << 9,
};

extern const struct param_choice filterbank_borders[], filterbank_precisions[];

/* Finds the banks that bank, sequence or sequences name. With none of them `n_sequences` is 0. */
int filterbank_resolve(struct filterbank_config *config, const char *stage, struct fault *fault);

/* One analysis of one signal: by `bank`, of what its parent's first band holds. */
struct filterbank_node {
    const struct bank *bank;
    int parent;               /* −1: the plane itself */
    unsigned level, sequence; /* from 1; the first sequence that has it */
    struct bank_span in_x, in_y, x[BANK_FILTERS_MAX], y[BANK_FILTERS_MAX];
    bool ends;  /* a sequence ends here: the first band is a result */
    bool feeds; /* or goes on: it is analysed again */
};

/* All analyses of a plane; a beginning that sequences share is there once. */
struct filterbank_tree {
    unsigned dims;
    unsigned n_nodes;
    struct filterbank_node *nodes; /* owned; parents stand before children */
    int path[FILTERBANK_SEQUENCES_MAX][FILTERBANK_LEVELS_MAX]; /* nodes; −1: the band was empty */
};

/* False when memory is out. */
bool filterbank_tree_create(struct filterbank_tree *tree, const struct filterbank_config *config,
                            const struct plane *plane);
void filterbank_tree_finish(struct filterbank_tree *tree);

/* Filters along y: 1 where rows are signals of their own. */
unsigned filterbank_columns(const struct filterbank_tree *tree, const struct filterbank_node *node);

bool filterbank_is_empty(const struct filterbank_node *node, unsigned i, unsigned j);

/* The name of band (i, j) of that level: "a1_h0_v1", before it the sequence where there are
 * several, and before that the plane's own name. False when it is too long for a plane. */
bool filterbank_name(const struct filterbank_config *config, const char *plane, unsigned sequence,
                     unsigned level, unsigned i, unsigned j, char name[PLANE_NAME_MAX]);

/* The index of the plane of that name; −1 for none. */
int filterbank_find(const struct frame *frame, const char *name);

/* The type of bands: f32, or f64 where the precision is double. */
enum sample_type filterbank_type(const struct filterbank_config *config);

/* FAULT_SHAPE for a sample type that the precision is not enough for. */
int filterbank_check_type(const struct filterbank_config *config, const char *stage,
                          enum sample_type type, struct fault *fault);

/* FAULT_NO_DEVICE where the precision is double and the device has no fp64. */
int filterbank_check_device(const struct filterbank_config *config, const char *stage,
                            const struct device_profile *profile, struct fault *fault);

/* Channels without alpha. */
uint32_t filterbank_channels(const struct plane *plane);

/* How large rounding in the config's precision may become, for samples as large as `type` holds. */
struct tolerance filterbank_tolerance(const struct filterbank_config *config,
                                      enum sample_type type);

/* Taps of all passes of a plan, as one table: grown while passes are made, put into the plan at the
 * end. */
struct filterbank_taps {
    size_t n, capacity;
    double *data; /* owned */
    bool failed;
};
/* Room for `n` more, all zero; NULL when memory is out. `at` is where they begin. */
double *filterbank_taps_add(struct filterbank_taps *taps, size_t n, int32_t *at);
/* Makes the table, OPERAND_TABLE + 0, and frees. */
void filterbank_taps_store(struct filterbank_taps *taps, const struct filterbank_config *config,
                           struct stage_plan *plan);

#endif
