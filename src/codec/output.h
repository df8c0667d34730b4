/* Where an encoder writes: a descriptor behind a buffer. */
#ifndef SLUICE_CODEC_OUTPUT_H
#define SLUICE_CODEC_OUTPUT_H

#include "base/fault.h"
#include "codec/metadata.h"
#include "image/frame.h"
#include <stddef.h>
#include <stdint.h>

struct output {
    int fd; /* borrowed */
    const struct metadata *metadata; /* borrowed: what goes with the pixels; NULL: nothing */
    size_t used;
    uint64_t written; /* bytes handed to the descriptor so far */
    struct fault fault;
    uint8_t buffer[65536];
};

/* An output is large: it lives on the heap. NULL when memory is out. */
struct output *output_create(int fd);
void output_destroy(struct output **output);

/* After a failure, does nothing more; the fault is kept for output_flush. */
void output_write(struct output *output, const void *data, size_t size);

/* Writes the samples of one plane, row after row without padding, least significant byte first. */
void output_plane(struct output *output, const struct picture *picture, size_t plane);

/* Writes what is buffered; the first failure since the start, or 0. */
int output_flush(struct output *output, struct fault *fault);

#endif
