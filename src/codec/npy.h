/* The header of an NPY array, read and written; shared by the formats npy and npz. */
#ifndef SLUICE_CODEC_NPY_H
#define SLUICE_CODEC_NPY_H

#include "base/fault.h"
#include "base/text.h"
#include "codec/codec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6
#define NPY_BEGIN_MAX  12    /* bytes before the header's text: magic, version, its length */
#define NPY_HEADER_MAX 65535 /* what version 1.0 can say; none with our three keys comes near */
#define NPY_RANK_MAX   3

/* The header's text, and what was found in it. */
struct npy_header {
    const char *text;
    size_t length, at;
    bool has_type, has_order, has_shape;
    enum sample_type type;
    bool big_endian, fortran;
    unsigned rank;
    uint64_t shape[NPY_RANK_MAX];
    size_t begin;    /* of the first sample, in bytes from the array's beginning */
    const char *odd; /* a warning about it, a constant; NULL: none */
};

/* Reads the header of the array that begins at `data`. FAULT_DATA, FAULT_FORMAT, FAULT_TRUNCATED.
 */
int npy_read_header(struct npy_header *header, const uint8_t *data, size_t size,
                    struct fault *fault);

/* Gives the decoder a plane of the array's shape, as decoder_set_plane does, and the header's
 * warning. */
int npy_add_plane(struct decoder *decoder, const struct npy_header *header, struct fault *fault);

/* Appends the whole header of an array of the plane's samples, from the magic to the last byte
 * before them: version 1.0, C order, little-endian. */
void npy_print_header(const struct plane *plane, struct text *text);

/* Where sample number `index` of an array in Fortran order belongs: its place in the plane, in
 * samples from the beginning of row *y. */
static inline size_t npy_fortran_place(const struct plane *plane, uint64_t index, uint32_t *y)
{
    uint64_t column = index / plane->height;
    *y = (uint32_t)(index % plane->height);
    return (size_t)(column % plane->width * plane->channels + column / plane->width);
}

#endif
