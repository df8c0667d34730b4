/* Chooses the kernels that a chain runs on.
 *
 * An engine that serves strangers compiles a chain's own program only in engine_warm. A job runs on
 * that program if it exists, whoever asks for the chain: the program's text decides, so a request
 * that amounts to the same as a configured chain uses it too. Everything else runs on generic
 * kernels: chains that only requests contain, and configured chains for kinds of pictures or
 * formats that engine_warm does not prepare. There are few generic kernels whatever is asked for,
 * and the device counts them (PROGRAM_COUNTED_MAX). Configured chains are not counted, since the
 * configuration bounds what they need. */
#include "engine/engine_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_configured(const struct engine *engine, const struct text *text)
{
    const struct configured *at = engine->configured;
    while (at && strcmp(text_string(&at->chain), text_string(text)) != 0)
        at = at->next;
    return at != NULL;
}

bool configured_add(struct engine *engine, const struct chain *chain)
{
    struct text text = {0};
    chain_print(chain, &text);
    bool added = !text.failed;
    pthread_mutex_lock(&engine->prepared_lock);
    if (added && !is_configured(engine, &text)) {
        struct configured *entry = calloc(1, sizeof *entry);
        added = entry != NULL;
        if (entry) {
            *entry = (struct configured){text, engine->configured};
            engine->configured = entry;
            text = (struct text){0};
        }
    }
    pthread_mutex_unlock(&engine->prepared_lock);
    text_finish(&text);
    return added;
}

void configured_destroy_all(struct engine *engine)
{
    while (engine->configured) {
        struct configured *entry = engine->configured;
        engine->configured = entry->next;
        text_finish(&entry->chain);
        free(entry);
    }
}

static int plan_and_record(struct prepared *made, const struct frame *in,
                           const struct plan_options *options, enum program_use use,
                           struct fault *fault)
{
    int result = plan_create(&made->plan, &made->chain, in, options, fault);
    if (result != 0 && made->device && fault)
        device_tell_fp64(device_profile(made->device), fault);
    if (result == 0 && made->device)
        result = recording_create_as(&made->recording, made->plan, made->device, use, fault);
    return result;
}

int variant_make(struct engine *engine, struct prepared *made, const struct frame *in,
                 const struct plan_options *options, bool warming, struct fault *fault)
{
    struct plan_options generic = *options;
    struct text text = {0};
    if (!made->device || !engine->options.generic)
        return plan_and_record(made, in, options, PROGRAM_ANY, fault);
    int result = plan_and_record(made, in, options, warming ? PROGRAM_KEPT : PROGRAM_FOUND, fault);
    if (result != 0 || made->recording)
        return result;
    plan_destroy(&made->plan);
    generic.profile = device_generic_profile(made->device);
    chain_print(&made->chain, &text);
    pthread_mutex_lock(&engine->prepared_lock);
    bool counts = !is_configured(engine, &text);
    pthread_mutex_unlock(&engine->prepared_lock);
    text_finish(&text);
    return plan_and_record(made, in, &generic, counts ? PROGRAM_COUNTED : PROGRAM_KEPT, fault);
}
