/* Passes that count a plane's samples by value (cl/count.cl), for stages that look for tones.
 * Kernels that make something of the counts find them as cl/bins.cl says. */
#ifndef SLUICE_STAGE_COUNT_H
#define SLUICE_STAGE_COUNT_H

#include "stage/pass.h"

enum {
    COUNT_ITEMS = 256 /* of a work-group that works together */
};

/* How a plane is counted. */
struct count {
    uint32_t pixel; /* samples of what counts once: 1, or those of a pixel */
    uint32_t bins;  /* counts of a part */
    uint32_t colours; /* of a pixel, which are counted each by itself; else 1 */
    bool levels;    /* each value has a bin; else bins lie between the least and the greatest */
    uint32_t shift; /* with `levels`: so many values as 1 << shift have a bin together */
    bool scaled;    /* bins of `scale` lie from `low` on (count_regions) */
    float low, scale;
    bool tiled;   /* by tiles, `across` in a row; else the plane is one */
    bool regions; /* tiles are parts of the plane that differ in size by a pixel */
    uint32_t tiles, across;
    uint32_t tile_width, tile_height; /* in samples, or pixels; of regions the most */
    uint32_t strip;                   /* a work-group that works together counts so much of a row */
    uint32_t rows, bands, parts;      /* of a tile: bands of so many rows are counted in `parts` */
    uint32_t counts_at, apart;        /* ints in front of the first part, and from part to part */
    bool together; /* work-groups count in local memory */
};

/* Whether work-groups have local memory for a histogram of bytes for each 32 of their work-items.
 */
bool count_together(const struct stage_plan *plan);

/* The whole plane: all colours together, or with `luma` the luma (bt601) of its pixels, without
 * alpha. Values of 8 bits each have a bin; those of 16 bits, too, if `bins` is more than 256 or on
 * CPUs; others lie in so many bins from the least finite sample to the greatest. */
void count_plane(const struct stage_plan *plan, const struct plane *plane, bool luma, uint32_t bins,
                 struct count *count);

/* Tiles of a plane of u8 or u16, in pixels: a value, or of colours luma. `apart`: ints of a tile in
 * `state`, of which the first ones are its counts; where work-groups count together, each band has
 * 256 counts of its own, of which nothing need be cleared or added up. */
void count_tiles(const struct stage_plan *plan, const struct plane *plane, uint32_t across,
                 uint32_t down, uint32_t width, uint32_t height, uint32_t apart,
                 struct count *count);

/* Regions of a plane, in pixels, each colour by itself: region i of n along a side of s pixels
 * begins at floor(i * s / n). Values of integers each have a bin; or, of 16 bits, each 256 of them
 * if `bins` is no more than 256. Of f32 bin i of `bins` has the samples v for which
 * (v - low) * scale is in [i, i + 1), or, for the last one, is `bins`; others do not count. Part p
 * of region r has `bins` counts for each colour, from int (r * parts + p) * apart of `state` on. */
void count_regions(const struct stage_plan *plan, const struct plane *plane, uint32_t across,
                   uint32_t down, uint32_t bins, struct count *count);

/* Bytes of `state`. */
uint64_t count_bytes(const struct count *count);

/* Scratch memory for counts of each plane of the plan's input, as count_plane does it. */
struct scratch count_state(struct stage_plan *plan, bool luma, uint32_t bins);

/* Adds the passes that count an input plane. */
void count_add(struct stage_plan *plan, unsigned plane, unsigned state, const struct count *count);

/* Says that COUNT_ITEMS work-items of the pass work together (cl/shares.cl), or each alone. */
void count_work(struct pass *pass, bool together);

/* Begins a pass of `source` that makes something of a plane's counts; its first argument is
 * `state`. Its grid counts `groups` of work-items that work together, where they do, or work-items.
 */
struct pass *count_pass(struct stage_plan *plan, const char *source, const char *part,
                        const struct plane *plane, unsigned state, const struct count *count,
                        uint32_t groups);

#endif
