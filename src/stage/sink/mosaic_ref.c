/* mosaic by its definition. Products are in f32, to which doubles are rounded first, as on devices.
 */
#include "stage/sink/mosaic.h"

#include <stdlib.h>

static void fill_cell(const struct picture *in, size_t index, const struct mosaic_cell *cell,
                      struct picture *out)
{
    const struct plane *from = &in->frame.planes[index];
    const struct plane *to = &out->frame.planes[cell->target];
    size_t in_size = sample_size(from->type), out_size = sample_size(to->type);
    for (uint32_t y = 0; y < cell->height; y++) {
        uint8_t *row = (uint8_t *)picture_row(out, cell->target, cell->y + y);
        for (uint32_t x = 0; x < cell->width * from->channels; x++) {
            bool inside = y < from->height && x < from->width * from->channels;
            const uint8_t *source = inside ? picture_row(in, index, y) : NULL;
            double v = inside ? sample_load(from->type, source + x * in_size) : 0;
            if (!cell->copy) {
                float product = cell->factor * (float)v;
                v = (double)(sample_saturate(cell->range, product) + cell->middle);
            }
            sample_store(to->type, row + (cell->x * from->channels + x) * out_size, v);
        }
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
