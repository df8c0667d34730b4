#include "codec/byte_order.h"

#include <string.h>

/* One loop for each size, so that compilers can vectorise it. */
#define SWAP_ALL(bits)                                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
        uint##bits##_t value;                                                                      \
        memcpy(&value, from + i * sizeof value, sizeof value);                                     \
        value = __builtin_bswap##bits(value);                                                      \
        memcpy(to + i * sizeof value, &value, sizeof value);                                       \
    }

static void copy_swapped(uint8_t *to, const uint8_t *from, size_t count, size_t size)
{
    if (size == 2)
        SWAP_ALL(16)
    else if (size == 4)
        SWAP_ALL(32)
    else
        SWAP_ALL(64)
}

void copy_samples(void *to, const void *from, size_t count, size_t size, bool swap)
{
    if (swap && size > 1)
        copy_swapped(to, from, count, size);
    else
        memcpy(to, from, count * size);
}
