/* Shared by the files png*.c alone: libpng's errors as faults, by steps as in jpeg.h; the encoder's
 * options. */
#ifndef SLUICE_CODEC_PNG_H
#define SLUICE_CODEC_PNG_H

#include "codec/codec.h"
#include <setjmp.h>

#include <png.h>

struct png_errors {
    jmp_buf escape;
    struct fault *fault;     /* borrowed; set while a step runs */
    int code;                /* of the fault that ended the step; 0: none */
    bool no_memory;          /* an allocation failed; libpng's messages do not always say so */
    char warning[96];        /* libpng's first one in this step; "": none */
    struct decoder *decoder; /* borrowed; gets the warnings; NULL: warnings are errors */
};

/* Creates libpng's struct for reading or writing, with these errors and our allocator; NULL when
 * memory is out. To be called in a step, because it may jump. */
png_structp png_create(struct png_errors *errors, bool reading);

/* Ends the step with this fault. */
void png_fail(struct png_errors *errors, enum fault_code code, const char *text)
    __attribute__((noreturn));

/* Runs step(context); 0 or the code of the fault that ended it. Without a decoder, or with one that
 * is strict, a warning makes the step fail at its end. */
int png_attempt(struct png_errors *errors, void (*step)(void *context), void *context,
                struct fault *fault);

/* Makes libpng convert samples of 16 bits, which are big-endian in files. */
void png_use_host_order(png_structp png, int depth);

#define PNG_SIGNATURE "\x89PNG\r\n\x1A\n"
#define PNG_XMP       "XML:com.adobe.xmp" /* keyword of the iTXt chunk that holds an XMP packet */

struct png_config {
    struct picture_config picture;
    int64_t level;
    int bits; /* 1: black and white; 0: as many as the samples have */
};

/* An encoder's state: libpng's, or rows and our own DEFLATE. */
struct png_writer {
    struct png_errors errors;
    png_structp png;
    png_infop info;
    const struct encoder *encoder;
    const struct picture *picture; /* borrowed, as is `encoder`; while a step runs */
    uint32_t end;                  /* of the rows to write */
    uint8_t *bits;                 /* owned: a row of a bitmap */
    struct deflate *deflate;
    uint8_t *rows; /* owned: see write_rows */
};

/* Writes rows (codec.h, encode and encode_close). */
int png_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
               struct fault *fault);
void png_encode_close(struct encoder *encoder);

#endif
