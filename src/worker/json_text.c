#include "worker/json_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

json_t *json_text(const char *string)
{
    struct text valid = {0};
    if (!string)
        return json_null();
    text_append_utf8(&valid, string);
    json_t *json = valid.failed ? NULL : json_string(text_string(&valid));
    text_finish(&valid);
    return json;
}

/* jansson's strings are valid UTF-8. */
static void append_string(struct text *text, const char *string, size_t length)
{
    text_append_bytes(text, "\"", 1);
    for (size_t i = 0; i < length;) {
        size_t plain = i;
        while (plain < length && (unsigned char)string[plain] >= ' ' && string[plain] != '"' &&
               string[plain] != '\\')
            plain++;
        text_append_bytes(text, string + i, plain - i);
        if (plain < length)
            text_printf(text, (unsigned char)string[plain] < ' ' ? "\\u%04x" : "\\%c",
                        string[plain]);
        i = plain + 1;
    }
    text_append_bytes(text, "\"", 1);
}

/* Digits from the right; returns where they begin. */
static char *put_digits(char *end, uint64_t value, unsigned least)
{
    for (; value > 0 || least > 0; value /= 10, least -= least > 0)
        *--end = (char)('0' + value % 10);
    return end;
}

static void append_integer(struct text *text, json_int_t value)
{
    char digits[24], *end = digits + sizeof digits;
    char *at = put_digits(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
    if (value < 0)
        *--at = '-';
    text_append_bytes(text, at, (size_t)(end - at));
}

/* Reports are full of times, whole nanoseconds in seconds: their 15 digits are at hand, and printf
 * would look for them for as long as all else of a report takes. */
static void append_real(struct text *text, double value)
{
    char digits[40], *end = digits + sizeof digits;
    uint64_t billionths = value >= 0 && value < 1e6 ? (uint64_t)(value * 1e9 + 0.5) : 0;
    if (value >= 0 && (double)billionths * 1e-9 == value) {
        unsigned places = 9;
        for (; places > 1 && billionths % 10 == 0; places--)
            billionths /= 10;
        uint64_t one = 1;
        for (unsigned i = 0; i < places; i++)
            one *= 10;
        char *at = put_digits(end, billionths % one, places);
        *--at = '.';
        at = put_digits(at, billionths / one, 1);
        text_append_bytes(text, at, (size_t)(end - at));
        return;
    }
    snprintf(digits, sizeof digits, "%.15g", value);
    if (!strpbrk(digits, ".e"))
        strcat(digits, ".0");
    text_append(text, digits);
}

static void append_value(struct text *text, json_t *json)
{
    const char *key, *between = "";
    json_t *part;
    size_t i;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        text_append_bytes(text, "{", 1);
        json_object_foreach (json, key, part) {
            text_append(text, between);
            append_string(text, key, strlen(key));
            text_append_bytes(text, ":", 1);
            append_value(text, part);
            between = ",";
        }
        text_append_bytes(text, "}", 1);
        return;
    case JSON_ARRAY:
        text_append_bytes(text, "[", 1);
        json_array_foreach (json, i, part) {
            text_append(text, between);
            append_value(text, part);
            between = ",";
        }
        text_append_bytes(text, "]", 1);
        return;
    case JSON_STRING:
        append_string(text, json_string_value(json), json_string_length(json));
        return;
    case JSON_INTEGER:
        append_integer(text, json_integer_value(json));
        return;
    case JSON_REAL:
        append_real(text, json_real_value(json));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        text_append(text, json_is_true(json) ? "true" : "false");
        return;
    case JSON_NULL:
        text_append(text, "null");
        return;
    }
}

/* Not by jansson's own writer, which hands over each quotation mark and each comma by itself, and
 * looks for the digits of every number: a tenth of all that a small job costs on each side. */
void json_append(struct text *text, json_t *json)
{
    text->failed |= !json;
    if (json)
        append_value(text, json);
    json_decref(json);
}

json_t *json_faults(const struct faults *faults, const char *key)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults_count(faults); i++) {
        const struct fault *fault = &faults->list[i];
        json_t *entry = json_pack("{s:o}", key, json_text(fault->text));
        if (fault->position >= 0)
            json_object_update_new(entry, json_pack("{s:i, s:i}", "position", fault->position,
                                                    "length", fault->length));
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *json_time(int64_t unix_time)
{
    char text[40];
    time_t seconds = (time_t)unix_time;
    struct tm utc;
    if (unix_time > 0 && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        return json_string(text);
    return json_null();
}

bool json_is_small(const char *bytes, size_t size, unsigned most)
{
    bool in_text = false;
    unsigned count = 0;
    for (size_t i = 0; i < size && count <= most; i++) {
        char c = bytes[i];
        if (in_text && c == '\\')
            i++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text)
            count += c == ',' || c == ':' || c == '[' || c == '{';
    }
    return count <= most;
}
