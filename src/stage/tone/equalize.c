/* equalize counts samples, makes a table from the counts, and looks samples up in it, all on the
 * device. For colours luma is counted and looked up, and its change is added to each channel. */
#include "stage/tone/equalize.h"

#include "stage/common.h"
#include "stage/count.h"

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
    pass_planes(pass, plan, index);
    pass_buffer(pass, state);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    unsigned state = count_state(plan, true, 4096);
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        struct count count;
        count_plane(plan, plane, plane->channels > 2, 4096, &count);
        count_add(plan, i, state, &count);
        struct pass *spread =
            count_pass(plan, "histogram", "spread", plane, state, &count, count.bins / 256);
        spread->work = 256 * 20;
        if (plane->channels > 2) {
            add_colours(plan, i, state);
            continue;
        }
        struct pixel_function function = {
            .type = plane->type, .keep_alpha = true, .wide = true, .work = 8};
        function.args[function.n_args++] = (struct pass_arg){.kind = PASS_TABLE, .operand = state};
        pass_pixel(plan, i, &function);
    }
    return 0;
}

const struct stage stage_equalize = {
    .name = "equalize",
    .summary = "tones spread so that all are as frequent as each other, as far as they can be",
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16,
    .shape = stage_shape_same,
    .passes = passes,
    .reference = equalize_reference,
};
