/* How much memory libwebp takes for the Huffman codes of a lossless stream. A small file may ask
 * for a gigabyte. */
#ifndef SLUICE_CODEC_WEBP_CODES_H
#define SLUICE_CODEC_WEBP_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Walks through the `size` bytes of a stream of `width` × `height` pixels, from its first transform
 * on, as far as the number of its groups of codes; *memory becomes the bytes that these take, 0
 * where the stream ends before. FAULT_DATA: it is damaged; FAULT_TIME: the job's time is over. */
int webp_codes_memory(const uint8_t *data, size_t size, uint32_t width, uint32_t height,
                      uint64_t *memory, struct fault *fault);

#endif
