#include "daemon/serve/ask.h"

#include <jansson.h>
#include <string.h>

#include "worker/json_text.h"

#define VALUES_MAX 64 /* of fields and values; no message has so many */
#define CHAIN_MAX  50000
#define FORMAT_MAX 1000

#define FILE_MAX  4095
#define AFTER_MAX (3 * FILE_MAX + 40) /* of a cursor, which has a name percent-encoded */

static const char *const kinds[] = {[ASK_JOB] = "job",
                                    [ASK_STATUS] = "status",
                                    [ASK_WHY] = "why",
                                    [ASK_REQUEUE] = "requeue",
                                    [ASK_FILES] = "files"};

#define N_KINDS (sizeof kinds / sizeof *kinds)

void ask_finish(struct ask *ask)
{
    json_decref(ask->json);
    *ask = (struct ask){.id = -1};
}

static int wrong(struct fault *fault, const char *key, const char *why)
{
    return fault_set(fault, FAULT_DATA, "field '%.60s' %s", key, why);
}

/* A text of at most `limit` bytes; NULs in it are refused by the parser. */
static int read_text(const json_t *value, const char *key, size_t limit, const char **text,
                     struct fault *fault)
{
    if (!json_is_string(value))
        return wrong(fault, key, "is no text");
    if (json_string_length(value) > limit)
        return wrong(fault, key, "is too long");
    *text = json_string_value(value);
    return 0;
}

static int read_field(struct ask *ask, const char *key, const json_t *value, struct fault *fault)
{
    bool job = ask->kind == ASK_JOB;
    bool asks = ask->kind == ASK_WHY || ask->kind == ASK_REQUEUE;
    if (strcmp(key, "id") == 0 || strcmp(key, "type") == 0)
        return 0; /* read before */
    if (job && strcmp(key, "chain") == 0)
        return read_text(value, key, CHAIN_MAX, &ask->chain, fault);
    if (job && strcmp(key, "format") == 0)
        return read_text(value, key, FORMAT_MAX, &ask->format, fault);
    if (job && strcmp(key, "input") == 0)
        return read_text(value, key, FORMAT_MAX, &ask->input, fault);
    if (asks && strcmp(key, "file") == 0)
        return read_text(value, key, FILE_MAX, &ask->file, fault);
    if (ask->kind == ASK_REQUEUE && strcmp(key, "failed") == 0) {
        ask->failed = json_is_true(value);
        return json_is_true(value) ? 0 : wrong(fault, key, "is not true");
    }
    if (ask->kind == ASK_FILES && strcmp(key, "state") == 0)
        return read_text(value, key, FORMAT_MAX, &ask->state, fault);
    if (ask->kind == ASK_FILES && strcmp(key, "after") == 0)
        return read_text(value, key, AFTER_MAX, &ask->after, fault);
    if (ask->kind == ASK_FILES && strcmp(key, "limit") == 0) {
        ask->limit = json_integer_value(value);
        return ask->limit > 0 ? 0 : wrong(fault, key, "is no integer from 1 up");
    }
    return wrong(fault, key, "is unknown");
}

static int read_object(struct ask *ask, json_t *object, struct fault *fault)
{
    const json_t *id = json_object_get(object, "id"), *type = json_object_get(object, "type");
    const char *key;
    json_t *value;
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return wrong(fault, "id", "is no integer from 0 up");
    ask->id = json_integer_value(id);
    size_t kind = 0;
    while (type && kind < N_KINDS &&
           !(json_is_string(type) && strcmp(kinds[kind], json_string_value(type)) == 0))
        kind++;
    if (kind == N_KINDS)
        return wrong(fault, "type", "is none of job, status, why, requeue, files");
    ask->kind = (enum ask_kind)kind;
    int result = 0;
    json_object_foreach (object, key, value) {
        if (result == 0)
            result = read_field(ask, key, value, fault);
    }
    if (result == 0 && ask->kind == ASK_WHY && !ask->file)
        result = wrong(fault, "file", "is missing");
    if (result == 0 && ask->kind == ASK_REQUEUE && !ask->file == !ask->failed)
        result = fault_set(fault, FAULT_DATA, "requeue takes either 'file' or 'failed'");
    return result;
}

int ask_decode(struct ask *ask, const char *bytes, size_t size, struct fault *fault)
{
    json_error_t error;
    *ask = (struct ask){.id = -1, .chain = "", .format = "auto"};
    if (!json_is_small(bytes, size, VALUES_MAX))
        return fault_set(fault, FAULT_DATA, "more than %d fields and values", VALUES_MAX);
    json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return fault_set(fault, FAULT_DATA, "no JSON: %.200s", error.text);
    ask->json = object;
    if (!json_is_object(object))
        return fault_set(fault, FAULT_DATA, "no JSON object");
    return read_object(ask, object, fault);
}
