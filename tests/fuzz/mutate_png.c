/* PNG by its chunks: lengths and checksums are right, and the pixels are changed unpacked. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "parts.h"

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

static const char *const names[] = {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB",
                                    "iCCP", "eXIf", "tEXt", "zTXt", "iTXt", "bKGD", "pHYs", "sBIT",
                                    "hIST", "tIME", "sPLT", "acTL", "fcTL", "fdAT", "cICP", NULL};

static uint32_t be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool take_apart(struct parts *parts, const uint8_t *data, size_t size)
{
    if (size < sizeof signature || memcmp(data, signature, sizeof signature) != 0)
        return false;
    for (size_t at = sizeof signature; size - at >= 12;) {
        size_t length = be32(data + at), unpacked;
        char name[5] = {0};
        if (length > size - at - 12)
            break;
        memcpy(name, data + at + 4, 4);
        uint8_t *pixels = strcmp(name, "IDAT") == 0
                              ? parts_unpack(data + at + 8, length, &unpacked, false)
                              : NULL;
        parts_add(parts, name, pixels ? pixels : data + at + 8, pixels ? unpacked : length);
        parts->list[parts->n - 1].packed = pixels != NULL;
        free(pixels);
        at += 12 + length;
    }
    return parts->n > 0;
}

static void put_together(struct sink_of_bytes *sink, const struct parts *parts)
{
    sink_put(sink, signature, sizeof signature);
    for (size_t i = 0; i < parts->n && !sink->full; i++) {
        const struct part *part = &parts->list[i];
        size_t size = part->size;
        uint8_t *packed = part->packed ? parts_pack(part->data, part->size, &size, false) : NULL;
        const uint8_t *data = packed ? packed : part->data;
        struct sink_of_bytes before = *sink;
        uint32_t sum = (uint32_t)crc32(0, (const uint8_t *)part->name, 4);
        sink_put_be(sink, size, 4);
        sink_put(sink, part->name, 4);
        sink_put(sink, data, size);
        sink_put_be(sink, (size ? crc32(sum, data, (unsigned)size) : sum) + part->spoilt, 4);
        if (sink->full)
            sink->size = before.size;
        free(packed);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    struct parts parts = {.n = 0};
    struct sink_of_bytes sink = {data, 0, limit, false};
    if (seed % 8 == 0 || !take_apart(&parts, data, size))
        return LLVMFuzzerMutate(data, size, limit);
    parts_mutate(&parts, names, seed / 8 * 2654435761u);
    put_together(&sink, &parts);
    parts_finish(&parts);
    return sink.size;
}
