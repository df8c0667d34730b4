/* A fast hash for file names and for detecting damaged files. It does not protect against forgery:
 * where that matters the bytes themselves are compared. */
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_INIT 0xcbf29ce484222325u

/* FNV-1a, 64 bit (G. Fowler, L. C. Noll, K.-P. Vo), of `size` bytes, continuing from `hash`. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

#endif
