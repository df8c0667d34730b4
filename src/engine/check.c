#include "engine/engine_internal.h"

#include <string.h>

#include "base/log.h"
#include "chain/reference.h"
#include "chain/source.h"

/* Fills the picture with noise: all values, no symmetry. Floats go from 0 to 1, as in pictures. */
static void fill(struct picture *picture)
{
    uint32_t state = 12345;
    bool is_float = picture->frame.planes[0].type == SAMPLE_F32;
    for (size_t i = 0; i + 4 <= picture->frame.size; i += is_float ? 4 : 1) {
        state = state * 1664525 + 1013904223;
        float value = (float)(state >> 8) / (float)(1 << 24);
        if (is_float)
            memcpy(picture->data + i, &value, sizeof value);
        else
            picture->data[i] = (uint8_t)(state >> 24);
    }
}

/* `expected` NULL: any result will do. */
static int run_on_device(const struct plan *plan, struct device *device,
                         const struct check_how *how, const struct picture *picture,
                         const struct picture *expected, struct fault *fault)
{
    struct recording *recording = NULL;
    struct recording_run run = {0};
    struct device_buffer *buffer = NULL;
    struct fault store = FAULT_INIT;
    void *data;
    int result = recording_create_as(&recording, plan, device, how->use, fault);
    if (result == 0)
        result = device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, fault);
    if (result == 0)
        result = device_buffer_map(device, buffer, picture->frame.size, &data, fault);
    if (result == 0) {
        memcpy(data, picture->data, picture->frame.size);
        result = recording_run(recording, &buffer, 1, &run, fault);
    }
    if (result == 0 && expected) {
        struct picture got[CHAIN_RESULTS_MAX];
        for (size_t i = 0; i < plan->n_results; i++)
            got[i] = (struct picture){*plan->results[i].frame,
                                      (uint8_t *)recording_result(recording, &run, i)};
        result = reference_verify(plan, picture, expected, got, &(double){0}, fault);
    }
    if (result == 0 && recording_store(recording, &store) != 0)
        log_warning("program not kept: %s", store.text);
    if (recording)
        recording_run_finish(recording, &run);
    device_buffer_release(device, &buffer);
    recording_destroy(&recording);
    return result;
}

static int compare(const struct plan *plan, struct device *device, const struct check_how *how,
                   bool known, struct fault *fault)
{
    struct picture picture = {0}, expected[CHAIN_RESULTS_MAX] = {0};
    if (!picture_create(&picture, &plan->in))
        return fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    fill(&picture);
    int result = known ? 0 : reference_run(plan, &picture, expected, fault);
    if (result == 0)
        result = run_on_device(plan, device, how, &picture, known ? NULL : expected, fault);
    for (size_t i = 0; i < plan->n_results; i++)
        picture_destroy(&expected[i]);
    picture_destroy(&picture);
    return result;
}

/* Prints everything that the result of a check depends on. device_knows adds the device. */
static bool print_fact(const struct plan *plan, const struct chain *chain,
                       const struct format *formats, struct text *fact)
{
    struct program_source source;
    if (program_source_create(&source, plan, NULL) != 0)
        return false;
    text_append(fact, "agrees with the reference: ");
    chain_print(chain, fact);
    for (size_t i = 0; i < plan->n_results; i++)
        text_printf(fact, " %s", formats ? formats[i].codec->name : "");
    for (size_t i = 0; i < plan->in.n_planes; i++) {
        const struct plane *in = &plan->in.planes[i];
        text_printf(fact, " %ux%ux%u %s", in->width, in->height, in->channels,
                    sample_name(in->type));
    }
    text_append(fact, "\n");
    text_append(fact, text_string(&source.text));
    program_source_finish(&source);
    return !fact->failed;
}

static int plan_for(struct plan **plan, const struct chain *chain, const struct format *formats,
                    const struct frame *in, const struct device *device,
                    const struct check_how *how, struct fault *fault)
{
    struct plan_target targets[CHAIN_RESULTS_MAX];
    struct plan_options options = {.profile = how->generic ? device_generic_profile(device)
                                                           : device_profile(device),
                                   .targets = targets_of(chain, formats, targets)};
    return plan_create(plan, chain, in, &options, fault);
}

/* Finds the first stage after which device and reference differ. The first steps of a tree are a
 * tree, too. */
static const char *blame(struct device *device, const struct check_how *how,
                         const struct chain *chain, const struct frame *in)
{
    for (size_t n = 1; n < chain->n_steps; n++) {
        struct chain beginning = {n, chain->steps, chain->definitions, 1, (size_t[]){n}};
        struct fault fault = FAULT_INIT;
        struct plan *plan = NULL;
        if (plan_for(&plan, &beginning, NULL, in, device, how, &fault) == 0)
            compare(plan, device, how, false, &fault);
        plan_destroy(&plan);
        if (fault.code == FAULT_VERIFY)
            return chain->steps[n - 1].stage->name;
    }
    return chain->steps[chain->n_steps - 1].stage->name;
}

static bool is_large(const struct plan *plan)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct frame *frame = &plan->steps[i].out;
        for (size_t p = 0; p < frame->n_planes; p++)
            samples += (uint64_t)frame->planes[p].width * frame->planes[p].height *
                       frame->planes[p].channels;
    }
    return samples > CHECK_SAMPLES;
}

int check_chain(struct device *device, const struct check_how *how, const struct chain *chain,
                const struct format *formats, const struct frame *in, struct fault *fault)
{
    struct plan *plan = NULL;
    struct text fact = {0};
    struct fault why = FAULT_INIT;
    int result = plan_for(&plan, chain, formats, in, device, how, fault);
    if (result != 0)
        return result;
    if (is_large(plan)) {
        plan_destroy(&plan);
        return 0;
    }
    bool printed = !how->trusted && print_fact(plan, chain, formats, &fact);
    bool known = how->trusted || (printed && device_knows(device, text_string(&fact)));
    /* Where results are known to agree, kernels run only in order to be loaded, for which one size
     * is enough. */
    if (!known || in->planes[0].width * in->planes[0].height >= 1000)
        result = compare(plan, device, how, known, &why);
    if (result == 0 && printed && !known)
        device_learn(device, text_string(&fact));
    plan_destroy(&plan);
    text_finish(&fact);
    if (result == FAULT_VERIFY && chain->n_steps > 0)
        return fault_set(fault, FAULT_VERIFY, "stage %s: %s", blame(device, how, chain, in),
                         why.text);
    return result ? fault_set(fault, why.code, "%s", why.text) : 0;
}

int check_compile(struct device *device, const struct check_how *how, const struct chain *chain,
                  const struct format *formats, const struct frame *in, struct fault *fault)
{
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    int result = plan_for(&plan, chain, formats, in, device, how, fault);
    if (result == 0)
        result = recording_create_as(&recording, plan, device, how->use, fault);
    recording_destroy(&recording);
    plan_destroy(&plan);
    return result;
}

int check_colour(struct device *device, const struct check_how *how, const struct chain *chain,
                 struct fault *fault)
{
    struct plane plane = {.width = 61, .height = 43, .channels = 3, .type = SAMPLE_U8};
    struct frame frame = {0};
    struct fault why = FAULT_INIT;
    if (!frame_add_plane(&frame, &plane, FRAME_ALIGNMENT))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    int result = check_chain(device, how, chain, NULL, &frame, &why);
    frame_finish(&frame);
    if (result == 0 || result == FAULT_SHAPE)
        return 0;
    return fault_set(fault, why.code, "%s", why.text);
}
