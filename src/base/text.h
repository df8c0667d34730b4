/* A string that grows. A failed allocation leaves the text as it was and sets `failed`, which users
 * check once, at the end. */
#ifndef SLUICE_BASE_TEXT_H
#define SLUICE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* NUL-terminated, or NULL while empty; owned */
    size_t length, capacity;
    bool failed;
};

void text_finish(struct text *text);
void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const char *bytes, size_t length);

/* Appends `string`, with U+FFFD in place of each byte that is no valid UTF-8. */
void text_append_utf8(struct text *text, const char *string);

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Compares strings that may be NULL; two NULLs are equal. */
bool texts_equal(const char *a, const char *b);

/* The string, "" while empty; valid until the next change. */
const char *text_string(const struct text *text);

/* Texts that belong together, as one with ; between them: "png;jpg;png". How many there are, at
 * least 1; and where one begins, NULL behind the last. */
size_t text_count_parts(const char *text);
const char *text_find_part(const char *text, size_t index, size_t *length);

#endif
