/* What the stages analysis and synthesis share: parameters, the banks that these name for each
 * level, and the tree of bands of a plane. */
#ifndef SLUICE_STAGE_FILTERBANK_H
#define SLUICE_STAGE_FILTERBANK_H

#include "bank/definitions.h"
#include "image/frame.h"
#include "stage/dwt/dwt.h"
#include "stage/dwt/wavelet.h"
#include "stage/stage.h"

#define FILTERBANK_LEVELS_MAX    16
#define FILTERBANK_SEQUENCES_MAX 8

/* A sequence: the bank for each level. */
struct filterbank_sequence {
    unsigned n_levels;
    const struct bank *banks[FILTERBANK_LEVELS_MAX];
};

struct filterbank_config {
    char bank[PARAM_WORD_MAX];
    int64_t levels; /* for `analysis` how many there are; for `synthesis` how many are undone */
    char sequence[PARAM_WORDS_MAX], sequences[PARAM_WORDS_MAX];
    int border;    /* enum wavelet_mode, without jpeg2000 */
    int precision; /* DWT_SINGLE or DWT_DOUBLE */
    int64_t dims;
    bool crop; /* these are for `synthesis`: what planes without origins came from */
    char size[PARAM_WORD_MAX];
    int type;

    param_given given; /* which parameters were given */
    const struct definitions *definitions;
    unsigned n_sequences; /* 0: no bank was named */
    struct filterbank_sequence cascade[FILTERBANK_SEQUENCES_MAX];
};

/* Indices of the parameters in the tables of both stages, as bits of `given`. */
enum filterbank_word {
    FILTERBANK_WORD_BANK = 1 << 0,
    FILTERBANK_WORD_LEVELS = 1 << 1,
    FILTERBANK_WORD_SEQUENCE = 1 << 2,
    FILTERBANK_WORD_SEQUENCES = 1 << 3,
    FILTERBANK_WORD_BORDER = 1 << 4,
    FILTERBANK_WORD_PRECISION = 1 << 5,
    FILTERBANK_WORD_DIMS = 1 << 6,
    FILTERBANK_WORD_SIZE = 1 << 8, /* of synthesis only, after crop */
    FILTERBANK_WORD_TYPE = 1 << 9,
};

extern const struct param_choice filterbank_borders[], filterbank_precisions[];

/* The stages' `define`. */
void filterbank_define(void *config, const struct definitions *definitions);

/* Finds the banks that bank, sequence or sequences name. `n_sequences` is 0 if none of these was
 * given. */
int filterbank_resolve(struct filterbank_config *config, const char *stage, struct fault *fault);

/* A node: splitting one signal, the first band of its parent, by `bank`. */
struct filterbank_node {
    const struct bank *bank;
    int parent;               /* −1: the plane itself */
    unsigned level, sequence; /* counted from 1; the first sequence that has the node */
    struct bank_span in_x, in_y, x[BANK_FILTERS_MAX], y[BANK_FILTERS_MAX];
    bool ends;  /* a sequence ends here, so the first band is a result */
    bool feeds; /* a sequence goes on here, so the first band is split again */
};

/* All nodes of a plane. Sequences with the same beginning share its nodes. */
struct filterbank_tree {
    unsigned dims;
    unsigned n_nodes;
    struct filterbank_node *nodes; /* owned; parents stand before children */
    int path[FILTERBANK_SEQUENCES_MAX]
            [FILTERBANK_LEVELS_MAX]; /* index of nodes; −1: the band was empty */
};

/* Returns false without memory. */
bool filterbank_tree_create(struct filterbank_tree *tree, const struct filterbank_config *config,
                            const struct plane *plane);
void filterbank_tree_finish(struct filterbank_tree *tree);

/* Filters in y direction: 1 if each row is a signal of its own. */
unsigned filterbank_columns(const struct filterbank_tree *tree, const struct filterbank_node *node);

bool filterbank_is_empty(const struct filterbank_node *node, unsigned i, unsigned j);

/* The name of band (i, j) of a level: "a1_h0_v1", after the plane's own name and, if there are
 * several, the sequence. Returns false if it is too long. */
bool filterbank_name(const struct filterbank_config *config, const char *plane, unsigned sequence,
                     unsigned level, unsigned i, unsigned j, char name[PLANE_NAME_MAX]);

/* The type of bands: f32, or f64 where the precision is double. */
enum sample_type filterbank_type(const struct filterbank_config *config);

/* FAULT_SHAPE for a sample type for which the precision is not enough. */
int filterbank_check_type(const struct filterbank_config *config, const char *stage,
                          enum sample_type type, struct fault *fault);

/* Channels without alpha. */
uint32_t filterbank_channels(const struct plane *plane);

/* How large rounding errors may become with the config's precision, for samples of `type`. */
struct tolerance filterbank_tolerance(const struct filterbank_config *config,
                                      enum sample_type type);

/* The taps of all passes of a plan, collected in one table, which is added to the plan at the end.
 */
struct filterbank_taps {
    size_t n, capacity;
    double *data; /* owned */
    bool failed;
};
/* Room for `n` more taps, all zero; NULL without memory. `at` is the index of the first. */
double *filterbank_taps_add(struct filterbank_taps *taps, size_t n, int32_t *at);
/* Adds the table to the plan, as OPERAND_TABLE + 0, and frees the memory. */
void filterbank_taps_store(struct filterbank_taps *taps, const struct filterbank_config *config,
                           struct stage_plan *plan);

/* Whether the device is a GPU whose kernels for banks of this factor and with windows of so many
 * taps (cl/filterbank/bank.cl) can have the taps written into them. */
bool filterbank_takes_tiles(const struct stage_plan *plan, const struct filterbank_config *config,
                            unsigned factor, int32_t n_taps);
/* Defines the taps from `at` on as those of band b: T0_0 … */
void filterbank_define_taps(struct pass *pass, unsigned b, const struct filterbank_taps *taps,
                            int32_t at, int32_t n);

/* A scratch frame to which planes are added when they are needed; zeros before the first. */
struct filterbank_scratch {
    struct frame *frame;
    unsigned operand;
    size_t most; /* bytes that were needed at once */
};
/* Adds a plane, of which type and channels are given; returns its index. Without memory
 * plan->out_of_memory is set. */
unsigned filterbank_scratch_add(struct stage_plan *plan, struct filterbank_scratch *scratch,
                                struct plane plane, struct bank_span x, struct bank_span y);
/* Planes that are added from here on take the memory of those before. */
void filterbank_scratch_rewind(struct filterbank_scratch *scratch);
/* Sets the frame's size, after all planes. */
void filterbank_scratch_finish(struct filterbank_scratch *scratch);

/* The definition of analysis, in plain C. */
stage_reference analysis_reference;

#endif
