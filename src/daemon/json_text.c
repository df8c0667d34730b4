#include "daemon/json_text.h"

#include "base/text.h"

json_t *json_text(const char *string)
{
    struct text valid = {0};
    text_append_utf8(&valid, string);
    json_t *json = valid.failed ? NULL : json_string(text_string(&valid));
    text_finish(&valid);
    return json;
}
