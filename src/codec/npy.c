/* NPY, numpy's format for one array: versions 1.0 to 3.0 as numpy/lib/format.py describes them. A
 * header (npy_header.c), then the samples. */
#include "codec/npy.h"

#include <stdlib.h>
#include <string.h>

#include "codec/byte_order.h"
#include "codec/fit.h"
#include "codec/output.h"

/* Arrays in Fortran order are read in blocks of rows that fit the cache. */
#define BLOCK_ROWS 64

struct npy_state {
    size_t at; /* offset of the first sample, in bytes */
    bool swap; /* samples have the other byte order than this processor */
    bool fortran;
};

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, NPY_MAGIC, size < NPY_MAGIC_SIZE ? size : NPY_MAGIC_SIZE) == 0;
}

static int open_npy(struct decoder *d, struct fault *fault)
{
    struct npy_header h;
    struct npy_state *state = d->state = calloc(1, sizeof *state);
    if (!state)
        return fault_set(fault, FAULT_MEMORY, "no memory for a decoder");
    int result = npy_read_header(&h, d->data, d->size, fault);
    if (result == 0)
        result = npy_add_plane(d, &h, fault);
    if (result != 0)
        return result;
    state->at = h.begin;
    state->swap = h.big_endian != HOST_IS_BIG_ENDIAN;
    state->fortran = h.fortran;
    if (!d->options.partial && d->size - state->at < plane_bytes(&d->frame.planes[0]))
        return fault_set(fault, FAULT_TRUNCATED,
                         "truncated npy: the file ends before its array does");
    return 0;
}

/* Reads rows; `have` samples are there, so the last row may be incomplete. */
static void read_c_order(const struct decoder *d, const struct picture *into, size_t have)
{
    const struct npy_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t size = sample_size(plane->type), row = (size_t)plane->width * plane->channels;
    const uint8_t *from = d->data + state->at;
    for (uint32_t y = 0; y < plane->height && have > 0; y++, from += row * size) {
        size_t samples = have < row ? have : row;
        copy_samples(picture_row(into, 0, y), from, samples, size, state->swap);
        have -= samples;
    }
}

/* Reads columns of each channel: sample (y, x, c) is number y + height·(x + width·c) of the file.
 */
static void read_fortran_order(const struct decoder *d, const struct picture *into, size_t have)
{
    const struct npy_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t size = sample_size(plane->type), height = plane->height;
    const uint8_t *from = d->data + state->at;
    for (uint32_t top = 0; top < height; top += BLOCK_ROWS) {
        uint32_t end = height - top < BLOCK_ROWS ? plane->height : top + BLOCK_ROWS;
        for (size_t column = 0; column < (size_t)plane->width * plane->channels; column++) {
            size_t x = column % plane->width, c = column / plane->width;
            for (uint32_t y = top; y < end && column * height + y < have; y++) {
                uint8_t *to = (uint8_t *)picture_row(into, 0, y) + (x * plane->channels + c) * size;
                copy_samples(to, from + (column * height + y) * size, 1, size, state->swap);
            }
        }
    }
}

static int read_npy(struct decoder *d, struct picture *into, struct fault *fault)
{
    const struct npy_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t have = (d->size - state->at) / sample_size(plane->type);
    (void)fault;
    if (d->options.partial)
        codec_blacken_rows(into, 0);
    if (state->fortran)
        read_fortran_order(d, into, have);
    else
        read_c_order(d, into, have);
    return 0;
}

static int encode_npy(const void *config, const struct picture *picture, size_t index,
                      struct output *output, struct fault *fault)
{
    struct text header = {0};
    (void)config;
    npy_print_header(&picture->frame.planes[index], &header);
    int result = header.failed ? fault_set(fault, FAULT_MEMORY, "no memory for a header") : 0;
    if (result == 0) {
        output_write(output, header.data, header.length);
        output_plane(output, picture, index);
    }
    text_finish(&header);
    return result;
}

static const char *const extensions[] = {"npy", NULL};

const struct codec codec_npy = {
    .name = "npy",
    .extensions = extensions,
    .media_type = "application/x-npy",
    .probe = probe,
    .open = open_npy,
    .read = read_npy,
    .fit = fit_any,
    .encode = encode_npy,
};
