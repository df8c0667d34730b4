#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_finish(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

static bool reserve(struct text *text, size_t more)
{
    if (text->failed)
        return false;
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_append_bytes(struct text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
    text_append_bytes(text, string, strlen(string));
}

/* Length of the valid UTF-8 character at the start of `s` (table 3-7 of the Unicode standard); 0:
 * it is not valid. */
static size_t character_length(const unsigned char *s)
{
    unsigned low = 0x80, high = 0xbf; /* of the second byte */
    size_t more;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    more = s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i <= more; i++)
        if (s[i] < 0x80 || s[i] > 0xbf) /* this catches the end of the string, too */
            return 0;
    return more + 1;
}

void text_append_utf8(struct text *text, const char *string)
{
    while (*string) {
        size_t valid = 0, length;
        while (string[valid] &&
               (length = character_length((const unsigned char *)string + valid)) > 0)
            valid += length;
        text_append_bytes(text, string, valid);
        string += valid;
        if (*string) {
            text_append(text, "\xef\xbf\xbd");
            string++;
        }
    }
}

/* Into the room that there is; again, if that was too little. */
void text_printf(struct text *text, const char *format, ...)
{
    if (text->failed)
        return;
    size_t room = text->capacity - text->length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->data ? text->data + text->length : NULL, room, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length >= room) {
        if (text->data)
            text->data[text->length] = '\0';
        if (!reserve(text, (size_t)length))
            return;
        va_start(args, format);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    if (length > 0)
        text->length += (size_t)length;
}

const char *text_string(const struct text *text)
{
    return text->data ? text->data : "";
}

bool texts_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const char *text_find_part(const char *text, size_t index, size_t *length)
{
    for (; text && index > 0; index--)
        if ((text = strchr(text, ';')) != NULL)
            text++;
    *length = text ? strcspn(text, ";") : 0;
    return text;
}

size_t text_count_parts(const char *text)
{
    size_t count = 1;
    while ((text = strchr(text, ';')) != NULL) {
        text++;
        count++;
    }
    return count;
}
