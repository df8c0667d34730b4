/* Stages that take a second picture, or in its place a number, a picture of which all samples are
 * that: subtract, difference, divide, mask and blend. docs/stages/ has their definitions. */
#ifndef SLUICE_STAGE_SECOND_H
#define SLUICE_STAGE_SECOND_H

#include "stage/common.h"
#include "stage/stage.h"

enum second_operation {
    SECOND_SUBTRACT,
    SECOND_DIFFERENCE,
    SECOND_DIVIDE,
    SECOND_MASK,
    SECOND_BLEND,
};

/* The only choice of `scale`. */
#define SECOND_BY_MEAN 0

struct second_config {
    int operation;                      /* enum second_operation */
    char picture[PARAM_WORD_MAX];       /* "@NAME", or a number */
    struct param_scalar scale;          /* of divide */
    struct param_matrix background;     /* of mask */
    int64_t x, y;                       /* of blend, in pixels from where gravity says; … */
    double opacity;                     /* … and this */
    int gravity;                        /* … and enum gravity */
    struct definition_picture *defined; /* NULL: there is none of that name, or it is a number */
    double number;
};

/* FAULT_SHAPE unless the second picture suits such a plane. */
int second_check(const char *stage, const struct second_config *config, const struct plane *in,
                 struct fault *fault);

/* Where a second picture of that size lies in the picture: column and row of its upper left corner,
 * 0 but for blend. */
void second_place(const struct second_config *config, const struct plane *in, uint32_t width,
                  uint32_t height, int32_t *left, int32_t *top);

/* The mean of a colour of a second picture's samples: the exact sum of integers, and that of floats
 * row by row, as a double, divided by their number. */
double second_mean(const struct plane *plane, const uint8_t *samples, uint32_t channel);

stage_reference second_reference;

#endif
