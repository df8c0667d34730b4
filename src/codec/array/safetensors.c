/* safetensors (https://github.com/huggingface/safetensors): 8 bytes with the length of a JSON
 * header, which tells type, shape and place of each tensor by name, then their samples,
 * little-endian. It is written, not read: each plane is a tensor of the shape that an NPY of it
 * has. */
#include "base/text.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/output.h"

#define ALIGNMENT 8 /* of the first sample */

static const char *const types[SAMPLE_TYPES] = {
    [SAMPLE_U8] = "U8",   [SAMPLE_I8] = "I8",   [SAMPLE_U16] = "U16", [SAMPLE_I16] = "I16",
    [SAMPLE_I32] = "I32", [SAMPLE_F16] = "F16", [SAMPLE_F32] = "F32", [SAMPLE_F64] = "F64",
};

static void print_header(const struct frame *frame, struct text *text)
{
    uint64_t at = 0;
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *plane = &frame->planes[i];
        uint32_t layers = plane->layers > 0 ? plane->layers : 1;
        text_printf(text, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i > 0 ? "," : "{",
                    plane->name[0] ? plane->name : "image", types[plane->type]);
        if (plane->layers > 0)
            text_printf(text, "%u,", layers);
        text_printf(text, "%u,%u", plane->height / layers, plane->width);
        if (plane->channels > 1)
            text_printf(text, ",%u", plane->channels);
        text_printf(text, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                    (unsigned long long)(at + plane_bytes(plane)));
        at += plane_bytes(plane);
    }
    text_append(text, "}");
    while (text->length % ALIGNMENT != 0 && !text->failed)
        text_append(text, " ");
}

/* Frames of several planes come as a whole. */
static int encode_safetensors(struct encoder *e, const struct picture *picture, uint32_t end,
                              struct fault *fault)
{
    const struct frame *frame = &picture->frame;
    if (e->row == 0) {
        struct text header = {0};
        uint8_t length[8];
        print_header(frame, &header);
        store_le32(length, (uint32_t)header.length);
        store_le32(length + 4, 0);
        output_write(e->output, length, sizeof length);
        output_write(e->output, text_string(&header), header.length);
        bool failed = header.failed;
        text_finish(&header);
        if (failed)
            return fault_set(fault, FAULT_MEMORY, "no memory for a header");
    }
    for (size_t i = 0; i < frame->n_planes; i++)
        output_rows(e->output, picture, i, e->row,
                    frame->n_planes > 1 ? frame->planes[i].height : end, HOST_IS_BIG_ENDIAN);
    return 0;
}

static const char *const extensions[] = {"safetensors", NULL};

const struct codec codec_safetensors = {
    .name = "safetensors",
    .extensions = extensions,
    .media_type = "application/octet-stream",
    .fit = fit_any,
    .holds_frame = true,
    .encode = encode_safetensors,
};
