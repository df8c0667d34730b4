/* For work-groups of `items` work-items in a row, whose local memory is fast. All of them call these. */

#ifndef NATIVE
/* The sum of `v` of the work-items up to this one. */
inline int sum_up(__local int *sums, int item, int items, int v)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] = v;
    for (int distance = 1; distance < items; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[item];
}

/* The first work-item of which `is_one` is true, `items` where there is none. */
inline int first_one(__local int *found, int item, int items, bool is_one)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        *found = items;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_one)
        atomic_min(found, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *found;
}
#endif
