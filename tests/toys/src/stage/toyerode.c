/* A small window for tests, in every form. */
#include "stage/toyerode.h"

#include "stage/common.h"

static const struct param params[] = {
    STAGE_BORDER_PARAM(offsetof(struct toyerode_config, border)),
    {0},
};

bool toyerode_window(const void *config_, struct stage_window *window)
{
    const struct toyerode_config *config = config_;
    *window = (struct stage_window){2, 2, 2, 2, (enum border)config->border, .by_rows = true};
    return true;
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    static const struct window_text text = {.most = 1, .work = 8};
    return window_passes(&text, toyerode_window, config, plan);
}

const struct stage stage_toyerode = {
    .name = "toyerode",
    .summary = "the least sample of a cross of 5×5, for tests",
    .params = params,
    .config_size = sizeof(struct toyerode_config),
    .types = WINDOW_TYPES,
    .window = toyerode_window,
    .passes = passes,
    .reference = toyerode_reference,
};
