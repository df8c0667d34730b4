/* Numbers as they are written in chains, options and configuration files: decimals of the C locale
 * without a plus sign and without surrounding text. Hexadecimal, NaN and infinities are refused. */
#ifndef SLUICE_BASE_NUMBER_H
#define SLUICE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return false when the `length` bytes at `text` are not such a number, or do not fit the type. */
bool number_parse_integer(const char *text, size_t length, int64_t *value);
bool number_parse_real(const char *text, size_t length, double *value);

/* The shortest decimal that reads back as the same double, without a plus sign. `buffer` must hold
 * NUMBER_TEXT_MAX bytes and is returned. */
#define NUMBER_TEXT_MAX 40
char *number_format_real(double value, char *buffer);

/* Sizes ("64MiB", "1.5GB", "100kB"), durations ("5s", "200ms", "2min", "7d") and pixel counts
 * ("100MP", "0.5GP", "640kP", "12P"). With `bare_allowed` the unit may be missing and is then
 * bytes, seconds or pixels. Results are bytes, nanoseconds, pixels. */
bool number_parse_size(const char *text, size_t length, bool bare_allowed, uint64_t *bytes);
bool number_parse_duration(const char *text, size_t length, bool bare_allowed,
                           uint64_t *nanoseconds);
bool number_parse_pixels(const char *text, size_t length, bool bare_allowed, uint64_t *pixels);

/* As messages print them: "256MiB", "1.5s", "100MP"; exact if four digits can be, otherwise
 * rounded: "213.4MiB". */
char *number_format_size(uint64_t bytes, char *buffer);
char *number_format_duration(uint64_t nanoseconds, char *buffer);
char *number_format_pixels(uint64_t pixels, char *buffer);

enum number_kind {
    NUMBER_PLAIN,
    NUMBER_SIZE,
    NUMBER_DURATION,
    NUMBER_PIXELS,
};

/* The range of such a number: "from 1B to 4GiB". `buffer` must hold NUMBER_RANGE_MAX bytes. */
#define NUMBER_RANGE_MAX (2 * NUMBER_TEXT_MAX + 16)
char *number_format_range(enum number_kind kind, double min, double max, char *buffer);

/* The same for arguments of a call: the text is valid to the end of the enclosing block. */
#define number_size(bytes)           number_format_size(bytes, (char[NUMBER_TEXT_MAX]){0})
#define number_duration(nanoseconds) number_format_duration(nanoseconds, (char[NUMBER_TEXT_MAX]){0})
#define number_pixels(pixels)        number_format_pixels(pixels, (char[NUMBER_TEXT_MAX]){0})
#define number_range(kind, min, max)                                                               \
    number_format_range(kind, min, max, (char[NUMBER_RANGE_MAX]){0})

#endif
