/* The walk through a lossless stream (RFC 9649, sections 4 to 6) to where it is known how many
 * groups of five Huffman codes are to come: behind the transforms, in an image of its own whose
 * pixels are the groups' numbers. Pixels need not be kept for that. How long an image is depends on
 * symbols alone, and each number is a literal somewhere: copies and the colour cache repeat what
 * there was, or 0. */
#include <stdbool.h>
#include <string.h>

#include "base/deadline.h"
#include "codec/webp_codes.h"

#define LENGTH_MAX   15
#define CACHE_MAX    11 /* bits */
#define GREENS       (256 + 24)
#define ALPHABET_MAX (GREENS + (1 << CACHE_MAX))
#define N_DISTANCES  40
#define N_CODES      5
#define N_LENGTHS    19        /* symbols of the code that lengths of codes are written in */
#define PIECE        (1 << 12) /* pixels between two looks at the time */

/* libwebp numbers groups anew, without gaps, where the highest number exceeds this. */
#define GROUPS_DENSE 1000

/* What libwebp takes for a group: the struct, and tables of entries of 4 bytes. Codes of up to 15
 * bits in tables of 8 bits and of what is left take at most 630 entries for 256 symbols, 410 for
 * 40, and for green 656 and one for each of the cache's colours (as zlib's `enough` counts). */
#define GROUP_BYTES 568
#define ENTRY_BYTES 4
#define ENTRIES     (3 * 630 + 410 + 656)

/* ---- bits and codes ---- */

struct stream {
    const uint8_t *data;
    size_t size;
    uint64_t at;  /* in bits; beyond the end there are zeros */
    bool is_late; /* the job's time is over */
};

static bool is_over(const struct stream *s)
{
    return s->at > (uint64_t)s->size * 8;
}

static uint32_t take(struct stream *s, unsigned bits)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bits; i++, s->at++)
        if (s->at / 8 < s->size)
            value |= (uint32_t)(s->data[s->at / 8] >> s->at % 8 & 1) << i;
    return value;
}

/* A canonical code: how many symbols have each length, and the symbols in the order of their bits.
 * A code of one symbol has no bits. */
struct code {
    unsigned n_symbols;
    uint16_t count[LENGTH_MAX + 1];
    uint16_t symbols[ALPHABET_MAX];
};

static bool make_code(struct code *code, const uint8_t *lengths, unsigned n)
{
    uint16_t next[LENGTH_MAX + 2] = {0};
    int left = 1;
    memset(code->count, 0, sizeof code->count);
    for (unsigned i = 0; i < n; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    for (unsigned length = 1; length <= LENGTH_MAX; length++) {
        next[length + 1] = (uint16_t)(next[length] + code->count[length]);
        left = 2 * left - code->count[length];
    }
    code->n_symbols = next[LENGTH_MAX + 1];
    for (unsigned i = 0; i < n; i++)
        if (lengths[i] > 0)
            code->symbols[next[lengths[i]]++] = (uint16_t)i;
    return code->n_symbols == 1 || left == 0;
}

static unsigned take_symbol(struct stream *s, const struct code *code)
{
    unsigned value = 0, first = 0, index = 0;
    if (code->n_symbols == 1)
        return code->symbols[0];
    for (unsigned length = 1; length < LENGTH_MAX; length++) {
        value |= take(s, 1);
        if (value - first < code->count[length])
            return code->symbols[index + value - first];
        index += code->count[length];
        first = (first + code->count[length]) << 1;
        value <<= 1;
    }
    return code->symbols[index + (value | take(s, 1)) - first];
}

/* The lengths of a code's symbols, in a code of their own. */
static bool take_lengths(struct stream *s, unsigned alphabet, uint8_t *lengths)
{
    static const uint8_t order[N_LENGTHS] = {17, 18, 0, 1,  2,  3,  4,  5,  16, 6,
                                             7,  8,  9, 10, 11, 12, 13, 14, 15};
    static const uint8_t extra[] = {2, 3, 7}, least[] = {3, 3, 11}; /* of 16, 17, 18 */
    uint8_t own[N_LENGTHS] = {0}, last = 8;
    unsigned n = take(s, 4) + 4, most = alphabet;
    struct code code;
    for (unsigned i = 0; i < n; i++)
        own[order[i]] = (uint8_t)take(s, 3);
    if (!make_code(&code, own, N_LENGTHS))
        return false;
    if (take(s, 1))
        most = 2 + take(s, 2 + 2 * take(s, 3));
    if (most > alphabet)
        return false;
    for (unsigned i = 0; i < alphabet && most > 0; most--) {
        unsigned symbol = take_symbol(s, &code);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            last = symbol > 0 ? (uint8_t)symbol : last;
            continue;
        }
        unsigned times = least[symbol - 16] + take(s, extra[symbol - 16]);
        if (times > alphabet - i)
            return false;
        memset(lengths + i, symbol == 16 ? last : 0, times);
        i += times;
    }
    return true;
}

static bool take_code(struct stream *s, unsigned alphabet, struct code *code)
{
    uint8_t lengths[ALPHABET_MAX] = {0};
    if (take(s, 1)) { /* one or two symbols */
        bool two = take(s, 1);
        lengths[take(s, take(s, 1) ? 8 : 1)] = 1;
        if (two)
            lengths[take(s, 8)] = 1;
    } else if (!take_lengths(s, alphabet, lengths)) {
        return false;
    }
    return make_code(code, lengths, alphabet);
}

/* A length or a distance, whose symbol stands for the first of several numbers. */
static uint32_t take_number(struct stream *s, unsigned symbol)
{
    unsigned bits = symbol < 4 ? 0 : (symbol - 2) >> 1;
    return symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << bits) + take(s, bits) + 1;
}

/* ---- images ---- */

/* Which numbers of groups were seen. */
struct groups {
    uint8_t seen[(1 << 16) / 8];
    unsigned n, highest;
};

static void see_group(struct groups *groups, unsigned number)
{
    uint8_t bit = (uint8_t)(1 << number % 8);
    groups->n += !(groups->seen[number / 8] & bit);
    groups->seen[number / 8] |= bit;
    groups->highest = number > groups->highest ? number : groups->highest;
}

/* A colour cache's size, as its logarithm; 0: there is none. */
static bool take_cache(struct stream *s, unsigned *bits)
{
    bool is_there = take(s, 1);
    *bits = is_there ? take(s, 4) : 0;
    return *bits <= CACHE_MAX && is_there == (*bits > 0);
}

/* Walks over an image that has one group of codes. `groups` NULL: its pixels do not matter. */
static bool walk_image(struct stream *s, uint64_t n_pixels, struct groups *groups)
{
    struct code codes[N_CODES]; /* green, lengths and the cache; red; blue; alpha; distances */
    unsigned cache;
    if (!take_cache(s, &cache))
        return false;
    for (unsigned i = 0; i < N_CODES; i++) {
        unsigned alphabet = i == 0            ? GREENS + (cache > 0 ? 1U << cache : 0)
                            : i < N_CODES - 1 ? 256
                                              : N_DISTANCES;
        if (!take_code(s, alphabet, &codes[i]))
            return false;
    }
    uint64_t looked = 0;
    for (uint64_t i = 0; i < n_pixels && !is_over(s) && !s->is_late;) {
        unsigned symbol = take_symbol(s, &codes[0]);
        if (symbol < 256) {
            unsigned red = take_symbol(s, &codes[1]);
            take_symbol(s, &codes[2]);
            take_symbol(s, &codes[3]);
            if (groups)
                see_group(groups, red << 8 | symbol);
            i++;
        } else if (symbol < GREENS) {
            i += take_number(s, symbol - 256);
            take_number(s, take_symbol(s, &codes[4]));
        } else {
            i++;
        }
        if (i - looked >= PIECE) {
            s->is_late = deadline_check(NULL) != 0;
            looked = i;
        }
    }
    return true;
}

enum transform {
    PREDICTOR,
    COLOUR,
    SUBTRACT_GREEN,
    PALETTE
};

static uint32_t blocks(uint32_t pixels, unsigned bits)
{
    return (pixels + (1U << bits) - 1) >> bits;
}

static bool walk_blocks(struct stream *s, uint32_t width, uint32_t height, struct groups *groups)
{
    unsigned bits = take(s, 3) + 2;
    return walk_image(s, (uint64_t)blocks(width, bits) * blocks(height, bits), groups);
}

/* Takes the transforms; a palette makes the image narrower. */
static bool walk_transforms(struct stream *s, uint32_t *width, uint32_t height)
{
    unsigned seen = 0;
    while (take(s, 1)) {
        unsigned kind = take(s, 2);
        if (seen >> kind & 1)
            return false;
        seen |= 1U << kind;
        if (kind == PREDICTOR || kind == COLOUR) {
            if (!walk_blocks(s, *width, height, NULL))
                return false;
        } else if (kind == PALETTE) {
            unsigned n = take(s, 8) + 1;
            if (!walk_image(s, n, NULL))
                return false;
            *width = blocks(*width, n > 16 ? 0 : n > 4 ? 1 : n > 2 ? 2 : 3);
        }
    }
    return true;
}

int webp_codes_memory(const uint8_t *data, size_t size, uint32_t width, uint32_t height,
                      uint64_t *memory, struct fault *fault)
{
    struct stream s = {.data = data, .size = size};
    struct groups groups = {.n = 0};
    unsigned cache = 0;
    see_group(&groups,
              0); /* of an image without numbers; or of a cache's colour before it is set */
    bool good = walk_transforms(&s, &width, height) && take_cache(&s, &cache) &&
                (!take(&s, 1) || walk_blocks(&s, width, height, &groups));
    *memory = 0;
    if (s.is_late)
        return deadline_check(fault);
    if (is_over(&s))
        return 0;
    if (!good)
        return fault_set(fault, FAULT_DATA, "damaged webp: its Huffman codes are invalid");
    uint64_t n = groups.highest < GROUPS_DENSE ? groups.highest + 1 : groups.n;
    *memory = n * (GROUP_BYTES + ENTRY_BYTES * (ENTRIES + (1U << cache)));
    return 0;
}
