/* Frames: lists of named planes, and where their samples lie in one block of memory. An ordinary
 * image is a frame with one unnamed plane. A frame holds no samples; a picture is a frame together
 * with the memory. */
#ifndef SLUICE_IMAGE_FRAME_H
#define SLUICE_IMAGE_FRAME_H

#include "image/border.h"
#include "image/sample.h"
#include "image/video_format.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLANE_NAME_MAX     32
#define PLANE_CHANNELS_MAX 4
#define FRAME_PLANES_MAX   4096

/* Alignment of rows and planes that we lay out, in bytes: the base alignment that Mali and PoCL
 * report, two cache lines. */
#define FRAME_ALIGNMENT 128

struct plane {
    char name[PLANE_NAME_MAX]; /* "" for the plane of an ordinary image */
    uint32_t width, height;    /* in pixels, at least 1 */
    uint32_t channels;         /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha; interleaved */
    enum sample_type type;
    uint32_t layers; /* from 1: of a tensor, so many planes of equal height stand below each other,
                        which files of arrays have as their first dimension; otherwise 0 */
    double white;           /* of floats: the value that means full; 0: unknown (plane_white) */
    int32_t zero_x, zero_y; /* position of index 0, in samples; used by filter banks only */
    uint32_t reduced; /* 2, 4 or 8: a sample stands for so many pixels of the file's picture each
                         way; otherwise 0, and so is what follows */
    uint32_t whole_width, whole_height; /* the size of that picture */
    uint32_t whole_x, whole_y; /* pixels of the first column and row that lie outside of it. What
                                  rounding up added lies there if the picture was turned */
    size_t offset; /* of the first row from the start of the frame's memory, in bytes */
    size_t stride; /* from row to row, in bytes; a multiple of the sample's size */
};

/* What a transform made planes from, so that its inverse needs no parameters. */
struct frame_origin {
    char stage[24];       /* "dwt" */
    char parameters[488]; /* in canonical form: ":wavelet=db4:levels=3:…" */
    struct plane plane;   /* the plane that the transform took: name, size, channels, type, zero */
    size_t first, count;  /* the planes that it made */
    unsigned depth;       /* of a frame's `outer`: 1 for what these planes are put together to, and
                             so on outwards; else 0 */
};

struct frame {
    size_t n_planes;
    struct plane *planes; /* owned */
    size_t size;          /* bytes of memory that all planes need */
    size_t n_origins;
    struct frame_origin *origins; /* owned */
    size_t n_outer;
    struct frame_origin *outer; /* owned; what `origins` will be again after the inverse of those:
                                   first and count are planes of that frame, which are as many as
                                   there are origins (outer ones of one depth less) here */
    struct video video; /* the planes hold a video frame, of which a plan's first step makes the
                           picture; VIDEO_NONE: they are what they are */
};

struct picture {
    struct frame frame;
    uint8_t *data; /* frame.size bytes; whoever made the picture says who frees them */
};

void frame_finish(struct frame *frame);

/* Appends a plane and chooses its offset and stride. Rows begin at multiples of `alignment`, a
 * power of two that is at least the sample's size. Returns false without memory, and where there
 * are FRAME_PLANES_MAX. */
bool frame_add_plane(struct frame *frame, const struct plane *plane, size_t alignment);

/* Appends a record of what planes came from. Returns false without memory. */
bool frame_add_origin(struct frame *frame, const struct frame_origin *origin);

/* The same for `outer`, by depth. */
bool frame_add_outer(struct frame *frame, const struct frame_origin *origin, unsigned depth);

/* Appends the origins of `from`, whose planes have the same meaning. */
bool frame_copy_origins(struct frame *frame, const struct frame *from);

bool frame_copy(struct frame *to, const struct frame *from);

/* The index of the plane of that name; −1: there is none. */
int frame_find_plane(const struct frame *frame, const char *name);

/* True when names, sizes, channels, layers, types and whites are equal. Memory layout and origins
 * may differ.
 */
bool frame_same_shape(const struct frame *a, const struct frame *b);

/* Of a plane that is a part of another one, which begins where the frame's memory does: the row of
 * that one in which its first row lies. */
static inline uint32_t plane_first_row(const struct plane *plane)
{
    return (uint32_t)(plane->offset / plane->stride);
}

/* Bytes of the samples of a row. */
static inline size_t plane_row_bytes(const struct plane *plane)
{
    return (size_t)plane->width * plane->channels * sample_size(plane->type);
}

/* True if a plane may have this name: letters, digits and `. _ -`, no dot in front, because files
 * are named after planes. False for "". */
bool plane_is_name(const char *name, size_t length);

/* Bytes of the samples, without padding. */
uint64_t plane_bytes(const struct plane *plane);
uint64_t frame_bytes(const struct frame *frame);

bool plane_has_alpha(const struct plane *plane);
/* True if sample x of a row, counted over all channels, is one of alpha. */
bool plane_is_alpha(const struct plane *plane, uint32_t x);

/* The sample that means full: the largest of an integer type; of floats plane->white, or 255 if
 * that is unknown. */
double plane_white(const struct plane *plane);

/* Parses WIDTHxHEIGHT[xCHANNELS] into a plane of u8; 1 to 4 channels, by default 1. */
bool plane_parse_size(const char *text, struct plane *plane);

/* The first sample of row `y` of plane `index`. */
static inline void *picture_row(const struct picture *picture, size_t index, uint32_t y)
{
    const struct plane *plane = &picture->frame.planes[index];
    return picture->data + plane->offset + y * plane->stride;
}

/* One channel's sample at (x, y), which may lie outside of the plane: `border`, not BORDER_CROP,
 * says what stands there. For references, which compute a sample at a time. */
double picture_sample(const struct picture *picture, size_t index, int64_t x, int64_t y,
                      uint32_t channel, enum border border);

/* A sample of a plane, and how all are visited, row by row:
 * for (struct sample_at s = {0}; plane_each(plane, &s);). */
struct sample_at {
    uint32_t x, y, c; /* pixel and channel */
    bool alpha;       /* the channel is */
    bool begun;
};

static inline bool plane_each(const struct plane *plane, struct sample_at *s)
{
    if (s->begun && ++s->c == plane->channels) {
        s->c = 0;
        if (++s->x == plane->width) {
            s->x = 0;
            s->y++;
        }
    }
    s->begun = true;
    s->alpha = plane->channels % 2 == 0 && s->c == plane->channels - 1;
    return s->y < plane->height;
}

/* That sample of plane `index`, and its new value. */
double picture_at(const struct picture *picture, size_t index, const struct sample_at *s);
void picture_set(const struct picture *picture, size_t index, const struct sample_at *s,
                 double value);

/* Makes a picture in ordinary memory with planes as in `frame`, which is copied, aligned as on a
 * device. All bytes are zero. */
bool picture_create(struct picture *picture, const struct frame *frame);
void picture_destroy(struct picture *picture);

#endif
