/* What has become of a file, as JSON for people and programs; NAME.error.json. */
#include "daemon/spool/fate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "worker/json_text.h"

static void add_text(json_t *json, const char *key, const char *text)
{
    if (text && text[0])
        json_object_set_new(json, key, json_text(text));
}

static void add_path(json_t *json, const char *key, const char *folder, const char *between,
                     const char *name)
{
    char path[2 * PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/%s%s", strcmp(folder, "/") == 0 ? "" : folder, between, name);
    add_text(json, key, path);
}

static void add_original(json_t *json, const struct fate *fate, const char *folder)
{
    static const char *const folders[] = {[FATE_IN_PLACE] = "",
                                          [FATE_KEPT] = "",
                                          [FATE_IN_DONE] = SPOOL_HIDDEN "/done/",
                                          [FATE_IN_FAILED] = SPOOL_HIDDEN "/failed/"};
    if (fate->where != FATE_NOWHERE)
        add_path(json, "original", folder, folders[fate->where], fate->original);
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
    if (folder && fate->name[0])
        add_path(json, "file", folder, "", fate->name);
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
    if (fate->time > 0)
        json_object_set_new(json, "time", json_time(fate->time));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        json_t *value = json_object_get(fate->told, copied[i]);
        if (json_is_string(value))
            json_object_set(json, copied[i], value);
    }
    return json;
}

char *fate_print_reason(const struct fate_reason *reason)
{
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:s, s:I, s:o, s:o, s:o}", "file", json_text(reason->file), "code",
        fault_name(reason->fault->code), "message", json_text(reason->fault->text), "stage",
        reason->step, "attempts", (json_int_t)reason->attempts, "chain", json_text(reason->chain),
        "format", json_text(reason->format), "time", json_time(time(NULL)));
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    struct text line = {0};
    if (text)
        text_printf(&line, "%s\n", text);
    free(text);
    json_decref(json);
    return line.data;
}
