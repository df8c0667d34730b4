#include "stage/gauss/unsharp.h"

#include <string.h>

#include "stage/common.h"

#define AMOUNT_MAX 1000

static const struct param params[] = {
    PARAM(REAL, "sigma", offsetof(struct unsharp_config, blur.sigma),
          "of the blur, in pixels: how wide the details are that are sharpened",
          RANGE(GAUSS_SIGMA_MIN, GAUSS_SIGMA_MAX), .required = true),
    PARAM(REAL, "amount", offsetof(struct unsharp_config, sharpen.amount),
          "how much of the difference from the blurred picture is added",
          RANGE(-AMOUNT_MAX, AMOUNT_MAX), DEFAULT("1")),
    PARAM(REAL, "threshold", offsetof(struct unsharp_config, sharpen.threshold),
          "smaller differences stay as they are, so that noise is not sharpened", RANGE(0, 1e9),
          DEFAULT("0")),
    STAGE_BORDER_PARAM(offsetof(struct unsharp_config, blur.border)),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct unsharp_config *config = config_;
    config->blur.radius = gauss_radius(config->blur.sigma);
    config->sharpen.exact = ratio_from_real(config->sharpen.amount);
    return 0;
}

static bool window(const void *config, struct stage_window *window)
{
    return gauss_window(&((const struct unsharp_config *)config)->blur, window);
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct unsharp_config *config = config_;
    return gauss_plan(&config->blur, &config->sharpen, plan, fault);
}

/* f32: gauss's own difference, times the amount; the relative one, too, since the result may be
 * much smaller than what it is the difference of. Where |d| is about the threshold, either result
 * is right, and they differ by amount · threshold. */
static struct tolerance tolerance(const void *config_, enum sample_type in, enum sample_type out)
{
    const struct unsharp_config *config = config_;
    double amount = config->sharpen.amount < 0 ? -config->sharpen.amount : config->sharpen.amount;
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    return (struct tolerance){1e-3 * (1 + amount) + amount * config->sharpen.threshold,
                              1e-5 * (1 + amount)};
}

const struct stage stage_unsharp = {
    .name = "unsharp",
    .chains = (const char *const[]){"unsharp:sigma=3", "unsharp:sigma=0.5:amount=1.3", NULL},
    .summary = "sharper: each sample moved away from the blurred picture",
    .params = params,
    .config_size = sizeof(struct unsharp_config),
    .complete = complete,
    .types = GAUSS_TYPES,
    .window = window,
    .passes = passes,
    .reference = unsharp_reference,
    .tolerance = tolerance,
    .bench = "unsharp:1.5",
};
