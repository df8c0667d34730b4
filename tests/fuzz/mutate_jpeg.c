/* JPEG by its segments: lengths are right; what is coded between them is a part of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* Markers in hexadecimal; "" is coded data. */
static const char *const names[] = {"C0", "C1", "C2", "C4", "C9", "CA", "CC", "D8", "D9",
                                    "DA", "DB", "DC", "DD", "DE", "DF", "E0", "E1", "E2",
                                    "EE", "FE", "C3", "C5", "D0", "01", "",   NULL};

static bool stands_alone(unsigned marker)
{
    return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD9);
}

static bool is_marker(const uint8_t *at)
{
    return at[0] == 0xFF && at[1] != 0 && at[1] != 0xFF && !(at[1] >= 0xD0 && at[1] <= 0xD7);
}

static bool take_apart(struct parts *parts, const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (size - at >= 2) {
        char name[3] = "";
        size_t begin = at;
        while (at + 1 < size && !is_marker(data + at))
            at++;
        if (at > begin)
            parts_add(parts, "", data + begin, at - begin);
        if (at + 4 > size)
            break;
        unsigned marker = data[at + 1];
        size_t length = stands_alone(marker) ? 0 : (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 2 || (length < 2 && !stands_alone(marker)))
            break;
        snprintf(name, sizeof name, "%02X", marker);
        parts_add(parts, name, data + at + 4, length > 2 ? length - 2 : 0);
        at += 2 + length;
    }
    return parts->n > 0;
}

static void put_together(struct sink_of_bytes *sink, const struct parts *parts)
{
    for (size_t i = 0; i < parts->n; i++) {
        const struct part *part = &parts->list[i];
        size_t before = sink->size, length = part->size < 65533 ? part->size : 65533;
        unsigned marker = (unsigned)strtoul(part->name, NULL, 16);
        if (part->name[0]) {
            sink_put_be(sink, 0xFF00 | marker, 2);
            if (!stands_alone(marker))
                sink_put_be(sink, length + 2 + part->spoilt, 2);
        }
        if (!part->name[0] || !stands_alone(marker))
            sink_put(sink, part->data, length);
        if (sink->full)
            sink->size = before;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    struct parts parts = {.n = 0};
    struct sink_of_bytes sink = {data, 0, limit, false};
    if (seed % 4 == 0 || !take_apart(&parts, data, size))
        return LLVMFuzzerMutate(data, size, limit);
    parts_mutate(&parts, names, seed / 4 * 2654435761u);
    put_together(&sink, &parts);
    parts_finish(&parts);
    return sink.size;
}
