#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void view_answer_json(struct view_answer *answer, unsigned status, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    *answer = (struct view_answer){text ? status : 503, "application/json", text,
                                   text ? strlen(text) : 0};
}

static unsigned status_of(enum fault_code code)
{
    switch (code) {
    case FAULT_USAGE:
    case FAULT_CHAIN:
        return 400;
    case FAULT_PERMISSION:
        return 403;
    case FAULT_NO_INPUT:
        return 404;
    case FAULT_FORMAT:
    case FAULT_DATA:
    case FAULT_TRUNCATED:
    case FAULT_EMPTY:
    case FAULT_LIMIT:
    case FAULT_SHAPE:
        return 422;
    case FAULT_NO_DEVICE:
    case FAULT_MEMORY:
    case FAULT_DEVICE:
        return 503;
    default:
        return 500;
    }
}

void view_answer_fault(struct view_answer *answer, const struct fault *fault,
                       const struct faults *faults)
{
    json_t *errors = json_array();
    for (size_t i = 0; faults && i < faults_count(faults); i++)
        json_array_append_new(errors, json_pack("{s:s, s:i, s:i}", "detail", faults->list[i].text,
                                                "position", faults->list[i].position, "length",
                                                faults->list[i].length));
    view_answer_json(answer, status_of(fault->code),
                     json_pack("{s:s, s:s, s:o}", "code", fault_name(fault->code), "detail",
                               fault->text, "errors", errors));
}

uint64_t view_query_number(const struct view_request *request, const char *name, uint64_t fallback)
{
    const char *text = request->query(request, name);
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return fallback;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    return errno || *end ? fallback : value > UINT32_MAX ? UINT32_MAX : value;
}

char *view_path(const struct view *view, size_t index)
{
    return inputs_path(&view->inputs, view->files[index]);
}
