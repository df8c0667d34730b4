/* The programs' reader of configurations, whose kernels and banks are handed on to the library. */
#include "gst/definitions.h"

#include <stdio.h>
#include <string.h>

#include "codec/pictures.h"
#include "config/config.h"

/* What the reader logs is how little a bank loses; what is wrong comes as errors. */
void log_info(const char *format, ...)
{
}

void log_warning(const char *format, ...)
{
}

static int fail(struct sluice_error *error, const char *message)
{
    error->code = SLUICE_E_USAGE;
    error->position = -1;
    snprintf(error->word, sizeof error->word, "usage");
    snprintf(error->message, sizeof error->message, "%.*s", (int)strcspn(message, "\n"), message);
    return error->code;
}

static int add_kernel(struct sluice_definitions *definitions,
                      const struct definition_kernel *kernel, struct sluice_error *error)
{
    return sluice_definitions_add_kernel(definitions, kernel->name, kernel->k.columns,
                                         kernel->k.rows, kernel->k.v, error);
}

static struct sluice_bank show(const struct bank_direction *direction,
                               struct sluice_filter *filters)
{
    const struct bank_filter *ways[] = {direction->analysis, direction->synthesis};
    for (unsigned i = 0; i < 2 * direction->n_filters; i++) {
        const struct bank_filter *from = &ways[i / direction->n_filters][i % direction->n_filters];
        filters[i] = (struct sluice_filter){from->taps, from->n_taps, from->zero, from->shift};
    }
    return (struct sluice_bank){direction->factor, direction->n_filters, filters,
                                filters + direction->n_filters};
}

/* A bank that loses is there because the file says that it may. */
static int add_bank(struct sluice_definitions *definitions, const struct definition_bank *bank,
                    struct sluice_error *error)
{
    struct sluice_filter x[2 * BANK_FILTERS_MAX], y[2 * BANK_FILTERS_MAX];
    struct sluice_bank horizontal = show(&bank->bank.x, x), vertical = show(&bank->bank.y, y);
    return sluice_definitions_add_bank(definitions, bank->name, &horizontal, &vertical, 1, error);
}

static int add_picture(struct sluice_definitions *definitions,
                       const struct definition_picture *picture, struct sluice_error *error)
{
    const struct plane *from = &picture->plane;
    struct sluice_plane plane = {.width = from->width,
                                 .height = from->height,
                                 .channels = from->channels,
                                 .type = (uint32_t)from->type + 1,
                                 .white = from->white,
                                 .offset = from->offset,
                                 .stride = from->stride};
    struct sluice_layout layout = SLUICE_INIT(layout);
    layout.planes = &plane;
    layout.n_planes = 1;
    return sluice_definitions_add_picture(definitions, picture->name, &layout, picture->samples,
                                          error);
}

int definitions_read(struct sluice_definitions **definitions, const char *path,
                     struct sluice_error *error)
{
    struct config config;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    int result = sluice_definitions_create(definitions, error);
    if (result == 0 && config_read(&config, path, &errors, &fault) != 0) {
        char message[sizeof error->message];
        snprintf(message, sizeof message, "config %.200s: %.200s", path, fault.text);
        result = fail(error, errors.length > 0 ? text_string(&errors) : message);
    } else if (result == 0) {
        for (size_t i = 0; i < config.definitions.n_kernels && result == 0; i++)
            result = add_kernel(*definitions, &config.definitions.kernels[i], error);
        for (size_t i = 0; i < config.definitions.n_banks && result == 0; i++)
            result = add_bank(*definitions, config.definitions.banks[i], error);
        for (size_t i = 0; i < config.definitions.n_cameras && result == 0; i++) {
            const struct definition_camera *camera = &config.definitions.cameras[i];
            result = sluice_definitions_add_camera(
                *definitions, camera->name, camera->width, camera->height, camera->matrix,
                camera->fisheye, camera->distortion, camera->n_distortion, error);
        }
        const struct codec_limits limits = {config.settings.max_pixels, config.settings.memory / 2};
        if (result == 0 && codec_read_pictures(&config.definitions, &limits, &errors) != 0)
            result = fail(error, text_string(&errors));
        for (size_t i = 0; i < config.definitions.n_pictures && result == 0; i++)
            result = add_picture(*definitions, config.definitions.pictures[i], error);
        config_finish(&config);
    }
    text_finish(&errors);
    if (result != 0)
        sluice_definitions_unref(definitions);
    return result;
}
