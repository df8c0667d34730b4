/* Boards with Mali GPUs, for planning without the board: which part of it limits a kernel, and how
 * long the kernel takes at least. Pure. */
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
    const char *name, *label; /* as --board takes it; as people call it */
    const char *compatible;   /* the name of its SoC in the device tree */
    enum board_gpu gpu;
    unsigned cores;
    unsigned engines; /* execution engines of a core, two or three in Mali-G52; 0 for others */
    double clock;     /* of the GPU, Hz, at most */
    double bandwidth; /* of the memory, bytes a second, at most */
    const char *sources;
};

/* Returns the board of that name; NULL and a fault that gives the nearest name, or all names. */
const struct board *board_find(const char *name, struct fault *fault);

/* The board of that index; NULL: there are fewer. */
const struct board *board_get(size_t index);

/* Returns the board that this machine's device tree names; NULL for an unknown one. */
const struct board *board_here(void);

/* "Mali-G52". */
const char *board_gpu_name(enum board_gpu gpu);

/* The profile for planning on the board. */
struct device_profile board_profile(const struct board *board);

/* The least time that a pass needs: for the bytes that it moves, and for the work-items of the unit
 * that is busy longest (NULL and 0: the kernel's cycles were not counted). `by` names what takes
 * longer: "memory", or that unit. */
struct board_bound {
    double memory, cycles, seconds;
    const char *unit, *by;
};
struct board_bound board_bound(const struct board *board, const struct pass *pass);

/* Cycles of one core that a plan for `mali` takes on such a GPU, of each pass those of the unit that
 * is busy longest; -1: those of one of them were not counted. */
double board_cycles(enum board_gpu gpu, const struct plan *plan);

/* Seconds of all passes; -1: the cycles of one of them were not counted. */
double board_seconds(const struct board *board, const struct plan *plan);

#endif
