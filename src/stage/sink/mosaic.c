#include "stage/sink/mosaic.h"

#include <stdlib.h>

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    return mosaic_layout(config, in, alignment, NULL, out, fault);
}

static void add_pass(struct stage_plan *plan, unsigned index, const struct mosaic_cell *cell)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[cell->target];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    uint32_t channels = in->channels;
    struct pass *pass =
        pass_begin(plan, "mosaic", "", form, 0, cell->width * channels, cell->height);
    pass_define_type_bits(pass, "SRC", in->type);
    if (cell->copy) {
        pass_define(pass, "COPY", "1");
        pass_define(pass, "DST", "%s",
                    in->type == SAMPLE_F64 ? "ulong" : pass_type_name(out->type));
    } else {
        pass_define_type(pass, "DST", out->type);
        pass_define(pass, "RANGE", "%s", pass_type_name(cell->range));
        pass_define(pass, "MIDDLE", "%d", cell->middle);
        pass_name(pass, cell->middle ? "centred" : "low");
    }
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = (uint64_t)cell->width * cell->height * channels * sample_size(out->type);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, OPERAND_OUT, (unsigned)cell->target);
    pass_ints(pass, cell->x * channels, cell->y, in->width * channels, in->height);
    pass_float(pass, cell->factor);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct mosaic_cell *cells = calloc(plan->in->n_planes + 1, sizeof *cells);
    if (!cells)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    int result = mosaic_layout(config, plan->in, FRAME_ALIGNMENT, cells, NULL, fault);
    for (unsigned i = 0; i < plan->in->n_planes && result == 0; i++)
        add_pass(plan, i, &cells[i]);
    free(cells);
    return result;
}

const struct stage stage_mosaic = {
    .name = "mosaic",
    .summary = "the planes of a wavelet transform as one picture",
    .config_size = sizeof(struct mosaic_config),
    .internal = true,
    .shape = shape,
    .passes = passes,
    .reference = mosaic_reference,
};
