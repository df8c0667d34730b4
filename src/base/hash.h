/* A fast hash for file names and for telling damaged files from whole ones. Not against malice:
 * whoever must be sure compares the bytes themselves. */
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_INIT 0xcbf29ce484222325u

/* FNV-1a, 64 bit (G. Fowler, L. C. Noll, K.-P. Vo), of `size` bytes, carried on from `hash`. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
