/* The stage synthesis, whose parameters are struct filterbank_config, and what it makes of a frame.
 */
#ifndef SLUICE_STAGE_FILTERBANK_SYNTHESIS_H
#define SLUICE_STAGE_FILTERBANK_SYNTHESIS_H

#include "stage/filterbank/filterbank.h"

enum synthesis_state {
    SYNTHESIS_EMPTY,   /* the analysis gave no samples: takes no part */
    SYNTHESIS_ZERO,    /* left out by somebody: zeros, that count for sizes alone */
    SYNTHESIS_PRESENT, /* there are samples */
};

struct synthesis_band {
    enum synthesis_state state;
    struct bank_span x, y;
    int plane; /* of the input; −1: what the level before gave */
};

/* One bank's work: bands (i, j) along the columns into one signal a column i, those along the rows.
 */
struct synthesis_level {
    const struct bank *bank;
    unsigned n_columns, n_rows; /* filters along x, and along y (1 where rows are signals) */
    struct synthesis_band band[BANK_FILTERS_MAX][BANK_FILTERS_MAX];
    struct synthesis_band column[BANK_FILTERS_MAX]; /* all with the same y */
    struct synthesis_band out; /* of the last level: cropped, where it is to be */
};

/* All levels that one plane comes of, the coarsest first. */
struct synthesis_cascade {
    unsigned dims;
    enum filterbank_precision precision;
    unsigned n_levels;
    struct synthesis_level *levels; /* owned */
    struct plane out;               /* without a place in memory */
};

struct synthesis_work {
    size_t n;
    struct synthesis_cascade *cascades; /* owned */
};

/* What is to be done for `in`: FAULT_SHAPE when it does not say what it came from and the words do
 * not either. */
int synthesis_work_create(struct synthesis_work *work, const struct filterbank_config *config,
                          const struct frame *in, struct fault *fault);
void synthesis_work_finish(struct synthesis_work *work);

/* The definition, in plain C. */
int synthesis_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault);

#endif
