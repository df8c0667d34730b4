/* The stage synthesis: its parameters are struct filterbank_config; here is what it does with a
 * frame. */
#ifndef SLUICE_STAGE_FILTERBANK_SYNTHESIS_H
#define SLUICE_STAGE_FILTERBANK_SYNTHESIS_H

#include "stage/filterbank/filterbank.h"
#include "stage/stage.h"

enum synthesis_state {
    SYNTHESIS_EMPTY,   /* the analysis gave no samples: left out */
    SYNTHESIS_ZERO,    /* the band is missing: zeros, which count for sizes only */
    SYNTHESIS_PRESENT, /* the band has samples */
};

struct synthesis_band {
    enum synthesis_state state;
    struct bank_span x, y;
    int plane; /* index in the input; −1: the result of the level before */
};

/* One level: bands (i, j) are put together along columns into one signal for each i, and those
 * along rows. */
struct synthesis_level {
    const struct bank *bank;
    /* filters in x direction, and in y direction (1 if each row is a signal) */
    unsigned n_columns, n_rows;
    struct synthesis_band band[BANK_FILTERS_MAX][BANK_FILTERS_MAX];
    struct synthesis_band column[BANK_FILTERS_MAX]; /* all with the same y */
    struct synthesis_band out; /* for the last level: cropped, if that was asked for */
};

/* All levels of one plane, the coarsest first. */
struct synthesis_cascade {
    unsigned dims;
    bool cyclic; /* bands have one period, and go on */
    enum dwt_precision precision;
    unsigned n_levels;
    struct synthesis_level *levels; /* owned */
    struct plane out;               /* without a position in memory */
};

struct synthesis_work {
    size_t n;
    struct synthesis_cascade *cascades; /* owned */
};

/* Finds out what has to be done for `in`. FAULT_SHAPE if neither the frame nor the parameters tell
 * what it came from. */
int synthesis_work_create(struct synthesis_work *work, const struct filterbank_config *config,
                          const struct frame *in, struct fault *fault);
void synthesis_work_finish(struct synthesis_work *work);

/* The definition, in plain C. */
stage_reference synthesis_reference;

#endif
