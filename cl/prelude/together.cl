/* For work-groups of `items` work-items in a row, whose local memory is fast. All of them call these. */

#ifndef NATIVE
/* The sum of `v` of the work-items up to this one; `sums` then has those of all. */
#define DEFINE_SUM_UP(name, type)                                                                  \
    inline type name(__local type *sums, int item, int items, type v)                              \
    {                                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        sums[item] = v;                                                                            \
        for (int distance = 1; distance < items; distance *= 2) {                                  \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
            type before = item >= distance ? sums[item - distance] : 0;                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
            sums[item] += before;                                                                  \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return sums[item];                                                                         \
    }
DEFINE_SUM_UP(sum_up, int)
DEFINE_SUM_UP(sum_up_wide, ulong)

/* The least v of all work-items. */
inline int least_of(__local int *least, int item, int v)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        *least = INT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(least, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *least;
}
#endif
