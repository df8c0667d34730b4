/* A small window for tests, in every form. */
#include "stage/toyerode.h"

const struct stage stage_toyerode = {
    .name = "toyerode",
    .summary = "the least sample of a cross of 5×5, for tests",
    .params = window_params,
    .config_size = sizeof(struct window_config),
    .small_window = &(const struct small_window){.window = {2, 2, 2, 2},
                                                 .text = {.most = 1, .work = 8},
                                                 .value = toyerode_value},
};
