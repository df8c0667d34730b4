/* A stage declares chains (stage.chains). Each is planned
 *
 *     for pictures of every type and number of channels, in three sizes, and with rows that begin at
 *     multiples of a sample alone
 *     for all planes that it accepts beside each other: then a stage computes even those that by
 *     themselves it would pass on unchanged
 *     if a transform's planes come out, as one mosaic, too, also beside planes of another origin
 *     if its last stage undoes a transform, without some of the planes that come to it
 *
 * Beside these there are plans without stages: for outputs, for results that have a place, and for
 * video frames. */
#include "kernels/walk.h"

#include <stdio.h>
#include <stdlib.h>

#include "bank/bank.h"
#include "image/video.h"

struct walk {
    const struct device_profile *profile;
    walk_found *found;
    void *context;
    struct definitions definitions; /* a bank of three filters in each direction, "thirds"; and a
                                       second picture, "grey", which suits all */
    bool failed;                    /* memory is out */
    bool odd;                       /* rows of pictures begin at multiples of a sample alone */
    bool placed;                    /* the result has a place, where the input would */
    bool mosaic;                    /* a transform's planes become one picture */
    struct plane target;            /* type and channels that the output wants; 0 channels: any */
    struct fault refused;           /* why the chain's first plan could not be made */
    struct frame out;               /* copy of the frame that the last plan gives */
};

/* A plan_fit: the output takes planes of walk->target only. */
static int fit(void *walk_, struct plane *plane, struct fault *fault)
{
    const struct walk *walk = walk_;
    plane->type = walk->target.type;
    plane->channels = walk->target.channels;
    return 0;
}

/* Plans the chain for the frame and reports the passes. False if the chain refuses the frame. */
static bool plan_one(struct walk *walk, const struct chain *chain, const struct frame *frame)
{
    const struct plan_target target = {.fit = walk->target.channels ? fit : NULL,
                                       .context = walk,
                                       .mosaic_gain = walk->mosaic};
    const struct plan_options options = {.profile = walk->profile,
                                         .no_fuse = true,
                                         .targets = &target,
                                         .out = walk->placed ? frame : NULL};
    struct plan *plan = NULL;
    if (plan_create(&plan, chain, frame, &options, &walk->refused) != 0)
        return false;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            walk->found(walk->context, plan->steps[i].stage, &plan->steps[i].work.passes[p]);
    frame_finish(&walk->out);
    walk->failed |= !frame_copy(&walk->out, plan->out);
    plan_destroy(&plan);
    return true;
}

static void add_plane(struct walk *walk, struct frame *frame, struct plane *plane)
{
    snprintf(plane->name, sizeof plane->name, "%s%u", sample_name(plane->type), plane->channels);
    walk->failed |= !frame_add_plane(frame, plane, FRAME_ALIGNMENT);
}

/* Plans the chain for a picture of each type; those of floats once more for each white for which
 * there are other kernels. Adds the planes that the chain accepts to `taken`. */
static void plan_types(struct walk *walk, const struct chain *chain, struct plane plane,
                       struct frame *taken)
{
    for (int type = 0; type < SAMPLE_TYPES; type++) {
        struct frame one = {0};
        plane.type = (enum sample_type)type;
        add_plane(walk, &one, &plane);
        if (!walk->failed && walk->odd)
            one.planes[0].stride += sample_size(plane.type);
        if (!walk->failed && plan_one(walk, chain, &one))
            walk->failed |= !frame_add_plane(taken, &plane, FRAME_ALIGNMENT);
        /* 65535 is the white that an output of 16 bits takes without scaling. */
        static const double whites[] = {1, 65535};
        size_t n_whites = walk->target.type == SAMPLE_U16 ? 2 : 1;
        for (size_t i = 0; i < n_whites && !walk->failed && !sample_is_integer(plane.type); i++) {
            one.planes[0].white = whites[i];
            plan_one(walk, chain, &one);
        }
        frame_finish(&one);
    }
}

/* An ordinary picture, one of a single pixel, all of whose neighbours are outside, and one whose
 * sums are large. */
#define SIZES 3
static const uint32_t sizes[SIZES][2] = {{61, 43}, {1, 1}, {5000, 3000}};

/* Returns how many the chain accepts. */
static size_t plan_pictures(struct walk *walk, const struct chain *chain, size_t n_sizes)
{
    size_t count = 0;
    for (size_t size = 0; size < n_sizes; size++) {
        struct frame taken = {0};
        struct plane plane = {.width = sizes[size][0], .height = sizes[size][1]};
        for (plane.channels = 1; plane.channels <= PLANE_CHANNELS_MAX; plane.channels++)
            plan_types(walk, chain, plane, &taken);
        if (taken.n_planes > 1)
            plan_one(walk, chain, &taken);
        count += taken.n_planes;
        frame_finish(&taken);
    }
    return count;
}

/* Plans the chain for a small picture of the first type that it accepts, so that walk->out has the
 * frame that it gives. False if it accepts none. */
static bool plan_sample(struct walk *walk, const struct chain *chain)
{
    bool planned = false;
    for (int type = 0; type < SAMPLE_TYPES && !planned; type++) {
        struct frame frame = {0};
        struct plane plane = {
            .width = 61, .height = 43, .channels = 1, .type = (enum sample_type)type};
        add_plane(walk, &frame, &plane);
        planned = !walk->failed && plan_one(walk, chain, &frame);
        frame_finish(&frame);
    }
    return planned;
}

/* The chain's planes as one mosaic, also of other types, as stages behind it may make them, and of
 * pictures of every type; and that beside planes of every type. */
static void plan_mosaics(struct walk *walk, const struct chain *chain)
{
    const struct chain nothing = {0};
    struct frame frame = {0};
    walk->failed |= !frame_copy(&frame, &walk->out);
    walk->mosaic = true;
    plan_pictures(walk, chain, 1);
    for (int type = 0; type < SAMPLE_TYPES * SAMPLE_TYPES && !walk->failed; type++) {
        struct frame converted = {0};
        for (size_t p = 0; p < frame.n_planes; p++) {
            struct plane plane = frame.planes[p];
            plane.type = (enum sample_type)(type % SAMPLE_TYPES);
            walk->failed |= !frame_add_plane(&converted, &plane, FRAME_ALIGNMENT);
        }
        walk->failed |= !frame_copy_origins(&converted, &frame);
        for (size_t i = 0; i < converted.n_origins; i++)
            converted.origins[i].plane.type = (enum sample_type)(type / SAMPLE_TYPES);
        if (!walk->failed)
            plan_one(walk, &nothing, &converted);
        frame_finish(&converted);
    }
    for (int type = 0; type < SAMPLE_TYPES && !walk->failed; type++) {
        struct plane plane = {
            .width = 61, .height = 43, .channels = 1, .type = (enum sample_type)type};
        add_plane(walk, &frame, &plane);
    }
    if (!walk->failed)
        plan_one(walk, &nothing, &frame);
    walk->mosaic = false;
    frame_finish(&frame);
}

/* The chain's last stage for incomplete frames, as files may have them: one of the first or last two
 * planes alone of those that come to it, or all planes but that one. */
static void plan_partial(struct walk *walk, const struct chain *chain)
{
    const struct chain before = {chain->n_steps - 1, chain->steps, chain->definitions};
    const struct chain last = {1, chain->steps + before.n_steps, chain->definitions};
    struct frame all = {0};
    if (!plan_sample(walk, &before) || !frame_copy(&all, &walk->out))
        return;
    for (size_t k = 0; k < 2 * all.n_planes; k++) {
        struct frame some = {0};
        if (k / 2 >= 2 && k / 2 + 2 < all.n_planes)
            continue;
        for (size_t p = 0; p < all.n_planes; p++)
            if ((p == k / 2) == (k % 2 == 0))
                walk->failed |= !frame_add_plane(&some, &all.planes[p], FRAME_ALIGNMENT);
        plan_one(walk, &last, &some);
        frame_finish(&some);
    }
    frame_finish(&all);
}

/* False for a chain that nothing can be planned for. */
static bool walk_chain(struct walk *walk, const char *text)
{
    struct chain chain = {0};
    fault_clear(&walk->refused);
    bool planned = chain_parse_with(&chain, text, &walk->definitions, &walk->refused) == 0 &&
                   plan_pictures(walk, &chain, SIZES) > 0;
    if (planned) {
        walk->odd = true;
        plan_pictures(walk, &chain, 1);
        walk->odd = false;
        if (plan_sample(walk, &chain) && walk->out.n_origins > 0)
            plan_mosaics(walk, &chain);
        if (chain.steps[chain.n_steps - 1].stage->inverse)
            plan_partial(walk, &chain);
    }
    chain_finish(&chain);
    return planned;
}

/* Plans empty chains for outputs that want other types and channels, and for a result that has to be
 * copied to its place. */
static void walk_outputs(struct walk *walk)
{
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_U16};
    const struct chain nothing = {0};
    for (size_t type = 0; type < sizeof types / sizeof *types; type++)
        for (uint32_t channels = 1; channels <= PLANE_CHANNELS_MAX; channels++) {
            walk->target = (struct plane){.type = types[type], .channels = channels};
            plan_pictures(walk, &nothing, 2);
        }
    walk->target = (struct plane){0};
    walk->placed = true;
    for (int odd = 0; odd < 2; odd++) {
        walk->odd = odd;
        plan_pictures(walk, &nothing, 1);
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
            plan_one(walk, &chain, &frame);
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

int walk_plans(const struct device_profile *profile, walk_found *found, void *context,
               struct fault *fault)
{
    struct walk walk = {.profile = profile, .found = found, .context = context};
    int result = 0;
    struct definition_picture *grey = definitions_add_picture(&walk.definitions, "grey", "");
    walk.failed = !define_thirds(&walk.definitions) || !grey;
    if (grey)
        grey->plane.channels = 2;
    for (const struct stage *const *s = stage_registry; *s && !walk.failed && result == 0; s++) {
        const char *const name[] = {(*s)->internal ? NULL : (*s)->name, NULL};
        for (const char *const *c = (*s)->chains ? (*s)->chains : name; *c && result == 0; c++)
            if (!walk_chain(&walk, *c))
                result = fault_set(fault, FAULT_CHAIN, "%s cannot be planned: %s", *c,
                                   walk.refused.text);
    }
    walk_outputs(&walk);
    walk_video(&walk);
    frame_finish(&walk.out);
    definitions_finish(&walk.definitions);
    return walk.failed ? fault_set(fault, FAULT_MEMORY, "out of memory") : result;
}
