#include "base/number.h"

#include <errno.h>
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

/* Length of the decimal number at the start of `text`: [-]digits[.digits][e[-]digits], with digits
 * before or after the point; 0 when there is none. */
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
    char *plus = strchr(buffer, '+'); /* chains have no plus sign: 1e+20 is written 1e20 */
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    return buffer;
}

/* A unit. Rounding uses the largest unit of which at least `rounds` fit into the value; 0: never
 * used for rounding. */
struct unit {
    const char *name;
    uint64_t factor;
    unsigned rounds;
};

/* Largest first. Decimal sizes are printed where they are exact, which is how they were written. */
static const struct unit size_units[] = {
    {"TiB", 1ull << 40, 1}, {"GiB", 1ull << 30, 1},   {"MiB", 1ull << 20, 1},
    {"KiB", 1ull << 10, 1}, {"TB", 1000000000000, 0}, {"GB", 1000000000, 0},
    {"MB", 1000000, 0},     {"kB", 1000, 0},          {"B", 1, 1},
    {NULL, 0, 0},
};
static const struct unit duration_units[] = {
    {"d", 86400000000000, 10},
    {"h", 3600000000000, 10},
    {"min", 60000000000, 10},
    {"s", 1000000000, 1},
    {"ms", 1000000, 1},
    {"us", 1000, 1},
    {"ns", 1, 1},
    {NULL, 0, 0},
};
static const struct unit pixel_units[] = {
    {"GP", 1000000000, 1}, {"MP", 1000000, 1}, {"kP", 1000, 1}, {"P", 1, 1}, {NULL, 0, 0},
};

static const struct {
    const struct unit *units;
    uint64_t bare; /* the factor of a number without a unit */
} kinds[] = {[NUMBER_SIZE] = {size_units, 1},
             [NUMBER_DURATION] = {duration_units, 1000000000},
             [NUMBER_PIXELS] = {pixel_units, 1}};

bool number_parse_unit(enum number_kind kind, const char *text, size_t length, bool bare_allowed,
                       uint64_t *result)
{
    size_t digits = scan_real(text, length);
    double value;
    if (digits == 0 || !number_parse_real(text, digits, &value) || value < 0)
        return false;
    uint64_t factor = digits == length && bare_allowed ? kinds[kind].bare : 0;
    for (const struct unit *unit = kinds[kind].units; unit->name && factor == 0; unit++)
        if (strlen(unit->name) == length - digits &&
            memcmp(unit->name, text + digits, length - digits) == 0)
            factor = unit->factor;
    double product = value * (double)factor;
    if (factor == 0 || product >= 9.2e18)
        return false;
    *result = (uint64_t)(product + 0.5);
    return true;
}

/* Chooses the unit in which four digits give the exact value; of several the shortest text.
 * Otherwise rounds to four digits. */
char *number_format_unit(enum number_kind kind, uint64_t value, char *buffer)
{
    const struct unit *units = kinds[kind].units, *rounding = NULL;
    size_t shortest = NUMBER_TEXT_MAX;
    if (value == 0 && kind == NUMBER_DURATION)
        return strcpy(buffer, "0s");
    for (const struct unit *unit = units; unit->name; unit++) {
        char text[NUMBER_TEXT_MAX];
        uint64_t parsed;
        double count = (double)value / (double)unit->factor;
        if ((count < 1 && unit[1].name) || count >= 9999.5)
            continue;
        if (!rounding && unit->rounds && count >= unit->rounds)
            rounding = unit;
        int digits = snprintf(text, sizeof text, "%.4g", count);
        snprintf(text + digits, sizeof text - (size_t)digits, "%s", unit->name);
        if ((size_t)digits < shortest &&
            number_parse_unit(kind, text, strlen(text), false, &parsed) && parsed == value) {
            shortest = (size_t)digits;
            memcpy(buffer, text, sizeof text);
        }
    }
    if (shortest == NUMBER_TEXT_MAX) {
        const struct unit *unit = rounding ? rounding : units;
        double count = (double)value / (double)unit->factor;
        snprintf(buffer, NUMBER_TEXT_MAX, count < 9999.5 ? "%.4g%s" : "%.0f%s", count, unit->name);
    }
    return buffer;
}

char *number_format_range(enum number_kind kind, double min, double max, char *buffer)
{
    char texts[2][NUMBER_TEXT_MAX];
    double ends[2] = {min, max};
    for (int i = 0; i < 2; i++) {
        if (kind == NUMBER_PLAIN)
            number_format_real(ends[i], texts[i]);
        else
            number_format_unit(kind, (uint64_t)ends[i], texts[i]);
    }
    snprintf(buffer, NUMBER_RANGE_MAX, "from %s to %s", texts[0], texts[1]);
    return buffer;
}
