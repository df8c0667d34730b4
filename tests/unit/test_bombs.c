/* Small files that ask for much: each is refused by its header, in 50 ms and 16 MiB at the most, or
 * stops when the job's time is over. With the limits that a daemon has unless it is told others.
 * Prints what docs/reliability.md has as a table. The allocator is wrapped, so this is built
 * without sanitizers. */
#include "test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#ifdef SLUICE_WEBP
#include <webp/encode.h>
#endif

#include "../codec/files.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/number.h"
#include "codec/byte_order.h"
#include "codec/codec.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);

#define MS          1000000 /* nanoseconds */
#define HEADER_TIME ((getenv("SLUICE_EMULATED") ? 10 : 1) * 50 * MS)
#define HEADER_HEAP (16 << 20) /* bytes */
#define JOB_TIME    (200 * MS)
#define BAND_ROWS   16
#define SLACK                                                                                      \
    ((getenv("SLUICE_EMULATED") ? 10 : 1) * 100 * MS) /* between two looks at the time             \
                                                       */

static int64_t held, peak;

static void *hold(void *memory)
{
    held += memory ? (int64_t)malloc_usable_size(memory) : 0;
    peak = held > peak ? held : peak;
    return memory;
}

void *malloc(size_t size)
{
    return hold(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return hold(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    held -= memory ? (int64_t)malloc_usable_size(memory) : 0;
    return hold(__libc_realloc(memory, size));
}

void free(void *memory)
{
    held -= memory ? (int64_t)malloc_usable_size(memory) : 0;
    __libc_free(memory);
}

static uint64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the files ---- */

static void png_begin(struct file *file, uint32_t width, uint32_t height, unsigned depth,
                      unsigned colours)
{
    file_put(file, "\x89PNG\r\n\x1a\n", 8);
    size_t at = file->size + 4;
    file_put_be32(file, 13);
    file_put(file, "IHDR", 4);
    file_put_be32(file, width);
    file_put_be32(file, height);
    file_put_u8(file, depth);
    file_put_u8(file, colours);
    file_put_zeros(file, 3);
    file_put_be32(file, (uint32_t)crc32(0, file->data + at, 17));
}

static void png_chunk(struct file *file, const char *name, const void *data, size_t size)
{
    file_put_be32(file, (uint32_t)size);
    size_t at = file->size;
    file_put(file, name, 4);
    file_put(file, data, size);
    file_put_be32(file, (uint32_t)crc32(0, file->data + at, (unsigned)size + 4));
}

/* Zeros, deflated. */
static uint8_t *zeros_packed(size_t size, size_t *packed)
{
    uint8_t *zeros = calloc(1, size);
    uLongf bound = compressBound((uLong)size);
    uint8_t *data = malloc(bound);
    assert_true(zeros && data && compress2(data, &bound, zeros, (uLong)size, 1) == Z_OK);
    free(zeros);
    *packed = bound;
    return data;
}

static void png_zeros(struct file *file, const char *name, const char *prefix, size_t prefix_size,
                      size_t size)
{
    size_t packed;
    uint8_t *zeros = zeros_packed(size, &packed);
    struct file data = {0};
    file_put(&data, prefix, prefix_size);
    file_put(&data, zeros, packed);
    png_chunk(file, name, data.data, data.size);
    file_finish(&data);
    free(zeros);
}

static void png_large(struct file *file, unsigned side)
{
    png_begin(file, side, side, 1, 0);
    png_chunk(file, "IDAT", "x", 1);
}

static void png_flat(struct file *file, unsigned side)
{
    png_begin(file, side, side, 8, 0);
    png_zeros(file, "IDAT", "", 0, (size_t)side * (side + 1));
    png_chunk(file, "IEND", "", 0);
}

static void png_texts(struct file *file, unsigned count)
{
    png_begin(file, 1, 1, 8, 0);
    for (unsigned i = 0; i < count; i++)
        png_zeros(file, "zTXt", "a\0\0", 3, 16 << 20);
    png_zeros(file, "IDAT", "", 0, 2);
    png_chunk(file, "IEND", "", 0);
}

static void png_profile(struct file *file, unsigned mebibytes)
{
    png_begin(file, 1, 1, 8, 0);
    png_zeros(file, "iCCP", "a\0\0", 3, (size_t)mebibytes << 20);
    png_zeros(file, "IDAT", "", 0, 2);
    png_chunk(file, "IEND", "", 0);
}

static void png_chunks(struct file *file, unsigned count)
{
    struct file chunk = {0};
    png_begin(file, 1, 1, 8, 0);
    png_chunk(&chunk, "tEXt", "", 0);
    for (unsigned i = 0; i < count; i++)
        file_put(file, chunk.data, chunk.size);
    png_zeros(file, "IDAT", "", 0, 2);
    png_chunk(file, "IEND", "", 0);
    file_finish(&chunk);
}

static void jpeg_header(struct file *file, unsigned side)
{
    file_put(file, "\xFF\xD8\xFF\xC0\0\x0B\x08", 7);
    file_put_be16(file, side);
    file_put_be16(file, side);
    file_put(file, "\1\1\x11\0\xFF\xDA\0\x08\1\1\0\0\x3F\0", 14);
}

static void jpeg_scans(struct file *file, unsigned scans)
{
    make_jpeg(file, &(struct jpeg_kind){.colours = JPEG_GREY,
                                        .width = 8000,
                                        .height = 8000,
                                        .flat = true,
                                        .extra_scans = scans});
}

static void jpeg_segments(struct file *file, unsigned count)
{
    file_put(file, "\xFF\xD8", 2);
    for (unsigned i = 0; i < count; i++)
        file_put(file, "\xFF\xE2\0\2", 4);
    jpeg_header(file, 8);
}

static void bmp_header(struct file *file, unsigned bits)
{
    make_bmp(file, &(struct bmp_kind){.header = 40,
                                      .bits = bits,
                                      .compression = bits == 8,
                                      .width = bits == 8 ? 10000 : 0x7FFFFFFF,
                                      .height = bits == 8 ? 10000 : 0x7FFFFFFF,
                                      .colours = bits == 8 ? 2 : 0,
                                      .pixels = (const uint8_t *)"\0\0\0\1",
                                      .n_pixels = 4});
}

static void pnm_header(struct file *file, unsigned variant)
{
    (void)variant;
    file_put_text(file, "P6 1000000 1000000 255\n");
}

static void pnm_comment(struct file *file, unsigned mebibytes)
{
    uint8_t *text = malloc((size_t)mebibytes << 20);
    memset(text, 'x', (size_t)mebibytes << 20);
    file_put_text(file, "P5 #");
    file_put(file, text, (size_t)mebibytes << 20);
    free(text);
}

static void npy_length(struct file *file, unsigned length)
{
    file_put(file, "\x93NUMPY\2\0", 8);
    file_put_le32(file, length);
    file_put_text(file, "{'descr'");
}

static void npy_nested(struct file *file, unsigned depth)
{
    file_put(file, "\x93NUMPY\2\0", 8);
    file_put_le32(file, depth);
    for (unsigned i = 0; i < depth; i++)
        file_put_u8(file, '(');
}

#define SHAPE(text) "{'descr': '|u1', 'fortran_order': False, 'shape': (" text "), }"

static void npz_zeros(struct file *file, unsigned variant)
{
    static const char *const shapes[] = {SHAPE("12000, 10000"), SHAPE("10000, 10000")};
    struct file array = {0};
    size_t size = variant ? 100000000 : 120000000;
    uint8_t *zeros = calloc(1, size);
    make_npy(&array, 1, shapes[variant], zeros, size);
    free(zeros);
    make_zip(file, &(struct zip_part){"image.npy", array.data, array.size}, 1, true, false);
    file_finish(&array);
}

static void npz_members(struct file *file, unsigned count)
{
    struct zip_part *parts = calloc(count, sizeof *parts);
    for (unsigned i = 0; i < count; i++)
        parts[i] = (struct zip_part){"a.npy", "x", 1};
    make_zip(file, parts, count, false, false);
    free(parts);
}

static void npz_meta(struct file *file, unsigned variant)
{
    size_t size = variant ? 1 << 20 : 16 << 20;
    uint8_t *text = malloc(size);
    memset(text, variant ? '[' : ' ', size);
    make_zip(file, &(struct zip_part){"meta.json", text, size}, 1, true, false);
    free(text);
}

/* As many planes as there may be, each as large as one may be, all of them the same bytes. */
static void npz_overlap(struct file *file, unsigned count)
{
    struct file array = {0}, one = {0};
    make_npy(&array, 1, SHAPE("10000, 10000"), "", 0);
    make_zip(&one, &(struct zip_part){"0000.npy", array.data, array.size}, 1, false, false);
    const uint8_t *entry = memmem(one.data, one.size, "PK\1\2", 4);
    size_t local = (size_t)(entry - one.data), size = one.size - local - 22;
    file_put(file, one.data, local);
    for (unsigned i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%04u.npy", i);
        file_put(file, entry, size);
        memcpy(file->data + file->size - size + 46, name, 8);
    }
    file_put(file, "PK\5\6\0\0\0\0", 8);
    file_put_le16(file, count);
    file_put_le16(file, count);
    file_put_le32(file, (uint32_t)size * count);
    file_put_le32(file, (uint32_t)local);
    file_put_le16(file, 0);
    file_finish(&array);
    file_finish(&one);
}

#ifdef SLUICE_TIFF
/* A TIFF of one page of grey samples, of `side` pixels a side, in tiles or in one strip, whose
 * compressed bytes are `data`. */
static void tiff_page(struct file *file, uint32_t side, uint32_t tile, unsigned compression,
                      uint32_t chunks, const uint8_t *data, size_t size)
{
    const uint32_t entries[][4] = {
        {256, 4, 1, side},
        {257, 4, 1, side},
        {258, 3, 1, 8},
        {259, 3, 1, compression},
        {262, 3, 1, 1},
        {277, 3, 1, 1},
        {tile ? 322 : 273, 4, tile ? 1 : chunks, tile ? tile : 8},
        {tile ? 323 : 278, 4, 1, tile ? tile : side},
        {tile ? 324 : 279, 4, chunks, tile ? 8 : (uint32_t)size},
        {325, 4, chunks, (uint32_t)size},
    };
    unsigned count = tile ? 10 : 9;
    file_put(file, "II*\0", 4);
    file_put_le32(file, 8 + (uint32_t)size);
    file_put(file, data, size);
    file_put_le16(file, count);
    for (unsigned i = 0; i < count; i++) {
        file_put_le16(file, entries[i][0]);
        file_put_le16(file, entries[i][1]);
        file_put_le32(file, entries[i][2]);
        file_put_le32(file, entries[i][3]);
    }
    file_put_le32(file, 0);
}

static void tiff_header(struct file *file, unsigned side)
{
    tiff_page(file, side, 0, 1, 1, (const uint8_t *)"x", 1);
}

static void tiff_zeros(struct file *file, unsigned side)
{
    size_t packed;
    uint8_t *zeros = zeros_packed((size_t)side * side, &packed);
    tiff_page(file, side, 0, 8, 1, zeros, packed);
    free(zeros);
}

static void tiff_tile(struct file *file, unsigned tile)
{
    tiff_page(file, 16, tile, 1, 1, (const uint8_t *)"x", 1);
}

static void tiff_chunks(struct file *file, unsigned chunks)
{
    tiff_page(file, 16, 0, 1, chunks, (const uint8_t *)"x", 1);
}

/* Directories that refer to each other, of 2730 entries that mean nothing. */
static void tiff_entries(struct file *file, unsigned directories)
{
    file_put(file, "II*\0", 4);
    for (unsigned d = 0; d < directories; d++) {
        file_put_le32(file, (uint32_t)file->size + 4);
        file_put_le16(file, 2730);
        for (unsigned i = 0; i < 2730; i++) {
            file_put_le16(file, 256);
            file_put_le16(file, 4);
            file_put_le32(file, 1);
            file_put_le32(file, 1);
        }
    }
    file_put_le32(file, 8);
}
#endif

#ifdef SLUICE_WEBP
static void webp_header(struct file *file, unsigned side)
{
    file_put(file, "RIFF\x12\0\0\0WEBPVP8L\6\0\0\0\x2F", 21);
    file_put_le32(file, (side - 1) | (side - 1) << 14);
    file_put_u8(file, 0);
}

struct bits {
    struct file *file;
    unsigned byte, n;
};

static void put_bits(struct bits *bits, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bits->byte |= (value >> i & 1) << bits->n;
        if (++bits->n == 8) {
            file_put_u8(bits->file, (uint8_t)bits->byte);
            bits->byte = bits->n = 0;
        }
    }
}

/* A code whose 256 first symbols have 8 bits, and `more` behind them none (RFC 9649, 5.2.1). */
static void put_even_code(struct bits *bits, unsigned more)
{
    put_bits(bits, 0, 1);
    put_bits(bits, 12 - 4, 4);
    for (unsigned i = 0; i < 12; i++) /* lengths 8, the 12th, and 18, the 2nd, have one bit each */
        put_bits(bits, i == 1 || i == 11, 3);
    put_bits(bits, 0, 1);
    for (unsigned i = 0; i < 256; i++)
        put_bits(bits, 0, 1);
    if (more > 0) {
        put_bits(bits, 1, 1);
        put_bits(bits, more - 11, 7);
    }
}

/* A code of one symbol, 0. */
static void put_empty_code(struct bits *bits)
{
    put_bits(bits, 1, 4);
}

static void put_byte(struct bits *bits, unsigned value)
{
    for (unsigned i = 0; i < 8; i++)
        put_bits(bits, value >> (7 - i) & 1, 1);
}

/* Black, with as many groups of Huffman codes as fit 4x4 pixels each, up to 65 536. As a picture,
 * or, `is_alpha`, as the alpha of a lossy one. */
static void put_groups(struct bits *bits, unsigned side)
{
    unsigned n = (side + 3) / 4 * ((side + 3) / 4);
    put_bits(bits, 0, 1); /* no transform */
    put_bits(bits, 0, 1); /* no cache */
    put_bits(bits, 1, 1); /* several groups, of */
    put_bits(bits, 0, 3); /* 4x4 pixels */
    put_bits(bits, 0, 1); /* no cache */
    put_even_code(bits, 24);
    put_even_code(bits, 0);
    for (unsigned i = 0; i < 3; i++)
        put_empty_code(bits);
    for (unsigned i = 0; i < n; i++) {
        put_byte(bits, i & 255);
        put_byte(bits, i >> 8 & 255);
    }
    for (unsigned i = 0; i < 5 * (n < 65536 ? n : 65536); i++)
        put_empty_code(bits);
    put_bits(bits, 0, 16);
}

static void webp_close(struct file *file, size_t chunk)
{
    if (file->size % 2 == 1)
        file_put_u8(file, 0);
    store_le32(file->data + chunk + 4, (uint32_t)(file->size - chunk - 8));
    store_le32(file->data + 4, (uint32_t)(file->size - 8));
}

static void webp_groups(struct file *file, unsigned side)
{
    struct bits bits = {.file = file};
    file_put(file, "RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F", 21);
    file_put_le32(file, (side - 1) | (side - 1) << 14);
    put_groups(&bits, side);
    webp_close(file, 12);
}

/* The same as the alpha of a lossy picture, in front of it. */
static void webp_alpha_groups(struct file *file, unsigned side)
{
    uint8_t *grey = calloc((size_t)side * side, 3), *lossy = NULL;
    struct bits bits = {.file = file};
    assert_non_null(grey);
    size_t size = WebPEncodeRGB(grey, (int)side, (int)side, (int)side * 3, 10, &lossy);
    file_put(file, "RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\x10\0\0\0", 24);
    file_put_le16(file, (side - 1) & 0xFFFF);
    file_put_u8(file, 0);
    file_put_le16(file, (side - 1) & 0xFFFF);
    file_put_u8(file, 0);
    size_t chunk = file->size;
    file_put(file, "ALPH\0\0\0\0\1", 9);
    put_groups(&bits, side);
    webp_close(file, chunk);
    file_put(file, lossy + 12, size - 12); /* its chunk */
    store_le32(file->data + 4, (uint32_t)(file->size - 8));
    WebPFree(lossy);
    free(grey);
}
#endif

/* ---- what happens ---- */

enum ends {
    BY_HEADER, /* refused before memory is taken: FAULT_LIMIT, FAULT_DATA, … */
    BY_TIME,   /* FAULT_TIME when the job's time is over, unless it is done before */
    AS_USUAL,  /* read like any picture, or refused, in the time and memory of a header */
    AS_COUNTED /* read, or stopped, in the memory that the header says (working_memory) */
};

static const struct bomb {
    const char *name;
    void (*make)(struct file *file, unsigned variant);
    unsigned variant;
    enum ends ends;
} bombs[] = {
    {"PNG of 30000x30000, 1 bit", png_large, 30000, BY_HEADER},
    {"PNG of 2147483647x2147483647", png_large, 0x7FFFFFFF, BY_HEADER},
    {"PNG of 10000x10000 zeros", png_flat, 10000, BY_TIME},
    {"PNG, 8 zTXt of 16 MiB", png_texts, 8, AS_USUAL},
    {"PNG, iCCP of 64 MiB", png_profile, 64, AS_USUAL},
    {"PNG, 200 000 empty chunks", png_chunks, 200000, AS_USUAL},
    {"JPEG of 65500x65500", jpeg_header, 65500, BY_HEADER},
    {"JPEG of 8000x8000, 90 more scans", jpeg_scans, 90, BY_TIME},
    {"JPEG of 8000x8000, 2000 more scans", jpeg_scans, 2000, BY_TIME},
    {"JPEG, 500 000 empty segments", jpeg_segments, 500000, BY_HEADER},
    {"BMP of 2147483647x2147483647", bmp_header, 24, BY_HEADER},
    {"BMP, RLE, 10000x10000 in 4 bytes", bmp_header, 8, BY_TIME},
    {"PPM of 1000000x1000000", pnm_header, 0, BY_HEADER},
    {"PGM, a comment of 32 MiB", pnm_comment, 32, BY_HEADER},
    {"NPY, a header of 4 GiB", npy_length, 0xFFFFFFFF, BY_HEADER},
    {"NPY, 1 000 000 brackets", npy_nested, 1000000, BY_HEADER},
    {"NPZ, 12000x10000 zeros", npz_zeros, 0, BY_HEADER},
    {"NPZ, 10000x10000 zeros", npz_zeros, 1, BY_TIME},
    {"NPZ, 60 000 members", npz_members, 60000, BY_HEADER},
    {"NPZ, meta.json of 16 MiB", npz_meta, 0, BY_HEADER},
    {"NPZ, meta.json of 1 000 000 brackets", npz_meta, 1, BY_HEADER},
    {"NPZ, 4096 planes of 100 MP in one place", npz_overlap, 4096, BY_HEADER},
#ifdef SLUICE_TIFF
    {"TIFF of 2147483647x2147483647", tiff_header, 0x7FFFFFFF, BY_HEADER},
    {"TIFF of 10000x10000 zeros in one strip", tiff_zeros, 10000, BY_TIME},
    {"TIFF, a tile of 1048576x1048576", tiff_tile, 1 << 20, BY_HEADER},
    {"TIFF, 2^30 strips", tiff_chunks, 1 << 30, BY_HEADER},
    {"TIFF, 100 directories in a ring", tiff_entries, 100, BY_HEADER},
#endif
#ifdef SLUICE_WEBP
    {"WebP of 16384x16384", webp_header, 16384, BY_HEADER},
    {"WebP, 65 536 groups of codes", webp_groups, 1024, BY_HEADER},
    {"WebP, 65 536 groups of codes in alpha", webp_alpha_groups, 1024, BY_HEADER},
    {"WebP, 16 384 groups of codes", webp_groups, 512, AS_COUNTED},
    {"WebP, 16 384 groups of codes in alpha", webp_alpha_groups, 512, AS_COUNTED},
#endif
};

static const struct codec_limits limits = {.max_pixels = 100000000, .memory = 512 << 20};

struct outcome {
    struct fault fault;
    bool by_memory;  /* the header asks for more planes than memory has room for */
    uint64_t time;   /* of the processor */
    bool by_rows;    /* it gives rows as they come: they were read a few at a time */
    int64_t heap;    /* at the fullest, with these rows; without a picture that is whole */
    int64_t counted; /* what the decoder says of that */
};

/* As a job has them: rows lie in memory for a few, which is used again. */
static int read_rows(struct decoder *decoder, struct fault *fault)
{
    const struct plane *plane = &decoder->frame.planes[0];
    uint8_t *memory = malloc(BAND_ROWS * plane->stride);
    int result = memory ? 0 : FAULT_MEMORY;
    while (result == 0 && decoder->row < plane->height) {
        uint32_t row = decoder->row, left = plane->height - row;
        struct picture rows = {decoder->frame,
                               (uint8_t *)((uintptr_t)memory - (uintptr_t)row * plane->stride)};
        result = decoder_rows(decoder, &rows, row + (left < BAND_ROWS ? left : BAND_ROWS), fault);
    }
    free(memory);
    return result;
}

static void try(const struct file *file, struct outcome *outcome)
{
    struct decode_options options = {.orient = true};
    struct decoder decoder;
    struct picture picture = {0};
    uint64_t begun = processor_time();
    int64_t before = held;
    peak = held;
    deadline_set(clock_now() + JOB_TIME);
    int result = decoder_open(&decoder, file->data, file->size, &options, &limits, &outcome->fault);
    outcome->by_rows = result == 0 && !decoder.whole && decoder.frame.n_planes == 1;
    outcome->by_memory = result == 0 && !outcome->by_rows && decoder.frame.size > limits.memory;
    outcome->heap = peak - before;
    if (outcome->by_rows) {
        read_rows(&decoder, &outcome->fault);
        outcome->heap = peak - before;
    } else if (result == 0 && !outcome->by_memory) {
        assert_true(picture_create(&picture, &decoder.frame));
        before = peak = held;
        decoder_read(&decoder, &picture, &outcome->fault);
        outcome->heap = peak - before > outcome->heap ? peak - before : outcome->heap;
    }
    outcome->counted = (int64_t)decoder.working_memory;
    decoder_close(&decoder);
    outcome->time = processor_time() - begun;
    deadline_set(0);
    picture_destroy(&picture);
}

static void print(const struct bomb *bomb, const struct file *file, const struct outcome *outcome)
{
    printf("| %s | %s | %s%s | %.1f ms | %.1f MiB |\n", bomb->name, number_size(file->size),
           outcome->by_memory                  ? "refused: more than `memory`"
           : outcome->fault.code == FAULT_NONE ? "read"
           : outcome->fault.code == FAULT_TIME ? "stopped at `job_time`"
                                               : outcome->fault.text,
           outcome->by_rows ? ", by rows" : "", (double)outcome->time / MS,
           (double)outcome->heap / 1048576);
}

static void test_bombs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        const struct bomb *bomb = &bombs[i];
        struct outcome outcome = {.fault = FAULT_INIT};
        struct file file = {0};
        bomb->make(&file, bomb->variant);
        try(&file, &outcome);
        print(bomb, &file, &outcome);
        bool refused = outcome.by_memory || outcome.fault.code != FAULT_NONE;
        if (bomb->ends == BY_HEADER && !refused)
            fail_msg("%s was read", bomb->name);
        if (bomb->ends == BY_TIME && outcome.time > JOB_TIME + SLACK)
            fail_msg("%s took %llu ms", bomb->name, (unsigned long long)outcome.time / MS);
        bool as_header = bomb->ends == BY_HEADER || bomb->ends == AS_USUAL;
        if (as_header && outcome.time > HEADER_TIME)
            fail_msg("%s took %llu ms", bomb->name, (unsigned long long)outcome.time / MS);
        if (as_header && outcome.heap > HEADER_HEAP)
            fail_msg("%s took %lld bytes", bomb->name, (long long)outcome.heap);
        bool too_late = outcome.fault.code == FAULT_TIME;
        if (bomb->ends == AS_COUNTED && ((refused && !too_late) || outcome.heap > outcome.counted))
            fail_msg("%s took %lld bytes where %lld were counted, and %s", bomb->name,
                     (long long)outcome.heap, (long long)outcome.counted, outcome.fault.text);
        file_finish(&file);
    }
}

/* The job's time ends the reading of chunks in front of a picture, too. */
static void test_late_chunks(void **state)
{
    (void)state;
    struct fault fault = FAULT_INIT;
    struct file file = {0};
    struct decoder decoder;
    struct decode_options options = {0};
    png_chunks(&file, 200000);
    deadline_set(1);
    assert_int_equal(decoder_open(&decoder, file.data, file.size, &options, &limits, &fault),
                     FAULT_TIME);
    deadline_set(0);
    decoder_close(&decoder);
    file_finish(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_late_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
