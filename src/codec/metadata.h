/* What a file says of its picture besides pixels: Exif, a colour profile, XMP and density. They are
 * untrusted bytes: lengths are checked, then they are copied as they are. What is broken, or larger
 * than METADATA_MAX, is left out, and no picture is refused for it. */
#ifndef SLUICE_CODEC_METADATA_H
#define SLUICE_CODEC_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METADATA_MAX (1 << 20) /* bytes of one block */

/* What an output takes over: the values of `meta`. */
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
    DENSITY_ASPECT, /* x and y tell their ratio alone */
    DENSITY_INCH,
    DENSITY_CENTIMETRE,
    DENSITY_METRE,
};

struct metadata {
    struct metadata_block exif;    /* from the TIFF header on */
    struct metadata_block icc;     /* a profile of the ICC */
    struct metadata_block xmp;     /* an XMP packet */
    uint32_t density_x, density_y; /* pixels by unit; 0: not told */
    enum density_unit density_unit;
};

void metadata_finish(struct metadata *metadata);

/* Bytes that all blocks take. */
size_t metadata_size(const struct metadata *metadata);

/* Takes over an Exif block, with or without "Exif\0\0" in front, unless there is one already:
 * without its thumbnail, and with `upright` as one whose orientation has been applied. */
void metadata_set_exif(struct metadata *metadata, const uint8_t *data, size_t size, bool upright);

/* Takes over a profile, and an XMP packet, unless there is one already. */
void metadata_set_icc(struct metadata *metadata, const uint8_t *data, size_t size);
void metadata_set_xmp(struct metadata *metadata, const uint8_t *data, size_t size);

/* The profile, where it is one for pictures of so many channels: of RGB for 3 and 4, of grey for 1
 * and 2. */
struct metadata_block metadata_profile(const struct metadata *metadata, uint32_t channels);

/* The density in another unit, to the nearest whole number; of DENSITY_ASPECT as it is. */
uint32_t metadata_density(const struct metadata *metadata, uint32_t value, enum density_unit unit);

#endif
