/* Plans and kernels of chains, kept for the next picture of the same kind.
 *
 * An engine that serves strangers compiles a chain's own program only in engine_warm. A job runs on
 * that program if it exists, whoever asks for the chain: the program's text decides, so a request
 * that amounts to the same as a configured chain uses it too. Everything else runs on generic
 * kernels: chains that only requests contain, and configured chains for kinds of pictures or
 * formats that engine_warm does not prepare. There are few generic kernels whatever is asked for,
 * and the device counts them (PROGRAM_COUNTED_MAX). Configured chains are not counted, since the
 * configuration bounds what they need. */
#include "engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Plans are small; on the device they hold tables of constants only. */
#define PREPARED_MAX 32

/* What is known of the chain, with `add` noted if nothing was; NULL: nothing, or no memory. Called
 * with prepared_lock held. */
static struct known *look_up(struct engine *engine, const struct chain *chain, bool add)
{
    struct text text = {0};
    chain_print(chain, &text);
    struct known *at = text.failed ? NULL : engine->known;
    while (at && strcmp(text_string(&at->chain), text_string(&text)) != 0)
        at = at->next;
    if (!at && add && !text.failed && (at = calloc(1, sizeof *at)) != NULL) {
        *at = (struct known){.chain = text, .next = engine->known};
        engine->known = at;
        text = (struct text){0};
    }
    text_finish(&text);
    return at;
}

void known_destroy_all(struct engine *engine)
{
    while (engine->known) {
        struct known *entry = engine->known;
        engine->known = entry->next;
        text_finish(&entry->chain);
        free(entry);
    }
}

/* While no chain is demoted no text has to be made for the comparison. */
enum level level_of(struct engine *engine, const struct chain *chain)
{
    pthread_mutex_lock(&engine->prepared_lock);
    const struct known *known = engine->has_demoted ? look_up(engine, chain, false) : NULL;
    enum level level = known ? known->level : LEVEL_DEVICE;
    pthread_mutex_unlock(&engine->prepared_lock);
    return level;
}

bool level_demote(struct engine *engine, const struct chain *chain, enum level to)
{
    pthread_mutex_lock(&engine->prepared_lock);
    struct known *known = look_up(engine, chain, true);
    if (known) {
        known->level = to;
        engine->has_demoted = true;
    }
    pthread_mutex_unlock(&engine->prepared_lock);
    return known != NULL;
}

bool configured_add(struct engine *engine, const struct chain *chain)
{
    pthread_mutex_lock(&engine->prepared_lock);
    struct known *known = look_up(engine, chain, true);
    if (known)
        known->is_configured = true;
    pthread_mutex_unlock(&engine->prepared_lock);
    return known != NULL;
}

bool configured_has(struct engine *engine, const struct chain *chain)
{
    pthread_mutex_lock(&engine->prepared_lock);
    const struct known *known = look_up(engine, chain, false);
    bool has = known && known->is_configured;
    pthread_mutex_unlock(&engine->prepared_lock);
    return has;
}

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
static void make_key(const struct chain *chain, const struct frame *in,
                     const struct format *formats, unsigned how, enum level level, struct text *key)
{
    text_printf(key, "%d ", (int)level);
    chain_print(chain, key);
    text_printf(key, "|%p", (const void *)chain->definitions); /* they outlive the engine */
    for (size_t i = 0; i < in->n_planes; i++) {
        const struct plane *p = &in->planes[i];
        text_printf(key, "|%s %ux%ux%u %s white %.9g %d,%d 1/%u of %ux%u+%u+%u @%zu+%zu", p->name,
                    p->width, p->height, p->channels, sample_name(p->type), plane_white(p),
                    p->zero_x, p->zero_y, p->reduced, p->whole_width, p->whole_height, p->whole_x,
                    p->whole_y, p->offset, p->stride);
    }
    for (size_t i = 0; i < in->n_origins + in->n_outer; i++) {
        const struct frame_origin *o =
            i < in->n_origins ? &in->origins[i] : &in->outer[i - in->n_origins];
        text_printf(key, "|%s%s of %s %ux%ux%u %s white %.9g, %zu+%zu, %u out", o->stage,
                    o->parameters, o->plane.name, o->plane.width, o->plane.height,
                    o->plane.channels, sample_name(o->plane.type), plane_white(&o->plane), o->first,
                    o->count, o->depth);
    }
    const struct video *video = &in->video;
    if (video->format)
        text_printf(key, "|video %d %d %d %ux%u", (int)video->format, (int)video->matrix,
                    (int)video->range, video->width, video->height);
    for (size_t i = 0; formats && i < chain_count_results(chain); i++) {
        text_printf(key, "|%s", formats[i].codec->name);
        param_print(formats[i].codec->params, formats[i].config, formats[i].given, key);
    }
    text_printf(key, "|%u", how & ~(unsigned)PREPARE_WARMING);
}

const struct plan_target *targets_of(const struct chain *chain, const struct format *formats,
                                     struct plan_target targets[CHAIN_RESULTS_MAX])
{
    for (size_t i = 0; formats && i < chain_count_results(chain); i++)
        targets[i] = (struct plan_target){.fit = format_fit,
                                          .context = (void *)&formats[i],
                                          .mosaic_gain = format_mosaic_gain(&formats[i])};
    return formats ? targets : NULL;
}

/* Plans made->chain for made->device and makes its recording. */
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

/* Plans made->chain for made->device and makes its recording: from the chain's own program if that
 * exists or may be compiled, otherwise from generic kernels. */
static int make_variant(struct engine *engine, struct prepared *made, const struct frame *in,
                        const struct plan_options *options, bool warming, struct fault *fault)
{
    struct plan_options generic = *options;
    if (!made->device || !engine->options.generic)
        return plan_and_record(made, in, options, PROGRAM_ANY, fault);
    int result = plan_and_record(made, in, options, warming ? PROGRAM_KEPT : PROGRAM_FOUND, fault);
    if (result != 0 || made->recording)
        return result;
    plan_destroy(&made->plan);
    generic.profile = device_generic_profile(made->device);
    return plan_and_record(made, in, &generic,
                           configured_has(engine, &made->chain) ? PROGRAM_KEPT : PROGRAM_COUNTED,
                           fault);
}

/* Takes the engine's device if it has all programs that the chain needs, its own or else generic
 * ones. Otherwise asks the mover for them, with the generic plan if there is one, and takes native.
 */
static int choose_device(struct engine *engine, struct prepared *made, const struct frame *in,
                         const struct format *formats, const struct plan_options *like,
                         struct fault *fault)
{
    struct plan_options options = *like;
    pthread_mutex_lock(&engine->device_lock);
    made->device = engine->device;
    pthread_mutex_unlock(&engine->device_lock);
    if (made->device) {
        options.profile = device_profile(made->device);
        if (plan_and_record(made, in, &options, PROGRAM_FOUND, NULL) == 0 && !made->recording) {
            plan_destroy(&made->plan);
            options.profile = device_generic_profile(made->device);
            plan_and_record(made, in, &options, PROGRAM_FOUND, NULL);
        }
    }
    if (made->recording)
        return 0;
    int result = engine_need_fallback(engine, &made->device, fault);
    mover_ask(engine, &made->chain, formats, in, made->plan);
    plan_destroy(&made->plan);
    return result;
}

static int make(struct engine *engine, const struct chain *chain, const struct frame *in,
                const struct format *formats, unsigned how, enum level level, struct prepared *made,
                struct fault *fault)
{
    struct plan_target targets[CHAIN_RESULTS_MAX];
    bool warming = how & PREPARE_WARMING;
    struct plan_options options = {.keep_input = how & PREPARE_KEEP_INPUT,
                                   .rows_in = how & PREPARE_ROWS_IN,
                                   .rows_out = how / PREPARE_ROWS_OUT,
                                   .strips = how & PREPARE_STRIPS,
                                   .no_fuse = engine->options.no_fuse,
                                   .targets = targets_of(chain, formats, targets)};
    int result = chain_copy(&made->chain, chain, fault); /* the caller's may not live as long */
    if (result == 0 && chain->n_steps > 0 && !engine->options.reference) {
        /* Also what engine_warm makes on native, since a job may find it. */
        bool on_native =
            level == LEVEL_DEVICE && !warming && engine_prefers_native(engine, chain, in);
        made->waits = level == LEVEL_DEVICE && !on_native && atomic_load(&engine->mover.on);
        made->moves = atomic_load(&engine->mover.moves);
        if (on_native)
            result = engine_need_native(engine, &made->device, fault);
        else if (made->waits && !warming)
            result = choose_device(engine, made, in, formats, &options, fault);
        else if (level == LEVEL_DEVICE)
            result = engine_need_device(engine, &made->chain, &made->device, warming, fault);
        else if (level == LEVEL_FALLBACK)
            result = engine_need_fallback(engine, &made->device, fault);
    }
    if (result != 0 || made->recording)
        return result;
    if (made->device) {
        options.profile = device_profile(made->device);
        const struct plane *plane = &in->planes[0];
        char text[ENGINE_PREPARING_MAX];
        snprintf(text, sizeof text, "compiling kernels for %s of %u channel%s",
                 sample_name(plane->type), plane->channels, plane->channels == 1 ? "" : "s");
        engine_tell_preparing(engine, text);
    }
    result = make_variant(engine, made, in, &options, warming, fault);
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
        /* It runs on native, and the mover has made programs since that was decided. */
        bool is_worth_another_try = !entry->making && entry->waits &&
                                    entry->device == engine->fallback &&
                                    entry->moves != atomic_load(&engine->mover.moves);
        if (is_worth_another_try) { /* it stays at the end, without its key, for jobs that use it */
            struct prepared **link = &engine->prepared;
            while (*link)
                link = &(*link)->next;
            text_finish(&entry->key);
            entry->next = NULL;
            *link = entry;
            continue;
        }
        entry->next = engine->prepared;
        engine->prepared = entry;
        if (!entry->making)
            break;
        pthread_cond_wait(&engine->prepared_changed, &engine->prepared_lock);
    }
    return entry;
}

/* Programs are compiled without the lock, so that jobs with other chains go on. A second job with
 * the same chain waits instead of compiling it again. */
int prepared_get(struct engine *engine, const struct chain *chain, const struct frame *in,
                 const struct format *formats, unsigned how, struct prepared **prepared,
                 struct fault *fault)
{
    struct text key = {0};
    int result = 0;
    enum level level = level_of(engine, chain);
    make_key(chain, in, formats, how, level, &key);
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
        *entry =
            (struct prepared){.key = key, .users = 1, .making = true, .next = engine->prepared};
        engine->prepared = entry;
        key = (struct text){0};
        pthread_mutex_unlock(&engine->prepared_lock);
        result = make(engine, chain, in, formats, how, level, entry, fault);
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

void prepared_release(struct engine *engine, struct prepared **prepared)
{
    struct prepared *p = *prepared;
    struct fault fault = FAULT_INIT;
    if (!p)
        return;
    /* The program goes into the binary cache after its first run: on drivers that compile late it
     * is complete only then. */
    if (p->recording && !atomic_exchange(&p->stored, true) &&
        recording_store(p->recording, &fault) != 0)
        log_warning("program not kept: %s", fault.text);
    pthread_mutex_lock(&engine->prepared_lock);
    p->users--;
    struct prepared *oldest = take_oldest(engine), *next;
    pthread_mutex_unlock(&engine->prepared_lock);
    for (; oldest; oldest = next) {
        next = oldest->next;
        destroy(oldest);
    }
    *prepared = NULL;
}
