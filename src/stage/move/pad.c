#include "stage/move/move.h"

#include <limits.h>

#include "stage/common.h"

#define SIDE_MAX 1000000

#define SIDE_PARAM(side)                                                                           \
    {                                                                                              \
        .name = #side, .type = PARAM_INTEGER, .offset = offsetof(struct pad_config, side),         \
        .min = 0, .max = SIDE_MAX, .fallback = "0", .help = "pixels to add there"                  \
    }

static const struct param params[] = {
    SIDE_PARAM(left),
    SIDE_PARAM(right),
    SIDE_PARAM(top),
    SIDE_PARAM(bottom),
    PARAM(REALS, "background", offsetof(struct pad_config, background),
          "what they are filled with: one value, or one for each channel", DEFAULT("0")),
    PARAM(CHOICE, "border", offsetof(struct pad_config, border),
          "how the picture goes on there, in place of the background",
          .choices = stage_border_choices_but_crop),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct pad_config *config = config_;
    if (!(*given & param_bit(params, "border")))
        config->border = MOVE_BACKGROUND;
    return stage_check_background("pad", &config->background, fault);
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct pad_config *config = config_;
    double background[PLANE_CHANNELS_MAX];
    uint64_t width = plane->width + (uint64_t)(config->left + config->right);
    uint64_t height = plane->height + (uint64_t)(config->top + config->bottom);
    if (width * height > INT_MAX)
        return fault_set(fault, FAULT_LIMIT,
                         "pad: %u×%u would become %llu×%llu, more than 2^31 pixels", plane->width,
                         plane->height, (unsigned long long)width, (unsigned long long)height);
    plane->width = (uint32_t)width;
    plane->height = (uint32_t)height;
    return stage_background("pad", &config->background, plane, background, fault);
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct pad_config *config = config_;
    if (config->left + config->right + config->top + config->bottom == 0)
        return 0;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct move move = {
            .left = (int32_t)config->left, .top = (int32_t)config->top, .border = config->border};
        stage_background("pad", &config->background, &plan->in->planes[i], move.background, fault);
        move_add(plan, i, &move);
    }
    return 0;
}

const struct stage stage_pad = {
    .name = "pad",
    .chains = (const char *const[]){"pad:1:1:1:1", NULL},
    .summary = "the picture with more pixels around it: a background, or the picture going on",
    .params = params,
    .config_size = sizeof(struct pad_config),
    .complete = complete,
    .types = STAGE_TYPES_ALL,
    .change = change,
    .passes = passes,
    .at = pad_at,
    .bench = "pad:left=5:top=3",
};
