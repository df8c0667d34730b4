#include "stage/common.h"

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
    for (uint32_t c = 0; c < plane->channels; c++)
        values[c] = sample_limited(plane->type, background->v[count == 1 ? 0 : c]);
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

double stage_limited(enum sample_type type, double v)
{
    return sample_is_integer(type) ? (double)sample_saturate(type, v) : (double)(float)v;
}

double stage_channel(const struct stage_place *place, uint32_t channel)
{
    return picture_sample(place->in, place->plane, place->at.x, place->at.y, channel, BORDER_EDGE);
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
