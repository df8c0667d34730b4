/* Pictures of chains, quickly and again and again: pictures are decoded once, the last results are
 * kept, and what is sent is the part that is seen. Any thread; one computes at a time.
 *
 * What a chain gets is what `sluice run` would give it: a JPEG's own Y channel, or a reduced
 * picture, where the chain accepts that. */
#ifndef SLUICE_VIEW_COMPUTE_H
#define SLUICE_VIEW_COMPUTE_H

#include "chain/plan.h"
#include "view/view.h"

struct compute;

int compute_open(struct compute **compute, const struct viewer *view, struct fault *fault);
void compute_close(struct compute **compute); /* takes NULL; clears the pointer */

/* What is to be shown. */
struct compute_ask {
    size_t file;       /* of the list */
    const char *chain; /* its whole text, since that decides how the file is decoded … */
    size_t n_steps;    /* … and how many of its stages; 0: the picture as it is in the file */
    const char *plane; /* its name; NULL: planes of a transform as one mosaic, else the first */
    uint32_t x, y, width, height; /* the part; cut to what there is. width 0: all */
    uint32_t every;               /* means of so many pixels each way are sent; 1: pixels */
    bool moving; /* soon there will be another: only what the part needs is computed, where the
                    stages allow it */
};

struct compute_time {
    char stage[64]; /* "luminance+sobel" */
    uint64_t run;   /* nanoseconds */
    unsigned n_launches;
};

/* What came out. compute_finish frees it. */
struct compute_result {
    struct plane *planes; /* all that come out, with their names; the mosaic is none of them */
    size_t n_planes;
    bool is_mosaic;
    struct plane plane;           /* the one that is shown, in full */
    uint32_t x, y, width, height; /* the part in its pixels */
    uint32_t every;
    uint32_t columns, rows; /* of what is sent: means of `every` × `every` pixels */
    uint8_t *samples;       /* columns × rows × channels of its type, packed */
    size_t size;
    bool of_part;     /* only the part was computed */
    bool again;       /* nothing was computed, since it was there */
    bool stored_luma; /* a JPEG's own Y channel was taken */
    uint32_t reduced; /* the file was decoded at 1/reduced of its sides */
    const char *warning;
    uint64_t total, decode; /* nanoseconds; decode 0: it had been decoded before */
    uint64_t bytes_moved, peak, bytes_copied;
    unsigned n_launches;
    size_t n_times;
    struct compute_time *times;
};

/* `faults`: the mistakes of the chain's text. */
int compute_run(struct compute *compute, const struct compute_ask *ask,
                struct compute_result *result, struct faults *faults, struct fault *fault);
void compute_finish(struct compute_result *result);

/* The picture of a file of any path, at most so large: means of whole blocks, decoded at a part of
 * its size where its format can do that. Links are not followed. */
int compute_thumb(struct compute *compute, const char *path, uint32_t side,
                  struct compute_result *result, struct fault *fault);

/* The plane that the chain gets, as the file's header says it; for plans. */
int compute_shape(struct compute *compute, size_t file, struct plane *plane, struct fault *fault);

/* NULL: the references. */
const struct device_info *compute_device(const struct compute *compute);

#endif
