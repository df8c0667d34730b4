#include "engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Plans are small; on the device they hold tables of constants only. */
#define PREPARED_MAX 32

static void destroy(struct prepared *prepared)
{
    recording_destroy(&prepared->recording);
    plan_destroy(&prepared->plan);
    chain_finish(&prepared->chain);
    text_finish(&prepared->key);
    free(prepared);
}

void prepared_destroy_all(struct engine *engine)
{
    while (engine->prepared) {
        struct prepared *prepared = engine->prepared;
        engine->prepared = prepared->next;
        destroy(prepared);
    }
}

/* Prints everything that a plan depends on. */
static void make_key(const struct chain *chain, const struct frame *in, const struct format *format,
                     bool keep_input, enum level level, struct text *key)
{
    text_printf(key, "%d ", (int)level);
    chain_print(chain, key);
    text_printf(key, "|%p", (const void *)chain->definitions); /* they outlive the engine */
    for (size_t i = 0; i < in->n_planes; i++) {
        const struct plane *p = &in->planes[i];
        text_printf(key, "|%s %ux%ux%u %s %d,%d of %ux%u @%zu+%zu", p->name, p->width, p->height,
                    p->channels, sample_name(p->type), p->zero_x, p->zero_y, p->whole_width,
                    p->whole_height, p->offset, p->stride);
    }
    for (size_t i = 0; i < in->n_origins; i++) {
        const struct frame_origin *o = &in->origins[i];
        text_printf(key, "|%s%s of %s %ux%ux%u %s, %zu+%zu", o->stage, o->parameters, o->plane.name,
                    o->plane.width, o->plane.height, o->plane.channels, sample_name(o->plane.type),
                    o->first, o->count);
    }
    if (format) {
        text_printf(key, "|%s", format->codec->name);
        param_print(format->codec->params, format->config, format->given, key);
    }
    text_append(key, keep_input ? "|keep" : "|");
}

/* Copies the chain: the plan refers to it, and the caller's may be destroyed before the entry is.
 */
static int copy_chain(const struct chain *from, struct chain *to, struct fault *fault)
{
    struct text text = {0};
    chain_print(from, &text);
    int result = text.failed ? fault_set(fault, FAULT_MEMORY, "no memory for a chain")
                             : chain_parse_with(to, text_string(&text), from->definitions, fault);
    text_finish(&text);
    return result;
}

static int make(struct engine *engine, const struct chain *chain, const struct frame *in,
                const struct format *format, bool keep_input, enum level level, bool warming,
                struct prepared *made, struct fault *fault)
{
    struct device *device = NULL;
    int result = copy_chain(chain, &made->chain, fault);
    if (result == 0 && chain->n_steps > 0 && !engine->options.reference) {
        if (level == LEVEL_DEVICE)
            result = engine_need_device(engine, &made->chain, &device, warming, fault);
        else if (level == LEVEL_FALLBACK)
            result = engine_need_fallback(engine, &device, fault);
    }
    if (result != 0)
        return result;
    if (device) {
        char text[ENGINE_PREPARING_MAX];
        snprintf(text, sizeof text, "compiling kernels for %s of %u channel%s",
                 sample_name(in->planes[0].type), in->planes[0].channels,
                 in->planes[0].channels == 1 ? "" : "s");
        engine_tell_preparing(engine, text);
    }
    made->device = device;
    struct plan_options options = {.profile = device ? device_profile(device) : NULL,
                                   .keep_input = keep_input,
                                   .no_fuse = engine->options.no_fuse,
                                   .fit = format ? format_fit : NULL,
                                   .fit_context = (void *)format,
                                   .mosaic_gain = format ? format_mosaic_gain(format) : 0};
    result = variant_make(engine, made, in, &options, warming, fault);
    engine_tell_preparing(engine, "");
    return result;
}

static struct prepared *take(struct engine *engine, const struct text *key)
{
    for (struct prepared **link = &engine->prepared; *link; link = &(*link)->next) {
        struct prepared *entry = *link;
        if (strcmp(text_string(&entry->key), text_string(key)) == 0) {
            *link = entry->next;
            return entry;
        }
    }
    return NULL;
}

static void put_first(struct engine *engine, struct prepared *entry)
{
    entry->next = engine->prepared;
    engine->prepared = entry;
}

/* Takes the oldest entries beyond the limit out of the list. The caller destroys them without the
 * lock, because that may wait for the device's compiler. */
static struct prepared *take_oldest(struct engine *engine)
{
    struct prepared *taken = NULL;
    unsigned count = 0;
    for (struct prepared **link = &engine->prepared; *link;) {
        struct prepared *entry = *link;
        if (++count > PREPARED_MAX && entry->users == 0) {
            *link = entry->next;
            entry->next = taken;
            taken = entry;
        } else {
            link = &entry->next;
        }
    }
    return taken;
}

/* Finds the entry of that key and moves it to the front. Waits, with the lock, while another thread
 * makes the entry; returns NULL if that fails. */
static struct prepared *find(struct engine *engine, const struct text *key)
{
    struct prepared *entry;
    while ((entry = take(engine, key)) != NULL) {
        put_first(engine, entry);
        if (!entry->making)
            break;
        pthread_cond_wait(&engine->prepared_changed, &engine->prepared_lock);
    }
    return entry;
}

/* Programs are compiled without the lock, so that jobs with other chains go on. A second job with
 * the same chain waits instead of compiling it again. */
int prepared_get(struct engine *engine, const struct chain *chain, const struct frame *in,
                 const struct format *format, bool keep_input, bool warming,
                 struct prepared **prepared, struct fault *fault)
{
    struct text key = {0};
    int result = 0;
    enum level level = level_of(engine, chain);
    make_key(chain, in, format, keep_input, level, &key);
    if (key.failed) {
        text_finish(&key);
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    }
    pthread_mutex_lock(&engine->prepared_lock);
    struct prepared *entry = find(engine, &key), *failed = NULL;
    if (entry) {
        entry->users++;
    } else if (!(entry = calloc(1, sizeof *entry))) {
        result = fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    } else {
        *entry = (struct prepared){.key = key, .users = 1, .making = true};
        key = (struct text){0};
        put_first(engine, entry);
        pthread_mutex_unlock(&engine->prepared_lock);
        result = make(engine, chain, in, format, keep_input, level, warming, entry, fault);
        pthread_mutex_lock(&engine->prepared_lock);
        entry->making = false;
        failed = result != 0 ? take(engine, &entry->key) : NULL;
        pthread_cond_broadcast(&engine->prepared_changed);
    }
    pthread_mutex_unlock(&engine->prepared_lock);
    if (failed)
        destroy(failed);
    *prepared = result == 0 ? entry : NULL;
    text_finish(&key);
    return result;
}

/* Stores the program in the binary cache after its first run: on drivers that compile late it is
 * complete only then. */
static void store(struct prepared *prepared)
{
    struct fault fault = FAULT_INIT;
    if (!prepared->recording || atomic_exchange(&prepared->stored, true))
        return;
    if (recording_store(prepared->recording, &fault) != 0)
        log_warning("program not kept: %s", fault.text);
}

void prepared_release(struct engine *engine, struct prepared **prepared)
{
    if (!*prepared)
        return;
    store(*prepared);
    pthread_mutex_lock(&engine->prepared_lock);
    (*prepared)->users--;
    struct prepared *oldest = take_oldest(engine), *next;
    pthread_mutex_unlock(&engine->prepared_lock);
    for (; oldest; oldest = next) {
        next = oldest->next;
        destroy(oldest);
    }
    *prepared = NULL;
}
