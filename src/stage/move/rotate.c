#include "stage/move/move.h"

#include "stage/common.h"

static const struct param_choice angle_choices[] = {
    {"90", 90},
    {"180", 180},
    {"270", 270},
    {NULL, 0},
};

static const struct param params[] = {
    PARAM(CHOICE, "angle", offsetof(struct rotate_config, angle), "degrees, clockwise",
          .choices = angle_choices, .required = true),
    {0},
};

static void turn(const void *config_, struct plane *plane)
{
    const struct rotate_config *config = config_;
    uint32_t width = plane->width;
    if (config->angle == 180)
        return;
    plane->width = plane->height;
    plane->height = width;
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    return stage_shape_each(in, alignment, out, turn, config, fault);
}

/* Adds a quarter turn, in squares if a pixel is a single unit: on CPUs squares of 16 bytes a side,
 * in blocks whose rows in both planes fit the caches; on GPUs, if planes are aligned, squares of 4
 * units, one for each work-item. For bytes, 8 a side are faster, but on Mali they do not fit into
 * registers. */
static void add_quarter(struct stage_plan *plan, unsigned i, int angle)
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
    pass_define(pass, "N", "%u", square);
    pass_define(pass, "BLOCK", "%u", block);
    if (form == FORM_SCALAR) /* so that a work-group covers equally many of both */
        pass->group[0] = pass->group[1] = 8;
    pass->work *= block;
    pass_ints(pass, in.plane.width, in.plane.height, angle == 90);
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct rotate_config *config = config_;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        if (config->angle != 180) {
            add_quarter(plan, i, config->angle);
            continue;
        }
        struct move move = {.in = {OPERAND_IN, plan->in->planes[i]},
                            .out = {OPERAND_OUT, plan->out->planes[i]},
                            .mirror_x = true,
                            .mirror_y = true};
        move_add(plan, &move);
    }
    return 0;
}

static const char *const chains[] = {
    "rotate:angle=90",
    NULL,
};

const struct stage stage_rotate = {
    .name = "rotate",
    .chains = chains,
    .summary = "the picture turned clockwise by a quarter, a half or three quarters",
    .params = params,
    .config_size = sizeof(struct rotate_config),
    .types = STAGE_TYPES_ALL,
    .shape = shape,
    .passes = passes,
    .reference = rotate_reference,
    .bench = "rotate:90",
};
