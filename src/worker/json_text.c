#include "worker/json_text.h"

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

static int append(const char *bytes, size_t size, void *text)
{
    text_append_bytes(text, bytes, size);
    return 0;
}

void json_append(struct text *text, json_t *json)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
    text->failed |= !json || json_dump_callback(json, append, text, flags) != 0;
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
