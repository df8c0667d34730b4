/* Headers of NPY arrays; shared by the formats npy and npz. */
#ifndef SLUICE_CODEC_ARRAY_NPY_H
#define SLUICE_CODEC_ARRAY_NPY_H

#include "base/fault.h"
#include "base/text.h"
#include "codec/codec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6
#define NPY_BEGIN_MAX  12    /* bytes before the header's text: magic, version, text's length */
#define NPY_HEADER_MAX 65535 /* bytes of text; the limit of version 1.0, far above what is used */
#define NPY_RANK_MAX   3

/* A header's text, and what the parser has found in it so far. */
struct npy_header {
    const char *text;  /* borrowed: in the array's bytes */
    size_t length, at; /* bytes of the text, and the parser's position */
    bool has_type, has_order, has_shape;
    enum sample_type type;
    bool big_endian, fortran;
    unsigned rank;
    uint64_t shape[NPY_RANK_MAX]; /* rows, columns, channels; of rank 1: columns; of tensors:
                                     layers, rows, columns */
    size_t begin;        /* offset of the first sample, in bytes from the array's beginning */
    const char *warning; /* a constant; NULL: none */
};

/* Reads the header of the array that begins at `data`. FAULT_DATA, FAULT_FORMAT, FAULT_TRUNCATED.
 */
int npy_read_header(struct npy_header *header, const uint8_t *data, size_t size,
                    struct fault *fault);

/* Adds a plane of the array's shape to the decoder's frame, and the header's warning to the
 * decoder. `layers`: as many as the array's first dimension counts, where it is known to be a
 * tensor; 0: it is a picture. Faults of decoder_set_plane and decoder_warn; FAULT_FORMAT for a
 * shape that is no picture's. */
int npy_add_plane(struct decoder *decoder, const struct npy_header *header, uint32_t layers,
                  struct fault *fault);

/* Appends the whole header of an array with the plane's samples, up to the first sample: version
 * 1.0, C order, little-endian. */
void npy_print_header(const struct plane *plane, struct text *text);

/* The place of sample number `index` of an array in Fortran order: row *y, and as the result the
 * sample's number in that row. */
static inline size_t npy_fortran_place(const struct plane *plane, uint64_t index, uint32_t *y)
{
    uint64_t column = index / plane->height;
    *y = (uint32_t)(index % plane->height);
    return (size_t)(column % plane->width * plane->channels + column / plane->width);
}

#endif
