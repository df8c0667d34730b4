/* NPZ by its members: a new archive of changed ones, with checksums and a directory that are right;
 * of one in four some bytes of the headers are then changed. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "parts.h"

#define LOCAL     0x04034b50
#define DIRECTORY 0x02014b50
#define END       0x06054b50

static const char *const names[] = {"image.npy", "meta.json", "dx.npy", "a.npy", "x", NULL};

static uint32_t le(const uint8_t *at, unsigned bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* By local headers, whose sizes may be in the directory alone: then the member is left out. */
static bool take_apart(struct parts *parts, const uint8_t *data, size_t size)
{
    for (size_t at = 0; size - at >= 30 && le(data + at, 4) == LOCAL;) {
        size_t packed = le(data + at + 18, 4), unpacked, name_size = le(data + at + 26, 2);
        size_t begin = at + 30 + name_size + le(data + at + 28, 2);
        char name[PART_NAME_MAX] = "";
        if (packed == UINT32_MAX) /* of 64 bits: the first extra field */
            packed = begin <= size && begin >= at + 30 + name_size + 20
                         ? le(data + at + 30 + name_size + 12, 4)
                         : UINT32_MAX;
        if (begin > size || packed > size - begin)
            break;
        memcpy(name, data + at + 30, name_size < sizeof name ? name_size : sizeof name - 1);
        bool deflated = le(data + at + 8, 2) == 8;
        uint8_t *member = deflated ? parts_unpack(data + begin, packed, &unpacked, true) : NULL;
        parts_add(parts, name, member ? member : data + begin, member ? unpacked : packed);
        parts->list[parts->n - 1].packed = deflated;
        free(member);
        at = begin + packed;
    }
    return parts->n > 0;
}

static void put_header(struct sink_of_bytes *sink, const struct part *part, size_t packed,
                       bool in_directory, size_t offset)
{
    uint32_t sum = (uint32_t)crc32(0, part->data, (unsigned)part->size) + part->spoilt;
    size_t name = strlen(part->name);
    sink_put_le(sink, in_directory ? DIRECTORY : LOCAL, 4);
    if (in_directory)
        sink_put_le(sink, 20, 2);
    sink_put_le(sink, 20, 2);
    sink_put_le(sink, 0, 2);
    sink_put_le(sink, part->packed ? 8 : 0, 2);
    sink_put_le(sink, 0x00210000, 4);
    sink_put_le(sink, sum, 4);
    sink_put_le(sink, packed, 4);
    sink_put_le(sink, part->size, 4);
    sink_put_le(sink, name, 2);
    sink_put_le(sink, 0, in_directory ? 12 : 2);
    if (in_directory) {
        sink_put_le(sink, 0, 2);
        sink_put_le(sink, offset, 4);
    }
    sink_put(sink, part->name, name);
}

static void put_together(struct sink_of_bytes *sink, const struct parts *parts)
{
    size_t offsets[PARTS_MAX], sizes[PARTS_MAX];
    for (size_t i = 0; i < parts->n; i++) {
        const struct part *part = &parts->list[i];
        sizes[i] = part->size;
        uint8_t *packed = part->packed ? parts_pack(part->data, part->size, &sizes[i], true) : NULL;
        offsets[i] = sink->size;
        put_header(sink, part, sizes[i], false, 0);
        sink_put(sink, packed ? packed : part->data, sizes[i]);
        free(packed);
    }
    size_t directory = sink->size;
    for (size_t i = 0; i < parts->n; i++)
        put_header(sink, &parts->list[i], sizes[i], true, offsets[i]);
    size_t size = sink->size - directory;
    sink_put_le(sink, END, 4);
    sink_put_le(sink, 0, 4);
    sink_put_le(sink, parts->n, 2);
    sink_put_le(sink, parts->n, 2);
    sink_put_le(sink, size, 4);
    sink_put_le(sink, directory, 4);
    sink_put_le(sink, 0, 2);
}

/* Bytes of local headers, the directory, and its end. */
static void spoil_headers(uint8_t *data, size_t size, unsigned seed)
{
    size_t marks[3 * PARTS_MAX], n = 0;
    for (size_t at = 0; at + 30 < size && n < 3 * PARTS_MAX; at++)
        if (data[at] == 'P' && data[at + 1] == 'K' && data[at + 2] < 8)
            marks[n++] = at;
    for (int i = 0; i < 3 && n > 0; i++) {
        size_t at = marks[seed % n] + (seed >> 8) % 46;
        if (at < size)
            LLVMFuzzerMutate(data + at, 1, 1);
        seed = seed * 1103515245 + 12345;
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
    if (seed % 4 == 1)
        spoil_headers(data, sink.size, seed / 8);
    return sink.size;
}
