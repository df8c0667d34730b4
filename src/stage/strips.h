/* How stencils with large windows cut a plane for CPUs: into strips of columns, so that the lines
 * that a window needs stay in a near cache, and bands of rows. A work-item computes one strip of
 * one band from top to bottom, with scratch memory of its own. */
#ifndef SLUICE_STAGE_STRIPS_H
#define SLUICE_STAGE_STRIPS_H

#include "device/profile.h"
#include "stage/common.h"

struct strips {
    uint32_t width; /* samples of a strip: whole pixels, and a multiple of 64 */
    uint32_t count; /* strips of a row */
    struct stage_bands bands;
};

/* What a stencil has its work-items keep. */
struct strips_need {
    size_t bytes;      /* for each sample of a strip's width */
    size_t cache;      /* the size of the cache that all of them should stay in */
    double work;       /* scalar operations for each sample of the result */
    double start_rows; /* rows whose work is done once more for each band */
};

#define STRIPS_FIRST_CACHE  40000
#define STRIPS_SECOND_CACHE 262144

struct strips strips_cut(const struct device_profile *profile, const struct plane *out,
                         const struct strips_need *need);

/* Room for a line of a strip with what the window sees on both sides, in samples. */
uint32_t strips_line(const struct strips *strips, const struct stage_window *window,
                     uint32_t channels);

/* Begins the pass of a kernel whose arguments are those of STRIP_PARAMETERS (cl/strips.cl);
 * `item_bytes` of `scratch`, an operand that stage_plan_memory knows, for each work-item. */
struct pass *strips_begin(struct stage_plan *plan, const char *source, const char *variant,
                          const struct strips *strips, const struct view *in,
                          const struct view *out, const struct stage_window *window,
                          struct scratch *scratch, uint64_t item_bytes);

#endif
