/* DEFLATE (RFC 1951) in a zlib stream (RFC 1950), for bytes that differ little and repeat only in
 * runs, as filtered rows of pictures do: each block of 32 KiB gets Huffman codes of its own, and
 * longer runs of one byte are matches at distance 1. No other match is looked for.
 *
 * Of photographs this makes smaller files than a quick search does, whose short matches cost more
 * than the bytes that they stand for, at a fraction of its time (docs/performance.md). The stream
 * depends on the bytes alone, not on how they were handed over. */
#ifndef SLUICE_CODEC_DEFLATE_H
#define SLUICE_CODEC_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

struct deflate;

/* Takes compressed bytes as they are ready, in order. */
typedef void deflate_sink(void *context, const uint8_t *data, size_t size);

/* About 120 KiB. NULL when memory is out. */
struct deflate *deflate_create(deflate_sink *sink, void *context);
void deflate_write(struct deflate *deflate, const uint8_t *data, size_t size);

/* The last block and the checksum. Nothing is written after it. */
void deflate_end(struct deflate *deflate);
void deflate_destroy(struct deflate **deflate);

#endif
