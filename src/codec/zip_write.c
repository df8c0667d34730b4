#include "codec/zip_write.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/byte_order.h"

#define VERSION  45          /* 4.5 of the format, which readers need for ZIP64 */
#define UNIX     3           /* external attributes are those of Unix … */
#define MODE     0x81A4      /* … of a regular file, rw-r--r-- */
#define DATE     0x21        /* 1 January 1980, the earliest: equal pictures give equal archives */
#define FOLLOWS  8           /* flag: sizes and CRC follow the data */
#define ZIP64    1           /* identifier of the extra field with sizes of 64 bits */
#define IN_ZIP64 0xFFFFFFFFu /* in a field of 32 bits: the value is in the extra field */

struct zip_writer {
    struct output *output;
    int level;
    uint64_t at; /* bytes of the archive written so far */
    uint64_t members;
    struct text directory;
    bool failed; /* memory was out */

    /* Of the member that is being written. */
    bool counting; /* its content goes into the CRC, and is not written */
    uint32_t crc;
    uint64_t packed; /* compressed bytes */
    z_stream stream;
    uint8_t buffer[32768];
};

struct zip_writer *zip_create(struct output *output, int level)
{
    struct zip_writer *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, offsetof(struct zip_writer, buffer));
    w->output = output;
    w->level = level;
    return w;
}

void zip_destroy(struct zip_writer **writer)
{
    if (*writer)
        text_finish(&(*writer)->directory);
    free(*writer);
    *writer = NULL;
}

static void put(struct zip_writer *w, const void *data, size_t size)
{
    output_write(w->output, data, size);
    w->at += size;
}

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    store_le16(at, value);
    return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    store_le32(at, value);
    return at + 4;
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

/* The fields that local header and directory entry have in common, from the version to the length
 * of the extra field. */
static uint8_t *put_common(uint8_t *at, int level, uint32_t crc, size_t name_length, size_t extra)
{
    at = put16(at, VERSION);
    at = put16(at, level ? FOLLOWS : 0);
    at = put16(at, level ? Z_DEFLATED : 0);
    at = put16(at, 0);
    at = put16(at, DATE);
    at = put32(at, crc);
    at = put32(at, IN_ZIP64);
    at = put32(at, IN_ZIP64);
    at = put16(at, (uint32_t)name_length);
    return put16(at, (uint32_t)extra);
}

/* Sizes and CRC are known only of a member that is stored; otherwise put_descriptor writes them. */
static void put_local_header(struct zip_writer *w, const char *name, uint64_t size)
{
    uint8_t header[30], extra[20], *at;
    bool known = w->level == 0;
    at = put_common(put32(header, 0x04034b50), w->level, known ? w->crc : 0, strlen(name),
                    sizeof extra);
    put(w, header, (size_t)(at - header));
    put(w, name, strlen(name));
    at = put16(put16(extra, ZIP64), 16);
    at = put64(put64(at, known ? size : 0), known ? size : 0);
    put(w, extra, (size_t)(at - extra));
}

static void put_descriptor(struct zip_writer *w, uint64_t size)
{
    uint8_t descriptor[24], *at = put32(put32(descriptor, 0x08074b50), w->crc);
    at = put64(put64(at, w->packed), size);
    put(w, descriptor, (size_t)(at - descriptor));
}

static void add_entry(struct zip_writer *w, const char *name, uint64_t size, uint64_t begin)
{
    uint8_t entry[46], extra[28], *at;
    at = put16(put32(entry, 0x02014b50), UNIX << 8 | VERSION);
    at = put_common(at, w->level, w->crc, strlen(name), sizeof extra);
    at = put16(put16(put16(at, 0), 0), 0); /* comment, disk, internal attributes */
    at = put32(put32(at, (uint32_t)MODE << 16), IN_ZIP64);
    text_append_bytes(&w->directory, (char *)entry, (size_t)(at - entry));
    text_append(&w->directory, name);
    at = put16(put16(extra, ZIP64), 24);
    at = put64(put64(put64(at, size), w->packed), begin);
    text_append_bytes(&w->directory, (char *)extra, (size_t)(at - extra));
    w->members++;
}

/* Writes zlib's output until it needs more input or has ended. */
static void deflate_some(struct zip_writer *w, int flush)
{
    int state;
    do {
        w->stream.next_out = w->buffer;
        w->stream.avail_out = sizeof w->buffer;
        state = deflate(&w->stream, flush);
        size_t ready = sizeof w->buffer - w->stream.avail_out;
        put(w, w->buffer, ready);
        w->packed += ready;
    } while (w->stream.avail_out == 0 && state == Z_OK);
}

void zip_write(struct zip_writer *w, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size > 0) {
        size_t n = size < 1 << 30 ? size : 1 << 30; /* zlib counts in 32 bits */
        if (w->counting || w->level > 0)
            w->crc = (uint32_t)crc32(w->crc, from, (uInt)n);
        if (!w->counting && w->level > 0) {
            w->stream.next_in = (Bytef *)from; /* zlib only reads it */
            w->stream.avail_in = (uInt)n;
            deflate_some(w, Z_NO_FLUSH);
        } else if (!w->counting) {
            put(w, from, n);
        }
        from += n;
        size -= n;
    }
}

/* The local header comes first and has the CRC, so the content is made twice. */
static void add_stored(struct zip_writer *w, const char *name, uint64_t size, zip_content *content,
                       void *context)
{
    w->counting = true;
    content(context, w);
    w->counting = false;
    w->packed = size;
    put_local_header(w, name, size);
    content(context, w);
}

static void add_deflated(struct zip_writer *w, const char *name, uint64_t size,
                         zip_content *content, void *context)
{
    memset(&w->stream, 0, sizeof w->stream);
    if (deflateInit2(&w->stream, w->level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        w->failed = true;
        return;
    }
    put_local_header(w, name, size);
    content(context, w);
    deflate_some(w, Z_FINISH);
    deflateEnd(&w->stream);
    put_descriptor(w, size);
}

void zip_add(struct zip_writer *w, const char *name, uint64_t size, zip_content *content,
             void *context)
{
    uint64_t begin = w->at;
    if (w->failed)
        return;
    w->crc = 0;
    w->packed = 0;
    if (w->level == 0)
        add_stored(w, name, size, content, context);
    else
        add_deflated(w, name, size, content, context);
    add_entry(w, name, size, begin);
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
    return value < most ? (uint32_t)value : most;
}

bool zip_finish(struct zip_writer *w)
{
    uint8_t end[56 + 20 + 22], *at = end;
    uint64_t begin = w->at, size = w->directory.length, end_64 = begin + size;
    put(w, text_string(&w->directory), w->directory.length);
    at = put64(put32(at, 0x06064b50), 56 - 12); /* ZIP64's end record; its size without these */
    at = put16(put16(at, UNIX << 8 | VERSION), VERSION);
    at = put32(put32(at, 0), 0);
    at = put64(put64(at, w->members), w->members);
    at = put64(put64(at, size), begin);
    at = put64(put32(put32(at, 0x07064b50), 0), end_64); /* the locator of that record */
    at = put32(at, 1);
    at = put16(put16(put32(at, 0x06054b50), 0), 0); /* the ordinary end record */
    at = put16(at, at_most(w->members, 0xFFFF));
    at = put16(at, at_most(w->members, 0xFFFF));
    at = put32(put32(at, at_most(size, IN_ZIP64)), at_most(begin, IN_ZIP64));
    at = put16(at, 0);
    put(w, end, (size_t)(at - end));
    return !w->failed && !w->directory.failed;
}
