/* Finds the planes that are bands of one transform, and their places in the mosaic. Frames can come
 * from files, so planes that are not a complete transform are left as they are. */
#include "stage/sink/mosaic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/dwt/dwt.h"
#include "stage/dwt/wavelet.h"

/* A transform whose planes form a mosaic. */
struct transform {
    const struct frame_origin *origin;
    struct dwt_config dwt;
    struct dwt_layout layout;
};

/* Finds the one whose planes begin with that plane. False: there is none. */
static bool find_transform(const struct frame *in, size_t plane, struct transform *t)
{
    for (size_t i = 0; i < in->n_origins; i++) {
        t->origin = &in->origins[i];
        if (t->origin->first == plane &&
            dwt_read_origin("mosaic", in, i, true, &t->dwt, &t->layout, NULL) == 0)
            return !t->dwt.stationary && t->dwt.axis == DWT_BOTH &&
                   (t->dwt.mode == WAVELET_JPEG2000 || t->dwt.mode == WAVELET_PERIODIZATION) &&
                   t->origin->plane.width < INT32_MAX - DWT_LEVELS_MAX &&
                   t->origin->plane.height < INT32_MAX - DWT_LEVELS_MAX;
    }
    return false;
}

/* The type of the mosaic. */
static enum sample_type target_type(const struct transform *t)
{
    const struct plane *from = &t->origin->plane;
    if (t->layout.type == SAMPLE_U8 || t->layout.type == SAMPLE_U16)
        return t->layout.type; /* the chain has turned the planes into pictures already */
    bool wide = from->type == SAMPLE_U16 || from->type == SAMPLE_I16;
    return wide || (!sample_is_integer(from->type) && plane_white(from) > 255) ? SAMPLE_U16
                                                                               : SAMPLE_U8;
}

/* What becomes of LL, whose gain for a constant picture is 1, or for orthonormal wavelets √2 for
 * each direction of a level; and of details. */
static void choose_values(const struct transform *t, double gain, struct mosaic_cell *low,
                          struct mosaic_cell *detail)
{
    const struct plane *from = &t->origin->plane;
    enum sample_type target = target_type(t);
    bool is_signed = from->type == SAMPLE_I8 || from->type == SAMPLE_I16;
    double scale = sample_is_integer(from->type) ? 1 : sample_max(target) / plane_white(from);
    double gain_of_low = t->dwt.mode == WAVELET_JPEG2000 ? 1 : ldexp(1, (int)t->layout.n_levels);
    *detail = (struct mosaic_cell){.copy = t->layout.type == target,
                                   .factor = (float)(gain * scale),
                                   .range = target == SAMPLE_U16 ? SAMPLE_I16 : SAMPLE_I8,
                                   .middle = target == SAMPLE_U16 ? 32768 : 128};
    *low = *detail;
    low->factor = (float)(scale / gain_of_low);
    if (!is_signed) {
        low->range = target;
        low->middle = 0;
    }
}

/* Arranges the bands, each level's around those of the coarser ones; sets the mosaic's size. */
static void arrange(const struct transform *t, double gain, struct mosaic_cell *cells,
                    uint32_t *width, uint32_t *height)
{
    struct mosaic_cell low, detail;
    const struct dwt_level *l = &t->layout.levels[t->layout.n_levels - 1];
    choose_values(t, gain, &low, &detail);
    *width = l->low_width;
    *height = l->low_height;
    for (; l >= t->layout.levels; l--) {
        for (int band = 0; cells && band < DWT_BANDS; band++) {
            if (l->plane[band] < 0)
                continue;
            struct mosaic_cell *cell = &cells[t->origin->first + (size_t)l->plane[band]];
            *cell = band == DWT_LL ? low : detail;
            cell->x = band & DWT_HL ? *width : 0;
            cell->y = band & DWT_LH ? *height : 0;
            cell->width = band & DWT_HL ? l->high_width : *width;
            cell->height = band & DWT_LH ? l->high_height : *height;
        }
        *width += l->high_width;
        *height += l->high_height;
    }
}

bool mosaic_applies(const struct frame *frame)
{
    struct transform unused;
    for (size_t i = 0; i < frame->n_planes; i++)
        if (find_transform(frame, i, &unused))
            return true;
    return false;
}

int mosaic_layout(const struct mosaic_config *config, const struct frame *in, size_t alignment,
                  struct mosaic_cell *cells, struct frame *out, struct fault *fault)
{
    size_t target = 0;
    int result = 0;
    for (size_t i = 0, next; i < in->n_planes && result == 0; i = next, target++) {
        struct plane plane = in->planes[i];
        struct transform t;
        next = i + 1;
        if (find_transform(in, i, &t)) {
            next = i + t.layout.n_planes;
            memcpy(plane.name, t.origin->plane.name, sizeof plane.name);
            plane.type = target_type(&t);
            plane.zero_x = plane.zero_y = 0;
            arrange(&t, config->gain, cells, &plane.width, &plane.height);
        } else if (cells) {
            cells[i] =
                (struct mosaic_cell){.width = plane.width, .height = plane.height, .copy = true};
        }
        for (size_t k = i; cells && k < next; k++)
            cells[k].target = target;
        if (out)
            result = stage_add_plane(out, &plane, alignment, fault);
    }
    return result;
}

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
    pass_define(pass, "OF_DOUBLES", "%d", in->type == SAMPLE_F64);
    pass_define(pass, "COPY", "%d", cell->copy);
    pass_define(pass, "MIDDLE", "%d", cell->copy ? 0 : cell->middle);
    pass_define(pass, "DST", "%s", pass_type_bits_name(out->type));
    pass_define(pass, "RANGE", "%s", pass_type_name(cell->copy ? SAMPLE_U8 : cell->range));
    if (!cell->copy) {
        pass_name(pass, sample_name(out->type));
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
