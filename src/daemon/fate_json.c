/* What became of a file, as people are told. */
#include "daemon/fate.h"

#include <stdio.h>
#include <time.h>

#include "daemon/json_text.h"

static void add_text(json_t *json, const char *key, const char *text)
{
    if (text && text[0])
        json_object_set_new(json, key, json_text(text));
}

static void add_original(json_t *json, const struct fate *fate, const char *folder)
{
    static const char *const folders[] = {[FATE_IN_PLACE] = "",
                                          [FATE_KEPT] = "",
                                          [FATE_IN_DONE] = SPOOL_HIDDEN "/done/",
                                          [FATE_IN_FAILED] = SPOOL_HIDDEN "/failed/"};
    char path[2 * PATH_MAX + 40];
    if (fate->where == FATE_NOWHERE)
        return;
    snprintf(path, sizeof path, "%s/%s%s", folder, folders[fate->where], fate->original);
    add_text(json, "original", path);
}

static void add_time(json_t *json, int64_t unix_time)
{
    char text[40];
    time_t seconds = (time_t)unix_time;
    struct tm utc;
    if (unix_time > 0 && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        json_object_set_new(json, "time", json_string(text));
}

json_t *fate_json(const struct fate *fate, const char *folder)
{
    json_t *json = json_pack("{s:s}", "state", fate->state);
    static const char *const copied[] = {"stage", "chain", "format", "time"};
    if (!json)
        return NULL;
    add_text(json, "reason", fate->reason);
    add_text(json, "message", fate->message);
    add_text(json, "folder", folder);
    add_text(json, "name", fate->name);
    add_original(json, fate, folder ? folder : "");
    if (fate->result[0]) {
        add_text(json, "result_path", fate->result);
        json_object_set_new(json, "result_exists", json_boolean(fate->result_exists));
    }
    if (fate->attempts > 0)
        json_object_set_new(json, "attempts", json_integer(fate->attempts));
    if (fate->age >= 0)
        json_object_set_new(json, "for_s", json_real(fate->age));
    if (fate->next >= 0)
        json_object_set_new(json, "next_try_s", json_real(fate->next));
    add_time(json, fate->time);
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        json_t *value = json_object_get(fate->told, copied[i]);
        if (json_is_string(value))
            json_object_set(json, copied[i], value);
    }
    return json;
}
