#include "image/window.h"

#include <string.h>

/* Kernels may look at some samples behind the last one that they need. */
#define LOOK_AHEAD 128

uint64_t window_bytes(const struct frame *frame, const struct window_size *size)
{
    return size->rows == 0
               ? frame->size
               : ((uint64_t)size->rows + size->tail) * frame->planes[0].stride + LOOK_AHEAD;
}

void window_init(struct window *window, const struct frame *frame, const struct window_size *size,
                 uint8_t *memory)
{
    *window = (struct window){.frame = frame, .size = *size, .memory = memory};
    if (size->rows == 0)
        window->size = (struct window_size){frame->planes[0].height, 0};
}

uint32_t window_turn(const struct window *window, uint32_t row)
{
    uint64_t turn = ((uint64_t)row / window->size.rows + 1) * window->size.rows;
    uint32_t height = window_height(window);
    return turn < height ? (uint32_t)turn : height;
}

uint32_t window_room(const struct window *window, uint32_t row)
{
    uint64_t end = (uint64_t)atomic_load(&window->freed) + window->size.rows;
    uint32_t turn = window_turn(window, row);
    return end < turn ? (uint32_t)end : turn;
}

uint8_t *window_at(const struct window *window, uint32_t y)
{
    const struct window_size *size = &window->size;
    uint64_t stride = window->frame->planes[0].stride;
    uint64_t at = (size->tail + y % size->rows) * stride - y * stride;
    return (uint8_t *)((uintptr_t)window->memory + at);
}

bool window_needs_copy(const struct window *window, uint32_t first, uint32_t end)
{
    uint32_t turn = window_turn(window, first);
    return end > turn && window->copied != turn;
}

uint8_t *window_see(struct window *window, uint32_t first, uint32_t end)
{
    const struct window_size *size = &window->size;
    size_t stride = window->frame->planes[0].stride;
    uint32_t turn = window_turn(window, first);
    if (end <= turn)
        return window_at(window, first);
    if (window->copied != turn) {
        uint32_t count = turn - first; /* the tail's last rows */
        memcpy(window->memory + (size->tail - count) * stride,
               window->memory + (size->tail + size->rows - count) * stride, count * stride);
        window->copied = turn;
    }
    return window_at(window, turn);
}
