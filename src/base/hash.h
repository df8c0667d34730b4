/* A fast hash for file names and for detecting damaged files. It does not protect against forgery:
 * where that matters the bytes themselves are compared. */
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_INIT 0xcbf29ce484222325u

/* FNV-1a, 64 bit (G. Fowler, L. C. Noll, K.-P. Vo), of `size` bytes, continuing from `hash`. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* Two hashes of a stream of bytes, which together tell different files from each other: eight bytes
 * a step, each with a factor of its own, the upper half of the product folded in. Begins as {0}; a
 * stream may come in pieces of any size. */
struct hash_stream {
    uint64_t a, b;
    uint64_t length;
    unsigned char rest[8]; /* of the latest step, which is not full */
};

static inline void hash_step(struct hash_stream *stream, const unsigned char bytes[8])
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    stream->a = (stream->a ^ word) * 0x9e3779b97f4a7c15u;
    stream->b = (stream->b + word) * 0xc2b2ae3d27d4eb4fu;
    stream->a ^= stream->a >> 29;
    stream->b ^= stream->b >> 32;
}

static inline void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    size_t held = stream->length % 8;
    stream->length += size;
    while (held > 0 && size > 0) {
        stream->rest[held++] = *at++;
        size--;
        if (held == 8)
            hash_step(stream, stream->rest);
        held %= 8;
    }
    for (; size >= 8; size -= 8, at += 8)
        hash_step(stream, at);
    memcpy(stream->rest + held, at, size);
}

/* Of all that was added; `stream` cannot go on afterwards. */
static inline void hash_stream_end(struct hash_stream *stream, uint64_t hash[2])
{
    size_t held = stream->length % 8;
    memset(stream->rest + held, 0, 8 - held);
    hash_step(stream, stream->rest);
    memcpy(stream->rest, &stream->length, 8);
    for (int i = 0; i < 3; i++) /* so that the last bytes reach all bits */
        hash_step(stream, stream->rest);
    hash[0] = stream->a;
    hash[1] = stream->b;
}

#endif
