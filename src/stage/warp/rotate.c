/* The stage rotate: by quarter turns pixels are moved; by other angles it is a warp. */
#include <math.h>
#include <string.h>

#include "stage/move/move.h"
#include "stage/warp/warp.h"

static const struct param params[] = {
    /* Words, so that these are among the angles that can be listed. */
    PARAM(REAL_OR_CHOICE, "angle", offsetof(struct rotate_config, angle), "degrees, clockwise",
          CHOICES({"90", 90}, {"180", 180}, {"270", 270}), RANGE(-3600, 3600), .required = true),
    PARAM(CHOICE, "size", offsetof(struct rotate_config, same),
          "whole: so large that all of the picture is in it; same: as the picture is",
          CHOICES({"whole", false}, {"same", true}), DEFAULT("whole")),
    WARP_LOOK_PARAMS(rotate_config),
    {0},
};

static double degrees(const struct rotate_config *config)
{
    double angle =
        config->angle.choice == PARAM_IS_NUMBER ? config->angle.value : config->angle.choice;
    angle = fmod(angle, 360);
    return angle < 0 ? angle + 360 : angle;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct rotate_config *config = config_;
    double quarters = degrees(config) / 90;
    config->quarters = quarters == floor(quarters) ? (int)quarters % 4 : -1;
    return warp_look_complete(&config->look, *given & param_bit(params, "border"), fault);
}

/* Whether pixels are moved only. */
static bool moves(const struct rotate_config *config)
{
    return config->quarters >= 0 && (!config->same || config->quarters % 2 == 0);
}

/* About the middle of the picture, which becomes that of the result. */
int rotate_find_map(const void *config_, const struct plane *plane, struct warp_map *map,
                    uint32_t *width, uint32_t *height, struct fault *fault)
{
    const struct rotate_config *config = config_;
    static const double exact[] = {0, 1, 0, -1};
    double angle = degrees(config) * (M_PI / 180), s = sin(angle), c = cos(angle);
    if (config->quarters >= 0) {
        s = exact[config->quarters];
        c = exact[(config->quarters + 1) % 4];
    }
    *width = plane->width;
    *height = plane->height;
    if (!config->same) { /* less what only rounding has added */
        *width = (uint32_t)ceil(plane->width * fabs(c) + plane->height * fabs(s) - 1e-6);
        *height = (uint32_t)ceil(plane->width * fabs(s) + plane->height * fabs(c) - 1e-6);
    }
    double x = (*width - 1.0) / 2, y = (*height - 1.0) / 2;
    double m[9] = {c,  s, (plane->width - 1.0) / 2 - c * x - s * y,
                   -s, c, (plane->height - 1.0) / 2 + s * x - c * y,
                   0,  0, 1};
    *map = (struct warp_map){0};
    memcpy(map->m, m, sizeof m);
    return 0;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct rotate_config *config = config_;
    uint32_t width = plane->width;
    if (!moves(config))
        return warp_change(config, plane, fault);
    if (config->quarters % 2 != 0) {
        plane->width = plane->height;
        plane->height = width;
    }
    return 0;
}

/* Adds a quarter turn, in squares if a pixel is a single unit: on CPUs squares of 16 bytes a side,
 * in blocks whose rows in both planes fit the caches; on GPUs, if planes are aligned, squares of 4
 * units, one for each work-item. For bytes, 8 a side are faster, but on Mali they do not fit into
 * registers. */
static void add_quarter(struct stage_plan *plan, unsigned i, bool clockwise)
{
    struct view in = {OPERAND_IN, plan->in->planes[i]};
    struct view out = {OPERAND_OUT, plan->out->planes[i]};
    uint32_t unit = move_unit(&in, &out);
    size_t pixel = in.plane.channels * sample_size(in.plane.type);
    bool whole = pixel == unit && unit < 8;
    enum kernel_form form = pass_form_for(plan->profile, &in.plane, &out.plane);
    uint32_t square = 1, block = 128;
    if (form == FORM_ROWS && whole)
        square = 16 / unit;
    if (form != FORM_ROWS) {
        if (form == FORM_VECTOR && whole)
            square = unit == 1 && plan->profile->packs_bytes ? 8 : 4;
        else if (form == FORM_VECTOR && pixel == 3)
            square = 4;
        form = FORM_SCALAR;
        block = square;
    }
    struct pass *pass = move_begin(plan, "rotate", form, block, &in, &out, out.plane.width,
                                   (in.plane.width + block - 1) / block);
    if (square > 1)
        pass_define(pass,
                    form == FORM_ROWS ? "KERNEL_tiles"
                    : pixel == 3      ? "KERNEL_threes"
                                      : "KERNEL_squares",
                    "1");
    pass_define(pass, "N", "%u", square);
    pass_define(pass, "BLOCK", "%u", block);
    if (form == FORM_SCALAR) /* so that a work-group covers equally many of both */
        pass->group[0] = pass->group[1] = 8;
    pass->work *= block;
    pass_ints(pass, in.plane.width, in.plane.height, clockwise);
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct rotate_config *config = config_;
    if (!moves(config))
        return warp_passes(config, plan, fault);
    for (unsigned i = 0; i < plan->in->n_planes && config->quarters > 0; i++)
        if (config->quarters == 2)
            move_add(plan, i, &(struct move){.mirror_x = true, .mirror_y = true});
        else
            add_quarter(plan, i, config->quarters == 1);
    return 0;
}

const struct stage stage_rotate = {
    .name = "rotate",
    .kind = WARP_ROTATE,
    .chains = (const char *const[]){"rotate:angle=90", NULL},
    .summary = "the picture turned clockwise, by any angle",
    .params = params,
    .config_size = sizeof(struct rotate_config),
    .complete = complete,
    .types = STAGE_TYPES_ALL,
    .change = change,
    .passes = passes,
    .reference = rotate_reference,
    .floats = &warp_floats,
    .bench = "rotate:90",
};
