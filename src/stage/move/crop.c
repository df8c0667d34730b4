/* crop copies nothing if later kernels can read the rectangle in place: on CPUs, and on GPUs if the
 * rectangle's rows begin where vectors may. */
#include "stage/move/move.h"

#include <inttypes.h>

#include "stage/common.h"

static const struct param params[] = {
    PARAM(INTEGER, "x", offsetof(struct crop_config, x),
          "of the rectangle's left edge, in pixels from the picture's; 0 unless given",
          RANGE(INT32_MIN, INT32_MAX)),
    PARAM(INTEGER, "y", offsetof(struct crop_config, y), "of its upper edge; 0 unless given",
          RANGE(INT32_MIN, INT32_MAX)),
    PARAM(INTEGER, "w", offsetof(struct crop_config, w), "its width in pixels", RANGE(1, INT32_MAX),
          .required = true),
    PARAM(INTEGER, "h", offsetof(struct crop_config, h), "its height in pixels",
          RANGE(1, INT32_MAX), .required = true),
    PARAM(CHOICE, "gravity", offsetof(struct crop_config, gravity),
          "in place of x and y: the middle, an edge or a corner of the picture that it lies at",
          .choices = stage_gravity_choices),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct crop_config *config = config_;
    const param_given x = param_bit(params, "x"), y = param_bit(params, "y");
    bool gravity = *given & param_bit(params, "gravity");
    if (*given & (x | y) && gravity)
        return fault_set(fault, FAULT_CHAIN, "crop: give either gravity or %s, not both",
                         *given & x ? "x" : "y");
    if (!gravity) {
        config->gravity = CROP_AT;
        *given |= x | y;
    }
    return 0;
}

int crop_place(const struct crop_config *config, const struct plane *plane, uint32_t *x,
               uint32_t *y, struct fault *fault)
{
    int64_t right = plane->width - config->w, bottom = plane->height - config->h;
    int64_t left = config->x, top = config->y;
    if (config->gravity != CROP_AT) {
        left = (config->gravity % 3) * right / 2;
        top = (config->gravity / 3) * bottom / 2;
    }
    if (left < 0 || top < 0 || left > right || top > bottom)
        return fault_set(fault, FAULT_SHAPE,
                         "crop: %" PRId64 "×%" PRId64 " at x=%" PRId64 ", y=%" PRId64
                         " reaches outside of the picture, which is %u×%u",
                         config->w, config->h, left, top, plane->width, plane->height);
    *x = (uint32_t)left;
    *y = (uint32_t)top;
    return 0;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct crop_config *config = config_;
    uint32_t x, y;
    int result = crop_place(config, plane, &x, &y, fault);
    plane->width = (uint32_t)config->w;
    plane->height = (uint32_t)config->h;
    return result;
}

/* The rectangle as a plane in the memory of the input. */
static struct plane view_of(const struct crop_config *config, const struct plane *in)
{
    struct plane view = *in;
    uint32_t x = 0, y = 0;
    crop_place(config, in, &x, &y, NULL);
    view.width = (uint32_t)config->w;
    view.height = (uint32_t)config->h;
    view.offset += y * in->stride + (size_t)x * in->channels * sample_size(in->type);
    return view;
}

static void view(const void *config, const struct frame *in, struct frame *out)
{
    for (size_t i = 0; i < in->n_planes; i++)
        out->planes[i].offset = view_of(config, &in->planes[i]).offset;
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    bool fits = true;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct plane view = view_of(config, &plan->in->planes[i]);
        fits &= plan->profile->form == FORM_ROWS || pass_is_aligned(&view);
    }
    for (unsigned i = 0; i < plan->in->n_planes && !fits; i++) {
        const struct view view = {OPERAND_IN, view_of(config, &plan->in->planes[i])};
        move_add(plan, i, &(struct move){.from = &view});
    }
    return 0;
}

const struct stage stage_crop = {
    .name = "crop",
    .chains = (const char *const[]){"crop:w=1:h=1", NULL},
    .summary = "a rectangle of the picture",
    .params = params,
    .config_size = sizeof(struct crop_config),
    .complete = complete,
    .types = STAGE_TYPES_ALL,
    .change = change,
    .passes = passes,
    .view = view,
    .reference = crop_reference,
    .bench = "crop:1:1:8:8,invert",
};
