#include "codec/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/byte_order.h"
#include "codec/exif.h"

/* ICC.1:2022 §7.2: the profile's header begins with its size; at these offsets are the colour space
 * of its input and the signature "acsp". */
#define ICC_HEADER    128
#define ICC_SPACE     16
#define ICC_SIGNATURE 36

void metadata_finish(struct metadata *metadata)
{
    free(metadata->exif.data);
    free(metadata->icc.data);
    free(metadata->xmp.data);
    *metadata = (struct metadata){0};
}

size_t metadata_size(const struct metadata *metadata)
{
    return metadata->exif.size + metadata->icc.size + metadata->xmp.size;
}

static void set(struct metadata_block *block, const uint8_t *data, size_t size)
{
    if (block->data || size == 0 || size > METADATA_MAX || !(block->data = malloc(size)))
        return;
    memcpy(block->data, data, size);
    block->size = size;
}

void metadata_set_exif(struct metadata *metadata, const uint8_t *data, size_t size, bool upright)
{
    struct metadata_block *exif = &metadata->exif;
    if (exif->data)
        return;
    size_t prefix = size >= 6 && memcmp(data, "Exif\0", 5) == 0 ? 6 : 0;
    set(exif, data + prefix, size - prefix);
    if (exif->data && !exif_clean(exif->data, &exif->size, upright)) {
        free(exif->data);
        *exif = (struct metadata_block){0};
    }
}

void metadata_set_icc(struct metadata *metadata, const uint8_t *data, size_t size)
{
    if (size >= ICC_HEADER && load_be32(data) == size &&
        memcmp(data + ICC_SIGNATURE, "acsp", 4) == 0)
        set(&metadata->icc, data, size);
}

void metadata_set_xmp(struct metadata *metadata, const uint8_t *data, size_t size)
{
    set(&metadata->xmp, data, size);
}

struct metadata_block metadata_profile(const struct metadata *metadata, uint32_t channels)
{
    const struct metadata_block *icc = &metadata->icc;
    const char *space = channels > 2 ? "RGB " : "GRAY";
    bool fits = icc->data && memcmp(icc->data + ICC_SPACE, space, 4) == 0;
    return fits ? *icc : (struct metadata_block){0};
}

uint32_t metadata_density(const struct metadata *metadata, uint32_t value, enum density_unit unit)
{
    static const double metres[] = {
        [DENSITY_INCH] = 0.0254, [DENSITY_CENTIMETRE] = 0.01, [DENSITY_METRE] = 1};
    if (metadata->density_unit == DENSITY_ASPECT)
        return value;
    double v = rint(value / metres[metadata->density_unit] * metres[unit]);
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}
