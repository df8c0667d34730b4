/* Compresses to DEFLATE (RFC 1951) in a zlib stream (RFC 1950). It is made for filtered rows of
 * pictures, whose bytes have few frequent values and repeat only in runs: each block of 32 KiB gets
 * Huffman codes of its own, and runs of one byte become matches at distance 1. It searches for no
 * other matches.
 *
 * For photographs the result is smaller than that of zlib's fast levels, whose short matches take
 * more bits than the literals that they replace, in a fraction of the time (docs/performance.md).
 * The stream depends only on the bytes, not on how they are divided among calls. */
#ifndef SLUICE_CODEC_DEFLATE_H
#define SLUICE_CODEC_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

struct deflate;

/* Receives the compressed bytes in order. `data` is valid during the call. */
typedef void deflate_sink(void *context, const uint8_t *data, size_t size);

/* Allocates about 120 KiB. NULL when memory is out. One thread at a time. */
struct deflate *deflate_create(deflate_sink *sink, void *context);
void deflate_write(struct deflate *deflate, const uint8_t *data, size_t size);

/* Writes the last block and the checksum. No call of deflate_write may follow. */
void deflate_end(struct deflate *deflate);
void deflate_destroy(struct deflate **deflate);

#endif
