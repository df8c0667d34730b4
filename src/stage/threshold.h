/* Parameters of the stage threshold. */
#ifndef SLUICE_STAGE_THRESHOLD_H
#define SLUICE_STAGE_THRESHOLD_H

#include "stage/stage.h"

enum {
    THRESHOLD_OTSU = 0, /* as choices of t */
    THRESHOLD_LOCAL,
    THRESHOLD_MAX = 0, /* as the choice of high */
    OTSU_BINS = 256,
};

/* t=local compares f32 in levels of white / THRESHOLD_LEVELS, limited to i16. */
#define THRESHOLD_LEVELS 16384

/* With more samples in a plane the sums of Otsu's method could exceed 64 bits. */
#define OTSU_SAMPLES_MAX (UINT64_C(1) << 29)

struct threshold_config {
    struct param_scalar t;    /* a number; or Otsu's method, or the mean around each sample */
    double low;               /* the result below t */
    struct param_scalar high; /* the result from t on: a number, or white */
    int64_t radius;           /* of t=local: the window has 2 · radius + 1 samples a side */
    double offset;            /* of t=local: how far below the mean is still high */
    int border;               /* of t=local: enum border */
};

/* Levels for a unit of samples; 1 for integers. */
double threshold_scale(const struct plane *in);

/* The means that t=local compares with are those of box with this config. */
struct box_config;
void threshold_means(const struct threshold_config *config, struct box_config *box);

/* The definition, in plain C. */
stage_reference threshold_reference;

#endif
