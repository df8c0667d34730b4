/* A per-pixel stage for tests: bytes through a table, floats by a formula. */
#include "stage/toygamma.h"

#include "stage/common.h"

static const struct param params[] = {
    PARAM(REAL, "exponent", offsetof(struct toygamma_config, exponent),
          "of samples between 0 and 1", RANGE(0.1, 10), DEFAULT("2.2")),
    {0},
};

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct toygamma_config *config = config_;
    enum sample_type type = in->type;
    uint8_t table[256];
    int result = stage_require_type("toygamma", type, 1u << SAMPLE_U8 | 1u << SAMPLE_F32, fault);
    function->type = type;
    function->keep_alpha = true;
    if (result != 0 || !function->plan)
        return result;
    if (type == SAMPLE_F32) {
        pass_float(&function->needs, (float)config->exponent);
        return 0;
    }
    for (int v = 0; v < 256; v++)
        table[v] = (uint8_t)sample_saturate(type, toygamma_value(config->exponent, type, v));
    pass_table(&function->needs, stage_plan_table(function->plan, table, sizeof table));
    return 0;
}

const struct stage stage_toygamma = {
    .name = "toygamma",
    .summary = "a power of each sample, for tests",
    .params = params,
    .config_size = sizeof(struct toygamma_config),
    .pixel = pixel,
    .sample = toygamma_sample,
};
