/* The NPZ encoder: each plane as an NPY array, then meta.json. */
#include "codec/npz.h"

#include <stdio.h>
#include <string.h>

#include "codec/byte_order.h"
#include "codec/npy.h"
#include "codec/output.h"
#include "codec/zip_write.h"

/* What write_array needs. */
struct array {
    const struct text *header;
    const struct picture *picture;
    size_t plane;
};

void npz_member_name(const char *plane, char member[NPZ_MEMBER_MAX])
{
    snprintf(member, NPZ_MEMBER_MAX, "%.*s.npy", PLANE_NAME_MAX - 1, plane[0] ? plane : "image");
}

static void write_row(struct zip_writer *writer, const uint8_t *row, size_t bytes, size_t size)
{
    uint8_t swapped[4096];
    if (!HOST_IS_BIG_ENDIAN || size == 1) {
        zip_write(writer, row, bytes);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < sizeof swapped ? bytes - done : sizeof swapped;
        copy_samples(swapped, row + done, n / size, size, true);
        zip_write(writer, swapped, n);
        done += n;
    }
}

static void write_array(void *context, struct zip_writer *writer)
{
    const struct array *array = context;
    const struct plane *plane = &array->picture->frame.planes[array->plane];
    size_t size = sample_size(plane->type), bytes = (size_t)plane->width * plane->channels * size;
    zip_write(writer, array->header->data, array->header->length);
    for (uint32_t y = 0; y < plane->height; y++)
        write_row(writer, picture_row(array->picture, array->plane, y), bytes, size);
}

static void write_text(void *context, struct zip_writer *writer)
{
    const struct text *text = context;
    zip_write(writer, text->data, text->length);
}

static int check_names(const struct frame *frame, struct fault *fault)
{
    char a[NPZ_MEMBER_MAX], b[NPZ_MEMBER_MAX];
    for (size_t i = 0; i < frame->n_planes; i++) {
        npz_member_name(frame->planes[i].name, a);
        for (size_t k = 0; k < i; k++) {
            npz_member_name(frame->planes[k].name, b);
            if (strcmp(a, b) == 0)
                return fault_set(fault, FAULT_SHAPE, "npz: two planes would both be %s", a);
        }
    }
    return 0;
}

static int add_plane(struct zip_writer *writer, const struct picture *picture, size_t index,
                     struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[index];
    struct text header = {0};
    struct array array = {&header, picture, index};
    char name[NPZ_MEMBER_MAX];
    npz_member_name(plane->name, name);
    npy_print_header(plane, &header);
    bool failed = header.failed;
    if (!failed)
        zip_add(writer, name, header.length + plane_bytes(plane), write_array, &array);
    text_finish(&header);
    return failed ? fault_set(fault, FAULT_MEMORY, "no memory for a header") : 0;
}

static int add_meta(struct zip_writer *writer, const struct frame *frame, struct fault *fault)
{
    struct text meta = {0};
    bool good = npz_print_meta(frame, &meta);
    if (good)
        zip_add(writer, NPZ_META, meta.length, write_text, &meta);
    text_finish(&meta);
    return good ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for " NPZ_META);
}

int npz_encode(const void *config_, const struct picture *picture, struct output *output,
               struct fault *fault)
{
    const struct npz_config *config = config_;
    const struct frame *frame = &picture->frame;
    int result = check_names(frame, fault);
    if (result != 0)
        return result;
    struct zip_writer *writer = zip_create(output, (int)config->level);
    if (!writer)
        return fault_set(fault, FAULT_MEMORY, "no memory for an archive");
    for (size_t i = 0; i < frame->n_planes && result == 0 && !output->fault.code; i++)
        result = add_plane(writer, picture, i, fault);
    if (result == 0)
        result = add_meta(writer, frame, fault);
    if (result == 0 && !zip_finish(writer))
        result = fault_set(fault, FAULT_MEMORY, "no memory for an archive");
    zip_destroy(&writer);
    return result;
}
