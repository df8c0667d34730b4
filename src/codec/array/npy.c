/* NPY, numpy's format for one array: versions 1.0 to 3.0 as numpy/lib/format.py describes them. A
 * header, then the samples. */
#include "codec/array/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codec/byte_order.h"
#include "codec/output.h"

#define ALIGNMENT 64 /* of the first sample in the file, as numpy writes it */

static const struct {
    char name[3];
    enum sample_type type;
} types[] = {
    {"u1", SAMPLE_U8},  {"i1", SAMPLE_I8},  {"u2", SAMPLE_U16}, {"i2", SAMPLE_I16},
    {"i4", SAMPLE_I32}, {"f2", SAMPLE_F16}, {"f4", SAMPLE_F32}, {"f8", SAMPLE_F64},
};

/* ---- headers ---- */

/* A header's text is a Python dictionary with three known keys; the parser reads just that:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (480, 640), } */
static int damaged(const struct npy_header *h, const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_DATA, "damaged npy: %s at byte %zu of the header", what, h->at);
}

static void skip_blanks(struct npy_header *h)
{
    while (h->at < h->length && (h->text[h->at] == ' ' || h->text[h->at] == '\t' ||
                                 h->text[h->at] == '\n' || h->text[h->at] == '\r'))
        h->at++;
}

/* Skips blanks and, if it comes next, the character. */
static bool take(struct npy_header *h, char c)
{
    skip_blanks(h);
    if (h->at >= h->length || h->text[h->at] != c)
        return false;
    h->at++;
    return true;
}

static bool take_word(struct npy_header *h, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(h);
    if (h->length - h->at < length || memcmp(h->text + h->at, word, length) != 0)
        return false;
    h->at += length;
    return true;
}

/* Takes a quoted string without escapes. */
static bool take_string(struct npy_header *h, const char **string, size_t *length)
{
    skip_blanks(h);
    if (h->at >= h->length || (h->text[h->at] != '\'' && h->text[h->at] != '"'))
        return false;
    const char *begin = h->text + h->at + 1;
    const char *end = memchr(begin, begin[-1], h->length - h->at - 1);
    if (!end || memchr(begin, '\\', (size_t)(end - begin)))
        return false;
    *string = begin;
    *length = (size_t)(end - begin);
    h->at += *length + 2;
    return true;
}

static int unknown_type(const char *descr, size_t length, struct fault *fault)
{
    return fault_set(
        fault, FAULT_FORMAT,
        "unsupported npy: samples of type '%.*s'; readable are u1, i1, u2, i2, i4, f2, "
        "f4 and f8",
        (int)(length > 20 ? 20 : length), descr);
}

/* '<f4', '>i2', '|u1'. */
static int parse_type(struct npy_header *h, struct fault *fault)
{
    const char *descr;
    size_t length;
    skip_blanks(h);
    if (h->at < h->length && h->text[h->at] == '[')
        return fault_set(fault, FAULT_FORMAT, "unsupported npy: samples that are records");
    if (!take_string(h, &descr, &length))
        return damaged(h, "no type", fault);
    if (length != 3 || !memchr("<>=|", descr[0], 4))
        return unknown_type(descr, length, fault);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (memcmp(types[i].name, descr + 1, 2) != 0)
            continue;
        h->type = types[i].type;
        h->big_endian = descr[0] == '>' || (descr[0] == '=' && HOST_IS_BIG_ENDIAN);
        if (descr[0] == '|' && sample_size(h->type) > 1) {
            h->warning = "the type does not say its byte order: least significant first is taken";
            h->big_endian = false;
        }
        return 0;
    }
    return unknown_type(descr, length, fault);
}

/* (480, 640), (480, 640, 3), (480,), as Python writes tuples. */
static int parse_shape(struct npy_header *h, struct fault *fault)
{
    if (!take(h, '('))
        return damaged(h, "no shape", fault);
    while (!take(h, ')')) {
        if (h->rank == NPY_RANK_MAX)
            return fault_set(fault, FAULT_FORMAT,
                             "unsupported npy: an array of more than %d dimensions", NPY_RANK_MAX);
        uint64_t number = 0;
        skip_blanks(h);
        size_t begin = h->at;
        while (h->at < h->length && h->text[h->at] >= '0' && h->text[h->at] <= '9' &&
               number <= INT32_MAX)
            number = number * 10 + (uint64_t)(h->text[h->at++] - '0');
        if (h->at == begin)
            return damaged(h, "no number", fault);
        h->shape[h->rank++] = number;
        if (h->at < h->length && h->text[h->at] == 'L') { /* a long integer of Python 2 */
            h->warning = "the shape is written as Python 2 wrote it";
            h->at++;
        }
        if (!take(h, ',') && (h->rank == 1 || h->at >= h->length || h->text[h->at] != ')'))
            return damaged(h, "no comma", fault); /* in Python (3) is a number, (3,) a tuple */
    }
    return 0;
}

static int parse_order(struct npy_header *h, struct fault *fault)
{
    if (take_word(h, "True"))
        h->fortran = true;
    else if (!take_word(h, "False"))
        return damaged(h, "neither True nor False", fault);
    return 0;
}

static int parse_entry(struct npy_header *h, struct fault *fault)
{
    static const struct {
        const char *name;
        size_t seen;
        int (*parse)(struct npy_header *h, struct fault *fault);
    } keys[] = {
        {"descr", offsetof(struct npy_header, has_type), parse_type},
        {"fortran_order", offsetof(struct npy_header, has_order), parse_order},
        {"shape", offsetof(struct npy_header, has_shape), parse_shape},
    };
    const char *key;
    size_t length;
    if (!take_string(h, &key, &length) || !take(h, ':'))
        return damaged(h, "no key", fault);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool *seen = (bool *)((char *)h + keys[i].seen);
        if (strlen(keys[i].name) != length || memcmp(keys[i].name, key, length) != 0)
            continue;
        if (*seen)
            return damaged(h, "a key for the second time", fault);
        *seen = true;
        return keys[i].parse(h, fault);
    }
    return damaged(h, "an unknown key", fault);
}

static int parse_header(struct npy_header *h, struct fault *fault)
{
    if (!take(h, '{'))
        return damaged(h, "no dictionary", fault);
    while (!take(h, '}')) {
        int result = parse_entry(h, fault);
        if (result != 0)
            return result;
        skip_blanks(h);
        if (!take(h, ',') && (h->at >= h->length || h->text[h->at] != '}'))
            return damaged(h, "no comma", fault);
    }
    skip_blanks(h);
    if (h->at != h->length)
        return damaged(h, "more than a dictionary", fault);
    if (!h->has_type || !h->has_order || !h->has_shape)
        return damaged(h, "a key is missing", fault);
    return 0;
}

static int truncated(struct fault *fault)
{
    return fault_set(fault, FAULT_TRUNCATED, "truncated npy: the file ends before its array does");
}

int npy_read_header(struct npy_header *header, const uint8_t *data, size_t size,
                    struct fault *fault)
{
    if (size < NPY_BEGIN_MAX)
        return truncated(fault);
    unsigned major = data[6], minor = data[7];
    if (memcmp(data, NPY_MAGIC, NPY_MAGIC_SIZE) != 0)
        return fault_set(fault, FAULT_DATA, "damaged npy: it does not begin as one");
    if (major < 1 || major > 3 || minor != 0)
        return fault_set(fault, FAULT_FORMAT, "unsupported npy: version %u.%u", major, minor);
    /* The text follows its length: 2 bytes in version 1, 4 in later ones. */
    uint32_t length = major == 1 ? load_le16(data + 8) : load_le32(data + 8);
    size_t begin = major == 1 ? 10 : 12;
    if (length > NPY_HEADER_MAX)
        return fault_set(fault, FAULT_DATA, "damaged npy: a header of %s", number_size(length));
    if (size - begin < length)
        return truncated(fault);
    *header = (struct npy_header){
        .text = (const char *)data + begin, .length = length, .begin = begin + length};
    return parse_header(header, fault);
}

int npy_add_plane(struct decoder *d, const struct npy_header *h, uint32_t layers,
                  struct fault *fault)
{
    if (h->rank == 0)
        return fault_set(fault, FAULT_FORMAT, "unsupported npy: a single number");
    uint64_t channels = h->rank == 3 && layers == 0 ? h->shape[2] : 1;
    if (channels < 1 || channels > PLANE_CHANNELS_MAX)
        return fault_set(fault, FAULT_FORMAT,
                         "unsupported npy: %llu channels in the last dimension; a picture has 1 to "
                         "%d",
                         (unsigned long long)channels, PLANE_CHANNELS_MAX);
    bool layered = layers > 0 && h->rank == 3 && h->shape[0] == layers;
    uint64_t width = h->shape[layered ? 2 : h->rank == 1 ? 0 : 1];
    uint64_t height = layered ? layers * h->shape[1] : h->rank == 1 ? 1 : h->shape[0];
    int result = h->warning ? decoder_warn(d, fault, "%s", h->warning) : 0;
    if (result != 0)
        return result;
    result = decoder_set_plane(d, width, height, (uint32_t)channels, h->type, fault);
    if (result == 0 && layered)
        d->frame.planes[d->frame.n_planes - 1].layers = layers;
    return result;
}

void npy_print_header(const struct plane *plane, struct text *text)
{
    struct text header = {0};
    uint8_t begin[NPY_MAGIC_SIZE + 4] = NPY_MAGIC "\x01"; /* version 1.0, then the length */
    const char *type = "";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == plane->type)
            type = types[i].name;
    uint32_t layers = plane->layers > 0 ? plane->layers : 1;
    text_printf(&header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                sample_size(plane->type) > 1 ? '<' : '|', type);
    if (plane->layers > 0)
        text_printf(&header, "%u, ", layers);
    text_printf(&header, "%u, %u", plane->height / layers, plane->width);
    if (plane->channels > 1)
        text_printf(&header, ", %u", plane->channels);
    text_append(&header, "), }");
    while ((sizeof begin + header.length + 1) % ALIGNMENT != 0 && !header.failed)
        text_append(&header, " ");
    text_append(&header, "\n");
    store_le16(begin + 8, (uint32_t)header.length);
    text_append_bytes(text, (const char *)begin, sizeof begin);
    text_append_bytes(text, text_string(&header), header.length);
    text->failed |= header.failed;
    text_finish(&header);
}

/* ---- the format npy ---- */

struct npy_state {
    uint64_t at; /* offset of the first sample, in bytes */
    bool swap;   /* samples have the other byte order than this processor */
    bool fortran;
};

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, NPY_MAGIC, size < NPY_MAGIC_SIZE ? size : NPY_MAGIC_SIZE) == 0;
}

static int open_npy(struct decoder *d, struct fault *fault)
{
    struct npy_header h;
    struct npy_state *state = d->state;
    size_t got;
    const uint8_t *begin = input_see(&d->input, 0, NPY_BEGIN_MAX + NPY_HEADER_MAX, &got);
    int result = npy_read_header(&h, begin, got, fault);
    if (result == 0)
        result = npy_add_plane(d, &h, 0, fault);
    if (result != 0)
        return result;
    state->at = h.begin;
    state->swap = h.big_endian != HOST_IS_BIG_ENDIAN;
    state->fortran = d->whole = h.fortran;
    const struct plane *plane = &d->frame.planes[0];
    uint64_t together =
        h.fortran ? plane->height * (uint64_t)sample_size(plane->type) : plane_row_bytes(plane);
    d->working_memory = input_memory(&d->input, together);
    if (!d->options.partial && d->input.size - state->at < plane_bytes(plane))
        return fault_set(fault, FAULT_TRUNCATED,
                         "truncated npy: the file ends before its array does");
    return 0;
}

/* Reads rows; returns whether all samples were there. */
static bool read_c_order(struct decoder *d, const struct picture *into, uint32_t end)
{
    const struct npy_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t size = sample_size(plane->type), bytes = plane_row_bytes(plane), got = bytes;
    for (uint32_t y = d->row; y < end && got >= bytes; y++) {
        const uint8_t *from = input_see(&d->input, state->at + y * (uint64_t)bytes, bytes, &got);
        if (got >= size)
            sample_copy(picture_row(into, 0, y), from, (got < bytes ? got : bytes) / size, size,
                        state->swap);
    }
    return got >= bytes;
}

/* Reads columns of each channel, one behind the other: sample (y, x, c) is number
 * y + height·(x + width·c) of the file. */
static bool read_fortran_order(struct decoder *d, const struct picture *into)
{
    const struct npy_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t size = sample_size(plane->type), bytes = plane->height * size, got = bytes;
    for (size_t column = 0; column < (size_t)plane->width * plane->channels && got >= bytes;
         column++) {
        size_t x = column % plane->width, c = column / plane->width;
        uint8_t *to = (uint8_t *)picture_row(into, 0, 0) + (x * plane->channels + c) * size;
        const uint8_t *from = input_see(&d->input, state->at + column * bytes, bytes, &got);
        for (size_t i = 0; i + size <= (got < bytes ? got : bytes); i += size, to += plane->stride)
            sample_copy(to, from + i, 1, size, state->swap);
    }
    return got >= bytes;
}

static int read_npy(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    const struct npy_state *state = d->state;
    if (d->options.partial)
        codec_blacken_rows(into, d->row, end);
    bool is_whole =
        state->fortran ? read_fortran_order(d, into) : read_c_order(d, into, end);
    return is_whole || d->options.partial ? 0 : truncated(fault);
}

static int encode_npy(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    struct text header = {0};
    if (e->row == 0)
        npy_print_header(&picture->frame.planes[e->plane], &header);
    int result = header.failed ? fault_set(fault, FAULT_MEMORY, "no memory for a header") : 0;
    if (result == 0) {
        output_write(e->output, text_string(&header), header.length);
        output_rows(e->output, picture, e->plane, e->row, end, HOST_IS_BIG_ENDIAN);
    }
    text_finish(&header);
    return result;
}

static const char *const extensions[] = {"npy", NULL};

const struct codec codec_npy = {
    .name = "npy",
    .extensions = extensions,
    .media_type = "application/x-npy",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct npy_state),
    .open = open_npy,
    .read = read_npy,
    .fit = fit_any,
    .encode = encode_npy,
};
