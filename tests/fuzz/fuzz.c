#include "fuzz.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the sanitizers; missing without them. */
int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *))
    __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *memory) __attribute__((weak));
/* Of libFuzzer, which besides looks at every comparison. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit) __attribute__((weak));

static atomic_int_fast64_t held, peak;
static size_t piece;
static uint64_t begun;
static unsigned n_pieces;

/* Millions of lines say nothing; they are still put together. */
static bool swallow(enum log_level level, const char *program, const char *line,
                    const struct log_subject *about)
{
    (void)level;
    (void)program;
    (void)line;
    (void)about;
    return true;
}

__attribute__((constructor)) static void be_quiet(void)
{
    log_set_sink(swallow);
}

static void on_malloc(const volatile void *memory, size_t size)
{
    (void)memory;
    int_fast64_t now = atomic_fetch_add(&held, (int_fast64_t)size) + (int_fast64_t)size;
    if (now > peak)
        peak = now;
}

static void on_free(const volatile void *memory)
{
    if (memory)
        held -= (int_fast64_t)__sanitizer_get_allocated_size(memory);
}

static uint64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void fuzz_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    abort();
}

void fuzz_begin(size_t size)
{
    static bool hooked;
    if (!hooked && __sanitizer_install_malloc_and_free_hooks)
        __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    hooked = true;
    piece = size;
    held = peak = 0;
    begun = processor_time();
}

void fuzz_end(void)
{
    static double patience;
    uint64_t taken = processor_time() - begun;
    if (patience == 0) {
        const char *told = getenv("FUZZ_PATIENCE");
        patience = told                                        ? atof(told)
                   : LLVMFuzzerMutate                          ? 16
                   : __sanitizer_install_malloc_and_free_hooks ? 4
                                                               : 1;
    }
    double pieces = (double)(piece / FUZZ_PIECE + 1);
    if (n_pieces++ == 0)
        return; /* the first one loads libraries */
    if ((double)taken > pieces * patience * FUZZ_MILLISECONDS * 1e6)
        fuzz_fail("%zu bytes took %.0f ms", piece, (double)taken * 1e-6);
    if ((double)peak > pieces * (double)FUZZ_BYTES)
        fuzz_fail("%zu bytes took %.1f MiB", piece, (double)peak / 1048576);
}

uint8_t fuzz_take_byte(struct reader_of_bytes *bytes)
{
    if (bytes->size == 0)
        return 0;
    bytes->size--;
    return *bytes->data++;
}

char *fuzz_take_text(struct reader_of_bytes *bytes, char end, size_t *length)
{
    const uint8_t *stop = bytes->size ? memchr(bytes->data, end, bytes->size) : NULL;
    *length = stop ? (size_t)(stop - bytes->data) : bytes->size;
    char *text = malloc(*length + 1);
    if (!text)
        abort();
    if (*length > 0)
        memcpy(text, bytes->data, *length);
    text[*length] = '\0';
    bytes->data += *length + (stop != NULL);
    bytes->size -= *length + (stop != NULL);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none[1];
    fuzz_begin(size);
    fuzz_one(data ? data : none, size);
    fuzz_end();
    return 0;
}
