/* Shared by png.c and png_write*.c alone: libpng's errors as faults, in the way of jpeg.h. */
#ifndef SLUICE_CODEC_PNG_H
#define SLUICE_CODEC_PNG_H

#include "codec/codec.h"
#include <setjmp.h>

#include <png.h>

struct png_errors {
    jmp_buf escape;
    struct fault *fault;     /* where to say why, while a step runs */
    int code;                /* of the fault that ended the step */
    bool no_memory;          /* an allocation has failed: what libpng says of it varies */
    char warning[96];        /* the first of libpng's, "" while there is none */
    struct decoder *decoder; /* borrowed: takes warnings; NULL: they are errors */
};

/* libpng's struct for reading or writing, with these errors and our allocator; NULL when memory is
 * out. Within a step: it may jump. */
png_structp png_create(struct png_errors *errors, bool reading);

/* Ends the step with this fault. */
void png_fail(struct png_errors *errors, enum fault_code code, const char *text)
    __attribute__((noreturn));

/* Runs step(context); 0 or the code of the fault that ended it. Without a decoder, and with one
 * that is strict, a step that left a warning has failed. */
int png_attempt(struct png_errors *errors, void (*step)(void *context), void *context,
                struct fault *fault);

/* u16 samples are turned round in files, where they are big-endian. */
void png_use_host_order(png_structp png, int depth);

struct png_config {
    struct picture_config picture;
    int64_t level;
    int bits; /* 1: black and white; 0: as many as the samples have */
};

/* Looks for metadata among the chunks, in the whole file: some stand behind the pixels. */
void png_read_metadata(struct decoder *decoder);

/* Writes the chunks that metadata become for a picture of so many channels. */
void png_write_metadata(const struct metadata *metadata, uint32_t channels, struct output *output);

/* Writes a chunk of four letters' type. */
void png_put_chunk(struct output *output, const char *type, const uint8_t *data, size_t size);

/* Level 1, without libpng. */
int png_encode_fast(const struct picture *picture, size_t plane, struct output *output,
                    struct fault *fault);

int png_encode(const void *config, const struct picture *picture, size_t plane,
               struct output *output, struct fault *fault);

#endif
