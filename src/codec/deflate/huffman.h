/* Prefix codes of limited length for DEFLATE (RFC 1951, 3.2.2). */
#ifndef SLUICE_CODEC_HUFFMAN_H
#define SLUICE_CODEC_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

#define HUFFMAN_SYMBOLS_MAX 288
#define HUFFMAN_BITS_MAX    15

/* The bits of a symbol, the first to be written lowest, and how many they are; 0: it has none. */
struct huffman_code {
    uint16_t bits, length;
};

/* A code for `n` symbols by how often each comes, none longer than `limit` bits, where 2^limit is
 * at least n. At least two symbols get codes, so that it is complete. */
void huffman_make(const uint32_t *counts, unsigned n, unsigned limit, struct huffman_code *codes);

#endif
