/* Every kind of file, cut at every byte and with every bit turned: it fails with a reason or gives
 * a picture, and never writes outside of it (tests/codec/decode.c looks). Under sanitizers this
 * sees much more. */
#include "test.h"

#include <stdio.h>

#include "../codec/decode.h"

static const char *const option_texts[] = {NULL, "partial=1", "orient=0", "strict=1"};
#define N_OPTIONS (sizeof option_texts / sizeof *option_texts)

static struct decode_options options_number(size_t i)
{
    struct decode_options options =
        i == N_OPTIONS ? options_of("partial=1") : options_of(option_texts[i]);
    decode_less = i == N_OPTIONS ? (struct decode_less){true, 4} : (struct decode_less){0};
    return options;
}

/* True for the formats whose last byte matters: text has blanks at its end. */
static bool ends_strictly(const struct sample_file *sample)
{
    return sample->name[0] != 'p' || sample->name[2] != '.' || sample->name[1] > '3';
}

static void test_good(void **state)
{
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        for (size_t i = 0; i <= N_OPTIONS; i++) {
            struct decode_options options = options_number(i);
            struct decoded decoded;
            struct fault fault;
            if (decode_file(&file, &options, &decoded, &fault) != 0)
                fail_msg("%s: %s", s->name, fault.text);
            decoded_finish(&decoded);
        }
        file_finish(&file);
    }
}

/* A cut file is told from a damaged one; with `partial` it gives a picture as soon as its header is
 * whole. */
static void check_cut(const struct sample_file *s, const struct file *file, size_t size)
{
    const struct file cut = {file->data, size};
    struct decode_options options = options_of(NULL);
    struct decoded decoded;
    struct fault fault;
    int result = decode_file(&cut, &options, &decoded, &fault);
    if (result == 0 && ends_strictly(s))
        fail_msg("%s: %zu of %zu bytes were enough", s->name, size, file->size);
    if (result != 0 && result != FAULT_TRUNCATED && size >= 4)
        fail_msg("%s cut to %zu bytes: %s", s->name, size, fault.text);
    decoded_finish(&decoded);
    for (size_t i = 0; i <= N_OPTIONS; i++) {
        options = options_number(i);
        struct decoder decoder;
        const struct codec_limits limits = {1 << 22, 64 << 20};
        struct fault opening = FAULT_INIT;
        bool open = decoder_open(&decoder, cut.data, size, &options, &limits, &opening) == 0;
        if (open)
            decoder_close(&decoder);
        result = decode_file(&cut, &options, &decoded, &fault);
        if (open && options.partial && result != 0)
            fail_msg("%s cut to %zu bytes, partial: %s", s->name, size, fault.text);
        decoded_finish(&decoded);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        for (size_t size = 0; size < file.size; size++)
            check_cut(s, &file, size);
        file_finish(&file);
    }
}

/* With the usual options, and with one of the others in turn, another one in the next byte. */
static void check_damaged(const struct file *file)
{
    static size_t turn;
    const size_t tried[] = {0, 1 + (turn + turn / 8) % N_OPTIONS};
    turn++;
    for (size_t i = 0; i < 2; i++) {
        struct decode_options options = options_number(tried[i]);
        struct decoded decoded;
        struct fault fault;
        int result = decode_file(file, &options, &decoded, &fault);
        assert_true(result == 0 || fault.text[0]);
        assert_true(result != FAULT_INTERNAL && result != FAULT_MEMORY);
        decoded_finish(&decoded);
    }
}

static void test_bits(void **state)
{
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        for (size_t bit = 0; bit < 8 * file.size; bit++) {
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            check_damaged(&file);
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        file_finish(&file);
    }
}

/* Bytes of extreme values, where lengths and counts are. */
static void test_bytes(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        for (size_t at = 0; at < file.size; at++) {
            uint8_t was = file.data[at];
            for (size_t v = 0; v < sizeof values; v++) {
                file.data[at] = values[v];
                check_damaged(&file);
            }
            file.data[at] = was;
        }
        file_finish(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
