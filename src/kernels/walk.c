/* A chain is one of these, each for pictures of every type and number of channels:
 *
 *     a stage alone, with each value of each parameter, and with a few values of each two
 *     a stage behind a transform (dwt, analysis), which works on the transform's planes
 *     the same with a per-pixel stage between them, which gives the planes another type
 *     no stage at all, or a transform, in front of an output: the sink, and mosaics
 *     no stage at all, for each format of video frames, and for a result that has to be copied
 *
 * In this file, a setting is a stage with parameters ("box:radius=3"), and its base is the
 * parameter that the stage cannot do without. */
#include "kernels/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bank/bank.h"
#include "image/video.h"
#include "kernels/values.h"

struct walk {
    const struct device_profile *profile;
    walk_found *found;
    void *context;
    struct definitions definitions; /* a bank of three filters in each direction, "thirds" */
    bool failed;                    /* memory is out */
    uint32_t channels;              /* the most channels of pictures */
    bool odd;                       /* rows of pictures begin at multiples of a sample alone */
    bool placed;                    /* the result has a place, where the input would */
    struct plane target;            /* type and channels that the output wants; 0 channels: any */
    struct frame out;               /* copy of the frame that the last plan gives */
};

/* Frees the list, and remembers when it is not whole. */
static void finish_texts(struct walk *walk, struct texts *texts)
{
    walk->failed |= texts->failed;
    texts_finish(texts);
}

/* ---- settings of a stage ---- */

#define PARAMS_MAX 16

struct subject {
    const struct stage *stage;
    size_t n;                                         /* parameters */
    struct texts values[PARAMS_MAX], few[PARAMS_MAX]; /* all values, and a few, of each parameter */
    struct text
        base; /* the parameter that must be given, with a value (":width=3"); may be empty */
};

static bool parses(const struct walk *walk, const char *stage, const char *base, const char *more)
{
    struct chain chain = {0};
    struct text text = {0};
    text_printf(&text, "%s%s%s", stage, base, more);
    bool good =
        !text.failed && chain_parse_with(&chain, text_string(&text), &walk->definitions, NULL) == 0;
    chain_finish(&chain);
    text_finish(&text);
    return good;
}

/* For a stage that refuses to be without parameters: finds one, and a value, with which it parses.
 */
static void find_base(const struct walk *walk, struct subject *s)
{
    if (parses(walk, s->stage->name, "", ""))
        return;
    for (size_t i = 0; i < s->n; i++)
        for (size_t v = 0; v < s->values[i].n; v++) {
            char given[8192];
            snprintf(given, sizeof given, ":%s=%s", s->stage->params[i].name,
                     text_string(&s->values[i].texts[v]));
            if (parses(walk, s->stage->name, given, "")) {
                text_append(&s->base, given);
                return;
            }
        }
}

/* Adds the stage with the parameters `given`, behind the base unless that has the same parameter.
 */
static void add_setting(struct walk *walk, const struct subject *s, struct texts *settings,
                        const char *given)
{
    const char *base = text_string(&s->base);
    if (!parses(walk, s->stage->name, base, given))
        base = "";
    if (base[0] || parses(walk, s->stage->name, base, given))
        texts_add(settings, "%s%s%s", s->stage->name, base, given);
}

static void add_singles(struct walk *walk, const struct subject *s, const struct texts *values,
                        struct texts *settings)
{
    char given[8192];
    for (size_t i = 0; i < s->n; i++)
        for (size_t v = 0; v < values[i].n; v++) {
            snprintf(given, sizeof given, ":%s=%s", s->stage->params[i].name,
                     text_string(&values[i].texts[v]));
            add_setting(walk, s, settings, given);
        }
}

static void add_pairs(struct walk *walk, const struct subject *s, struct texts *settings)
{
    char given[16384];
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = i + 1; k < s->n; k++)
            for (size_t v = 0; v < s->few[i].n; v++)
                for (size_t w = 0; w < s->few[k].n; w++) {
                    snprintf(given, sizeof given, ":%s=%s:%s=%s", s->stage->params[i].name,
                             text_string(&s->few[i].texts[v]), s->stage->params[k].name,
                             text_string(&s->few[k].texts[w]));
                    add_setting(walk, s, settings, given);
                }
}

/* Makes the settings of a stage: each parameter with a few values, then with `pairs` each two
 * parameters with a few, then each parameter with all its values. `base` NULL: find_base chooses
 * it. */
static void settings_for(struct walk *walk, const struct stage *stage, const char *base, bool pairs,
                         struct texts *settings)
{
    struct subject s = {.stage = stage};
    for (const struct param *p = stage->params; p && p->name && s.n < PARAMS_MAX; p++) {
        values_of(p, false, &s.values[s.n]);
        values_of(p, true, &s.few[s.n++]);
    }
    if (base)
        text_append(&s.base, base);
    else
        find_base(walk, &s);
    add_setting(walk, &s, settings, "");
    add_singles(walk, &s, s.few, settings);
    settings->n_plain = settings->n;
    if (pairs)
        add_pairs(walk, &s, settings);
    add_singles(walk, &s, s.values, settings);
    for (size_t i = 0; i < s.n; i++) {
        finish_texts(walk, &s.values[i]);
        finish_texts(walk, &s.few[i]);
    }
    text_finish(&s.base);
}

/* ---- plans ---- */

/* A plan_fit: the output takes planes of walk->target only. */
static int fit(void *walk_, struct plane *plane, struct fault *fault)
{
    const struct walk *walk = walk_;
    plane->type = walk->target.type;
    plane->channels = walk->target.channels;
    return 0;
}

/* Plans the chain for the frame and reports the passes. False if the chain refuses the frame. */
static bool plan_one(struct walk *walk, const struct chain *chain, const struct frame *frame,
                     double mosaic_gain)
{
    const struct plan_target target = {
        .fit = walk->target.channels ? fit : NULL, .context = walk, .mosaic_gain = mosaic_gain};
    struct plan_options options = {.profile = walk->profile,
                                   .no_fuse = true,
                                   .targets = &target,
                                   .out = walk->placed ? frame : NULL};
    struct plan *plan = NULL;
    if (plan_create(&plan, chain, frame, &options, NULL) != 0)
        return false;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            walk->found(walk->context, plan->steps[i].stage, &plan->steps[i].work.passes[p]);
    frame_finish(&walk->out);
    walk->failed |= !frame_copy(&walk->out, plan->out);
    plan_destroy(&plan);
    return true;
}

/* Plans the chain for a picture of each type; those of floats once more for each white for which
 * there are other kernels. Adds the planes that the chain accepts to `taken`. */
static void plan_types(struct walk *walk, const struct chain *chain, struct plane plane,
                       double mosaic_gain, struct frame *taken)
{
    for (int type = 0; type < SAMPLE_TYPES; type++) {
        struct frame one = {0};
        plane.type = (enum sample_type)type;
        snprintf(plane.name, sizeof plane.name, "%s%u", sample_name(plane.type), plane.channels);
        walk->failed |= !frame_add_plane(&one, &plane, FRAME_ALIGNMENT);
        if (!walk->failed && walk->odd)
            one.planes[0].stride += sample_size(plane.type);
        if (!walk->failed && plan_one(walk, chain, &one, mosaic_gain))
            walk->failed |= !frame_add_plane(taken, &plane, FRAME_ALIGNMENT);
        /* 65535 is the white that an output of 16 bits takes without scaling. */
        static const double whites[] = {1, 65535};
        size_t n_whites = walk->target.type == SAMPLE_U16 ? 2 : 1;
        for (size_t i = 0; i < n_whites && !walk->failed && !sample_is_integer(plane.type); i++) {
            one.planes[0].white = whites[i];
            plan_one(walk, chain, &one, mosaic_gain);
        }
        frame_finish(&one);
    }
}

/* An ordinary picture, one of a single pixel, all of whose neighbours are outside, and one whose
 * sums are large. */
#define SIZES 3
static const uint32_t sizes[SIZES][2] = {{61, 43}, {1, 1}, {5000, 3000}};

/* Plans the chain for pictures of the first `n_sizes` sizes; returns how many it accepts. From the
 * second size on, also for a frame of all planes that it accepts: beside other planes a stage
 * computes even planes that it would pass on unchanged by themselves. */
static size_t plan_pictures(struct walk *walk, const char *text, size_t n_sizes, double mosaic_gain)
{
    struct chain chain = {0};
    size_t count = 0;
    if (chain_parse_with(&chain, text, &walk->definitions, NULL) != 0)
        return 0;
    for (size_t size = 0; size < n_sizes; size++) {
        struct frame taken = {0};
        struct plane plane = {.width = sizes[size][0], .height = sizes[size][1]};
        for (plane.channels = 1; plane.channels <= walk->channels; plane.channels++)
            plan_types(walk, &chain, plane, mosaic_gain, &taken);
        if (size > 0 && taken.n_planes > 1)
            plan_one(walk, &chain, &taken, mosaic_gain);
        count += taken.n_planes;
        frame_finish(&taken);
    }
    chain_finish(&chain);
    return count;
}

/* Plans the chain for a small picture of the first type that it accepts, so that walk->out has the
 * frame that it gives. False if it accepts none. */
static bool plan_sample(struct walk *walk, const char *text)
{
    struct chain chain = {0};
    bool planned = false;
    if (chain_parse_with(&chain, text, &walk->definitions, NULL) == 0)
        for (int type = 0; type < SAMPLE_TYPES && !planned; type++) {
            struct plane plane = {
                .width = 61, .height = 43, .channels = 1, .type = (enum sample_type)type};
            struct frame frame = {0};
            walk->failed |= !frame_add_plane(&frame, &plane, FRAME_ALIGNMENT);
            planned = !walk->failed && plan_one(walk, &chain, &frame, 0);
            frame_finish(&frame);
        }
    chain_finish(&chain);
    return planned;
}

/* ---- stages ---- */

/* A transform: all its settings, and one of them for each combination of the planes' type and
 * (roughly) their number. */
struct transform {
    struct texts settings, kinds;
};

/* Plans all settings of the stage for pictures. False if it accepts none, but only planes of a
 * transform. */
static bool walk_stage(struct walk *walk, const struct stage *stage)
{
    struct texts settings = {0};
    size_t taken = 0;
    settings_for(walk, stage, NULL, true, &settings);
    for (size_t i = 0; i < settings.n; i++)
        taken += plan_pictures(walk, text_string(&settings.texts[i]),
                               i < settings.n_plain ? SIZES : 1, 0);
    walk->odd = true;
    for (size_t i = 0; i < settings.n_plain; i++)
        plan_pictures(walk, text_string(&settings.texts[i]), 1, 0);
    walk->odd = false;
    finish_texts(walk, &settings);
    return taken > 0;
}

/* Fills `transform`, if the stage is one: then its planes have an origin (struct frame_origin). */
static bool walk_transform(struct walk *walk, const struct stage *stage,
                           struct transform *transform)
{
    bool seen[SAMPLE_TYPES][8] = {{false}};
    struct texts settings = {0};
    *transform = (struct transform){0};
    settings_for(walk, stage, NULL, false, &transform->settings);
    settings_for(walk, stage, NULL, true, &settings);
    for (size_t i = 0; i < settings.n; i++) {
        const char *text = text_string(&settings.texts[i]);
        if (!plan_sample(walk, text) || walk->out.n_origins == 0)
            continue;
        unsigned size = 0; /* the number of planes as a power of two: 4 to 7, 8 to 15, … */
        while (size < 7 && walk->out.n_planes >> (size + 1) > 0)
            size++;
        if (!seen[walk->out.planes[0].type][size])
            texts_add(&transform->kinds, "%s", text);
        seen[walk->out.planes[0].type][size] = true;
    }
    finish_texts(walk, &settings);
    for (size_t k = 0; k < transform->kinds.n; k++) { /* a third parameter beside those two */
        const char *given = strchr(text_string(&transform->kinds.texts[k]), ':');
        settings_for(walk, stage, given, false, &settings);
        for (size_t i = 0; given && i < settings.n_plain; i++)
            plan_pictures(walk, text_string(&settings.texts[i]), 2, 0);
        finish_texts(walk, &settings);
    }
    if (transform->kinds.n == 0)
        finish_texts(walk, &transform->settings);
    return transform->kinds.n > 0;
}

/* Calls `plan` with each chain of a transform and a per-pixel stage that changes the type of its
 * planes, once for each type. Pictures have one channel, because kernels for types that transforms
 * do not give are the same for any number. */
static void
each_converted(struct walk *walk, const struct transform *transform, const struct stage *inverse,
               void (*plan)(struct walk *walk, const struct stage *inverse, const char *chain))
{
    walk->channels = 1;
    for (size_t k = 0; k < transform->kinds.n; k++) {
        bool seen[SAMPLE_TYPES] = {false};
        for (const struct stage *const *s = stage_registry; *s; s++) {
            struct texts settings = {0};
            if ((*s)->pixel)
                settings_for(walk, *s, NULL, false, &settings);
            for (size_t i = 0; i < settings.n; i++) {
                char chain[16384];
                snprintf(chain, sizeof chain, "%s,%s", text_string(&transform->kinds.texts[k]),
                         text_string(&settings.texts[i]));
                if (!plan_sample(walk, chain) || seen[walk->out.planes[0].type])
                    continue;
                seen[walk->out.planes[0].type] = true;
                plan(walk, inverse, chain);
            }
            finish_texts(walk, &settings);
        }
    }
    walk->channels = PLANE_CHANNELS_MAX;
}

/* Plans `chain` followed by the stage with each of its parameters. */
static void walk_behind(struct walk *walk, const struct stage *stage, const char *chain)
{
    struct texts settings = {0};
    settings_for(walk, stage, NULL, false, &settings);
    for (size_t i = 0; i < settings.n_plain; i++) {
        char text[32768];
        snprintf(text, sizeof text, "%s,%s", chain, text_string(&settings.texts[i]));
        plan_pictures(walk, text, 1, 0);
    }
    finish_texts(walk, &settings);
}

/* Plans the chain for incomplete frames, as files may have them: one of the first or last two
 * planes of `all` alone, or all planes but that one. Returns how many it accepts. */
static size_t plan_partial(struct walk *walk, const char *text, const struct frame *all)
{
    struct chain chain = {0};
    size_t count = 0;
    if (chain_parse_with(&chain, text, &walk->definitions, NULL) != 0)
        return 0;
    for (size_t k = 0; k < 2 * all->n_planes; k++) {
        struct frame some = {0};
        if (k / 2 >= 2 && k / 2 + 2 < all->n_planes)
            continue;
        for (size_t p = 0; p < all->n_planes; p++)
            if ((p == k / 2) == (k % 2 == 0))
                walk->failed |= !frame_add_plane(&some, &all->planes[p], FRAME_ALIGNMENT);
        count += plan_one(walk, &chain, &some, 0);
        frame_finish(&some);
    }
    chain_finish(&chain);
    return count;
}

/* Finds a parameter with which the stage accepts an incomplete frame of the chain's planes, and
 * plans that together with each other parameter. */
static void walk_partial(struct walk *walk, const struct stage *stage, const char *chain)
{
    struct texts settings = {0}, more = {0};
    struct frame all = {0};
    if (!plan_sample(walk, chain) || !frame_copy(&all, &walk->out))
        return;
    settings_for(walk, stage, NULL, false, &settings);
    for (size_t i = 0; i < settings.n_plain && more.n == 0; i++) {
        const char *text = text_string(&settings.texts[i]);
        if (plan_partial(walk, text, &all) > 0)
            settings_for(walk, stage, strchr(text, ':') ? strchr(text, ':') : "", false, &more);
    }
    for (size_t i = 0; i < more.n_plain; i++)
        plan_partial(walk, text_string(&more.texts[i]), &all);
    finish_texts(walk, &settings);
    finish_texts(walk, &more);
    frame_finish(&all);
}

static bool takes_planes_of(struct walk *walk, const struct transform *transform,
                            const struct texts *settings)
{
    for (size_t i = 0; i < settings->n_plain; i++) {
        char text[32768];
        snprintf(text, sizeof text, "%s,%s", text_string(&transform->kinds.texts[0]),
                 text_string(&settings->texts[i]));
        if (plan_sample(walk, text))
            return true;
    }
    return false;
}

/* For a stage that accepts the transform's planes: plans each setting of the transform followed by
 * one of the stage, and each kind of the transform followed by each setting of the stage. */
static void walk_planes_of(struct walk *walk, const struct transform *transform,
                           const struct stage *stage)
{
    struct texts settings = {0};
    settings_for(walk, stage, NULL, false, &settings);
    if (takes_planes_of(walk, transform, &settings)) {
        for (size_t i = 0; i < transform->settings.n; i++) {
            char text[32768];
            snprintf(text, sizeof text, "%s,%s", text_string(&transform->settings.texts[i]),
                     text_string(&settings.texts[0]));
            plan_pictures(walk, text, 2, 0);
        }
        for (size_t k = 0; k < transform->kinds.n; k++)
            walk_behind(walk, stage, text_string(&transform->kinds.texts[k]));
        if (stage->inverse) {
            each_converted(walk, transform, stage, walk_behind);
            each_converted(walk, transform, stage, walk_partial);
        }
    }
    finish_texts(walk, &settings);
}

static void walk_mosaic_of(struct walk *walk, const struct stage *none, const char *chain)
{
    plan_pictures(walk, chain, 1, 1);
}

/* Plans outputs that write a transform's planes as one mosaic, also beside planes of other origin.
 */
static void walk_mosaics(struct walk *walk, const struct transform *transform)
{
    const struct chain nothing = {0};
    for (size_t i = 0; i < transform->settings.n; i++)
        plan_pictures(walk, text_string(&transform->settings.texts[i]), 1, 1);
    each_converted(walk, transform, NULL, walk_mosaic_of);
    for (size_t k = 0; k < transform->kinds.n; k++) {
        struct frame frame = {0};
        if (!plan_sample(walk, text_string(&transform->kinds.texts[k])) ||
            !frame_copy(&frame, &walk->out))
            continue;
        for (int type = 0; type < SAMPLE_TYPES; type++) {
            struct plane plane = {
                .width = 61, .height = 43, .channels = 1, .type = (enum sample_type)type};
            snprintf(plane.name, sizeof plane.name, "%s", sample_name(plane.type));
            walk->failed |= !frame_add_plane(&frame, &plane, FRAME_ALIGNMENT);
        }
        plan_one(walk, &nothing, &frame, 1);
        frame_finish(&frame);
    }
}

/* Plans empty chains for outputs that want other types and channels. */
static void walk_sink(struct walk *walk)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16};
    for (size_t type = 0; type < sizeof types / sizeof *types; type++)
        for (uint32_t channels = 1; channels <= PLANE_CHANNELS_MAX; channels++) {
            walk->target = (struct plane){.type = types[type], .channels = channels};
            plan_pictures(walk, "", 2, 0);
        }
    walk->target = (struct plane){0};
}

/* Plans empty chains whose result has to be copied to its place. */
static void walk_copies(struct walk *walk)
{
    walk->placed = true;
    for (int odd = 0; odd < 2; odd++) {
        walk->odd = odd;
        plan_pictures(walk, "", 1, 0);
    }
    walk->odd = walk->placed = false;
}

/* Plans video frames of every format, for colours and for luma alone. */
static void walk_video(struct walk *walk)
{
    static const char *const chains[] = {"", "luminance"};
    for (unsigned i = 0; i < 2 * (VIDEO_FORMATS - 1); i++) {
        struct video video = {.format = 1 + i / 2, .width = 61, .height = 43};
        struct plane planes[VIDEO_PLANES_MAX];
        struct frame frame = {0};
        struct chain chain = {0};
        for (unsigned p = 0, n = video_planes(&video, planes); p < n; p++)
            walk->failed |= !frame_add_plane(&frame, &planes[p], FRAME_ALIGNMENT);
        walk->failed |= chain_parse(&chain, chains[i % 2], NULL) != 0;
        frame.video = video;
        if (!walk->failed)
            plan_one(walk, &chain, &frame, 0);
        chain_finish(&chain);
        frame_finish(&frame);
    }
}

static bool define_thirds(struct definitions *definitions)
{
    struct definition_bank bank = {.name = "thirds", .filters = calloc(6, sizeof *bank.filters)};
    for (int i = 0; bank.filters && i < 6; i++)
        bank.filters[i] = (struct bank_filter){
            .n_taps = 3, .zero = i < 3 ? 2 : 0, .taps = {1, i % 3 - 1, i % 3 == 2 ? 1 : -1}};
    struct bank_direction direction = {3, 3, bank.filters, bank.filters + 3};
    bank.bank.x = bank.bank.y = direction;
    bool added = bank.filters && definitions_add_bank(definitions, &bank);
    if (!added)
        free(bank.filters);
    return added;
}

bool walk_plans(const struct device_profile *profile, walk_found *found, void *context)
{
    struct walk walk = {
        .profile = profile, .found = found, .context = context, .channels = PLANE_CHANNELS_MAX};
    struct transform transforms[8];
    size_t n = 0;
    walk.failed = !define_thirds(&walk.definitions);
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (!(*s)->internal && !(*s)->inverse && n < sizeof transforms / sizeof *transforms)
            n += walk_transform(&walk, *s, &transforms[n]);
    for (const struct stage *const *s = stage_registry; *s && !walk.failed; s++)
        if (!(*s)->internal && !walk_stage(&walk, *s))
            for (size_t i = 0; i < n; i++)
                walk_planes_of(&walk, &transforms[i], *s);
    for (size_t i = 0; i < n; i++)
        walk_mosaics(&walk, &transforms[i]);
    walk_sink(&walk);
    walk_copies(&walk);
    walk_video(&walk);
    for (size_t i = 0; i < n; i++) {
        finish_texts(&walk, &transforms[i].settings);
        finish_texts(&walk, &transforms[i].kinds);
    }
    frame_finish(&walk.out);
    definitions_finish(&walk.definitions);
    return !walk.failed;
}
