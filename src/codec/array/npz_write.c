/* The NPZ encoder: each plane as an NPY array, then meta.json. */
#include "codec/array/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/array/npy.h"
#include "codec/byte_order.h"
#include "codec/output.h"

#define VERSION  45          /* 4.5 of the format, which readers need for ZIP64 */
#define UNIX     3           /* external attributes are those of Unix … */
#define MODE     0x81A4      /* … of a regular file, rw-r--r-- */
#define DATE     0x21        /* 1 January 1980, the earliest: equal pictures give equal archives */
#define FOLLOWS  8           /* flag: sizes and CRC follow the data */
#define ZIP64    1           /* identifier of the extra field with sizes of 64 bits */
#define IN_ZIP64 0xFFFFFFFFu /* in a field of 32 bits: the value is in the extra field */

/* ---- ZIP archives ---- */

/* Writes ZIP archives as a stream, without seeking, so that they may go to a pipe. Only the
 * directory is kept in memory. All sizes have 64 bits (ZIP64). libzip, which reads archives here,
 * can write only where it can seek.
 *
 * The format: APPNOTE.TXT of PKWARE, version 6.3.10, sections 4.3 to 4.5. */
struct zip_writer {
    struct output *output;
    int level;
    bool mends;  /* the output can be mended: CRCs are put in afterwards */
    uint64_t at; /* bytes of the archive written so far */
    uint64_t members;
    struct text directory;
    bool failed; /* memory was out */

    /* Of the member that is being written. */
    char name[NPZ_MEMBER_MAX];
    uint64_t size, begin;
    bool counting; /* its content goes into the CRC, and is not written */
    uint32_t crc;
    uint64_t packed; /* compressed bytes */
    z_stream stream;
    uint8_t buffer[32768];
};

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

#define CRC_AT 14 /* bytes behind the beginning of a local header */

/* Sizes and CRC are known only of a member that is stored; otherwise a descriptor follows. */
static void put_local_header(struct zip_writer *w)
{
    uint8_t header[30], extra[20], *at;
    bool known = w->level == 0;
    uint64_t size = w->size;
    at = put_common(put32(header, 0x04034b50), w->level, known ? w->crc : 0, strlen(w->name),
                    sizeof extra);
    put(w, header, (size_t)(at - header));
    put(w, w->name, strlen(w->name));
    at = put16(put16(extra, ZIP64), 16);
    at = put64(put64(at, known ? size : 0), known ? size : 0);
    put(w, extra, (size_t)(at - extra));
}

static void add_entry(struct zip_writer *w)
{
    uint8_t entry[46], extra[28], *at;
    at = put16(put32(entry, 0x02014b50), UNIX << 8 | VERSION);
    at = put_common(at, w->level, w->crc, strlen(w->name), sizeof extra);
    at = put16(put16(put16(at, 0), 0), 0); /* comment, disk, internal attributes */
    at = put32(put32(at, (uint32_t)MODE << 16), IN_ZIP64);
    text_append_bytes(&w->directory, (char *)entry, (size_t)(at - entry));
    text_append(&w->directory, w->name);
    at = put16(put16(extra, ZIP64), 24);
    at = put64(put64(put64(at, w->size), w->packed), w->begin);
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

/* Writes content of a member. */
static void zip_write(struct zip_writer *w, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size > 0) {
        size_t n = size < 1 << 30 ? size : 1 << 30; /* zlib counts in 32 bits */
        if (w->counting || w->level > 0 || w->mends)
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

/* Whether the content of a member has to be gone through once before it is written, by zip_write:
 * its CRC stands in front of it. */
static bool zip_counts(struct zip_writer *w)
{
    w->crc = 0;
    w->counting = w->level == 0 && !w->mends;
    return w->counting;
}

/* Begins a member of `size` bytes, whose name has been set. */
static void zip_begin(struct zip_writer *w, uint64_t size)
{
    w->counting = false;
    w->begin = w->at;
    w->size = size;
    w->packed = w->level > 0 ? 0 : size;
    if (w->level > 0) {
        memset(&w->stream, 0, sizeof w->stream);
        w->failed |= deflateInit2(&w->stream, w->level, Z_DEFLATED, -MAX_WBITS, 8,
                                  Z_DEFAULT_STRATEGY) != Z_OK;
    }
    if (!w->failed)
        put_local_header(w);
}

static void zip_end(struct zip_writer *w)
{
    uint8_t descriptor[24], *at;
    if (w->level > 0) {
        deflate_some(w, Z_FINISH);
        deflateEnd(&w->stream);
        at = put32(put32(descriptor, 0x08074b50), w->crc);
        at = put64(put64(at, w->packed), w->size);
        put(w, descriptor, (size_t)(at - descriptor));
    } else if (w->mends) {
        put32(descriptor, w->crc);
        output_mend(w->output, w->begin + CRC_AT, descriptor, 4);
    }
    add_entry(w);
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
    return value < most ? (uint32_t)value : most;
}

/* Writes the directory. False if memory was out at any time; failures of the output are left to
 * output_flush. */
static bool zip_finish(struct zip_writer *w)
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

/* ---- members ---- */

void npz_member_name(const char *plane, char member[NPZ_MEMBER_MAX])
{
    snprintf(member, NPZ_MEMBER_MAX, "%.*s.npy", PLANE_NAME_MAX - 1, plane[0] ? plane : "image");
}

static void write_row(struct zip_writer *writer, const uint8_t *row, size_t bytes, size_t size)
{
    uint8_t swapped[4096];
    if (!HOST_IS_BIG_ENDIAN || size == 1) {
        zip_write(writer, row, bytes);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < sizeof swapped ? bytes - done : sizeof swapped;
        sample_copy(swapped, row + done, n / size, size, true);
        zip_write(writer, swapped, n);
        done += n;
    }
}

static void write_rows(struct zip_writer *writer, const struct picture *picture, size_t index,
                       uint32_t y, uint32_t end)
{
    const struct plane *plane = &picture->frame.planes[index];
    for (; y < end && !writer->failed; y++)
        write_row(writer, picture_row(picture, index, y), plane_row_bytes(plane),
                  sample_size(plane->type));
}

static int check_names(const struct frame *frame, struct fault *fault)
{
    char a[NPZ_MEMBER_MAX], b[NPZ_MEMBER_MAX];
    for (size_t i = 0; i < frame->n_planes; i++) {
        npz_member_name(frame->planes[i].name, a);
        for (size_t k = 0; k < i; k++) {
            npz_member_name(frame->planes[k].name, b);
            if (strcmp(a, b) == 0)
                return fault_set(fault, FAULT_SHAPE, "npz: two planes would both be %s", a);
        }
    }
    return 0;
}

/* Begins the member of a plane. */
static int begin_plane(struct zip_writer *w, const struct picture *picture, size_t index,
                       struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[index];
    struct text header = {0};
    npz_member_name(plane->name, w->name);
    npy_print_header(plane, &header);
    bool failed = header.failed;
    if (!failed && zip_counts(w)) {
        zip_write(w, header.data, header.length);
        write_rows(w, picture, index, 0, plane->height);
    }
    if (!failed) {
        zip_begin(w, header.length + plane_bytes(plane));
        zip_write(w, header.data, header.length);
    }
    text_finish(&header);
    return failed ? fault_set(fault, FAULT_MEMORY, "no memory for a header") : 0;
}

static int add_meta(struct zip_writer *w, const struct frame *frame, struct fault *fault)
{
    struct text meta = {0};
    bool good = npz_print_meta(frame, &meta);
    strcpy(w->name, NPZ_META);
    if (good && zip_counts(w))
        zip_write(w, meta.data, meta.length);
    if (good) {
        zip_begin(w, meta.length);
        zip_write(w, meta.data, meta.length);
        zip_end(w);
    }
    text_finish(&meta);
    return good ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for " NPZ_META);
}

static int begin_archive(struct encoder *e, const struct frame *frame, bool whole,
                         struct fault *fault)
{
    const struct npz_config *config = e->config;
    struct npz_writer *state = e->state;
    int result = check_names(frame, fault);
    if (result != 0)
        return result;
    struct zip_writer *w = state->zip = malloc(sizeof *w);
    if (!w)
        return fault_set(fault, FAULT_MEMORY, "no memory for an archive");
    memset(w, 0, offsetof(struct zip_writer, buffer));
    w->output = e->output;
    w->level = (int)config->level;
    w->mends = output_can_mend(e->output);
    return whole || w->mends || w->level > 0
               ? 0
               : fault_set(fault, FAULT_INTERNAL, "rows of an npz for an output that cannot seek");
}

int npz_encode(struct encoder *e, const struct picture *picture, uint32_t end, struct fault *fault)
{
    struct npz_writer *state = e->state;
    const struct frame *frame = &picture->frame;
    bool is_end = end == frame->planes[0].height;
    int result = e->row == 0 ? begin_archive(e, frame, is_end, fault) : 0;
    struct zip_writer *w = state->zip;
    for (size_t i = 0; i < frame->n_planes && result == 0 && !e->output->fault.code; i++) {
        uint32_t last = frame->n_planes > 1 ? frame->planes[i].height : end;
        if (e->row == 0)
            result = begin_plane(w, picture, i, fault);
        if (result == 0)
            write_rows(w, picture, i, e->row, last);
        if (result == 0 && is_end)
            zip_end(w);
    }
    if (result == 0 && is_end)
        result = add_meta(w, frame, fault);
    if (result == 0 && w->failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for an archive");
    if (result == 0 && is_end && !zip_finish(w))
        result = fault_set(fault, FAULT_MEMORY, "no memory for an archive");
    return result;
}

void npz_encode_close(struct encoder *e)
{
    struct zip_writer *w = ((struct npz_writer *)e->state)->zip;
    if (!w)
        return;
    if (w->stream.state)
        deflateEnd(&w->stream);
    text_finish(&w->directory);
    free(w);
}
