#include "daemon/reason.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"

/* Names and messages may hold any byte; JSON may not. */
static json_t *make_text(const char *string)
{
    struct text valid = {0};
    text_append_utf8(&valid, string);
    json_t *json = valid.failed ? NULL : json_string(text_string(&valid));
    text_finish(&valid);
    return json;
}

char *reason_print(const struct reason *reason)
{
    char now[40] = "";
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:s, s:I, s:o, s:o, s:s}", "file", make_text(reason->file), "code",
        fault_name(reason->fault->code), "message", make_text(reason->fault->text), "stage",
        reason->step, "attempts", (json_int_t)reason->attempts, "chain", make_text(reason->chain),
        "format", make_text(reason->format), "time", now);
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    struct text line = {0};
    if (text)
        text_printf(&line, "%s\n", text);
    free(text);
    json_decref(json);
    return line.data;
}
