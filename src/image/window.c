#include "image/window.h"

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

int64_t window_shift(const struct window *window, uint32_t y)
{
    const struct window_size *size = &window->size;
    int64_t stride = (int64_t)window->frame->planes[0].stride;
    return ((int64_t)size->tail + y % size->rows - y) * stride;
}

uint8_t *window_at(const struct window *window, uint32_t y)
{
    return (uint8_t *)((uintptr_t)window->memory + (uintptr_t)window_shift(window, y));
}

/* Several may read: so all rows that are not free are copied, once. */
int64_t window_see(struct window *window, uint32_t first, uint32_t end, struct window_copy *copy)
{
    const struct window_size *size = &window->size;
    uint64_t stride = window->frame->planes[0].stride;
    uint32_t turn = window_turn(window, first), freed = atomic_load(&window->freed);
    *copy = (struct window_copy){0};
    if (end <= turn)
        return window_shift(window, first);
    if (window->copied != turn) {
        uint32_t count = turn - freed < size->tail ? turn - freed : size->tail;
        *copy = (struct window_copy){(size->tail + size->rows - count) * stride,
                                     (size->tail - count) * stride, count * stride};
        window->copied = turn;
    }
    return window_shift(window, turn);
}
