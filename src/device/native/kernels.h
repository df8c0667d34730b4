/* The kernels that were compiled when sluice was built, for each level of the processor's family:
 * a table that src/kernels/make_kernels.c writes. */
#ifndef SLUICE_DEVICE_NATIVE_KERNELS_H
#define SLUICE_DEVICE_NATIVE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* One argument of a kernel; cl/native.h has the same for kernels. */
union native_arg {
    int32_t i;
    uint32_t u;
    float f;
    int64_t l;
    double d;
    void *p;
};

/* In front of a kernel's own arguments: the grid's width, and of how many lines the source is a
 * ring, 0 for a plane. */
enum {
    NATIVE_WIDTH,
    NATIVE_RING,
    NATIVE_ARGS
};

/* Work-items item … item_end - 1 of rows row … row_end - 1 of the grid. */
typedef void native_function(const union native_arg *args, int item, int item_end, int row,
                             int row_end);

#define NATIVE_LEVELS_MAX 3
struct native_entry {
    uint64_t text; /* pass_hash of all passes that it is for (stage/pass.h) */
    const char *name;
    native_function *at[NATIVE_LEVELS_MAX]; /* as native_levels has them */
};

/* By their texts, in rising order. */
extern const struct native_entry native_entries[];
extern const size_t native_n_entries;

/* The names of levels, from the least to the best; ends with NULL. */
extern const char *const native_levels[NATIVE_LEVELS_MAX + 1];

#endif
