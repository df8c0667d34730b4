/* Prefix codes of limited length for DEFLATE (RFC 1951, 3.2.2). */
#ifndef SLUICE_CODEC_HUFFMAN_H
#define SLUICE_CODEC_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

#define HUFFMAN_SYMBOLS_MAX 288
#define HUFFMAN_BITS_MAX    15

/* The code of a symbol: its bits, the first one to be written lowest, and their number; 0: the
 * symbol does not occur. */
struct huffman_code {
    uint16_t bits, length;
};

/* Makes codes for `n` symbols from how often each occurs, none longer than `limit` bits; 2^limit
 * must be at least n. At least two symbols get codes, because some decoders refuse an incomplete
 * set. */
void huffman_make(const uint32_t *counts, unsigned n, unsigned limit, struct huffman_code *codes);

#endif
