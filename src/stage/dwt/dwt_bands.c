/* The bands of a transform: their sizes, names and places in a frame. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "stage/dwt/dwt.h"
#include "stage/dwt/wavelet.h"

enum sample_type dwt_band_type(int precision)
{
    return precision == DWT_DOUBLE       ? SAMPLE_F64
           : precision == DWT_REVERSIBLE ? SAMPLE_I32
                                         : SAMPLE_F32;
}

/* Samples of the two bands of a signal of n; one that is not taken apart is its low band. */
static void band_lengths(const struct dwt_config *config, bool stays, uint32_t n, uint32_t *low,
                         uint32_t *high)
{
    *low = n;
    *high = stays ? 0 : n;
    if (!stays && !config->stationary)
        wavelet_lengths(config->wavelet, config->mode, n, low, high);
}

void dwt_layout_of(const struct dwt_config *config, const struct plane *plane,
                   struct dwt_layout *layout)
{
    uint32_t width = plane->width, height = plane->height;
    *layout = (struct dwt_layout){.n_levels = (unsigned)config->levels,
                                  .channels = plane->channels - plane_has_alpha(plane),
                                  .type = dwt_band_type(config->precision),
                                  .axis = config->axis,
                                  .finest = config->axis == DWT_X   ? DWT_HL
                                            : config->axis == DWT_Y ? DWT_LH
                                                                    : DWT_HH};
    for (unsigned i = 0; i < layout->n_levels; i++) {
        struct dwt_level *l = &layout->levels[i];
        l->width = width;
        l->height = height;
        band_lengths(config, config->axis == DWT_Y, width, &l->low_width, &l->high_width);
        band_lengths(config, config->axis == DWT_X, height, &l->low_height, &l->high_height);
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

static void print_name(char to[PLANE_NAME_MAX], const char *plane, int axis, int band,
                       unsigned level)
{
    static const char *const bands[] = {"LL", "HL", "LH", "HH"};
    const char *name = axis == DWT_BOTH ? bands[band] : band == DWT_LL ? "L" : "H";
    snprintf(to, PLANE_NAME_MAX, "%.24s%s%s%u", plane, plane[0] ? "." : "", name, level & 0xff);
}

/* A band of level `i`, without its place in memory. */
static void describe_band(const struct dwt_layout *layout, const char *name, unsigned i, int band,
                          struct plane *plane)
{
    const struct dwt_level *l = &layout->levels[i];
    *plane = (struct plane){.channels = layout->channels,
                            .type = layout->type,
                            .width = band & DWT_HL ? l->high_width : l->low_width,
                            .height = band & DWT_LH ? l->high_height : l->low_height};
    print_name(plane->name, name, layout->axis, band, i + 1);
}

/* Plane `index` of the layout. */
static void describe_plane(const struct dwt_layout *layout, const char *name, size_t index,
                           struct plane *plane)
{
    for (unsigned i = 0; i < layout->n_levels; i++)
        for (int b = 0; b < DWT_BANDS; b++)
            if (layout->levels[i].plane[b] == (int)index)
                describe_band(layout, name, i, b, plane);
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

int dwt_read_origin(const char *stage, const struct frame *frame, size_t index, bool converted,
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
    if (converted) {
        layout->type = frame->planes[o->first].type;
        layout->channels = frame->planes[o->first].channels;
    }
    int result = 0;
    for (size_t i = 0; i < o->count && result == 0; i++) {
        struct plane expected;
        describe_plane(layout, o->plane.name, i, &expected);
        result = check_plane(stage, &frame->planes[o->first + i], &expected, fault);
    }
    return result;
}

/* Whether a plane's name is LLn, Ln or one of these behind NAME and a point; sets the length of
 * NAME, and n. */
static bool is_lowest(const struct plane *plane, int *prefix, int64_t *levels)
{
    const char *dot = strrchr(plane->name, '.'), *band = dot ? dot + 1 : plane->name;
    size_t letters = strspn(band, "L");
    *prefix = dot ? (int)(dot - plane->name) : 0;
    return (letters == 1 || letters == 2) &&
           number_parse_integer(band + letters, strlen(band + letters), levels) && *levels >= 1 &&
           *levels <= DWT_LEVELS_MAX;
}

bool dwt_is_named_line(const struct frame *frame)
{
    int prefix;
    int64_t levels;
    for (size_t i = 0; i < frame->n_planes; i++)
        if (is_lowest(&frame->planes[i], &prefix, &levels))
            return !strstr(frame->planes[i].name, "LL");
    return false;
}

size_t dwt_count_named(const struct frame *frame)
{
    size_t count = 0;
    int prefix;
    int64_t levels;
    for (size_t i = 0; i < frame->n_planes; i++)
        count += is_lowest(&frame->planes[i], &prefix, &levels);
    return count;
}

/* The length of the longest signal with bands of these lengths. */
static uint32_t longest(const struct dwt_config *config, bool stays, uint32_t low, uint32_t high)
{
    uint32_t n = 2 * low;
    if (stays || config->stationary)
        return low;
    for (; n > 1; n--) {
        uint32_t of_low, of_high;
        wavelet_lengths(config->wavelet, config->mode, n, &of_low, &of_high);
        if (of_low < low || (of_low == low && of_high == high))
            break;
    }
    return n;
}

/* Works from the coarsest level up: a level's details tell the size of the low band beside them. */
static void guess_size(const struct frame *frame, const struct dwt_config *config, int lowest,
                       struct plane *original)
{
    uint32_t width = frame->planes[lowest].width, height = frame->planes[lowest].height;
    for (unsigned level = (unsigned)config->levels; level > 0; level--) {
        char name[PLANE_NAME_MAX];
        print_name(name, original->name, config->axis, DWT_HL, level);
        int hl = config->axis == DWT_Y ? -1 : frame_find_plane(frame, name);
        print_name(name, original->name, config->axis, DWT_LH, level);
        int lh = config->axis == DWT_X ? -1 : frame_find_plane(frame, name);
        width = longest(config, config->axis == DWT_Y, lh < 0 ? width : frame->planes[lh].width,
                        hl < 0 ? 0 : frame->planes[hl].width);
        height = longest(config, config->axis == DWT_X, hl < 0 ? height : frame->planes[hl].height,
                         lh < 0 ? 0 : frame->planes[lh].height);
    }
    original->width = width;
    original->height = height;
}

int dwt_read_named(const char *stage, const struct frame *frame, size_t index,
                   struct dwt_config *config, struct plane *original, struct dwt_layout *layout,
                   struct fault *fault)
{
    int prefix, lowest = 0;
    while (!is_lowest(&frame->planes[lowest], &prefix, &config->levels) || index-- > 0)
        lowest++;
    snprintf(original->name, sizeof original->name, "%.*s", prefix, frame->planes[lowest].name);
    original->channels = frame->planes[lowest].channels;
    if (original->width == 0)
        guess_size(frame, config, lowest, original);
    dwt_layout_of(config, original, layout);
    int result = 0;
    for (unsigned i = 0; i < DWT_BANDS * layout->n_levels && result == 0; i++) {
        int *at = &layout->levels[i / DWT_BANDS].plane[i % DWT_BANDS];
        struct plane expected;
        if (*at < 0)
            continue;
        describe_band(layout, original->name, i / DWT_BANDS, (int)(i % DWT_BANDS), &expected);
        *at = frame_find_plane(frame, expected.name);
        result =
            *at < 0 ? fault_set(fault, FAULT_SHAPE, "%s: plane %s is missing", stage, expected.name)
                    : check_plane(stage, &frame->planes[*at], &expected, fault);
    }
    return result;
}

int dwt_check_frame(const char *stage, const struct frame *frame, struct fault *fault)
{
    size_t next = 0;
    for (size_t i = 0; i < frame->n_origins; i++) {
        struct dwt_config config;
        struct dwt_layout layout;
        int result = dwt_read_origin(stage, frame, i, false, &config, &layout, fault);
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
