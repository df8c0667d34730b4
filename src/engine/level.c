/* Chains that the device computes wrongly, and what runs them instead. */
#include "engine/engine_internal.h"

#include <stdlib.h>
#include <string.h>

static struct demoted *find(struct engine *engine, const struct text *text)
{
    struct demoted *at = engine->demoted;
    while (at && strcmp(text_string(&at->chain), text_string(text)) != 0)
        at = at->next;
    return at;
}

/* While no chain is demoted no text has to be made for the comparison. */
enum level level_of(struct engine *engine, const struct chain *chain)
{
    struct text text = {0};
    enum level level = LEVEL_DEVICE;
    pthread_mutex_lock(&engine->prepared_lock);
    if (engine->demoted) {
        chain_print(chain, &text);
        const struct demoted *found = find(engine, &text);
        level = found ? found->level : LEVEL_DEVICE;
        text_finish(&text);
    }
    pthread_mutex_unlock(&engine->prepared_lock);
    return level;
}

bool level_demote(struct engine *engine, const struct chain *chain, enum level to)
{
    struct text text = {0};
    chain_print(chain, &text);
    pthread_mutex_lock(&engine->prepared_lock);
    struct demoted *entry = text.failed ? NULL : find(engine, &text);
    if (!entry && !text.failed && (entry = calloc(1, sizeof *entry)) != NULL) {
        entry->chain = text;
        text = (struct text){0};
        entry->next = engine->demoted;
        engine->demoted = entry;
    }
    if (entry)
        entry->level = to;
    pthread_mutex_unlock(&engine->prepared_lock);
    text_finish(&text);
    return entry != NULL;
}

void levels_destroy_all(struct engine *engine)
{
    while (engine->demoted) {
        struct demoted *entry = engine->demoted;
        engine->demoted = entry->next;
        text_finish(&entry->chain);
        free(entry);
    }
}

static int open_fallback(struct engine *engine, struct fault *fault)
{
    const struct device_options options = {
        .select = engine->options.fallback, .platform_index = -1, .device_index = -1};
    const struct device_info *order[DEVICES_MAX];
    size_t fitting;
    int result = device_select(&options, order, &fitting, fault);
    for (size_t i = 0; result == 0 && i < fitting && !engine->fallback; i++)
        if (!engine->device || device_info(engine->device) != order[i])
            result = device_open(&engine->fallback, order[i], &options, fault);
    if (engine->fallback && atomic_load(&engine->mover.on))
        device_pool_limit(engine->fallback, engine->options.memory);
    if (result == 0 && !engine->fallback)
        result = fault_set(fault, FAULT_NO_DEVICE, "there is no other device");
    return result;
}

int engine_need_fallback(struct engine *engine, struct device **device, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&engine->device_lock);
    if (!engine->fallback)
        result = open_fallback(engine, fault);
    *device = engine->fallback;
    pthread_mutex_unlock(&engine->device_lock);
    return result;
}
