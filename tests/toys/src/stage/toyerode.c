/* A stencil for tests: one kernel for all types, in rows and one sample at a time. */
#include "stage/toyerode.h"

#include "stage/common.h"

static const struct param params[] = {
    PARAM(CHOICE, "border", offsetof(struct toyerode_config, border),
          "what stands outside the picture", .choices = stage_border_choices_but_crop,
          DEFAULT("edge")),
    {0},
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct toyerode_config *config = config_;
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *in = &plan->in->planes[i];
        struct pass *pass =
            pass_begin(plan, "toyerode", "", form, 0, in->width * in->channels, in->height);
        pass->goes_on = true;
        pass->work = 9;
        pass_define_type(pass, "SRC", in->type);
        pass_define(pass, "DST", "%s", pass_type_name(in->type));
        pass_channels(pass, in->channels, in->channels);
        pass_name(pass, kernel_form_name(form));
        pass_planes(pass, plan, i);
        pass_ints(pass, in->width, in->height, config->border);
    }
    return 0;
}

static bool window(const void *config_, struct stage_window *window)
{
    const struct toyerode_config *config = config_;
    *window = (struct stage_window){1, 1, 1, 1, (enum border)config->border, .by_rows = true};
    return true;
}

const struct stage stage_toyerode = {
    .name = "toyerode",
    .summary = "the least sample of a window of 3×3, for tests",
    .params = params,
    .config_size = sizeof(struct toyerode_config),
    .types = STAGE_TYPES_BUT_F64,
    .window = window,
    .passes = passes,
    .reference = toyerode_reference,
};
