/* What is asked of any stage (stage/stage.h). */
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/stage.h"
#include "stage/window.h"

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

static bool find_window(const struct stage *stage, const void *config, struct stage_window *window)
{
    if (stage->small_window) {
        *window = small_window_of(stage, config);
        return true;
    }
    return stage->window && stage->window(config, window);
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
    bool has_window = find_window(stage, config, &w);
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
    unsigned types = stage->types          ? stage->types
                     : stage->small_window ? WINDOW_TYPES
                                           : STAGE_TYPES_BUT_F16;
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
    if (stage->small_window)
        return small_window_passes(stage, config, plan, fault);
    for (unsigned i = 0; i < plan->in->n_planes && stage->add; i++)
        stage->add(config, plan, i);
    if (stage->add)
        return 0;
    return stage_is_per_pixel(stage, config) ? pixel_passes(stage, config, plan, fault)
                                             : stage->passes(config, plan, fault);
}

struct stage_reach stage_find_reach(const struct stage *stage, const void *config)
{
    struct stage_window w = {.by_rows = stage_is_per_pixel(stage, config)};
    if (!w.by_rows && !(find_window(stage, config, &w) && w.by_rows))
        return (struct stage_reach){0};
    return (struct stage_reach){w.top + w.bottom + 1, w.border == BORDER_CROP ? 0 : w.top,
                                w.border};
}

int64_t stage_find_margin(const struct stage *stage, const void *config)
{
    struct stage_window w = {0};
    if (!stage_is_per_pixel(stage, config) && !find_window(stage, config, &w))
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
            double v = stage->small_window ? small_window_at(stage, config, &p)
                       : stage->at         ? stage->at(config, &p)
                                           : picture_at(in, i, &p.at);
            if (stage->sample && !p.at.alpha)
                v = stage->sample(config, p.from, v);
            picture_set(out, i, &p.at, v);
        }
    }
    return 0;
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
