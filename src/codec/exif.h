/* Exif, as far as a picture's pixels are concerned: its orientation, and what goes with a result.
 */
#ifndef SLUICE_CODEC_EXIF_H
#define SLUICE_CODEC_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The orientation, 1 to 8, that an Exif block asks for: a TIFF header and its first directory, with
 * or without "Exif\0\0" in front. 1 where it says nothing, or nothing that makes sense: metadata
 * that are damaged do no harm to the pixels. Any bytes are safe. */
unsigned exif_orientation(const uint8_t *data, size_t size);

/* Makes of a TIFF structure (nothing in front) what may stand in a result: the thumbnail and its
 * directory are cut off or overwritten with zeros, because they show the picture as it was, and
 * with `upright` the orientation is 1. False where the first directory is broken. Any bytes are
 * safe. */
bool exif_clean(uint8_t *data, size_t *size, bool upright);

#endif
