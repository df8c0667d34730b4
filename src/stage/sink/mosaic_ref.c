/* mosaic by its definition. Products are in f32, to which doubles are rounded first, as on devices.
 */
#include "stage/sink/mosaic.h"

#include <stdlib.h>

static void fill_cell(const struct picture *in, size_t index, const struct mosaic_cell *cell,
                      struct picture *out)
{
    const struct plane *from = &in->frame.planes[index];
    struct plane shape = *from;
    shape.width = cell->width;
    shape.height = cell->height;
    for (struct sample_at s = {0}; plane_each(&shape, &s);) {
        double v = s.x < from->width && s.y < from->height ? picture_at(in, index, &s) : 0;
        if (!cell->copy)
            v = (double)(sample_saturate(cell->range, cell->factor * (float)v) + cell->middle);
        picture_set(out, cell->target, &(struct sample_at){cell->x + s.x, cell->y + s.y, s.c}, v);
    }
}

int mosaic_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    struct mosaic_cell *cells = calloc(in->frame.n_planes + 1, sizeof *cells);
    if (!cells)
        return fault_set(fault, FAULT_MEMORY, "no memory for a mosaic");
    int result = mosaic_layout(config, &in->frame, FRAME_ALIGNMENT, cells, NULL, fault);
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++)
        fill_cell(in, i, &cells[i], out);
    free(cells);
    return result;
}
