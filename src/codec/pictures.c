#include "codec/pictures.h"

#include <stdlib.h>

#include "base/number.h"

/* A file's only plane, whole or not at all: with half of a dark frame no picture gets better. */
static int decode(struct definition_picture *picture, const struct bytes *bytes,
                  const struct codec_limits *limits, struct fault *fault)
{
    struct decode_options options;
    struct decoder decoder;
    struct picture into = {0};
    int result = decode_options_parse(&options, NULL, "", fault);
    if (result == 0)
        result = decoder_open(&decoder, bytes->data + picture->at, picture->size, &options, limits,
                              fault);
    if (result != 0)
        return result;
    const struct frame *frame = &decoder.frame;
    if (frame->n_planes != 1 || frame->video.format)
        result =
            fault_set(fault, FAULT_SHAPE, "%zu planes: a second picture has one", frame->n_planes);
    else if (frame->size + decoder.working_memory > limits->memory)
        result = fault_set(fault, FAULT_LIMIT,
                           "needs %s, more than pictures of the configuration may take (--memory)",
                           number_size(frame->size + decoder.working_memory));
    else if (!picture_create(&into, frame))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a picture of %s",
                           number_size(frame->size));
    if (result == 0)
        result = decoder_read(&decoder, &into, fault);
    if (result == 0) {
        picture->plane = into.frame.planes[0];
        picture->n_bytes = into.frame.size;
        picture->samples = into.data;
        into.data = NULL;
    }
    picture_destroy(&into);
    decoder_close(&decoder);
    return result;
}

int codec_read_pictures(struct definitions *definitions, const struct codec_limits *limits,
                        struct text *errors)
{
    struct codec_limits left = *limits;
    struct fault fault = FAULT_INIT;
    int first = definitions_map_file(definitions, &fault);
    if (first != 0)
        text_printf(errors, "%s\n", fault.text);
    for (size_t i = 0; i < definitions->n_pictures && definitions->file && first != FAULT_MEMORY;
         i++) {
        struct definition_picture *picture = definitions->pictures[i];
        struct bytes *bytes = &definitions->file->bytes;
        fault_clear(&fault);
        int result = picture->samples || picture->size == 0 ? 0 /* the second one has been told */
                     : picture->at > bytes->size || picture->size > bytes->size - picture->at
                         ? fault_set(&fault, FAULT_DATA, "its bytes are missing")
                         : decode(picture, bytes, &left, &fault);
        left.memory -= picture->n_bytes < left.memory ? picture->n_bytes : left.memory;
        if (result != 0)
            text_printf(errors, "%s: %s\n", picture->what, fault.text);
        first = first ? first : result;
    }
    definitions_drop_file(definitions);
    return first;
}
