/* equalize counts samples, makes a table from the counts, and looks samples up in it, all on the
 * device. For colours luma is counted and looked up, and its change is added to each channel. */
#include "stage/tone/tone.h"

#include "stage/common.h"
#include "stage/count.h"

/* On Mali whole words of bytes are looked up, and stored. */
static bool takes_words(const struct stage_plan *plan, unsigned index)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[index];
    return plan->profile->takes_columns && in->type == SAMPLE_U8 && pass_is_aligned(in) &&
           pass_is_aligned(out);
}

static void add_colours(struct stage_plan *plan, unsigned index, unsigned state)
{
    const struct plane *plane = &plan->in->planes[index];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    bool fours = takes_words(plan, index);
    struct pass *pass =
        pass_begin(plan, "equalize", "colours", form, fours ? 4 : 0, plane->width, plane->height);
    if (fours)
        pass_define(pass, "KERNEL_fours", "1");
    pass_define_type(pass, "SRC", plane->type);
    pass_channels(pass, plane->channels, plane->channels);
    pass_name(pass, kernel_form_name(form));
    pass->work = 20;
    pass_planes(pass, plan, index);
    pass_buffer(pass, state);
}

/* A table of all pairs of bytes, whose look-ups are half as many. It is worth making for planes of
 * many samples. */
enum {
    PAIRS = 65536,
    PAIRS_FROM = 16 * PAIRS
};

static bool takes_pairs(const struct stage_plan *plan, unsigned index)
{
    const struct plane *plane = &plan->in->planes[index];
    return takes_words(plan, index) && plane->channels == 1 &&
           (uint64_t)plane->width * plane->height >= PAIRS_FROM;
}

static void add_pairs(struct stage_plan *plan, unsigned index, unsigned state, uint32_t joined_at)
{
    const struct plane *plane = &plan->in->planes[index];
    struct pass *join = pass_begin(plan, "equalize", "join", FORM_SCALAR, 8, 256, 256);
    join->work = 4;
    join->bytes_written = PAIRS * sizeof(uint16_t);
    pass_name(join, "u8");
    pass_buffer(join, state);
    pass_int(join, (int32_t)joined_at);
    struct pass *pass =
        pass_begin(plan, "equalize", "pairs", FORM_SCALAR, 16, plane->width, plane->height);
    pass->work = 4;
    pass_name(pass, "u8");
    pass_planes(pass, plan, index);
    pass_buffer(pass, state);
    pass_int(pass, (int32_t)joined_at);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct scratch state = count_state(plan, true, 4096);
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        struct count count;
        count_plane(plan, plane, plane->channels > 2, 4096, &count);
        count_add(plan, i, state.operand, &count);
        struct pass *spread =
            count_pass(plan, "histogram", "spread", plane, state.operand, &count, count.bins / 256);
        spread->work = 256 * 20;
        if (plane->channels > 2) {
            add_colours(plan, i, state.operand);
            continue;
        }
        if (takes_pairs(plan, i)) {
            uint64_t joined_at = (count_bytes(&count) + 15) / 16 * 4;
            stage_plan_memory(plan, &state, sizeof(int32_t) * joined_at + PAIRS * sizeof(uint16_t));
            add_pairs(plan, i, state.operand, (uint32_t)joined_at);
            continue;
        }
        struct pixel_function function = {
            .type = plane->type, .keep_alpha = true, .wide = true, .needs.work = 8};
        pass_table(&function.needs, state.operand);
        pass_pixel(plan, i, &function);
    }
    return 0;
}

const struct stage stage_equalize = {
    .name = "equalize",
    .summary = "tones spread so that all are as frequent as each other, as far as they can be",
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16,
    .passes = passes,
    .reference = equalize_reference,
};
