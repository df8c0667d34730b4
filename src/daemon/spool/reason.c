#include "daemon/spool/reason.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "worker/json_text.h"

char *reason_print(const struct reason *reason)
{
    char now[40] = "";
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:s, s:I, s:o, s:o, s:s}", "file", json_text(reason->file), "code",
        fault_name(reason->fault->code), "message", json_text(reason->fault->text), "stage",
        reason->step, "attempts", (json_int_t)reason->attempts, "chain", json_text(reason->chain),
        "format", json_text(reason->format), "time", now);
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    struct text line = {0};
    if (text)
        text_printf(&line, "%s\n", text);
    free(text);
    json_decref(json);
    return line.data;
}
