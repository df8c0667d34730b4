/* meta.json of an NPZ: what NPY headers cannot say about planes. It is hostile like all input:
 * every value is checked for type and range; unknown keys are ignored. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/number.h"
#include "codec/array/npz.h"

/* Adds `value`, which then belongs to the object; clears *good if memory is out. */
static void set(json_t *object, const char *key, json_t *value, bool *good)
{
    *good &= json_object_set_new(object, key, value) == 0;
}

static json_t *plane_json(const struct plane *plane, bool *good)
{
    json_t *object = json_object();
    set(object, "name", json_string(plane->name), good);
    set(object, "width", json_integer(plane->width), good);
    set(object, "height", json_integer(plane->height), good);
    set(object, "channels", json_integer(plane->channels), good);
    if (plane->layers > 0)
        set(object, "layers", json_integer(plane->layers), good);
    set(object, "type", json_string(sample_name(plane->type)), good);
    set(object, "white", json_real(plane_white(plane)), good);
    set(object, "zero_x", json_integer(plane->zero_x), good);
    set(object, "zero_y", json_integer(plane->zero_y), good);
    return object;
}

static int append(const char *bytes, size_t size, void *text)
{
    text_append_bytes(text, bytes, size);
    return 0;
}

static json_t *origins_json(const struct frame_origin *origins, size_t n, bool *good)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct frame_origin *origin = &origins[i];
        json_t *object = json_object();
        set(object, "stage", json_string(origin->stage), good);
        set(object, "parameters", json_string(origin->parameters), good);
        set(object, "plane", plane_json(&origin->plane, good), good);
        set(object, "first", json_integer((json_int_t)origin->first), good);
        set(object, "count", json_integer((json_int_t)origin->count), good);
        if (origin->depth > 0)
            set(object, "depth", json_integer((json_int_t)origin->depth), good);
        *good &= json_array_append_new(list, object) == 0;
    }
    return list;
}

bool npz_print_meta(const struct frame *frame, struct text *text)
{
    bool good = true;
    json_t *root = json_object(), *planes = json_array();
    for (size_t i = 0; i < frame->n_planes; i++)
        good &= json_array_append_new(planes, plane_json(&frame->planes[i], &good)) == 0;
    set(root, "version", json_integer(NPZ_META_VERSION), &good);
    set(root, "planes", planes, &good);
    set(root, "origins", origins_json(frame->origins, frame->n_origins, &good), &good);
    if (frame->n_outer > 0)
        set(root, "outer", origins_json(frame->outer, frame->n_outer, &good), &good);
    good = good && json_dump_callback(root, append, text, JSON_INDENT(1)) == 0;
    text_append(text, "\n");
    json_decref(root);
    return good && !text->failed;
}

static int damaged(const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_DATA, "damaged npz: %s: %s", NPZ_META, what);
}

static bool get_integer(const json_t *object, const char *key, int64_t min, int64_t max,
                        int64_t *value)
{
    const json_t *number = json_object_get(object, key);
    *value = json_integer_value(number);
    return json_is_integer(number) && *value >= min && *value <= max;
}

static bool get_text(const json_t *object, const char *key, char *to, size_t size)
{
    const json_t *string = json_object_get(object, key);
    size_t length = json_string_length(string);
    if (!json_is_string(string) || length >= size ||
        memchr(json_string_value(string), '\0', length))
        return false;
    memcpy(to, json_string_value(string), length + 1);
    return true;
}

static int parse_plane(const json_t *object, uint64_t max_pixels, struct plane *plane,
                       struct fault *fault)
{
    int64_t width, height, channels, layers = 0, zero_x, zero_y;
    char type[8];
    *plane = (struct plane){0};
    if (!get_text(object, "name", plane->name, sizeof plane->name) ||
        (plane->name[0] && !plane_is_name(plane->name, strlen(plane->name))))
        return damaged("a plane's name is not valid", fault);
    if (!get_integer(object, "width", 1, INT32_MAX, &width) ||
        !get_integer(object, "height", 1, INT32_MAX, &height) ||
        !get_integer(object, "channels", 1, PLANE_CHANNELS_MAX, &channels))
        return damaged("a plane's size is not valid", fault);
    if (json_object_get(object, "layers") && (!get_integer(object, "layers", 1, height, &layers) ||
                                              height % layers != 0 || channels != 1))
        return damaged("a plane's layers are not valid", fault);
    if (!get_integer(object, "zero_x", INT32_MIN, INT32_MAX, &zero_x) ||
        !get_integer(object, "zero_y", INT32_MIN, INT32_MAX, &zero_y))
        return damaged("a plane's zero_x or zero_y is not valid", fault);
    if (!get_text(object, "type", type, sizeof type) || !sample_find(type, &plane->type))
        return damaged("a plane's type is not valid", fault);
    /* Files of older versions have no white, which is 0 then. */
    const json_t *white = json_object_get(object, "white");
    plane->white = (float)json_number_value(white);
    if (white && !(json_is_number(white) && plane->white > 0 && isfinite(plane->white)))
        return damaged("a plane's white is not valid", fault);
    if ((uint64_t)width * (uint64_t)height > max_pixels)
        return fault_set(fault, FAULT_LIMIT,
                         "%lld×%lld pixels are more than max_pixels %s (--max-pixels)",
                         (long long)width, (long long)height, number_pixels(max_pixels));
    plane->width = (uint32_t)width;
    plane->height = (uint32_t)height;
    plane->channels = (uint32_t)channels;
    plane->layers = (uint32_t)layers;
    plane->zero_x = (int32_t)zero_x;
    plane->zero_y = (int32_t)zero_y;
    return 0;
}

static int add_planes(const json_t *list, uint64_t max_pixels, struct frame *frame,
                      struct fault *fault)
{
    size_t count = json_array_size(list); /* 0 if it is no array */
    if (count == 0 || count > NPZ_PLANES_MAX)
        return damaged("no planes, or too many", fault);
    for (size_t i = 0; i < count; i++) {
        struct plane plane;
        int result = parse_plane(json_array_get(list, i), max_pixels, &plane, fault);
        if (result != 0)
            return result;
        if (!frame_add_plane(frame, &plane, FRAME_ALIGNMENT))
            return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    return 0;
}

/* `planes`: as many as the frame has in which first and count are planes. */
static int parse_origin(const json_t *object, uint64_t max_pixels, size_t planes,
                        struct frame_origin *origin, struct fault *fault)
{
    int64_t first, count;
    *origin = (struct frame_origin){0};
    if (!get_text(object, "stage", origin->stage, sizeof origin->stage) ||
        !get_text(object, "parameters", origin->parameters, sizeof origin->parameters))
        return damaged("an origin's stage or parameters are not valid", fault);
    if (!get_integer(object, "first", 0, (int64_t)planes - 1, &first) ||
        !get_integer(object, "count", 1, (int64_t)planes - first, &count))
        return damaged("an origin's first and count are not planes of the file", fault);
    origin->first = (size_t)first;
    origin->count = (size_t)count;
    return parse_plane(json_object_get(object, "plane"), max_pixels, &origin->plane, fault);
}

/* Origins may not overlap, because a plane is the result of one transform only. */
static int add_origins(const json_t *list, uint64_t max_pixels, struct frame *frame,
                       struct fault *fault)
{
    size_t end = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct frame_origin origin;
        int result =
            parse_origin(json_array_get(list, i), max_pixels, frame->n_planes, &origin, fault);
        if (result == 0 && !frame_add_origin(frame, &origin))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
        if (result != 0)
            return result;
        if (origin.first < end)
            return damaged("origins overlap", fault);
        end = origin.first + origin.count;
    }
    return 0;
}

/* By depth; the planes of one depth are the origins of the depth before. */
static int add_outer(const json_t *list, uint64_t max_pixels, struct frame *frame,
                     struct fault *fault)
{
    int64_t depth = 1;
    size_t end = 0, planes = frame->n_origins, n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        struct frame_origin origin;
        int64_t own;
        if (!get_integer(object, "depth", depth, depth + (n > 0), &own))
            return damaged("the depth of an outer origin is not valid", fault);
        if (own > depth) {
            planes = n;
            end = n = 0;
            depth = own;
        }
        int result = parse_origin(object, max_pixels, planes, &origin, fault);
        if (result == 0 && !frame_add_outer(frame, &origin, (unsigned)own))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
        if (result != 0)
            return result;
        if (origin.first < end)
            return damaged("origins overlap", fault);
        end = origin.first + origin.count;
        n++;
    }
    return 0;
}

int npz_parse_meta(const char *text, size_t size, uint64_t max_pixels, struct frame *frame,
                   struct fault *fault)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return fault_set(fault, FAULT_MEMORY, "no memory for " NPZ_META);
    if (!root)
        return fault_set(fault, FAULT_DATA, "damaged npz: %s, line %d: %s", NPZ_META, error.line,
                         error.text);
    int64_t version;
    int result = 0;
    if (!get_integer(root, "version", 1, INT32_MAX, &version))
        result = damaged("no version", fault);
    else if (version != NPZ_META_VERSION)
        result = fault_set(fault, FAULT_FORMAT,
                           "unsupported npz: %s of version %lld; readable is version %d", NPZ_META,
                           (long long)version, NPZ_META_VERSION);
    if (result == 0)
        result = add_planes(json_object_get(root, "planes"), max_pixels, frame, fault);
    if (result == 0)
        result = add_origins(json_object_get(root, "origins"), max_pixels, frame, fault);
    if (result == 0)
        result = add_outer(json_object_get(root, "outer"), max_pixels, frame, fault);
    json_decref(root);
    return result;
}
