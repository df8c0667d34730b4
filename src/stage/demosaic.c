#include "stage/demosaic.h"

#include "stage/common.h"

static const struct param params[] = {
    PARAM(CHOICE, "pattern", offsetof(struct demosaic_config, pattern),
          "the colours of the first two pixels of the first two rows",
          CHOICES({"rggb", 0}, {"grbg", 1}, {"gbrg", 2}, {"bggr", 3}), .required = true),
    PARAM(CHOICE, "method", offsetof(struct demosaic_config, method),
          "mhc: by Malvar, He and Cutler, with what the other colours tell; bilinear: the mean of "
          "the neighbours of a colour",
          CHOICES({"mhc", DEMOSAIC_MHC}, {"bilinear", DEMOSAIC_BILINEAR}), DEFAULT("mhc")),
    {0},
};

static int change(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->channels != 1)
        return fault_set(fault, FAULT_SHAPE,
                         "demosaic takes a mosaic of one channel, and this picture has %u",
                         plane->channels);
    plane->channels = 3;
    return 0;
}

static void add(const void *config_, struct stage_plan *plan, unsigned i)
{
    const struct demosaic_config *config = config_;
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    const struct plane *in = &plan->in->planes[i];
    struct pass *pass = pass_begin(plan, "demosaic", "", form, 0, in->width, in->height);
    pass_name(pass, config->method == DEMOSAIC_MHC ? "mhc" : "bilinear");
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, config->method == DEMOSAIC_MHC ? "MHC" : "BILINEAR", "1");
    pass_name(pass, kernel_form_name(form));
    pass->work = config->method == DEMOSAIC_MHC ? 45 : 25;
    pass_planes(pass, plan, i);
    pass_ints(pass, in->width, in->height, config->pattern & 1, config->pattern >> 1);
    pass_set_rows(pass, 1, 2, 2, BORDER_REFLECT, 0);
}

const struct stage stage_demosaic = {
    .name = "demosaic",
    .chains = (const char *const[]){"demosaic:rggb", "demosaic:rggb:bilinear", NULL},
    .summary = "colours out of the mosaic of a camera's sensor (Bayer)",
    .params = params,
    .config_size = sizeof(struct demosaic_config),
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16,
    .change = change,
    .add = add,
    .at = demosaic_at,
    .bench = "demosaic:rggb",
};
