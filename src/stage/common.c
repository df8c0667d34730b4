#include "stage/common.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct param_choice stage_type_choices[] = {
    {"u8", SAMPLE_U8},   {"i8", SAMPLE_I8},   {"u16", SAMPLE_U16}, {"i16", SAMPLE_I16},
    {"i32", SAMPLE_I32}, {"f32", SAMPLE_F32}, {"f64", SAMPLE_F64}, {NULL, 0},
};

#define CHOICES_BUT_CROP                                                                           \
    {"edge", BORDER_EDGE}, {"replicate", BORDER_EDGE}, {"clamp", BORDER_EDGE},                     \
        {"reflect", BORDER_REFLECT}, {"reflect101", BORDER_REFLECT}, {"mirror", BORDER_REFLECT},   \
        {"symmetric", BORDER_SYMMETRIC}, {"wrap", BORDER_WRAP}, {"periodic", BORDER_WRAP},         \
        {"zero", BORDER_ZERO}, {"constant", BORDER_ZERO}

const struct param_choice stage_gravity_choices[] = {
    {"centre", GRAVITY_CENTRE},
    {"center", GRAVITY_CENTRE},
    {"north", GRAVITY_NORTH},
    {"northeast", GRAVITY_NORTHEAST},
    {"east", GRAVITY_EAST},
    {"southeast", GRAVITY_SOUTHEAST},
    {"south", GRAVITY_SOUTH},
    {"southwest", GRAVITY_SOUTHWEST},
    {"west", GRAVITY_WEST},
    {"northwest", GRAVITY_NORTHWEST},
    {NULL, 0},
};

const struct param_choice stage_border_choices[] = {
    CHOICES_BUT_CROP,
    {"crop", BORDER_CROP},
    {NULL, 0},
};
const struct param_choice stage_border_choices_but_crop[] = {
    CHOICES_BUT_CROP,
    {NULL, 0},
};

int stage_add_plane(struct frame *frame, const struct plane *plane, size_t alignment,
                    struct fault *fault)
{
    return frame_add_plane(frame, plane, alignment)
               ? 0
               : fault_set(fault, FAULT_MEMORY, "no memory for a frame");
}

bool stage_window_of_pixel(const void *config, struct stage_window *window)
{
    *window = (struct stage_window){.by_rows = true};
    return true;
}

int stage_require_type(const char *stage, enum sample_type type, unsigned types,
                       struct fault *fault)
{
    if (types & 1u << type)
        return 0;
    struct text list = {0};
    for (int t = 0; t < SAMPLE_TYPES; t++)
        if (types & 1u << t)
            text_printf(&list, "%s%s", list.length ? ", " : "", sample_name(t));
    /* The type for `convert` to make: the one that keeps most of the values. */
    const char *to = types & 1u << SAMPLE_F32 ? "f32" : types & 1u << SAMPLE_U16 ? "u16" : "u8";
    int result = fault_set(fault, FAULT_SHAPE,
                           "%s takes samples of type %s, not %s; put convert:type=%s in front",
                           stage, text_string(&list), sample_name(type), to);
    text_finish(&list);
    return result;
}

int stage_require_types(const char *stage, const struct frame *in, unsigned types,
                        struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; i++)
        result = stage_require_type(stage, in->planes[i].type, types, fault);
    return result;
}

int stage_check_background(const char *stage, const struct param_matrix *background,
                           struct fault *fault)
{
    if (background->columns <= PLANE_CHANNELS_MAX)
        return 0;
    return fault_set(fault, FAULT_CHAIN,
                     "%s: background has %u values: give one, or one for each channel", stage,
                     background->columns);
}

int stage_background(const char *stage, const struct param_matrix *background,
                     const struct plane *plane, double values[PLANE_CHANNELS_MAX],
                     struct fault *fault)
{
    unsigned count = background->columns;
    if (count != 1 && count != plane->channels)
        return fault_set(
            fault, FAULT_SHAPE,
            "%s: background has %u values, the picture %u channels: give one value, or "
            "one for each channel",
            stage, count, plane->channels);
    for (uint32_t c = 0; c < plane->channels; c++) {
        double v = background->v[count == 1 ? 0 : c];
        values[c] = sample_is_integer(plane->type) ? (double)sample_saturate(plane->type, v) : v;
    }
    return 0;
}

int stage_window_size(const char *stage, enum border border, uint32_t window_width,
                      uint32_t window_height, struct plane *plane, struct fault *fault)
{
    if (border != BORDER_CROP)
        return 0;
    if (plane->width < window_width || plane->height < window_height)
        return fault_set(fault, FAULT_SHAPE,
                         "%s:border=crop leaves nothing of a %u×%u picture: its window is %u×%u",
                         stage, plane->width, plane->height, window_width, window_height);
    plane->width -= window_width - 1;
    plane->height -= window_height - 1;
    return 0;
}

const struct stage *stage_find(const char *name, size_t length)
{
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (strlen((*s)->name) == length && memcmp((*s)->name, name, length) == 0)
            return *s;
    return NULL;
}

bool stage_is_per_pixel(const struct stage *stage, const void *config)
{
    return stage->pixel && (!stage->is_per_pixel || stage->is_per_pixel(config));
}

/* Planes of a tensor that stand below each other are no neighbours. */
static int check_layers(const struct stage *stage, const void *config, const struct frame *in,
                        struct fault *fault)
{
    for (size_t i = 0; i < in->n_planes; i++)
        if (in->planes[i].layers > 1 && !stage->internal && !stage_is_per_pixel(stage, config))
            return fault_set(
                fault, FAULT_SHAPE,
                "%s takes pixels whose channels lie beside each other: put it in front of "
                "convert:layout=chw",
                stage->name);
    return 0;
}

static int shape_of_plane(const struct stage *stage, const void *config, struct plane *plane,
                          struct fault *fault)
{
    struct pixel_function function = {0};
    struct stage_window w;
    int result = 0;
    if (stage_is_per_pixel(stage, config)) {
        result = stage->pixel(config, plane, &function, fault);
        plane->type = function.type;
        return result;
    }
    bool has_window = stage->window && stage->window(config, &w);
    for (uint32_t k = 0; has_window && k <= w.more && result == 0; k++)
        result = stage_window_size(stage->name, w.border, w.left + w.right + 1,
                                   w.top + w.bottom + 1, plane, fault);
    if (result == 0 && stage->change)
        result = stage->change(config, plane, fault);
    return result;
}

int stage_find_shape(const struct stage *stage, const void *config, const struct frame *in,
                     size_t alignment, struct frame *out, struct fault *fault)
{
    unsigned types = stage->types ? stage->types : STAGE_TYPES_BUT_F16;
    int result = stage_require_types(stage->name, in, types, fault);
    if (result == 0)
        result = check_layers(stage, config, in, fault);
    if (result == 0 && stage->shape && !stage_is_per_pixel(stage, config))
        return stage->shape(config, in, alignment, out, fault);
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        struct plane plane = in->planes[i];
        result = shape_of_plane(stage, config, &plane, fault);
        if (result == 0)
            result = stage_add_plane(out, &plane, alignment, fault);
    }
    return result;
}

/* Makes a pass for each plane, or none where every plane stays as it is. */
static int pixel_passes(const struct stage *stage, const void *config, struct stage_plan *plan,
                        struct fault *fault)
{
    size_t n = plan->in->n_planes;
    struct pixel_function *functions = calloc(n + 1, sizeof *functions);
    bool identity = true;
    int result = functions ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    for (size_t i = 0; i < n && result == 0; i++) {
        functions[i].needs.work = 4;
        functions[i].generic = plan->profile->generic;
        functions[i].plan = plan;
        result = stage->pixel(config, &plan->in->planes[i], &functions[i], fault);
        identity &= functions[i].identity;
    }
    for (size_t i = 0; i < n && result == 0 && !identity; i++)
        pass_pixel(plan, (unsigned)i, &functions[i]);
    free(functions);
    return result;
}

int stage_add_passes(const struct stage *stage, const void *config, struct stage_plan *plan,
                     struct fault *fault)
{
    return stage_is_per_pixel(stage, config) ? pixel_passes(stage, config, plan, fault)
                                             : stage->passes(config, plan, fault);
}

struct stage_reach stage_find_reach(const struct stage *stage, const void *config)
{
    struct stage_window w = {.by_rows = stage_is_per_pixel(stage, config)};
    if (!w.by_rows && !(stage->window && stage->window(config, &w) && w.by_rows))
        return (struct stage_reach){0};
    return (struct stage_reach){w.top + w.bottom + 1, w.border == BORDER_CROP ? 0 : w.top,
                                w.border};
}

int64_t stage_find_margin(const struct stage *stage, const void *config)
{
    struct stage_window w = {0};
    if (!stage_is_per_pixel(stage, config) && !(stage->window && stage->window(config, &w)))
        return -1;
    uint64_t x = w.left > w.right ? w.left : w.right, y = w.top > w.bottom ? w.top : w.bottom;
    x = (x > y ? x : y) * (w.more + 1);
    return w.border == BORDER_WRAP || w.border == BORDER_CROP ? -1 : (int64_t)x;
}

int stage_compute(const struct stage *stage, const void *config, const struct picture *in,
                  struct picture *out, struct fault *fault)
{
    if (stage->reference)
        return stage->reference(config, in, out, fault);
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        struct stage_place p = {in, i, &in->frame.planes[i], &out->frame.planes[i], {0}};
        while (plane_each(p.to, &p.at)) {
            double v = stage->at ? stage->at(config, &p) : picture_at(in, i, &p.at);
            if (stage->sample && !p.at.alpha)
                v = stage->sample(config, p.from, v);
            picture_set(out, i, &p.at, v);
        }
    }
    return 0;
}

double stage_channel(const struct stage_place *place, uint32_t channel)
{
    return picture_sample(place->in, place->plane, place->at.x, place->at.y, channel, BORDER_EDGE);
}

int stage_compute_new(const struct stage *stage, const void *config, const struct picture *in,
                      struct picture *out, struct fault *fault)
{
    struct frame frame = {0};
    int result = stage_find_shape(stage, config, &in->frame, FRAME_ALIGNMENT, &frame, fault);
    if (result == 0 && !picture_create(out, &frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    frame_finish(&frame);
    return result != 0 ? result : stage_compute(stage, config, in, out, fault);
}

struct tolerance stage_tolerance(const struct stage *stage, const void *config, enum sample_type in,
                                 enum sample_type out)
{
    if (stage->tolerance)
        return stage->tolerance(config, in, out);
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    return stage->floats ? *stage->floats : (struct tolerance){1e-6, 1e-5};
}

void stage_set_rows(struct pass *pass, uint32_t band, const struct stage_window *window,
                    uint64_t item)
{
    bool crop = window->border == BORDER_CROP;
    pass_set_rows(pass, band, crop ? 0 : (int32_t)window->top,
                  (int32_t)(window->bottom + (crop ? window->top : 0)), window->border, item);
}

int stage_border(enum border border)
{
    return border == BORDER_CROP ? BORDER_EDGE : (int)border;
}
