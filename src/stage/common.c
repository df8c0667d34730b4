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

const struct param_choice stage_border_choices[] = {
    CHOICES_BUT_CROP,
    {"crop", BORDER_CROP},
    {NULL, 0},
};
const struct param_choice stage_border_choices_but_crop[] = {
    CHOICES_BUT_CROP,
    {NULL, 0},
};

int stage_shape_each(const struct frame *in, size_t alignment, struct frame *out,
                     void (*change)(const void *config, struct plane *plane), const void *config,
                     struct fault *fault)
{
    for (size_t i = 0; i < in->n_planes; i++) {
        struct plane plane = in->planes[i];
        change(config, &plane);
        if (!frame_add_plane(out, &plane, alignment))
            return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    return 0;
}

static void keep(const void *config, struct plane *plane)
{
    (void)config;
    (void)plane;
}

int stage_shape_same(const void *config, const struct frame *in, size_t alignment,
                     struct frame *out, struct fault *fault)
{
    return stage_shape_each(in, alignment, out, keep, config, fault);
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

void reference_each_sample(const void *config, const struct picture *in, struct picture *out,
                           double (*function)(const void *config, enum sample_type type, double v),
                           bool keep_alpha)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *from = &in->frame.planes[i], *to = &out->frame.planes[i];
        bool alpha = keep_alpha && plane_has_alpha(from);
        for (uint32_t y = 0; y < from->height; y++) {
            const uint8_t *source = picture_row(in, i, y);
            uint8_t *target = picture_row(out, i, y);
            for (uint32_t x = 0; x < from->width * from->channels; x++) {
                double v = sample_load(from->type, source + x * sample_size(from->type));
                if (!alpha || x % from->channels != from->channels - 1)
                    v = function(config, from->type, v);
                sample_store(to->type, target + x * sample_size(to->type), v);
            }
        }
    }
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
        return fault_set(fault, FAULT_SHAPE,
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
