/* Metadata of a picture file: Exif, a colour profile, XMP and density. The blocks are untrusted
 * bytes, which are copied after their lengths were checked. A block that is damaged or larger than
 * METADATA_MAX, or for which memory is out, is left out; the picture is processed without it. */
#ifndef SLUICE_CODEC_METADATA_H
#define SLUICE_CODEC_METADATA_H

#include "codec/input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METADATA_MAX (1 << 20) /* bytes of one block */

/* Which blocks a result gets: the values of an output format's parameter `meta`. */
enum metadata_choice {
    METADATA_STRIP,
    METADATA_KEEP, /* all but XMP */
    METADATA_ALL,
};

struct metadata_block {
    uint8_t *data; /* owned; NULL: there is none */
    size_t size;
};

enum density_unit {
    DENSITY_ASPECT, /* no unit: x and y give only the pixels' aspect ratio */
    DENSITY_INCH,
    DENSITY_CENTIMETRE,
    DENSITY_METRE,
};

struct metadata {
    struct metadata_block exif;    /* from the TIFF header on */
    struct metadata_block icc;     /* a profile of the ICC */
    struct metadata_block xmp;     /* an XMP packet */
    uint32_t density_x, density_y; /* pixels per unit; 0: unknown */
    enum density_unit density_unit;
};

void metadata_finish(struct metadata *metadata);

/* What of it a result gets; borrowed. */
struct metadata metadata_part(const struct metadata *metadata, enum metadata_choice choice);

/* Bytes of all blocks together. */
size_t metadata_size(const struct metadata *metadata);

/* These copy a block unless there is one of that kind already. An Exif block (with or without
 * "Exif\0\0" in front) loses its thumbnail; with `upright`, if the orientation is applied to the
 * pixels, its orientation becomes 1. */
void metadata_set_exif(struct metadata *metadata, const uint8_t *data, size_t size, bool upright);
/* The same for what a TIFF file (not BigTIFF) has of Exif beside its picture. */
void metadata_set_tiff(struct metadata *metadata, struct decoder_input *input, bool upright);
void metadata_set_icc(struct metadata *metadata, const uint8_t *data, size_t size);
void metadata_set_xmp(struct metadata *metadata, const uint8_t *data, size_t size);

/* The profile if it is for pictures of so many channels (RGB for 3 and 4, grey for 1 and 2),
 * otherwise {0}; borrowed. */
struct metadata_block metadata_profile(const struct metadata *metadata, uint32_t channels);

/* Converts density_x or density_y to another unit, rounded; unchanged for DENSITY_ASPECT. */
uint32_t metadata_density(const struct metadata *metadata, uint32_t value, enum density_unit unit);

/* The orientation, 1 to 8, in an Exif block, with or without "Exif\0\0" in front; 1 if the block is
 * damaged, has none or an invalid one. */
unsigned exif_orientation(const uint8_t *data, size_t size);

/* Changes an Exif block (without "Exif\0\0" in front) in place so that it may be stored in a
 * result: the thumbnail and its directory are cut off or overwritten with zeros, because they show
 * the picture before it was processed, and with `upright` the orientation becomes 1. False if the
 * block is not to be used, because its first directory is damaged or it asks for too many
 * overwrites. */
bool exif_clean(uint8_t *data, size_t *size, bool upright);

/* A copy of an Exif block, or of what a TIFF file has of one: texts about the picture and its
 * maker, orientation, and Exif's own directories. */
struct exif_copy {
    struct metadata_block block; /* the caller frees its data */
    uint32_t exif, gps;          /* offsets of these directories; 0: there is none */
    bool has_texts;
};

/* Makes one whose offsets count from `base` bytes in front of it, so that it may lie there in
 * another TIFF file of the same order of bytes. False if the directories are damaged or larger than
 * METADATA_MAX, or memory is out. */
bool exif_copy(struct decoder_input *input, uint32_t base, struct exif_copy *copy);

/* The text of a tag of the first directory, cut to `room`; false: there is none. */
bool exif_text(const uint8_t *data, size_t size, uint16_t tag, char *text, size_t room);

#endif
