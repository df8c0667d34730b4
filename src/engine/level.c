/* Which chains the device computes wrongly, and what runs them in its place. */
#include "engine/engine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static struct demoted *find(struct engine *engine, const struct text *text)
{
    struct demoted *at = engine->demoted;
    while (at && strcmp(text_string(&at->chain), text_string(text)) != 0)
        at = at->next;
    return at;
}

/* Nothing is demoted where all is well: then no text is made. */
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

static int open_other_cpu(struct engine *engine, struct fault *fault)
{
    static const struct device_options cpu = {
        .select = "cpu", .platform_index = -1, .device_index = -1};
    const struct device_info *list;
    size_t count, fitting;
    int result = device_list(&list, &count, fault);
    size_t *order = result == 0 ? calloc(count + 1, sizeof *order) : NULL;
    if (result != 0 || !order)
        return fault_set(fault, FAULT_MEMORY, "no memory for the list of devices");
    result = device_select(&cpu, order, &fitting, fault);
    for (size_t i = 0; result == 0 && i < fitting && !engine->cpu; i++)
        if (!engine->device || device_info(engine->device) != &list[order[i]])
            result = device_open(&engine->cpu, &list[order[i]], &cpu, fault);
    free(order);
    if (result == 0 && !engine->cpu)
        result = fault_set(fault, FAULT_NO_DEVICE, "there is no other CPU device");
    return result;
}

int engine_need_cpu(struct engine *engine, struct device **device, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&engine->device_lock);
    if (!engine->cpu)
        result = open_other_cpu(engine, fault);
    *device = engine->cpu;
    pthread_mutex_unlock(&engine->device_lock);
    return result;
}
