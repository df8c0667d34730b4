/* Lines with a JSON object in each: a value somewhere in one is replaced, removed, doubled, or put
 * under another name. What stands in front of the brace stays. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

static const char *const names[] = {
    "id",     "type",       "chain",      "format",  "input",  "file",     "failed",   "device",
    "result", "text",       "subject",    "faults",  "step",   "plane",    "planes",   "report",
    "total",  "builds",     "cache_hits", "stages",  "stage",  "run_s",    "warnings", "position",
    "length", "media_type", "extension",  "total_s", "pixels", "prepared", "of",       "pid",
};
static const char *const words[] = {
    "job",   "status",   "why",   "requeue", "checked", "working", "began", "need-output",
    "done",  "describe", "pong",  "kept",    "ok",      "data",    "limit", "device",
    "chain", "dx",       "image", "/in/a",   "",        "native",  "png",   "crashed",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static json_t *any_value(unsigned seed)
{
    switch (seed % 9) {
    case 0:
        return json_integer((json_int_t)(seed >> 20) - 2);
    case 1:
        return json_integer(seed & 0x100 ? INT64_MAX : INT64_MIN);
    case 2:
        return json_real((double)(seed >> 8) * 1e300);
    case 3:
        return json_null();
    case 4:
        return json_pack("[s, i, {s:s}]", words[(seed >> 8) % COUNT(words)], (int)seed, "stage",
                         "sobel");
    case 5:
        return json_object();
    case 6:
        return json_boolean(seed & 0x100);
    default:
        return json_string(words[(seed >> 8) % COUNT(words)]);
    }
}

static void mutate_object(json_t *object, unsigned seed)
{
    const char *key;
    json_t *value;
    size_t at = json_object_size(object) ? (seed >> 4) % json_object_size(object) : 0;
    const char *name = names[(seed >> 12) % COUNT(names)];
    json_object_foreach (object, key, value) {
        if (at-- > 0)
            continue;
        if (json_is_object(value) && seed % 4 != 0)
            mutate_object(value, seed * 2654435761u);
        else if (json_is_array(value) && seed % 4 == 1)
            json_array_append_new(value, any_value(seed * 2654435761u));
        else if (json_is_array(value) && json_is_object(json_array_get(value, 0)) && seed % 4 == 2)
            mutate_object(json_array_get(value, 0), seed * 2654435761u);
        else if (seed % 8 == 3)
            json_object_del(object, key);
        else if (seed % 8 == 4)
            json_object_set(object, name, value);
        else
            json_object_set_new(object, key, any_value(seed * 2654435761u));
        return;
    }
    json_object_set_new(object, name, any_value(seed));
}

/* The line that holds byte `at`. */
static void find_line(const uint8_t *data, size_t size, size_t at, size_t *begin, size_t *end)
{
    for (*begin = at; *begin > 0 && data[*begin - 1] != '\n';)
        --*begin;
    for (*end = at; *end < size && data[*end] != '\n';)
        ++*end;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    size_t begin, end;
    if (seed % 4 == 0 || size == 0)
        return LLVMFuzzerMutate(data, size, limit);
    find_line(data, size, seed / 4 % size, &begin, &end);
    const uint8_t *brace = memchr(data + begin, '{', end - begin);
    json_t *object =
        brace ? json_loadb((const char *)brace, (size_t)(data + end - brace), 0, NULL) : NULL;
    if (!json_is_object(object)) {
        json_decref(object);
        return LLVMFuzzerMutate(data, size, limit);
    }
    mutate_object(object, seed * 2654435761u);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    size_t length = text ? strlen(text) : 0, front = (size_t)(brace - data), rest = size - end;
    if (!text || front + length + rest > limit) {
        free(text);
        return LLVMFuzzerMutate(data, size, limit);
    }
    memmove(data + front + length, data + end, rest);
    memcpy(data + front, text, length);
    free(text);
    return front + length + rest;
}
