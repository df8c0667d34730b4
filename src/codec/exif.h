/* Exif blocks of inputs: the orientation is read, and a block is prepared for being copied into a
 * result. Both functions accept any bytes. */
#ifndef SLUICE_CODEC_EXIF_H
#define SLUICE_CODEC_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The orientation, 1 to 8, in an Exif block, with or without "Exif\0\0" in front; 1 if the block is
 * damaged, has none or an invalid one. */
unsigned exif_orientation(const uint8_t *data, size_t size);

/* Changes an Exif block (without "Exif\0\0" in front) in place so that it may be stored in a
 * result: the thumbnail and its directory are cut off or overwritten with zeros, because they show
 * the picture before it was processed, and with `upright` the orientation becomes 1. False if the
 * block is not to be used, because its first directory is damaged or it asks for too many
 * overwrites. */
bool exif_clean(uint8_t *data, size_t *size, bool upright);

#endif
