/* For encoders: the file that they write, a descriptor with a buffer, of one thread at a time; and
 * how formats store planes of types and channels that they do not have (struct codec's fit), and
 * bitmaps. */
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

/* Whether the output is such that output_mend can write it: a file at its beginning. */
bool output_can_mend(const struct output *output);

/* Overwrites bytes at offset `at`, all of which have been written before. */
void output_mend(struct output *output, uint64_t at, const void *data, size_t size);

/* Takes a file for as long as that, for output_mend, which writes all the rest of it. */
void output_grow(struct output *output, uint64_t size);

/* Writes `count` samples of `size` bytes, with `swap` with their bytes reversed. */
void output_samples(struct output *output, const void *samples, size_t count, size_t size,
                    bool swap);

/* Writes the samples of rows y … end - 1 of one plane, without padding; with `swap` the bytes of
 * each are reversed. */
void output_rows(struct output *output, const struct picture *picture, size_t plane, uint32_t y,
                 uint32_t end, bool swap);

/* Writes what is buffered; returns the first failure since output_create, or 0. */
int output_flush(struct output *output, struct fault *fault);

enum fit_depth {
    FIT_8,       /* u8 alone */
    FIT_8_OR_16, /* u8 or u16 */
};

/* Changes the plane's type to u8 or u16 as docs/formats.md says: u16 stays or becomes u8, signed
 * types become unsigned ones, floats become u8, or u16 where their white is above 255; i32 is
 * refused with `convert` as the way out. Channels are left alone. `format` names the format in the
 * fault.
 */
int fit_type(const char *format, enum fit_depth depth, struct plane *plane, struct fault *fault);

/* For formats that store every plane unchanged. */
int fit_any(const void *config, struct plane *plane, struct fault *fault);

/* For bitmaps: one channel of u8 or u16; alpha is dropped, and colours are refused with `luminance`
 * and `threshold` as the way out. */
int fit_bitmap(const char *format, struct plane *plane, struct fault *fault);

/* FAULT_SHAPE, with `threshold` as the way out, if rows y … end - 1 of the plane have samples other
 * than 0 and the type's maximum. */
int fit_check_bits(const char *format, const struct picture *picture, size_t plane, uint32_t y,
                   uint32_t end, struct fault *fault);

/* Packs row `y` of such a plane into (width + 7) / 8 bytes, the first pixel in the highest bit: 1
 * is white, or with `invert` black. */
void fit_bits(const struct picture *picture, size_t plane, uint32_t y, bool invert, uint8_t *bits);

#endif
