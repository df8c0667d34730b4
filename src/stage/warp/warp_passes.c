/* What warp and rotate plan, and the parameters that they share. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stage/move/move.h"
#include "stage/warp/warp.h"

#define TYPES      (1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32)
#define SIDE_MAX   1000000
#define TILE       128 /* columns and rows of a work-item's tile on CPUs, so that what it reads */
#define TILE_ROWS  32  /* stays in the nearest cache, however the picture turns */
#define BACKGROUND PLANE_CHANNELS_MAX /* values in front of each plane's nodes */
#define WORDS_MAX  (15 << 20)         /* of all nodes, which two gigapixels come near to */

const struct param_choice warp_filter_choices[] = {
    {"bilinear", WARP_BILINEAR},
    {"cubic", WARP_CUBIC},
    {NULL, 0},
};

const struct warp_stage *warp_stage_of(const void *config)
{
    static const struct warp_stage stages[] = {
        [WARP_MATRIX] = {"warp", warp_find_map},
        [WARP_ROTATE] = {"rotate", rotate_find_map},
        [WARP_UNDISTORT] = {"undistort", undistort_find_map}};
    return &stages[((const struct warp_look *)config)->stage];
}

int warp_look_complete(struct warp_look *look, bool given_border, struct fault *fault)
{
    if (!given_border)
        look->border = MOVE_BACKGROUND;
    return stage_check_background(warp_stage_of(look)->name, &look->background, fault);
}

int warp_change(const void *config, struct plane *plane, struct fault *fault)
{
    const struct warp_look *look = config;
    const char *stage = warp_stage_of(config)->name;
    struct warp_map map;
    double background[PLANE_CHANNELS_MAX];
    uint32_t width, height;
    int result = stage_require_type(stage, plane->type, TYPES, fault);
    if (result == 0 && (plane->width > WARP_SIDE_MAX || plane->height > WARP_SIDE_MAX))
        result = fault_set(fault, FAULT_LIMIT,
                           "%s: %u×%u: it takes pictures of at most %d pixels a side", stage,
                           plane->width, plane->height, WARP_SIDE_MAX);
    if (result == 0)
        result = warp_stage_of(config)->find(config, plane, &map, &width, &height, fault);
    if (result == 0)
        result = stage_background(stage, &look->background, plane, background, fault);
    if (result != 0)
        return result;
    if (width > SIDE_MAX || height > SIDE_MAX || (uint64_t)width * height > INT_MAX)
        return fault_set(fault, FAULT_LIMIT,
                         "%s: %u×%u would become %u×%u; results have at most %d pixels a side, "
                         "and 2^31 in all",
                         stage, plane->width, plane->height, width, height, SIDE_MAX);
    plane->width = width;
    plane->height = height;
    return 0;
}

/* One plane's background, as kernels read it. */
static void fill_background(int32_t *table, const struct plane *plane, const double background[])
{
    for (uint32_t c = 0; c < PLANE_CHANNELS_MAX; c++) {
        float real = c < plane->channels ? (float)background[c] : 0;
        if (plane->type == SAMPLE_F32)
            memcpy(table + c, &real, sizeof real);
        else
            table[c] =
                c < plane->channels ? (int32_t)sample_saturate(plane->type, background[c]) : 0;
    }
}

/* What weights' sums with alpha are, what a comparison of vectors gives, a pixel, and, of one
 * channel of integers, all taps of a row. */
static void define_types(struct pass *pass, const struct plane *in, bool cubic)
{
    bool real = in->type == SAMPLE_F32;
    unsigned row = (cubic ? 4 : 2) * (unsigned)sample_size(in->type);
    pass_define(pass, "SHARE", real ? "float" : "long");
    pass_define(pass, "SUM", cubic ? "int" : "uint");
    pass_define(pass, "DIFFERENT", "%s", real ? "int" : in->type == SAMPLE_U8 ? "char" : "short");
    pass_define(pass, "PIXEL", "%s%s", pass_type_name(in->type),
                (const char *const[]){"", "2", "4", "4"}[in->channels - 1]);
    if (!real && in->channels == 1)
        pass_define(pass, "TAP_ROW", "%s", row == 2 ? "ushort" : row == 4 ? "uint" : "ulong");
}

static void add_plane(struct stage_plan *plan, unsigned i, const struct warp_look *look,
                      unsigned table, size_t at, const struct warp_grid *grid)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    bool rows = plan->profile->form == FORM_ROWS;
    uint32_t at_once = !rows && in->channels == 1 ? 4 : 1;
    struct pass *pass = rows ? pass_begin(plan, "warp", "", FORM_ROWS, TILE, out->width,
                                          (out->height + TILE_ROWS - 1) / TILE_ROWS)
                             : pass_begin(plan, "warp", "", FORM_SCALAR, 1,
                                          (out->width + at_once - 1) / at_once, out->height);
    pass_name(pass, look->filter == WARP_CUBIC ? "cubic" : "bilinear");
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, out->channels);
    pass_define(pass, "TAPS", "%d", look->filter == WARP_CUBIC ? 4 : 2);
    pass_define(pass, "AT_ONCE", "%u", at_once);
    pass_define(pass, "TILE_ROWS", "%d", TILE_ROWS);
    define_types(pass, in, look->filter == WARP_CUBIC);
    pass_name(pass, kernel_form_name(pass->form));
    pass->work = (look->filter == WARP_CUBIC ? 150.0 : 60.0) * in->channels *
                 (rows ? TILE_ROWS : (int)at_once);
    pass_planes(pass, plan, i);
    pass_ints(pass, in->width, in->height, out->width, out->height);
    pass_buffer(pass, table);
    pass_ints(pass, at, grid->columns, grid->shift, look->border);
}

int warp_passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    const struct warp_look *look = config;
    const struct warp_stage *stage = warp_stage_of(config);
    struct part {
        struct warp_grid grid;
        struct warp_map map;
        size_t at; /* of its words in the table */
    };
    size_t n = plan->in->n_planes, size = 0;
    struct part *parts = calloc(n, sizeof *parts);
    int32_t *table = NULL;
    for (size_t i = 0; i < n && parts && size <= WORDS_MAX; i++) {
        const struct plane *in = &plan->in->planes[i];
        struct part *part = &parts[i];
        uint32_t width, height;
        part->at = size;
        stage->find(config, in, &part->map, &width, &height, NULL);
        size += BACKGROUND +
                warp_grid_choose(&part->grid, &part->map, width, height, in->width, in->height);
    }
    if (size <= WORDS_MAX && parts)
        table = malloc(size * sizeof *table);
    for (size_t i = 0; i < n && table; i++) {
        /* Of a gigapixel nodes are 32 MiB, so they are made where they stay. */
        double background[PLANE_CHANNELS_MAX];
        struct part *part = &parts[i];
        stage_background(stage->name, &look->background, &plan->in->planes[i], background, NULL);
        fill_background(table + part->at, &plan->in->planes[i], background);
        part->grid.nodes = table + part->at + BACKGROUND;
        warp_grid_fill(&part->grid, &part->map);
    }
    unsigned operand = table ? stage_plan_give(plan, table, size * sizeof *table) : 0;
    for (unsigned i = 0; i < n && table; i++)
        add_plane(plan, i, look, operand, parts[i].at, &parts[i].grid);
    free(parts);
    if (size > WORDS_MAX)
        return fault_set(fault, FAULT_LIMIT,
                         "%s: results of that size have more nodes than the %d MiB that they may "
                         "take; crop in front, or make the result smaller",
                         stage->name, WORDS_MAX >> 18);
    return table ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
}

/* The order in which f32 is summed is not part of the definition. */
const struct tolerance warp_floats = {1e-3, 1e-5};
