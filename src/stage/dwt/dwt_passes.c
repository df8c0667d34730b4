#include "stage/dwt/dwt_internal.h"

#include "stage/dwt/dwt_level.h"

/* The place of a band; for a band that does not exist that of LL, which the kernel then leaves
 * alone. */
static struct dwt_place band_place(const struct dwt_level *level, enum dwt_band band,
                                   unsigned operand, unsigned first, struct dwt_place low)
{
    if (level->plane[band] < 0)
        return low;
    return (struct dwt_place){operand, first + (unsigned)level->plane[band]};
}

/* Level `i` of a layout whose planes are in `operand`, from `first` on. */
static struct dwt_task task_of(const struct dwt_config *config, struct stage_plan *plan,
                               struct dwt_scratch *scratch, const struct dwt_layout *layout,
                               unsigned i, unsigned operand, unsigned first)
{
    const struct dwt_level *level = &layout->levels[i];
    struct dwt_place low = {scratch->low[(i + 1) % 2], 0};
    struct dwt_task task = {config, plan, scratch, layout, level, {low}};
    for (int b = 0; b < DWT_BANDS; b++)
        task.bands[b] = band_place(level, (enum dwt_band)b, operand, first, low);
    return task;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout)
{
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        uint32_t width = l->width * layout->channels, height = l->low_height + l->high_height;
        scratch->mid_width = larger(scratch->mid_width, width);
        scratch->mid_height = larger(scratch->mid_height, height);
        if (i > 0) {
            scratch->low_width[i % 2] = larger(scratch->low_width[i % 2], width);
            scratch->low_height[i % 2] = larger(scratch->low_height[i % 2], l->height);
        }
    }
}

void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type)
{
    for (int i = 0; i < 2; i++)
        if (scratch->low_width[i] > 0)
            scratch->low[i] =
                stage_plan_scratch(plan, scratch->low_width[i], scratch->low_height[i], 1, type);
}

static void analysis_of_plane(const struct dwt_config *config, struct stage_plan *plan,
                              struct dwt_scratch *scratch, unsigned index, unsigned first)
{
    const struct plane *plane = &plan->in->planes[index];
    struct dwt_layout layout;
    dwt_layout_of(config, plane, &layout);
    struct dwt_analysis level = {
        .in = {OPERAND_IN, index}, .in_type = plane->type, .in_channels = plane->channels};
    for (unsigned i = 0; i < layout.n_levels; i++) {
        level.task = task_of(config, plan, scratch, &layout, i, OPERAND_OUT, first);
        dwt_add_analysis(&level);
        level.in = level.task.bands[DWT_LL];
        level.in_type = layout.type;
        level.in_channels = layout.channels;
    }
}

void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan)
{
    struct dwt_scratch scratch = {0};
    struct dwt_layout layout;
    unsigned first = 0;
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        dwt_layout_of(config, &plan->in->planes[i], &layout);
        dwt_scratch_reserve(&scratch, &layout);
    }
    dwt_scratch_add(&scratch, plan, dwt_band_type(config->precision));
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        dwt_layout_of(config, &plan->in->planes[i], &layout);
        analysis_of_plane(config, plan, &scratch, i, first);
        first += (unsigned)layout.n_planes;
    }
}

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          struct dwt_scratch *scratch, struct stage_plan *plan, unsigned out,
                          unsigned kept, double scale)
{
    for (unsigned i = layout->n_levels; i-- > kept;) {
        struct dwt_synthesis level = {.task =
                                          task_of(config, plan, scratch, layout, i, OPERAND_IN, 0),
                                      .out = {scratch->low[i % 2], 0},
                                      .out_type = layout->type,
                                      .scale = 1};
        if (i == kept) {
            level.out = (struct dwt_place){OPERAND_OUT, out};
            level.out_type = plan->out->planes[out].type;
            level.scale = scale;
        }
        dwt_add_synthesis(&level);
    }
}
