/* The file that an encoder writes: a descriptor with a buffer. One thread at a time. */
#ifndef SLUICE_CODEC_OUTPUT_H
#define SLUICE_CODEC_OUTPUT_H

#include "base/fault.h"
#include "codec/metadata.h"
#include "image/frame.h"
#include <stddef.h>
#include <stdint.h>

struct output {
    int fd;                          /* borrowed */
    const struct metadata *metadata; /* borrowed; for the encoder to write; NULL: none */
    size_t used;                     /* bytes in the buffer */
    uint64_t written;                /* bytes written to the descriptor so far */
    struct fault fault;              /* the first failure; code 0: none so far */
    uint8_t buffer[65536];
};

/* On the heap, because it is large. NULL when memory is out. Does not close `fd`. */
struct output *output_create(int fd);
void output_destroy(struct output **output);

/* Writes bytes. After a failure further calls do nothing, and output_flush returns it. */
void output_write(struct output *output, const void *data, size_t size);

/* Writes `count` samples of `size` bytes, with `swap` with their bytes reversed. */
void output_samples(struct output *output, const void *samples, size_t count, size_t size,
                    bool swap);

/* Writes the samples of one plane, rows without padding, least significant byte first. */
void output_plane(struct output *output, const struct picture *picture, size_t plane);

/* Writes what is buffered; returns the first failure since output_create, or 0. */
int output_flush(struct output *output, struct fault *fault);

#endif
