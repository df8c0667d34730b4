/* Numbers, with and without units, as they are written in chains, options and configuration files,
 * and as messages print them: decimals of the C locale without a plus sign and without surrounding
 * text. Hexadecimal, NaN and infinities are refused. */
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

enum number_kind {
    NUMBER_PLAIN,
    NUMBER_SIZE,     /* bytes: "64MiB", "1.5GB", "100kB" */
    NUMBER_DURATION, /* nanoseconds: "5s", "200ms", "2min", "7d" */
    NUMBER_PIXELS,   /* "100MP", "0.5GP", "640kP", "12P" */
};

/* A number with a unit. With `bare_allowed` the unit may be missing and is then bytes, seconds or
 * pixels. */
bool number_parse_unit(enum number_kind kind, const char *text, size_t length, bool bare_allowed,
                       uint64_t *value);

/* As messages print it: "256MiB", "1.5s", "100MP"; exact if four digits can be, otherwise rounded:
 * "213.4MiB". */
char *number_format_unit(enum number_kind kind, uint64_t value, char *buffer);

/* The range of such a number: "from 1B to 4GiB". `buffer` must hold NUMBER_RANGE_MAX bytes. */
#define NUMBER_RANGE_MAX (2 * NUMBER_TEXT_MAX + 16)
char *number_format_range(enum number_kind kind, double min, double max, char *buffer);

/* The same for arguments of a call: the text is valid to the end of the enclosing block. */
#define number_unit(kind, value)     number_format_unit(kind, value, (char[NUMBER_TEXT_MAX]){0})
#define number_size(bytes)           number_unit(NUMBER_SIZE, bytes)
#define number_duration(nanoseconds) number_unit(NUMBER_DURATION, nanoseconds)
#define number_pixels(pixels)        number_unit(NUMBER_PIXELS, pixels)
#define number_range(kind, min, max)                                                               \
    number_format_range(kind, min, max, (char[NUMBER_RANGE_MAX]){0})

#endif
