/* Exif 2.32 §4.5–4.6: a TIFF 6.0 structure whose offsets count from its own header. Only IFD0 is
 * looked at, once, so nothing can loop. */
#include "codec/exif.h"

#include <string.h>

#include "codec/byte_order.h"

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT      3
#define TYPE_LONG       4 /* not what the standard says, but what some writers do */

struct tiff {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint16_t get16(const struct tiff *tiff, size_t at)
{
    return tiff->big_endian ? load_be16(tiff->data + at) : load_le16(tiff->data + at);
}

static uint32_t get32(const struct tiff *tiff, size_t at)
{
    return tiff->big_endian ? load_be32(tiff->data + at) : load_le32(tiff->data + at);
}

static bool open_tiff(struct tiff *tiff, const uint8_t *data, size_t size)
{
    if (size >= 6 && memcmp(data, "Exif\0", 5) == 0) {
        data += 6;
        size -= 6;
    }
    if (size < 8)
        return false;
    *tiff = (struct tiff){data, size, memcmp(data, "MM", 2) == 0};
    return (tiff->big_endian || memcmp(data, "II", 2) == 0) && get16(tiff, 2) == 42;
}

unsigned exif_orientation(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    if (!open_tiff(&tiff, data, size))
        return 1;
    size_t at = get32(&tiff, 4);
    if (at > tiff.size - 2)
        return 1;
    unsigned entries = get16(&tiff, at);
    for (at += 2; entries > 0 && tiff.size - at >= 12; at += 12, entries--) {
        if (get16(&tiff, at) != TAG_ORIENTATION)
            continue;
        unsigned type = get16(&tiff, at + 2);
        if ((type != TYPE_SHORT && type != TYPE_LONG) || get32(&tiff, at + 4) != 1)
            return 1;
        uint32_t value = type == TYPE_SHORT ? get16(&tiff, at + 8) : get32(&tiff, at + 8);
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}
