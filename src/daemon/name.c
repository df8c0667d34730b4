#include "daemon/name.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define EXTENSION_MAX 32 /* what follows a dot further from the end is no extension */

/* `stem` with `tail` behind it, the stem cut where the whole would be too long. */
static void join(name_buffer name, const char *stem, size_t stem_length, const char *tail)
{
    size_t tail_length = strlen(tail);
    if (tail_length > NAME_BYTES)
        tail_length = NAME_BYTES;
    if (stem_length > NAME_BYTES - tail_length) {
        stem_length = NAME_BYTES - tail_length;
        while (stem_length > 0 && ((unsigned char)stem[stem_length] & 0xc0) == 0x80)
            stem_length--; /* in the middle of a character */
    }
    memmove(name, stem, stem_length);
    memcpy(name + stem_length, tail, tail_length);
    name[stem_length + tail_length] = '\0';
}

static size_t stem_length(const char *name)
{
    size_t length = strlen(name), stem = path_stem_length(name);
    return length - stem > EXTENSION_MAX ? length : stem;
}

static void print_number(char *text, size_t size, unsigned number)
{
    text[0] = '\0';
    if (number > 0)
        snprintf(text, size, "-%u", number);
}

void name_of_result(name_buffer name, const char *original, unsigned number, const char *plane,
                    const char *extension)
{
    char digits[16], tail[120];
    print_number(digits, sizeof digits, number);
    snprintf(tail, sizeof tail, "%s%s%.40s.%.40s", digits, plane[0] ? "." : "", plane, extension);
    join(name, original, stem_length(original), tail);
}

void name_of_original(name_buffer name, const char *original, unsigned number)
{
    char digits[16], tail[16 + EXTENSION_MAX];
    size_t stem = stem_length(original);
    print_number(digits, sizeof digits, number);
    snprintf(tail, sizeof tail, "%s%s", digits, original + stem);
    join(name, original, stem, tail);
}

void name_of_reason(name_buffer name, const char *original)
{
    join(name, original, strlen(original), ".error.json");
}

void name_of_temporary(name_buffer name, const char *final, const char *tag)
{
    char tail[100];
    snprintf(tail, sizeof tail, ".%.80s.tmp", tag);
    name_buffer hidden = ".";
    size_t length = strnlen(final, NAME_BYTES - 1);
    memcpy(hidden + 1, final, length);
    hidden[1 + length] = '\0';
    join(name, hidden, 1 + length, tail);
}

bool name_is_temporary_of(const char *name, const char *instance)
{
    size_t length = strlen(name), instance_length = strlen(instance);
    if (name[0] != '.' || length < 4 || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    for (const char *dot = strchr(name + 1, '.'); dot; dot = strchr(dot + 1, '.'))
        if (strncmp(dot + 1, instance, instance_length) == 0 && dot[1 + instance_length] == '-')
            return true;
    return false;
}

unsigned name_find_number(bool (*taken)(void *context, unsigned number), void *context)
{
    if (!taken(context, 0))
        return 0;
    unsigned low = 0, high = 1; /* low is taken; find a high that is not */
    while (taken(context, high)) {
        if (high > UINT_MAX / 2)
            return UINT_MAX;
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (taken(context, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool name_is_ignored(const char *name, const char *const *patterns)
{
    if (name[0] == '.')
        return true;
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, 0) == 0)
            return true;
    return false;
}
