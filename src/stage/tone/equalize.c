/* equalize counts samples, makes a table from the counts, and looks samples up in it, all on the
 * device. For colours luma is counted and looked up, and its change is added to each channel. */
#include "stage/tone/equalize.h"

#include "stage/common.h"
#include "stage/tone/histogram.h"

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    int result = stage_require_types("equalize", in, 1u << SAMPLE_U8 | 1u << SAMPLE_U16, fault);
    return result == 0 ? stage_shape_same(config, in, alignment, out, fault) : result;
}

static void add_colours(struct stage_plan *plan, unsigned index, unsigned state)
{
    const struct plane *plane = &plan->in->planes[index];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    struct pass *pass =
        pass_begin(plan, "equalize", "colours", form, 0, plane->width, plane->height);
    pass_define_type(pass, "SRC", plane->type);
    pass_channels(pass, plane->channels, plane->channels);
    pass_name(pass, kernel_form_name(form));
    pass->work = 20;
    pass->bytes_read = pass->bytes_written = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, OPERAND_OUT, index);
    pass_buffer(pass, state);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    unsigned state = histogram_state(plan);
    (void)config;
    (void)fault;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        histogram_add(plan, i, state, plane->channels > 2);
        struct pass *spread =
            histogram_pass(plan, "spread", plane, state, plane->type == SAMPLE_U8 ? 1 : 256);
        spread->work = 256 * 20;
        if (plane->channels > 2) {
            add_colours(plan, i, state);
            continue;
        }
        struct pixel_function function = {
            .type = plane->type, .keep_alpha = true, .looks_up = true, .work = 8};
        function.args[function.n_args++] = (struct pass_arg){.kind = PASS_TABLE, .operand = state};
        pass_pixel(plan, i, &function);
    }
    return 0;
}

const struct stage stage_equalize = {
    .name = "equalize",
    .summary = "tones spread so that all are as frequent as each other, as far as they can be",
    .shape = shape,
    .passes = passes,
    .reference = equalize_reference,
};
