#include "image/frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static size_t align_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

void frame_finish(struct frame *frame)
{
    free(frame->planes);
    free(frame->origins);
    free(frame->outer);
    *frame = (struct frame){0};
}

/* Lists have room for as many entries as the next power of two. */
static void *make_room(void *list, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? realloc(list, (count ? 2 * count : 1) * size) : list;
}

bool frame_add_plane(struct frame *frame, const struct plane *plane, size_t alignment)
{
    struct plane *planes = frame->n_planes < FRAME_PLANES_MAX
                               ? make_room(frame->planes, frame->n_planes, sizeof *planes)
                               : NULL;
    if (!planes)
        return false;
    frame->planes = planes;
    struct plane *added = &planes[frame->n_planes++];
    *added = *plane;
    size_t row = (size_t)plane->width * plane->channels * sample_size(plane->type);
    added->stride = align_up(row, alignment);
    added->offset = align_up(frame->size, FRAME_ALIGNMENT);
    frame->size = added->offset + added->stride * plane->height;
    return true;
}

static bool append_origin(struct frame_origin **list, size_t *n, const struct frame_origin *origin,
                          unsigned depth)
{
    struct frame_origin *origins = make_room(*list, *n, sizeof *origins);
    if (!origins)
        return false;
    *list = origins;
    origins[*n] = *origin;
    origins[(*n)++].depth = depth;
    return true;
}

bool frame_add_origin(struct frame *frame, const struct frame_origin *origin)
{
    return append_origin(&frame->origins, &frame->n_origins, origin, 0);
}

bool frame_add_outer(struct frame *frame, const struct frame_origin *origin, unsigned depth)
{
    return append_origin(&frame->outer, &frame->n_outer, origin, depth);
}

bool frame_copy_origins(struct frame *frame, const struct frame *from)
{
    for (size_t i = 0; i < from->n_origins; i++)
        if (!frame_add_origin(frame, &from->origins[i]))
            return false;
    for (size_t i = 0; i < from->n_outer; i++)
        if (!frame_add_outer(frame, &from->outer[i], from->outer[i].depth))
            return false;
    return true;
}

bool frame_copy(struct frame *to, const struct frame *from)
{
    struct frame copy = {.n_planes = from->n_planes, .size = from->size, .video = from->video};
    size_t room = 1;
    while (room < from->n_planes)
        room *= 2;
    copy.planes = malloc(room * sizeof *copy.planes);
    if (!copy.planes || !frame_copy_origins(&copy, from)) {
        frame_finish(&copy);
        return false;
    }
    memcpy(copy.planes, from->planes, from->n_planes * sizeof *copy.planes);
    *to = copy;
    return true;
}

int frame_find_plane(const struct frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->n_planes; i++)
        if (strcmp(frame->planes[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool frame_same_shape(const struct frame *a, const struct frame *b)
{
    if (a->n_planes != b->n_planes)
        return false;
    for (size_t i = 0; i < a->n_planes; i++) {
        const struct plane *p = &a->planes[i], *q = &b->planes[i];
        if (strcmp(p->name, q->name) != 0 || p->width != q->width || p->height != q->height ||
            p->channels != q->channels || p->layers != q->layers || p->type != q->type ||
            plane_white(p) != plane_white(q))
            return false;
    }
    return true;
}

bool plane_is_name(const char *name, size_t length)
{
    if (length == 0 || length >= PLANE_NAME_MAX || name[0] == '.')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !(name[i] && strchr("._-", name[i])))
            return false;
    return true;
}

uint64_t plane_bytes(const struct plane *plane)
{
    return (uint64_t)plane->width * plane->height * plane->channels * sample_size(plane->type);
}

uint64_t frame_bytes(const struct frame *frame)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < frame->n_planes; i++)
        bytes += plane_bytes(&frame->planes[i]);
    return bytes;
}

bool plane_has_alpha(const struct plane *plane)
{
    return plane->channels == 2 || plane->channels == 4;
}

bool plane_is_alpha(const struct plane *plane, uint32_t x)
{
    return plane_has_alpha(plane) && x % plane->channels == plane->channels - 1;
}

double plane_white(const struct plane *plane)
{
    if (sample_is_integer(plane->type))
        return sample_max(plane->type);
    return plane->white > 0 ? plane->white : 255;
}

double picture_sample(const struct picture *picture, size_t index, int64_t x, int64_t y,
                      uint32_t channel, enum border border)
{
    const struct plane *plane = &picture->frame.planes[index];
    int64_t column = x, row = y;
    if (x < 0 || x >= plane->width) /* references ask for little else than what is inside */
        column = border_index(x, plane->width, border);
    if (y < 0 || y >= plane->height)
        row = border_index(y, plane->height, border);
    if (column < 0 || row < 0)
        return 0;
    const uint8_t *samples = picture_row(picture, index, (uint32_t)row);
    size_t at = (size_t)column * plane->channels + channel;
    return sample_load(plane->type, samples + at * sample_size(plane->type));
}

static uint8_t *sample_of(const struct picture *picture, size_t index, const struct sample_at *s)
{
    const struct plane *plane = &picture->frame.planes[index];
    size_t at = (size_t)s->x * plane->channels + s->c;
    return (uint8_t *)picture_row(picture, index, s->y) + at * sample_size(plane->type);
}

double picture_at(const struct picture *picture, size_t index, const struct sample_at *s)
{
    return sample_load(picture->frame.planes[index].type, sample_of(picture, index, s));
}

void picture_set(const struct picture *picture, size_t index, const struct sample_at *s,
                 double value)
{
    sample_store(picture->frame.planes[index].type, sample_of(picture, index, s), value);
}

bool picture_create(struct picture *picture, const struct frame *frame)
{
    struct picture made = {0};
    if (!frame_copy(&made.frame, frame))
        return false;
    made.data = aligned_alloc(FRAME_ALIGNMENT, align_up(frame->size + 1, FRAME_ALIGNMENT));
    if (!made.data) {
        frame_finish(&made.frame);
        return false;
    }
    memset(made.data, 0, frame->size);
    *picture = made;
    return true;
}

void picture_destroy(struct picture *picture)
{
    free(picture->data);
    frame_finish(&picture->frame);
    *picture = (struct picture){0};
}

bool plane_parse_size(const char *text, struct plane *plane)
{
    int64_t parts[3] = {0, 0, 1};
    int count = 0;
    for (;;) {
        size_t length = strcspn(text, "x");
        if (count == 3 || !number_parse_integer(text, length, &parts[count]) || parts[count] < 1 ||
            parts[count] > INT32_MAX)
            return false;
        count++;
        text += length;
        if (!*text)
            break;
        text++;
    }
    if (count < 2 || parts[2] > PLANE_CHANNELS_MAX)
        return false;
    *plane = (struct plane){.type = SAMPLE_U8};
    plane->width = (uint32_t)parts[0];
    plane->height = (uint32_t)parts[1];
    plane->channels = (uint32_t)parts[2];
    return true;
}
