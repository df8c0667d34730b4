/* ARM boards that need not be there: what bounds a kernel on one, and how long that takes at least.
 * Pure. */
#ifndef SLUICE_CHAIN_BOARD_H
#define SLUICE_CHAIN_BOARD_H

#include "chain/plan.h"

/* Mali GPUs whose kernels' cycles have been counted (docs/mali.md). */
enum board_gpu {
    BOARD_G52,
    BOARD_G57,
    BOARD_G610,
    BOARD_GPUS
};

struct board {
    const char *name, *label; /* as --board takes it, and as people call it */
    const char *compatible;   /* its SoC in the device tree */
    enum board_gpu gpu;
    unsigned cores;
    unsigned engines; /* of a core, which Mali-G52 has two or three of; else 0 */
    double clock;     /* of the GPU, Hz, at most */
    double bandwidth; /* of the memory, bytes a second, at most */
    const char *sources;
};

/* The board of that name; NULL with a fault that has the nearest name, or all of them. */
const struct board *board_find(const char *name, struct fault *fault);

/* The board whose SoC the device tree of this machine names; NULL for none. */
const struct board *board_here(void);

/* "Mali-G52". */
const char *board_gpu_name(enum board_gpu gpu);

/* Plans for the board are made with this profile. */
struct device_profile board_profile(const struct board *board);

/* What a pass needs at least: for the bytes that it moves, and for the work-items of the unit that
 * is busy longest (NULL, and 0: the kernel has not been counted). `by` is "memory" or that unit. */
struct board_bound {
    double memory, cycles, seconds;
    const char *unit, *by;
};
struct board_bound board_bound(const struct board *board, const struct pass *pass);

/* The seconds of all passes; -1: one of them has not been counted. */
double board_seconds(const struct board *board, const struct plan *plan);

#endif
