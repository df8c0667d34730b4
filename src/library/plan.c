/* Plans. The device's plan is made for the caller's layouts where it computes in the caller's
 * memory; otherwise for layouts of its own, between which and the caller's rows are copied. */
#include <stdlib.h>
#include <string.h>

#include "image/video.h"
#include "library/internal.h"

/* Plans without a device: what comes out, and the references' plan. */
static int plan_shapes(struct plan **plan, const struct sluice_chain *chain, const struct frame *in,
                       struct sluice_error *error)
{
    static const struct plan_options options = {0};
    struct fault fault = FAULT_INIT;
    int result = plan_create(plan, &chain->chain, in, &options, &fault);
    return result ? library_fail(error, &fault) : 0;
}

/* Copies a frame's planes, packed one behind the other. */
static bool lay_out(const struct frame *like, struct frame *frame)
{
    bool good = true;
    *frame = (struct frame){.video = like->video};
    for (size_t i = 0; i < like->n_planes && good; i++)
        good = frame_add_plane(frame, &like->planes[i], FRAME_ALIGNMENT);
    if (!good)
        frame_finish(frame);
    return good;
}

int sluice_chain_result(const struct sluice_chain *chain, const struct sluice_layout *in,
                        struct sluice_layout *out, struct sluice_error *error)
{
    struct frame frame, result_frame;
    struct plan *plan = NULL;
    int result = library_layout(in, &frame, error);
    if (result != 0)
        return result;
    result = plan_shapes(&plan, chain, &frame, error);
    if (result == 0 && !lay_out(plan->out, &result_frame))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    if (result == 0) {
        library_show(&result_frame, out);
        frame_finish(&result_frame);
    }
    plan_destroy(&plan);
    frame_finish(&frame);
    return result;
}

/* Reads where the caller wants the result, into a frame of the planes that come out. */
static int read_place(const struct sluice_layout *layout, const struct frame *planes,
                      struct frame *place, struct sluice_error *error)
{
    struct frame wanted;
    int result = library_layout(layout, &wanted, error);
    if (result != 0)
        return result;
    bool same = wanted.n_planes == planes->n_planes &&
                (wanted.video.format == VIDEO_NONE || video_is_picture(wanted.video.format));
    for (size_t i = 0; i < planes->n_planes && same; i++) {
        const struct plane *a = &wanted.planes[i], *b = &planes->planes[i];
        same = a->width == b->width && a->height == b->height && a->channels == b->channels &&
               a->type == b->type;
    }
    const struct plane *first = &planes->planes[0];
    if (!same)
        result = library_error(error, SLUICE_E_SHAPE,
                               "the result is %zu plane%s, the first of %u×%u pixels with %u "
                               "channels of %s, and the layout for it is another",
                               planes->n_planes, planes->n_planes == 1 ? "" : "s", first->width,
                               first->height, first->channels, sample_name(first->type));
    else if (!frame_copy(place, planes))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    for (size_t i = 0; i < wanted.n_planes && result == 0; i++) {
        place->planes[i].offset = wanted.planes[i].offset;
        place->planes[i].stride = wanted.planes[i].stride;
    }
    if (result == 0)
        place->size = wanted.size;
    frame_finish(&wanted);
    return result;
}

/* Finds out whether the result lies in the input's memory, by the processor's plan: it has no
 * passes where nothing has to be computed. */
static int find_view(struct sluice_plan *plan, struct sluice_error *error)
{
    struct plan_options options = {.profile = device_profile_by_name("native")};
    struct plan *found = NULL;
    int result = 0;
    if (plan_create(&found, &plan->chain->chain, &plan->in, &options, NULL) != 0)
        return 0; /* it is too large for the processor, or needs what that has not */
    if (plan_total_launches(found) == 0 && !frame_copy(&plan->view, found->out))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    plan_destroy(&found);
    return result;
}

/* Plans for the device, and makes ready what it needs. */
static int plan_on_device(struct sluice_plan *plan, struct sluice_error *error)
{
    struct device *device = plan->device->device;
    const struct device_profile *profile = device_profile(device);
    bool as_it_lies = profile->host_memory || (plan->flags & SLUICE_IMPORT_IN);
    bool to_its_place = profile->host_memory || plan->flags != 0;
    struct plan_options options = {
        .profile = profile, .keep_input = as_it_lies, .out = to_its_place ? &plan->out : NULL};
    struct frame in = plan->in;
    struct fault fault = FAULT_INIT;
    int result = 0;
    plan_destroy(&plan->plan);
    if (!as_it_lies && !lay_out(&plan->in, &in))
        return library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    result = plan_create(&plan->plan, &plan->chain->chain, &in, &options, &fault);
    if (result != 0)
        device_tell_fp64(profile, &fault);
    if (result == 0 && (to_its_place || plan_total_launches(plan->plan) > 0))
        result = recording_create(&plan->recording, plan->plan, device, &fault);
    if (!as_it_lies)
        frame_finish(&in);
    if (result == 0 && !plan->recording && plan->view.n_planes == 0)
        result = fault_set(&fault, FAULT_INTERNAL, "neither a kernel nor a view");
    return result ? library_fail(error, &fault) : 0;
}

int sluice_plan_create(struct sluice_plan **plan, struct sluice_chain *chain,
                       struct sluice_device *device, const struct sluice_layout *in,
                       const struct sluice_layout *out, unsigned flags, struct sluice_error *error)
{
    struct sluice_plan *made = calloc(1, sizeof *made);
    *plan = NULL;
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a plan");
    atomic_init(&made->users, 1);
    made->chain = sluice_chain_ref(chain);
    made->device = sluice_device_ref(device);
    made->flags = flags;
    library_log_for(device);
    int result = flags & ~(unsigned)(SLUICE_IMPORT_IN | SLUICE_IMPORT_OUT)
                     ? library_error(error, SLUICE_E_USAGE, "unknown flags of a plan: %u", flags)
                     : library_layout(in, &made->in, error);
    if (result == 0)
        result = plan_shapes(&made->plan, chain, &made->in, error);
    if (result == 0 && out)
        result = read_place(out, made->plan->out, &made->out, error);
    else if (result == 0 && !lay_out(made->plan->out, &made->out))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    if (result == 0)
        result = find_view(made, error);
    if (result == 0 && device->device)
        result = plan_on_device(made, error);
    library_log_for(NULL);
    made->in_bytes = made->in.size;
    made->out_bytes = made->out.size;
    if (result != 0)
        sluice_plan_unref(&made);
    *plan = made;
    return result;
}

struct sluice_plan *sluice_plan_ref(struct sluice_plan *plan)
{
    atomic_fetch_add(&plan->users, 1);
    return plan;
}

void sluice_plan_unref(struct sluice_plan **plan)
{
    struct sluice_plan *p = *plan;
    *plan = NULL;
    if (!p || atomic_fetch_sub(&p->users, 1) > 1)
        return;
    recording_destroy(&p->recording);
    plan_destroy(&p->plan);
    frame_finish(&p->in);
    frame_finish(&p->out);
    frame_finish(&p->view);
    sluice_chain_unref(&p->chain);
    sluice_device_unref(&p->device);
    free(p);
}

void sluice_plan_get_info(const struct sluice_plan *plan, struct sluice_plan_info *info)
{
    struct sluice_plan_info own = {.in_bytes = plan->in_bytes,
                                   .out_bytes = plan->out_bytes,
                                   .n_planes = (unsigned)plan->out.n_planes,
                                   .computes = plan->view.n_planes == 0};
    const struct plan *inner = plan->plan;
    if (inner->profile)
        own.n_launches = (unsigned)plan_total_launches(inner);
    for (unsigned i = 0; inner->profile && i < inner->n_slots; i++)
        if (!inner->profile->host_memory || (i != inner->in_slot && i != inner->out_slot))
            own.scratch += inner->slot_size[i];
    for (size_t i = 0; i < inner->n_steps && !own.warning; i++)
        own.warning = inner->steps[i].work.warning;
    library_give(info, &own, sizeof own);
}

int sluice_plan_result(const struct sluice_plan *plan, struct sluice_layout *out,
                       struct sluice_error *error)
{
    library_show(&plan->out, out);
    return 0;
}

int sluice_plan_view(const struct sluice_plan *plan, struct sluice_layout *out,
                     struct sluice_error *error)
{
    if (plan->view.n_planes == 0)
        return library_error(error, SLUICE_E_USAGE, "the plan computes its result");
    library_show(&plan->view, out);
    return 0;
}
