/* Prepares a chain before its first job: compiles it for the usual kinds of pictures, and checks
 * it. */
#include "engine/engine_internal.h"

#include <string.h>

#include "base/log.h"

/* Sizes for checks: one with everything that loops and edges do, one that is all edge, one that no
 * vector fits. */
static const struct {
    uint32_t width, height;
} sizes[] = {{61, 43}, {3, 5}, {1, 1}};

struct plane warm_kind(unsigned kind)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16};
    enum {
        CHANNELS = WARM_KINDS / 2
    };
    return (struct plane){.width = sizes[0].width,
                          .height = sizes[0].height,
                          .channels = kind % CHANNELS + 1,
                          .type = types[kind / CHANNELS]};
}

int warm_check(struct device *device, const struct check_how *how, const struct chain *chain,
               const struct format *formats, const struct plane *kind, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && result == 0; i++) {
        struct plane plane = *kind;
        struct frame frame = {0};
        struct fault why = FAULT_INIT;
        plane.width = sizes[i].width;
        plane.height = sizes[i].height;
        result = frame_add_plane(&frame, &plane, FRAME_ALIGNMENT)
                     ? check_chain(device, how, chain, formats, &frame, &why)
                     : fault_set(&why, FAULT_MEMORY, "no memory for a frame");
        frame_finish(&frame);
        if (result == FAULT_SHAPE)
            result = 0;
        if (result != 0)
            fault_set(fault, why.code, "%s (pictures of %ux%u, %u channels, %s)", why.text,
                      plane.width, plane.height, plane.channels, sample_name(plane.type));
    }
    return result;
}

/* Native's kernels are there already, and nobody waits until they are compared, if somebody can be
 * told later. */
static bool is_later(const struct engine *engine, const struct device *device)
{
    return engine->options.moved && device_info(device)->kind == DEVICE_NATIVE;
}

/* The check comes before the program is stored: some drivers complete it at its first run. */
static int prepare_kind(struct engine *engine, const struct chain *chain,
                        const struct format *formats, const struct plane *plane,
                        struct fault *fault)
{
    struct frame frame = {0};
    struct prepared *prepared = NULL;
    struct fault why = FAULT_INIT;
    struct check_how how = {.use = engine->options.generic ? PROGRAM_KEPT : PROGRAM_ANY};
    if (!frame_add_plane(&frame, plane, FRAME_ALIGNMENT))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    int result = prepared_get(engine, chain, &frame, formats, PREPARE_WARMING, &prepared, &why);
    if (result == 0 && prepared->device && engine->options.self_check &&
        !is_later(engine, prepared->device))
        result = warm_check(prepared->device, &how, chain, formats, plane, &why);
    prepared_release(engine, &prepared);
    frame_finish(&frame);
    return result == 0 || result == FAULT_SHAPE ? 0 : fault_set(fault, why.code, "%s", why.text);
}

static void tell(struct engine *engine, unsigned done, unsigned of)
{
    if (engine->options.warmed)
        engine->options.warmed(engine->options.context, done, of);
}

static int warm_all(struct engine *engine, const struct chain *chain, const struct format *formats,
                    struct fault *fault)
{
    tell(engine, 0, WARM_KINDS);
    for (unsigned kind = 0; kind < WARM_KINDS; kind++) {
        struct plane plane = warm_kind(kind);
        int result = prepare_kind(engine, chain, formats, &plane, fault);
        if (result != 0)
            return result;
        tell(engine, kind + 1, WARM_KINDS);
    }
    return 0;
}

int engine_warm(struct engine *engine, int64_t id, const struct chain *chain,
                const struct format *formats, struct fault *wrong, struct fault *fault)
{
    struct device *device;
    if (engine->options.reference || chain->n_steps == 0)
        return 0;
    if (!configured_add(engine, chain))
        return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    int result = mover_check(engine, fault);
    if (result == 0)
        result = engine_need_device(engine, chain, &device, true, fault);
    while (result == 0) {
        struct fault why = FAULT_INIT;
        enum level level = level_of(engine, chain);
        if (warm_all(engine, chain, formats, &why) == 0) {
            if (level == LEVEL_DEVICE && engine->options.self_check && is_later(engine, device))
                result = mover_compare(engine, id, chain, formats, device, fault);
            return level == LEVEL_REFERENCE || result != 0
                       ? result
                       : mover_add(engine, id, chain, formats, fault);
        }
        bool differs = why.code == FAULT_VERIFY && engine->options.fallback;
        if (!differs || level == LEVEL_REFERENCE)
            return fault_set(fault, why.code, "%s", why.text);
        log_error("a chain does not run on device %s: %s", device_info(device)->name, why.text);
        fault_set(wrong, why.code, "%s", why.text);
        struct device *other;
        bool falls_back = level == LEVEL_DEVICE &&
                          strcmp(engine->options.fallback, "reference") != 0 &&
                          engine_need_fallback(engine, &other, &(struct fault)FAULT_INIT) == 0;
        if (!level_demote(engine, chain, falls_back ? LEVEL_FALLBACK : LEVEL_REFERENCE))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    }
    return result;
}
