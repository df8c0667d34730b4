#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "files.h"

/* A member's content as it stands in the archive. */
static void pack(struct file *packed, const struct zip_part *part, bool deflated)
{
    static uint8_t room[1 << 16];
    z_stream stream = {0};
    if (!deflated) {
        file_put(packed, part->data, part->size);
        return;
    }
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *)part->data;
    stream.avail_in = (uInt)part->size;
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = room;
        stream.avail_out = sizeof room;
        result = deflate(&stream, Z_FINISH);
        file_put(packed, room, sizeof room - stream.avail_out);
    }
    if (result != Z_STREAM_END)
        abort();
    deflateEnd(&stream);
}

/* The fields that local header and directory entry share. */
static void put_common(struct file *file, const struct zip_part *part, size_t packed, bool deflated,
                       bool zip64)
{
    file_put_le16(file, zip64 ? 45 : 20);
    file_put_le16(file, 0);
    file_put_le16(file, deflated ? 8 : 0);
    file_put_le32(file, 0x00210000); /* 1 January 1980 */
    file_put_le32(file, (uint32_t)crc32(0, part->data, (uInt)part->size));
    file_put_le32(file, zip64 ? 0xFFFFFFFF : (uint32_t)packed);
    file_put_le32(file, zip64 ? 0xFFFFFFFF : (uint32_t)part->size);
    file_put_le16(file, (unsigned)strlen(part->name));
    file_put_le16(file, zip64 ? 20 : 0);
}

void make_zip(struct file *file, const struct zip_part *parts, size_t count, bool deflated,
              bool zip64)
{
    struct file directory = {0};
    for (size_t i = 0; i < count; i++) {
        struct file packed = {0};
        size_t begin = file->size;
        pack(&packed, &parts[i], deflated);
        file_put_le32(file, 0x04034b50);
        put_common(file, &parts[i], packed.size, deflated, zip64);
        file_put_text(file, parts[i].name);
        if (zip64) {
            file_put_le16(file, 1);
            file_put_le16(file, 16);
            file_put_le32(file, (uint32_t)parts[i].size);
            file_put_le32(file, 0);
            file_put_le32(file, (uint32_t)packed.size);
            file_put_le32(file, 0);
        }
        file_put(file, packed.data, packed.size);
        file_put_le32(&directory, 0x02014b50);
        file_put_le16(&directory, 0x0314);
        put_common(&directory, &parts[i], packed.size, deflated, false);
        file_put_zeros(&directory, 10);
        file_put_le32(&directory, (uint32_t)begin);
        file_put_text(&directory, parts[i].name);
        file_finish(&packed);
    }
    size_t begin = file->size;
    file_put(file, directory.data, directory.size);
    file_put_le32(file, 0x06054b50);
    file_put_le32(file, 0);
    file_put_le16(file, (unsigned)count);
    file_put_le16(file, (unsigned)count);
    file_put_le32(file, (uint32_t)directory.size);
    file_put_le32(file, (uint32_t)begin);
    file_put_le16(file, 0);
    file_finish(&directory);
}
