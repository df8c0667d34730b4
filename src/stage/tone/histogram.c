#include "stage/tone/histogram.h"

/* Ints at the beginning of the state: what was found, and sums of 256 bins each. Then come the
 * counts, and a table of as many ints as bins. */
#define HEAD 16
#define SUMS 256

#define ITEMS 256 /* of a work-group that works together */

/* How a plane is divided for counting: on a CPU each work-item counts a band of rows; on a GPU, a
 * column of a band, or of bytes each work-group a band in local memory. Counts go to `parts`
 * histograms: on a CPU four for a band of bytes, so that stores do not wait for each other. */
struct cut {
    enum kernel_form form;
    bool local;
    uint32_t bins, rows, bands, parts;
};

/* Whether work-groups have local memory for a histogram of bytes for each 32 of their work-items.
 */
static bool works_together(const struct stage_plan *plan)
{
    return plan->profile->local_memory >= ITEMS / 32 * 256 * sizeof(int32_t);
}

static struct cut cut_plane(const struct stage_plan *plan, const struct plane *plane)
{
    bool on_cpu = plan->profile->form == FORM_ROWS;
    struct cut cut = {.form = on_cpu ? FORM_ROWS : FORM_SCALAR, .bins = 4096};
    if (plane->type != SAMPLE_F32)
        cut.bins = plane->type == SAMPLE_U8 ? 256 : 65536;
    cut.local = plane->type == SAMPLE_U8 && works_together(plan) && pass_is_aligned(plane);
    cut.rows = on_cpu ? (plane->height + 15) / 16 : cut.local ? 16 : 32;
    cut.bands = (plane->height + cut.rows - 1) / cut.rows;
    cut.parts = 65536 / cut.bins < 16 ? 65536 / cut.bins : 16;
    if (on_cpu)
        cut.parts = plane->type == SAMPLE_U8 ? 4 * cut.bands : cut.bands;
    if (cut.local)
        cut.parts = 1;
    return cut;
}

static uint64_t state_bytes(const struct cut *cut)
{
    return sizeof(int32_t) * (HEAD + SUMS + (cut->parts + 1) * (uint64_t)cut->bins);
}

unsigned histogram_state(struct stage_plan *plan)
{
    unsigned state = 0;
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        struct cut cut = cut_plane(plan, &plan->in->planes[i]);
        stage_plan_memory(plan, &state, state_bytes(&cut));
    }
    return state;
}

static struct pass *begin(struct stage_plan *plan, const char *part, enum kernel_form form,
                          const struct plane *plane, unsigned state, uint32_t grid_width,
                          uint32_t grid_height)
{
    struct pass *pass = pass_begin(plan, "histogram", part, form,
                                   form == FORM_ROWS ? PASS_WHOLE_ROW : 1, grid_width, grid_height);
    pass_define_type(pass, "SRC", plane->type);
    pass_name(pass, kernel_form_name(form));
    pass_buffer(pass, state);
    return pass;
}

/* A pass whose work-items work together, whose grid counts these. */
static struct pass *begin_together(struct stage_plan *plan, const char *part,
                                   const struct plane *plane, unsigned state, uint32_t groups,
                                   uint32_t grid_height)
{
    struct pass *pass = begin(plan, part, FORM_SCALAR, plane, state, groups * ITEMS, grid_height);
    pass->group[0] = ITEMS;
    pass->group[1] = 1;
    pass_define(pass, "ITEMS", "%d", ITEMS);
    pass_define(pass, "TOGETHER", "1");
    return pass;
}

struct pass *histogram_pass(struct stage_plan *plan, const char *part, const struct plane *plane,
                            unsigned state, uint32_t groups)
{
    if (works_together(plan))
        return begin_together(plan, part, plane, state, groups, 1);
    return begin(plan, part, FORM_SCALAR, plane, state, groups, 1);
}

/* Adds a pass over all samples, band by band. */
static void add_scan(struct stage_plan *plan, const char *part, const struct cut *cut,
                     unsigned index, unsigned state, bool luma)
{
    const struct plane *plane = &plan->in->planes[index];
    uint32_t width = plane->width * (luma ? 1 : plane->channels);
    struct pass *pass = cut->local
                            ? begin_together(plan, "tally", plane, state,
                                             (width + 16 * ITEMS - 1) / (16 * ITEMS), cut->bands)
                            : begin(plan, part, cut->form, plane, state, width, cut->bands);
    if (luma) {
        pass_define(pass, "LUMA", "%u", plane->channels);
        pass_name(pass, plane->channels == 3 ? "luma3" : "luma4");
    } else if (plane_has_alpha(plane)) {
        pass_define(pass, "ALPHA", "%u", plane->channels);
        pass_name(pass, plane->channels == 2 ? "c2" : "c4");
    }
    pass->work = 8.0 * cut->rows * (cut->local ? 16 : 1);
    pass->bytes_read = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_ints(pass, cut->rows, plane->height, cut->parts);
    if (cut->local)
        pass_int(pass, (int32_t)width);
}

void histogram_add(struct stage_plan *plan, unsigned index, unsigned state, bool luma)
{
    const struct plane *plane = &plan->in->planes[index];
    struct cut cut = cut_plane(plan, plane);
    struct pass *clear =
        begin(plan, "clear", cut.form, plane, state, HEAD + SUMS + 2 * cut.bins, cut.parts);
    clear->bytes_written = state_bytes(&cut);
    if (plane->type == SAMPLE_F32)
        add_scan(plan, "range", &cut, index, state, luma);
    add_scan(plan, "count", &cut, index, state, luma);
    /* A work-item for each bin adds up the parts. */
    struct pass *merge = begin(plan, "merge", FORM_SCALAR, plane, state, cut.bins, 1);
    merge->work = 2.0 * cut.parts;
    merge->bytes_read = state_bytes(&cut);
    pass_int(merge, (int32_t)cut.parts);
}
