#include "codec/deflate/huffman.h"

#include <string.h>

/* A symbol that occurs, and how often. */
struct entry {
    uint32_t weight;
    uint16_t symbol;
};

/* Radix sort: ascending by weight, then by symbol. `other` is a second array of `n` entries. */
static void sort(struct entry *entries, struct entry *other, unsigned n)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        unsigned at[257] = {0};
        for (unsigned i = 0; i < n; i++)
            at[(entries[i].weight >> shift & 255) + 1]++;
        if (at[1] == n)
            continue; /* this byte is 0 in all weights */
        for (unsigned i = 0; i < 256; i++)
            at[i + 1] += at[i];
        for (unsigned i = 0; i < n; i++)
            other[at[entries[i].weight >> shift & 255]++] = entries[i];
        memcpy(entries, other, n * sizeof *entries);
    }
}

/* Counts the symbols that have codes of each length, from sorted weights. This is Huffman's
 * algorithm with two queues: leaves, and inner nodes, which are made in ascending order of weight;
 * so the lightest node is always first in one of the two queues. */
static void count_lengths(const struct entry *sorted, unsigned n, unsigned *of_length)
{
    uint32_t weight[HUFFMAN_SYMBOLS_MAX];
    uint16_t parent[2 * HUFFMAN_SYMBOLS_MAX]; /* leaves, then inner nodes */
    uint16_t depth[HUFFMAN_SYMBOLS_MAX];
    unsigned leaf = 0, inner = 0;
    for (unsigned made = 0; made + 1 < n; made++) {
        weight[made] = 0;
        for (int child = 0; child < 2; child++) {
            bool take_leaf = leaf < n && (inner >= made || sorted[leaf].weight <= weight[inner]);
            weight[made] += take_leaf ? sorted[leaf].weight : weight[inner];
            parent[take_leaf ? leaf++ : n + inner++] = (uint16_t)made;
        }
    }
    depth[n - 2] = 0;
    for (unsigned i = n - 2; i-- > 0;)
        depth[i] = (uint16_t)(depth[parent[n + i]] + 1);
    for (unsigned i = 0; i < n; i++)
        of_length[depth[parent[i]] + 1]++;
}

/* Codes longer than the limit get the limit's length. Then their sum 2^-length may exceed 1
 * (Kraft), and shorter codes are made longer by a bit until it does not. `used` counts that sum in
 * units of 2^-limit. */
static void limit_lengths(unsigned *of_length, unsigned longest, unsigned limit)
{
    uint32_t used = 0;
    for (unsigned l = limit + 1; l <= longest; l++) {
        of_length[limit] += of_length[l];
        of_length[l] = 0;
    }
    for (unsigned l = 1; l <= limit; l++)
        used += of_length[l] << (limit - l);
    while (used > 1u << limit) {
        unsigned l = limit - 1;
        while (of_length[l] == 0)
            l--;
        of_length[l]--;
        of_length[l + 1]++;
        used -= 1u << (limit - l - 1);
    }
    /* The last step may have freed more than was needed: make codes shorter again. */
    for (unsigned l = limit; used < 1u << limit && l > 1;) {
        uint32_t gain = 1u << (limit - l);
        if (of_length[l] > 0 && used + gain <= 1u << limit) {
            of_length[l]--;
            of_length[l - 1]++;
            used += gain;
        } else {
            l--;
        }
    }
}

/* RFC 1951 3.2.2: codes of one length are consecutive numbers in the order of the symbols. */
static void assign(const uint8_t *lengths, unsigned n, const unsigned *of_length,
                   struct huffman_code *codes)
{
    unsigned next[HUFFMAN_BITS_MAX + 2] = {0};
    for (unsigned l = 1; l <= HUFFMAN_BITS_MAX; l++)
        next[l + 1] = (next[l] + of_length[l]) << 1;
    for (unsigned s = 0; s < n; s++) {
        unsigned length = lengths[s], code = length ? next[length]++ : 0, reversed = 0;
        for (unsigned i = 0; i < length; i++)
            reversed |= (code >> i & 1) << (length - 1 - i);
        codes[s] = (struct huffman_code){(uint16_t)reversed, lengths[s]};
    }
}

void huffman_make(const uint32_t *counts, unsigned n, unsigned limit, struct huffman_code *codes)
{
    struct entry sorted[HUFFMAN_SYMBOLS_MAX], other[HUFFMAN_SYMBOLS_MAX];
    unsigned of_length[HUFFMAN_SYMBOLS_MAX + 1] = {0};
    uint8_t lengths[HUFFMAN_SYMBOLS_MAX] = {0};
    unsigned used = 0;
    for (unsigned s = 0; s < n; s++)
        if (counts[s] > 0)
            sorted[used++] = (struct entry){counts[s], (uint16_t)s};
    for (unsigned s = 0; used < 2; s++)
        if (counts[s] == 0)
            sorted[used++] = (struct entry){1, (uint16_t)s};
    sort(sorted, other, used);
    count_lengths(sorted, used, of_length);
    limit_lengths(of_length, used, limit);
    for (unsigned l = limit, i = 0; l > 0; l--)
        for (unsigned k = 0; k < of_length[l]; k++)
            lengths[sorted[i++].symbol] = (uint8_t)l;
    assign(lengths, n, of_length, codes);
}
