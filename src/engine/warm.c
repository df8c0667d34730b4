/* Prepares a chain before its first job: compiles it for the usual kinds of pictures, and checks
 * it. */
#include "engine/engine_internal.h"

#include <string.h>

#include "base/log.h"
#include "engine/check.h"

/* Sizes for checks: one with everything that loops and edges do, one that is all edge, one that no
 * vector fits. */
static const struct {
    uint32_t width, height;
} sizes[] = {{61, 43}, {3, 5}, {1, 1}};

static int check_kind(struct engine *engine, struct device *device, const struct chain *chain,
                      const struct format *format, const struct plane *kind, struct fault *fault)
{
    struct check_how how = {.use = engine->options.generic ? PROGRAM_KEPT : PROGRAM_ANY};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct plane plane = *kind;
        struct fault why = FAULT_INIT;
        plane.width = sizes[i].width;
        plane.height = sizes[i].height;
        int result = check_chain(device, &how, chain, format, &plane, &why);
        if (result != 0 && result != FAULT_SHAPE)
            return fault_set(fault, why.code, "%s (pictures of %ux%u, %u channels, %s)", why.text,
                             plane.width, plane.height, plane.channels, sample_name(plane.type));
    }
    return 0;
}

/* The check comes before the program is stored, because some drivers complete it at its first run.
 */
static int warm_kind(struct engine *engine, const struct chain *chain, const struct format *format,
                     const struct plane *plane, struct fault *fault)
{
    struct frame frame = {0};
    struct prepared *prepared = NULL;
    struct fault why = FAULT_INIT;
    if (!frame_add_plane(&frame, plane, FRAME_ALIGNMENT))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    int result = prepared_get(engine, chain, &frame, format, false, true, &prepared, &why);
    if (result == 0 && prepared->device && engine->options.self_check)
        result = check_kind(engine, prepared->device, chain, format, plane, &why);
    prepared_release(engine, &prepared);
    frame_finish(&frame);
    return result == 0 || result == FAULT_SHAPE ? 0 : fault_set(fault, why.code, "%s", why.text);
}

static void tell(struct engine *engine, unsigned done, unsigned of)
{
    if (engine->options.warmed)
        engine->options.warmed(engine->options.context, done, of);
}

static int warm_all(struct engine *engine, const struct chain *chain, const struct format *format,
                    struct fault *fault)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16};
    enum {
        CHANNELS = 4,
        KINDS = 2 * CHANNELS
    };
    tell(engine, 0, KINDS);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct plane plane = {.width = sizes[0].width,
                              .height = sizes[0].height,
                              .channels = kind % CHANNELS + 1,
                              .type = types[kind / CHANNELS]};
        int result = warm_kind(engine, chain, format, &plane, fault);
        if (result != 0)
            return result;
        tell(engine, kind + 1, KINDS);
    }
    return 0;
}

static enum level level_below(struct engine *engine, enum level level)
{
    struct device *other;
    struct fault none = FAULT_INIT;
    bool wanted = level == LEVEL_DEVICE && strcmp(engine->options.fallback, "reference") != 0;
    return wanted && engine_need_fallback(engine, &other, &none) == 0 ? LEVEL_FALLBACK
                                                                      : LEVEL_REFERENCE;
}

int engine_warm(struct engine *engine, const struct chain *chain, const struct format *format,
                struct fault *wrong, struct fault *fault)
{
    struct device *device;
    if (engine->options.reference || chain->n_steps == 0)
        return 0;
    if (!configured_add(engine, chain))
        return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    int result = engine_need_device(engine, chain, &device, true, fault);
    while (result == 0) {
        struct fault why = FAULT_INIT;
        enum level level = level_of(engine, chain);
        if (warm_all(engine, chain, format, &why) == 0)
            return 0;
        bool differs = why.code == FAULT_VERIFY && engine->options.fallback;
        if (!differs || level == LEVEL_REFERENCE)
            return fault_set(fault, why.code, "%s", why.text);
        log_error("a chain does not run on device %s: %s", device_info(device)->name, why.text);
        fault_set(wrong, why.code, "%s", why.text);
        if (!level_demote(engine, chain, level_below(engine, level)))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    }
    return result;
}
