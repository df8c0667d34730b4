#include "base/name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t path_stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

#define REASON_TAIL   ".error.json"
#define EXTENSION_MAX 32 /* longer text after the last dot is no extension */

/* Joins `stem` and `tail`, shortening the stem if the result would be too long. */
static void join(name_buffer name, const char *stem, size_t stem_length, const char *tail)
{
    size_t tail_length = strlen(tail);
    if (tail_length > NAME_BYTES)
        tail_length = NAME_BYTES;
    if (stem_length > NAME_BYTES - tail_length) {
        stem_length = NAME_BYTES - tail_length;
        while (stem_length > 0 && ((unsigned char)stem[stem_length] & 0xc0) == 0x80)
            stem_length--; /* not within a character */
    }
    memmove(name, stem, stem_length);
    memcpy(name + stem_length, tail, tail_length);
    name[stem_length + tail_length] = '\0';
}

static void append(struct text *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        text_append_bytes(to, from[i] == '/' ? "_" : from + i, 1);
}

static size_t stem_length(const char *name)
{
    size_t length = strlen(name), stem = path_stem_length(name);
    return length - stem > EXTENSION_MAX ? length : stem;
}

/* "a.jpg", 2, "dx", ".png" → "a-2.dx.png". */
static void compose(name_buffer name, const char *from, unsigned number, const char *plane,
                    const char *extension)
{
    char digits[16] = "", tail[120];
    if (number > 0)
        snprintf(digits, sizeof digits, "-%u", number);
    snprintf(tail, sizeof tail, "%s%s%.40s%.41s", digits, plane[0] ? "." : "", plane, extension);
    join(name, from, stem_length(from), tail);
}

void name_of_result(name_buffer name, const char *original, unsigned number, const char *plane,
                    const char *extension)
{
    char dotted[42];
    snprintf(dotted, sizeof dotted, ".%s", extension);
    compose(name, original, number, plane, dotted);
}

void name_expand(name_buffer name, const char *template, const struct name_parts *parts)
{
    const struct {
        const char *word, *value;
        size_t length;
    } words[] = {{"{stem}", parts->original, stem_length(parts->original)},
                 {"{name}", parts->original, strlen(parts->original)},
                 {"{chain}", parts->chain, strlen(parts->chain)},
                 {"{date}", parts->day, strlen(parts->day)}};
    size_t n_words = sizeof words / sizeof *words;
    /* settings_check_name has checked that it is there */
    size_t end = strlen(template) - strlen(".{ext}");
    char tail[EXTENSION_MAX + 2];
    struct text stem = {0};
    for (size_t at = 0; at < end;) {
        size_t i = 0;
        while (i < n_words && strncmp(template + at, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i < n_words)
            append(&stem, words[i].value, words[i].length);
        else if (strncmp(template + at, "{ext}", 5) == 0)
            append(&stem, parts->extension, strlen(parts->extension));
        else
            append(&stem, template + at, 1);
        at += i < n_words ? strlen(words[i].word) : template[at] == '{' ? 5 : 1;
    }
    snprintf(tail, sizeof tail, ".%.*s", EXTENSION_MAX, parts->extension);
    join(name, text_string(&stem), stem.length, tail);
    if (name[0] == '.')
        name[0] = '_'; /* a hidden file would not be found */
    text_finish(&stem);
}

void name_of_plane(name_buffer name, const char *result, unsigned number, const char *plane)
{
    compose(name, result, number, plane, result + stem_length(result));
}

void name_of_original(name_buffer name, const char *original, unsigned number)
{
    name_of_plane(name, original, number, "");
}

void name_today(char day[NAME_DAY_MAX])
{
    time_t now = time(NULL);
    struct tm utc;
    day[0] = '\0';
    if (gmtime_r(&now, &utc))
        strftime(day, NAME_DAY_MAX, "%Y-%m-%d", &utc);
}

void name_of_reason(name_buffer name, const char *original)
{
    join(name, original, strlen(original), REASON_TAIL);
}

bool name_is_reason(const char *name)
{
    size_t length = strlen(name);
    return length >= sizeof REASON_TAIL && strcmp(name + name_reason_stem(name), REASON_TAIL) == 0;
}

size_t name_reason_stem(const char *reason)
{
    return strlen(reason) - strlen(REASON_TAIL);
}

void name_number_path(char numbered[PATH_MAX], const char *path, unsigned number)
{
    name_buffer name;
    name_of_original(name, path_name(path), number);
    snprintf(numbered, PATH_MAX, "%.*s%s", (int)(path_name(path) - path), path, name);
}

void name_reason_path(char reason[PATH_MAX], const char *path)
{
    name_buffer name;
    name_of_reason(name, path_name(path));
    snprintf(reason, PATH_MAX, "%.*s%s", (int)(path_name(path) - path), path, name);
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

void name_escape(const char *name, char *text, size_t size)
{
    size_t length = 0;
    for (; *name && length + 4 < size; name++) {
        unsigned char c = (unsigned char)*name;
        length += (size_t)snprintf(text + length, size - length,
                                   c < 0x20 || c > 0x7e || c == '%' ? "%%%02X" : "%c", c);
    }
    text[length] = '\0';
}

bool name_unescape(const char *text, char *name, size_t size)
{
    size_t length = 0;
    while (text && *text && length + 1 < size) {
        unsigned byte = (unsigned char)*text;
        bool escaped = *text == '%';
        if (escaped && (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]) ||
                        sscanf(text + 1, "%2x", &byte) != 1 || byte == 0))
            return false;
        name[length++] = (char)byte;
        text += escaped ? 3 : 1;
    }
    name[length] = '\0';
    return text && !*text;
}

unsigned name_find_number(bool (*taken)(void *context, unsigned number), void *context)
{
    if (!taken(context, 0))
        return 0;
    unsigned low = 0, high = 1; /* low is taken; find a free high */
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
