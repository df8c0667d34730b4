#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/compute.h"

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
    return *end ? fallback : errno || value > UINT32_MAX ? UINT32_MAX : value;
}

char *view_path(const struct viewer *view, size_t index)
{
    return inputs_path(&view->inputs, view->files[index]);
}

static json_t *plane_json(const struct plane *plane)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:s, s:f}", "name", plane->name, "width",
                     (int)plane->width, "height", (int)plane->height, "channels",
                     (int)plane->channels, "type", sample_name(plane->type), "white",
                     plane_white(plane));
}

static json_t *times_json(const struct compute_result *r)
{
    json_t *times = json_array();
    for (size_t i = 0; i < r->n_times; i++)
        json_array_append_new(times, json_pack("{s:s, s:f, s:i}", "stage", r->times[i].stage, "ms",
                                               (double)r->times[i].run * 1e-6, "launches",
                                               (int)r->times[i].n_launches));
    return times;
}

static json_t *result_json(const struct compute_result *r)
{
    json_t *planes = json_array();
    for (size_t i = 0; i < r->n_planes; i++)
        json_array_append_new(planes, plane_json(&r->planes[i]));
    json_t *json =
        json_pack("{s:o, s:o, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:i, s:s?}",
                  "planes", planes, "plane", plane_json(&r->plane), "mosaic", (int)r->is_mosaic,
                  "x", (int)r->x, "y", (int)r->y, "width", (int)r->width, "height", (int)r->height,
                  "every", (int)r->every, "columns", (int)r->columns, "rows", (int)r->rows, "part",
                  (int)r->of_part, "again", (int)r->again, "stored_luma", (int)r->stored_luma,
                  "reduced", (int)r->reduced, "warning", r->warning);
    json_object_update_new(
        json,
        json_pack("{s:o, s:f, s:f, s:I, s:I, s:I, s:i}", "times", times_json(r), "total_ms",
                  (double)r->total * 1e-6, "decode_ms", (double)r->decode * 1e-6, "bytes_moved",
                  (json_int_t)r->bytes_moved, "peak_bytes", (json_int_t)r->peak, "bytes_copied",
                  (json_int_t)r->bytes_copied, "launches", (int)r->n_launches));
    return json;
}

void view_answer_picture(struct view_answer *answer, const struct compute_result *r)
{
    json_t *json = result_json(r);
    char *head = json ? json_dumps(json, JSON_COMPACT) : NULL;
    size_t length = head ? strlen(head) : 0, padded = (4 + length + 7) / 8 * 8;
    char *body = head ? malloc(padded + r->size) : NULL;
    json_decref(json);
    if (body) {
        uint32_t said = (uint32_t)(padded - 4);
        for (unsigned i = 0; i < 4; i++)
            body[i] = (char)(said >> 8 * i & 255);
        memset(body + 4, ' ', padded - 4);
        memcpy(body + 4, head, length);
        memcpy(body + padded, r->samples, r->size);
        *answer = (struct view_answer){200, "application/octet-stream", body, padded + r->size};
    } else {
        view_answer_json(answer, 503, NULL);
    }
    free(head);
}
