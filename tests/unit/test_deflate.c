#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/deflate/deflate.h"
#include "codec/deflate/huffman.h"

#define BLOCK 32768

struct stream {
    uint8_t *data;
    size_t size;
};

static void collect(void *context, const uint8_t *data, size_t size)
{
    struct stream *s = context;
    s->data = realloc(s->data, s->size + size);
    assert_non_null(s->data);
    memcpy(s->data + s->size, data, size);
    s->size += size;
}

/* Compressed in pieces of `piece` bytes. */
static struct stream compress_bytes(const uint8_t *data, size_t size, size_t piece)
{
    struct stream s = {0};
    struct deflate *d = deflate_create(collect, &s);
    assert_non_null(d);
    for (size_t at = 0; at < size; at += piece)
        deflate_write(d, data + at, size - at < piece ? size - at : piece);
    deflate_end(d);
    deflate_destroy(&d);
    return s;
}

/* zlib reads it back, to the last byte of the stream and its checksum, and it is the same however
 * it was cut. Returns its size. */
static size_t round_trip(const uint8_t *data, size_t size)
{
    struct stream whole = compress_bytes(data, size, size ? size : 1);
    struct stream pieces = compress_bytes(data, size, 1000);
    uint8_t *back = malloc(size + 1);
    z_stream z = {.next_in = whole.data,
                  .avail_in = (uInt)whole.size,
                  .next_out = back,
                  .avail_out = (uInt)size + 1};
    assert_int_equal(inflateInit(&z), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, size);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    assert_memory_equal(back, data, size);
    assert_int_equal(pieces.size, whole.size);
    assert_memory_equal(pieces.data, whole.data, whole.size);
    free(back);
    free(whole.data);
    free(pieces.data);
    return whole.size;
}

static void test_noise(void **state)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5};
    uint8_t *data = malloc(4 * BLOCK);
    uint32_t random = 1;
    (void)state;
    for (int mask = 0; mask < 256; mask = 2 * mask + 1) {
        for (size_t i = 0; i < 4 * BLOCK; i++)
            data[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24 & mask);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t size = round_trip(data, sizes[s]);
            /* Noise of eight bits grows by the codes of each block and no more. */
            assert_true(size < sizes[s] + sizes[s] / 100 + 200);
        }
    }
    free(data);
    round_trip(NULL, 0);
}

/* Runs of every length up to three matches, at every place in a word, and across blocks. */
static void test_runs(void **state)
{
    uint8_t *data = malloc(2000);
    (void)state;
    for (size_t length = 1; length < 800; length++) {
        size_t before = length % 17, size = before + length + length % 11;
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)(i * 37 + 1);
        memset(data + before, 7, length);
        round_trip(data, size);
    }
    free(data);
    data = calloc(1, 5 * BLOCK);
    assert_true(round_trip(data, 5 * BLOCK) < 5 * 100);
    for (size_t i = 0; i < 5 * BLOCK; i += 23)
        data[i] = 1;
    round_trip(data, 5 * BLOCK);
    free(data);
}

/* Weights that double would make codes as long as there are symbols. */
static void test_limit(void **state)
{
    uint8_t *data = malloc(BLOCK);
    size_t size = 0;
    (void)state;
    for (unsigned s = 0, count = 1; s < 14; s++, count *= 2)
        for (unsigned i = 0; i < count && size < BLOCK; i++)
            data[size++] = (uint8_t)s;
    for (size_t i = size; i-- > 1;) { /* mixed, so that there are no runs */
        size_t k = i * 7919 % (i + 1);
        uint8_t v = data[i];
        data[i] = data[k];
        data[k] = v;
    }
    round_trip(data, size);
    free(data);
}

/* Lengths of a small code by hand: weights 1, 1, 2, 4 make lengths 3, 3, 2, 1, and within two bits
 * all have two. Codes of one length count up (0; 10; 110, 111) and are written from their first bit
 * on, which is the lowest here. */
static void test_code(void **state)
{
    static const uint32_t counts[] = {1, 0, 4, 1, 2};
    struct huffman_code codes[5];
    (void)state;
    huffman_make(counts, 5, 15, codes);
    assert_int_equal(codes[0].length, 3);
    assert_int_equal(codes[0].bits, 3); /* 110 */
    assert_int_equal(codes[1].length, 0);
    assert_int_equal(codes[2].length, 1);
    assert_int_equal(codes[2].bits, 0);
    assert_int_equal(codes[3].length, 3);
    assert_int_equal(codes[3].bits, 7); /* 111 */
    assert_int_equal(codes[4].length, 2);
    assert_int_equal(codes[4].bits, 1); /* 10 */
    huffman_make(counts, 5, 2, codes);
    for (int s = 0; s < 5; s++)
        assert_int_equal(codes[s].length, s == 1 ? 0 : 2);
}

/* Whatever the weights, the code is whole (the lengths' shares sum to one) and within the limit. */
static void test_codes_are_whole(void **state)
{
    uint32_t counts[HUFFMAN_SYMBOLS_MAX], random = 5;
    struct huffman_code codes[HUFFMAN_SYMBOLS_MAX];
    (void)state;
    for (unsigned turn = 0; turn < 2000; turn++) {
        unsigned n = 2 + turn % 285, limit = n <= 128 ? 7 + turn % 9 : 9 + turn % 7;
        uint32_t space = 0;
        for (unsigned s = 0; s < n; s++) {
            random = random * 1664525 + 1013904223;
            counts[s] = random & 3 ? 1u << (random >> 27) % 26 : 0;
        }
        huffman_make(counts, n, limit, codes);
        for (unsigned s = 0; s < n; s++) {
            assert_true(codes[s].length <= limit);
            assert_true(counts[s] == 0 || codes[s].length > 0);
            space += codes[s].length ? 1u << (15 - codes[s].length) : 0;
        }
        assert_int_equal(space, 1u << 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),           cmocka_unit_test(test_runs),
        cmocka_unit_test(test_limit),           cmocka_unit_test(test_code),
        cmocka_unit_test(test_codes_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
