/* Parameters of the stage fir. */
#ifndef SLUICE_STAGE_FIR_H
#define SLUICE_STAGE_FIR_H

#include "stage/quotient.h"
#include "stage/stage.h"

enum fir_name {
    FIR_SAMPLE, /* of Arm's FIR sample */
    FIR_GAUSSIAN3,
    FIR_GAUSSIAN5,
    FIR_SHARPEN,
    FIR_LAPLACIAN,
    FIR_EMBOSS,
    FIR_IDENTITY,
};

enum fir_out {
    FIR_OUT_SAME, /* the type that comes in */
    FIR_OUT_F32,
};

struct fir_config {
    struct param_matrix k; /* a name's choice, or numbers */
    double divisor;        /* not 0 */
    double bias;
    int border; /* enum border */
    int out;    /* enum fir_out */
};

/* The window that a config stands for. */
struct fir_window {
    unsigned columns, rows;                          /* odd */
    double k[PARAM_MATRIX_SIDE * PARAM_MATRIX_SIDE]; /* row after row */
    double divisor, bias;
};

/* Sets the window of a config, looking up names. */
void fir_window(const struct fir_config *config, struct fir_window *window);

/* True when coefficients, divisor and bias are whole numbers, so that the result for integers is
 * the exact quotient. */
bool fir_is_whole(const struct fir_window *window);

/* A window that is the product of a column and a row of whole numbers. */
struct fir_factors {
    int64_t across[PARAM_MATRIX_SIDE], down[PARAM_MATRIX_SIDE];
};

/* Takes a window of whole numbers apart; false: it is no such product, or has no more coefficients
 * than the two. */
bool fir_factorise(const struct fir_window *window, struct fir_factors *factors);

/* Whether integers are summed along rows and then down columns: the window is large, its numbers
 * are whole, and it is such a product. */
bool fir_is_apart(const struct fir_window *window);

/* The work for one plane: the window with a positive divisor, and how it is computed. */
struct fir_work {
    struct stage_plan *plan;
    const struct fir_config *config;
    unsigned plane;
    const struct plane *in, *out;
    struct fir_window window;
    bool exact;               /* sums are whole numbers, and results exact quotients */
    struct quotient quotient; /* for exact work */
};

/* Whether exact sums along rows fit 32 bits, so that these can be summed; and the passes for that.
 */
bool fir_suits_apart(const struct fir_work *work);
void fir_add_apart(const struct fir_work *work);

/* A coefficient as kernels have it in a table: the bits of an int, or of a float. */
uint32_t fir_number(double k, bool whole);

/* Adds the pass for sums along rows, by as many coefficients as the window has columns: ints or
 * floats, which hold each sum. */
void fir_add_across(const struct fir_work *work, const struct view *middle, const int64_t *across);

/* Adds the numbers of a generic quotient as arguments. */
void fir_add_numbers(struct pass *pass, const struct quotient *quotient);

/* Whether plane, window and device allow to compute with two samples in a word, or in columns; and
 * the pass that does. */
bool fir_suits_packed(const struct fir_work *work);
void fir_add_packed(const struct fir_work *work);

/* Defines DIVIDE and ADD_BIAS, by which sums of f32 become results: correctly rounded. */
void fir_define_division(struct pass *pass, const struct device_profile *profile,
                         const struct fir_window *window);

/* The definition, in plain C. */
stage_reference fir_reference;

#endif
