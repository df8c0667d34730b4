/* Parameters of the stages statistics and histogram. docs/stages has the definitions. */
#ifndef SLUICE_STAGE_STATISTICS_H
#define SLUICE_STAGE_STATISTICS_H

#include "stage/stage.h"

#define STATISTICS_SIDE_MAX    16         /* regions each way */
#define STATISTICS_COUNTS_MAX  (1u << 24) /* of one plane: regions, colours and values */
#define STATISTICS_NUMBERS_MAX 24         /* percentiles, and thresholds */
#define STATISTICS_PARTS       1000       /* a percentile has so many parts of a percent */

struct regions {
    int64_t across, down;
};

struct statistics_config {
    struct regions regions;
    struct param_matrix percentiles, over;
};

struct histogram_config {
    struct regions regions;
    int64_t bins;
    double low, high; /* of f32 */
    bool has_high;    /* else white is */
};

/* What a plane of the result of statistics tells. */
enum statistics_kind {
    STATISTICS_COUNT,
    STATISTICS_LEAST,
    STATISTICS_MOST,
    STATISTICS_PERCENTILE,
    STATISTICS_OVER,
    STATISTICS_MEAN,
    STATISTICS_DEVIATION,
};

struct statistics_number {
    enum statistics_kind kind;
    int32_t value; /* of a percentile, in parts; of what is over: samples up to it are not */
    char name[16];
};

/* The numbers of a config in order; returns how many. */
unsigned statistics_numbers(const struct statistics_config *config,
                            struct statistics_number numbers[5 + 2 * STATISTICS_NUMBERS_MAX]);

/* Where region `index` of `count` begins along a side. */
static inline uint32_t region_begin(uint32_t index, uint32_t count, uint32_t side)
{
    return (uint32_t)((uint64_t)index * side / count);
}

/* The factor by which a sample's distance from the least counted one becomes a bin, for f32. */
float histogram_scale(const struct histogram_config *config, const struct plane *plane);
float histogram_low(const struct histogram_config *config);

stage_reference statistics_reference;
stage_reference histogram_reference;

#endif
