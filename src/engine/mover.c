/* Jobs wait for no compiler: a chain runs on native, and one thread makes it ready for the device
 * beside that. The device is opened, a chain's programs are compiled, compared with the references
 * and run once; then they are kept, which makes them visible to jobs (PROGRAM_FOUND), and from the
 * next job on the chain runs there. Chains go one after the other, configured ones in their own
 * programs for the usual kinds of pictures, all else that a job needed in generic ones.
 *
 * A chain whose programs do not compile or compute something else stays on native, alone.
 *
 * On native a configured chain is compared with the references here, too, after jobs can have it:
 * its kernels are part of this program, and the references are slow. One that differs goes on by
 * the references. */
#include "engine/engine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/log.h"

/* Of chains that jobs asked for, as many wait; and as many that have ended are remembered, so that
 * nothing is tried for ever. */
#define WAITING_MAX 64
#define LIST_MAX    256

/* For the comparison of a chain on native. */
#define COMPARE_TIME (5 * SECOND)

/* A frame of several planes is checked as it is, unless it is larger. */
#define CHECK_BYTES (4u << 20)

struct move {
    struct text key; /* what it depends on; its end is `chain`'s canonical text */
    const char *name;
    bool is_configured, ended;
    int64_t id;            /* of a configured chain */
    struct device *native; /* it is only compared, on this device; NULL: it goes to another one */
    struct chain chain;
    struct format formats[CHAIN_RESULTS_MAX]; /* no codec: the results stay as they are */
    struct frame frame;   /* no planes: all usual kinds */
    struct move *next;
};

static void destroy(struct move *move)
{
    frame_finish(&move->frame);
    for (size_t i = 0; i < CHAIN_RESULTS_MAX; i++)
        format_finish(&move->formats[i]);
    chain_finish(&move->chain);
    text_finish(&move->key);
    free(move);
}

/* ---- the list ---- */

static void print_format(const struct format *format, struct text *text)
{
    text_append(text, format->codec->name);
    param_print(format->codec->params, format->config, format->given, text);
}

/* Copies; of formats, what is printed is read back. */
static int copy(struct move *move, const struct chain *chain, const struct format *formats,
                const struct frame *frame, struct fault *fault)
{
    int result = chain_copy(&move->chain, chain, fault);
    for (size_t i = 0; formats && i < chain_count_results(chain) && result == 0; i++) {
        struct text text = {0};
        print_format(&formats[i], &text);
        result = format_parse(&move->formats[i], text_string(&text), fault);
        text_finish(&text);
    }
    if (result == 0 && frame && !frame_copy(&move->frame, frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    return result;
}

/* The one that ended first makes room. */
static void forget_one(struct mover *mover)
{
    struct move **link = &mover->list;
    while (*link && (!(*link)->ended || (*link)->is_configured))
        link = &(*link)->next;
    struct move *move = *link;
    if (!move)
        return;
    *link = move->next;
    mover->n_list--;
    destroy(move);
}

static void append(struct mover *mover, struct move *move)
{
    struct move **link = &mover->list;
    while (*link)
        link = &(*link)->next;
    *link = move;
    mover->n_waiting++;
    if (++mover->n_list > LIST_MAX)
        forget_one(mover);
    pthread_cond_signal(&mover->changed);
}

/* ---- one chain after the other ---- */

static void tell(struct engine *engine, const struct move *move, unsigned done, unsigned of,
                 const struct fault *why)
{
    const struct device *device = done == of && !why ? engine->device : engine->fallback;
    const struct engine_move told = {.id = move ? move->id : -1,
                                     .on = move && move->native ? NULL : device_info(device),
                                     .done = done,
                                     .of = of,
                                     .why = why};
    if (engine->options.moved && (!move || move->is_configured))
        engine->options.moved(engine->options.context, &told);
}

/* The best device by the options; none where that is native itself. Without a lock: this loads
 * drivers. */
static int open_device(struct engine *engine, struct device **device, struct fault *fault)
{
    const struct device_info *order[DEVICES_MAX];
    size_t fitting, before = 0;
    int result = device_select(&engine->options.device, order, &fitting, fault);
    *device = NULL;
    while (result == 0 && before < fitting && order[before]->kind != DEVICE_NATIVE)
        before++;
    return before == 0 ? result
                       : device_open_first(device, order, &before, &engine->options.device, fault);
}

/* Opens the device, for the first chain. If there is none, all chains stay on native. */
static int need_device(struct engine *engine, struct fault *fault)
{
    struct device *device = NULL;
    if (engine->device || atomic_load(&engine->mover.alone))
        return 0;
    int result = open_device(engine, &device, fault);
    if (!device) {
        atomic_store(&engine->mover.alone, true);
        if (result != 0)
            tell(engine, NULL, 0, 0, fault);
        return result;
    }
    device_pool_limit(device, engine->options.memory);
    log_info("device %s (%s), driver %s", device_info(device)->name, device_info(device)->platform,
             device_info(device)->driver);
    pthread_mutex_lock(&engine->device_lock);
    engine->device = device;
    pthread_mutex_unlock(&engine->device_lock);
    return 0;
}

static int check_closing(struct mover *mover, struct fault *fault)
{
    pthread_mutex_lock(&mover->lock);
    bool closing = mover->closing;
    pthread_mutex_unlock(&mover->lock);
    return closing ? fault_set(fault, FAULT_BUSY, "the engine closes") : 0;
}

static int keep_kind(struct engine *engine, const struct move *move, const struct plane *kind,
                     struct fault *fault)
{
    const struct check_how how = {.use = PROGRAM_KEPT};
    struct frame frame = {0};
    int result =
        frame_add_plane(&frame, kind, FRAME_ALIGNMENT)
            ? check_compile(engine->device, &how, &move->chain, move->formats, &frame, fault)
            : fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    frame_finish(&frame);
    return result;
}

/* All kinds are made before the first one is kept: a chain moves as a whole. */
static int move_configured(struct engine *engine, const struct move *move, struct fault *fault)
{
    const struct check_how how = {.trusted = !engine->options.self_check, .use = PROGRAM_ANY};
    int result = 0;
    for (unsigned kind = 0; kind < WARM_KINDS && result == 0; kind++) {
        struct plane plane = warm_kind(kind);
        tell(engine, move, kind, WARM_KINDS + 1, NULL);
        result = check_closing(&engine->mover, fault);
        if (result == 0)
            result = warm_check(engine->device, &how, &move->chain, move->formats, &plane, fault);
    }
    for (unsigned kind = 0; kind < WARM_KINDS && result == 0; kind++) {
        struct plane plane = warm_kind(kind);
        struct fault why = FAULT_INIT;
        if (keep_kind(engine, move, &plane, &why) != 0 && why.code != FAULT_SHAPE)
            result = fault_set(fault, why.code, "%s", why.text);
    }
    return result;
}

/* Generic kernels for a frame; a picture is checked in the usual small sizes. */
static int move_frame(struct engine *engine, const struct move *move, struct fault *fault)
{
    struct check_how how = {
        .generic = true, .trusted = !engine->options.self_check, .use = PROGRAM_ANY};
    const struct format *formats = move->formats[0].codec ? move->formats : NULL;
    const struct frame *frame = &move->frame;
    int result = 0;
    if (!move->is_configured &&
        atomic_load(&device_counters(engine->device)->counted) >= PROGRAM_COUNTED_MAX)
        return fault_set(fault, FAULT_KERNELS, "%d kernels were compiled for other chains",
                         PROGRAM_COUNTED_MAX);
    if (frame->n_planes == 1 && frame->n_origins == 0)
        result = warm_check(engine->device, &how, &move->chain, formats, &frame->planes[0], fault);
    else if (frame->size <= CHECK_BYTES)
        result = check_chain(engine->device, &how, &move->chain, formats, frame, fault);
    how.use = configured_has(engine, &move->chain) ? PROGRAM_KEPT : PROGRAM_COUNTED;
    if (result == 0)
        result = check_compile(engine->device, &how, &move->chain, formats, frame, fault);
    return result;
}

static void compare_on_native(struct engine *engine, const struct move *move)
{
    const struct check_how how = {.use = PROGRAM_ANY};
    struct fault fault = FAULT_INIT;
    int result = 0;
    deadline_set(clock_now() + COMPARE_TIME);
    for (unsigned kind = 0; kind < WARM_KINDS && result == 0; kind++) {
        struct plane plane = warm_kind(kind);
        result = check_closing(&engine->mover, &fault);
        if (result == 0)
            result = warm_check(move->native, &how, &move->chain, move->formats, &plane, &fault);
    }
    deadline_set(0);
    if (result == FAULT_VERIFY && level_demote(engine, &move->chain, LEVEL_REFERENCE)) {
        log_error("a chain does not run on device %s: %s", device_info(move->native)->name,
                  fault.text);
        tell(engine, move, 0, 1, &fault);
    }
    if (result == 0)
        log_debug("chain %s was compared with its reference on %s", move->name,
                  device_info(move->native)->name);
    if (result != 0 && result != FAULT_VERIFY && result != FAULT_BUSY)
        log_debug("chain %s is not compared with its reference to the end: %s", move->name,
                  fault.text);
}

static void move_one(struct engine *engine, struct move *move)
{
    struct fault fault = FAULT_INIT;
    if (move->native) {
        compare_on_native(engine, move);
        return;
    }
    if (move->is_configured && level_of(engine, &move->chain) == LEVEL_REFERENCE)
        return;
    unsigned of = move->is_configured ? WARM_KINDS + 1 : 1;
    if (need_device(engine, &fault) != 0 || atomic_load(&engine->mover.alone))
        return;
    int result = move->is_configured ? move_configured(engine, move, &fault)
                                     : move_frame(engine, move, &fault);
    if (result == FAULT_BUSY)
        return;
    if (result == 0) {
        atomic_fetch_add(&engine->mover.moves, 1);
        log_debug("chain %s is ready for device %s", move->name, device_info(engine->device)->name);
        tell(engine, move, of, of, NULL);
        return;
    }
    if (move->is_configured)
        level_demote(engine, &move->chain, LEVEL_FALLBACK);
    log_info("chain %s stays on native: %s", move->name, fault.text);
    tell(engine, move, 0, of, &fault);
}

static void *work(void *engine_)
{
    struct engine *engine = engine_;
    struct mover *mover = &engine->mover;
    pthread_mutex_lock(&mover->lock);
    while (!mover->closing) {
        struct move *move = mover->list;
        while (move && move->ended)
            move = move->next;
        if (!move) {
            pthread_cond_wait(&mover->changed, &mover->lock);
            continue;
        }
        atomic_store(&mover->busy, true);
        pthread_mutex_unlock(&mover->lock);
        move_one(engine, move);
        pthread_mutex_lock(&mover->lock);
        atomic_store(&mover->busy, false);
        move->ended = true;
        mover->n_waiting--;
    }
    pthread_mutex_unlock(&mover->lock);
    return NULL;
}

/* ---- what others see ---- */

void mover_init(struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    struct mover *mover = &engine->mover;
    pthread_mutex_init(&mover->lock, NULL);
    pthread_cond_init(&mover->changed, NULL);
    bool has_native = options->fallback && strcmp(options->fallback, "native") == 0;
    atomic_init(&mover->on, options->background && !options->reference && has_native &&
                                device_may_load(&options->device));
}

void mover_finish(struct engine *engine)
{
    struct mover *mover = &engine->mover;
    pthread_mutex_lock(&mover->lock);
    mover->closing = true;
    pthread_cond_signal(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
    if (mover->started)
        pthread_join(mover->thread, NULL);
    while (mover->list) {
        struct move *move = mover->list;
        mover->list = move->next;
        destroy(move);
    }
    pthread_cond_destroy(&mover->changed);
    pthread_mutex_destroy(&mover->lock);
}

int mover_check(struct engine *engine, struct fault *fault)
{
    const char *select = engine->options.device.select;
    const struct device_info *order[DEVICES_MAX];
    size_t fitting;
    bool named = select && strcmp(select, "auto") != 0;
    return named && atomic_load(&engine->mover.on)
               ? device_select(&engine->options.device, order, &fitting, fault)
               : 0;
}

/* Takes the key. */
static int add(struct engine *engine, struct text *key, size_t name_at, int64_t id,
               const struct chain *chain, const struct format *formats, const struct frame *frame,
               struct device *native, struct fault *fault)
{
    struct mover *mover = &engine->mover;
    int result = 0;
    pthread_mutex_lock(&mover->lock);
    const struct move *same = mover->list;
    while (same && strcmp(text_string(&same->key), text_string(key)) != 0)
        same = same->next;
    if (!same && (!frame || mover->n_waiting < WAITING_MAX)) {
        struct move *move = calloc(1, sizeof *move);
        result = move ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a chain");
        if (move) {
            *move = (struct move){.key = *key, .id = id, .is_configured = !frame, .native = native};
            *key = (struct text){0};
            move->name = text_string(&move->key) + name_at;
            result = copy(move, chain, formats, frame, fault);
        }
        if (result == 0 && !mover->started) {
            mover->started = pthread_create(&mover->thread, NULL, work, engine) == 0;
            result = mover->started ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a thread");
        }
        if (result == 0)
            append(mover, move);
        else if (move)
            destroy(move);
    }
    pthread_mutex_unlock(&mover->lock);
    text_finish(key);
    return result;
}

static int add_configured(struct engine *engine, int64_t id, const struct chain *chain,
                          const struct format *formats, struct device *native, struct fault *fault)
{
    struct text key = {0};
    text_printf(&key, "%s%lld ", native ? "native " : "", (long long)id);
    size_t name_at = key.length;
    chain_print(chain, &key);
    if (key.failed)
        return fault_set(fault, FAULT_MEMORY, "no memory for a chain");
    return add(engine, &key, name_at, id, chain, formats, NULL, native, fault);
}

int mover_compare(struct engine *engine, int64_t id, const struct chain *chain,
                  const struct format *formats, struct device *native, struct fault *fault)
{
    return add_configured(engine, id, chain, formats, native, fault);
}

int mover_add(struct engine *engine, int64_t id, const struct chain *chain,
              const struct format *formats, struct fault *fault)
{
    if (!atomic_load(&engine->mover.on) || atomic_load(&engine->mover.alone))
        return 0;
    return add_configured(engine, id, chain, formats, NULL, fault);
}

void mover_ask(struct engine *engine, const struct chain *chain, const struct format *formats,
               const struct frame *in, const struct plan *plan)
{
    struct text key = {0};
    struct fault fault = FAULT_INIT;
    uint64_t kernels = 0;
    if (atomic_load(&engine->mover.alone))
        return;
    for (size_t i = 0; formats && i < chain_count_results(chain); i++)
        print_format(&formats[i], &key);
    /* Everything of a frame that kernels depend on. The size is left out: what depends on it is in
     * the hash of the plan's kernels. */
    for (size_t i = 0; i < in->n_planes; i++)
        text_printf(&key, " %u%s%s", in->planes[i].channels, sample_name(in->planes[i].type),
                    pass_is_aligned(&in->planes[i]) ? "" : "!");
    for (size_t i = 0; plan && i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            kernels = kernels * 31 + pass_hash(&plan->steps[i].work.passes[p]);
    text_printf(&key, " %llx ", (unsigned long long)kernels);
    size_t name_at = key.length;
    chain_print(chain, &key);
    if (key.failed)
        text_finish(&key);
    else if (add(engine, &key, name_at, -1, chain, formats, in, NULL, &fault) != 0)
        log_warning("a chain stays on native: %s", fault.text);
}
