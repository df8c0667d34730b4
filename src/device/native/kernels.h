/* The table of the kernels that were compiled when sluice was built. src/kernels/make_kernels.c
 * writes it. Each kernel was compiled for each level of the processor's architecture (x86_64_v2, v3
 * and v4, or armv8_a and armv8_2_a). */
#ifndef SLUICE_DEVICE_NATIVE_KERNELS_H
#define SLUICE_DEVICE_NATIVE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* One argument of a kernel. cl/native.h defines the same for the kernels' texts. */
union native_arg {
    int32_t i;
    uint32_t u;
    float f;
    int64_t l;
    double d;
    void *p;
};

/* Arguments that precede those of the pass. */
enum {
    NATIVE_WIDTH, /* of the grid, in samples */
    NATIVE_RING,  /* 0: the source is a plane; n: it is a ring of n lines (rows.c) */
    NATIVE_ARGS
};

/* A kernel: its parameters are GRID of cl/prelude.cl and those of the pass, as its caller knows. */
typedef void native_code(void);
struct native_function;

/* Runs work-items item … item_end - 1 in each of the grid's rows row … row_end - 1. There is one
 * for each list of parameters: one for each kernel and level would be a seventh of all kernels'
 * code. */
typedef void native_caller(const struct native_function *function, const union native_arg *args,
                           int item, int item_end, int row, int row_end);

struct native_function {
    native_caller *call;
    native_code *code;
    int span; /* samples of a work-item */
};

#define NATIVE_LEVELS_MAX 3
struct native_entry {
    uint64_t hash; /* pass_hash (stage/pass.h) of the passes that it computes */
    const char *name;
    native_caller *call;
    int span;
    native_code *at[NATIVE_LEVELS_MAX]; /* one for each of native_levels */
};

/* Sorted by hash. */
extern const struct native_entry native_entries[];
extern const size_t native_n_entries;

/* The names of levels, the oldest processors' first; ends with NULL. */
extern const char *const native_levels[NATIVE_LEVELS_MAX + 1];

#endif
