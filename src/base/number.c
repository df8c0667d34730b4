#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_digits(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

/* The length of the decimal number that `text` begins with: [-]digits[.digits][e[-]digits], with
 * digits before or after the point; 0 when there is none. */
static size_t scan_real(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-';
    size_t whole = count_digits(text + at, length - at);
    at += whole;
    size_t fraction = 0;
    if (at < length && text[at] == '.') {
        fraction = count_digits(text + at + 1, length - at - 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        size_t sign = at + 1 < length && text[at + 1] == '-';
        size_t digits = count_digits(text + at + 1 + sign, length - at - 1 - sign);
        if (digits > 0)
            at += 1 + sign + digits;
    }
    return at;
}

bool number_parse_integer(const char *text, size_t length, int64_t *value)
{
    char buffer[24];
    size_t sign = length > 0 && text[0] == '-';
    if (length == sign || length >= sizeof buffer ||
        count_digits(text + sign, length - sign) != length - sign)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    errno = 0;
    *value = strtoll(buffer, NULL, 10);
    return errno == 0;
}

bool number_parse_real(const char *text, size_t length, double *value)
{
    char buffer[64];
    if (length == 0 || length >= sizeof buffer || scan_real(text, length) != length)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    *value = strtod(buffer, NULL);
    return isfinite(*value);
}

char *number_format_real(double value, char *buffer)
{
    if (value == trunc(value) && fabs(value) < 1e15) { /* 10, not 1e1 */
        snprintf(buffer, NUMBER_TEXT_MAX, "%.0f", value);
        return buffer;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, NUMBER_TEXT_MAX, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    char *plus = strchr(buffer, '+'); /* a chain has no plus sign: 1e+20 is written 1e20 */
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    return buffer;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* Largest first: the first that divides a value is the one it is printed in. */
static const struct unit size_units[] = {
    {"TiB", 1ull << 40}, {"GiB", 1ull << 30},   {"MiB", 1ull << 20},
    {"KiB", 1ull << 10}, {"TB", 1000000000000}, {"GB", 1000000000},
    {"MB", 1000000},     {"kB", 1000},          {"B", 1},
    {NULL, 0},
};
static const struct unit duration_units[] = {
    {"d", 86400000000000},
    {"h", 3600000000000},
    {"min", 60000000000},
    {"s", 1000000000},
    {"ms", 1000000},
    {"us", 1000},
    {"ns", 1},
    {NULL, 0},
};
static const struct unit pixel_units[] = {
    {"GP", 1000000000}, {"MP", 1000000}, {"kP", 1000}, {"P", 1}, {NULL, 0},
};

static bool parse_with_unit(const char *text, size_t length, const struct unit *units,
                            uint64_t bare_factor, uint64_t *result)
{
    size_t digits = scan_real(text, length);
    double value;
    if (digits == 0 || !number_parse_real(text, digits, &value) || value < 0)
        return false;
    uint64_t factor = 0;
    if (digits == length)
        factor = bare_factor;
    for (const struct unit *unit = units; unit->name && factor == 0; unit++)
        if (strlen(unit->name) == length - digits &&
            memcmp(unit->name, text + digits, length - digits) == 0)
            factor = unit->factor;
    double product = value * (double)factor;
    if (factor == 0 || product >= 9.2e18)
        return false;
    *result = (uint64_t)(product + 0.5);
    return true;
}

static char *format_with_unit(uint64_t value, const struct unit *units, char *buffer)
{
    const struct unit *unit = units;
    while (unit[1].name && (value == 0 || value % unit->factor != 0))
        unit++;
    snprintf(buffer, NUMBER_TEXT_MAX, "%" PRIu64 "%s", value / unit->factor, unit->name);
    return buffer;
}

bool number_parse_size(const char *text, size_t length, bool bare_allowed, uint64_t *bytes)
{
    return parse_with_unit(text, length, size_units, bare_allowed, bytes);
}

bool number_parse_duration(const char *text, size_t length, bool bare_allowed,
                           uint64_t *nanoseconds)
{
    return parse_with_unit(text, length, duration_units, bare_allowed ? 1000000000 : 0,
                           nanoseconds);
}

bool number_parse_pixels(const char *text, size_t length, bool bare_allowed, uint64_t *pixels)
{
    return parse_with_unit(text, length, pixel_units, bare_allowed, pixels);
}

char *number_format_size(uint64_t bytes, char *buffer)
{
    return format_with_unit(bytes, size_units, buffer);
}

char *number_format_duration(uint64_t nanoseconds, char *buffer)
{
    return format_with_unit(nanoseconds, duration_units, buffer);
}

char *number_format_pixels(uint64_t pixels, char *buffer)
{
    return format_with_unit(pixels, pixel_units, buffer);
}
