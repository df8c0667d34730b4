/* Frames: ordered lists of named planes, and where their samples lie in one stretch of memory.
 * An ordinary image is a frame of one unnamed plane. A frame holds no pixels; a picture is a frame
 * with the memory that its planes lie in. */
#ifndef SLUICE_IMAGE_FRAME_H
#define SLUICE_IMAGE_FRAME_H

#include "image/sample.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLANE_NAME_MAX     32
#define PLANE_CHANNELS_MAX 4

/* Rows and planes that we lay out ourselves begin at multiples of this many bytes: the base
 * alignment that Mali and PoCL report, two cache lines. */
#define FRAME_ALIGNMENT 128

struct plane {
    char name[PLANE_NAME_MAX]; /* "" for the plane of an ordinary image */
    uint32_t width, height;    /* in pixels, at least 1 */
    uint32_t channels;         /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha; interleaved */
    enum sample_type type;
    int32_t zero_x, zero_y; /* position of index 0, in samples; only filter banks move it */
    uint32_t whole_width, whole_height; /* of the file's picture where this is a reduced one, which
                                           stands for it; else 0 */
    size_t offset;          /* of the first row, in bytes from the frame's memory */
    size_t stride;          /* from row to row, in bytes; a multiple of the sample's size */
};

/* What a transform made some of a frame's planes from, so that its inverse needs no parameters. */
struct frame_origin {
    char stage[24];       /* "dwt" */
    char parameters[488]; /* of it, canonical: ":wavelet=db4:levels=3:…" */
    struct plane plane;   /* that it was made from: name, size, channels, type, zero */
    size_t first, count;  /* planes that came out of it */
};

struct frame {
    size_t n_planes;
    struct plane *planes; /* owned */
    size_t size;          /* of the memory that all planes need, in bytes */
    size_t n_origins;
    struct frame_origin *origins; /* owned */
};

struct picture {
    struct frame frame;
    uint8_t *data; /* frame.size bytes; whoever made the picture says who owns them */
};

void frame_finish(struct frame *frame);

/* Appends a plane, whose offset and stride are chosen here; false when memory is out. Rows begin
 * at multiples of `alignment` bytes, a power of two not below the sample's size. */
bool frame_add_plane(struct frame *frame, const struct plane *plane, size_t alignment);

/* Appends what planes came from; false when memory is out. */
bool frame_add_origin(struct frame *frame, const struct frame_origin *origin);

/* Appends the origins of `from`, for a frame whose planes stand for the same ones. */
bool frame_copy_origins(struct frame *frame, const struct frame *from);

bool frame_copy(struct frame *to, const struct frame *from);

/* True when names, sizes, channels and types agree; layout in memory and origins may differ. */
bool frame_same_shape(const struct frame *a, const struct frame *b);

/* Pixels of all planes together. */
uint64_t frame_pixels(const struct frame *frame);

/* Bytes of the samples alone, without padding. */
uint64_t plane_bytes(const struct plane *plane);
uint64_t frame_bytes(const struct frame *frame);

bool plane_has_alpha(const struct plane *plane);

/* Reads WIDTHxHEIGHT[xCHANNELS] (1 to 4 channels, 1 unless said) into a plane of u8. */
bool plane_parse_size(const char *text, struct plane *plane);

/* The first sample of row `y` of plane `index`. */
static inline void *picture_row(const struct picture *picture, size_t index, uint32_t y)
{
    const struct plane *plane = &picture->frame.planes[index];
    return picture->data + plane->offset + y * plane->stride;
}

/* A picture in ordinary memory, aligned like the device's: planes laid out as `frame` says, which
 * is copied; every byte zero. */
bool picture_create(struct picture *picture, const struct frame *frame);
void picture_destroy(struct picture *picture);

#endif
