/* The inverse of dwt. Which transform there was, the frame's origins say. */
#include "stage/idwt.h"

#include <math.h>
#include <string.h>

#include "stage/dwt_passes.h"
#include "stage/wavelet.h"

static const struct param_choice levels_choices[] = {
    {"all", IDWT_ALL},
    {NULL, 0},
};

static const struct param params[] = {
    {.name = "levels",
     .type = PARAM_REAL_OR_CHOICE,
     .offset = offsetof(struct idwt_config, levels),
     .min = 1,
     .max = DWT_LEVELS_MAX,
     .choices = levels_choices,
     .fallback = "all",
     .help = "how many levels to put together, the coarsest first; fewer than there are give a "
             "smaller picture"},
    {0},
};

unsigned idwt_kept(const struct idwt_config *config, unsigned n_levels)
{
    return config->levels.choice == IDWT_ALL ? 0 : n_levels - (unsigned)config->levels.value;
}

double idwt_scale(const struct dwt_config *dwt, unsigned kept)
{
    return wavelet_is_cdf(dwt->wavelet) ? 1 : ldexp(1, -(int)kept);
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    const struct idwt_config *config = config_;
    (void)given;
    if (config->levels.choice == PARAM_IS_NUMBER &&
        config->levels.value != floor(config->levels.value))
        return fault_set(fault, FAULT_CHAIN, "stage 'idwt': levels is a whole number, or all");
    return 0;
}

static int add_plane(const struct idwt_config *config, const struct frame *in, size_t index,
                     size_t alignment, struct frame *out, struct fault *fault)
{
    struct dwt_config dwt;
    struct dwt_layout layout;
    struct plane plane = in->origins[index].plane;
    int result = dwt_read_origin("idwt", in, index, &dwt, &layout, fault);
    if (result != 0)
        return result;
    if (config->levels.choice != IDWT_ALL && config->levels.value > layout.n_levels)
        return fault_set(fault, FAULT_SHAPE, "idwt:levels=%g: there are %u", config->levels.value,
                         layout.n_levels);
    unsigned kept = idwt_kept(config, layout.n_levels);
    plane.width = layout.levels[kept].width;
    plane.height = layout.levels[kept].height;
    plane.channels = layout.channels;
    if (!frame_add_plane(out, &plane, alignment))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    return 0;
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    int result = dwt_check_frame("idwt", in, fault);
    for (size_t i = 0; i < in->n_origins && result == 0; i++)
        result = add_plane(config, in, i, alignment, out, fault);
    return result;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct idwt_config *config = config_;
    const struct frame *in = plan->in;
    struct dwt_scratch scratch = {0};
    struct dwt_config dwt;
    struct dwt_layout layout;
    int result = 0;
    for (size_t i = 0; i < in->n_origins && result == 0; i++) {
        result = dwt_read_origin("idwt", in, i, &dwt, &layout, fault);
        dwt_scratch_reserve(&scratch, &layout);
    }
    if (result == 0)
        result = dwt_check_device(plan, dwt.precision, fault);
    if (result == 0) /* dwt_check_frame: all origins are alike */
        dwt_scratch_add(&scratch, plan, layout.type);
    for (unsigned i = 0; i < in->n_origins && result == 0; i++) {
        result = dwt_read_origin("idwt", in, i, &dwt, &layout, fault);
        unsigned kept = idwt_kept(config, layout.n_levels);
        if (result == 0)
            dwt_synthesis_passes(&dwt, &layout, &scratch, plan, (unsigned)in->origins[i].first, i,
                                 kept, idwt_scale(&dwt, kept));
    }
    return result;
}

/* Integers are exact whenever what comes in is what dwt made of integers; coefficients that another
 * stage has changed may end up on either side of a half. */
static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    (void)config;
    if (in == SAMPLE_I32)
        return (struct tolerance){0, 0};
    if (sample_is_integer(out))
        return (struct tolerance){1, 0};
    return in == SAMPLE_F64 ? (struct tolerance){1e-9, 1e-12} : (struct tolerance){0.02, 1e-5};
}

const struct stage stage_idwt = {
    .name = "idwt",
    .summary = "the picture that dwt took apart",
    .params = params,
    .config_size = sizeof(struct idwt_config),
    .inverse = true,
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .reference = idwt_reference,
    .tolerance = tolerance,
};
