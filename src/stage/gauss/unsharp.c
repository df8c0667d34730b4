#include "stage/gauss/gauss.h"

#include <math.h>

#include "stage/common.h"

#define AMOUNT_MAX 1000

static const struct param params[] = {
    PARAM(REAL, "sigma", offsetof(struct gauss_config, sigma),
          "of the blur, in pixels: how wide the details are that are sharpened",
          RANGE(GAUSS_SIGMA_MIN, GAUSS_SIGMA_MAX), .required = true),
    PARAM(REAL, "amount", offsetof(struct gauss_config, amount),
          "how much of the difference from the blurred picture is added",
          RANGE(-AMOUNT_MAX, AMOUNT_MAX), DEFAULT("1")),
    PARAM(REAL, "threshold", offsetof(struct gauss_config, threshold),
          "smaller differences stay as they are, so that noise is not sharpened", RANGE(0, 1e9),
          DEFAULT("0")),
    STAGE_BORDER_PARAM(offsetof(struct gauss_config, border)),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct gauss_config *config = config_;
    config->radius = gauss_radius(config->sigma);
    config->exact = ratio_from_real(config->amount);
    return 0;
}

/* f32: gauss's own difference, times the amount; the relative one, too, since the result may be
 * much smaller than what it is the difference of. Where |d| is about the threshold, either result
 * is right, and they differ by amount · threshold. */
static struct tolerance tolerance(const void *config_, enum sample_type in, enum sample_type out)
{
    const struct gauss_config *config = config_;
    double amount = fabs(config->amount);
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    return (struct tolerance){1e-3 * (1 + amount) + amount * config->threshold,
                              1e-5 * (1 + amount)};
}

const struct stage stage_unsharp = {
    .name = "unsharp",
    .kind = 1, /* it sharpens */
    .chains = (const char *const[]){"unsharp:sigma=3", "unsharp:sigma=0.5:amount=1.3", NULL},
    .summary = "sharper: each sample moved away from the blurred picture",
    .params = params,
    .config_size = sizeof(struct gauss_config),
    .complete = complete,
    .types = GAUSS_TYPES,
    .window = gauss_window,
    .passes = gauss_passes,
    .reference = gauss_reference,
    .tolerance = tolerance,
    .bench = "unsharp:1.5",
};
