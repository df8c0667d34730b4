#include "daemon/json_text.h"

#include <time.h>

#include "base/text.h"

json_t *json_text(const char *string)
{
    struct text valid = {0};
    text_append_utf8(&valid, string);
    json_t *json = valid.failed ? NULL : json_string(text_string(&valid));
    text_finish(&valid);
    return json;
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
