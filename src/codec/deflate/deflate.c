#include "codec/deflate/deflate.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/deflate/huffman.h"

#define BLOCK 32768

/* Four codes of literals and what is left of a byte fit 64 bits, and four bytes are written at a
 * time. Codes of this length stand for bytes that come less than once in 2000. */
#define LITERAL_BITS 12

#define END_OF_BLOCK 256
#define FIRST_LENGTH 257
#define LITERALS     286
#define RUN_MIN      3
#define RUN_MAX      258

/* The two distance codes are told even where there is no run: some decoders want a whole code. */
#define DISTANCES 2

/* Literals, then a run of the last one: as many bytes of it. */
struct stretch {
    uint16_t literals, run;
};

struct deflate {
    deflate_sink *sink;
    void *context;
    uint32_t checksum;
    bool begun;
    unsigned n_bits; /* of `bits`, not written yet; fewer than 8 between codes */
    uint64_t bits;
    uint8_t *out;
    size_t size; /* bytes of the block */
    size_t n_stretches;
    uint32_t counts[4][LITERALS]; /* four tables, since one byte is often the next one too */
    struct huffman_code codes[LITERALS];
    uint32_t literals[256]; /* codes[] once more: bits, and the length from bit 16 on */
    struct stretch stretches[BLOCK / (RUN_MIN + 1) + 1];
    uint8_t block[BLOCK + 16];        /* zeros behind its end are looked at, and not taken */
    uint8_t written[2 * BLOCK + 512]; /* LITERAL_BITS a byte and the codes' own lengths */
};

/* Symbols of lengths, RFC 1951 3.2.5. */
static const struct {
    uint16_t base;
    uint8_t extra;
} lengths[] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1},  {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3},  {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};
#define N_LENGTHS (sizeof lengths / sizeof *lengths)

static unsigned length_symbol(unsigned length)
{
    unsigned low = 0, high = N_LENGTHS;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (lengths[middle].base <= length)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t load(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

static void put(struct deflate *d, uint64_t bits, unsigned n)
{
    d->bits |= bits << d->n_bits;
    d->n_bits += n;
    uint64_t v = htole64(d->bits);
    memcpy(d->out, &v, sizeof v);
    unsigned whole = d->n_bits / 8;
    d->out += whole;
    d->bits = whole < 8 ? d->bits >> (8 * whole) : 0;
    d->n_bits &= 7;
}

static void put_code(struct deflate *d, const struct huffman_code *code)
{
    put(d, code->bits, code->length);
}

/* The next matches of a run, never leaving a rest that is too short for one. */
static unsigned match_of(unsigned run)
{
    if (run <= RUN_MAX)
        return run;
    return run < RUN_MAX + RUN_MIN ? run - RUN_MIN : RUN_MAX;
}

static void count_run(struct deflate *d, unsigned run)
{
    while (run > 0) {
        unsigned match = match_of(run);
        d->counts[0][FIRST_LENGTH + length_symbol(match)]++;
        run -= match;
    }
}

/* Looks at every fourth place whether the next four bytes repeat the one there; `end` where none
 * does. A run that begins in between is found at the next such place, so that all of eight and more
 * are found, but for up to three bytes, and some of four to seven: of gradients shorter runs take
 * less as literals, of colours they would take a little more, and to look for all costs twice the
 * time. */
static size_t find_run(struct deflate *d, size_t at, size_t end)
{
    for (; at + 8 < end; at += 8) {
        uint64_t bytes = load(d->block + at);
        uint64_t differ = bytes ^ load(d->block + at + 1);
        if ((uint32_t)differ == 0)
            return at;
        for (int i = 0; i < 4; i++)
            d->counts[i][bytes >> (8 * i) & 255]++;
        if (differ >> 32 == 0)
            return at + 4;
        for (int i = 4; i < 8; i++)
            d->counts[i - 4][bytes >> (8 * i) & 255]++;
    }
    for (; at < end; at++)
        d->counts[0][d->block[at]]++;
    return end;
}

static size_t run_end(const uint8_t *p, size_t at, size_t end)
{
    while (at + 8 <= end && load(p + at) == load(p + at - 1))
        at += 8;
    while (at < end && p[at] == p[at - 1])
        at++;
    return at;
}

/* Takes the block apart into literals and runs, and counts both. */
static void find_stretches(struct deflate *d)
{
    size_t at = 0, end = d->size;
    memset(d->counts, 0, sizeof d->counts);
    d->n_stretches = 0;
    while (at < end) {
        size_t begin = at, last;
        at = find_run(d, at, end);
        if (at < end)
            d->counts[0][d->block[at++]]++; /* what the run repeats */
        last = at < end ? run_end(d->block, at, end) : end;
        d->stretches[d->n_stretches++] =
            (struct stretch){(uint16_t)(at - begin), (uint16_t)(last - at)};
        count_run(d, (unsigned)(last - at));
        at = last;
    }
}

static void make_codes(struct deflate *d)
{
    uint32_t counts[LITERALS];
    for (unsigned s = 0; s < LITERALS; s++)
        counts[s] = d->counts[0][s] + d->counts[1][s] + d->counts[2][s] + d->counts[3][s];
    counts[END_OF_BLOCK] = 1;
    huffman_make(counts, LITERALS, LITERAL_BITS, d->codes);
    for (unsigned s = 0; s < 256; s++)
        d->literals[s] = d->codes[s].bits | (uint32_t)d->codes[s].length << 16;
}

/* A code length, or 16, 17, 18 with their extra bits. RFC 1951 3.2.7. */
struct told {
    uint8_t symbol, extra, extra_bits;
};

/* Runs of one length are told shorter. */
static size_t tell_lengths(const uint8_t *length, size_t n, struct told *told)
{
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && length[i + run] == length[i] && run < 138)
            run++;
        if (length[i] == 0 && run >= 11) {
            told[count++] = (struct told){18, (uint8_t)(run - 11), 7};
        } else if (length[i] == 0 && run >= 3) {
            told[count++] = (struct told){17, (uint8_t)(run - 3), 3};
        } else if (run >= 4) { /* the length itself, and 3 to 6 times as the one before */
            run = run > 7 ? 7 : run;
            told[count++] = (struct told){length[i], 0, 0};
            told[count++] = (struct told){16, (uint8_t)(run - 4), 2};
        } else {
            run = 1;
            told[count++] = (struct told){length[i], 0, 0};
        }
        i += run;
    }
    return count;
}

static void put_codes(struct deflate *d, bool last)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + DISTANCES];
    struct told told[LITERALS + DISTANCES];
    struct huffman_code codes[19];
    uint32_t counts[19] = {0};
    unsigned n = LITERALS, n_order = 19;
    while (n > FIRST_LENGTH && d->codes[n - 1].length == 0)
        n--;
    for (unsigned s = 0; s < n; s++)
        length[s] = (uint8_t)d->codes[s].length;
    memset(length + n, 1, DISTANCES);
    size_t n_told = tell_lengths(length, n + DISTANCES, told);
    for (size_t i = 0; i < n_told; i++)
        counts[told[i].symbol]++;
    huffman_make(counts, 19, 7, codes);
    while (n_order > 4 && codes[order[n_order - 1]].length == 0)
        n_order--;
    put(d, last, 1);
    put(d, 2, 2); /* codes of its own */
    put(d, n - FIRST_LENGTH, 5);
    put(d, DISTANCES - 1, 5);
    put(d, n_order - 4, 4);
    for (unsigned i = 0; i < n_order; i++)
        put(d, codes[order[i]].length, 3);
    for (size_t i = 0; i < n_told; i++) {
        put_code(d, &codes[told[i].symbol]);
        put(d, told[i].extra, told[i].extra_bits);
    }
}

static void put_literals(struct deflate *d, const uint8_t *p, size_t n)
{
    const uint32_t *code = d->literals;
    uint64_t bits = d->bits;
    unsigned n_bits = d->n_bits;
    uint8_t *out = d->out;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        /* Two and two first: else each would wait for the one before. */
        uint32_t a = code[p[i]], b = code[p[i + 1]], c = code[p[i + 2]], e = code[p[i + 3]];
        uint64_t first = (a & 0xFFFF) | (uint64_t)(b & 0xFFFF) << (a >> 16);
        uint64_t second = (c & 0xFFFF) | (uint64_t)(e & 0xFFFF) << (c >> 16);
        unsigned n_first = (a >> 16) + (b >> 16);
        bits |= (first | second << n_first) << n_bits;
        n_bits += n_first + (c >> 16) + (e >> 16);
        uint64_t v = htole64(bits);
        memcpy(out, &v, sizeof v);
        out += n_bits / 8;
        bits >>= n_bits & ~7u;
        n_bits &= 7;
    }
    d->bits = bits;
    d->n_bits = n_bits;
    d->out = out;
    for (; i < n; i++)
        put_code(d, &d->codes[p[i]]);
}

static void put_run(struct deflate *d, unsigned run)
{
    while (run > 0) {
        unsigned match = match_of(run), s = length_symbol(match);
        put_code(d, &d->codes[FIRST_LENGTH + s]);
        put(d, match - lengths[s].base, lengths[s].extra);
        put(d, 0, 1); /* the first distance code: 1 */
        run -= match;
    }
}

static void end_block(struct deflate *d, bool last)
{
    const uint8_t *p = d->block;
    d->out = d->written;
    if (!d->begun) { /* a window of 32 KiB, the fastest algorithm */
        put(d, 0x0178, 16);
        d->begun = true;
        d->checksum = (uint32_t)adler32(0, NULL, 0);
    }
    d->checksum = (uint32_t)adler32(d->checksum, d->block, (uInt)d->size);
    find_stretches(d);
    make_codes(d);
    put_codes(d, last);
    for (size_t i = 0; i < d->n_stretches; i++) {
        put_literals(d, p, d->stretches[i].literals);
        put_run(d, d->stretches[i].run);
        p += d->stretches[i].literals + d->stretches[i].run;
    }
    put_code(d, &d->codes[END_OF_BLOCK]);
    d->size = 0;
    if (last) {
        put(d, 0, (8 - d->n_bits) & 7);
        put(d, __builtin_bswap32(d->checksum), 32); /* the most significant byte first */
    }
    d->sink(d->context, d->written, (size_t)(d->out - d->written));
}

struct deflate *deflate_create(deflate_sink *sink, void *context)
{
    struct deflate *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->sink = sink;
    d->context = context;
    return d;
}

/* A block ends when the next byte comes, so that the last one is known to be the last. */
void deflate_write(struct deflate *d, const uint8_t *data, size_t size)
{
    while (size > 0) {
        if (d->size == BLOCK)
            end_block(d, false);
        size_t n = BLOCK - d->size < size ? BLOCK - d->size : size;
        memcpy(d->block + d->size, data, n);
        d->size += n;
        data += n;
        size -= n;
    }
}

void deflate_end(struct deflate *d)
{
    end_block(d, true);
}

void deflate_destroy(struct deflate **deflate)
{
    free(*deflate);
    *deflate = NULL;
}
