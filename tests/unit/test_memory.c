/* The n-th allocation of a codec fails, for every n: it ends with FAULT_MEMORY (or goes on
 * without), and gives back what it had. The allocator is wrapped in this program, for it and its
 * libraries; a sanitizer has its own, so this is built without one. */
#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/decode.h"
#include "codec/output.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *memory);

/* While `armed`: allocations so far, the one to fail, and how many are held. */
static bool armed, persistent;
static unsigned count, failing;
static long held;

static bool fails(void)
{
    if (!armed)
        return false;
    count++;
    if (count != failing && !(persistent && count > failing && failing > 0))
        return false;
    errno = ENOMEM;
    return true;
}

static void *hold(void *memory)
{
    held += armed && memory;
    return memory;
}

void *malloc(size_t size)
{
    return fails() ? NULL : hold(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : hold(__libc_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    return memory ? __libc_realloc(memory, size) : hold(__libc_malloc(size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : hold(__libc_memalign(alignment, size));
}

void free(void *memory)
{
    held -= armed && memory;
    __libc_free(memory);
}

/* Decodes into memory that is there already. */
static int decode(const struct file *file, const struct decode_options *options, uint8_t *room,
                  struct fault *fault)
{
    const struct codec_limits limits = {1 << 16, 16 << 20};
    struct decoder decoder;
    int result = decoder_open(&decoder, file->data, file->size, options, &limits, fault);
    if (result == 0) {
        struct picture picture = {decoder.frame, room};
        result = decoder_read(&decoder, &picture, fault);
        decoder_close(&decoder);
    }
    return result;
}

static int encode(const struct format *format, const struct picture *picture, struct fault *fault)
{
    static struct output output;
    output = (struct output){.fd = -1};
    fault_clear(&output.fault);
    return format_encode(format, picture, 0, &output, fault);
}

static void begin(unsigned n, bool and_later)
{
    count = 0;
    held = 0;
    failing = n;
    persistent = and_later;
    armed = true;
}

static void end(const char *name, int result, const struct fault *fault)
{
    armed = false;
    if (held != 0)
        fail_msg("%s, allocation %u: %ld pieces of memory are lost", name, failing, held);
    if (failing > 0 && result != 0 && result != FAULT_MEMORY)
        fail_msg("%s, allocation %u: %s", name, failing, fault->text);
    if (failing == 0)
        assert_int_equal(result, 0);
}

static void test_decoders(void **state)
{
    static uint8_t room[1 << 20];
    struct decode_options options = options_of(NULL);
    (void)state;
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        if (strstr(s->name, ".npz"))
            continue; /* libzip 1.7 calls an allocation that failed damage */
        if (strstr(s->name, ".tif") || strstr(s->name, ".webp"))
            continue; /* libtiff 4.5 loses memory then, and libwebp 1.2 calls it damage */
        s->make(&file, s->variant);
        unsigned total = 0;
        for (unsigned n = 0; n <= total; n++) {
            for (int later = 0; later < 2; later++) {
                struct fault fault = FAULT_INIT;
                begin(n, later);
                int result = decode(&file, &options, room, &fault);
                end(s->name, result, &fault);
                if (n == 0)
                    total = count;
            }
        }
        assert_true(total > 0);
        file_finish(&file);
    }
}

static void test_encoders(void **state)
{
    static const char *const formats[] = { /* libtiff 4.5 loses memory */
        "jpg", "jpg:progressive=1", "png", "png:level=6", "bmp", "ppm", "npy",
        "npz", "npz:level=6",       "raw",
#ifdef SLUICE_WEBP
        "webp", "webp:lossless=1",
#endif
    };
    struct picture picture = picture_of(20, 10, 3, SAMPLE_U8);
    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct fault fault = FAULT_INIT;
        struct format format;
        unsigned total = 0;
        assert_int_equal(format_parse(&format, formats[f], &fault), 0);
        for (unsigned n = 0; n <= total; n++) {
            for (int later = 0; later < 2; later++) {
                fault_clear(&fault);
                begin(n, later);
                int result = encode(&format, &picture, &fault);
                end(formats[f], result, &fault);
                if (n == 0)
                    total = count;
            }
        }
        format_finish(&format);
    }
    picture_destroy(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoders),
        cmocka_unit_test(test_encoders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
