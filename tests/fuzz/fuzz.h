/* A fuzz target NAME is fuzz_NAME.c: it defines fuzz_one, which takes one input and aborts when a
 * promise is broken. fuzz.c calls it for libFuzzer, and for main.c, which replays files in ordinary
 * builds, and holds it to its time and memory.
 *
 * A target whose inputs are hard to hit byte by byte has a mutate_NAME.c (libFuzzer's own hook),
 * built only with -Dfuzz=true. */
#ifndef SLUICE_TESTS_FUZZ_H
#define SLUICE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `data` is never NULL. */
void fuzz_one(const uint8_t *data, size_t size);

/* Each 64 KiB that are begun of an input may take 100 ms of processor time and 64 MiB of memory at
 * the fullest; four times the time under sanitizers, 16 times as libFuzzer's program, FUZZ_PATIENCE
 * (environment) times that under an emulator. What is slow there goes into the corpus, which
 * ordinary builds replay. Memory is counted where a sanitizer counts it. What fuzz_one does is one
 * such piece of work, unless it begins another one. */
#define FUZZ_PIECE        65536
#define FUZZ_MILLISECONDS 100
#define FUZZ_BYTES        (UINT64_C(64) << 20)
void fuzz_begin(size_t size);
void fuzz_end(void);

/* Prints what is wrong, and aborts. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes an input apart. */
struct reader_of_bytes {
    const uint8_t *data;
    size_t size;
};
uint8_t fuzz_take_byte(struct reader_of_bytes *bytes);
/* The bytes up to `end`, which is skipped; all that is left where there is none. A string that the
 * caller frees, NULs in it as they come. */
char *fuzz_take_text(struct reader_of_bytes *bytes, char end, size_t *length);

#endif
