#include "codec/deflate/deflate.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/deflate/huffman.h"

#define BLOCK 32768

/* The longest code: four literals and up to 7 bits of an unfinished byte fit 64 bits, so
 * put_literals writes four at a time. Only bytes that occur less than once in 2000 would have
 * longer codes. */
#define LITERAL_BITS 12

#define END_OF_BLOCK 256
#define FIRST_LENGTH 257
#define LITERALS     286
#define RUN_MIN      3
#define RUN_MAX      258

/* Two distance codes are declared even where there is no run: some decoders refuse an incomplete
 * set. */
#define DISTANCES 2

/* Some literals, then a run: further bytes that are equal to the last literal. Counts in bytes. */
struct stretch {
    uint16_t literals, run;
};

struct deflate {
    deflate_sink *sink;
    void *context;
    uint32_t checksum;
    bool begun;
    unsigned n_bits; /* valid bits of `bits`, which are not written yet; below 8 between codes */
    uint64_t bits;
    uint8_t *out;
    size_t size; /* bytes in `block` */
    size_t n_stretches;
    uint32_t counts[4][LITERALS]; /* summed later: equal bytes in turn, which are frequent, would
                                     wait for each other's increment of one table */
    struct huffman_code codes[LITERALS];
    uint32_t literals[256]; /* the first 256 of codes[]: bits, and the length in bits 16 and up */
    struct stretch stretches[BLOCK / (RUN_MIN + 1) + 1];
    uint8_t block[BLOCK];
    uint8_t written[2 * BLOCK + 512]; /* at most LITERAL_BITS a byte, and the table of codes */
};

/* The shortest match and the number of extra bits of symbol FIRST_LENGTH + i: RFC 1951 3.2.5. */
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

/* The length of the next match of a run, so that what is left of the run is 0 or at least RUN_MIN.
 */
static unsigned match_of(unsigned run)
{
    if (run <= RUN_MAX)
        return run;
    return run < RUN_MAX + RUN_MIN ? run - RUN_MIN : RUN_MAX;
}

/* Finds the next place that the following four bytes repeat; `end` if there is none. Counts the
 * bytes that it passes. Only every fourth place is looked at, which takes half the time: runs of
 * eight bytes and more are found, except up to three bytes at their beginning, and some of the runs
 * of four to seven. Short runs take fewer bits as literals in gradients, and a few more in flat
 * colours. */
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

/* Divides the block into literals and runs, and counts the symbols of both. */
static void find_stretches(struct deflate *d)
{
    size_t at = 0, end = d->size;
    memset(d->counts, 0, sizeof d->counts);
    d->n_stretches = 0;
    while (at < end) {
        size_t begin = at, last;
        at = find_run(d, at, end);
        if (at < end)
            d->counts[0][d->block[at++]]++; /* the literal that the run repeats */
        last = at < end ? run_end(d->block, at, end) : end;
        d->stretches[d->n_stretches++] =
            (struct stretch){(uint16_t)(at - begin), (uint16_t)(last - at)};
        for (unsigned run = (unsigned)(last - at), match; run > 0; run -= match) {
            match = match_of(run);
            d->counts[0][FIRST_LENGTH + length_symbol(match)]++;
        }
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

/* A symbol of the sequence of code lengths (RFC 1951 3.2.7): a length of 0 to 15, or 16, 17 or 18
 * for repeated ones, whose count is in the extra bits. */
struct length_symbol {
    uint8_t symbol, extra, extra_bits;
};

static size_t encode_lengths(const uint8_t *length, size_t n, struct length_symbol *to)
{
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && length[i + run] == length[i] && run < 138)
            run++;
        if (length[i] == 0 && run >= 11) {
            to[count++] = (struct length_symbol){18, (uint8_t)(run - 11), 7};
        } else if (length[i] == 0 && run >= 3) {
            to[count++] = (struct length_symbol){17, (uint8_t)(run - 3), 3};
        } else if (run >= 4) { /* the length itself, then 3 to 6 repetitions */
            run = run > 7 ? 7 : run;
            to[count++] = (struct length_symbol){length[i], 0, 0};
            to[count++] = (struct length_symbol){16, (uint8_t)(run - 4), 2};
        } else {
            run = 1;
            to[count++] = (struct length_symbol){length[i], 0, 0};
        }
        i += run;
    }
    return count;
}

/* Begins a block: its header, and the lengths of its codes (RFC 1951 3.2.7). */
static void put_codes(struct deflate *d, bool last)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + DISTANCES];
    struct length_symbol symbols[LITERALS + DISTANCES];
    struct huffman_code codes[19];
    uint32_t counts[19] = {0};
    unsigned n = LITERALS, n_order = 19;
    while (n > FIRST_LENGTH && d->codes[n - 1].length == 0)
        n--;
    for (unsigned s = 0; s < n; s++)
        length[s] = (uint8_t)d->codes[s].length;
    memset(length + n, 1, DISTANCES);
    size_t n_symbols = encode_lengths(length, n + DISTANCES, symbols);
    for (size_t i = 0; i < n_symbols; i++)
        counts[symbols[i].symbol]++;
    huffman_make(counts, 19, 7, codes);
    while (n_order > 4 && codes[order[n_order - 1]].length == 0)
        n_order--;
    put(d, last, 1);
    put(d, 2, 2); /* block type: dynamic Huffman codes */
    put(d, n - FIRST_LENGTH, 5);
    put(d, DISTANCES - 1, 5);
    put(d, n_order - 4, 4);
    for (unsigned i = 0; i < n_order; i++)
        put(d, codes[order[i]].length, 3);
    for (size_t i = 0; i < n_symbols; i++) {
        put_code(d, &codes[symbols[i].symbol]);
        put(d, symbols[i].extra, symbols[i].extra_bits);
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
        /* Codes are joined in pairs first; one by one, each would wait for the one before. */
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

static void end_block(struct deflate *d, bool last)
{
    const uint8_t *p = d->block;
    d->out = d->written;
    if (!d->begun) { /* zlib's header: DEFLATE with a window of 32 KiB, the fastest level */
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
        for (unsigned run = d->stretches[i].run, match; run > 0; run -= match) {
            match = match_of(run);
            unsigned s = length_symbol(match);
            put_code(d, &d->codes[FIRST_LENGTH + s]);
            put(d, match - lengths[s].base, lengths[s].extra);
            put(d, 0, 1); /* the code of distance 1 */
        }
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

/* A full block is kept until another byte comes, because the last block has to be marked as such.
 */
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
