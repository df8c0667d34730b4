/* The bands of a transform: their sizes, names and places in a frame. */
#include <stdio.h>
#include <string.h>

#include "stage/dwt.h"
#include "stage/wavelet.h"

enum sample_type dwt_band_type(int precision)
{
    return precision == DWT_DOUBLE       ? SAMPLE_F64
           : precision == DWT_REVERSIBLE ? SAMPLE_I32
                                         : SAMPLE_F32;
}

void dwt_layout_of(const struct dwt_config *config, const struct plane *plane,
                   struct dwt_layout *layout)
{
    uint32_t width = plane->width, height = plane->height;
    *layout = (struct dwt_layout){.n_levels = (unsigned)config->levels,
                                  .channels = plane->channels - plane_has_alpha(plane),
                                  .type = dwt_band_type(config->precision)};
    for (unsigned i = 0; i < layout->n_levels; i++) {
        struct dwt_level *l = &layout->levels[i];
        l->width = width;
        l->height = height;
        wavelet_lengths(config->wavelet, config->mode, width, &l->low_width, &l->high_width);
        wavelet_lengths(config->wavelet, config->mode, height, &l->low_height, &l->high_height);
        width = l->low_width;
        height = l->low_height;
    }
    for (unsigned i = layout->n_levels; i-- > 0;) {
        struct dwt_level *l = &layout->levels[i];
        l->plane[DWT_LL] = i + 1 == layout->n_levels ? (int)layout->n_planes++ : -1;
        l->plane[DWT_HL] = l->high_width > 0 ? (int)layout->n_planes++ : -1;
        l->plane[DWT_LH] = l->high_height > 0 ? (int)layout->n_planes++ : -1;
        l->plane[DWT_HH] = l->high_width > 0 && l->high_height > 0 ? (int)layout->n_planes++ : -1;
    }
}

/* Plane `index` of the layout, without its place in memory. */
static void describe_plane(const struct dwt_layout *layout, const char *name, size_t index,
                           struct plane *plane)
{
    static const char *const bands[] = {"LL", "HL", "LH", "HH"};
    *plane = (struct plane){.channels = layout->channels, .type = layout->type};
    for (unsigned i = 0; i < layout->n_levels; i++) {
        const struct dwt_level *l = &layout->levels[i];
        for (int b = 0; b < DWT_BANDS; b++) {
            if (l->plane[b] != (int)index)
                continue;
            plane->width = b & DWT_HL ? l->high_width : l->low_width;
            plane->height = b & DWT_LH ? l->high_height : l->low_height;
            snprintf(plane->name, sizeof plane->name, "%.24s%s%s%u", name, name[0] ? "." : "",
                     bands[b], (i + 1) & 0xff);
        }
    }
}

bool dwt_add_planes(const struct dwt_layout *layout, const char *name, size_t alignment,
                    struct frame *out)
{
    for (size_t i = 0; i < layout->n_planes; i++) {
        struct plane plane;
        describe_plane(layout, name, i, &plane);
        if (!frame_add_plane(out, &plane, alignment))
            return false;
    }
    return true;
}

static int check_plane(const char *stage, const struct plane *is, const struct plane *expected,
                       struct fault *fault)
{
    if (strcmp(is->name, expected->name) == 0 && is->width == expected->width &&
        is->height == expected->height && is->channels == expected->channels &&
        is->type == expected->type)
        return 0;
    return fault_set(fault, FAULT_SHAPE,
                     "%s expects plane %s, %u×%u×%u %s, as dwt made it; there is %s, %u×%u×%u %s",
                     stage, expected->name, expected->width, expected->height, expected->channels,
                     sample_name(expected->type), is->name, is->width, is->height, is->channels,
                     sample_name(is->type));
}

int dwt_read_origin(const char *stage, const struct frame *frame, size_t index,
                    struct dwt_config *config, struct dwt_layout *layout, struct fault *fault)
{
    const struct frame_origin *o = &frame->origins[index];
    param_given given = 0;
    char what[80];
    if (strcmp(o->stage, "dwt") != 0)
        return fault_set(fault, FAULT_SHAPE, "%s takes what dwt made, not what %.24s did", stage,
                         o->stage);
    *config = (struct dwt_config){0};
    param_defaults(dwt_params, config);
    snprintf(what, sizeof what, "%s: the frame's dwt", stage);
    struct fault why = FAULT_INIT;
    const char *text = o->parameters + (o->parameters[0] == ':');
    if (param_parse(dwt_params, config, &given, text, strlen(text), 0, what, &why) != 0 ||
        dwt_complete(config, &given, &why) != 0)
        return fault_set(fault, FAULT_SHAPE, "%s", why.text);
    if (o->plane.width == 0 || o->plane.height == 0 || o->plane.channels == 0 ||
        o->plane.channels > PLANE_CHANNELS_MAX)
        return fault_set(fault, FAULT_SHAPE, "%s: the frame's dwt is of no picture", stage);
    dwt_layout_of(config, &o->plane, layout);
    if (o->count != layout->n_planes || o->first > frame->n_planes ||
        o->count > frame->n_planes - o->first)
        return fault_set(fault, FAULT_SHAPE, "%s: the frame has not all planes that dwt made",
                         stage);
    int result = 0;
    for (size_t i = 0; i < o->count && result == 0; i++) {
        struct plane expected;
        describe_plane(layout, o->plane.name, i, &expected);
        result = check_plane(stage, &frame->planes[o->first + i], &expected, fault);
    }
    return result;
}

int dwt_check_frame(const char *stage, const struct frame *frame, struct fault *fault)
{
    size_t next = 0;
    for (size_t i = 0; i < frame->n_origins; i++) {
        struct dwt_config config;
        struct dwt_layout layout;
        int result = dwt_read_origin(stage, frame, i, &config, &layout, fault);
        if (result != 0)
            return result;
        if (frame->origins[i].first != next ||
            strcmp(frame->origins[i].parameters, frame->origins[0].parameters) != 0)
            return fault_set(fault, FAULT_SHAPE, "%s takes the planes of one dwt, in order", stage);
        next += frame->origins[i].count;
    }
    if (next == 0 || next != frame->n_planes)
        return fault_set(fault, FAULT_SHAPE, "%s takes the planes that dwt makes; put dwt in front",
                         stage);
    return 0;
}

int dwt_check_device(const struct stage_plan *plan, int precision, struct fault *fault)
{
    if (precision != DWT_DOUBLE || plan->profile->has_fp64)
        return 0;
    return fault_set(fault, FAULT_NO_DEVICE,
                     "precision=double needs a device with fp64, which this one (%s) is not",
                     plan->profile->name);
}
