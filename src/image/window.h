/* A window onto a plane: memory for some of its rows, the latest that were written, through which a
 * picture goes from one that writes to one that reads, which may be two threads. Rows are taken in
 * order, and their memory is used again when the reader has freed them.
 *
 * Writer and reader see the plane itself: a picture whose address is such that row y, by its number
 * in the plane, lies where the window has it. Memory is `tail` rows, then `rows`; row y is number
 * y mod `rows` of the latter. Rows on both sides of such a turn do not follow each other; so a
 * reader that needs several has the ones in front of the turn copied into the tail. */
#ifndef SLUICE_IMAGE_WINDOW_H
#define SLUICE_IMAGE_WINDOW_H

#include "image/frame.h"
#include <stdatomic.h>

/* How many rows are held. */
struct window_size {
    uint32_t rows; /* 0: all of the frame */
    uint32_t tail; /* one less than the reader ever needs at once to go on */
};

struct window {
    const struct frame *frame; /* borrowed; of one plane, unless all of it is held */
    struct window_size size;   /* size.rows is not 0 */
    uint8_t *memory;           /* borrowed */
    uint32_t copied;           /* the row up to which the tail has been filled */
    _Atomic uint32_t written;  /* rows in front of this one have been written */
    _Atomic uint32_t freed;    /* those in front of this one are not needed any more */
};

/* One that takes rows of a window in order, maybe a thread of its own. A window may have several.
 */
struct window_sink {
    struct window *window;
    _Atomic uint32_t ready; /* rows in front of this one can be taken */
    _Atomic uint32_t taken; /* those in front of this one are not needed any more */
};

/* Bytes of memory for a window. */
uint64_t window_bytes(const struct frame *frame, const struct window_size *size);

void window_init(struct window *window, const struct frame *frame, const struct window_size *size,
                 uint8_t *memory);

/* Number of rows of the plane. */
static inline uint32_t window_height(const struct window *window)
{
    return window->frame->planes[0].height;
}

/* The row in front of which the next one that is written, `row`, and those behind it can be written
 * together: up to a turn, or to the memory of what is needed. */
uint32_t window_room(const struct window *window, uint32_t row);

/* How far behind the window's memory that of the plane, as if all of it were there, would begin
 * (mostly, it is in front of it) for row y and those behind it up to a turn to be found; bytes. */
int64_t window_shift(const struct window *window, uint32_t y);

/* The address that this is. */
uint8_t *window_at(const struct window *window, uint32_t y);

/* The first row behind `row` at which memory begins anew: a turn, or the plane's end. */
uint32_t window_turn(const struct window *window, uint32_t row);

/* A copy within the window's memory, in bytes from its beginning. */
struct window_copy {
    uint64_t from, to, size;
};

/* The shift by which rows first … end - 1 are found, all of which are there, once *copy has been
 * made; that of size 0: nothing has to be. */
int64_t window_see(struct window *window, uint32_t first, uint32_t end, struct window_copy *copy);

#endif
