/* Several stages in one kernel, for CPUs: one work-item computes a band of rows, and each row goes
 * through all stages while it is in the processor's nearest cache. The stages' own kernels are functions
 * here (PART), called for one row at a time; between two of them lies a line of scratch memory.
 *
 * In front of a stencil (RING lines of source rows for one of the result) lie the latest RING rows, each
 * computed once a band. They are counted as they stand in the bordered plane, so that a row outside,
 * which repeats another, is computed again. Rows of zeros are not computed: the stencil knows them.
 *
 * Planning (src/chain/fuse_lines.c) defines PARAMETERS, and as calls of the stages BEFORE(row, line), row
 * `row` of the source to line `line` of the ring, and AFTER(y), from there to row y of the result. The
 * grid counts bands; top: how many source rows lie above the one at the result's place. */
ENTRY void KERNEL(GRID, __global uchar *restrict scratch, int item_size, int band, int out_height,
                  int height, int border, int top PARAMETERS)
{
    int item = GRID_Y;
    if (item >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
    __global uchar *lines = scratch + (size_t)item * item_size;
    int begin = item * band, end = min(begin + band, out_height);
#if RING_LINES
    for (int v = begin - top, last = RING_LINES - 1; v < end - top + last; v++) {
        int row = border_index(v, height, border), y = v + top - last;
        if (row >= 0) {
            BEFORE(row, modulo(v, RING_LINES))
        }
        if (y >= begin) {
            AFTER(y)
        }
    }
#else
    for (int y = begin; y < end; y++) {
        AFTER(y)
    }
#endif
}
