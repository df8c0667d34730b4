/* Parameters of the stage threshold. */
#ifndef SLUICE_STAGE_THRESHOLD_H
#define SLUICE_STAGE_THRESHOLD_H

#include "base/fault.h"
#include "image/frame.h"
#include "param/param.h"

enum {
    THRESHOLD_OTSU = 0, /* as the choice of t */
    THRESHOLD_MAX = 0,  /* as the choice of high */
    OTSU_BINS = 256,
};

/* With more samples in a plane the sums of Otsu's method could exceed 64 bits. */
#define OTSU_SAMPLES_MAX (UINT64_C(1) << 29)

struct threshold_config {
    struct param_scalar t;    /* a number; or Otsu's method chooses */
    double low;               /* the result below t */
    struct param_scalar high; /* the result from t on: a number, or the type's largest value */
};

/* The definition, in plain C. */
int threshold_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault);

#endif
