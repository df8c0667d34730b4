#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define UNPACKED_MAX (1u << 20)
#define GROWTH       64 /* bytes by which a part may grow in one step */

void parts_add(struct parts *parts, const char *name, const void *data, size_t size)
{
    if (parts->n == PARTS_MAX)
        return;
    struct part *part = &parts->list[parts->n++];
    *part = (struct part){.data = malloc(size + 1), .size = size};
    snprintf(part->name, sizeof part->name, "%s", name);
    if (!part->data)
        abort();
    if (size > 0)
        memcpy(part->data, data, size);
}

void parts_finish(struct parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        free(parts->list[i].data);
    parts->n = 0;
}

static void mutate_data(struct part *part)
{
    uint8_t *data = realloc(part->data, part->size + GROWTH);
    if (!data)
        abort();
    part->data = data;
    part->size = LLVMFuzzerMutate(data, part->size, part->size + GROWTH);
}

static void move_part(struct parts *parts, size_t from, size_t to)
{
    struct part part = parts->list[from];
    memmove(&parts->list[from], &parts->list[from + 1],
            (parts->n - from - 1) * sizeof *parts->list);
    memmove(&parts->list[to + 1], &parts->list[to], (parts->n - to - 1) * sizeof *parts->list);
    parts->list[to] = part;
}

void parts_mutate(struct parts *parts, const char *const *names, unsigned seed)
{
    size_t n_names = 0, n = parts->n;
    while (names[n_names])
        n_names++;
    if (n == 0) {
        parts_add(parts, names[seed % n_names], "", 0);
        return;
    }
    size_t at = (seed >> 8) % n, to = (seed >> 16) % n;
    struct part *part = &parts->list[at];
    switch (seed % 16) {
    case 0:
        free(part->data);
        memmove(part, part + 1, (n - at - 1) * sizeof *part);
        parts->n--;
        break;
    case 1:
    case 2: {
        bool packed = part->packed;
        parts_add(parts, part->name, part->data, part->size);
        parts->list[parts->n - 1].packed = packed;
        move_part(parts, parts->n - 1, to);
        break;
    }
    case 3:
        move_part(parts, at, to);
        break;
    case 4:
    case 5:
        parts_add(parts, names[(seed >> 20) % n_names], "\0\0\0\1", 4 * (seed >> 31));
        mutate_data(&parts->list[parts->n - 1]);
        move_part(parts, parts->n - 1, to);
        break;
    case 6:
        snprintf(part->name, sizeof part->name, "%s", names[(seed >> 20) % n_names]);
        break;
    case 7:
        part->spoilt = true;
        break;
    default:
        mutate_data(part);
    }
}

static uint8_t *flate(const uint8_t *data, size_t size, size_t *made, bool pack, bool raw)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (unsigned)size};
    int bits = raw ? -15 : 15;
    uint8_t *out = malloc(UNPACKED_MAX);
    if (!out || (pack ? deflateInit2(&stream, 1, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY)
                      : inflateInit2(&stream, bits)) != Z_OK)
        abort();
    stream.next_out = out;
    stream.avail_out = UNPACKED_MAX;
    int result = pack ? deflate(&stream, Z_FINISH) : inflate(&stream, Z_FINISH);
    *made = UNPACKED_MAX - stream.avail_out;
    pack ? deflateEnd(&stream) : inflateEnd(&stream);
    if (result == Z_STREAM_END)
        return out;
    free(out);
    return NULL;
}

uint8_t *parts_unpack(const uint8_t *data, size_t size, size_t *unpacked, bool raw)
{
    return flate(data, size, unpacked, false, raw);
}

uint8_t *parts_pack(const uint8_t *data, size_t size, size_t *packed, bool raw)
{
    return flate(data, size, packed, true, raw);
}

void sink_put(struct sink_of_bytes *sink, const void *data, size_t size)
{
    if (size > sink->limit - sink->size) {
        sink->full = true;
        return;
    }
    if (size > 0)
        memcpy(sink->data + sink->size, data, size);
    sink->size += size;
}

void sink_put_be(struct sink_of_bytes *sink, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0)
        sink_put(sink, &(uint8_t){(uint8_t)(value >> 8 * bytes)}, 1);
}

void sink_put_le(struct sink_of_bytes *sink, uint64_t value, unsigned bytes)
{
    for (; bytes-- > 0; value >>= 8)
        sink_put(sink, &(uint8_t){(uint8_t)value}, 1);
}
