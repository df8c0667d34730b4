/* What ITEMS work-items in a row share: together, a work-group of their own, or where one is alone (count_work in
 * src/stage/count.c). SUM_UP and LEAST_OF are those of cl/prelude/together.cl; SUM_OF_ALL is what SUM_UP has made of the
 * last one's. */
#include <together.cl>
#pragma form TOGETHER
#define GROUPED              __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#define SHARED               __local
#define SUM_UP(sums, v)      sum_up(sums, item, ITEMS, v)
#define SUM_UP_WIDE(sums, v) sum_up_wide(sums, item, ITEMS, v)
#define LEAST_OF(least, v)   least_of(least, item, v)
#define BARRIER              barrier(CLK_LOCAL_MEM_FENCE);
#pragma form ALONE
#define GROUPED
#define SHARED
#define SUM_UP(sums, v)      ((sums)[0] = (v))
#define SUM_UP_WIDE(sums, v) SUM_UP(sums, v)
#define LEAST_OF(least, v)   (v)
#define BARRIER
#pragma form
#define SUM_OF_ALL(sums) (sums)[ITEMS - 1]
#define EACH             (256 / ITEMS) /* of 256, a work-item's */

/* The first of `n` counts, each `step` behind the one before, that is not 0; n or more where there is none. */
inline int FN(first_counted)(__global const int *counts, int n, int step, SHARED int *place, int item)
{
    int i = item;
    while (i < n && counts[i * step] == 0)
        i += ITEMS;
    return LEAST_OF(place, i);
}
