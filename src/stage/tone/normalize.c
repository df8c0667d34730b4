/* normalize counts samples, finds black and white, and spreads the values between them, all on the
 * device: nothing is read back. */
#include "stage/tone/tone.h"

#include "base/ratio.h"
#include "stage/common.h"
#include "stage/count.h"

static const struct param params[] = {
    PARAM(REAL, "clip", offsetof(struct normalize_config, clip),
          "share of all samples that may lie below black, and as many above white", RANGE(0, 1),
          DEFAULT("0.005")),
    {0},
};

int32_t normalize_share(const struct normalize_config *config, const struct plane *plane)
{
    struct ratio clip = ratio_from_real(config->clip);
    uint64_t colours = plane->channels - (plane_has_alpha(plane) ? 1 : 0);
    uint64_t samples = (uint64_t)plane->width * plane->height * colours;
    __extension__ typedef unsigned __int128 wide;
    return (int32_t)((wide)samples * (uint64_t)clip.p / (uint64_t)clip.q);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    unsigned state = count_state(plan, false, NORMALIZE_BINS).operand;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        struct count count;
        count_plane(plan, plane, false, NORMALIZE_BINS, &count);
        count_add(plan, i, state, &count);
        struct pass *limits = count_pass(plan, "histogram", "limits", plane, state, &count, 1);
        limits->work = 4096;
        pass_int(limits, normalize_share(config, plane));
        struct pixel_function function = {
            .type = plane->type, .keep_alpha = true, .needs.work = 20};
        if (plane->type == SAMPLE_F32)
            pass_kernel(&function.needs, "float");
        pass_table(&function.needs, state);
        pass_float(&function.needs, (float)plane_white(plane));
        pass_pixel(plan, i, &function);
    }
    return 0;
}

const struct stage stage_normalize = {
    .name = "normalize",
    .summary = "tones spread so that the darkest become black and the lightest white",
    .params = params,
    .config_size = sizeof(struct normalize_config),
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32,
    .passes = passes,
    .reference = normalize_reference,
};
